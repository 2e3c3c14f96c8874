//! Pairs the commanded edges of one window with its captures, and gives every edge its class and reason.
//!
//! A commanded edge takes the nearest capture within a quarter period. Where several explanations hold, the first one of
//! these counts. Of a commanded edge, with or without a capture: `lost` (its record was torn or dropped), `disturbed`,
//! `unlocked`, `settling` or `holdover` (the reference could not be trusted), `paired`, `ambiguous` (more edges unseen
//! than records missing, or a capture off the grid beside it), `missed`. Of a capture that no edge took: `disturbed`, the
//! reference's three, `ambiguous`, `duplicate`, `spurious`. A record that did not arrive is `torn` or `dropped`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::anchor::Anchor;
use super::captures::{Captured, WindowCaptures};
use super::class::Class;
use super::disturbance::Disturbances;
use super::half_ticks::HalfTicks;
use super::lost::{Unseen, unseen};
use super::placement::{Place, Placement, Start, after_first_ns, place};
use super::rate::faults;
use super::row::{EdgeRow, Mode};
use super::seconds::Reference;
use super::window::{Arming, Window};
use crate::events::{IntervalChannel, IntervalEvent, IntervalStamp, Stamped};
use crate::names::EdgeTiming;
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

/// Captures in a row that are off their edges by the same amount: the counter stepped.
const STEP_RUN: usize = 3;
/// A smaller step is not told from latency.
const STEP_NS: f64 = 5_000_000.0;
/// The same on an emulated board, whose latency has a tail of milliseconds. At periods under twice this a step shows only
/// as edges that do not pair.
const STEP_EMULATED_NS: f64 = 50_000_000.0;

/// What is known about one window.
pub struct Case<'a> {
    /// The window and its burst.
    pub window: &'a Window,
    /// What the board said.
    pub captures: &'a WindowCaptures,
    /// The session's anchor, or why there is none.
    pub anchor: Result<&'a Anchor, &'a str>,
    /// What decides when an edge comes, and so many nanoseconds behind the pulse where that is it.
    pub timing: (EdgeTiming, u32),
    /// The reference.
    pub reference: &'a dyn Reference,
    /// The interval counter's trusted readings.
    pub readings: &'a [Stamped<IntervalEvent>],
    /// How the board captured, where the plan fixes it.
    pub mode: Option<Mode>,
    /// Whether the board is emulated.
    pub emulated: bool,
    /// End of the recording.
    pub end: HostNanos,
}

/// A burst that has its place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When edge 0 was due: GPST in nanoseconds, or on the anchor's own scale.
    pub start_ns: i64,
    /// Edges.
    pub cycles: u32,
    /// Nanoseconds from edge to edge.
    pub period_ns: u64,
}

impl Case<'_> {
    fn start(&self) -> Start<'_> {
        match self.timing {
            (EdgeTiming::OnPulse, offset_ns) => Start::OnPulse(offset_ns),
            (EdgeTiming::HostTimed, _) => Start::ByHost(&self.window.host_edges),
            (timing @ (EdgeTiming::EachPulse | EdgeTiming::FreeRunning), _) => Start::WhileOpen {
                from: self.window.opened,
                to: self.window.awaited.or(self.window.closed).unwrap_or(self.end),
                on_pulses: timing == EdgeTiming::EachPulse,
            },
        }
    }
}

/// Pairs one window: its lines, commanded edges first, and its burst's place in time. Steps of the counter that the pairing
/// finds are added to `disturbances`.
#[must_use]
pub fn pair(case: &Case<'_>, disturbances: &mut Disturbances) -> (Vec<EdgeRow>, Option<Due>) {
    let placement = match (case.anchor, case.window.arming) {
        (Ok(anchor), Some(arming)) => place(&case.captures.arrived, anchor, &arming, case.start()),
        (Err(reason), Some(_)) => Err(reason.to_owned()),
        (_, None) => Err("no burst was armed in its window".to_owned()),
    };
    let cycles = case.window.arming.map_or(0, |arming| arming.cycles);
    let mut rows = match (placement, case.anchor, case.window.arming) {
        (Ok(placement), Ok(anchor), Some(arming)) => {
            // Of a source that nobody starts, those are due that came while the window was open.
            let arming = Arming { cycles: placement.cycles, ..arming };
            let found = Found::new(case, anchor, arming, placement);
            found.note_step(disturbances);
            let (start_ns, cycles) = (found.placement.start_ns, arming.cycles);
            let mut rows = found.rows(disturbances);
            rows.extend(missing_rows(case));
            return (rows, Some(Due { start_ns, cycles, period_ns: arming.period_ns }));
        }
        (Err(reason), ..) => unplaced(case, cycles, &reason, disturbances),
        (Ok(_), ..) => unplaced(case, cycles, "its burst has no place in time", disturbances),
    };
    rows.extend(missing_rows(case));
    (rows, None)
}

