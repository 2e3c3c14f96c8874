//! A series of clock readings at equal distances: plain data, which readers fill and the stability analysis takes.
//!
//! Whole picoseconds stay whole: a series becomes f64 only if what was read has finer digits, or reaches further than i64.

mod input;

pub use self::input::{Input, LeftOut, Tau0From};

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

impl Series {
    /// The phase that fractional frequencies add up to: it starts at 0 and has a point more than there are frequencies.
    ///
    /// A frequency that is missing (NaN) leaves the phase after it unknown by a constant, so all points from there on count as
    /// missing; give phase where there are gaps.
    #[must_use]
    pub fn from_frequency(frequencies: &[f64], tau0_s: f64) -> Self {
        let mut sum = 0.0;
        let mut lost = 0.0;
        let mut phase = Vec::with_capacity(frequencies.len() + 1);
        phase.push(0.0);
        for frequency in frequencies {
            // Neumaier's compensated sum: a year of frequencies adds up without drifting.
            let next: f64 = sum + frequency;
            lost += if f64::abs(sum) >= frequency.abs() {
                (sum - next) + frequency
            } else {
                (frequency - next) + sum
            };
            sum = next;
            phase.push((sum + lost) * tau0_s);
        }
        let missing = phase.iter().filter(|value| value.is_nan()).count();
        Self { phase: Phase::Seconds(phase), tau0_s, missing }
    }
}
