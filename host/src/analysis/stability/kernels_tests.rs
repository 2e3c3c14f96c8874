//! The Allan family, MTIE and TIErms against their definitions, and what must not change them.

use proptest::prelude::*;

use super::oracle::{Number, Oracle};
use super::{Deviation, Estimate, Instructions, Prepared, StabilityError, Taus, estimate, estimates, taus};
use crate::series::{MISSING_PS, Phase, Series};

/// Those of this module.
const OURS: [Deviation; 8] = [
    Deviation::Adev,
    Deviation::Oadev,
    Deviation::Mdev,
    Deviation::Tdev,
    Deviation::Hdev,
    Deviation::Ohdev,
    Deviation::Mtie,
    Deviation::Tierms,
];
/// A binary fraction of a second, about a picosecond: whole multiples of it are exact in f64.
const UNIT_S: f64 = 1.0 / (1_u64 << 40) as f64;

fn picoseconds(points: &[Option<i64>]) -> Series {
    let values = points.iter().map(|point| point.unwrap_or(MISSING_PS)).collect();
    Series { phase: Phase::Picoseconds(values), tau0_s: 0.5, missing: 0 }
}

fn seconds(points: &[Option<i64>]) -> Series {
    let values = points.iter().map(|point| point.map_or(f64::NAN, |value| value as f64 * UNIT_S)).collect();
    Series { phase: Phase::Seconds(values), tau0_s: 0.5, missing: 0 }
}

/// A source of numbers that need not be good, but the same each time.
struct Dice(u64);

impl Dice {
    /// From `-range` to `range`.
    fn roll(&mut self, range: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64).rem_euclid(2 * range + 1) - range
    }
}

/// A shape of phase.
#[derive(Clone, Copy, Debug)]
enum Shape {
    White,
    Walk,
    Drift,
    Sawtooth,
    Constant,
    Quantised,
}

const SHAPES: [Shape; 6] =
    [Shape::White, Shape::Walk, Shape::Drift, Shape::Sawtooth, Shape::Constant, Shape::Quantised];

fn shaped(shape: Shape, len: usize, seed: u64) -> Vec<i64> {
    let mut dice = Dice(seed);
    let mut walk = 0;
    (0..len as i64)
        .map(|i| match shape {
            Shape::White => dice.roll(1_000_000),
            Shape::Walk => {
                walk += dice.roll(1000);
                walk
            }
            Shape::Drift => 4_000 * i,
            Shape::Sawtooth => (i % 97) * 1_000,
            Shape::Constant => -7,
            Shape::Quantised => dice.roll(2) * 80_000,
        })
        .collect()
}

/// Leaves out about one of so many; none for 0.
fn gapped(points: &[i64], one_of: i64, seed: u64) -> Vec<Option<i64>> {
    let mut dice = Dice(seed ^ 0x5555);
    points.iter().map(|point| (one_of == 0 || dice.roll(one_of / 2) != 0).then_some(*point)).collect()
}

fn close(found: Option<Estimate>, expected: Option<Estimate>, tolerance: f64, scale: f64) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => {
            found.n == expected.n
                && (found.value - expected.value).abs() <= tolerance * expected.value.abs() + scale
        }
        _ => false,
    }
}

fn holds_to_the_oracle(points: &[Option<i64>], deviation: Deviation, m: usize) {
    let wide: Vec<Option<i128>> = points.iter().map(|point| point.map(i128::from)).collect();
    // The modified deviation of seconds is that of phases rounded to a very small unit.
    let rounded = if matches!(deviation, Deviation::Mdev | Deviation::Tdev) { 2e-9 } else { 1e-12 };
    for (series, unit_s, tolerance) in
        [(picoseconds(points), 1e-12, 1e-12), (seconds(points), UNIT_S, rounded)]
    {
        let expected = Oracle { points: &wide, unit_s, tau0_s: 0.5 }.estimate(deviation, m);
        let found = estimate(deviation, &Prepared::new(&series).expect("a series"), m);
        assert!(close(found, expected, tolerance, 1e-27), "{deviation} at {m}: {found:?}, not {expected:?}");
    }
}

