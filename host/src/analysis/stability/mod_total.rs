//! Modified total and Hadamard total deviation: a short series of 3m values is freed of its slope, continued by its
//! mirror image at both ends, and all second differences of m-point means within that are averaged.
//!
//! SP1065 equation (27) does this with phases (MTOT), equation (29) with frequencies (HTOT, whose second differences are
//! then third differences of phase). Both are the same loop over the running sums of what is averaged: for frequencies
//! these are the phases themselves.
//!
//! Mirrored at its start, the running sum s of a series (s(0) = 0) becomes odd, so the second difference of means that
//! starts v values before the series is s(3m-v) - 3 s(2m-v) + 3 s(m-v) + s(v), over m, with s(-p) = -s(p). It is the same
//! forwards and backwards about v = 0 and about v = 3m/2, so v = 0..=3m/2 holds all of that end; the other end is the first
//! of the series read backwards. A slope b in the values adds b v^2 where v <= m, and b (v^2 - 3 (v-m)^2) beyond.
//!
//! Neither is corrected for its bias, which depends on the noise: as a variance MTOT is 0.94, 0.83, 0.73, 0.70 and 0.69 of
//! the modified Allan variance for alpha 2 to -2, and HTOT 0.995, 0.851, 0.771, 0.717 and 0.679 of the Hadamard variance
//! for alpha 0 to -4 (SP1065 tables 10 and 11).

use super::simd::{Machine, Point, Work};
use super::squares::{BLOCK, sum_of_squares};
use super::sums::Compensated;
use super::{Deviation, Estimate, Prepared, View, estimate};

/// As long as there are no more terms than that, all of them are computed.
const EXACT: usize = 1 << 26;

/// How many terms are computed when there are more than that.
const SAMPLED: usize = 1 << 25;

/// Then so many positions within m values are looked at in each start, and at most [`STARTS`] starts within m values.
const POSITIONS: usize = 16;
const STARTS: usize = 64;

/// The modified total deviation at the averaging time of `m` points, for m up to N / 3; none with a gap.
///
/// Every start is taken while that makes at most 2^26 second differences, else evenly spread starts and positions, and `n`
/// says how many starts were taken.
#[must_use]
pub(super) fn mtotdev(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    if phase.has_gaps() || m == 0 || m > phase.len() / 3 {
        return None;
    }
    let sums = phase.sums();
    let whole = if sums.rounded { 0 } else { slope(phase) };
    let ((mean, n), unit_s) = if m <= sums.longest {
        (phase.instructions().run(Mirrored::new(&sums.values, m, whole))?, sums.unit_s)
    } else {
        let sums = sums_of_seconds(&phase.seconds());
        (phase.instructions().run(Mirrored::new(&sums, m, 0))?, 1.0)
    };
    let tau_s = m as f64 * phase.tau0_s();
    Some(Estimate { n, value: (mean / 2.0).sqrt() / m as f64 * unit_s / tau_s })
}

/// The time total deviation: [`mtotdev`] times tau / sqrt(3), in seconds.
#[must_use]
pub(super) fn ttotdev(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    let scale = m as f64 * phase.tau0_s() / 3_f64.sqrt();
    mtotdev(phase, m).map(|Estimate { n, value }| Estimate { n, value: value * scale })
}

/// The Hadamard total deviation at the averaging time of `m` points, for m up to (N - 1) / 3; none with a gap.
///
/// At m = 1 it is the overlapping Hadamard deviation, as SP1065 advises. Starts are taken as [`mtotdev`] takes them.
#[must_use]
pub(super) fn htotdev(phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    if phase.has_gaps() || m == 0 {
        return None;
    }
    if m == 1 {
        return estimate(Deviation::Ohdev, phase, 1);
    }
    let (mean, n) = match phase.view() {
        View::Seconds(points) => phase.instructions().run(Mirrored::new(points, m, 0)),
        View::Picoseconds(points) => phase.instructions().run(Mirrored::new(points, m, 0)),
    }?;
    Some(Estimate { n, value: (mean / 6.0).sqrt() * phase.unit_s() / (m as f64 * phase.tau0_s()) })
}

/// The slope of a whole series, in whole picoseconds a point: taken off as an integer, so that what is left of a term
/// fits f64 however fast the clock runs.
fn slope(phase: &Prepared<'_>) -> i64 {
    match phase.view() {
        View::Picoseconds([first, .., last]) => last.wrapping_sub(*first) / (phase.len() as i64 - 1),
        _ => 0,
    }
}

/// Running sums of a phase of which a line was taken off, for what whole picoseconds cannot hold.
fn sums_of_seconds(points: &[f64]) -> Vec<f64> {
    let (first, last) = (points[0], points[points.len() - 1]);
    let slope = (last - first) / (points.len() - 1).max(1) as f64;
    let mut sum = Compensated::default();
    let values = points.iter().enumerate().map(|(index, point)| {
        sum.add((point - first) - slope * index as f64);
        sum.value()
    });
    std::iter::once(0.0).chain(values).collect()
}

