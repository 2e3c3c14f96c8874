//! The Allan family and TIErms: sums of squares of differences, and what they are divided by.
//!
//! A term that touches a missing point is left out. In a series with gaps the starts of whole terms are runs again:
//! where each of a term's points lies in a run of present points, or, for the modified deviation, all of its 3m points
//! in the same one.

use std::ops::Range;

use super::differences::{Order, sums_of_squares};
use super::prepared::{Prepared, View};
use super::simd::Point;
use super::sums::{PrefixSums, careful_sum_of_squares};
use super::{Deviation, Estimate};

/// How wrong rounding to the unit of the prefix sums may make a deviation, relatively, before it is computed carefully.
const ROUNDING: f64 = 1e-9;

/// A deviation of the Allan family or TIErms at each of a rising list of averaging factors.
pub(super) fn estimates(
    deviation: Deviation,
    phase: &Prepared<'_>,
    factors: &[usize],
) -> Vec<Option<Estimate>> {
    match deviation {
        Deviation::Adev => factors.iter().map(|m| apart(phase, Order::Second, *m)).collect(),
        Deviation::Hdev => factors.iter().map(|m| apart(phase, Order::Third, *m)).collect(),
        Deviation::Oadev => overlapping(phase, Order::Second, factors),
        Deviation::Ohdev => overlapping(phase, Order::Third, factors),
        Deviation::Tierms => overlapping(phase, Order::First, factors),
        Deviation::Mdev => modified(phase, factors),
        Deviation::Tdev => time(phase, factors, modified(phase, factors)),
        _ => Vec::new(),
    }
}

/// A time deviation from the modified one: tau/sqrt(3) times it.
pub(super) fn time(
    phase: &Prepared<'_>,
    factors: &[usize],
    modified: Vec<Option<Estimate>>,
) -> Vec<Option<Estimate>> {
    let times = factors.iter().map(|m| *m as f64 * phase.tau0_s() / 3_f64.sqrt());
    let scaled = |(estimate, time): (Option<Estimate>, f64)| {
        estimate.map(|Estimate { n, value }| Estimate { n, value: value * time })
    };
    modified.into_iter().zip(times).map(scaled).collect()
}

/// The deviation of a sum of squares in the unit of the points: sqrt(sum / n) with the factor of its order.
fn deviation_of(phase: &Prepared<'_>, order: Order, m: usize, squares: f64, n: usize) -> Option<Estimate> {
    let tau_s = m as f64 * phase.tau0_s();
    let root = (squares / n as f64).sqrt() * phase.unit_s();
    let value = match order {
        Order::First => root,
        Order::Second => root / 2_f64.sqrt() / tau_s,
        Order::Third => root / 6_f64.sqrt() / tau_s,
    };
    (n > 0).then_some(Estimate { n: n as u64, value })
}

/// Overlapping: a term at every start.
fn overlapping(phase: &Prepared<'_>, order: Order, factors: &[usize]) -> Vec<Option<Estimate>> {
    match phase.view() {
        View::Seconds(points) => overlapping_of(phase, points, order, factors),
        View::Picoseconds(points) => overlapping_of(phase, points, order, factors),
    }
}

/// [`overlapping`], whatever the points are.
fn overlapping_of<P: Point>(
    phase: &Prepared<'_>,
    points: &[P],
    order: Order,
    factors: &[usize],
) -> Vec<Option<Estimate>> {
    if !phase.has_gaps() {
        let sums = sums_of_squares(points, order, factors, phase.instructions());
        let terms = |m: usize| points.len().saturating_sub(order.reach().saturating_mul(m));
        return factors
            .iter()
            .zip(sums)
            .map(|(m, sum)| deviation_of(phase, order, *m, sum, terms(*m)))
            .collect();
    }
    factors
        .iter()
        .map(|m| {
            let (mut squares, mut n) = (0.0, 0);
            for starts in starts(phase.present(), order.reach(), *m) {
                n += starts.len();
                let points = &points[starts.start..starts.end + order.reach() * m];
                squares += sums_of_squares(points, order, &[*m], phase.instructions())[0];
            }
            deviation_of(phase, order, *m, squares, n)
        })
        .collect()
}

/// Not overlapping: a term every `m` points, from the first on.
fn apart(phase: &Prepared<'_>, order: Order, m: usize) -> Option<Estimate> {
    match phase.view() {
        View::Seconds(points) => apart_of(phase, points, order, m),
        View::Picoseconds(points) => apart_of(phase, points, order, m),
    }
}