fn some_points() -> impl Strategy<Value = Vec<Option<i64>>> {
    (
        prop::sample::select(&SHAPES[..]),
        0..260_usize,
        any::<u64>(),
        prop::sample::select(vec![0, 0, 3, 9, 60]),
    )
        .prop_map(|(shape, len, seed, one_of)| gapped(&shaped(shape, len, seed), one_of, seed))
}

proptest! {
    #[test]
    fn every_deviation_is_what_its_definition_says(
        points in some_points(),
        m in 1..120_usize,
        deviation in prop::sample::select(&OURS[..]),
    ) {
        holds_to_the_oracle(&points, deviation, m);
    }

    #[test]
    fn finite_f64_of_any_kind_agree_with_a_sum_in_f64(
        values in prop::collection::vec(-1e3..1e3_f64, 1..120),
        m in 1..40_usize,
        deviation in prop::sample::select(&OURS[..]),
    ) {
        let series = Series { phase: Phase::Seconds(values.clone()), tau0_s: 3.0, missing: 0 };
        let points: Vec<_> = values.into_iter().map(Some).collect();
        let expected = Oracle { points: &points, unit_s: 1.0, tau0_s: 3.0 }.estimate(deviation, m);
        let found = estimate(deviation, &Prepared::new(&series).expect("a series"), m);
        prop_assert!(close(found, expected, 1e-9, 1e-12), "{found:?}, not {expected:?}");
    }

    #[test]
    fn a_constant_changes_nothing_and_a_frequency_no_allan_deviation(
        points in some_points(),
        m in 1..60_usize,
        offset in -1_000_000_000_000_i64..1_000_000_000_000,
        slope in -1_000_000_i64..1_000_000,
        deviation in prop::sample::select(&OURS[..]),
    ) {
        let slope = if matches!(deviation, Deviation::Mtie | Deviation::Tierms) { 0 } else { slope };
        let moved: Vec<_> = points
            .iter()
            .enumerate()
            .map(|(i, point)| point.map(|value| value + offset + slope * i as i64))
            .collect();
        let of = |points: &[Option<i64>]| {
            estimate(deviation, &Prepared::new(&picoseconds(points)).expect("a series"), m)
        };
        prop_assert_eq!(of(&points), of(&moved));
    }

    #[test]
    fn time_may_run_backwards(
        points in some_points(),
        m in 1..60_usize,
        deviation in prop::sample::select(vec![
            Deviation::Oadev, Deviation::Mdev, Deviation::Ohdev, Deviation::Mtie, Deviation::Tierms,
        ]),
    ) {
        let reversed: Vec<_> = points.iter().rev().copied().collect();
        let (there, back) = (picoseconds(&points), picoseconds(&reversed));
        let there = estimate(deviation, &Prepared::new(&there).expect("a series"), m);
        let back = estimate(deviation, &Prepared::new(&back).expect("a series"), m);
        prop_assert!(close(there, back, 1e-13, 0.0), "{there:?}, {back:?}");
    }

    #[test]
    fn a_thousand_times_the_phase_is_a_thousand_times_the_deviation(
        points in some_points(),
        m in 1..60_usize,
        deviation in prop::sample::select(&OURS[..]),
    ) {
        let scaled: Vec<_> = points.iter().map(|point| point.map(|value| value * 1000)).collect();
        let (one, thousand) = (picoseconds(&points), picoseconds(&scaled));
        let one = estimate(deviation, &Prepared::new(&one).expect("a series"), m);
        let thousand = estimate(deviation, &Prepared::new(&thousand).expect("a series"), m);
        let one = one.map(|Estimate { n, value }| Estimate { n, value: value * 1000.0 });
        prop_assert!(close(thousand, one, 1e-13, 0.0), "{thousand:?}, {one:?}");
    }

    #[test]
    fn a_longer_window_is_never_narrower(points in some_points()) {
        let points: Vec<_> = points.into_iter().flatten().map(Some).collect();
        let series = picoseconds(&points);
        let phase = Prepared::new(&series).expect("a series");
        let factors: Vec<_> = (1..points.len()).collect();
        let widest = estimates(Deviation::Mtie, &phase, &factors);
        prop_assert!(widest.is_sorted_by(|a, b| a.map(|a| a.value) <= b.map(|b| b.value)));
    }
}

