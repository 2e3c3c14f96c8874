//! The run bundle: the folder that keeps everything a run recorded and everything that follows from it.
//!
//! `results/README.md` describes every file and column. [`Bundle`] is the folder while it is being recorded, [`read`]
//! reads one back, [`write`] writes what was computed from it. A file is either whole or not there: all but raw/ are
//! written under another name and then renamed.

mod check;
mod read;
mod recorder;
mod samples;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::{Contents, ReadError, read};
pub(crate) use self::recorder::safe;
pub use self::recorder::{Bundle, BundleError, RawFile, RawFiles};
pub use self::samples::{SamplesError, SamplesRead, read_from, read_samples};
pub use self::write::write_file;

use crate::formats::raw_log::Direction;

/// Names in a bundle.
pub mod names {
    /// The plan, the bench and the conditions.
    pub const RUN: &str = "run.toml";
    /// The folder of the recordings.
    pub const RAW: &str = "raw";
    /// What the bring-up command wrote on stderr, as it came.
    pub const BRING_UP: &str = "bring-up.log";
}

/// The recordings in raw/, each with the instrument's name in its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instrument {
    /// The link to the board.
    Link,
    /// The generator.
    Generator,
    /// The reference.
    Reference,
    /// The interval counter.
    IntervalCounter,
    /// What the rig itself did.
    Rig,
}

impl Instrument {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Link, Self::Generator, Self::Reference, Self::IntervalCounter, Self::Rig];

    /// The name in the recording's first line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Generator => "generator",
            Self::Reference => "reference",
            Self::IntervalCounter => "interval-counter",
            Self::Rig => "rig",
        }
    }

    /// What its recording holds: bytes both ways, or what was done.
    const fn directions(self) -> &'static [Direction] {
        match self {
            Self::Rig => &[Direction::Did],
            Self::Link | Self::Generator | Self::Reference | Self::IntervalCounter => {
                &[Direction::Rx, Direction::Tx]
            }
        }
    }

    /// The name of its file in raw/.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("{}.log", self.name())
    }
}
