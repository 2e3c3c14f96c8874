//! What is wrong with the counter itself, named with the edge, the size and the likely cause.
//!
//! By its readings alone: a counter that stands still (two captures in a row with the same reading), one that wraps at 32
//! bits (a reading that is 2^32 off what the host's clock says of the time between two captures, and smaller than the one
//! before, or larger by as much), and one that advances by k at every k-th tick (all readings have the same remainder
//! by k). By its readings against the edges: what [`super::steps`] finds.
//!
//! No rule is a threshold that jitter crosses. Twenty readings with remainders at random agree by chance once in half a
//! million times; readings that do not jitter at all, as where the board runs from the generator's own clock, are not
//! judged: their differences have to take three values at least.

use std::collections::BTreeSet;

use serde::Serialize;

use super::CounterRate;
use super::steps::{Search, Step, StepKind};
use crate::analysis::captures::{Captured, WindowCaptures};
use crate::analysis::disturbance::{first_reading, last_reading};
use crate::analysis::fixed::Fixed;
use crate::analysis::window::Window;
use crate::units::NS_PER_S;

/// Readings that a common divisor of their differences needs.
const LEAST_READINGS: usize = 20;
/// Values that the differences have to take, else they are locked to the edges.
const LEAST_VALUES: usize = 3;
/// What a 32-bit register holds.
const WRAP: i128 = 1 << 32;
/// The host may hear of two captures so much closer together, or further apart, than they were.
const HEARD_S: i128 = 2;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The rate changed.
    FrequencyStep,
    /// Counts were lost or gained.
    PhaseStep,
    /// A reading is 2^32 off.
    Wrap32,
    /// It advances by k at every k-th tick.
    CoarseUpdate,
    /// It does not advance.
    Standstill,
}

/// One fault.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterFault {
    /// What it is.
    pub kind: FaultKind,
    /// The commanded edge behind it, where it is known.
    pub edge: Option<u32>,
    /// The window and the board's number of the capture behind it, where no edge is known.
    pub capture: Option<(u32, u32)>,
    /// How large.
    pub size: Fixed,
    /// The unit of the size.
    pub unit: &'static str,
    /// Where it most likely comes from.
    pub cause: &'static str,
    /// All of it as a sentence.
    pub text: String,
}

/// What the readings of one session say by themselves.
#[must_use]
pub fn of_readings(windows: &[(&Window, &WindowCaptures)], counter_hz: u64) -> Vec<CounterFault> {
    let of_window = |(_, captures): &(&Window, &WindowCaptures)| {
        let mut found = standstills(&captures.arrived);
        found.extend(wraps(&captures.arrived, counter_hz));
        found
    };
    let mut found: Vec<CounterFault> = windows.iter().flat_map(of_window).collect();
    found.extend(coarse(windows));
    found
}

/// By how many ticks the counter advances at once: 1, but for a counter that [`of_readings`] found to be coarse.
#[must_use]
pub fn granularity(faults: &[CounterFault]) -> i128 {
    faults.iter().find(|fault| fault.kind == FaultKind::CoarseUpdate).map_or(1, |fault| fault.size.scaled)
}

/// What the steps of a session are called.
#[must_use]
pub fn of_steps(search: &Search) -> Vec<CounterFault> {
    search.steps.iter().map(of_step).collect()
}

fn of_step(step: &Step) -> CounterFault {
    let at = format!("before edge {} ({:.3} s after the first)", step.edge, step.after_s);
    let (kind, size, unit, cause, what) = match step.kind {
        StepKind::Phase { ticks, .. } => {
            let (cause, what) = phase_cause(ticks);
            let what = format!("the counter {what} {} ticks {at}", ticks.abs());
            (FaultKind::PhaseStep, Fixed::whole(ticks), "ticks", cause, what)
        }
        StepKind::Frequency { before, after, ppm } => {
            let size = Fixed::rounded(ppm, 6).unwrap_or(Fixed::whole(0));
            let what = format!("the counter's rate went from {before} Hz to {after} Hz ({ppm:+.4} ppm) {at}");
            let cause = "temperature, or a DVFS step of the clock that the counter comes from";
            (FaultKind::FrequencyStep, size, "ppm", cause, what)
        }
    };
    CounterFault {
        kind,
        edge: Some(step.edge),
        capture: None,
        size,
        unit,
        cause,
        text: format!("{what}: {cause}"),
    }
}