/// All the short series of a phase, by their running sums.
pub(super) struct Mirrored<'a, P> {
    /// One more than there are values.
    pub(super) sums: &'a [P],
    /// Values that one averaging time spans.
    pub(super) m: usize,
    /// A slope of the values that is taken off as an integer.
    pub(super) whole: i64,
    /// Up to so many second differences all are computed.
    pub(super) exact: usize,
    /// Else about so many.
    pub(super) sampled: usize,
}

impl<'a, P> Mirrored<'a, P> {
    const fn new(sums: &'a [P], m: usize, whole: i64) -> Self {
        Self { sums, m, whole, exact: EXACT, sampled: SAMPLED }
    }
}

impl<P: Tilted> Work for Mirrored<'_, P> {
    /// The mean of the squares of m times the second differences, and how many starts it is over.
    type Output = Option<(f64, u64)>;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> Self::Output {
        let Self { sums, m, whole, .. } = self;
        let starts = sums.len().checked_sub(3 * m).filter(|starts| *starts > 0)?;
        let all = (3 * m).saturating_mul(starts) <= self.exact;
        let positions = if all { Vec::new() } else { positions(m) };
        let stride = if all { 1 } else { stride(m, starts, positions.len(), self.sampled) };
        let mut sum = 0.0;
        let mut used = 0_u64;
        for start in (0..starts).step_by(stride) {
            let window = Window::new(&sums[start..=start + 3 * m], m, whole);
            sum += if all { window.mean_of_all() } else { window.mean_at(&positions) };
            used += 1;
        }
        Some((sum / used as f64, used))
    }
}

/// A running sum that a slope can be taken off of.
pub(super) trait Tilted: Point {
    /// `self - slope * square`.
    fn level(self, slope: i64, square: i64) -> Self;
}

impl Tilted for i64 {
    #[inline(always)]
    fn level(self, slope: i64, square: i64) -> Self {
        self.wrapping_sub(slope.wrapping_mul(square))
    }
}

impl Tilted for f64 {
    /// Seconds keep their slope.
    #[inline(always)]
    fn level(self, _: i64, _: i64) -> Self {
        self
    }
}

/// Evenly spread positions from 0 to 3m/2: all, or [`POSITIONS`] within m values.
fn positions(m: usize) -> Vec<usize> {
    if m <= POSITIONS {
        return (0..=3 * m / 2).collect();
    }
    let last = 3 * POSITIONS / 2;
    (0..=last).map(|k| (2 * k * m + POSITIONS) / (2 * POSITIONS)).map(|v| v.min(3 * m / 2)).collect()
}

/// The distance of starts that makes no more differences than `sampled`, and no more starts within m values than
/// [`STARTS`].
fn stride(m: usize, starts: usize, positions: usize, sampled: usize) -> usize {
    (2 * starts).saturating_mul(positions).div_ceil(sampled).max(m / STARTS).max(1)
}

/// One short series: its running sums, and its slope as a whole number and what is left.
struct Window<'a, P> {
    sums: &'a [P],
    m: usize,
    whole: i64,
    slope: f64,
}

impl<'a, P: Tilted> Window<'a, P> {
    /// The slope is that between the means of the first and the last half; a value in the middle is in neither.
    #[inline(always)]
    fn new(sums: &'a [P], m: usize, whole: i64) -> Self {
        let (half, other) = (3 * m / 2, (3 * m).div_ceil(2));
        let first = sums[half].minus(sums[0]);
        let last = sums[3 * m].minus(sums[other]);
        let left = last.minus(first).level(whole, half as i64 * other as i64);
        Self { sums, m, whole, slope: left.to_f64() / (half as f64 * other as f64) }
    }

    /// The mean square over all positions. Those between 0 and 3m/2 stand for two each.
    #[inline(always)]
    fn mean_of_all(&self) -> f64 {
        let m = self.m;
        let middle = 3 * m / 2;
        let mut sum = 0.0;
        for from in (0..=m).step_by(BLOCK) {
            sum += self.near(from, (m + 1).min(from + BLOCK));
        }
        for from in (m + 1..=middle).step_by(BLOCK) {
            sum += self.far(from, (middle + 1).min(from + BLOCK));
        }
        let ends = self.at(0) + if m.is_multiple_of(2) { self.at(middle) } else { 0.0 };
        (sum - 0.5 * ends) / (3.0 * m as f64)
    }

    /// The mean square over some positions, the first of which is 0 and the last 3m/2, or one half before it.
    #[inline(always)]
    fn mean_at(&self, positions: &[usize]) -> f64 {
        let last = positions.len() - 1;
        let sum: f64 = positions.iter().map(|v| self.at(*v)).sum();
        let odd = !self.m.is_multiple_of(2) && self.m <= POSITIONS;
        let (end, steps) =
            if odd { (0.0, last as f64 + 0.5) } else { (self.at(positions[last]), last as f64) };
        (sum - 0.5 * (self.at(0) + end)) / (2.0 * steps)
    }

