//! What the interval counter says about each commanded edge: when it left the generator, and when its echo came back.
//!
//! The interval counter's scale begins anywhere. The preamble, one edge a second, tells its offset from GPST; from then
//! on each edge of a burst finds its stamp within a quarter period. The offset places stamps, and enters no figure.
//! Counters that give intervals and no timestamps: `intervals`.

mod intervals;

use std::collections::BTreeMap;

use super::anchor::{Anchor, median};
use super::half_ticks::HalfTicks;
use super::pairing::Due;
use super::row::EdgeRow;
use super::seconds::Reference;
use super::window::Window;
use crate::events::absence::absences_of;
use crate::events::{
    IntervalChannel, IntervalEvent, IntervalReading, IntervalStamp, PortOwner, Recording, Stamped,
};
use crate::units::{HostNanos, PS_PER_S, Picos};

/// Stamps may reach the host so much later than the window was closed, in nanoseconds.
const LATE_NS: u64 = 100_000_000;

/// An echo further than this from where the board's counter puts it is another one's, in picoseconds.
const FOREIGN_PS: f64 = 1e9;
/// An echo that is known no better than to this part of a period, one in so many, has no place: 5 %.
const WIDE_PART: i128 = 20;
/// A scale that moved by more than this against the host's clock while the port was away is another one. A reading may be
/// late by as much.
const RESTART_PS: i128 = PS_PER_S / 2;
/// Readings on either side of an absence that are compared.
const BESIDE_RETURN: usize = 8;
/// Echoes on either side that tell where it should be.
const BESIDE: usize = 4;

/// The interval counter's stamps of one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeStamp {
    /// Channel A: the edge. None where only the interval to its echo was measured.
    pub edge: Option<IntervalStamp>,
    /// Channel B, where it is the echo and came, or why there is none.
    pub echo: Result<Echo, NoEcho>,
}

/// What is known of an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Its timestamp, on the scale of the edge's.
    Stamp(IntervalStamp),
    /// How long after the edge it came.
    Interval(IntervalReading),
}

impl Echo {
    /// Half-width that the counter states for the reading.
    #[must_use]
    pub fn half_width(&self) -> Option<Picos> {
        match self {
            Self::Stamp(stamp) => stamp.half_width,
            Self::Interval(reading) => reading.half_width,
        }
    }
}

/// Why an edge has no echo reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEcho {
    /// None came that surely lies behind the edge and before the middle of its slot.
    NotInSlot,
    /// Its place is not known well enough to tell which edge it belongs to.
    TooWide,
    /// It is not where the board's counter puts it.
    Foreign,
    /// The counter measures to the reference's pulse.
    NotWired,
}

impl NoEcho {
    /// The reason, for the report.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotInSlot => "no echo reading lies surely within half a period behind the edge",
            Self::TooWide => "the echo's half-width is 5 % of the period or more",
            Self::Foreign => "the echo is not where the board's counter puts it",
            Self::NotWired => "no echo is wired to the interval counter",
        }
    }
}

/// The stamps of one burst, by commanded edge.
pub type EdgeStamps = BTreeMap<u32, EdgeStamp>;

/// Whether the interval counter told when the edges came, and not only how long until their echoes.
#[must_use]
pub fn have_times(stamps: &EdgeStamps) -> bool {
    stamps.values().any(|stamp| stamp.edge.is_some())
}

/// The readings that can be trusted: up to the first loss of the interval counter's own reference, to where its time
/// scale began anew, or to the first time that it came back with another scale after its port was away.
#[must_use]
pub fn trusted(recording: &Recording) -> &[Stamped<IntervalEvent>] {
    let readings = &recording.interval;
    let breaks = |event: &Stamped<IntervalEvent>| {
        matches!(event.event, IntervalEvent::ReferenceLost | IntervalEvent::Restarted)
    };
    let lost = readings.iter().position(breaks);
    let mut returns = absences_of(recording, PortOwner::IntervalCounter).filter_map(|absence| absence.to);
    let restarted = returns.find_map(|at| restart(readings, at));
    let end = lost.into_iter().chain(restarted).min();
    &readings[..end.unwrap_or(readings.len())]
}

/// Where the readings behind a return begin, if their scale is not the one before: many counters lose their power with
/// their adapter, or reset when their port is opened, and count from 0 again.
fn restart(readings: &[Stamped<IntervalEvent>], returned: HostNanos) -> Option<usize> {
    let behind = readings.partition_point(|event| event.at < returned);
    let (before, after) = readings.split_at(behind);
    let before = delay_ps(before.iter().rev())?;
    let after = delay_ps(after.iter())?;
    ((after - before).abs() > RESTART_PS).then_some(behind)
}