/// [`apart`], whatever the points are.
fn apart_of<P: Point>(phase: &Prepared<'_>, points: &[P], order: Order, m: usize) -> Option<Estimate> {
    let reach = order.reach().checked_mul(m)?;
    let (mut squares, mut n) = (0.0, 0);
    for starts in starts(phase.present(), order.reach(), m) {
        // A factor of 1 is the overlapping deviation, which has lanes.
        if m == 1 {
            n += starts.len();
            let points = &points[starts.start..starts.end + reach];
            squares += sums_of_squares(points, order, &[1], phase.instructions())[0];
            continue;
        }
        for start in (starts.start.next_multiple_of(m)..starts.end).step_by(m) {
            let at = |k: usize| points[start + k * m];
            let difference = if order == Order::Second {
                let near = at(1).minus(at(0));
                at(2).minus(at(0)).minus(near.plus(near))
            } else {
                let inner = at(2).minus(at(1));
                at(3).minus(at(0)).minus(inner.plus(inner).plus(inner))
            };
            squares += difference.to_f64() * difference.to_f64();
            n += 1;
        }
    }
    deviation_of(phase, order, m, squares, n)
}

/// Modified: third differences of prefix sums, each the mean of m second differences.
fn modified(phase: &Prepared<'_>, factors: &[usize]) -> Vec<Option<Estimate>> {
    let sums = phase.sums();
    let squares = if phase.has_gaps() {
        factors.iter().map(|m| modified_in_runs(phase, sums, *m)).collect()
    } else {
        let squares = sums_of_squares(&sums.values, Order::Third, factors, phase.instructions());
        let terms = |m: usize| (phase.len() + 1).saturating_sub(m.saturating_mul(3));
        squares.into_iter().zip(factors).map(|(sum, m)| (sum, terms(*m))).collect::<Vec<_>>()
    };
    factors
        .iter()
        .zip(squares)
        .map(|(&m, (squares, n))| {
            let mut root = (squares / n as f64).sqrt() * sums.unit_s;
            if n > 0 && (m > sums.longest || (sums.rounded && rounding(squares, n, m) > ROUNDING)) {
                root = careful_root(phase, m, n);
            }
            let tau_s = m as f64 * phase.tau0_s();
            (n > 0).then_some(Estimate { n: n as u64, value: root / 2_f64.sqrt() / m as f64 / tau_s })
        })
        .collect()
}

/// Sum of squares over prefix sums, and how many terms, where points are missing: every term lies in one run.
fn modified_in_runs(phase: &Prepared<'_>, sums: &PrefixSums, m: usize) -> (f64, usize) {
    let (mut squares, mut n) = (0.0, 0);
    for run in phase.present().iter().filter(|run| run.len() / 3 >= m) {
        n += run.len() + 1 - 3 * m;
        let values = &sums.values[run.start..=run.end];
        squares += sums_of_squares(values, Order::Third, &[m], phase.instructions())[0];
    }
    (squares, n)
}

/// The root of the mean square, without prefix sums.
fn careful_root(phase: &Prepared<'_>, m: usize, n: usize) -> f64 {
    let runs = phase.present().iter().filter(|run| run.len() / 3 >= m);
    let squares: f64 = runs
        .map(|run| careful_sum_of_squares(phase.view(), run.start..run.end + 1 - 3 * m, m, run.end))
        .sum();
    (squares / n as f64).sqrt() * phase.unit_s()
}

/// How wrong rounding to whole units makes a modified deviation: each term has a variance of m/2 units from it, which adds
/// to the mean square and goes with the terms by chance; n/m of them are independent.
fn rounding(squares: f64, n: usize, m: usize) -> f64 {
    let ratio = (m as f64 / 2.0) / (squares / n as f64);
    if ratio.is_nan() { f64::INFINITY } else { ratio / 2.0 + (ratio * m as f64 / n as f64).sqrt() }
}

/// Runs of starts at which the points start, start + m ... start + reach m are all there.
fn starts(present: &[Range<usize>], reach: usize, m: usize) -> Vec<Range<usize>> {
    let mut starts = present.to_vec();
    for k in 1..=reach {
        let mut both = Vec::new();
        let mut shifted = present.iter().map(|run| {
            run.start.saturating_sub(k.saturating_mul(m))..run.end.saturating_sub(k.saturating_mul(m))
        });
        let mut left = starts.iter();
        let (mut one, mut other) = (left.next().cloned(), shifted.next());
        while let (Some(a), Some(b)) = (&one, &other) {
            let run = a.start.max(b.start)..a.end.min(b.end);
            let first_ends = a.end < b.end;
            if !run.is_empty() {
                both.push(run);
            }
            if first_ends {
                one = left.next().cloned();
            } else {
                other = shifted.next();
            }
        }
        starts = both;
    }
    starts
}
