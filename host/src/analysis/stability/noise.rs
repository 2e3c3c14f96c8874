//! Which power law of noise dominates at an averaging time: S_y(f) ~ f^alpha.
//!
//! With 30 points or more at that distance: the lag-1 autocorrelation (Riley & Greenhall, "Power law noise identification
//! using the lag 1 autocorrelation", EFTF 2004). The phase is decimated to one point per averaging time, a parabola is
//! taken off, and it is differenced d times until r1 / (1 + r1) falls below 1/4; then alpha = 2 - 2 (d + r1 / (1 + r1)),
//! rounded. With fewer: the ratio B1 of the standard to the Allan variance of the frequencies, and R(n) of the modified
//! to the Allan variance, which tells white from flicker phase noise (Howe, Beard, Greenhall, Vernotte & Riley 2000). With
//! less than five points nothing can be said.

use super::simd::{LANES, Machine, Point, Work};
use super::{Deviation, Prepared, View};
use crate::series::MISSING_PS;

/// The lag-1 autocorrelation wants so many points.
pub(super) const LAG1_LEAST: usize = 30;

/// The ratio of variances wants so many.
pub(super) const RATIO_LEAST: usize = 5;

/// A residual of this part of the largest phase is rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Most differences taken: three for the Hadamard family, two for the others.
const MOST: usize = 3;

/// The power law at the averaging time of `m` points: from 2 (white phase noise) to -2 (random walk of frequency), for
/// the Hadamard family to -4; none where there are fewer than five points at that distance, or the phase is a straight
/// line.
#[must_use]
pub fn identify(phase: &Prepared<'_>, m: usize, deviation: Deviation) -> Option<i32> {
    if m == 0 || phase.is_empty() {
        return None;
    }
    let most = match deviation {
        Deviation::Hdev | Deviation::Ohdev | Deviation::Htotdev => 3,
        _ => 2,
    };
    let count = phase.len().div_ceil(m);
    if count >= LAG1_LEAST {
        let lag1 = match phase.view() {
            View::Seconds(points) => Lag1::of(phase, points, m, f64::is_nan),
            View::Picoseconds(points) => Lag1::of(phase, points, m, |point| point == MISSING_PS),
        }?;
        return lag1.alpha(most).map(|alpha| alpha.clamp(2 - 2 * most as i32, 2));
    }
    if count < RATIO_LEAST || phase.has_gaps() {
        return None;
    }
    by_ratio(phase, m)
}

/// Sums over a decimated phase and its differences.
struct Lag1 {
    orders: [Sums; MOST + 1],
    /// What a residual may be by rounding alone.
    rounding: f64,
}

/// Sums over one series.
#[derive(Clone, Copy, Default)]
struct Sums {
    values: f64,
    pairs: f64,
    sum: f64,
    /// Sum over both of each pair.
    ends: f64,
    squares: f64,
    products: f64,
}

impl Sums {
    /// Adds values in a row, all of which are there. The first `known` of them were added before.
    #[inline(always)]
    fn add(&mut self, values: &[f64], known: usize) {
        let before = if known == 0 {
            let Some(first) = values.first() else { return };
            self.values += 1.0;
            self.sum += first;
            self.squares += first * first;
            values
        } else {
            &values[known - 1..]
        };
        let Some((last, before)) = before.split_last() else { return };
        let after = &values[values.len() - before.len()..];
        let [sum, squares, products] = sums_of(before, after);
        self.values += after.len() as f64;
        self.sum += sum;
        self.squares += squares;
        self.pairs += after.len() as f64;
        self.ends += 2.0 * sum + before.first().map_or(0.0, |first| first - last);
        self.products += products;
    }

    /// The lag-1 autocorrelation; none where the values are all the same but for `rounding` of each.
    fn autocorrelation(&self, rounding: f64) -> Option<f64> {
        let mean = self.sum / self.values;
        let covariance = self.products - mean * self.ends + self.pairs * mean * mean;
        let variance = self.squares - self.values * mean * mean;
        // With nothing missing this is the plain ratio of the sums, which has one product less than squares.
        let share = (self.values - 1.0) / self.pairs;
        (variance > self.values * rounding * rounding && self.pairs > 0.0)
            .then(|| covariance / variance * share)
    }
}

