//! A path run against a machine of plain arithmetic: clocks in step, a latency of whole cycles.

use std::{boxed::Box, vec::Vec};

use ppsrig_wire::{ClockId, FromBoard, PathDone, PathPlan, PathVariant};
use proptest::prelude::*;

use super::*;

/// A core of `cycles` to `ticks`, whose loop takes `around` cycles and whose path takes `latency`.
struct Machine {
    now: u64,
    ratio: (u64, u64),
    around: u64,
    latency: u64,
    pairs: u32,
    invalid_every: u32,
}

impl Machine {
    fn new(plan: &PathPlan, latency: u64) -> Self {
        let ratio = (u64::from(plan.ratio_cycles), u64::from(plan.ratio_ticks));
        Self { now: 12_345, ratio, around: 160, latency, pairs: 0, invalid_every: u32::MAX }
    }

    fn counter(&self) -> u64 {
        self.now * self.ratio.1 / self.ratio.0
    }
}

impl PairSource for Machine {
    fn pair(&mut self, dither: u32) -> Reading {
        self.now += self.around + u64::from(dither);
        let (cycles, pre) = (self.now, self.counter());
        self.now += self.latency;
        self.pairs += 1;
        Reading { cycles, pre, inner: self.counter(), valid: !self.pairs.is_multiple_of(self.invalid_every) }
    }

    fn instructions(&self) -> Option<u32> {
        Some(self.now as u32)
    }

    fn dither_cycles(&mut self, steps: u32) -> u32 {
        steps - 1
    }
}

fn plan() -> PathPlan {
    PathPlan {
        window: 3,
        variant: PathVariant::Inline,
        clock_id: ClockId::Realtime,
        iterations: 100_000,
        batches: 32,
        dither: true,
        seed: 1,
        dither_steps: 80,
        ratio_cycles: 80,
        ratio_ticks: 1,
        added_delay: 0,
        raw_pairs: false,
    }
}

/// Runs a plan to its end, and returns all its messages.
fn run(plan: PathPlan, machine: &mut Machine) -> Vec<FromBoard> {
    let mut memory = Box::new(PathMemory::new());
    let mut run = PathRun::new(&mut memory);
    run.start(plan);
    let mut messages = Vec::new();
    while run.running() {
        run.measure(machine);
        while let Some(message) = run.message() {
            messages.push(message);
        }
    }
    messages
}

fn done(messages: &[FromBoard]) -> PathDone {
    let Some(FromBoard::PathDone(done)) = messages.last() else { panic!("the last message is the end") };
    *done
}

/// (batch, ticks, count) of all histograms.
fn ticks(messages: &[FromBoard]) -> Vec<(u16, u32, u32)> {
    let mut rows = Vec::new();
    for message in messages {
        if let FromBoard::TickCounts(counts) = message {
            rows.extend(counts.entries.iter().map(|entry| (counts.batch, entry.ticks, entry.count)));
        }
    }
    rows
}

fn phases(messages: &[FromBoard]) -> Vec<u32> {
    let mut bins = Vec::new();
    for message in messages {
        if let FromBoard::PhaseCounts(counts) = message {
            assert_eq!(counts.first as usize, bins.len());
            bins.extend(&counts.counts);
        }
    }
    bins
}

fn mean_cycles(messages: &[FromBoard]) -> f64 {
    let rows = ticks(messages);
    let pairs: u32 = rows.iter().map(|row| row.2).sum();
    80.0 * rows.iter().map(|row| f64::from(row.1) * f64::from(row.2)).sum::<f64>() / f64::from(pairs)
}

#[test]
fn with_dither_a_locked_loop_gives_the_latency_in_cycles() {
    let messages = run(plan(), &mut Machine::new(&plan(), 21));
    // 80 ns * sqrt(p (1 - p) / n) is 0.11 here; four of them.
    assert!((mean_cycles(&messages) - 21.0).abs() < 0.45, "{}", mean_cycles(&messages));
}

#[test]
fn without_dither_a_locked_loop_is_wrong_and_its_phases_show_it() {
    let plan = PathPlan { dither: false, ..plan() };
    let mut machine = Machine::new(&plan, 20);
    machine.around = 60; // The whole loop takes one tick.
    let messages = run(plan, &mut machine);
    assert_eq!(phases(&messages).iter().filter(|&&count| count > 0).count(), 1);
    assert!((mean_cycles(&messages) - 20.0).abs() > 19.0);
}