/// Without a place in time nothing can be paired. Edges of which nothing at all was captured are missed all the same.
fn unplaced(case: &Case<'_>, cycles: u32, reason: &str, disturbances: &Disturbances) -> Vec<EdgeRow> {
    let (session, burst) = (case.window.session, case.window.burst);
    let nothing = case.captures.arrived.is_empty();
    let lost = u32::try_from(case.captures.missing.len()).unwrap_or(u32::MAX);
    let commanded = (0..cycles).map(|edge| {
        let (class, reason) = match (nothing, edge < lost) {
            (true, true) => (Class::Lost, Cow::Borrowed("no record of the window arrived")),
            (true, false) => (Class::Missed, missed_reason(case, None)),
            (false, _) => (Class::Ambiguous, Cow::Owned(reason.to_owned())),
        };
        EdgeRow { commanded: Some(edge), mode: case.mode, ..EdgeRow::new(session, burst, class, reason) }
    });
    let captured = case.captures.arrived.iter().map(|captured| {
        let disturbed = disturbances.reason(Some(captured.arrival), Some(captured.capture.half_ticks()));
        let (class, reason) = match disturbed {
            Some(why) => (Class::Disturbed, why),
            None if case.window.arming.is_none() => (Class::Spurious, reason),
            None => (Class::Ambiguous, reason),
        };
        with_capture(EdgeRow::new(session, burst, class, Cow::Owned(reason.to_owned())), captured)
    });
    commanded.chain(captured).collect()
}

fn missing_rows<'a>(case: &'a Case<'_>) -> impl Iterator<Item = EdgeRow> + 'a {
    case.captures.missing.iter().map(|record| EdgeRow {
        captured: Some(record.number),
        mode: case.mode,
        ..EdgeRow::new(case.window.session, case.window.burst, record.class, record.reason.clone())
    })
}

fn with_capture(row: EdgeRow, captured: &Captured) -> EdgeRow {
    EdgeRow {
        captured: Some(captured.capture.number),
        capture: Some(captured.capture),
        arrival: Some(captured.arrival),
        mode: Some(if captured.is_poll() { Mode::Poll } else { Mode::Irq }),
        ..row
    }
}

fn missed_reason(case: &Case<'_>, host: Option<HostNanos>) -> Cow<'static, str> {
    match (&case.window.generator_failed, host) {
        (_, Some(host)) if host > case.end => Cow::Borrowed("the recording ended before it"),
        (Some(reason), _) => Cow::Owned(format!("no capture, and the generator failed: {reason}")),
        _ => Cow::Borrowed("no capture within a quarter period"),
    }
}

/// A window whose burst has its place in time.
struct Found<'a> {
    case: &'a Case<'a>,
    anchor: &'a Anchor,
    arming: Arming,
    placement: Placement,
    /// Which capture each commanded edge took.
    owner: Vec<Option<usize>>,
    /// The commanded edges without one.
    unseen: Unseen,
}

impl<'a> Found<'a> {
    fn new(case: &'a Case<'a>, anchor: &'a Anchor, arming: Arming, placement: Placement) -> Self {
        let mut owner: Vec<Option<usize>> = vec![None; arming.cycles as usize];
        for (index, found) in placement.places.iter().enumerate().filter(|(_, found)| found.on_grid) {
            let slot = &mut owner
                [usize::try_from(found.edge).expect("a place on the grid has an edge of the burst")];
            let nearer = |held: usize| placement.places[held].residual_ns.abs() > found.residual_ns.abs();
            if slot.is_none_or(nearer) {
                *slot = Some(index);
            }
        }
        let unseen = unseen(&owner, case.captures);
        Self { case, anchor, arming, placement, owner, unseen }
    }

