//! What a whole analysis answers, and what it refuses.

use super::super::simulated::{self, Normal};
use super::*;
use crate::series::Phase;

fn series(values: Vec<f64>) -> Series {
    Series { phase: Phase::Seconds(values), tau0_s: 1.0, missing: 0 }
}

/// Nearly white phase: digits of multiples of a quadratic irrational, squared.
fn noise(len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * i) as f64 * 0.414_213_562_373_095).fract() * 1e-9).collect()
}

fn all() -> Options {
    Options { deviations: Deviation::ALL.to_vec(), ..Options::default() }
}

#[test]
fn all_thirteen_have_rows_in_the_order_asked_with_rising_times() {
    let report = analyse(&series(noise(200)), &all()).expect("a report");
    assert_eq!(report.left_out, []);
    let mut order: Vec<_> = report.rows.iter().map(|row| row.deviation).collect();
    order.dedup();
    assert_eq!(order, Deviation::ALL);
    for pair in report.rows.windows(2).filter(|pair| pair[0].deviation == pair[1].deviation) {
        assert!(pair[0].tau_s < pair[1].tau_s);
    }
    let theo1 = report.rows.iter().find(|row| row.deviation == Deviation::Theo1).expect("theo1");
    assert_eq!((theo1.m, theo1.tau_s), (16, 12.0));
}

#[test]
fn values_are_those_of_the_deviation_alone_and_lie_within_their_interval() {
    let series = series(noise(300));
    let phase = Prepared::new(&series).expect("a series");
    for row in analyse(&series, &all()).expect("a report").rows {
        let alone = super::super::estimate(row.deviation, &phase, row.m as usize);
        assert_eq!(alone, Some(row.estimate), "{row:?}");
        if let Some((low, high)) = row.interval {
            assert!(low < row.estimate.value && row.estimate.value < high, "{row:?}");
        }
    }
}

#[test]
fn errors_of_time_interval_have_no_interval() {
    let options = Options { deviations: vec![Deviation::Mtie, Deviation::Tierms], ..Options::default() };
    let report = analyse(&series(noise(100)), &options).expect("a report");
    assert!(report.rows.iter().all(|row| row.interval.is_none() && row.alpha.is_none()));
}

#[test]
fn a_given_alpha_is_taken_everywhere() {
    let options = Options { deviations: vec![Deviation::Oadev], alpha: Some(-1), ..Options::default() };
    let report = analyse(&series(noise(100)), &options).expect("a report");
    assert!(report.rows.iter().all(|row| row.alpha == Some(-1)));
}

#[test]
fn too_few_points_say_how_many_are_needed() {
    let error = analyse(&series(noise(1)), &Options::default()).expect_err("too few");
    assert_eq!(error.to_string(), "mtie needs at least 2 phase points, and there are 1");
    let report = analyse(&series(noise(3)), &all()).expect("a report");
    let out: Vec<_> = report.left_out.iter().map(|one| (one.deviation, one.reason.as_str())).collect();
    assert_eq!(out.len(), 4);
    assert_eq!(out[0], (Deviation::Hdev, "it needs at least 4 points, and there are 3"));
}

#[test]
fn a_gap_leaves_out_the_deviations_that_need_every_point() {
    let mut values = noise(400);
    values[100] = f64::NAN;
    let report = analyse(&series(values), &all()).expect("a report");
    assert_eq!(report.missing, 1);
    let out: Vec<_> = report.left_out.iter().map(|one| one.deviation).collect();
    let expected =
        [Deviation::Totdev, Deviation::Mtotdev, Deviation::Ttotdev, Deviation::Htotdev, Deviation::Theo1];
    assert_eq!(out, expected);
    assert!(report.rows.iter().any(|row| row.deviation == Deviation::Oadev && row.estimate.n == 395));
}

#[test]
fn nothing_but_gaps_says_so() {
    let error = analyse(&series(vec![f64::NAN; 50]), &Options::default()).expect_err("nothing");
    assert_eq!(
        error.to_string(),
        "adev, oadev, mdev, tdev, hdev, ohdev: every term touches a missing point; totdev: it is not defined where points \
         are missing; mtie, tierms: every term touches a missing point"
    );
}

#[test]
fn a_confidence_is_a_probability() {
    for confidence in [0.0, 1.0, -0.5, f64::NAN] {
        let options = Options { confidence, ..Options::default() };
        let error = analyse(&series(noise(10)), &options).expect_err("no probability");
        assert!(error.to_string().starts_with("a confidence lies between 0 and 1"));
    }
}

#[test]
fn more_terms_than_anybody_waits_for_are_refused() {
    let factors: Vec<usize> = (1..=5_000_000).collect();
    assert!(terms(Deviation::Oadev, 10_000_000, &factors) > MOST_TERMS);
    assert!(terms(Deviation::Oadev, 100_000, &factors[..50_000]) < MOST_TERMS);
    assert!(terms(Deviation::Mtotdev, 1_000_000, &factors[..330_000]) > MOST_TERMS);
    assert!(terms(Deviation::Mtotdev, 1001, &factors[..333]) < MOST_TERMS);
}

