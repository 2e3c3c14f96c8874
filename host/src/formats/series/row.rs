//! What one line of a file says.

use super::decimal::Decimal;

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row<'a> {
    /// Which of several clocks or channels of a file; empty where there is but one.
    pub(super) source: Source<'a>,
    /// When, if the file says so.
    pub(super) tag: Option<Tag>,
    /// What was read; none where the time tag itself is the reading, as with pulses that are stamped.
    pub(super) value: Option<Decimal<'a>>,
    /// Where the value or the tag begins in its line.
    pub(super) at: usize,
}

/// Names a source: at most two parts of the line, as `1` and `irq`.
pub(super) type Source<'a> = (&'a [u8], &'a [u8]);

/// A time tag in picoseconds, on whatever scale the file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// Picoseconds.
    pub(super) at: i128,
    /// One of its last digit, in picoseconds.
    pub(super) resolution: i128,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// A reading.
    Row(Row<'a>),
    /// A comment, a heading, a banner.
    Nothing,
    /// Empty, or blanks only.
    Blank,
    /// A record of another kind than the one that is read, with its name.
    PassedOver(&'static str),
}

/// Seconds in what a tag counts.
pub(super) const SECOND: i128 = 1;
/// Seconds in a day of the modified Julian date.
pub(super) const DAY: i128 = 86_400;

/// A tag that is written as a decimal number of so many seconds.
pub(super) fn tag(written: &Decimal<'_>, per_unit: i128) -> Option<Tag> {
    let at = written.rounded_picoseconds(0, per_unit).filter(|at| at.abs() < i128::MAX / 1_000_000)?;
    let tens = u32::try_from(12 - written.decimals().clamp(0, 12)).unwrap_or(0);
    Some(Tag { at, resolution: i128::from(10_u64.pow(tens)) * per_unit })
}