    fn rows(&self, disturbances: &Disturbances) -> Vec<EdgeRow> {
        let taken: BTreeSet<usize> = self.owner.iter().flatten().copied().collect();
        let leftovers: Vec<usize> =
            (0..self.placement.places.len()).filter(|index| !taken.contains(index)).collect();
        let torn_apart: BTreeSet<i64> = leftovers
            .iter()
            .flat_map(|&index| self.doubtful_neighbours(&self.placement.places[index]))
            .collect();
        let commanded =
            (0..self.arming.cycles).map(|edge| self.commanded_row(edge, &torn_apart, disturbances));
        let captured = leftovers.iter().map(|&index| self.captured_row(index, disturbances));
        commanded.chain(captured).collect()
    }

    fn gpst_ns(&self, edge: i64) -> i64 {
        // Only what the host times has times of its own.
        let after = after_first_ns(&self.case.window.host_edges, edge, self.arming.period_ns);
        self.placement.start_ns.saturating_add(after)
    }

    /// Commanded edges beside an off-grid capture that have no capture of their own: it may be either's.
    fn doubtful_neighbours(&self, place: &Place) -> Vec<i64> {
        if place.on_grid {
            return Vec::new();
        }
        let toward = if place.residual_ns < 0.0 { -1 } else { 1 };
        [place.edge, place.edge.saturating_add(toward)]
            .into_iter()
            .filter(|&edge| {
                usize::try_from(edge).is_ok_and(|edge| {
                    self.owner.get(edge).is_some_and(Option::is_none) && !self.unseen.is_explained(edge)
                })
            })
            .collect()
    }

