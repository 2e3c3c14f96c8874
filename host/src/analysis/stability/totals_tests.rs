//! The total deviations and THEO1 against their definitions, written out: every longer series is made, every sum is a loop,
//! and whole picoseconds stay whole in i128.

use proptest::prelude::*;

use super::mod_total::{Mirrored, htotdev, mtotdev, ttotdev};
use super::simulated::{self, Normal};
use super::theo1::theo1;
use super::total::totdevs;
use super::{Estimate, Instructions, Prepared};
use crate::series::{MISSING_PS, Phase, Series};

type Kernel = fn(&Prepared<'_>, usize) -> Option<Estimate>;

fn totdev(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    totdevs(phase, &[m]).pop().flatten()
}

/// tau0 of all series here.
const TAU0_S: f64 = 0.5;

/// TOTDEV squared times tau^2, in square picoseconds: SP1065 equation (25).
fn total(x: &[i128], m: usize) -> f64 {
    let n = x.len();
    let mut long: Vec<_> = (1..n - 1).rev().map(|j| 2 * x[0] - x[j]).collect();
    long.extend(x);
    long.extend((1..n - 1).map(|j| 2 * x[n - 1] - x[n - 1 - j]));
    let at = |i: usize| long[i + n - 2];
    let terms = (1..n - 1).map(|i| long[i + n - 2 - m] - 2 * at(i) + at(i + m));
    terms.map(|term| term * term).sum::<i128>() as f64 / (2 * (n - 2)) as f64
}

/// The mean over all starts of the mean square second difference of m-point means in a mirrored series of 3m values that
/// is free of its slope: what SP1065 equations (27) and (29) have in common.
fn mirrored(values: &[i128], m: usize) -> f64 {
    let (half, other) = ((3 * m / 2) as i128, (3 * m).div_ceil(2) as i128);
    let mut sum = 0.0;
    let mut starts = 0;
    for window in values.windows(3 * m) {
        let first: i128 = window[..half as usize].iter().sum();
        let last: i128 = window[other as usize..].iter().sum();
        // The slope is (last - first) / half / other: everything is multiplied with these two.
        let flat: Vec<_> =
            window.iter().zip(0..).map(|(value, k)| value * half * other - (last - first) * k).collect();
        let long: Vec<_> = flat.iter().rev().chain(&flat).chain(flat.iter().rev()).copied().collect();
        let mean = |from: usize| long[from..from + m].iter().sum::<i128>();
        let squares = (0..6 * m).map(|j| (mean(j) - 2 * mean(j + m) + mean(j + 2 * m)).pow(2)).sum::<i128>();
        sum += squares as f64 / (6 * m) as f64 / ((half * other) as f64 * m as f64).powi(2);
        starts += 1;
    }
    sum / f64::from(starts)
}

/// THEO1 squared times the span squared, in square picoseconds: SP1065 equation (30).
fn theoretical(x: &[i128], m: usize) -> f64 {
    let half = m / 2;
    let sum: f64 = (0..half)
        .map(|d| {
            let of = |i: usize| (x[i] - x[i + half - d]) + (x[i + m] - x[i + d + half]);
            (0..x.len() - m).map(|i| of(i).pow(2)).sum::<i128>() as f64 / (half - d) as f64
        })
        .sum();
    sum / (0.75 * (x.len() - m) as f64)
}

/// What a kernel should answer for whole picoseconds: n, and the value.
fn expected(kernel: &str, x: &[i128], m: usize) -> Option<(u64, f64)> {
    let n = x.len();
    let tau_s = m as f64 * TAU0_S;
    let frequencies: Vec<_> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (terms, value) = match kernel {
        "totdev" if m < n => (n - 2, total(x, m).sqrt() * 1e-12 / tau_s),
        "mtotdev" if 3 * m <= n => (n - 3 * m + 1, (mirrored(x, m) / 2.0).sqrt() * 1e-12 / tau_s),
        "ttotdev" if 3 * m <= n => (n - 3 * m + 1, (mirrored(x, m) / 6.0).sqrt() * 1e-12),
        "htotdev" if 3 * m < n && m > 1 => {
            (n - 3 * m, (mirrored(&frequencies, m) / 6.0).sqrt() * 1e-12 / TAU0_S)
        }
        "theo1" if m < n && m >= 10 && m.is_multiple_of(2) => {
            ((n - m) * m / 2, theoretical(x, m).sqrt() * 1e-12 / tau_s)
        }
        _ => return None,
    };
    Some((terms as u64, value))
}

const KERNELS: [(&str, Kernel); 5] =
    [("totdev", totdev), ("mtotdev", mtotdev), ("ttotdev", ttotdev), ("htotdev", htotdev), ("theo1", theo1)];

fn series(phase: Phase) -> Series {
    Series { phase, tau0_s: TAU0_S, missing: 0 }
}

fn in_seconds(picoseconds: &[i64], scale: f64) -> Series {
    series(Phase::Seconds(picoseconds.iter().map(|point| *point as f64 * scale).collect()))
}

/// Both are nearly the same, where nothing counts below `floor`.
fn close(left: f64, right: f64, within: f64, floor: f64) -> bool {
    (left - right).abs() <= within * left.abs().max(right.abs()) + floor
}

fn value(kernel: Kernel, series: &Series, m: usize) -> Option<f64> {
    kernel(&Prepared::new(series).unwrap(), m).map(|estimate| estimate.value)
}

/// A walk with a drift, and an averaging factor.
fn walks() -> impl Strategy<Value = (Vec<i64>, usize)> {
    let steps = prop::collection::vec(-1_000_000_i64..1_000_000, 3..48);
    (steps, -1_000_000_000_i64..1_000_000_000, -1_000_000_i64..1_000_000, 1..32_usize).prop_map(
        |(steps, start, drift, m)| {
            let walk = steps.iter().scan(start, |at, step| {
                *at += step + drift;
                Some(*at)
            });
            (walk.collect(), m)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whole_picoseconds_agree_with_the_definitions_in_i128((walk, m) in walks()) {
        let exact: Vec<_> = walk.iter().map(|point| i128::from(*point)).collect();
        let series = series(Phase::Picoseconds(walk));
        let phase = Prepared::new(&series).unwrap();
        for (name, kernel) in KERNELS {
            if name == "htotdev" && m == 1 {
                continue;
            }
            let ours = kernel(&phase, m);
            let expected = expected(name, &exact, m);
            prop_assert_eq!(ours.map(|ours| ours.n), expected.map(|expected| expected.0), "{}", name);
            if let Some((ours, (_, expected))) = ours.zip(expected) {
                prop_assert!(close(ours.value, expected, 1e-9, 1e-17), "{}: {} and {}", name, ours.value, expected);
            }
        }
    }

    #[test]
    fn seconds_agree_with_whole_picoseconds((walk, m) in walks()) {
        let seconds = in_seconds(&walk, 1e-12);
        let whole = series(Phase::Picoseconds(walk));
        for (name, kernel) in KERNELS {
            let (left, right) = (value(kernel, &seconds, m), value(kernel, &whole, m));
            prop_assert_eq!(left.is_some(), right.is_some());
            if let Some((left, right)) = left.zip(right) {
                prop_assert!(close(left, right, 1e-9, 1e-17), "{}: {} and {}", name, left, right);
            }
        }
    }

    #[test]
    fn a_scale_scales((walk, m) in walks(), scale in 0.001..1000.0) {
        let (one, other) = (in_seconds(&walk, 1e-12), in_seconds(&walk, 1e-12 * scale));
        for (name, kernel) in KERNELS {
            if let Some((one, other)) = value(kernel, &one, m).zip(value(kernel, &other, m)) {
                prop_assert!(close(one * scale, other, 1e-9, 1e-17 * scale), "{}: {} and {}", name, one, other);
            }
        }
    }

    #[test]
    fn an_offset_of_phase_or_frequency_changes_nothing((walk, m) in walks(), offset in any::<i32>(), slope in any::<i32>()) {
        let moved = walk.iter().zip(0..).map(|(point, k)| point + i64::from(offset) + i64::from(slope) * k);
        let moved = series(Phase::Picoseconds(moved.collect()));
        let walk = series(Phase::Picoseconds(walk));
        for (name, kernel) in KERNELS {
            if let Some((one, other)) = value(kernel, &walk, m).zip(value(kernel, &moved, m)) {
                prop_assert!(close(one, other, 1e-6, 1e-14), "{}: {} and {}", name, one, other);
            }
        }
    }

    #[test]
    fn time_may_run_backwards((walk, m) in walks()) {
        let back = series(Phase::Picoseconds(walk.iter().rev().copied().collect()));
        let walk = series(Phase::Picoseconds(walk));
        for (name, kernel) in KERNELS {
            if let Some((one, other)) = value(kernel, &walk, m).zip(value(kernel, &back, m)) {
                prop_assert!(close(one, other, 1e-9, 1e-17), "{}: {} and {}", name, one, other);
            }
        }
    }
}

#[test]
fn blocks_join_without_a_seam() {
    let mut normal = Normal(3);
    let walk: Vec<_> = (0..1400).map(|_| (normal.next() * 1e4) as i64).collect();
    let exact: Vec<_> = walk.iter().map(|point| i128::from(*point)).collect();
    let series = series(Phase::Picoseconds(walk));
    let phase = Prepared::new(&series).unwrap();
    for m in [255, 256, 257, 300, 466, 512, 699, 700, 701, 1100, 1399] {
        for (name, kernel) in KERNELS {
            // Above, the explicit loops of the mirrored series would take too long in a debug build.
            if name.ends_with("totdev") && name != "totdev" && m < 466 {
                continue;
            }
            let (ours, expected) = (kernel(&phase, m), expected(name, &exact, m));
            assert_eq!(ours.map(|ours| ours.n), expected.map(|expected| expected.0), "{name} at m = {m}");
            if let Some((ours, (_, expected))) = ours.zip(expected) {
                assert!(
                    close(ours.value, expected, 1e-9, 0.0),
                    "{name} at m = {m}: {} and {expected}",
                    ours.value
                );
            }
        }
    }
}

#[test]
fn a_gap_leaves_them_out() {
    let gapped = |missing: usize| {
        let mut points: Vec<i64> = (0..60).map(|k| k * k % 17).collect();
        points[missing] = MISSING_PS;
        series(Phase::Picoseconds(points))
    };
    for missing in [0, 30, 59] {
        for (name, kernel) in KERNELS {
            assert_eq!(value(kernel, &gapped(missing), 12), None, "{name}");
        }
    }
}

#[test]
fn too_short_a_series_has_no_value() {
    for points in 0..3 {
        let short = series(Phase::Seconds(vec![1.0; points]));
        for (name, kernel) in KERNELS {
            assert_eq!(value(kernel, &short, 1), None, "{name} of {points} points");
            assert_eq!(value(kernel, &short, 0), None, "{name} of {points} points");
        }
    }
}

#[test]
fn the_widest_phase_does_not_wrap() {
    let limit = (1_i64 << 61) - 1;
    let walk: Vec<_> = (0..40_i64).map(|k| if k * k % 7 < 3 { 0 } else { limit } - (1 << 60)).collect();
    let seconds = in_seconds(&walk, 1e-12);
    let whole = series(Phase::Picoseconds(walk));
    for m in [1, 2, 3, 10, 12] {
        for (name, kernel) in KERNELS {
            if let Some((left, right)) = value(kernel, &seconds, m).zip(value(kernel, &whole, m)) {
                assert!(close(left, right, 1e-9, 0.0), "{name} at m = {m}: {left} and {right}");
            }
        }
    }
}

#[test]
fn a_fast_clock_keeps_its_noise() {
    // 100 ppm fast: the sums of the phase wrap many times over.
    let mut normal = Normal(6);
    let noise: Vec<_> = (0..3000).map(|_| (normal.next() * 1e3) as i64).collect();
    let fast = noise.iter().zip(0..).map(|(point, k)| point + 100_000_000 * k + (1 << 59)).collect();
    let (noise, fast) = (series(Phase::Picoseconds(noise)), series(Phase::Picoseconds(fast)));
    for m in [1, 10, 100, 1000] {
        for (name, kernel) in KERNELS {
            if let Some((left, right)) = value(kernel, &noise, m).zip(value(kernel, &fast, m)) {
                assert!(close(left, right, 1e-9, 0.0), "{name} at m = {m}: {left} and {right}");
            }
        }
    }
}

#[test]
fn a_straight_line_has_no_deviation() {
    let line = series(Phase::Picoseconds((0..100).map(|k| 7_000_000 * k - 3).collect()));
    for (name, kernel) in KERNELS {
        assert!(value(kernel, &line, 12).unwrap() < 1e-20, "{name}");
    }
}

/// HTOTDEV's mean square and how many starts it is over, all of them if they make up to
/// `exact` differences, else about `sampled`.
fn mean_square(points: &[f64], m: usize, exact: usize, sampled: usize) -> (f64, u64) {
    Instructions::best().run(Mirrored { sums: points, m, whole: 0, exact, sampled }).unwrap()
}

#[test]
fn fewer_starts_and_positions_have_nearly_the_same_mean() {
    let series = simulated::phase(0, 6000, &mut Normal(8));
    let Phase::Seconds(points) = &series.phase else { unreachable!("simulated in seconds") };
    for m in [3, 24, 33, 100] {
        let (all, starts) = mean_square(points, m, usize::MAX, 1);
        let (some, used) = mean_square(points, m, 0, if m < 16 { 2_000 } else { 40_000 });
        assert!(used < starts && used > 500, "m = {m}: {used} of {starts}");
        assert!(close(all, some, 0.15, 0.0), "m = {m}: {all} and {some}");
    }
    for m in [12, 100] {
        let (all, starts) = super::theo1::squares(points, m, 1);
        let (some, used) = super::theo1::squares(points, m, 5);
        let (all, some) = (all / starts as f64, some / used as f64);
        assert!(close(all, some, 0.1, 0.0), "m = {m}: {all} and {some}");
    }
}