/// How long after its time on the counter's own scale a reading arrives, at least, by the first few: a constant.
fn delay_ps<'a>(readings: impl Iterator<Item = &'a Stamped<IntervalEvent>>) -> Option<i128> {
    let stamps = readings.filter_map(|event| match event.event {
        IntervalEvent::Stamp(stamp) => Some(i128::from(event.at.0) * 1000 - stamp.time.0),
        _ => None,
    });
    stamps.take(BESIDE_RETURN).min()
}

/// What is worth saying of the interval counter beside the ledger.
#[must_use]
pub fn notes(recording: &Recording) -> Vec<String> {
    let mut notes = Vec::new();
    let trusted = trusted(recording);
    let readings = |events: &[Stamped<IntervalEvent>]| {
        let is_reading = |event: &&Stamped<IntervalEvent>| {
            matches!(event.event, IntervalEvent::Stamp(_) | IntervalEvent::Interval(_))
        };
        events.iter().filter(is_reading).count()
    };
    if let Some(broke) = recording.interval.get(trusted.len()) {
        let what = match broke.event {
            IntervalEvent::Restarted => "its time scale began anew",
            _ => "it lost its own reference (10 MHz)",
        };
        let after = readings(&recording.interval[trusted.len()..]);
        notes.push(format!(
            "{what} after {} readings; the {after} behind that count for nothing",
            readings(trusted)
        ));
    }
    let missed: u64 = trusted
        .iter()
        .map(|event| match event.event {
            IntervalEvent::Missed { edges, .. } => u64::from(edges),
            _ => 0,
        })
        .sum();
    if missed > 0 {
        notes.push(format!("it counted {missed} edges that it did not report"));
    }
    let refused = recording.interval.iter().filter_map(|event| match &event.event {
        IntervalEvent::Refused { reason } => Some(reason),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    if let [first, ..] = refused[..] {
        notes.push(format!("{} of its lines are no readings, the first {first}", refused.len()));
    }
    notes
}

/// Finds each edge's stamps. `offset_ps` is the interval counter's scale minus GPST once it is known, and is found here
/// when it is not and the edges are far enough apart.
pub fn find(
    readings: &[Stamped<IntervalEvent>],
    window: &Window,
    due: Due,
    anchor: &Anchor,
    echo_wired: bool,
    offset_ps: &mut Option<i128>,
) -> EdgeStamps {
    let period_ps = i128::from(due.period_ns) * 1000;
    let start_ps = i128::from(due.start_ns) * 1000;
    if readings.iter().any(|event| matches!(event.event, IntervalEvent::Interval(_))) {
        let grid = intervals::Grid { start_ps, period_ps, edges: due.cycles, anchor };
        return intervals::find(readings, window, grid, echo_wired);
    }
    let (edges, echoes) = in_window(readings, window);
    if offset_ps.is_none() && period_ps >= PS_PER_S / 2 {
        *offset_ps = rough_offset(&edges, start_ps, period_ps, anchor);
    }
    let Some(offset) = *offset_ps else {
        return EdgeStamps::new();
    };
    let mut found = EdgeStamps::new();
    for (_, stamp) in &edges {
        let after = stamp.time.0 - offset - start_ps;
        let edge = (after + period_ps / 2).div_euclid(period_ps);
        let off = (after - edge * period_ps).abs();
        let Some(edge) = u32::try_from(edge).ok().filter(|&edge| edge < due.cycles && off <= period_ps / 4)
        else {
            continue;
        };
        let slot =
            found.entry(edge).or_insert(EdgeStamp { edge: Some(*stamp), echo: Err(NoEcho::NotInSlot) });
        let held =
            slot.edge.map(|held| (held.time.0 - offset - start_ps - i128::from(edge) * period_ps).abs());
        if held.is_none_or(|held| off < held) {
            slot.edge = Some(*stamp);
        }
    }
    if echo_wired {
        attach_echoes(&mut found, &echoes, period_ps);
    }
    found
}

/// The interval counter's scale minus GPST, by the pulses of the reference on its channel B: the middle one of them.
#[must_use]
pub fn pulse_offset_ps(readings: &[Stamped<IntervalEvent>], reference: &dyn Reference) -> Option<i128> {
    let mut offsets: Vec<i128> = readings
        .iter()
        .filter_map(|event| match event.event {
            IntervalEvent::Stamp(stamp) if stamp.channel == IntervalChannel::B => {
                let second = reference.label(event.at).ok()?;
                Some(stamp.time.0 - i128::from(second.0) * PS_PER_S)
            }
            _ => None,
        })
        .collect();
    offsets.sort_unstable();
    offsets.get(offsets.len().checked_sub(1)? / 2).copied()
}

type Arrived = (HostNanos, IntervalStamp);

/// Channel A and channel B readings that arrived in a window.
fn in_window(readings: &[Stamped<IntervalEvent>], window: &Window) -> (Vec<Arrived>, Vec<Arrived>) {
    let end = window.closed.map_or(u64::MAX, |closed| closed.0.saturating_add(LATE_NS));
    let stamps = readings.iter().filter(|event| event.at >= window.opened && event.at.0 <= end);
    let stamps = stamps.filter_map(|event| match event.event {
        IntervalEvent::Stamp(stamp) => Some((event.at, stamp)),
        _ => None,
    });
    stamps.partition(|(_, stamp)| stamp.channel == IntervalChannel::A)
}

/// The interval counter's scale minus GPST, by host arrival; then by the edges themselves, as their median.
fn rough_offset(edges: &[Arrived], start_ps: i128, period_ps: i128, anchor: &Anchor) -> Option<i128> {
    // A reading arrives after its edge, so the earliest arrival on its own scale is the nearest.
    let delay = edges.iter().map(|(at, stamp)| i128::from(at.0) * 1000 - stamp.time.0).min()?;
    let rough = anchor.host_minus_gps_ns * 1000 - delay;
    let mut offsets: Vec<i128> = edges
        .iter()
        .map(|(_, stamp)| {
            let after = stamp.time.0 - rough - start_ps;
            rough + (after - (after + period_ps / 2).div_euclid(period_ps) * period_ps)
        })
        .collect();
    offsets.sort_unstable();
    Some(offsets[(offsets.len() - 1) / 2])
}

/// An edge's echo is the first channel B reading that does not surely lie before it, and it has to lie surely before the
/// middle of the slot. A reading that is known no better than to a part of the period takes the place of its middle, so
/// that no other one is taken for it, and counts for nothing.
fn attach_echoes(found: &mut EdgeStamps, echoes: &[Arrived], period_ps: i128) {
    let mut echoes: Vec<IntervalStamp> = echoes.iter().map(|(_, stamp)| *stamp).collect();
    echoes.sort_by_key(|stamp| stamp.time);
    let width = |stamp: &IntervalStamp| stamp.half_width.map_or(0, |width| width.0);
    let is_wide = |stamp: &IntervalStamp| width(stamp) * WIDE_PART >= period_ps;
    let mut next = 0;
    for stamp in found.values_mut() {
        let Some(edge) = stamp.edge else { continue };
        let earliest = edge.time.0 - width(&edge);
        let is_before = |echo: &IntervalStamp| {
            if is_wide(echo) { echo.time < edge.time } else { echo.time.0 + width(echo) < earliest }
        };
        while echoes.get(next).is_some_and(is_before) {
            next += 1;
        }
        let Some(echo) = echoes.get(next) else { break };
        let (after, width) = (echo.time.0 - edge.time.0, width(echo));
        if is_wide(echo) && after <= period_ps / 2 {
            stamp.echo = Err(NoEcho::TooWide);
            next += 1;
        } else if after + width <= period_ps / 2 {
            stamp.echo = Ok(Echo::Stamp(*echo));
            next += 1;
        }
    }
}

/// Takes away echoes that cannot be those of their edges' captures: a reading was lost, and the next one, of a bounce
/// perhaps, took its place. Counter and interval counter see the same echoes, so they must agree on the time between them.
pub fn forget_foreign_echoes(stamps: &mut EdgeStamps, rows: &[EdgeRow], anchor: &Anchor) {
    let mut origin = None;
    let apart: Vec<(u32, f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            let edge = row.commanded?;
            let echo = stamps.get(&edge)?.echo.ok()?;
            let (half_ticks, _) = row.capture?.echo_half_ticks()?;
            let by_counter = anchor.seconds_after(half_ticks) * PS_PER_S as f64;
            let allowed = FOREIGN_PS + echo.half_width().map_or(0.0, |width| width.0 as f64);
            // An interval is no place: the instrument itself measured it from this edge.
            let Echo::Stamp(stamp) = echo else { return None };
            let time = stamp.time.0;
            let after = time - *origin.get_or_insert(time);
            Some((edge, after as f64 - by_counter, allowed))
        })
        .collect();
    for (position, (edge, apart_ps, allowed)) in apart.iter().enumerate() {
        let beside = position.saturating_sub(BESIDE)..apart.len().min(position + BESIDE + 1);
        let mut beside: Vec<f64> = apart[beside].iter().map(|(_, apart, _)| *apart).collect();
        let usual = median(&mut beside).unwrap_or(*apart_ps);
        if (apart_ps - usual).abs() > *allowed
            && let Some(stamp) = stamps.get_mut(edge)
        {
            stamp.echo = Err(NoEcho::Foreign);
        }
    }
}
