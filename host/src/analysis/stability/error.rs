//! Why a series cannot be analysed.

use thiserror::Error;

use super::LeftOut;

/// Why a series cannot be analysed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StabilityError {
    /// Too short for what was asked.
    #[error("{deviation} needs at least {needed} phase points, and there are {points}")]
    TooFew {
        /// What was asked for.
        deviation: &'static str,
        /// The fewest points that give one term at the shortest averaging time.
        needed: usize,
        /// The points that are there.
        points: usize,
    },
    /// Nothing of what was asked for can be said.
    #[error("{}", told(.left_out))]
    Nothing {
        /// What was asked for, and why not.
        left_out: Vec<LeftOut>,
    },
    /// tau0 is not a positive, finite number.
    #[error("the distance of two points must be a positive number of seconds, not {tau0_s}")]
    Tau0 {
        /// What was given.
        tau0_s: f64,
    },
    /// A phase is infinite, or so large that its square is.
    #[error("point {index} is {value:e} s, beyond the +-1e140 s that can be squared: check the unit")]
    TooLarge {
        /// Which point, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// All phases are so small that their squares vanish.
    #[error("the largest phase is {largest:e} s, below the 1e-130 s that can be squared: check the unit")]
    TooSmall {
        /// The largest of all.
        largest: f64,
    },
    /// Whole picoseconds span more than can be subtracted in 64 bits.
    #[error(
        "the phase spans {span_s:e} s, more than the 2.3e6 s that whole picoseconds can: give it in seconds"
    )]
    TooWide {
        /// From the least to the largest, in seconds.
        span_s: f64,
    },
    /// The confidence is not a probability.
    #[error("a confidence lies between 0 and 1, not at {confidence}")]
    Confidence {
        /// What was given.
        confidence: f64,
    },
}

/// "oadev, mdev: it needs ...; totdev: it is not ...".
fn told(left_out: &[LeftOut]) -> String {
    let mut told = String::new();
    for (index, one) in left_out.iter().enumerate() {
        let same = left_out.get(index + 1).is_some_and(|next| next.reason == one.reason);
        told += one.deviation.name();
        match (same, index + 1 == left_out.len()) {
            (true, _) => told += ", ",
            (false, false) => told += &format!(": {}; ", one.reason),
            (false, true) => told += &format!(": {}", one.reason),
        }
    }
    told
}
