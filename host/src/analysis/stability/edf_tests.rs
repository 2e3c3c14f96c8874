//! Degrees of freedom against exact ones, and against those that Stable32 and the papers print.
//!
//! A variance is a quadratic form of the phase, x' A x. With x = F w, w white and Gaussian, its degrees of freedom are
//! (tr A F F')^2 / tr (A F F')^2, and A follows from the variance of every pair of unit series: no formula is used twice.

use super::simulated::response;
use super::{Deviation, Prepared, edf, estimate};
use crate::series::{Phase, Series};

const POINTS: usize = 65;

/// The matrix of a variance, from the deviation itself.
fn form(deviation: Deviation, m: usize) -> Option<Vec<Vec<f64>>> {
    let variance = |ones: &[usize]| {
        let mut points = vec![0.0; POINTS];
        ones.iter().for_each(|&one| points[one] += 1.0);
        let series = Series { phase: Phase::Seconds(points), tau0_s: 1.0, missing: 0 };
        estimate(deviation, &Prepared::new(&series).unwrap(), m).map(|estimate| estimate.value.powi(2))
    };
    let single: Vec<_> = (0..POINTS).map(|i| variance(&[i])).collect::<Option<_>>()?;
    let entry = |i: usize, j: usize| Some((variance(&[i, j])? - single[i] - single[j]) / 2.0);
    (0..POINTS).map(|i| (0..POINTS).map(|j| entry(i, j)).collect()).collect()
}

fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], j: usize| row.iter().zip(right).map(|(value, other)| value * other[j]).sum();
    left.iter().map(|row| (0..right[0].len()).map(|j| entry(row, j)).collect()).collect()
}

/// Covariance of the phase. White noise needs no past; its sums start at 0, which no difference sees.
fn covariance(alpha: i32) -> Vec<Vec<f64>> {
    let past = if alpha.rem_euclid(2) == 0 { 0 } else { 4 * POINTS };
    let response = response(alpha, past + POINTS);
    let reach = |i: usize| &response[..=past + i];
    let entry = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        reach(i).iter().zip(&response[j - i..]).map(|(one, other)| one * other).sum()
    };
    (0..POINTS).map(|i| (0..POINTS).map(|j| entry(i, j)).collect()).collect()
}

fn exact(form: &[Vec<f64>], alpha: i32) -> f64 {
    let product = product(form, &covariance(alpha));
    let trace: f64 = (0..POINTS).map(|i| product[i][i]).sum();
    let square: f64 =
        (0..POINTS).map(|i| (0..POINTS).map(|j| product[i][j] * product[j][i]).sum::<f64>()).sum();
    trace * trace / square
}

/// Formula over exact lies within these bounds.
fn assert_near_exact(deviation: Deviation, m: usize, alphas: &[i32], low: f64, high: f64) {
    let form = form(deviation, m).unwrap_or_else(|| panic!("{deviation} at m = {m}"));
    for &alpha in alphas {
        let exact = exact(&form, alpha);
        let ours = edf(deviation, alpha, m as u64, POINTS as u64).unwrap();
        let ratio = ours / exact;
        assert!(low < ratio && ratio < high, "{deviation}, m = {m}, alpha = {alpha}: {ours}, exact {exact}");
    }
}

#[test]
fn the_allan_family_has_nearly_the_exact_degrees_of_freedom() {
    let all = [2, 1, 0, -1, -2];
    for m in [4, 8] {
        assert_near_exact(Deviation::Adev, m, &all, 0.8, 1.2);
        assert_near_exact(Deviation::Oadev, m, &all, 0.8, 1.2);
        assert_near_exact(Deviation::Mdev, m, &all, 0.8, 1.2);
        assert_near_exact(Deviation::Hdev, m, &all, 0.8, 1.2);
        assert_near_exact(Deviation::Ohdev, m, &all, 0.8, 1.2);
    }
}

#[test]
fn the_total_deviation_has_nearly_the_exact_degrees_of_freedom() {
    for m in [8, 16] {
        assert_near_exact(Deviation::Totdev, m, &[0, -1, -2], 0.9, 1.1);
    }
    // There is no fit for phase noise: the overlapping Allan deviation stands in, which has more where tau is long.
    assert_near_exact(Deviation::Totdev, 4, &[2, 1], 0.8, 1.5);
}

#[test]
fn the_modified_total_deviation_has_nearly_the_exact_degrees_of_freedom() {
    // Below m = 10 that of the modified Allan deviation, which is on the safe side.
    assert_near_exact(Deviation::Mtotdev, 4, &[2, 1, 0, -1, -2], 0.6, 1.05);
    assert_near_exact(Deviation::Mtotdev, 10, &[2, 1, 0, -1, -2], 0.9, 1.5);
}

#[test]
fn the_hadamard_total_deviation_has_nearly_the_exact_degrees_of_freedom() {
    assert_near_exact(Deviation::Htotdev, 4, &[0, -1, -2], 0.7, 1.15);
    assert_near_exact(Deviation::Htotdev, 16, &[0, -1, -2], 0.9, 1.7);
}

#[test]
fn theo1_has_nearly_the_exact_degrees_of_freedom() {
    for m in [12, 24] {
        assert_near_exact(Deviation::Theo1, m, &[2, 1, 0, -1, -2], 0.8, 1.25);
    }
}

#[test]
fn no_formula_is_no_number() {
    let of = |deviation, alpha, m| edf(deviation, alpha, m, 1001);
    for deviation in [Deviation::Mtie, Deviation::Tierms] {
        assert_eq!(of(deviation, 0, 1), None);
    }
    for deviation in Deviation::ALL {
        assert_eq!(of(deviation, 3, 16), None, "{deviation}");
        assert_eq!(of(deviation, -5, 16), None, "{deviation}");
        assert_eq!(of(deviation, 0, 0), None, "{deviation}");
        assert_eq!(of(deviation, 0, 100_000), None, "{deviation}");
    }
    assert_eq!(of(Deviation::Oadev, -3, 16), None);
    assert!(of(Deviation::Ohdev, -4, 16).is_some());
}

#[test]
fn the_sum_goes_over_into_its_limits_without_a_step() {
    // A sum of 100 terms at most, then a fit: they differ by little where they meet.
    for (deviation, alphas) in [
        (Deviation::Oadev, &[2, 1, 0, -1, -2][..]),
        (Deviation::Mdev, &[2, 1, 0, -1, -2]),
        (Deviation::Ohdev, &[2, 1, 0, -1, -2, -3, -4]),
    ] {
        for &alpha in alphas {
            for points in [1_000_u64, 100_000] {
                let edfs: Vec<_> = (10..60).map(|m| edf(deviation, alpha, m, points).unwrap()).collect();
                for pair in edfs.windows(2) {
                    let step = pair[1] / pair[0];
                    assert!(step > 0.85 && step < 1.02, "{deviation}, alpha = {alpha}, {points}: {pair:?}");
                }
            }
        }
    }
}

#[test]
fn flicker_phase_noise_at_a_long_averaging_time_is_not_lost_in_rounding() {
    let of = |m: u64| edf(Deviation::Adev, 1, m, 8 * m).unwrap();
    let (short, long) = (of(999), of(10_000_000));
    assert!((long / short - 1.0).abs() < 0.1, "{short} and {long}");
}
