//! Samples as CSV: pairs.csv and samples.csv of a run bundle, and any table whose header names the same columns.
//!
//! Columns are found by name and may stand in any order among others, which are passed over. `counter_pre` and
//! `counter_snapshot` (or `counter_snap`) make a table of pairs; `batch`, `ticks` and `count` one of histograms;
//! `session`, `variant` and `clock_id` say whose they are. Comma; LF or CR LF; fields may stand in double quotes; whole
//! numbers are digits only. Every line must end in a line end, since a number at a torn end may have lost digits.
//!
//! Almost all lines are read by `fast`, eight digits at a time; whatever it does not know is read once more by `line`,
//! which alone decides what a line means and what is wrong with it.

mod fast;
mod header;
mod line;
#[cfg(test)]
mod tests;

use std::fmt;

use thiserror::Error;

use self::header::Layout;
use self::line::Row;
use crate::samples::{LeftOut, SampleFault, SampleKey, SampleSink};

/// The longest line. A longer one is another kind of file.
pub const MOST_LINE: usize = 64 * 1024;

/// Why a file of samples is refused. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SamplesCsvError {
    /// nothing in it
    #[error("the file is empty; its first line must name the columns counter_pre and counter_snapshot")]
    Empty,
    /// columns that are not ours
    #[error("line 1: {0}")]
    Header(String),
    /// a line that is no sample
    #[error("{0}")]
    Line(LineFault),
    /// samples that cannot be taken
    #[error("line {line}: {fault}")]
    Samples {
        /// Counts from 1: the line, or the last one that was read.
        line: u64,
        /// Why not.
        fault: SampleFault,
    },
}

/// What is wrong with a line, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFault {
    /// Counts from 1, the header included.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: usize,
    /// The column's name, where one is concerned.
    pub name: &'static str,
    /// What is wrong.
    pub class: Class,
    /// What stands there, cut short.
    pub shown: String,
}

/// What can be wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing in it.
    Blank,
    /// The file ends within it.
    Torn,
    /// Not digits only.
    NotANumber,
    /// More than the column can hold.
    TooLarge,
    /// Fewer fields than the header.
    Missing,
    /// More fields than the header.
    Extra,
    /// A double quote that is not closed, or stands within a field.
    Quote,
    /// A name that is no text, or too long.
    Name,
    /// Longer than [`MOST_LINE`].
    TooLong,
}

impl Class {
    /// In short, as it is counted with.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::Torn => "torn",
            Self::NotANumber => "not a number",
            Self::TooLarge => "number too large",
            Self::Missing => "field missing",
            Self::Extra => "field too many",
            Self::Quote => "quote not closed",
            Self::Name => "name no text",
            Self::TooLong => "line too long",
        }
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, name, class, shown } = self;
        write!(f, "line {line}, column {column}: ")?;
        match class {
            Class::Blank => f.write_str("the line is blank"),
            Class::Torn => write!(f, "the file ends within the line `{shown}`: it may have lost digits"),
            Class::NotANumber => write!(f, "{name} is `{shown}`, which is no whole number"),
            Class::TooLarge => write!(f, "{name} is `{shown}`, which is too large"),
            Class::Missing => write!(f, "the line ends before {name}"),
            Class::Extra => write!(f, "`{shown}` is one field more than the header has"),
            Class::Quote => write!(f, "the quote of `{shown}` is not closed before the field ends"),
            Class::Name => write!(f, "{name} is no text of at most {} bytes", line::MOST_NAME),
            Class::TooLong => write!(f, "the line is longer than {MOST_LINE} bytes"),
        }
    }
}

/// Reads samples, piece by piece: however a file is cut, what comes out is the same.
#[derive(Debug)]
pub struct SamplesCsv {
    lenient: bool,
    layout: Option<Layout>,
    /// Lines before the next one.
    lines: u64,
    /// The begun line of the piece before.
    carry: Vec<u8>,
    /// Within a line that is too long already.
    skipping: bool,
    key: SampleKey,
    /// Whether the sink knows of `key`.
    keyed: bool,
    /// The leading names of the line before, with their commas: almost always those of the next one.
    prefix: Vec<u8>,
    /// Whether `prefix` is of the current session and free of quotes.
    prefixed: bool,
    left_out: LeftOut,
}

