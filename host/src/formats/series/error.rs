//! Why a file gives no series.

use thiserror::Error;

use super::kind::Kind;
use super::trouble::Class;
use crate::series::LeftOut;

/// Why a file gives no series.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SeriesError {
    /// A line is wrong.
    #[error("line {line}, column {column}: {what} (--lenient leaves such lines out and counts them)")]
    Line {
        /// From 1.
        line: u64,
        /// In bytes, from 1.
        column: usize,
        /// The kind of trouble.
        class: Class,
        /// What is wrong.
        what: String,
    },
    /// A reading is missing at an unknown place.
    #[error(
        "line {line}, column {column}: {what}, and without time tags nobody can say how much is missing: \
         give a file with time tags, or cut it there"
    )]
    Hole {
        /// From 1.
        line: u64,
        /// In bytes, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// There is nothing to read.
    #[error("no reading in {lines} lines, read as {kind} ({evidence}); --format says what it is")]
    Empty {
        /// How many lines there are.
        lines: u64,
        /// What it was taken for.
        kind: Kind,
        /// Why.
        evidence: String,
    },
    /// One reading is no series.
    #[error("one reading only, in line {line}: a series has at least two")]
    One {
        /// From 1.
        line: u64,
    },
    /// More points than are held.
    #[error(
        "more than {most} points, at line {line}: split the file, or take every tenth line and give --tau0 ten times as large"
    )]
    TooMany {
        /// The most.
        most: usize,
        /// From 1.
        line: u64,
    },
    /// Several clocks in one file.
    #[error("it holds several sources: {}; choose one with --channel", told(.sources))]
    Several {
        /// Their names, and how many readings each has.
        sources: Vec<(String, u64)>,
    },
    /// The one that was asked for is not there.
    #[error("it has no channel {wanted}; there are: {}", told(.sources))]
    NoSuchSource {
        /// What was asked for.
        wanted: String,
        /// Their names, and how many readings each has.
        sources: Vec<(String, u64)>,
    },
    /// Seconds or days.
    #[error(
        "its time tags may be seconds or modified Julian days: say which with --tags seconds or --tags days"
    )]
    AmbiguousTags,
    /// tau0 cannot be told from the tags.
    #[error(
        "its time tags are too coarse to tell the distance of two points: they count {digit_s} s, and lie {tau0_s} s or a \
         little more apart; give --tau0"
    )]
    CoarseTags {
        /// The commonest distance.
        tau0_s: String,
        /// One of the last digit.
        digit_s: String,
    },
    /// The kind of file has no frequencies.
    #[error("{kind} holds no frequencies: leave --type frequency out")]
    NoFrequency {
        /// What it is.
        kind: Kind,
    },
    /// The unit of its values is fixed.
    #[error("the unit of {kind} is known: leave --unit out")]
    UnitIsKnown {
        /// What it is.
        kind: Kind,
    },
    /// More lines are wrong than right.
    #[error(
        "{left_out}, and only {points} readings: it is hardly {kind} ({evidence}); --format says what it is"
    )]
    MostlyWrong {
        /// What was left out.
        left_out: LeftOut,
        /// What is left.
        points: u64,
        /// What it was taken for.
        kind: Kind,
        /// Why.
        evidence: String,
    },
    /// Frequencies with gaps do not add up to a phase.
    #[error(
        "{missing} frequencies are missing, the first before line {line}: the phase across a gap is unknown; \
         give phase, or a stretch without gaps"
    )]
    FrequencyGap {
        /// How many.
        missing: u64,
        /// From 1.
        line: u64,
    },
}

fn told(sources: &[(String, u64)]) -> String {
    let named = sources.iter().map(|(name, count)| match &name[..] {
        "" => format!("one without a name ({count} readings)"),
        name => format!("{name} ({count} readings)"),
    });
    named.collect::<Vec<_>>().join(", ")
}
