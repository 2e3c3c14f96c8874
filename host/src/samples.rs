//! Pairs of counter readings on their way from a file to a histogram: plain data, which readers fill and analysis takes.
//!
//! The readers of `formats` hand what they read to a [`SampleSink`], pair by pair, so that a file of any size is read in
//! bounded memory. `analysis::samples` has the sink that makes exact histograms of it.

use std::fmt;

use thiserror::Error;

/// Which session a sample belongs to. Where a file does not say, the session is 1 and the names are empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleKey {
    /// Counts the variant's sessions from 1.
    pub session: u32,
    /// The build, as samples.csv names it: `inline`, `inline:overhead`.
    pub variant: String,
    /// The clock that was asked for.
    pub clock_id: String,
}

impl Default for SampleKey {
    fn default() -> Self {
        Self { session: 1, variant: String::new(), clock_id: String::new() }
    }
}

impl fmt::Display for SampleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in [&self.variant, &self.clock_id] {
            if !name.is_empty() {
                write!(f, "{name} ")?;
            }
        }
        write!(f, "session {}", self.session)
    }
}

/// Where the samples of a file go.
pub trait SampleSink {
    /// What follows is of this session.
    ///
    /// # Errors
    /// [`SampleFault`], if it cannot be taken.
    fn session(&mut self, key: &SampleKey) -> Result<(), SampleFault>;

    /// One pair: the counter at the caller's read, and inside the snapshot function.
    fn pair(&mut self, pre: u64, snapshot: u64);

    /// Pairs as they lie in a spool: both readings one after the other, little-endian, 16 bytes a pair.
    fn records(&mut self, records: &[u8]) {
        for record in records.as_chunks::<16>().0 {
            let [pre, snapshot] = split(record);
            self.pair(pre, snapshot);
        }
    }

    /// So many pairs of a batch with this difference, where a file holds histograms.
    fn counted(&mut self, batch: u16, ticks: u32, count: u64);

    /// Whether everything so far could be taken. Readers ask after each piece that they were given.
    ///
    /// # Errors
    /// [`SampleFault`].
    fn health(&self) -> Result<(), SampleFault>;
}

/// The two readings of a spooled pair.
#[must_use]
#[inline]
pub const fn split(record: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*record);
    [both as u64, (both >> 64) as u64]
}

/// Why samples cannot be taken, although each of them is well formed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SampleFault {
    /// a session in two pieces
    #[error(
        "{0} goes on after another one began; its pairs must stand together, in the order in which they were taken"
    )]
    Resumed(SampleKey),
    /// too many sessions
    #[error("there are more than {most} sessions; is `session` another kind of number here?")]
    Sessions {
        /// How many can be held.
        most: usize,
    },
    /// a batch number
    #[error("{key} has a batch {batch}; batches are counted from 0, below {most}")]
    Batch {
        /// The session.
        key: SampleKey,
        /// The batch.
        batch: u16,
        /// Numbers below this one.
        most: u16,
    },
    /// no latencies
    #[error(
        "{key} has too many different differences of the two counters for a histogram; are both columns of one counter?"
    )]
    Spread {
        /// The session.
        key: SampleKey,
    },
}

/// What was left out of a damaged file, by class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// What is counted: `line` or `block`.
    pub unit: &'static str,
    /// The classes in the order in which they were met.
    pub classes: Vec<ClassCount>,
}

/// How often one thing was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// What was wrong.
    pub class: &'static str,
    /// How often.
    pub count: u64,
    /// Where first: lines and blocks count from 1.
    pub first: u64,
}

impl LeftOut {
    /// Of nothing yet.
    #[must_use]
    pub const fn of(unit: &'static str) -> Self {
        Self { unit, classes: Vec::new() }
    }

    /// Counts one more.
    pub fn add(&mut self, class: &'static str, at: u64) {
        match self.classes.iter_mut().find(|known| known.class == class) {
            Some(known) => known.count += 1,
            None => self.classes.push(ClassCount { class, count: 1, first: at }),
        }
    }

    /// How many in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, unit) = (self.total(), self.unit);
        write!(f, "{total} {unit}{} left out:", if total == 1 { "" } else { "s" })?;
        for (index, ClassCount { class, count, first }) in self.classes.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {count} {class} (first: {unit} {first})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_by_class_with_its_first_place() {
        let mut left_out = LeftOut::of("line");
        left_out.add("blank", 17);
        left_out.add("torn", 99);
        left_out.add("blank", 18);
        assert_eq!(
            left_out.to_string(),
            "3 lines left out: 2 blank (first: line 17), 1 torn (first: line 99)"
        );
    }

    #[test]
    fn a_session_is_named_by_what_is_known_of_it() {
        let key = SampleKey { session: 3, variant: "inline".to_owned(), clock_id: "realtime".to_owned() };
        assert_eq!(key.to_string(), "inline realtime session 3");
        assert_eq!(SampleKey::default().to_string(), "session 1");
    }
}

/// A sink that keeps what it is told, for tests of readers.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// What a sink was told.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) enum Told {
        Session(SampleKey),
        Pair(u64, u64),
        Counted(u16, u32, u64),
    }

    /// Keeps everything.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Kept(pub(crate) Vec<Told>);

    impl Kept {
        pub(crate) fn pairs(&self) -> Vec<(u64, u64)> {
            let pair = |told: &Told| match told {
                Told::Pair(pre, snapshot) => Some((*pre, *snapshot)),
                _ => None,
            };
            self.0.iter().filter_map(pair).collect()
        }
    }

    impl SampleSink for Kept {
        fn session(&mut self, key: &SampleKey) -> Result<(), SampleFault> {
            self.0.push(Told::Session(key.clone()));
            Ok(())
        }

        fn pair(&mut self, pre: u64, snapshot: u64) {
            self.0.push(Told::Pair(pre, snapshot));
        }

        fn counted(&mut self, batch: u16, ticks: u32, count: u64) {
            self.0.push(Told::Counted(batch, ticks, count));
        }

        fn health(&self) -> Result<(), SampleFault> {
            Ok(())
        }
    }

    /// Cuts bytes into pieces, of these lengths in turn.
    pub(crate) fn pieces<'a>(bytes: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = bytes;
        let mut lengths = lengths.iter().cycle();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (piece, left) = rest.split_at((*lengths.next()?).clamp(1, rest.len()));
            rest = left;
            Some(piece)
        })
    }
}