/// Sums of the second of each pair, of its square, and of the products, in eight lanes.
#[inline(always)]
fn sums_of(before: &[f64], after: &[f64]) -> [f64; 3] {
    let (befores, before_rest) = before.as_chunks::<LANES>();
    let (afters, after_rest) = after.as_chunks::<LANES>();
    let mut lanes = [[0.0; LANES]; 3];
    for (before, after) in befores.iter().zip(afters) {
        for lane in 0..LANES {
            lanes[0][lane] += after[lane];
            lanes[1][lane] += after[lane] * after[lane];
            lanes[2][lane] += before[lane] * after[lane];
        }
    }
    let mut sums = lanes.map(|lanes| lanes.iter().sum::<f64>());
    for (before, after) in before_rest.iter().zip(after_rest) {
        sums[0] += after;
        sums[1] += after * after;
        sums[2] += before * after;
    }
    sums
}

/// Decimated points that are looked at together.
const BLOCK: usize = 512;

/// Every m-th point, beside the first that is there; NaN where one is missing.
struct Decimated<'a, P, F> {
    points: &'a [P],
    m: usize,
    origin: P,
    missing: F,
}

impl<P: Point, F: Fn(P) -> bool + Copy> Decimated<'_, P, F> {
    const fn count(&self) -> usize {
        self.points.len().div_ceil(self.m)
    }

    /// Those from `from` on, as many as there is room for.
    #[inline(always)]
    fn fill(&self, from: usize, values: &mut [f64]) {
        let value = |point: P| {
            if (self.missing)(point) { f64::NAN } else { point.minus(self.origin).to_f64() }
        };
        let points = &self.points[from * self.m..];
        if self.m == 1 {
            for (place, point) in values.iter_mut().zip(points) {
                *place = value(*point);
            }
            return;
        }
        for (place, point) in values.iter_mut().zip(points.iter().step_by(self.m)) {
            *place = value(*point);
        }
    }
}

impl<P: Point, F: Fn(P) -> bool + Copy> Work for Decimated<'_, P, F> {
    /// None where no parabola can be laid through the points.
    type Output = Option<Lag1>;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> Option<Lag1> {
        let count = self.count();
        let parabola = Parabola::through(&self)?;
        let mut orders = [Sums::default(); MOST + 1];
        // Room for what the block before left: the differences of a block reach back into it.
        let mut values = [0.0; BLOCK + MOST + 1];
        let mut kept = 0;
        let mut largest = self.origin.to_f64().abs();
        for from in (0..count).step_by(BLOCK) {
            let length = BLOCK.min(count - from);
            let block = &mut values[kept..kept + length];
            self.fill(from, block);
            for (k, value) in block.iter_mut().enumerate() {
                // A missing one is NaN, and greater than nothing.
                if value.abs() > largest {
                    largest = value.abs();
                }
                *value -= parabola.at(from + k);
            }
            let end = kept + length;
            kept = add_runs(&mut orders, &values[..end], kept);
            values.copy_within(end - kept..end, 0);
        }
        Some(Lag1 { orders, rounding: ROUNDING * largest })
    }
}

/// Adds the runs of values that are there, of which the first `known` were added before, and says how many values at the
/// end the next block has to begin with.
#[inline(always)]
fn add_runs(orders: &mut [Sums; MOST + 1], values: &[f64], known: usize) -> usize {
    if !values.iter().fold(false, |missing, value| missing | value.is_nan()) {
        add_run(orders, values, known);
        return values.len().min(MOST + 1);
    }
    let mut from = 0;
    loop {
        let length = values[from..].iter().take_while(|value| !value.is_nan()).count();
        add_run(orders, &values[from..from + length], known.saturating_sub(from));
        if from + length == values.len() {
            return length.min(MOST + 1);
        }
        from += length + 1;
    }
}

