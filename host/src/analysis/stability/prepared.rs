//! A phase series that was looked at once: what is missing, whether it can be computed with, and the sums that several
//! deviations need.
//!
//! It borrows the series. Whole picoseconds are subtracted as integers, so they stay exact whatever their offset.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use super::StabilityError;
use super::simd::{Instructions, LANES, Machine, Point, Work};
use super::sums::PrefixSums;
use crate::series::{MISSING_PS, Phase, Series};

/// Seconds in a picosecond.
const PICOSECOND: f64 = 1e-12;
/// The largest phase in seconds whose differences, and their sums, can be squared.
const LARGEST_S: f64 = 1e140;
/// The least phase in seconds, as the largest of a series, whose differences can be squared.
const SMALLEST_S: f64 = 1e-130;
/// The widest range in picoseconds whose third differences fit i64.
const WIDEST_PS: i64 = (1 << 61) - 1;

/// The points as they came.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Seconds; NaN where a point is missing.
    Seconds(&'a [f64]),
    /// Whole picoseconds; [`MISSING_PS`] where a point is missing.
    Picoseconds(&'a [i64]),
}

/// A phase series, ready for every deviation.
#[derive(Debug)]
pub struct Prepared<'a> {
    view: View<'a>,
    tau0_s: f64,
    /// Runs of points that are all there, in order.
    present: Vec<Range<usize>>,
    instructions: Instructions,
    sums: OnceLock<PrefixSums>,
}

impl<'a> Prepared<'a> {
    /// Looks at a series.
    ///
    /// # Errors
    /// If tau0 is not positive, or a phase cannot be computed with.
    pub fn new(series: &'a Series) -> Result<Self, StabilityError> {
        if !(series.tau0_s.is_finite() && series.tau0_s > 0.0) {
            return Err(StabilityError::Tau0 { tau0_s: series.tau0_s });
        }
        let view = match &series.phase {
            Phase::Seconds(values) => View::Seconds(values),
            Phase::Picoseconds(values) => View::Picoseconds(values),
        };
        let instructions = Instructions::best();
        let present = match view {
            View::Seconds(values) => seconds(values, instructions)?,
            View::Picoseconds(values) => picoseconds(values, instructions)?,
        };
        Ok(Self { view, tau0_s: series.tau0_s, present, instructions, sums: OnceLock::new() })
    }

    /// The same, to be computed with other instructions than the best. The answers are the same to the bit.
    #[must_use]
    pub fn with(self, instructions: Instructions) -> Self {
        Self { instructions, ..self }
    }

    /// The instructions that it is computed with.
    pub(super) const fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// The sums that the modified deviations are made of.
    pub(super) fn sums(&self) -> &PrefixSums {
        self.sums.get_or_init(|| PrefixSums::new(self))
    }

    /// Seconds in a unit of the points.
    pub(super) const fn unit_s(&self) -> f64 {
        match self.view {
            View::Seconds(_) => 1.0,
            View::Picoseconds(_) => PICOSECOND,
        }
    }

    /// How many points, missing ones included.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.view {
            View::Seconds(values) => values.len(),
            View::Picoseconds(values) => values.len(),
        }
    }

    /// Whether there is no point.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Distance of two points, in seconds.
    #[must_use]
    pub const fn tau0_s(&self) -> f64 {
        self.tau0_s
    }

    /// Whether a point is missing.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.present.iter().map(ExactSizeIterator::len).sum::<usize>() != self.len()
    }

    /// Runs of points that are all there, in order.
    #[must_use]
    pub fn present(&self) -> &[Range<usize>] {
        &self.present
    }

    /// The points as they came.
    #[must_use]
    pub const fn view(&self) -> View<'a> {
        self.view
    }

    /// A point in seconds after the first that is there; NaN where it is missing.
    ///
    /// # Panics
    /// Beyond the end.
    #[must_use]
    #[inline]
    pub fn at(&self, index: usize) -> f64 {
        let origin = self.present.first().map_or(0, |run| run.start);
        match self.view {
            View::Seconds(values) => values[index] - values[origin],
            View::Picoseconds(values) if values[index] == MISSING_PS => f64::NAN,
            View::Picoseconds(values) => values[index].wrapping_sub(values[origin]) as f64 * PICOSECOND,
        }
    }

    /// All points in seconds: as they came, or whole picoseconds after the first that is there. NaN where one is missing.
    #[must_use]
    pub fn seconds(&self) -> Cow<'a, [f64]> {
        match self.view {
            View::Seconds(values) => Cow::Borrowed(values),
            View::Picoseconds(_) => Cow::Owned((0..self.len()).map(|index| self.at(index)).collect()),
        }
    }
}