/// A phase step so large that pairing sees it: several captures in a row are off their edges by the same amount.
#[must_use]
pub fn large_step(by_ns: f64, half_ticks_per_s: f64, edge: u32, capture: u32) -> CounterFault {
    let ticks = (by_ns / NS_PER_S as f64 * half_ticks_per_s / 2.0).round() as i128;
    let (cause, _) = phase_cause(ticks);
    let text = format!(
        "the counter stepped by {:.3} ms ({ticks:+} ticks) against the edges before capture {capture}: {cause}, or a halt in \
         which it stood still",
        by_ns / 1e6
    );
    CounterFault {
        kind: FaultKind::PhaseStep,
        edge: Some(edge),
        capture: None,
        size: Fixed::whole(ticks),
        unit: "ticks",
        cause,
        text,
    }
}

/// Where a phase step comes from, and what happened to the ticks.
const fn phase_cause(ticks: i128) -> (&'static str, &'static str) {
    match ticks {
        ..=0 => ("dropped counts: the counter stood still for a while, or lost a carry", "lost"),
        _ => ("added counts: the counter was set, or counted a glitch of its clock", "gained"),
    }
}

/// Runs of captures with one and the same reading.
fn standstills(arrived: &[Captured]) -> Vec<CounterFault> {
    let same = |one: &Captured, other: &Captured| first_reading(one) == last_reading(other);
    let runs = arrived.chunk_by(|one, other| same(one, other) && first_reading(other) == last_reading(one));
    let told = runs.filter(|run| run.len() > 1).map(|run| {
        let (first, last) = (run[0].capture, run[run.len() - 1].capture);
        let cause =
            "the counter is not enabled, its clock is gated, or the board reads a copy that is not updated";
        let text = format!(
            "the counter stood still at {} from capture {} to capture {} of window {}: {cause}",
            first_reading(&run[0]),
            first.number,
            last.number,
            first.window
        );
        CounterFault {
            kind: FaultKind::Standstill,
            edge: None,
            capture: Some((first.window, first.number)),
            size: Fixed::whole(run.len() as i128),
            unit: "captures",
            cause,
            text,
        }
    });
    told.collect()
}

/// Readings that are 2^32 off what the host's clock expects of them after the one before.
fn wraps(arrived: &[Captured], counter_hz: u64) -> Vec<CounterFault> {
    let tolerance = (HEARD_S * i128::from(counter_hz)).min(WRAP / 4);
    let told = arrived.windows(2).filter_map(|pair| {
        let (before, after) = (last_reading(&pair[0]), first_reading(&pair[1]));
        let heard_ns = i128::from(pair[1].arrival.0) - i128::from(pair[0].arrival.0);
        let expected = heard_ns * i128::from(counter_hz) / i128::from(NS_PER_S);
        let difference = i128::from(after) - i128::from(before);
        let off = if difference < 0 { -WRAP } else { WRAP };
        if (difference - off - expected).abs() > tolerance {
            return None;
        }
        let (number, window) = (pair[1].capture.number, pair[1].capture.window);
        let cause = "only the low word of the counter is right: a 32-bit register, or two halves read across a carry";
        let way = if off < 0 { "fell" } else { "jumped ahead" };
        let text = format!(
            "the counter {way} by 2^32 before capture {number} of window {window} (from {before} to {after}; modulo 2^32 it \
             advanced by {}): {cause}",
            difference - off
        );
        Some(CounterFault {
            kind: FaultKind::Wrap32,
            edge: None,
            capture: Some((window, number)),
            size: Fixed::whole(off),
            unit: "ticks",
            cause,
            text,
        })
    });
    told.collect()
}

/// The divisor that all differences of readings have in common.
fn coarse(windows: &[(&Window, &WindowCaptures)]) -> Option<CounterFault> {
    let arrived = || windows.iter().flat_map(|(_, captures)| &captures.arrived);
    let readings: Vec<u64> = arrived().flat_map(all_readings).collect();
    let divisor = divisor(&arrived().map(first_reading).collect::<Vec<_>>(), &readings)?;
    let cause = "the counter's source is slower than its rate says and adds as much at once; a reading is known to that only";
    Some(CounterFault {
        kind: FaultKind::CoarseUpdate,
        edge: None,
        capture: None,
        size: Fixed::whole(divisor),
        unit: "ticks",
        cause,
        text: format!(
            "the counter advances by {divisor} ticks at once (all {} readings): {cause}",
            readings.len()
        ),
    })
}

/// What all differences of `readings` are multiples of, if it is more than a tick, and the captures among them jitter.
fn divisor(captures: &[u64], readings: &[u64]) -> Option<i128> {
    let first = i128::from(*readings.first()?);
    let differences = readings.iter().map(|reading| (i128::from(*reading) - first).abs());
    let divisor = differences.fold(0, common_divisor);
    let values: BTreeSet<u64> = captures.windows(2).map(|two| two[1].wrapping_sub(two[0])).collect();
    (divisor > 1 && captures.len() >= LEAST_READINGS && values.len() >= LEAST_VALUES).then_some(divisor)
}

