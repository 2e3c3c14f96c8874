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
use super::squares::BLOCK;
use super::sums::Compensated;
use super::{Deviation, Estimate, Prepared, View, estimate};

/// As long as there are no more terms than that, all of them are computed.
const EXACT: usize = 1 << 26;

/// How many terms are computed when there are more than that.
const SAMPLED: usize = 1 << 24;

/// So many times more in blocks of starts, where they cost less.
const MORE_IN_BLOCKS: usize = 8;

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
        // Beyond 2^60 ps beside its line a phase has terms that do not fit i64.
        View::Picoseconds(_) if phase.sums().longest == 0 => {
            let points = phase.seconds();
            let seconds = phase.instructions().run(Mirrored::new(&points, m, 0));
            seconds.map(|(mean, n)| (mean / phase.unit_s().powi(2), n))
        }
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
        let starts = self.sums.len().checked_sub(3 * self.m).filter(|starts| *starts > 0)?;
        if (3 * self.m).saturating_mul(starts) <= self.exact {
            let blocks = (0..starts).step_by(BLOCK);
            let sum: f64 = blocks.map(|from| self.block(from, starts.min(from + BLOCK))).sum();
            return Some((sum / starts as f64, starts as u64));
        }
        if self.m <= POSITIONS {
            // A block of starts holds many averaging times: every so many blocks, with all positions.
            let blocks = starts.div_ceil(BLOCK);
            let wanted = (self.sampled * MORE_IN_BLOCKS / (3 * self.m * BLOCK)).max(1);
            let stride = blocks.div_ceil(wanted) * BLOCK;
            let (mut sum, mut used) = (0.0, 0);
            for from in (0..starts).step_by(stride) {
                let to = starts.min(from + BLOCK);
                sum += self.block(from, to);
                used += to - from;
            }
            return Some((sum / used as f64, used as u64));
        }
        let positions = Positions::spread(self.m);
        let stride = self.stride(starts, positions.at.len());
        let mut sum = 0.0;
        let mut used = 0_u64;
        for start in (0..starts).step_by(stride) {
            sum += self.mean_at(start, &positions);
            used += 1;
        }
        Some((sum / used as f64, used))
    }
}

impl<P: Tilted> Mirrored<'_, P> {
    /// The sum of the mean squares over all positions of each of the starts `from..to`, at most [`BLOCK`].
    #[inline(always)]
    fn block(&self, from: usize, to: usize) -> f64 {
        let (m, count) = (self.m, to - from);
        let s = |position: usize| &self.sums[from + position..][..count];
        let (s0, s3) = (s(0), s(3 * m));
        let (half, other) = (s(3 * m / 2), s((3 * m).div_ceil(2)));
        let mut slopes = [0.0; BLOCK];
        for k in 0..count {
            slopes[k] = self.slope([s0[k], half[k], other[k], s3[k]]);
        }
        let mut sums = [0.0; BLOCK];
        for v in 0..=3 * m / 2 {
            let weight = if v == 0 || 2 * v == 3 * m { 0.5 } else { 1.0 };
            let (a, d) = (s(3 * m - v), s(v));
            let [b, c, e, f] = neighbours(m, v).map(s);
            let square = square(m, v);
            for k in 0..count {
                let raw = raw(v <= m, [s0[k], s3[k]], [a[k], d[k]], [b[k], c[k]], [e[k], f[k]]);
                let [one, other] = self.level(raw, square, slopes[k]);
                sums[k] += weight * (one * one + other * other);
            }
        }
        sums[..count].iter().sum::<f64>() / (3.0 * m as f64)
    }

    /// The mean square over some positions of one start.
    #[inline(always)]
    fn mean_at(&self, start: usize, positions: &Positions) -> f64 {
        let (m, s) = (self.m, &self.sums[start..=start + 3 * self.m]);
        let slope = self.slope([s[0], s[3 * m / 2], s[(3 * m).div_ceil(2)], s[3 * m]]);
        let mut sum = 0.0;
        for (index, &v) in positions.at.iter().enumerate() {
            let weight = if index == 0 || index == positions.last { 0.5 } else { 1.0 };
            let [b, c, e, f] = neighbours(m, v).map(|position| s[position]);
            let raw = raw(v <= m, [s[0], s[3 * m]], [s[3 * m - v], s[v]], [b, c], [e, f]);
            let [one, other] = self.level(raw, square(m, v), slope);
            sum += weight * (one * one + other * other);
        }
        sum / (2.0 * positions.steps)
    }

    /// The slope that is left between the means of the first and the last half; a value in the middle is in neither.
    #[inline(always)]
    fn slope(&self, [start, half, other, end]: [P; 4]) -> f64 {
        let (first, last) = ((3 * self.m / 2) as i64, (3 * self.m).div_ceil(2) as i64);
        let left = end.minus(other).minus(half.minus(start)).level(self.whole, first * last);
        left.to_f64() / (first as f64 * last as f64)
    }

    /// Without what the slopes add.
    #[inline(always)]
    fn level(&self, terms: [P; 2], square: i64, slope: f64) -> [f64; 2] {
        let tilt = slope * square as f64;
        terms.map(|term| term.level(self.whole, square).to_f64() - tilt)
    }

    /// The distance of starts that makes about as many differences as wanted, but no more than [`STARTS`] starts within m
    /// values, and not less than one.
    fn stride(&self, starts: usize, positions: usize) -> usize {
        let wanted = (2 * starts).saturating_mul(positions).div_ceil(self.sampled);
        wanted.clamp((self.m / STARTS).max(1), self.m)
    }
}