#[test]
fn batches_add_up_and_differ_by_at_most_one() {
    let plan = PathPlan { iterations: 100_003, ..plan() };
    let messages = run(plan, &mut Machine::new(&plan, 21));
    let mut sizes = [0; 32];
    ticks(&messages).iter().for_each(|&(batch, _, count)| sizes[batch as usize] += count);
    assert_eq!(sizes.iter().sum::<u32>(), 100_003);
    assert_eq!((sizes[0], sizes[2], sizes[3], sizes[31]), (3126, 3126, 3125, 3125));
    assert_eq!(phases(&messages).iter().sum::<u32>(), 100_003);
    let done = done(&messages);
    assert_eq!((done.iterations, done.phase_disagreements, done.overflow, done.invalid), (100_003, 0, 0, 0));
    assert_eq!(done.dither_cycles, 79);
}

#[test]
fn a_counter_of_one_tick_a_cycle_gives_the_latency_each_time() {
    let plan = PathPlan { ratio_cycles: 1, ..plan() };
    let messages = run(plan, &mut Machine::new(&plan, 17));
    assert!(ticks(&messages).iter().all(|row| row.1 == 17));
    assert_eq!(phases(&messages), [100_000]);
}

#[test]
fn raw_pairs_come_whole_and_in_order_and_make_the_same_histogram() {
    let plan = PathPlan { iterations: 10_000, batches: 3, raw_pairs: true, ..plan() };
    let messages = run(plan, &mut Machine::new(&plan, 50));
    let mut pairs: Vec<Pair> = Vec::new();
    let mut expected = std::collections::BTreeMap::new();
    for message in &messages {
        if let FromBoard::Pairs(piece) = message {
            assert_eq!(piece.first as usize, pairs.len());
            pairs.extend(&piece.pairs);
        }
    }
    assert_eq!(pairs.len(), 10_000);
    assert!(pairs.windows(2).all(|two| two[0].pre < two[1].pre));
    for (i, pair) in pairs.iter().enumerate() {
        let batch = if i < 3334 {
            0
        } else if i < 6667 {
            1
        } else {
            2
        };
        *expected.entry((batch, pair.delta)).or_insert(0) += 1;
    }
    let expected: Vec<_> =
        expected.into_iter().map(|((batch, ticks), count)| (batch, ticks, count)).collect();
    assert_eq!(ticks(&messages), expected);
}

#[test]
fn snapshots_that_are_not_valid_are_counted() {
    let mut machine = Machine::new(&plan(), 21);
    machine.invalid_every = 1000;
    let invalid = done(&run(plan(), &mut machine)).invalid;
    assert!((90..=100).contains(&invalid), "{invalid}");
}

#[test]
fn the_same_seed_gives_the_same_messages_and_another_does_not() {
    let first = run(plan(), &mut Machine::new(&plan(), 21));
    assert_eq!(first, run(plan(), &mut Machine::new(&plan(), 21)));
    assert_ne!(first, run(PathPlan { seed: 2, ..plan() }, &mut Machine::new(&plan(), 21)));
}

#[test]
fn figures_that_no_board_can_measure_with_are_refused() {
    assert!(feasible(&plan()));
    let refused = [
        PathPlan { iterations: 31, ..plan() },
        PathPlan { batches: 0, ..plan() },
        PathPlan { ratio_cycles: 0, dither: false, ..plan() },
        PathPlan { ratio_ticks: 0, ..plan() },
        PathPlan { ratio_cycles: MAX_RATIO_CYCLES + 1, dither: false, ..plan() },
        PathPlan { dither_steps: 120, ..plan() },
        PathPlan { dither_steps: 0, ..plan() },
        PathPlan { dither_steps: 80 * 52, ..plan() },
        PathPlan { added_delay: MAX_ADDED_DELAY + 1, ..plan() },
    ];
    for plan in refused {
        assert!(!feasible(&plan), "{plan:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn every_pair_is_in_one_histogram_and_one_bin(
        iterations in 1u32..20_000,
        batches in 1u16..50,
        raw_pairs: bool,
        dither: bool,
        latency in 0u64..600,
        (ratio_cycles, ratio_ticks) in prop_oneof![Just((80, 1)), Just((125, 2)), Just((1, 1))],
    ) {
        let dither_steps = 4 * ratio_cycles;
        let ratio = PathPlan { dither_steps, ratio_cycles, ratio_ticks, ..plan() };
        let plan = PathPlan { iterations, batches, raw_pairs, dither, ..ratio };
        prop_assume!(feasible(&plan));
        let messages = run(plan, &mut Machine::new(&plan, latency));
        prop_assert_eq!(ticks(&messages).iter().map(|row| row.2).sum::<u32>(), iterations);
        prop_assert_eq!(phases(&messages).iter().sum::<u32>(), iterations);
        let done = done(&messages);
        prop_assert_eq!((done.iterations, done.phase_disagreements), (iterations, 0));
    }
}
