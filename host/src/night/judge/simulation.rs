//! How often a night that looks after every round raises a false alarm, and how often it finds what is there and when it
//! stops: whole nights whose truth is known. The seeds are fixed.

use super::standing::ended;
use super::tests::{Story, measured, record, two_images};
use super::{comparisons, measure};
use crate::analysis::compare::Verdict;
use crate::analysis::path::testing::Random;
use crate::night::NightPlan;

/// Rounds that a night took, and its verdict.
fn night(plan: &NightPlan, random: &mut Random, shift: f64) -> (u32, Verdict) {
    let record = record(plan.clone());
    let own = &plan.measures[0];
    let mut story = Story::begun();
    for round in 1.. {
        for (turn, (image, shift)) in [("before", 0.0), ("after", shift)].into_iter().enumerate() {
            let when = i128::from(round) * 20 + turn as i128 * 10;
            story.done(image, round, measured(45.0 + shift + random.normal(), when));
        }
        if round < own.sessions {
            continue;
        }
        let result = measure(&record, own, &story.entries, &story.evidence);
        if ended(own, round, &result).is_some() {
            return (round, result.comparisons[0].verdict);
        }
    }
    unreachable!("the plan allows no more")
}

/// The share of nights that say worse or better, and their rounds on average.
fn alarms(plan: &NightPlan, seed: u64, shift: f64, nights: u32) -> (f64, f64) {
    let mut random = Random(seed);
    let (mut found, mut rounds) = (0, 0);
    for _ in 0..nights {
        let (took, verdict) = night(plan, &mut random, shift);
        rounds += took;
        found += u32::from(matches!(verdict, Verdict::Worse | Verdict::Better));
    }
    (f64::from(found) / f64::from(nights), f64::from(rounds) / f64::from(nights))
}

/// A plan with a margin of nothing: any difference beyond it is an alarm, and the night never ends as equivalent.
fn strict(most: u32, alpha: f64) -> NightPlan {
    let mut plan = two_images(most);
    plan.measures[0].margin = Some(0.0);
    plan.alpha = alpha;
    plan
}

#[test]
fn looking_after_every_round_raises_no_more_false_alarms_than_alpha() {
    let (nights, alpha) = (1000, 0.05);
    let (shared, rounds) = alarms(&strict(8, alpha), 1, 0.0, nights);
    assert!(shared <= alpha, "{shared} of the nights");
    assert!(rounds > 7.0, "{rounds}");
    // Without a share for each look it would have been more than twice as many as alpha says: six looks at 0.05 each.
    let unshared = alpha * f64::from(comparisons::looks(&strict(8, alpha).measures[0]));
    let (inflated, _) = alarms(&strict(8, unshared), 1, 0.0, nights);
    assert!(inflated > 2.0 * alpha, "{inflated}");
}

#[test]
fn a_large_difference_ends_a_night_early_and_a_small_one_is_found_by_its_end() {
    let (found, rounds) = alarms(&strict(12, 0.01), 2, 8.0, 200);
    assert!(found > 0.99 && rounds < 7.0, "{found} in {rounds} rounds");
    let (found, rounds) = alarms(&strict(12, 0.01), 3, 3.0, 200);
    assert!(found > 0.8 && rounds < 12.0, "{found} in {rounds} rounds");
}

#[test]
fn a_margin_that_holds_the_difference_ends_a_night_as_equivalent() {
    let mut plan = strict(12, 0.01);
    plan.measures[0].margin = Some(12.0);
    let mut random = Random(4);
    let nights: Vec<_> = (0..100).map(|_| night(&plan, &mut random, 0.0)).collect();
    assert!(nights.iter().all(|(_, verdict)| *verdict == Verdict::Equivalent));
    assert!(nights.iter().map(|(rounds, _)| rounds).sum::<u32>() < 600);
}