/// What share of all that a deviation has to say `n` of its `all` starts say. Those of short averaging times lie in
/// blocks, each of which reaches 3m values further.
pub(super) fn share(m: u64, n: u64, all: u64) -> f64 {
    let reached = n as f64 * (1.0 + 3.0 * m as f64 / BLOCK as f64);
    if m <= POSITIONS as u64 { (reached / all as f64).min(1.0) } else { 1.0 }
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

/// Evenly spread positions from 0 to 3m/2.
struct Positions {
    at: Vec<usize>,
    /// The last one, which stands for itself alone as the first does.
    last: usize,
    /// How many steps there are from 0 to 3m/2.
    steps: f64,
}

impl Positions {
    /// [`POSITIONS`] within m values.
    fn spread(m: usize) -> Self {
        let last = 3 * POSITIONS / 2;
        let nearest = |k: usize| ((2 * k * m + POSITIONS) / (2 * POSITIONS)).min(3 * m / 2);
        Self { at: (0..=last).map(nearest).collect(), last, steps: last as f64 }
    }
}

/// Where, beside s(3m-v) and s(v), the running sums are looked at: two for the start, two for the end.
#[inline(always)]
const fn neighbours(m: usize, v: usize) -> [usize; 4] {
    if v <= m { [2 * m - v, m - v, m + v, 2 * m + v] } else { [2 * m - v, v - m, m + v, 4 * m - v] }
}

/// What a slope of one adds.
#[inline(always)]
const fn square(m: usize, v: usize) -> i64 {
    let (m, v) = (m as i64, v as i64);
    if v <= m { v * v } else { v * v - 3 * (v - m) * (v - m) }
}

/// m times the second difference of means that starts v values before the series, and that which ends v values after it,
/// with what the slope adds: s(3m-v) - 3 s(2m-v) + 3 s(m-v) + s(v) where v is `near`, up to m, and the third term negative
/// beyond. The sums do not start at 0: `ends` are s(0) and s(3m).
#[inline(always)]
fn raw<P: Point>(near: bool, [s0, s3]: [P; 2], [a, d]: [P; 2], [b, c]: [P; 2], [e, f]: [P; 2]) -> [P; 2] {
    let three = |value: P| value.plus(value).plus(value);
    let one = a.minus(s0).plus(d.minus(s0));
    let other = a.minus(s3).plus(d.minus(s3));
    if near {
        [one.plus(three(c.minus(b))), other.plus(three(f.minus(e)))]
    } else {
        let (inner, outer) = (b.minus(s0).plus(c.minus(s0)), e.minus(s3).plus(f.minus(s3)));
        [one.minus(three(inner)), other.minus(three(outer))]
    }
}
