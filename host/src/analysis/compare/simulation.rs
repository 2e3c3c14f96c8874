//! How often a comparison is wrong, and how often it finds what is there: whole comparisons of sides whose truth is known.
//! The seeds are fixed.

use super::difference::{Difference, Moments};
use super::group::{Key, Session, Singles};
use super::row::Row;
use super::testing::{Boots, OPTIONS, group, key, session, side, tailed};
use super::{Options, Verdict, compare, outlook};
use crate::analysis::path::testing::Random;

const REPETITIONS: u32 = 1000;

/// The share of repetitions in which the first metric's difference is found.
fn found(boots: &mut Boots, count: usize, shift: f64, repetitions: u32) -> f64 {
    let hits = (0..repetitions).filter(|_| {
        let (base, new) = boots.sides(count, shift);
        let found = compare(&base, &new, &OPTIONS);
        assert_eq!(found.rows.len(), 1, "{found:?}");
        matches!(found.rows[0].verdict, Verdict::Worse | Verdict::Better)
    });
    hits.count() as f64 / f64::from(repetitions)
}

fn boots(seed: u64, turns: bool, drift: f64) -> Boots {
    Boots { random: Random(seed), drift, turns }
}

#[test]
fn sessions_that_only_differ_from_boot_to_boot_raise_no_alarm() {
    for (count, turns) in [(3, false), (10, false), (3, true), (12, true)] {
        let rate = found(&mut boots(11 + count as u64, turns, 0.0), count, 0.0, REPETITIONS);
        assert!(rate <= 0.02, "{count} sessions a side, turns {turns}: {rate}");
    }
}

#[test]
fn interleaved_sessions_raise_no_alarm_over_what_drifts_under_both() {
    // Two spreads from the first session to the last.
    let rate = found(&mut boots(23, true, 2.0 / 24.0), 12, 0.0, REPETITIONS);
    assert!(rate <= 0.02, "{rate}");
    // The same drift is no difference that blocks could tell from one, so it takes the turns to be safe from it.
    let blocks = found(&mut boots(24, false, 2.0 / 24.0), 12, 0.0, 400);
    assert!(blocks > 0.2, "{blocks}");
}

#[test]
fn two_spreads_are_found_by_ten_sessions_a_side_or_twelve_that_take_turns() {
    let unpaired = found(&mut boots(31, false, 0.0), 10, 2.0, REPETITIONS);
    assert!(unpaired >= 0.9, "{unpaired}");
    let paired = found(&mut boots(32, true, 0.0), 12, 2.0, REPETITIONS);
    assert!(paired >= 0.9, "{paired}");
    let drifting = found(&mut boots(33, true, -2.0 / 24.0), 12, 2.0, REPETITIONS);
    assert!(drifting >= 0.9, "{drifting}");
}

/// What a difference has to be so that nine (or five) in ten of the repetitions find it, and what they state on average.
fn resolvable(boots: &mut Boots, count: usize, margin: f64) -> [(f64, f64); 2] {
    let options = Options { margin_ns: Some(margin), ..OPTIONS };
    let (mut needed, mut stated) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..600 {
        let (base, new) = boots.sides(count, 0.0);
        let row = compare(&base, &new, &options).rows.remove(0);
        // A true difference moves the whole interval, whose lower end has to be above the margin.
        needed.push(margin - row.interval.unwrap().0);
        let told = row.resolvable.unwrap();
        stated[0].push(told.nine_in_ten);
        stated[1].push(told.every_other);
    }
    let rank = |values: &mut Vec<f64>, share: f64| {
        values.sort_by(f64::total_cmp);
        values[(values.len() as f64 * share) as usize]
    };
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    [(rank(&mut needed, 0.9), average(&stated[0])), (rank(&mut needed, 0.5), average(&stated[1]))]
}

#[test]
fn what_could_be_resolved_is_what_is_found_nine_times_in_ten_and_every_other_time() {
    for (seed, count, turns, margin) in
        [(41, 10, false, 0.0), (42, 5, false, 1.0), (43, 12, true, 0.0), (44, 5, true, 0.5)]
    {
        for (needed, stated) in resolvable(&mut boots(seed, turns, 0.0), count, margin) {
            let off = (stated / needed - 1.0).abs();
            assert!(off < 0.1, "{count} a side, turns {turns}, margin {margin}: {stated} for {needed}");
        }
    }
}

#[test]
fn what_a_plan_could_resolve_is_what_such_a_plan_then_finds() {
    // The spread of the base is known, since it is of very many sessions: one.
    let spread = Moments { count: 1_000_000, mean: 45.0, variance: 1.0 };
    for (plan, seed) in [(5, 51), (10, 52), (20, 53)] {
        let told = outlook::resolvable(&spread, plan, OPTIONS.alpha, 0.0).unwrap();
        let rate = found(&mut boots(seed, false, 0.0), plan as usize, told, REPETITIONS);
        assert!((0.87..=0.93).contains(&rate), "{plan} sessions: {told} found at {rate}");
    }
}

