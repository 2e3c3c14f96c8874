//! Noise identification and intervals against simulated noise of a known power law.

use super::noise::identify;
use super::simulated::{self, Normal};
use super::{Deviation, Prepared, chi_squared, estimate};
use crate::series::{MISSING_PS, Phase, Series};

const ALPHAS: [i32; 5] = [2, 1, 0, -1, -2];

fn identified(series: &Series, m: usize, deviation: Deviation) -> Option<i32> {
    identify(&Prepared::new(series).unwrap(), m, deviation)
}

#[test]
fn the_power_law_is_found_from_many_points() {
    for alpha in ALPHAS {
        let mut normal = Normal(11);
        let mut right = [0; 3];
        for _ in 0..10 {
            let series = simulated::phase(alpha, 1500, &mut normal);
            for (right, m) in right.iter_mut().zip([1, 4, 8]) {
                *right += i32::from(identified(&series, m, Deviation::Oadev) == Some(alpha));
            }
        }
        // Decimated flicker of phase becomes white (its high frequencies fold back), so only m = 1 can be asked of it.
        let asked = if alpha == 1 { &right[..1] } else { &right[..] };
        assert!(asked.iter().all(|right| *right >= 6), "alpha = {alpha}: {right:?} of 10 at m = 1, 4, 8");
    }
}

#[test]
fn the_power_law_is_found_from_few_points_most_of_the_time() {
    for alpha in [2, 0, -2] {
        let mut normal = Normal(5);
        let near = (0..60).filter(|_| {
            let series = simulated::phase(alpha, 401, &mut normal);
            identified(&series, 20, Deviation::Oadev).is_some_and(|found| (found - alpha).abs() <= 1)
        });
        let near = near.count();
        assert!(near >= 50, "alpha = {alpha}: {near} of 60");
    }
}

#[test]
fn noise_beyond_random_walk_is_found_for_the_hadamard_family_alone() {
    let mut normal = Normal(2);
    let Phase::Seconds(mut points) = simulated::phase(-2, 2000, &mut normal).phase else {
        unreachable!("simulated in seconds")
    };
    let mut sum = 0.0;
    for point in &mut points {
        sum += *point;
        *point = sum;
    }
    let series = Series { phase: Phase::Seconds(points), tau0_s: 1.0, missing: 0 };
    for deviation in [Deviation::Hdev, Deviation::Ohdev, Deviation::Htotdev] {
        assert_eq!(identified(&series, 1, deviation), Some(-4), "{deviation}");
    }
    assert_eq!(identified(&series, 1, Deviation::Oadev), Some(-2));
}

#[test]
fn unit_offset_and_line_do_not_change_the_power_law() {
    let series = simulated::phase(0, 2000, &mut Normal(4));
    let Phase::Seconds(points) = &series.phase else { unreachable!("simulated in seconds") };
    let moved = points.iter().zip(0..).map(|(point, k)| (point * 1e6) as i64 + 1_000_000_007 + 5_000_000 * k);
    let moved = Series { phase: Phase::Picoseconds(moved.collect()), tau0_s: 1.0, missing: 0 };
    for m in [1, 2, 5, 20, 60, 100, 200] {
        let (one, other) =
            (identified(&series, m, Deviation::Oadev), identified(&moved, m, Deviation::Oadev));
        assert_eq!(one, other, "m = {m}");
    }
}

#[test]
fn missing_points_are_passed_over() {
    let series = simulated::phase(0, 3000, &mut Normal(4));
    let Phase::Seconds(points) = &series.phase else { unreachable!("simulated in seconds") };
    let mut picoseconds: Vec<_> = points.iter().map(|point| (point * 1e6) as i64).collect();
    for lost in (7..3000).step_by(50) {
        picoseconds[lost] = MISSING_PS;
    }
    picoseconds[..10].fill(MISSING_PS);
    let gapped = Series { phase: Phase::Picoseconds(picoseconds), tau0_s: 1.0, missing: 69 };
    assert_eq!(identified(&gapped, 1, Deviation::Oadev), Some(0));
    assert_eq!(identified(&gapped, 3, Deviation::Oadev), Some(0));
    // From few points nothing is said where some are missing.
    assert_eq!(identified(&gapped, 200, Deviation::Oadev), None);
}

#[test]
fn too_few_points_or_no_noise_say_nothing() {
    let of = |points: Vec<f64>| Series { phase: Phase::Seconds(points), tau0_s: 1.0, missing: 0 };
    assert_eq!(identified(&of(vec![0.0, 1.0, 0.0, 1.0]), 1, Deviation::Oadev), None);
    assert_eq!(identified(&of(Vec::new()), 1, Deviation::Oadev), None);
    assert_eq!(identified(&of(vec![2.0; 100]), 1, Deviation::Oadev), None);
    assert_eq!(identified(&of(vec![2.0; 10]), 1, Deviation::Oadev), None);
    assert_eq!(identified(&of(vec![f64::NAN; 100]), 1, Deviation::Oadev), None);
}

/// How often the interval at the right alpha covers what the variance comes to on average.
fn coverage(deviation: Deviation, alpha: i32, m: usize, points: usize) -> f64 {
    const RUNS: usize = 300;
    let mut normal = Normal(21);
    let values: Vec<_> = (0..RUNS)
        .map(|_| {
            let series = simulated::phase(alpha, points, &mut normal);
            estimate(deviation, &Prepared::new(&series).unwrap(), m).unwrap().value
        })
        .collect();
    let truth = (values.iter().map(|value| value * value).sum::<f64>() / RUNS as f64).sqrt();
    let covers = |value: &&f64| {
        let (low, high) = chi_squared(deviation, alpha, m as u64, points as u64, 0.683, **value).unwrap();
        low < truth && truth < high
    };
    values.iter().filter(covers).count() as f64 / RUNS as f64
}

fn assert_covers(
    deviation: Deviation,
    points: usize,
    factors: &[usize],
    alphas: &[i32],
    low: f64,
    high: f64,
) {
    for &alpha in alphas {
        for &m in factors {
            let share = coverage(deviation, alpha, m, points);
            assert!(low < share && share < high, "{deviation}, alpha = {alpha}, m = {m}: {share}");
        }
    }
}

/// Three standard deviations of 300 runs are 0.08.
const NEAR: (f64, f64) = (0.60, 0.765);

#[test]
fn intervals_of_the_overlapping_deviations_cover_what_they_say() {
    assert_covers(Deviation::Oadev, 129, &[4, 16], &ALPHAS, NEAR.0, NEAR.1);
    assert_covers(Deviation::Mdev, 129, &[4, 16], &ALPHAS, NEAR.0, NEAR.1);
    assert_covers(Deviation::Ohdev, 129, &[4], &ALPHAS, NEAR.0, NEAR.1);
}

#[test]
fn intervals_of_the_total_deviations_cover_what_they_say() {
    assert_covers(Deviation::Totdev, 129, &[4, 16], &[0, -1, -2], NEAR.0, NEAR.1);
    assert_covers(Deviation::Theo1, 129, &[12, 32], &ALPHAS, NEAR.0, NEAR.1);
    // The fits give up to a third too few or too many degrees of freedom, so a sixth of the width.
    assert_covers(Deviation::Mtotdev, 129, &[4, 16], &ALPHAS, 0.58, 0.84);
    assert_covers(Deviation::Htotdev, 129, &[16], &[0, -1, -2], 0.58, 0.84);
}