/// Adds a run and its differences.
#[inline(always)]
fn add_run(orders: &mut [Sums; MOST + 1], run: &[f64], known: usize) {
    let mut differences = [0.0; BLOCK + MOST + 1];
    let differences = &mut differences[..run.len()];
    differences.copy_from_slice(run);
    for (order, sums) in orders.iter_mut().enumerate() {
        if order >= run.len() {
            break;
        }
        let length = run.len() - order;
        sums.add(&differences[..length], known.saturating_sub(order));
        for k in 0..length - 1 {
            differences[k] = differences[k + 1] - differences[k];
        }
    }
}

impl Lag1 {
    /// Of every m-th point.
    fn of<P: Point>(
        phase: &Prepared<'_>,
        points: &[P],
        m: usize,
        missing: impl Fn(P) -> bool + Copy,
    ) -> Option<Self> {
        let origin = *points.iter().find(|point| !missing(**point))?;
        phase.instructions().run(Decimated { points, m, origin, missing })
    }

    /// alpha, with at most `most` differences.
    fn alpha(&self, most: usize) -> Option<i32> {
        for (order, sums) in self.orders.iter().enumerate().take(most + 1) {
            let r1 = sums.autocorrelation(self.rounding)?;
            let delta = r1 / (1.0 + r1);
            if delta < 0.25 || order == most {
                return Some(2 - 2 * order as i32 - (2.0 * delta).round() as i32);
            }
        }
        None
    }
}

/// The number of each lane.
const LANE: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// a + b t + c t^2, with t from -1 to 1 over the series.
struct Parabola {
    coefficients: [f64; 3],
    scale: f64,
}

impl Parabola {
    /// By least squares over what is there.
    #[inline(always)]
    fn through<P: Point, F: Fn(P) -> bool + Copy>(points: &Decimated<'_, P, F>) -> Option<Self> {
        let count = points.count();
        let scale = 2.0 / (count - 1).max(1) as f64;
        let [mut s0, mut s1, mut s2, mut s3, mut s4] = [[0.0; LANES]; 5];
        let [mut x0, mut x1, mut x2] = [[0.0; LANES]; 3];
        let mut values = [0.0; BLOCK];
        for from in (0..count).step_by(BLOCK) {
            values.fill(f64::NAN);
            points.fill(from, &mut values[..BLOCK.min(count - from)]);
            for (chunk, values) in values.as_chunks::<LANES>().0.iter().enumerate() {
                let first = scale * (from + chunk * LANES) as f64 - 1.0;
                for lane in 0..LANES {
                    // What is missing weighs nothing.
                    let missing = values[lane].is_nan();
                    let (value, there) = if missing { (0.0, 0.0) } else { (values[lane], 1.0) };
                    let t = first + scale * LANE[lane];
                    let (once, twice) = (there * t, there * t * t);
                    s0[lane] += there;
                    s1[lane] += once;
                    s2[lane] += twice;
                    s3[lane] += once * twice;
                    s4[lane] += twice * twice;
                    x0[lane] += value;
                    x1[lane] += value * once;
                    x2[lane] += value * twice;
                }
            }
        }
        let [s0, s1, s2, s3, s4] = [s0, s1, s2, s3, s4].map(|lanes| lanes.iter().sum::<f64>());
        let [x0, x1, x2] = [x0, x1, x2].map(|lanes| lanes.iter().sum::<f64>());
        let coefficients = solve([[s0, s1, s2], [s1, s2, s3], [s2, s3, s4]], [x0, x1, x2])?;
        Some(Self { coefficients, scale })
    }

    #[inline(always)]
    fn at(&self, index: usize) -> f64 {
        let [a, b, c] = self.coefficients;
        let t = self.scale * index as f64 - 1.0;
        a + t * (b + t * c)
    }
}

/// Three linear equations, by Cramer's rule: t is scaled, so they are well conditioned.
fn solve(matrix: [[f64; 3]; 3], right: [f64; 3]) -> Option<[f64; 3]> {
    let determinant = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant(matrix);
    let with = |column: usize| {
        let mut replaced = matrix;
        for (row, value) in replaced.iter_mut().zip(right) {
            row[column] = value;
        }
        determinant(replaced) / whole
    };
    (whole > 0.0).then(|| [with(0), with(1), with(2)])
}

