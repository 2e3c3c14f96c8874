//! When edges cannot be held against the board: the core was halted, the link stalled, or a clock stepped.
//!
//! What counts as a halt depends on the board. Its idle loop never pauses, so on silicon a gap of some milliseconds is a
//! halt. An emulated core pauses whenever the host schedules something else, while its counter runs on: there only a
//! gap that no scheduler explains counts, and shorter ones are part of the latency that is measured.

use ppsrig_wire::CaptureCounters;

use super::captures::{Captured, WindowCaptures};
use super::half_ticks::HalfTicks;
use super::rate::faults::CounterFault;
use super::window::Window;
use crate::events::{Recording, RigEvent};
use crate::units::{HostNanos, NS_PER_S};

/// An idle loop that stands still for this long was halted.
const HALT_NS: u64 = 10_000_000;
/// The same on an emulated board.
const HALT_EMULATED_NS: u64 = 500_000_000;
/// A link that says nothing for longer than this has stalled: heartbeats come four times a second.
const SILENCE_NS: u64 = 2 * NS_PER_S as u64;
/// The host may hear of an edge so much later than of the event that disturbed it.
const PAD_NS: u64 = 100_000_000;
/// A clock that departs from the counter by more than this between two captures has stepped.
const CLOCK_STEP_NS: f64 = 1_000_000.0;
/// It may be slewed by this much without having stepped.
const CLOCK_SLEW: f64 = 1e-3;

/// What disturbed one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturbances {
    /// By host time: from, to, why.
    host: Vec<(HostNanos, HostNanos, String)>,
    /// By the board's counter, in half ticks: from, to, why.
    counter: Vec<(i128, i128, String)>,
    /// The step of the counter among them, if pairing found one.
    step: Option<CounterFault>,
}

/// The facts about the board that the thresholds depend on.
#[derive(Clone, Copy, Debug)]
pub struct BoardFacts {
    /// Whether it is emulated.
    pub emulated: bool,
    /// The counter's rate as declared: good enough for a threshold.
    pub counter_hz: u64,
}

impl Disturbances {
    /// Why an event at this host time, or with this counter value, was disturbed.
    #[must_use]
    pub fn reason(&self, host: Option<HostNanos>, half_ticks: Option<i128>) -> Option<&str> {
        let by_host =
            host.and_then(|host| self.host.iter().find(|(from, to, _)| (*from..=*to).contains(&host)));
        let by_counter = half_ticks
            .and_then(|ticks| self.counter.iter().find(|(from, to, _)| (*from..=*to).contains(&ticks)));
        by_host.map(|(.., why)| why.as_str()).or(by_counter.map(|(.., why)| why.as_str()))
    }

    /// Every disturbance, as a sentence.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.host
            .iter()
            .map(|(.., why)| why.as_str())
            .chain(self.counter.iter().map(|(.., why)| why.as_str()))
    }

    /// Everything from this counter value on is disturbed by a step of the counter.
    pub fn from_counter(&mut self, half_ticks: i128, step: CounterFault) {
        self.counter.push((half_ticks, i128::MAX, step.text.clone()));
        self.step = Some(step);
    }

    /// The step of the counter, if there was one.
    #[must_use]
    pub fn into_step(self) -> Option<CounterFault> {
        self.step
    }
}

/// Finds what disturbed one window. `end` is the end of the recording.
#[must_use]
pub fn disturbances(
    recording: &Recording,
    window: &Window,
    captures: &WindowCaptures,
    board: BoardFacts,
    end: HostNanos,
) -> Disturbances {
    let mut found = Disturbances::default();
    let close = window.closed.unwrap_or(end);
    for (from, to, operations) in probe_uses(recording, window, end) {
        let why = format!("the probe was used in the window ({operations} operations): it halts the core");
        found.host.push((
            HostNanos(from.0.saturating_sub(PAD_NS)),
            HostNanos(to.0.saturating_add(PAD_NS)),
            why,
        ));
    }
    silences(window, captures, close, &mut found);
    halts(captures, board, &mut found);
    clock_steps(&captures.arrived, &mut found);
    found
}

