//! Every deviation of the two sets of NBS Monograph 140 against the figures of NIST SP1065, pages 107 and 108.
//!
//! MTOTDEV and TTOTDEV are printed there divided by sqrt(0.73), and HTOTDEV beyond m = 1 by sqrt(0.995): the bias for white
//! frequency noise, which is put back here. THEO1 is not in SP1065: its figures are what Stable32 prints, to 5 digits, as
//! the tests of allantools carry them.

use super::{Deviation, Prepared, estimate};
use crate::series::Series;

const MTOT: f64 = 0.73;
const HTOT: f64 = 0.995;

/// The nine frequencies of the small set.
const SMALL: [f64; 9] = [892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0];

/// The large set: a generator of Park and Miller, scaled to 0..1.
fn large() -> Vec<f64> {
    let numbers = std::iter::successors(Some(1_234_567_890_u64), |n| Some(16_807 * n % 2_147_483_647));
    numbers.map(|n| n as f64 / 2_147_483_647.0).take(1000).collect()
}

fn assert_published(
    frequencies: &[f64],
    deviation: Deviation,
    bias: f64,
    within: f64,
    rows: &[(usize, f64)],
) {
    let series = Series::from_frequency(frequencies, 1.0);
    let phase = Prepared::new(&series).unwrap();
    for &(m, published) in rows {
        let published = published * bias.sqrt();
        let value = estimate(deviation, &phase, m).unwrap_or_else(|| panic!("{deviation} at m = {m}")).value;
        let off = (value / published - 1.0).abs();
        assert!(off < within, "{deviation} at m = {m}: {value}, published {published}, off by {off:e}");
    }
}

fn assert_sp1065(frequencies: &[f64], deviation: Deviation, rows: &[(usize, f64)]) {
    assert_published(frequencies, deviation, 1.0, 1e-6, rows);
}

#[test]
fn the_generator_is_that_of_sp1065() {
    let numbers: Vec<_> = large().iter().map(|y| (y * 2_147_483_647.0).round() as u64).collect();
    assert_eq!(numbers[..4], [1_234_567_890, 395_529_916, 1_209_410_747, 633_705_974]);
}

#[test]
fn ten_points_agree_with_sp1065() {
    use Deviation::*;
    assert_sp1065(&SMALL, Adev, &[(1, 91.22945), (2, 115.8082)]);
    assert_sp1065(&SMALL, Oadev, &[(1, 91.22945), (2, 85.95287)]);
    assert_sp1065(&SMALL, Mdev, &[(1, 91.22945), (2, 74.78849)]);
    assert_sp1065(&SMALL, Tdev, &[(1, 52.67135), (2, 86.35831)]);
    assert_sp1065(&SMALL, Hdev, &[(1, 70.80608), (2, 116.7980)]);
    assert_sp1065(&SMALL, Ohdev, &[(1, 70.80607), (2, 85.61487)]);
}

#[test]
fn totals_of_ten_points_agree_with_sp1065() {
    use Deviation::*;
    assert_sp1065(&SMALL, Totdev, &[(1, 91.22945), (2, 93.90379)]);
    assert_published(&SMALL, Mtotdev, MTOT, 1e-6, &[(1, 75.50203), (2, 75.83606)]);
    assert_published(&SMALL, Ttotdev, MTOT, 1e-6, &[(1, 43.59112), (2, 87.56794)]);
    assert_published(&SMALL, Htotdev, HTOT, 1e-6, &[(2, 91.16396)]);
}

#[test]
fn a_thousand_points_agree_with_sp1065() {
    use Deviation::*;
    let large = large();
    assert_sp1065(&large, Adev, &[(1, 2.922319e-1), (10, 9.965736e-2), (100, 3.897804e-2)]);
    assert_sp1065(&large, Oadev, &[(1, 2.922319e-1), (10, 9.159953e-2), (100, 3.241343e-2)]);
    assert_sp1065(&large, Mdev, &[(1, 2.922319e-1), (10, 6.172376e-2), (100, 2.170921e-2)]);
    assert_sp1065(&large, Tdev, &[(1, 1.687202e-1), (10, 3.563623e-1), (100, 1.253382)]);
    assert_sp1065(&large, Hdev, &[(1, 2.943883e-1), (10, 1.052754e-1), (100, 3.910860e-2)]);
    assert_sp1065(&large, Ohdev, &[(1, 2.943883e-1), (10, 9.581083e-2), (100, 3.237638e-2)]);
}

#[test]
fn totals_of_a_thousand_points_agree_with_sp1065() {
    use Deviation::*;
    let large = large();
    assert_sp1065(&large, Totdev, &[(1, 2.922319e-1), (10, 9.134743e-2), (100, 3.406530e-2)]);
    let mtotdev = [(1, 2.418528e-1), (10, 6.499161e-2), (100, 2.287774e-2)];
    assert_published(&large, Mtotdev, MTOT, 1e-6, &mtotdev);
    let ttotdev = [(1, 1.396338e-1), (10, 3.752293e-1), (100, 1.320847)];
    assert_published(&large, Ttotdev, MTOT, 1e-6, &ttotdev);
    assert_published(&large, Htotdev, HTOT, 1e-6, &[(10, 9.614787e-2), (100, 3.058103e-2)]);
    let theo1 = [(10, 1.0757e-1), (100, 3.1789e-2), (1000, 5.0524e-3)];
    assert_published(&large, Theo1, 1.0, 5e-5, &theo1);
}

#[test]
fn hadamard_total_at_one_point_is_the_overlapping_hadamard_deviation() {
    use Deviation::*;
    assert_sp1065(&SMALL, Htotdev, &[(1, 70.80607)]);
    assert_sp1065(&large(), Htotdev, &[(1, 2.943883e-1)]);
}