#[test]
fn the_noise_of_a_row_is_what_is_identified_for_its_deviation() {
    for order in 0..4 {
        let mut values = noise(2000);
        for _ in 0..order {
            let mut sum = 0.0;
            values.iter_mut().for_each(|value| {
                sum += *value;
                *value = sum;
            });
        }
        let series = series(values);
        let phase = Prepared::new(&series).expect("a series");
        for row in analyse(&series, &Options::default()).expect("a report").rows {
            if row.interval.is_some() {
                assert_eq!(row.alpha, identify(&phase, row.m as usize, row.deviation), "{row:?}");
            }
        }
    }
}

#[test]
fn without_gaps_the_terms_say_how_many_points_there_are() {
    for len in [50, 199, 200] {
        let series = series(noise(len));
        for row in analyse(&series, &Options::default()).expect("a report").rows {
            let whole = interval::chi_squared(
                row.deviation,
                row.alpha.unwrap_or(0),
                row.m,
                len as u64,
                0.683,
                row.estimate.value,
            );
            assert!(row.interval.is_none() || row.interval == whole, "{row:?}, {whole:?}");
        }
    }
}

#[test]
fn intervals_hold_the_truth_beside_gaps_as_often_as_they_say() {
    // White frequency noise of variance 1: the Allan and the Hadamard variance are 1 / m; the modified one at m = 1 too.
    let deviations =
        vec![Deviation::Adev, Deviation::Oadev, Deviation::Mdev, Deviation::Hdev, Deviation::Ohdev];
    let options = Options { deviations, alpha: Some(0), ..Options::default() };
    let mut normal = Normal(31);
    let mut counts: BTreeMap<(Deviation, u64), [u32; 2]> = BTreeMap::new();
    for _ in 0..400 {
        let mut series = simulated::phase(0, 300, &mut normal);
        let Phase::Seconds(values) = &mut series.phase else { unreachable!("simulated in seconds") };
        // Three of every five are there.
        values.iter_mut().enumerate().filter(|(i, _)| i % 5 > 2).for_each(|(_, value)| *value = f64::NAN);
        for row in analyse(&series, &options).expect("a report").rows {
            if row.estimate.n < 10 || row.deviation == Deviation::Mdev && row.m > 1 {
                continue;
            }
            let truth = (row.m as f64).powf(-0.5);
            let (low, high) = row.interval.expect("an interval");
            let [held, all] = counts.entry((row.deviation, row.m)).or_default();
            *held += u32::from(low <= truth && truth <= high);
            *all += 1;
        }
    }
    assert!(counts.len() >= 6, "{counts:?}");
    for (which, [held, all]) in counts {
        let share = f64::from(held) / f64::from(all);
        assert!(share > 0.62, "{which:?}: {share} of {all}");
    }
}

#[test]
fn a_straight_line_has_no_noise_and_no_interval() {
    let lines = [1e-9, 1.1e-9, 1.234_567e-7, 0.0, 3.7].into_iter();
    for (slope, len) in lines.flat_map(|slope| [(slope, 20), (slope, 200), (slope, 5000)]) {
        for start in [0.0, 0.123, -1e5] {
            let values = (0..len).map(|i| start + f64::from(i) * slope).collect();
            let report = analyse(&series(values), &Options::default()).expect("a report");
            for row in &report.rows {
                assert_eq!((row.alpha, row.interval), (None, None), "{slope} {len} {start}: {row:?}");
            }
            let told =
                |finding: &Finding| matches!(finding, Finding::NoInterval { why: NoInterval::NoNoise, .. });
            assert!(report.findings.iter().any(told), "{:?}", report.findings);
        }
    }
}

#[test]
fn rows_without_an_interval_say_why() {
    let mut values = noise(400);
    values[100] = f64::NAN;
    let options = Options { deviations: vec![Deviation::Oadev, Deviation::Mtie], ..Options::default() };
    let found = analyse(&series(values), &options).expect("a report").findings;
    let expected = [
        Finding::NoInterval { why: NoInterval::FewPoints, factors: vec![128] },
        Finding::NoInterval { why: NoInterval::FewBesideGaps, factors: vec![16, 32, 64] },
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_deviation_that_no_clock_has_is_noticed() {
    let large = |scale: f64| {
        let values = noise(100).into_iter().map(|value| value * scale).collect();
        let found = analyse(&series(values), &Options::default()).expect("a report").findings;
        found.iter().any(|finding| matches!(finding, Finding::Large { .. }))
    };
    assert!(large(1e9) && !large(1.0));
}
