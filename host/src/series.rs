//! A series of clock readings at equal distances: plain data, which readers fill and the stability analysis takes.
//!
//! Whole picoseconds stay whole: a series becomes f64 only if what was read has finer digits, or reaches further than i64.

/// Stands for a reading that is not there, in [`Phase::Picoseconds`]; in [`Phase::Seconds`] NaN does.
pub const MISSING_PS: i64 = i64::MIN;

/// The phase (time error) of a clock, one value every `tau0`.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Seconds; NaN where a reading is missing.
    Seconds(Vec<f64>),
    /// Whole picoseconds; [`MISSING_PS`] where a reading is missing.
    Picoseconds(Vec<i64>),
}

impl Phase {
    /// How many points, missing ones included.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Seconds(values) => values.len(),
            Self::Picoseconds(values) => values.len(),
        }
    }

    /// Whether there is no point.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A phase series on an even grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The points.
    pub phase: Phase,
    /// Distance of two points, in seconds.
    pub tau0_s: f64,
    /// How many points are missing. Only a reader that has time tags can know, so without them it is 0.
    pub missing: usize,
}
