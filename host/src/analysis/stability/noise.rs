//! Which power law of noise dominates at an averaging time: S_y(f) ~ f^alpha.
//!
//! With 30 points or more at that distance: the lag-1 autocorrelation (Riley & Greenhall, "Power law noise identification
//! using the lag 1 autocorrelation", EFTF 2004). The phase is decimated to one point per averaging time, a parabola is
//! taken off, and it is differenced d times until r1 / (1 + r1) falls below 1/4; then alpha = 2 - 2 (d + r1 / (1 + r1)),
//! rounded. With fewer: the ratio B1 of the standard to the Allan variance of the frequencies, and R(n) of the modified
//! to the Allan variance, which tells white from flicker phase noise (Howe, Beard, Greenhall, Vernotte & Riley 2000). With
//! less than five points nothing can be said.

use super::simd::Point;
use super::{Deviation, Prepared, View};

/// The lag-1 autocorrelation wants so many points.
const LAG1_LEAST: usize = 30;

/// The ratio of variances wants so many.
const RATIO_LEAST: usize = 5;

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
            View::Seconds(points) => Lag1::of(points, m, f64::is_nan),
            View::Picoseconds(points) => Lag1::of(points, m, |point| point == crate::series::MISSING_PS),
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
}

/// Sums over one series.
#[derive(Clone, Copy, Default)]
struct Sums {
    values: f64,
    pairs: f64,
    sum: f64,
    /// Sum over the first of each pair, and over the second.
    firsts: f64,
    seconds: f64,
    squares: f64,
    products: f64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, value: f64) {
        self.values += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    #[inline(always)]
    fn pair(&mut self, before: f64, value: f64) {
        self.pairs += 1.0;
        self.firsts += before;
        self.seconds += value;
        self.products += before * value;
    }

    /// The lag-1 autocorrelation; none where the values are all the same.
    fn autocorrelation(&self) -> Option<f64> {
        let mean = self.sum / self.values;
        let covariance = self.products - mean * (self.firsts + self.seconds) + self.pairs * mean * mean;
        let variance = self.squares - self.values * mean * mean;
        // With nothing missing this is the plain ratio of the sums, which has one product less than squares.
        let share = (self.values - 1.0) / self.values / self.pairs * self.values;
        (variance > 0.0 && self.pairs > 0.0).then(|| covariance / variance * share)
    }
}

impl Lag1 {
    /// Of every m-th point. None where no parabola can be laid through them.
    fn of<P: Point>(points: &[P], m: usize, missing: impl Fn(P) -> bool) -> Option<Self> {
        let origin = *points.iter().find(|point| !missing(**point))?;
        let decimated = points
            .iter()
            .step_by(m)
            .map(|point| if missing(*point) { f64::NAN } else { point.minus(origin).to_f64() });
        let parabola = Parabola::through(decimated.clone(), points.len().div_ceil(m))?;
        let mut orders = [Sums::default(); MOST + 1];
        let mut before = [0.0; MOST + 1];
        // How many values in a row are there.
        let mut run = 0;
        for (index, value) in decimated.enumerate() {
            if value.is_nan() {
                run = 0;
                continue;
            }
            run += 1;
            let mut value = value - parabola.at(index);
            for (order, sums) in orders.iter_mut().enumerate().take(run) {
                sums.add(value);
                if order + 1 < run {
                    sums.pair(before[order], value);
                }
                let difference = value - before[order];
                before[order] = value;
                value = difference;
            }
        }
        Some(Self { orders })
    }

    /// alpha, with at most `most` differences.
    fn alpha(&self, most: usize) -> Option<i32> {
        for (order, sums) in self.orders.iter().enumerate().take(most + 1) {
            let r1 = sums.autocorrelation()?;
            let delta = r1 / (1.0 + r1);
            if delta < 0.25 || order == most {
                return Some(2 - 2 * order as i32 - (2.0 * delta).round() as i32);
            }
        }
        None
    }
}

/// a + b t + c t^2, with t from -1 to 1 over the series.
struct Parabola {
    coefficients: [f64; 3],
    scale: f64,
}

impl Parabola {
    /// By least squares over what is there.
    fn through(values: impl Iterator<Item = f64>, count: usize) -> Option<Self> {
        let scale = 2.0 / (count - 1).max(1) as f64;
        let mut moments = [0.0; 5];
        let mut sums = [0.0; 3];
        for (index, value) in values.enumerate() {
            if value.is_nan() {
                continue;
            }
            let t = scale * index as f64 - 1.0;
            let square = t * t;
            moments[0] += 1.0;
            moments[1] += t;
            moments[2] += square;
            moments[3] += square * t;
            moments[4] += square * square;
            sums[0] += value;
            sums[1] += value * t;
            sums[2] += value * square;
        }
        let [s0, s1, s2, s3, s4] = moments;
        let coefficients = solve([[s0, s1, s2], [s1, s2, s3], [s2, s3, s4]], sums)?;
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
    if allan <= 0.0 {
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