/// Runs of present points, if all can be computed with.
fn seconds(values: &[f64], instructions: Instructions) -> Result<Vec<Range<usize>>, StabilityError> {
    let Extent { largest, missing } = instructions.run(Look(values));
    if largest > LARGEST_S {
        let (index, value) = values
            .iter()
            .enumerate()
            .find(|(_, value)| value.abs() > LARGEST_S)
            .map_or((0, largest), |(index, value)| (index, *value));
        return Err(StabilityError::TooLarge { index, value });
    }
    if largest > 0.0 && largest < SMALLEST_S {
        return Err(StabilityError::TooSmall { largest });
    }
    Ok(if missing { runs(values, |value| !value.is_nan()) } else { whole(values.len()) })
}

/// Runs of present points, if all can be computed with.
fn picoseconds(values: &[i64], instructions: Instructions) -> Result<Vec<Range<usize>>, StabilityError> {
    let (least, greatest, missing) = instructions.run(Range64(values));
    if least <= greatest && greatest.checked_sub(least).is_none_or(|span| span > WIDEST_PS) {
        return Err(StabilityError::TooWide { span_s: (greatest as f64 - least as f64) * PICOSECOND });
    }
    Ok(if missing { runs(values, |value| *value != MISSING_PS) } else { whole(values.len()) })
}

/// The one run of a series that has all its points.
fn whole(len: usize) -> Vec<Range<usize>> {
    std::iter::once(0..len).filter(|run| !run.is_empty()).collect()
}

/// What a first look at seconds shows.
struct Extent {
    largest: f64,
    missing: bool,
}

/// The first look at seconds.
struct Look<'a>(&'a [f64]);

impl Work for Look<'_> {
    type Output = Extent;

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) -> Extent {
        let (lanes, rest) = self.0.as_chunks::<LANES>();
        let none = machine.floats([0.0; LANES]);
        let (mut greatest, mut least, mut nothing) = (none, none, none);
        for values in lanes {
            let values = machine.floats(*values);
            greatest = machine.greater(values, greatest);
            least = machine.less(values, least);
            // NaN stays NaN; anything else that is finite becomes 0, and is added without effect.
            nothing = machine.add(nothing, machine.subtract(values, values));
        }
        let mut extent = Extent { largest: 0.0, missing: false };
        let (greatest, least, nothing) =
            (machine.to_array(greatest), machine.to_array(least), machine.to_array(nothing));
        for value in greatest.iter().chain(&least).chain(rest) {
            extent.largest = value.abs().greater(extent.largest);
        }
        extent.missing = nothing.iter().chain(rest).any(|value| value.is_nan());
        extent
    }
}

/// Least and greatest of whole picoseconds, and whether one is missing.
struct Range64<'a>(&'a [i64]);

impl Work for Range64<'_> {
    type Output = (i64, i64, bool);

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) -> (i64, i64, bool) {
        let (lanes, rest) = self.0.as_chunks::<LANES>();
        let mut greatest = machine.integers([MISSING_PS; LANES]);
        let mut least = machine.integers([i64::MAX; LANES]);
        let one = machine.integers([1; LANES]);
        for values in lanes {
            let values = machine.integers(*values);
            greatest = machine.greater_integers(values, greatest);
            // One less, MISSING_PS is the greatest of all.
            least = machine.less_integers(machine.subtract_integers(values, one), least);
        }
        let least = machine.to_integer_array(least).map(|value| value.wrapping_add(1));
        let greatest = machine.to_integer_array(greatest);
        let missing = self.0.contains(&MISSING_PS);
        let rest = rest.iter().copied().filter(|value| *value != MISSING_PS);
        let least = least.into_iter().filter(|value| *value != MISSING_PS).chain(rest.clone()).min();
        (least.unwrap_or(i64::MAX), greatest.into_iter().chain(rest).max().unwrap_or(MISSING_PS), missing)
    }
}

/// Runs of what is there.
fn runs<T>(values: &[T], there: impl Fn(&T) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut index = 0;
    while index < values.len() {
        let start = index + values[index..].iter().take_while(|value| !there(value)).count();
        index = start + values[start..].iter().take_while(|value| there(value)).count();
        if index > start {
            runs.push(start..index);
        }
    }
    runs
}
