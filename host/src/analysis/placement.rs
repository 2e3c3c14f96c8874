//! Where each capture stands on the grid of its burst.
//!
//! A burst starts at second `S` and has an edge every period. The counter tells a capture's place, from the anchor and the
//! rate of the preamble; the remaining error of that rate is followed by the median of the last few residuals. `S` is
//! the second whose pulse follows the arming, and the captures have to agree.

use std::collections::{BTreeMap, VecDeque};

use super::anchor::{Anchor, median};
use super::captures::Captured;
use super::half_ticks::HalfTicks;
use super::window::Arming;
use crate::plan::MOST_EDGES;
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

/// A record of an edge reaches the host within this, in nanoseconds: so far may the pulse lie before the earliest
/// arrival. A burst that was armed closer than this to a pulse may have started on either side of it.
const ARRIVAL_MARGIN_NS: i128 = 250_000_000;
/// Residuals that the follower looks back on.
const FOLLOWED: usize = 9;

/// Where a capture stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The nearest edge of the grid; may lie before the burst or behind it.
    pub edge: i64,
    /// Distance from that edge, in nanoseconds, once the slow drift is taken off.
    pub residual_ns: f64,
    /// Estimated GPST, in nanoseconds.
    pub gpst_ns: i64,
    /// Whether it belongs to an edge of the burst: within a quarter period.
    pub on_grid: bool,
}

/// A burst whose first second is settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// When edge 0 is due: GPST in nanoseconds, or on the scale of an anchor that knows no GPST.
    pub start_ns: i64,
    /// Edges that were due.
    pub cycles: u32,
    /// One for each capture.
    pub places: Vec<Place>,
}

/// What decides when edge 0 was due.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The pulse that follows the arming, and so many nanoseconds.
    OnPulse(u32),
    /// Edges come whether or not anybody asked: those between these host times were due.
    WhileOpen {
        /// The window was open.
        from: HostNanos,
        /// It was still open.
        to: HostNanos,
        /// They are on the reference's pulses; else the captures tell where in a period they come.
        on_pulses: bool,
    },
    /// The host commanded each at its time.
    ByHost(&'a BTreeMap<u32, HostNanos>),
}

/// Places the captures of one burst.
///
/// # Errors
/// Why the burst's first second is not certain, as a sentence for the ledger.
pub fn place(
    captured: &[Captured],
    anchor: &Anchor,
    arming: &Arming,
    start: Start<'_>,
) -> Result<Placement, String> {
    let (start_ns, cycles) = match start {
        Start::OnPulse(offset_ns) => return on_pulse(captured, anchor, arming, i64::from(offset_ns)),
        Start::WhileOpen { from, to, on_pulses } => {
            while_open(captured, anchor, arming.period_ns, (from, to), on_pulses)?
        }
        Start::ByHost(sent) => (by_host(captured, anchor, arming.period_ns, sent)?, arming.cycles),
    };
    let due = Arming { cycles, ..*arming };
    Ok(Placement { start_ns, cycles, places: places(captured, anchor, &due, start_ns) })
}

/// Nanoseconds from the anchor's second to each capture.
fn after_anchor<'a>(captured: &'a [Captured], anchor: &'a Anchor) -> impl Iterator<Item = f64> + 'a {
    captured.iter().map(|one| anchor.seconds_after(one.capture.half_ticks()) * NS_PER_S as f64)
}

/// Edge 0 and the number of edges of a source that nobody starts: the first that was due once the window was open, to the
/// last while it was. One more at either end where it was captured: the board opened the window a little earlier, and
/// closed it a little later.
fn while_open(
    captured: &[Captured],
    anchor: &Anchor,
    period_ns: u64,
    (from, to): (HostNanos, HostNanos),
    on_pulses: bool,
) -> Result<(i64, u32), String> {
    let period = period_ns as f64;
    let residual = |ns: f64| ns - (ns / period).round() * period;
    let phase = if on_pulses {
        0.0
    } else {
        let first = after_anchor(captured, anchor).next().ok_or(
            "nothing was captured of a source that runs by itself: where in a period its edges come is not known",
        )?;
        let mut beside: Vec<f64> = after_anchor(captured, anchor).map(|ns| residual(ns - first)).collect();
        first + median(&mut beside).unwrap_or(0.0)
    };
    let base = i128::from(anchor.second.0) * i128::from(NS_PER_S);
    let index = |at: HostNanos| {
        let after = i128::from(at.0) - anchor.host_minus_gps_ns - base;
        (after as f64 - phase) / period
    };
    let (mut first, mut last) = (index(from).ceil() as i64, index(to).floor() as i64);
    let on_grid = after_anchor(captured, anchor).filter(|ns| residual(ns - phase).abs() <= period / 4.0);
    for edge in on_grid.map(|ns| ((ns - phase) / period).round() as i64) {
        if edge == first.saturating_sub(1) {
            first = edge;
        }
        if edge == last.saturating_add(1) {
            last = edge;
        }
    }
    let start = base + (phase + first as f64 * period).round() as i128;
    let due = (last.saturating_sub(first)).saturating_add(1).clamp(0, i64::from(MOST_EDGES));
    Ok((i64::try_from(start).unwrap_or(i64::MAX), u32::try_from(due).unwrap_or(0)))
}