/// The probe sessions that overlap a window: from, to, operations.
pub fn probe_uses<'a>(
    recording: &'a Recording,
    window: &'a Window,
    end: HostNanos,
) -> impl Iterator<Item = (HostNanos, HostNanos, u64)> + 'a {
    let close = window.closed.unwrap_or(end);
    recording.rig.iter().filter_map(move |event| match &event.event {
        RigEvent::ProbeUsed { began, operations, .. } if *began <= close && event.at >= window.opened => {
            Some((*began, event.at, *operations))
        }
        _ => None,
    })
}

fn silences(window: &Window, captures: &WindowCaptures, close: HostNanos, found: &mut Disturbances) {
    let mut last = window.opened;
    let life = captures.signs_of_life.iter().copied().filter(|at| (window.opened..=close).contains(at));
    for at in life.chain([close]) {
        if at.0.saturating_sub(last.0) > SILENCE_NS {
            let why = format!("the link was silent for {:.1} s", at.seconds_since(last));
            found.host.push((last, HostNanos(at.0.saturating_add(PAD_NS)), why));
        }
        last = at;
    }
}

fn halts(captures: &WindowCaptures, board: BoardFacts, found: &mut Disturbances) {
    let limit_ns = if board.emulated { HALT_EMULATED_NS } else { HALT_NS };
    let limit = u128::from(limit_ns) * u128::from(board.counter_hz) / NS_PER_S as u128;
    let mut before = None;
    for (_, heartbeat) in &captures.heartbeats {
        let gap = heartbeat.longest_gap_ticks;
        if limit > 0 && u128::from(gap) > limit {
            let ms = u128::from(gap) * 1000 / u128::from(board.counter_hz.max(1));
            let from = before.unwrap_or_else(|| heartbeat.counter.saturating_sub(gap.saturating_mul(2)));
            let why = format!("the core stood still for {ms} ms, by heartbeat {}", heartbeat.number);
            found.counter.push((2 * i128::from(from), 2 * i128::from(heartbeat.counter) + 1, why));
        }
        before = Some(heartbeat.counter);
    }
}

/// A snapshot clock that departs from the counter between two captures: the later one shows the step.
fn clock_steps(arrived: &[Captured], found: &mut Disturbances) {
    let snapshots: Vec<_> =
        arrived.iter().filter_map(|one| one.capture.snapshot.map(|shot| (one, shot))).collect();
    let mut rates: Vec<f64> = snapshots
        .windows(2)
        .filter(|pair| pair[1].1.counter > pair[0].1.counter)
        .map(|pair| {
            let time = pair[1].1.time_ns as f64 - pair[0].1.time_ns as f64;
            time / (pair[1].1.counter - pair[0].1.counter) as f64
        })
        .collect();
    // Two intervals cannot tell which of them stepped.
    if rates.len() < 3 {
        return;
    }
    let Some(rate) = super::anchor::median(&mut rates) else {
        return;
    };
    for pair in snapshots.windows(2) {
        let by_clock = (i128::from(pair[1].1.time_ns) - i128::from(pair[0].1.time_ns)) as f64;
        let by_counter = (i128::from(pair[1].1.counter) - i128::from(pair[0].1.counter)) as f64 * rate;
        let step = by_clock - by_counter;
        if step.abs() > CLOCK_STEP_NS + CLOCK_SLEW * by_counter.abs() {
            let at = pair[1].0.capture.half_ticks();
            let why = format!(
                "the snapshot's clock stepped by {:.3} ms against the counter before capture {}",
                step / 1e6,
                pair[1].0.capture.number
            );
            found.counter.push((at, at, why));
        }
    }
}

/// Names the first pair of captures between which the counter ran backwards.
#[must_use]
pub fn reversal(arrived: &[Captured]) -> Option<String> {
    arrived.windows(2).find_map(|pair| {
        let (before, after) = (last_reading(&pair[0]), first_reading(&pair[1]));
        (after < before).then(|| {
            format!(
                "the counter ran backwards between captures {} and {} of window {}: {before}, then {after}",
                pair[0].capture.number, pair[1].capture.number, pair[0].capture.window
            )
        })
    })
}

/// The first of a capture's own readings.
pub(super) const fn first_reading(captured: &Captured) -> u64 {
    match captured.capture.counters {
        CaptureCounters::Irq { capture } => capture,
        CaptureCounters::Poll { before, .. } => before,
    }
}

/// The last of them.
pub(super) const fn last_reading(captured: &Captured) -> u64 {
    match captured.capture.counters {
        CaptureCounters::Irq { capture } => capture,
        CaptureCounters::Poll { after, .. } => after,
    }
}