    /// Without what the slope adds.
    #[inline(always)]
    fn level(&self, terms: [P; 2], square: i64) -> [f64; 2] {
        let tilt = self.slope * square as f64;
        terms.map(|term| term.level(self.whole, square).to_f64() - tilt)
    }

    /// The squares at both ends, v values beyond them.
    #[inline(always)]
    fn at(&self, v: usize) -> f64 {
        let (s, m) = (self.sums, self.m);
        let (ends, both) = ([s[0], s[3 * m]], [s[3 * m - v], s[v]]);
        let [one, other] = if v <= m {
            self.level(near(ends, both, [s[2 * m - v], s[m - v]], [s[m + v], s[2 * m + v]]), (v * v) as i64)
        } else {
            let square = beyond(v as i64, m as i64);
            self.level(far(ends, both, [s[2 * m - v], s[v - m]], [s[m + v], s[4 * m - v]]), square)
        };
        one * one + other * other
    }

    /// The sum of the squares at positions `from..to`, none beyond m.
    #[inline(always)]
    fn near(&self, from: usize, to: usize) -> f64 {
        let (s, m, count) = (self.sums, self.m, to - from);
        let ends = [s[0], s[3 * m]];
        let ahead = |start: usize| &s[start + from..][..count];
        let back = |start: usize| &s[start + 1 - to..][..count];
        let (a0, a1, a2) = (ahead(0), ahead(m), ahead(2 * m));
        let (b1, b2, b3) = (back(m), back(2 * m), back(3 * m));
        let mut terms = [[0.0; BLOCK]; 2];
        for k in 0..count {
            let r = count - 1 - k;
            let v = (from + k) as i64;
            let raw = near(ends, [b3[r], a0[k]], [b2[r], b1[r]], [a1[k], a2[k]]);
            let [one, other] = self.level(raw, v * v);
            terms[0][k] = one;
            terms[1][k] = other;
        }
        sum_of_squares(&terms[0][..count]) + sum_of_squares(&terms[1][..count])
    }

    /// The sum of the squares at positions `from..to`, all beyond m.
    #[inline(always)]
    fn far(&self, from: usize, to: usize) -> f64 {
        let (s, m, count) = (self.sums, self.m, to - from);
        let ends = [s[0], s[3 * m]];
        let back = |start: usize| &s[start + 1 - to..][..count];
        let (below, a0, a1) = (&s[from - m..to - m], &s[from..to], &s[from + m..to + m]);
        let (b2, b3, b4) = (back(2 * m), back(3 * m), back(4 * m));
        let mut terms = [[0.0; BLOCK]; 2];
        for k in 0..count {
            let r = count - 1 - k;
            let raw = far(ends, [b3[r], a0[k]], [b2[r], below[k]], [a1[k], b4[r]]);
            let [one, other] = self.level(raw, beyond((from + k) as i64, m as i64));
            terms[0][k] = one;
            terms[1][k] = other;
        }
        sum_of_squares(&terms[0][..count]) + sum_of_squares(&terms[1][..count])
    }
}

/// m times the second difference of means beyond the start, s(3m-v) - 3 s(2m-v) + 3 s(m-v) + s(v), and that beyond the
/// end, for v up to m. The sums do not start at 0: `ends` are s(0) and s(3m).
#[inline(always)]
fn near<P: Point>([s0, s3]: [P; 2], [a, d]: [P; 2], [b, c]: [P; 2], [e, f]: [P; 2]) -> [P; 2] {
    let (inner, other) = (c.minus(b), f.minus(e));
    let one = a.minus(s0).plus(d.minus(s0)).plus(inner.plus(inner).plus(inner));
    let other = a.minus(s3).plus(d.minus(s3)).plus(other.plus(other).plus(other));
    [one, other]
}

/// The same for v beyond m: s(3m-v) - 3 s(2m-v) - 3 s(v-m) + s(v).
#[inline(always)]
fn far<P: Point>([s0, s3]: [P; 2], [a, d]: [P; 2], [b, c]: [P; 2], [e, f]: [P; 2]) -> [P; 2] {
    let inner = b.minus(s0).plus(c.minus(s0));
    let other = e.minus(s3).plus(f.minus(s3));
    let one = a.minus(s0).plus(d.minus(s0)).minus(inner.plus(inner).plus(inner));
    let other = a.minus(s3).plus(d.minus(s3)).minus(other.plus(other).plus(other));
    [one, other]
}

/// What a slope of one adds beyond m.
#[inline(always)]
const fn beyond(v: i64, m: i64) -> i64 {
    v * v - 3 * (v - m) * (v - m)
}
