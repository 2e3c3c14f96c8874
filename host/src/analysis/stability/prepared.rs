//! A phase series that was looked at once: what is missing, whether it can be computed with, and the sums that several
//! deviations need.
//!
//! It borrows the series. Whole picoseconds are subtracted as integers, so they stay exact whatever their offset.

use std::borrow::Cow;
use std::ops::Range;

use super::StabilityError;
use crate::series::{MISSING_PS, Phase, Series};

/// Seconds in a picosecond.
const PICOSECOND: f64 = 1e-12;

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
        let present = match view {
            View::Seconds(values) => runs(values, |value| !value.is_nan()),
            View::Picoseconds(values) => runs(values, |value| *value != MISSING_PS),
        };
        Ok(Self { view, tau0_s: series.tau0_s, present })
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