/// When edge 0 came, by the host's times: each capture is put down to the edge that was commanded last before its record
/// arrived, and the middle one of them decides.
fn by_host(
    captured: &[Captured],
    anchor: &Anchor,
    period_ns: u64,
    sent: &BTreeMap<u32, HostNanos>,
) -> Result<i64, String> {
    let mut starts: Vec<f64> = captured
        .iter()
        .zip(after_anchor(captured, anchor))
        .filter_map(|(one, ns)| {
            let (edge, _) = sent.iter().rev().find(|(_, at)| **at <= one.arrival)?;
            Some(ns - after_first_ns(sent, i64::from(*edge), period_ns) as f64)
        })
        .collect();
    let start = median(&mut starts).ok_or(
        "no capture arrived behind an edge that the host commanded, so there is nothing to begin with",
    )?;
    Ok(anchor.second.0.saturating_mul(NS_PER_S).saturating_add(start.round() as i64))
}

/// Nanoseconds from edge 0 to another one: as the host commanded them, where it has said so of both.
pub(super) fn after_first_ns(sent: &BTreeMap<u32, HostNanos>, edge: i64, period_ns: u64) -> i64 {
    let number = u32::try_from(edge).ok();
    match (sent.get(&0), number.and_then(|edge| sent.get(&edge))) {
        (Some(first), Some(at)) => i64::try_from(at.0.saturating_sub(first.0)).unwrap_or(i64::MAX),
        _ => edge.saturating_mul(i64::try_from(period_ns).unwrap_or(i64::MAX)),
    }
}

fn on_pulse(
    captured: &[Captured],
    anchor: &Anchor,
    arming: &Arming,
    offset_ns: i64,
) -> Result<Placement, String> {
    let mut best: Option<(usize, Placement)> = None;
    let mut rival = None;
    let candidates = start_candidates(anchor, arming);
    for start in candidates.clone() {
        let start_ns = start.0.saturating_mul(NS_PER_S).saturating_add(offset_ns);
        let places = places(captured, anchor, arming, start_ns);
        let placement = Placement { start_ns, cycles: arming.cycles, places };
        let hits = placement.places.iter().filter(|place| place.on_grid).count();
        match &best {
            Some((most, _)) if hits < *most => {}
            Some((most, held)) if hits == *most => rival = Some(held.start_ns),
            _ => {
                best = Some((hits, placement));
                rival = None;
            }
        }
    }
    match (best, rival) {
        (Some((_, placement)), None) => Ok(placement),
        (Some(_), Some(_)) | (None, _) => Err(format!(
            "the burst was armed too close to a pulse: it may have started at any of {} seconds, and the captures \
             fit more than one",
            candidates.count()
        )),
    }
}

/// The seconds on whose pulse the burst can have started, by the times of arming.
fn start_candidates(anchor: &Anchor, arming: &Arming) -> impl Iterator<Item = GpsSecond> + Clone {
    let second = i128::from(NS_PER_S);
    let sent = i128::from(arming.sent.0) - anchor.host_minus_gps_ns;
    let acknowledged = i128::from(arming.acknowledged.0) - anchor.host_minus_gps_ns + ARRIVAL_MARGIN_NS;
    let first = -(-sent).div_euclid(second);
    let last = acknowledged.div_euclid(second) + 1;
    // An acknowledgement that came seconds late leaves the choice to the captures; never a hundred.
    (first..=last.min(first + 8)).map(|value| GpsSecond(i64::try_from(value).unwrap_or(0)))
}

fn places(captured: &[Captured], anchor: &Anchor, arming: &Arming, start_ns: i64) -> Vec<Place> {
    let period = arming.period_ns as f64;
    let origin = start_ns.saturating_sub(anchor.second.0.saturating_mul(NS_PER_S)) as f64;
    let mut follower = Follower::new();
    captured
        .iter()
        .map(|capture| {
            let raw = anchor.seconds_after(capture.capture.half_ticks()) * NS_PER_S as f64 - origin;
            let shifted = raw - follower.offset;
            let edge = (shifted / period).round();
            let residual_ns = shifted - edge * period;
            // Saturates for a counter value that belongs to another world.
            let edge = edge as i64;
            let on_grid = residual_ns.abs() <= period / 4.0 && (0..i64::from(arming.cycles)).contains(&edge);
            if on_grid {
                follower.follow(edge, raw - edge as f64 * period);
            }
            let gpst_ns = start_ns.saturating_add(shifted as i64);
            Place { edge, residual_ns, gpst_ns, on_grid }
        })
        .collect()
}

struct Follower {
    last_edge: Option<i64>,
    recent: VecDeque<f64>,
    offset: f64,
}

impl Follower {
    /// Begins with the anchor's word, which a few late captures at the start must not outvote.
    fn new() -> Self {
        Self { last_edge: None, recent: VecDeque::from([0.0; FOLLOWED / 2 + 1]), offset: 0.0 }
    }

    /// Takes the residual of the first capture of an edge; a bounce must not pull.
    fn follow(&mut self, edge: i64, residual: f64) {
        if self.last_edge.replace(edge) == Some(edge) {
            return;
        }
        if self.recent.len() == FOLLOWED {
            self.recent.pop_front();
        }
        self.recent.push_back(residual);
        let mut recent: Vec<f64> = self.recent.iter().copied().collect();
        self.offset = median(&mut recent).unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_captures_at_the_start_do_not_shift_the_grid_and_a_lasting_drift_does() {
        let mut follower = Follower::new();
        for edge in 0..2 {
            follower.follow(edge, 2_400_000.0);
            assert_eq!(follower.offset, 0.0, "after edge {edge}");
        }
        for edge in 2..9 {
            follower.follow(edge, 100_000.0);
        }
        assert_eq!(follower.offset, 100_000.0);
    }
}
