//! THEO1: a statistic with the expectation of the Allan variance for white frequency noise, at 0.75 of the time it spans,
//! out to three quarters of the whole series.
//!
//! SP1065 equation (30): for even m from 10 to N - 1,
//! THEO1 = 1 / (0.75 (N-m) (m tau0)^2) * sum over i = 0..N-m-1, d = 0..m/2-1 of
//! ((x(i) - x(i-d+m/2)) + (x(i+m) - x(i+d+m/2)))^2 / (m/2 - d).
//! It is not corrected for bias: for other noise than white frequency noise it
//! expects another value than the Allan variance.

use super::simd::{LANES, Machine, Point, Work};
use super::squares::BLOCK;
use super::{Estimate, Prepared, View};

/// At most so many terms are computed at an averaging time: fewer starts are taken when there are more.
pub(super) const TERMS: usize = 1 << 25;

/// The shortest span that THEO1 is defined for.
const SHORTEST: usize = 10;

/// THEO1 as a deviation, over a span of `m` points: at the averaging time of 0.75 m points.
///
/// Every start is taken while that makes at most 2^25 terms, else evenly spread ones, and `n` says how many terms there
/// are. None with a gap, where m is odd or below 10, or where the series is not longer than m.
#[must_use]
pub(super) fn theo1(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    if phase.has_gaps() || !m.is_multiple_of(2) || m < SHORTEST || m >= phase.len() {
        return None;
    }
    let starts = phase.len() - m;
    let stride = starts.div_ceil((TERMS / (m / 2)).max(1));
    let (sum, used) = match phase.view() {
        View::Seconds(points) => phase.instructions().run(Squares { points, m, stride }),
        View::Picoseconds(points) => phase.instructions().run(Squares { points, m, stride }),
    };
    let span_s = m as f64 * phase.tau0_s();
    let n = (used * (m / 2)) as u64;
    Some(Estimate { n, value: (sum / (0.75 * used as f64)).sqrt() * phase.unit_s() / span_s })
}

/// The sum in square units over every `stride`-th start, and how many starts these are.
struct Squares<'a, P> {
    points: &'a [P],
    m: usize,
    stride: usize,
}

impl<P: Point> Work for Squares<'_, P> {
    type Output = (f64, usize);

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> (f64, usize) {
        squares(self.points, self.m, self.stride)
    }
}

/// [`Squares`].
#[inline(always)]
pub(super) fn squares<P: Point>(points: &[P], m: usize, stride: usize) -> (f64, usize) {
    let half = m / 2;
    let weights: Vec<_> = (0..half).map(|d| 1.0 / (half - d) as f64).collect();
    let mut sum = 0.0;
    let mut used = 0;
    for window in (0..points.len() - m).step_by(stride).map(|start| &points[start..=start + m]) {
        let mut of_start = 0.0;
        for from in (0..half).step_by(BLOCK) {
            of_start += block(window, from, &weights[from..half.min(from + BLOCK)]);
        }
        sum += of_start;
        used += 1;
    }
    (sum, used)
}

/// The terms of one start at distances from the middle that begin with `from`, with their weights.
#[inline(always)]
fn block<P: Point>(window: &[P], from: usize, weights: &[f64]) -> f64 {
    let (half, count) = (window.len() / 2, weights.len());
    let (first, last) = (window[0], window[2 * half]);
    let after = &window[half + from..][..count];
    let before = &window[half + 1 - from - count..][..count];
    let term = |before: P, after: P| first.minus(before).plus(last.minus(after)).to_f64();
    let mut lanes = [0.0; LANES];
    let chunks = after.as_chunks::<LANES>().0.iter().zip(weights.as_chunks::<LANES>().0);
    for ((after, weights), before) in chunks.zip(before.as_rchunks::<LANES>().1.iter().rev()) {
        for lane in 0..LANES {
            let term = term(before[LANES - 1 - lane], after[lane]);
            lanes[lane] += term * term * weights[lane];
        }
    }
    let mut rest = 0.0;
    for k in count / LANES * LANES..count {
        let term = term(before[count - 1 - k], after[k]);
        rest += term * term * weights[k];
    }
    lanes.iter().sum::<f64>() + rest
}
