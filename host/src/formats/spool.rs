//! The binary spool of samples, pairs.spool: pairs of counter readings that are read at the speed of memory.
//!
//! results/README.md has every byte. A header, then blocks of at most [`MOST_RECORDS`] pairs of one session, then an end
//! mark with the number of all pairs. All integers are little-endian. Each block says whose its pairs are and which number
//! the first one has, and has two CRCs, so that a file that was cut or damaged anywhere is known for one. A record is 16
//! bytes, the two readings.

mod layout;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use thiserror::Error;

pub use self::layout::{Header, MAGIC, MOST_NAME, MOST_RECORDS};
pub use self::reader::Spool;
pub use self::writer::{SpoolWriter, WriteError};
use crate::samples::{SampleFault, SampleKey};

/// Why a spool is refused. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpoolError {
    /// another kind of file, or cut within the header
    #[error("it does not begin as a spool of ppsrig does, or ends within the header")]
    NotASpool,
    /// a later version
    #[error(
        "it is a spool of version {version}, record layout {record}; this ppsrig reads version 1, layout 1"
    )]
    Version {
        /// The version that it states.
        version: u16,
        /// Its record layout.
        record: u16,
    },
    /// a damaged header
    #[error("its header is damaged")]
    Header,
    /// a block
    #[error("block {block}, byte {byte}: {fault}")]
    Block {
        /// Counts from 1.
        block: u64,
        /// Where it begins in the file, from 0.
        byte: u64,
        /// What is wrong with it.
        fault: BlockFault,
    },
}

/// What is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BlockFault {
    /// no block
    #[error("no block begins here: the file is damaged, and nothing after this can be found")]
    Header,
    /// damaged pairs
    #[error("its pairs are not those that were written; leave it out with --lenient")]
    Payload,
    /// cut
    #[error("the file ends after {have} of its {need} bytes; --lenient reads what stands before")]
    Torn {
        /// What is there.
        have: u64,
        /// What it should have.
        need: u64,
    },
    /// cut between blocks
    #[error("the file ends here without its end mark; --lenient reads what stands before")]
    NoEnd,
    /// missing pairs
    #[error("its first pair is number {found} of {key}, number {expected} was to follow; --lenient goes on")]
    Gap {
        /// The session.
        key: SampleKey,
        /// The next number.
        expected: u64,
        /// The number that it states.
        found: u64,
    },
    /// an end mark that counts otherwise
    #[error("the end mark counts {said} pairs, the blocks before it hold {held}; --lenient goes on")]
    Total {
        /// What it says.
        said: u64,
        /// What was read.
        held: u64,
    },
    /// something behind the end
    #[error("something follows the end mark")]
    Behind,
    /// pairs that cannot be taken
    #[error("{0}")]
    Samples(SampleFault),
}

impl BlockFault {
    /// In short, as it is counted with.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Header => "no block",
            Self::Payload => "damaged",
            Self::Torn { .. } => "torn",
            Self::NoEnd => "without end mark",
            Self::Gap { .. } => "after a gap",
            Self::Total { .. } => "end mark that counts otherwise",
            Self::Behind => "behind the end",
            Self::Samples(_) => "not taken",
        }
    }
}
