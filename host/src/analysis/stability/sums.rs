//! Prefix sums of the phase, over which the modified Allan deviation is a third difference.
//!
//! They are integers that wrap: the third difference over m points is exact modulo 2^64, however large the sums grow, and
//! right where it fits i64 itself. Picoseconds are added as they are. Seconds are rounded to a unit chosen for the series:
//! as fine as its longest averaging time allows, so 2^60 units or so of the phase beside its line, divided by its points.

use super::prepared::{Prepared, View};
use super::simd::{Machine, Work};
use crate::series::MISSING_PS;

/// Values that are rounded before they are added up.
const CHUNK: usize = 512;

/// Prefix sums, one more than there are points; missing points count as 0.
#[derive(Debug)]
pub(super) struct PrefixSums {
    /// The sums.
    pub(super) values: Vec<i64>,
    /// Seconds in a unit.
    pub(super) unit_s: f64,
    /// Whether values were rounded to the unit.
    pub(super) rounded: bool,
    /// The longest averaging factor at which third differences are known to fit.
    pub(super) longest: usize,
}

impl PrefixSums {
    /// Of a series.
    pub(super) fn new(phase: &Prepared<'_>) -> Self {
        let line = Line::through(phase);
        match phase.view() {
            View::Picoseconds(points) => {
                let mut sum = 0_i64;
                let mut values = Vec::with_capacity(points.len() + 1);
                values.push(0);
                values.extend(points.iter().map(|point| {
                    sum = sum.wrapping_add(if *point == MISSING_PS { 0 } else { *point });
                    sum
                }));
                // A second difference of means is at most four times the distance from the line.
                let longest = 2_f64.powi(60) / line.farthest(phase).max(1.0);
                Self { values, unit_s: 1e-12, rounded: false, longest: longest as usize }
            }
            View::Seconds(points) => {
                let longest = points.len() / 3 + 1;
                let farthest = line.farthest(phase);
                let unit_s = if farthest > 0.0 { farthest * longest as f64 * 2_f64.powi(-59) } else { 1.0 };
                let round = Round { points, line, per_unit: 1.0 / unit_s };
                let values = phase.instructions().run(round);
                Self { values, unit_s, rounded: true, longest }
            }
        }
    }
}

/// A straight line through the first and the last point; Allan deviations do not see it.
#[derive(Clone, Copy, Debug)]
struct Line {
    first: usize,
    origin: f64,
    slope: f64,
}

impl Line {
    /// Through the ends of a series, in its own unit: seconds, or picoseconds after the first point.
    fn through(phase: &Prepared<'_>) -> Self {
        let first = phase.present().first().map_or(0, |run| run.start);
        let last = phase.present().last().map_or(0, |run| run.end - 1);
        let steps = (last.max(first + 1) - first) as f64;
        match phase.view() {
            View::Seconds([]) | View::Picoseconds([]) => Self { first, origin: 0.0, slope: 0.0 },
            View::Seconds(points) => {
                Self { first, origin: points[first], slope: (points[last] - points[first]) / steps }
            }
            View::Picoseconds(points) => {
                Self { first, origin: 0.0, slope: points[last].wrapping_sub(points[first]) as f64 / steps }
            }
        }
    }

    /// How far a value is from it.
    #[inline(always)]
    fn off(self, index: usize, value: f64) -> f64 {
        (value - self.origin) - self.slope * (index as f64 - self.first as f64)
    }

    /// How far the farthest point is from it.
    fn farthest(self, phase: &Prepared<'_>) -> f64 {
        phase.instructions().run(Farthest { view: phase.view(), line: self })
    }
}

/// [`Line::farthest`].
struct Farthest<'a> {
    view: View<'a>,
    line: Line,
}

impl Work for Farthest<'_> {
    type Output = f64;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> f64 {
        let mut farthest = 0.0;
        match self.view {
            View::Seconds(points) => {
                for (index, point) in points.iter().enumerate() {
                    let off = self.line.off(index, *point).abs();
                    farthest = if off > farthest { off } else { farthest };
                }
            }
            View::Picoseconds(points) => {
                let origin = points.get(self.line.first).copied().unwrap_or(0);
                for (index, point) in points.iter().enumerate().filter(|(_, point)| **point != MISSING_PS) {
                    let off = self.line.off(index, point.wrapping_sub(origin) as f64).abs();
                    farthest = if off > farthest { off } else { farthest };
                }
            }
        }
        farthest
    }
}

/// Seconds, rounded to units and added up.
struct Round<'a> {
    points: &'a [f64],
    line: Line,
    per_unit: f64,
}

impl Work for Round<'_> {
    type Output = Vec<i64>;

    #[inline(always)]
    fn call<M: Machine>(self, _: M) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.points.len() + 1);
        values.push(0);
        let mut sum = 0_i64;
        let mut units = [0_i64; CHUNK];
        for (chunk, points) in self.points.chunks(CHUNK).enumerate() {
            for (lane, (unit, point)) in units.iter_mut().zip(points).enumerate() {
                let off = self.line.off(chunk * CHUNK + lane, *point) * self.per_unit;
                // A missing point, which is NaN, becomes 0.
                *unit = (off + 0.5_f64.copysign(off)) as i64;
            }
            values.extend(units[..points.len()].iter().map(|unit| {
                sum = sum.wrapping_add(*unit);
                sum
            }));
        }
        values
    }
}

/// The sum of squares of a range of terms of the modified deviation without prefix sums, in the unit of the points,
/// for what these cannot do, in a run of points that ends before `end`: in i128, or with a compensated sum. Slow, and right whatever the size of phase and drift.
pub(super) fn careful_sum_of_squares(
    view: View<'_>,
    starts: std::ops::Range<usize>,
    m: usize,
    end: usize,
) -> f64 {
    match view {
        View::Picoseconds(points) => {
            let second = |i: usize| {
                i128::from(points[i + 2 * m]) - 2 * i128::from(points[i + m]) + i128::from(points[i])
            };
            let mut sum: i128 = (starts.start..starts.start + m).map(second).sum();
            let mut squares = 0.0;
            for i in starts {
                squares += (sum as f64) * (sum as f64);
                if i + 3 * m < end {
                    sum += second(i + m) - second(i);
                }
            }
            squares
        }
        View::Seconds(points) => {
            let second = |i: usize| {
                let near = points[i + m] - points[i];
                (points[i + 2 * m] - points[i]) - (near + near)
            };
            let mut sum = Compensated::default();
            (starts.start..starts.start + m).for_each(|i| sum.add(second(i)));
            let mut squares = 0.0;
            for i in starts {
                squares += sum.value() * sum.value();
                if i + 3 * m < end {
                    sum.add(second(i + m));
                    sum.add(-second(i));
                }
            }
            squares
        }
    }
}

/// Neumaier's sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    /// Adds a value, and keeps what its rounding loses.
    pub(crate) fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    /// The sum.
    pub(crate) fn value(self) -> f64 {
        self.sum + self.lost
    }
}
