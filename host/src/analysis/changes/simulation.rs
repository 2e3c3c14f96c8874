//! How often nothing is taken for a change, and a change for nothing.

use super::{Kind, changes};
use crate::random::{below, next};

const NIGHTS: usize = 30;
const TRIALS: u64 = 300;

/// Standard normal, by twelve uniform numbers.
fn normal(random: &mut u64) -> f64 {
    (0..12).map(|_| next(random) as f64 / u64::MAX as f64).sum::<f64>() - 6.0
}

/// Share of simulated months in which at least one change was found, and at most one night off where that was asked.
fn found(margin: f64, at: Option<usize>, mut nights: impl FnMut(&mut u64) -> Vec<f64>) -> f64 {
    let hits = (0..TRIALS).filter(|trial| {
        let values: Vec<_> = nights(&mut trial.clone()).into_iter().map(Some).collect();
        let found = changes(&values, margin, Kind::Sampled);
        match at {
            None => !found.is_empty(),
            Some(at) => found.len() == 1 && found[0].night.abs_diff(at) <= 1,
        }
    });
    hits.count() as f64 / TRIALS as f64
}

/// Margin of a tenth of the spread: chance alone is on trial.
#[test]
fn noise_from_night_to_night_is_a_change_in_about_a_hundredth_of_months() {
    let share = found(0.1, None, |random| (0..NIGHTS).map(|_| normal(random)).collect());
    assert!(share <= 0.03, "{share}");
}

#[test]
fn single_nights_ten_spreads_off_are_no_changes() {
    let share = found(0.1, None, |random| {
        let mut values: Vec<f64> = (0..NIGHTS).map(|_| normal(random)).collect();
        for _ in 0..2 {
            values[below(random, NIGHTS as u64) as usize] += 10.0;
        }
        values
    });
    assert!(share <= 0.03, "{share}");
}

/// A wander of 0.1 of the spread a night, 0.5 in a month, below a margin of one spread.
#[test]
fn a_wander_that_stays_below_the_margin_is_no_change() {
    let share = found(1.0, None, |random| {
        let mut level = 0.0;
        let night = |_| {
            level += 0.1 * normal(random);
            level + 0.3 * normal(random)
        };
        (0..NIGHTS).map(night).collect()
    });
    assert!(share <= 0.05, "{share}");
}

#[test]
fn a_step_of_three_spreads_is_found_and_located() {
    let share = found(0.5, Some(19), |random| {
        (0..NIGHTS).map(|night| normal(random) + if night >= 19 { 3.0 } else { 0.0 }).collect()
    });
    assert!(share >= 0.85, "{share}");
}