/// By B1 and R(n), for few points without gaps.
fn by_ratio(phase: &Prepared<'_>, m: usize) -> Option<i32> {
    let points = (phase.len() - 1) / m + 1;
    let frequency = |k: usize| phase.at((k + 1) * m) - phase.at(k * m);
    let count = (points - 1) as f64;
    let mean = (phase.at((points - 1) * m) - phase.at(0)) / count;
    let variance = (0..points - 1).map(|k| (frequency(k) - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let allan = (0..points - 2).map(|k| (frequency(k + 1) - frequency(k)).powi(2)).sum::<f64>()
        / (2.0 * (count - 1.0));
    let origin = if let View::Seconds(values) = phase.view() { values[0].abs() } else { 0.0 };
    let largest = (0..points).map(|k| phase.at(k * m).abs()).fold(origin, f64::max);
    if allan <= (ROUNDING * largest).powi(2) {
        return None;
    }
    // B1 of random walk, flicker and white frequency noise, and of phase noise.
    let expected = [
        count / 2.0,
        count * count.ln() / (2.0 * (count - 1.0) * 2_f64.ln()),
        1.0,
        (count * count - 1.0) / (1.5 * count * (count - 1.0)),
    ];
    let above = |pair: &[f64]| variance / allan > (pair[0] * pair[1]).sqrt();
    match expected.windows(2).position(above) {
        Some(steps) => Some(steps as i32 - 2),
        None => Some(white_or_flicker(phase, m)),
    }
}

/// 2 or 1, by the ratio R(n) of the modified to the Allan variance; at m = 1 these are the same, and it is taken as white.
fn white_or_flicker(phase: &Prepared<'_>, m: usize) -> i32 {
    let second = |i: usize| phase.at(i + 2 * m) - 2.0 * phase.at(i + m) + phase.at(i);
    let terms = phase.len() - 2 * m;
    let allan = (0..terms).map(|i| second(i).powi(2)).sum::<f64>() / terms as f64;
    let mut sum: f64 = (0..m).map(second).sum();
    let mut modified = sum * sum;
    for i in m..terms {
        sum += second(i) - second(i - m);
        modified += sum * sum;
    }
    let modified = modified / (terms - m + 1) as f64 / (m * m) as f64;
    let pi = std::f64::consts::PI;
    let flicker = 1.5 * (256.0_f64 / 27.0).ln() / (1.038 + 3.0 * (pi * m as f64).ln());
    let white = 1.0 / m as f64;
    if m > 1 && modified / allan > (flicker * white).sqrt() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{self, Normal};
    use super::*;
    use crate::series::Phase;

    /// Straight from the definition: the mean off, neighbours multiplied.
    fn plainly(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        products / values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    }

    #[test]
    fn blocks_join_without_a_seam() {
        let series = simulated::phase(0, 3 * (2 * BLOCK + 7), &mut Normal(9));
        let phase = Prepared::new(&series).unwrap();
        let Phase::Seconds(points) = &series.phase else { unreachable!("simulated in seconds") };
        for m in [1, 3, 8] {
            let lag1 = Lag1::of(&phase, points, m, f64::is_nan).unwrap();
            let decimated: Vec<_> = points.iter().step_by(m).map(|point| point - points[0]).collect();
            let all = Decimated { points, m, origin: points[0], missing: f64::is_nan };
            let parabola = Parabola::through(&all).unwrap();
            let mut values: Vec<_> =
                decimated.iter().enumerate().map(|(k, value)| value - parabola.at(k)).collect();
            assert!(values.iter().sum::<f64>().abs() < 1e-6, "the parabola takes the mean off");
            for sums in &lag1.orders {
                let (ours, expected) = (sums.autocorrelation(0.0).unwrap(), plainly(&values));
                assert!((ours - expected).abs() < 1e-9, "m = {m}: {ours} and {expected}");
                values = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
            }
        }
    }
}