impl SamplesCsv {
    /// A reader at the start of a file. With `lenient`, lines with faults are left out and counted.
    #[must_use]
    pub fn new(lenient: bool) -> Self {
        Self {
            lenient,
            layout: None,
            lines: 0,
            carry: Vec::new(),
            skipping: false,
            key: SampleKey::default(),
            keyed: false,
            prefix: Vec::new(),
            prefixed: false,
            left_out: LeftOut::of("line"),
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// [`SamplesCsvError`]. Nothing more is to be pushed then.
    pub fn push<S: SampleSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), SamplesCsvError> {
        let mut rest = bytes;
        if self.skipping || !self.carry.is_empty() {
            let Some(end) = memchr::memchr(b'\n', rest) else { return self.carry_on(rest) };
            let (head, tail) = rest.split_at(end + 1);
            rest = tail;
            if self.skipping {
                self.skipping = false;
                self.lines += 1;
            } else {
                let mut line = std::mem::take(&mut self.carry);
                line.extend_from_slice(head);
                self.whole_lines(&line, sink)?;
                line.clear();
                self.carry = line;
            }
        }
        let whole = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        self.whole_lines(&rest[..whole], sink)?;
        self.carry_on(&rest[whole..])?;
        sink.health().map_err(|fault| SamplesCsvError::Samples { line: self.lines, fault })
    }

    /// The end of the file. Returns what was left out.
    ///
    /// # Errors
    /// [`SamplesCsvError`], also for a last line without line end.
    pub fn finish(mut self) -> Result<LeftOut, SamplesCsvError> {
        if self.layout.is_none() && self.carry.is_empty() && !self.skipping {
            return Err(SamplesCsvError::Empty);
        }
        if self.layout.is_none() {
            return Err(SamplesCsvError::Header("the file ends within it".to_owned()));
        }
        if !self.carry.is_empty() {
            let shown = line::shown(&self.carry);
            let fault = LineFault {
                line: self.lines + 1,
                column: self.carry.len() + 1,
                name: "",
                class: Class::Torn,
                shown,
            };
            self.fault(fault)?;
        }
        Ok(self.left_out)
    }

    /// Keeps the begin of a line.
    fn carry_on(&mut self, bytes: &[u8]) -> Result<(), SamplesCsvError> {
        if self.skipping {
            return Ok(());
        }
        if self.carry.len() + bytes.len() <= MOST_LINE {
            self.carry.extend_from_slice(bytes);
            return Ok(());
        }
        self.carry.clear();
        self.skipping = true;
        self.too_long(self.lines + 1)
    }

    fn too_long(&mut self, line: u64) -> Result<(), SamplesCsvError> {
        if self.layout.is_none() {
            return Err(SamplesCsvError::Header(format!("it is longer than {MOST_LINE} bytes")));
        }
        let (class, column) = (Class::TooLong, MOST_LINE + 1);
        self.fault(LineFault { line, column, name: "", class, shown: String::new() })
    }

    /// Strictly the end, leniently one more.
    fn fault(&mut self, fault: LineFault) -> Result<(), SamplesCsvError> {
        if !self.lenient {
            return Err(SamplesCsvError::Line(fault));
        }
        self.left_out.add(fault.class.name(), fault.line);
        Ok(())
    }

    /// Reads lines that all have their line ends.
    fn whole_lines<S: SampleSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), SamplesCsvError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some(layout) = self.layout.as_ref().filter(|layout| layout.fast && self.prefixed) {
                let (used, lines) = fast::lines(layout, &self.prefix, rest, sink);
                self.lines += lines;
                rest = &rest[used..];
            }
            let Some(end) = memchr::memchr(b'\n', rest) else { break };
            self.one_line(&rest[..end], sink)?;
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// Reads one line, without its LF.
    fn one_line<S: SampleSink>(&mut self, line: &[u8], sink: &mut S) -> Result<(), SamplesCsvError> {
        self.lines += 1;
        let Some(layout) = &self.layout else {
            self.layout = Some(Layout::of(line).map_err(SamplesCsvError::Header)?);
            return Ok(());
        };
        if line.len() > MOST_LINE {
            return self.too_long(self.lines);
        }
        let row = match line::row(layout, line) {
            Ok(row) => row,
            Err(fault) => return self.fault(fault.at(self.lines)),
        };
        if !self.keyed || row.key() != self.key {
            self.key = row.key();
            self.keyed = true;
            let at = |fault| SamplesCsvError::Samples { line: self.lines, fault };
            sink.session(&self.key).map_err(at)?;
        }
        self.prefix.clear();
        self.prefix.extend_from_slice(layout.leading(line));
        self.prefixed = !self.prefix.contains(&b'"');
        match row {
            Row::Pair { pre, snapshot, .. } => sink.pair(pre, snapshot),
            Row::Counted { batch, ticks, count, .. } => sink.counted(batch, ticks, count),
        }
        Ok(())
    }
}