fn all_readings(captured: &Captured) -> impl Iterator<Item = u64> {
    let capture = captured.capture;
    let of_capture = [first_reading(captured), last_reading(captured)].into_iter();
    let snapshot = capture.snapshot.map(|snapshot| snapshot.counter);
    of_capture.chain(snapshot).chain(capture.echo.into_iter().flat_map(|(before, after)| [before, after]))
}

fn common_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// How steps of the counter were looked for, for the report.
#[must_use]
pub fn rule(search: &Search, rate: &CounterRate, emulated: bool) -> String {
    let Some(ticks) = search.least_ticks else {
        return format!("not looked for: fewer than {} edges", super::steps::LEAST_EDGES);
    };
    let found = match search.steps.len() {
        0 => "none".to_owned(),
        count => count.to_string(),
    };
    let us = ticks as f64 * rate.tick_ps() * 1e-6;
    let ppm = search.least_ppm.unwrap_or(f64::NAN);
    let stalls = if emulated {
        "; on an emulated board a step under 50 ms cannot be told from a stall of the host"
    } else {
        ""
    };
    format!("{found} found; one of {ticks} ticks ({us:.3} us) or {ppm:.3} ppm would have been{stalls}")
}

#[cfg(test)]
mod tests {
    use ppsrig_wire::{Capture, CaptureCounters};

    use super::*;
    use crate::units::HostNanos;

    /// Captures a second apart, as the host hears them, with these readings.
    fn captures(readings: &[u64]) -> Vec<Captured> {
        let of_reading = |(number, reading): (usize, &u64)| Captured {
            arrival: HostNanos(number as u64 * 1_000_000_000 + (number as u64 * 7919) % 50_000_000),
            capture: Capture {
                window: 2,
                number: number as u32,
                counters: CaptureCounters::Irq { capture: *reading },
                snapshot: None,
                echo: None,
            },
        };
        readings.iter().enumerate().map(of_reading).collect()
    }

    fn readings(count: u64, first: u64) -> Vec<u64> {
        (0..count).map(|index| first + index * 12_500_000 + (index * 104_729) % 331).collect()
    }

    #[test]
    fn a_counter_that_stands_still_is_named_with_its_captures() {
        let mut values = readings(8, 1000);
        values[4] = values[3];
        values[5] = values[3];
        let found = standstills(&captures(&values));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].capture, found[0].size), (Some((2, 3)), Fixed::whole(3)));
        assert!(
            found[0].text.contains("stood still at 37501068 from capture 3 to capture 5 of window 2"),
            "{}",
            found[0].text
        );
        assert_eq!(standstills(&captures(&readings(8, 1000))), []);
    }

    #[test]
    fn a_register_of_32_bits_that_wraps_is_named_and_one_that_is_read_in_halves_twice() {
        let low: Vec<u64> =
            readings(8, (1 << 32) - 40_000_000).iter().map(|value| value % (1 << 32)).collect();
        let found = wraps(&captures(&low), 12_500_000);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].capture, found[0].size), (Some((2, 4)), Fixed::whole(-(1 << 32))));
        assert!(found[0].text.contains("fell by 2^32 before capture 4"), "{}", found[0].text);
        let mut torn = readings(8, 1 << 40);
        torn[5] += 1 << 32;
        let sizes: Vec<_> =
            wraps(&captures(&torn), 12_500_000).iter().map(|fault| fault.size.scaled).collect();
        assert_eq!(sizes, [1 << 32, -(1 << 32)]);
    }

    #[test]
    fn a_counter_that_falls_by_something_else_did_not_wrap() {
        let mut values = readings(8, 1 << 40);
        values[5] -= 1 << 31;
        assert_eq!(wraps(&captures(&values), 12_500_000), []);
        assert_eq!(wraps(&captures(&readings(8, 1 << 40)), 12_500_000), []);
        assert_eq!(wraps(&captures(&readings(8, 1 << 40)), 1_000_000_000), []);
    }

    #[test]
    fn a_counter_that_advances_by_sixteen_at_once_is_found_from_twenty_readings_on() {
        let coarse: Vec<u64> = readings(20, 5).iter().map(|value| value / 16 * 16 + 3).collect();
        assert_eq!(divisor(&coarse, &coarse), Some(16));
        assert_eq!(divisor(&coarse[..19], &coarse[..19]), None);
        assert_eq!(divisor(&readings(20, 5), &readings(20, 5)), None);
        // Locked to the edges: nothing jitters, so nothing can be said.
        let locked: Vec<u64> = (0..50).map(|index| index * 12_500_000).collect();
        assert_eq!(divisor(&locked, &locked), None);
    }
}