#[test]
fn pooling_reads_instead_of_sessions_would_have_been_wrong_most_of_the_time() {
    // What the session as the unit is for: within a session a mean is known a hundred times better than from boot to boot.
    let mut random = Random(61);
    let side = |random: &mut Random| 45.0 + random.normal();
    let alarms = (0..400).filter(|_| {
        let (base, new) = (side(&mut random), side(&mut random));
        let within = |mean| Moments { count: 32, mean, variance: 32.0 * 0.01 * 0.01 };
        Difference::welch(&within(base), &within(new)).p_value(0.0) < 0.01
    });
    assert!(alarms.count() > 360);
}

/// The tail's row of two sides of so many sessions of 160,000 reads: 0.1 % of them are of the tail, of the new side
/// `times` as many. From boot to boot that share differs by `spread`.
fn tail(random: &mut Random, count: usize, spread: f64, times: f64) -> Row {
    let mut of = |name: &str, share: f64| {
        let sessions = (0..count).map(|number| {
            let share = share * (spread * random.normal()).exp();
            tailed(random, number, 160_000, share)
        });
        side(name, vec![group(key(), sessions.collect())])
    };
    let (base, new) = (of("base", 0.001), of("new", 0.001 * times));
    let rows = compare(&base, &new, &Options { margin_ns: None, ..OPTIONS }).rows;
    let row = rows.into_iter().find(Row::is_tail).unwrap();
    assert_eq!(row.about.as_deref(), Some("reads of 3 ticks or more"));
    row
}

#[test]
fn a_doubled_tail_is_found() {
    // As alike from boot to boot as chance lets them be, and differing by a fifth.
    for (seed, count, spread) in [(71, 5, 0.0), (72, 10, 0.2)] {
        let mut random = Random(seed);
        let worse = |_: &u32| tail(&mut random, count, spread, 2.0).verdict == Verdict::Worse;
        let rate = (0..200).filter(worse).count() as f64 / 200.0;
        assert!(rate >= 0.8, "{count} sessions a side, spread {spread}: {rate}");
    }
}

#[test]
fn a_tail_that_is_the_same_raises_no_alarm() {
    for (seed, count, spread) in [(81, 5, 0.0), (82, 10, 0.5)] {
        let mut random = Random(seed);
        let alarms = (0..250).filter(|_| {
            let row = tail(&mut random, count, spread, 1.0);
            // Also with a margin of nothing: the interval must hold the true ratio of 1.
            let (low, high) = row.interval.unwrap();
            !(low..=high).contains(&1.0) || matches!(row.verdict, Verdict::Worse | Verdict::Better)
        });
        let alarms = alarms.count();
        assert!(alarms <= 5, "{count} sessions a side, spread {spread}: {alarms} of 250");
    }
}

/// Alarms of the tail of edges, whose threshold is a percentile of the base itself: latencies with a long tail, whose
/// sessions differ by `spread` of a single edge's standard deviation.
fn edge_alarms(seed: u64, count: usize, edges: usize, spread: f64, repetitions: u32) -> f64 {
    let mut random = Random(seed);
    let mut of = |name: &str| {
        let sessions = (0..count).map(|number| {
            let boot = spread * random.normal();
            let latency = |random: &mut Random| 1e6 * (boot + random.normal() * 0.5).exp();
            let values: Vec<i128> = (0..edges).map(|_| latency(&mut random) as i128).collect();
            let value = values.iter().sum::<i128>() as f64 / edges as f64 / 1e3;
            Session { n: edges as u64, singles: Singles::Picoseconds(values), ..session(number, value, None) }
        });
        let measurement = Some(crate::names::Measurement::Edge);
        side(name, vec![group(Key { measurement, ..key() }, sessions.collect())])
    };
    let alarms = (0..repetitions).filter(|_| {
        let (base, new) = (of("base"), of("new"));
        let rows = compare(&base, &new, &OPTIONS).rows;
        let row = rows.iter().find(|row| row.is_tail()).unwrap();
        let (low, high) = row.interval.unwrap();
        !(low..=high).contains(&1.0)
    });
    alarms.count() as f64 / f64::from(repetitions)
}

#[test]
fn a_threshold_that_the_base_itself_sets_raises_no_alarm() {
    for (seed, count, edges, spread) in [(91, 3, 100, 0.0), (92, 10, 100, 0.1), (93, 5, 1000, 0.05)] {
        let rate = edge_alarms(seed, count, edges, spread, 250);
        assert!(rate <= 0.02, "{count} sessions of {edges} edges, spread {spread}: {rate}");
    }
}
