//! How often the interval holds the truth: latencies of known law, read by read, through the real estimator.
//!
//! The law of the latency is one of whole CPU cycles: 18, and up to 9 more, with a rare one of 400 (the mean is known
//! exactly). Each law of the phase is walked cycle by cycle, as the core and its counter would: nothing here knows that
//! dither makes phases uniform.

use ppsrig_wire::{ClockId, PathDone};

use super::collect::PathWindow;
use super::estimate::estimate;
use super::histogram::Histogram;
use super::session::{Clocks, PathSession, session};
use super::testing::Random;
use crate::names::{PathPart, PathVariant};
use crate::units::{Hertz, HostNanos};

const RATIO: u32 = 80;
const READS: u32 = 100_000;
const BATCHES: u32 = 32;
const REPETITIONS: u64 = 500;
const LEAST: u32 = 18;
const JITTER: u32 = 10;
const RARE: u32 = 1000;
const LONG: u32 = 400;

/// How the phase of the next read comes about.
#[derive(Clone, Copy)]
enum Law {
    /// Anywhere.
    Uniform,
    /// Where it was, a few cycles on or back.
    Walk,
    /// The same at every read.
    Locked,
}

/// Mean latency in picoseconds: one cycle is one nanosecond.
fn truth() -> f64 {
    let common = f64::from(LEAST) + f64::from(JITTER - 1) / 2.0;
    1000.0 * (common + (f64::from(LONG) - common) / f64::from(RARE))
}

fn simulated(law: Law, dither: bool, seed: u64) -> PathWindow {
    let mut random = Random(seed);
    let ticks: Vec<u32> = (0..RATIO + LONG).map(|cycles| cycles / RATIO).collect();
    let mut counts = vec![[0_u64; 8]; BATCHES as usize];
    let mut phases = vec![0_u64; RATIO as usize];
    let mut start = random.below(RATIO);
    for batch in &mut counts {
        for _ in 0..READS / BATCHES {
            let draw = random.next();
            let part = |from: u32, limit: u32| (((draw >> from) & 0xffff) as u32 * limit) >> 16;
            start = match law {
                Law::Uniform => random.below(RATIO),
                Law::Walk => (start + RATIO + part(0, 5) - 2) % RATIO,
                Law::Locked => start,
            };
            let phase = if dither { (start + random.below(RATIO)) % RATIO } else { start };
            let latency =
                if (draw >> 32).is_multiple_of(u64::from(RARE)) { LONG } else { LEAST + part(16, JITTER) };
            batch[ticks[(phase + latency) as usize] as usize] += 1;
            phases[phase as usize] += 1;
        }
    }
    let batches = counts.iter().map(|counts| {
        let mut histogram = Histogram::default();
        counts.iter().zip(0..).for_each(|(count, ticks)| histogram.add(ticks, *count));
        histogram
    });
    window(PathPart::Path, dither, batches.collect(), phases)
}

/// Reads back to back take one cycle, so one of 80 sees a tick: known without a draw.
fn overhead(dither: bool) -> PathWindow {
    let mut batch = Histogram::default();
    batch.add(0, 79_000);
    batch.add(1, 1000);
    window(PathPart::Overhead, dither, vec![batch; BATCHES as usize], vec![32_000; RATIO as usize])
}

fn window(part: PathPart, dither: bool, batches: Vec<Histogram>, phases: Vec<u64>) -> PathWindow {
    let iterations = phases.iter().sum::<u64>() as u32;
    PathWindow {
        number: 1,
        session: 1,
        variant: PathVariant::Indirect,
        clock_id: ClockId::Realtime,
        part,
        added_delay: 0,
        iterations,
        dither,
        dither_steps: RATIO,
        seed: 1,
        started: HostNanos(0),
        ended: Some(HostNanos(1)),
        batches,
        phases,
        pairs: std::collections::BTreeMap::new(),
        done: Some(PathDone {
            window: 1,
            iterations,
            phase_disagreements: 0,
            overflow: 0,
            invalid: 0,
            dither_cycles: RATIO - 1,
            instructions: None,
        }),
        problems: Vec::new(),
    }
}

fn estimated(law: Law, dither: bool, seed: u64) -> PathSession {
    let clocks = Clocks { cpu: Hertz(1_000_000_000), counter: Hertz(12_500_000) };
    let (overhead, path) = (overhead(dither), simulated(law, dither, seed));
    session(&[&overhead, &path], clocks, 1000).expect("everything is there")
}

fn coverage(law: Law, dither: bool) -> f64 {
    let holds = |seed: &u64| {
        let session = estimated(law, dither, seed.wrapping_mul(0x1234_5678_9abc_def1));
        let (low, high) = estimate(&[session.mean]).and_then(|mean| mean.interval).expect("32 batches");
        (low..=high).contains(&(truth() - 1000.0))
    };
    (1..=REPETITIONS).filter(holds).count() as f64 / REPETITIONS as f64
}

#[test]
fn uniform_phases_are_covered_at_the_nominal_rate() {
    let rate = coverage(Law::Uniform, false);
    assert!((0.92..=0.98).contains(&rate), "{rate}");
}

#[test]
fn phases_that_walk_at_random_are_covered_with_dither() {
    let rate = coverage(Law::Walk, true);
    assert!((0.92..=0.98).contains(&rate), "{rate}");
}

#[test]
fn locked_phases_are_covered_with_dither() {
    let rate = coverage(Law::Locked, true);
    assert!((0.92..=0.98).contains(&rate), "{rate}");
}

#[test]
fn locked_phases_without_dither_are_wrong_and_always_in_doubt() {
    let mut worst: f64 = 0.0;
    for seed in 1..=40 {
        let session = estimated(Law::Locked, false, seed);
        worst = worst.max((session.mean.value - (truth() - 1000.0)).abs());
        let told = |what: &str| session.doubts.iter().any(|doubt| doubt.contains(what));
        assert!(
            told("dither is off") && told("the phases allow a bias of 79.000 ns"),
            "{:?}",
            session.doubts
        );
    }
    assert!(worst > 20_000.0, "without dither it can be wrong by {worst} ps");
}