#[test]
fn mtie_of_long_windows_is_what_brute_force_finds() {
    for (seed, shape) in SHAPES.into_iter().enumerate() {
        for (len, one_of) in [(1500, 0), (1337, 0), (1500, 800)] {
            let points = gapped(&shaped(shape, len, seed as u64), one_of, seed as u64);
            for m in [127, 128, 129, 191, 192, 200, 255, 256, 511, 512, 777, 1024, 1300, len - 1] {
                holds_to_the_oracle(&points, Deviation::Mtie, m);
            }
        }
    }
}

#[test]
fn many_averaging_times_at_once_are_those_one_by_one_whatever_the_instructions() {
    for (shape, one_of) in [(Shape::White, 0), (Shape::Drift, 0), (Shape::Walk, 2000)] {
        let points = gapped(&shaped(shape, 4_000, 3), one_of, 8);
        for series in [picoseconds(&points), seconds(&points)] {
            for deviation in OURS {
                let factors = taus(Taus::Octave, deviation, points.len());
                let of = |instructions: Instructions| {
                    let phase = Prepared::new(&series).expect("a series").with(instructions);
                    let whole = estimates(deviation, &phase, &factors);
                    let apart: Vec<_> = factors.iter().map(|m| estimate(deviation, &phase, *m)).collect();
                    assert_eq!(whole, apart, "{deviation} with {instructions:?}");
                    whole
                };
                let expected = of(Instructions::Scalar);
                assert!(expected.iter().all(|one| one.is_some() || one_of > 0));
                for instructions in Instructions::ALL.into_iter().filter(|one| one.available()) {
                    assert_eq!(of(instructions), expected, "{deviation} with {instructions:?}");
                }
            }
        }
    }
}

#[test]
fn a_year_of_drift_does_not_drown_the_noise_of_the_modified_deviation() {
    // Half a second of drifting frequency over the series, with 1 ps of noise: prefix sums of 1e4 s.
    let len = 60_000_i64;
    let mut dice = Dice(11);
    let points: Vec<_> = (0..len).map(|i| Some(i * i * 150 + dice.roll(2))).collect();
    for m in [1, 2, 16, 100] {
        holds_to_the_oracle(&points, Deviation::Mdev, m);
    }
}

#[test]
fn picoseconds_up_to_the_limit_are_exact_and_beyond_it_refused() {
    let limit = (1_i64 << 61) - 1;
    let ends = [0, limit, 0, limit, 0, limit, 0].map(|value| Some(value - (1 << 60)));
    for deviation in OURS {
        holds_to_the_oracle_in_picoseconds(&ends, deviation);
    }
    for (low, high) in [(i64::MIN + 1, i64::MAX), (-1, limit), (0, i64::MAX)] {
        let series = picoseconds(&[Some(low), Some(high), Some(0)]);
        assert!(matches!(Prepared::new(&series), Err(StabilityError::TooWide { .. })), "{low}, {high}");
    }
}

fn holds_to_the_oracle_in_picoseconds(points: &[Option<i64>], deviation: Deviation) {
    let wide: Vec<Option<i128>> = points.iter().map(|point| point.map(i128::from)).collect();
    for m in 1..points.len() {
        let expected = Oracle { points: &wide, unit_s: 1e-12, tau0_s: 0.5 }.estimate(deviation, m);
        let found = estimate(deviation, &Prepared::new(&picoseconds(points)).expect("a series"), m);
        assert!(close(found, expected, 1e-12, 0.0), "{deviation} at {m}: {found:?}, not {expected:?}");
    }
}

