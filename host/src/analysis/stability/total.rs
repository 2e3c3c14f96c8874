//! Total deviation: the Allan deviation of a series that goes on beyond both ends, turned by half a turn about each.
//!
//! SP1065 equation (25): with x*(-j) = 2 x(0) - x(j) and x*(N-1+j) = 2 x(N-1) - x(N-1-j),
//! TOTVAR = sum over i = 1..N-2 of (x*(i-m) - 2 x*(i) + x*(i+m))^2 / (2 tau^2 (N-2)). The longer series is never made:
//! the steps back and ahead of a point are read from the series itself, forwards or backwards.

use super::differences::{Order, sums_of_squares};
use super::simd::{Machine, Point, Work};
use super::squares::{BLOCK, sum_of_squares};
use super::{Estimate, Prepared, View};

/// The total deviation at each of a rising list of averaging factors, up to N - 1; none with a gap, or with fewer than
/// three points.
pub(super) fn totdevs(phase: &Prepared<'_>, factors: &[usize]) -> Vec<Option<Estimate>> {
    let points = phase.len();
    if phase.has_gaps() || points < 3 {
        return vec![None; factors.len()];
    }
    let sums = match phase.view() {
        View::Seconds(points) => sums(points, factors, phase),
        View::Picoseconds(points) => sums(points, factors, phase),
    };
    let n = points - 2;
    let estimate = |(sum, &m): (f64, &usize)| {
        let tau_s = m as f64 * phase.tau0_s();
        let value = (sum / (2.0 * n as f64)).sqrt() * phase.unit_s() / tau_s;
        (m > 0 && m < points).then_some(Estimate { n: n as u64, value })
    };
    sums.into_iter().zip(factors).map(estimate).collect()
}

/// Sums of the squared second differences, in square units. Those that stay inside the series are those of the
/// overlapping Allan deviation.
fn sums<P: Point>(points: &[P], factors: &[usize], phase: &Prepared<'_>) -> Vec<f64> {
    let inside = sums_of_squares(points, Order::Second, factors, phase.instructions());
    let beyond = |m: &usize| phase.instructions().run(Beyond { points, m: *m });
    inside.into_iter().zip(factors).map(|(inside, m)| inside + beyond(m)).collect()
}

/// Sum of the squared second differences that reach beyond an end.
struct Beyond<'a, P> {
    points: &'a [P],
    m: usize,
}

impl<P: Point> Work for Beyond<'_, P> {
    type Output = f64;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> f64 {
        let Self { points, m } = self;
        let last = points.len() - 1;
        if m == 0 || m > last {
            return 0.0;
        }
        // The step back stays inside from `inside` on, the step ahead before `outside`.
        let (inside, outside) = (m, last - m + 1);
        let ranges = if inside < outside {
            [(1, inside), (outside, last), (last, last)]
        } else {
            [(1, outside), (outside, inside.min(last)), (inside.min(last), last)]
        };
        let mut sum = 0.0;
        for (from, to) in ranges {
            let mut start = from.max(1);
            while start < to {
                let end = to.min(start + BLOCK);
                sum += block(points, m, start, end);
                start = end;
            }
        }
        sum
    }
}

/// The terms at `start..end`, which lie on one side of `inside` and of `outside`.
#[inline(always)]
fn block<P: Point>(points: &[P], m: usize, start: usize, end: usize) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    let count = end - start;
    let here = &points[start..end];
    let mut terms = [0.0; BLOCK];
    let terms = &mut terms[..count];
    let mut back = [first; BLOCK];
    let back = &mut back[..count];
    if start >= m {
        let before = &points[start - m..end - m];
        for k in 0..count {
            back[k] = here[k].minus(before[k]);
        }
    } else {
        let mirrored = &points[m + 1 - end..][..count];
        for k in 0..count {
            back[k] = here[k].minus(first).plus(mirrored[count - 1 - k].minus(first));
        }
    }
    if end + m <= points.len() {
        let after = &points[start + m..end + m];
        for k in 0..count {
            terms[k] = after[k].minus(here[k]).minus(back[k]).to_f64();
        }
    } else {
        let mirrored = &points[2 * points.len() - 1 - m - end..][..count];
        for k in 0..count {
            let ahead = last.minus(here[k]).plus(last.minus(mirrored[count - 1 - k]));
            terms[k] = ahead.minus(back[k]).to_f64();
        }
    }
    sum_of_squares(terms)
}
