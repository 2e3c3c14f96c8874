//! Prefix sums of the phase, over which the modified Allan deviation is a third difference.
//!
//! They are integers that wrap: the third difference over m points is exact modulo 2^64, however large the sums grow, and
//! right where it fits i64 itself. Picoseconds are added as they are. Seconds are rounded to a unit chosen for the series:
//! as fine as its longest averaging time allows, and never finer than the phase beside its line is in f64.

use std::array;

use super::prepared::{Prepared, View};
use super::simd::{LANES, Machine, Point, Work};
use crate::series::MISSING_PS;

/// Values that are rounded before they are added up.
const CHUNK: usize = 512;

/// Prefix sums, one more than there are points; a missing point counts as any number.
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
                let finest = (longest as f64 * 2_f64.powi(-59)).max(2_f64.powi(-50));
                let unit_s = if farthest > 0.0 { farthest * finest } else { 1.0 };
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
    fn call<M: Machine>(self, machine: M) -> f64 {
        let mut farthest = 0.0;
        match self.view {
            View::Seconds(points) => {
                let (lanes, rest) = points.as_chunks::<LANES>();
                let nothing = machine.floats([0.0; LANES]);
                let mut most = nothing;
                let mut steps = Steps::new(machine, self.line);
                for values in lanes {
                    let off = steps.next(*values);
                    let off = machine.greater(off, machine.subtract(nothing, off));
                    most = machine.greater(off, most);
                }
                let start = points.len() - rest.len();
                let rest = rest.iter().enumerate().map(|(k, point)| self.line.off(start + k, *point).abs());
                farthest = machine
                    .to_array(most)
                    .into_iter()
                    .chain(rest)
                    .fold(farthest, |most, off| off.greater(most));
            }
            View::Picoseconds(points) => {
                let origin = points.get(self.line.first).copied().unwrap_or(0);
                for (index, point) in points.iter().enumerate().filter(|(_, point)| **point != MISSING_PS) {
                    let off = self.line.off(index, point.wrapping_sub(origin) as f64).abs();
                    farthest = off.greater(farthest);
                }
            }
        }
        farthest
    }
}

/// How far eight points after eight points are from a line.
struct Steps<M: Machine> {
    machine: M,
    origin: M::Floats,
    slope: M::Floats,
    index: M::Floats,
    eight: M::Floats,
}

impl<M: Machine> Steps<M> {
    #[inline(always)]
    fn new(machine: M, line: Line) -> Self {
        let index = array::from_fn(|lane| lane as f64 - line.first as f64);
        let every = |value| machine.floats([value; LANES]);
        let (origin, slope, eight) = (every(line.origin), every(line.slope), every(LANES as f64));
        Self { machine, origin, slope, index: machine.floats(index), eight }
    }

    /// As [`Line::off`].
    #[inline(always)]
    fn next(&mut self, values: [f64; LANES]) -> M::Floats {
        let machine = self.machine;
        let above = machine.subtract(machine.floats(values), self.origin);
        let off = machine.subtract(above, machine.multiply(self.slope, self.index));
        self.index = machine.add(self.index, self.eight);
        off
    }
}

/// Seconds, rounded to units and added up.
struct Round<'a> {
    points: &'a [f64],
    line: Line,
    per_unit: f64,
}

/// Added to a number below 2^51, it leaves the nearest whole one in the lowest bits.
const WHOLE: f64 = 3.0 * (1_u64 << 51) as f64;

impl Work for Round<'_> {
    type Output = Vec<i64>;

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.points.len() + 1);
        values.push(0);
        let mut sum = 0_i64;
        let mut steps = Steps::new(machine, self.line);
        let (per_unit, whole) = (machine.floats([self.per_unit; LANES]), machine.floats([WHOLE; LANES]));
        // A missing point, which is NaN, becomes some number: no term spans it.
        let mut units = |points: [f64; LANES]| {
            let units = machine.add(machine.multiply(steps.next(points), per_unit), whole);
            machine.to_integer_array(machine.subtract_integers(machine.bits(units), machine.bits(whole)))
        };
        let mut add = |unit: &i64| {
            sum = sum.wrapping_add(*unit);
            sum
        };
        for points in self.points.chunks(CHUNK) {
            let mut chunk = [0_i64; CHUNK];
            let (lanes, rest) = points.as_chunks::<LANES>();
            for (points, chunk) in lanes.iter().zip(chunk.as_chunks_mut::<LANES>().0) {
                *chunk = units(*points);
            }
            let mut last = [0.0; LANES];
            last[..rest.len()].copy_from_slice(rest);
            if !rest.is_empty() {
                chunk[lanes.len() * LANES..points.len()].copy_from_slice(&units(last)[..rest.len()]);
            }
            values.extend(chunk[..points.len()].iter().map(&mut add));
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