#[test]
fn seconds_that_cannot_be_squared_are_refused() {
    let of = |values: &[f64]| {
        let series = Series { phase: Phase::Seconds(values.to_vec()), tau0_s: 1.0, missing: 0 };
        Prepared::new(&series).map(|_| ())
    };
    assert_eq!(of(&[0.0, 1e308, 0.0]), Err(StabilityError::TooLarge { index: 1, value: 1e308 }));
    assert_eq!(of(&[0.0; 20].map(|_| -1e200)), Err(StabilityError::TooLarge { index: 0, value: -1e200 }));
    for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = [0.0; 100];
        values[37] = infinite;
        assert_eq!(of(&values), Err(StabilityError::TooLarge { index: 37, value: infinite }));
    }
    assert_eq!(of(&[0.0, 5e-324, 0.0]), Err(StabilityError::TooSmall { largest: 5e-324 }));
    assert_eq!(of(&[]), Ok(()));
    assert_eq!(of(&[0.0; 9]), Ok(()));
    assert_eq!(of(&[1e140, -1e140, f64::NAN]), Ok(()));
}

#[test]
fn seconds_near_the_limits_are_right() {
    for scale in [1e139, 1e-129] {
        let values: Vec<f64> =
            shaped(Shape::White, 200, 5).iter().map(|value| *value as f64 * 1e-6 * scale).collect();
        let series = Series { phase: Phase::Seconds(values.clone()), tau0_s: 1.0, missing: 0 };
        let phase = Prepared::new(&series).expect("a series");
        let points: Vec<_> = values.iter().map(|value| Some(value / scale)).collect();
        for deviation in OURS {
            for m in [1, 2, 7, 50] {
                let expected = Oracle { points: &points, unit_s: scale, tau0_s: 1.0 }.estimate(deviation, m);
                let found = estimate(deviation, &phase, m);
                assert!(close(found, expected, 1e-9, 0.0), "{deviation} at {m}: {found:?}, not {expected:?}");
            }
        }
    }
}

#[test]
fn tau0_is_a_positive_number() {
    for tau0_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let series = Series { phase: Phase::Seconds(vec![0.0; 3]), tau0_s, missing: 0 };
        assert!(matches!(Prepared::new(&series), Err(StabilityError::Tau0 { .. })), "{tau0_s}");
    }
}

#[test]
fn averaging_times_beyond_the_series_have_no_term() {
    let series = picoseconds(&shaped(Shape::White, 50, 1).into_iter().map(Some).collect::<Vec<_>>());
    let phase = Prepared::new(&series).expect("a series");
    for deviation in OURS {
        for m in [0, 50, 51, usize::MAX / 4, usize::MAX] {
            assert_eq!(estimate(deviation, &phase, m), None, "{deviation} at {m}");
        }
        let longest = *taus(Taus::All, deviation, 50).last().expect("one");
        assert!(estimate(deviation, &phase, longest).is_some(), "{deviation} at {longest}");
        assert_eq!(estimate(deviation, &phase, longest + 1), None, "{deviation} at {longest} + 1");
    }
}

#[test]
fn the_oracle_knows_the_figures_of_sp1065() {
    // NBS14: ten phase points; SP1065, table 30.
    let frequencies = [892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0];
    let phase = Series::from_frequency(&frequencies, 1.0);
    let Phase::Seconds(values) = &phase.phase else { panic!("seconds") };
    let points: Vec<_> = values.iter().copied().map(Some).collect();
    let oracle = Oracle { points: &points, unit_s: 1.0, tau0_s: 1.0 };
    let prepared = Prepared::new(&phase).expect("a series");
    for (deviation, m, expected) in [
        (Deviation::Adev, 1, 91.22945),
        (Deviation::Adev, 2, 115.8082),
        (Deviation::Oadev, 2, 85.95287),
        (Deviation::Mdev, 2, 74.78849),
        (Deviation::Tdev, 2, 86.35831),
        (Deviation::Hdev, 1, 70.80608),
        (Deviation::Hdev, 2, 116.7980),
        (Deviation::Ohdev, 2, 85.61487),
    ] {
        for found in [oracle.estimate(deviation, m), estimate(deviation, &prepared, m)] {
            let found = found.expect("a value").value;
            assert!((found / expected - 1.0).abs() < 1e-6, "{deviation} at {m}: {found}, not {expected}");
        }
    }
    assert_eq!(f64::number(1.5), 1.5);
}
