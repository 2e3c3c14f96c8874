//! Total deviation: the Allan deviation of a series that goes on beyond both ends, turned by half a turn about each.
//!
//! SP1065 equation (25): with x*(-j) = 2 x(0) - x(j) and x*(N-1+j) = 2 x(N-1) - x(N-1-j),
//! TOTVAR = sum over i = 1..N-2 of (x*(i-m) - 2 x*(i) + x*(i+m))^2 / (2 tau^2 (N-2)). The longer series is never made:
//! the steps back and ahead of a point are read from the series itself, forwards or backwards.

use super::simd::{Machine, Point, Work};
use super::squares::{BLOCK, sum_of_squares};
use super::{Estimate, Prepared, View};

/// The total deviation at the averaging time of `m` points, for m up to N - 1; none with a gap, or with fewer than three
/// points.
#[must_use]
pub(super) fn totdev(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    if phase.has_gaps() || phase.len() < 3 || m == 0 || m >= phase.len() {
        return None;
    }
    let sum = match phase.view() {
        View::Seconds(points) => phase.instructions().run(Squares { points, m }),
        View::Picoseconds(points) => phase.instructions().run(Squares { points, m }),
    };
    let n = phase.len() - 2;
    let tau_s = m as f64 * phase.tau0_s();
    Some(Estimate { n: n as u64, value: (sum / (2.0 * n as f64)).sqrt() * phase.unit_s() / tau_s })
}

/// Sum of the squared second differences, in square units.
struct Squares<'a, P> {
    points: &'a [P],
    m: usize,
}

impl<P: Point> Work for Squares<'_, P> {
    type Output = f64;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> f64 {
        squares(self.points, self.m)
    }
}

/// [`Squares`].
#[inline(always)]
fn squares<P: Point>(points: &[P], m: usize) -> f64 {
    let last = points.len() - 1;
    // From here on the step back stays inside, and from there on the step ahead does not.
    let (inside, outside) = (m.clamp(1, last), (last - m + 1).clamp(1, last));
    let (one, two) = (inside.min(outside), inside.max(outside));
    let mut sum = 0.0;
    for (from, to) in [(1, one), (one, two), (two, last)] {
        let mut start = from;
        while start < to {
            let end = to.min(start + BLOCK);
            sum += block(points, m, start, end);
            start = end;
        }
    }
    sum
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