    fn commanded_row(&self, edge: u32, torn_apart: &BTreeSet<i64>, disturbances: &Disturbances) -> EdgeRow {
        let gpst_ns = self.gpst_ns(i64::from(edge));
        let host = self.anchor.host_time(gpst_ns);
        let capture = self.owner[edge as usize].map(|index| &self.case.captures.arrived[index]);
        let expected = self.expected_half_ticks(gpst_ns);
        let disturbed = disturbances
            .reason(Some(host), Some(expected))
            .or_else(|| disturbances.reason(None, capture.map(|captured| captured.capture.half_ticks())));
        let distrust = || self.case.reference.distrust(crate::units::Nanos(gpst_ns));
        let (class, reason): (Class, Cow<'static, str>) =
            if capture.is_none() && self.unseen.is_lost(edge as usize) {
                (Class::Lost, Cow::Borrowed("its record was torn or dropped"))
            } else if let Some(why) = disturbed {
                (Class::Disturbed, Cow::Owned(why.to_owned()))
            } else if let Some((class, why)) = distrust() {
                (class, Cow::Owned(why))
            } else if capture.is_some() {
                (Class::Paired, Cow::Borrowed("the nearest capture within a quarter period"))
            } else if let Some(why) = self.unseen.doubt(edge as usize) {
                (Class::Ambiguous, Cow::Owned(why))
            } else if torn_apart.contains(&i64::from(edge)) {
                (Class::Ambiguous, Cow::Borrowed("no capture on the grid, but one beside it"))
            } else {
                (Class::Missed, missed_reason(self.case, Some(host)))
            };
        let row = EdgeRow {
            commanded: Some(edge),
            gpst_ns: Some(gpst_ns),
            qerr_ps: self.case.reference.qerr_ps(GpsSecond(self.placement.start_ns.div_euclid(NS_PER_S))),
            mode: self.case.mode,
            ..EdgeRow::new(self.case.window.session, self.case.window.burst, class, reason)
        };
        match capture {
            Some(captured) => with_capture(row, captured),
            None => row,
        }
    }

    fn expected_half_ticks(&self, gpst_ns: i64) -> i128 {
        let after = gpst_ns.saturating_sub(self.anchor.second.0.saturating_mul(NS_PER_S));
        self.anchor.half_ticks + (after as f64 / NS_PER_S as f64 * self.anchor.half_ticks_per_s) as i128
    }

    fn captured_row(&self, index: usize, disturbances: &Disturbances) -> EdgeRow {
        let captured = &self.case.captures.arrived[index];
        let place = &self.placement.places[index];
        let host = self.anchor.host_time(place.gpst_ns);
        let owner = usize::try_from(place.edge).ok().and_then(|edge| self.owner.get(edge).copied().flatten());
        let (class, reason): (Class, Cow<'static, str>) = if let Some(why) =
            disturbances.reason(Some(host), Some(captured.capture.half_ticks()))
        {
            (Class::Disturbed, Cow::Owned(why.to_owned()))
        } else if let Some((class, why)) = self.case.reference.distrust(crate::units::Nanos(place.gpst_ns)) {
            (class, Cow::Owned(why))
        } else if !self.doubtful_neighbours(place).is_empty() {
            (Class::Ambiguous, Cow::Borrowed("off the grid, beside an edge that has no capture"))
        } else if let (true, Some(owner)) = (place.on_grid, owner) {
            let first = self.case.captures.arrived[owner].capture.number;
            let edge = place.edge;
            (Class::Duplicate, Cow::Owned(format!("edge {edge} was captured as number {first} already")))
        } else {
            (Class::Spurious, Cow::Borrowed("no commanded edge within a quarter period"))
        };
        with_capture(EdgeRow::new(self.case.window.session, self.case.window.burst, class, reason), captured)
    }

    /// Several captures in a row that are off by the same amount mean that the counter stepped against the edges, if they
    /// are off by more than latency explains, and than the edges themselves may have been late. It is also what a halt
    /// looks like where the counter stands still in it.
    fn note_step(&self, disturbances: &mut Disturbances) {
        let period = self.arming.period_ns as f64;
        let limit = if self.case.emulated { STEP_EMULATED_NS } else { STEP_NS.min(period / 4.0) };
        let inside = |place: &Place| (0..i64::from(self.arming.cycles)).contains(&place.edge);
        let off = |place: &Place, like: &Place| {
            inside(place)
                && place.residual_ns.abs() >= limit
                && (place.residual_ns - like.residual_ns).abs() < limit / 2.0
        };
        let run = self
            .placement
            .places
            .windows(STEP_RUN)
            .zip(self.case.captures.arrived.windows(STEP_RUN))
            .position(|(run, captured)| {
                run.iter().zip(captured).all(|(place, captured)| {
                    off(place, &run[0])
                        && place.residual_ns.abs() > half_width_near(self.case.readings, captured.arrival)
                })
            });
        if let Some(at) = run {
            let captured = &self.case.captures.arrived[at];
            let place = &self.placement.places[at];
            let half_period = period / 2.0 / NS_PER_S as f64 * self.anchor.half_ticks_per_s;
            let edge = u32::try_from(place.edge).unwrap_or(0);
            let rate = self.anchor.half_ticks_per_s;
            let step = faults::large_step(place.residual_ns, rate, edge, captured.capture.number);
            disturbances.from_counter(captured.capture.half_ticks() - half_period as i128, step);
        }
    }
}

/// The half-width, in nanoseconds, that the interval counter states for the edge whose reading arrived nearest to `at`;
/// 0 where it states none. Host times do well enough: neighbours are late for the same reason.
fn half_width_near(readings: &[Stamped<IntervalEvent>], at: HostNanos) -> f64 {
    let of_edge = |reading: &Stamped<IntervalEvent>| match reading.event {
        IntervalEvent::Stamp(IntervalStamp { channel: IntervalChannel::A, half_width, .. }) => {
            Some((reading.at.0.abs_diff(at.0), half_width.map_or(0.0, |width| width.0 as f64 / 1000.0)))
        }
        _ => None,
    };
    let behind = readings.partition_point(|reading| reading.at < at);
    let before = readings[..behind].iter().rev().find_map(of_edge);
    let after = readings[behind..].iter().find_map(of_edge);
    before.into_iter().chain(after).min_by_key(|(apart, _)| *apart).map_or(0.0, |(_, half_width)| half_width)
}
