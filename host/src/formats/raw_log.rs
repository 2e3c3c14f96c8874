//! The raw recording of one instrument: every byte that was exchanged with it, with host times.
//!
//! Text, one record a line: `<host ns> <rx|tx|did> <payload>`. The payload is the bytes themselves where they are
//! printable ASCII; everything else, the backslash and a space at the end are escaped: `\xNN`, `\\`, `\r`, `\n`.
//! First line: `# ppsrig raw 1 <instrument>`. Records are appended and flushed one by one, so that what a killed run
//! leaves behind is whole but for its last line.

use std::io::{self, Write};

use thiserror::Error;

use crate::units::HostNanos;

/// Version of the layout, in the first line of every file.
const VERSION: &str = "1";
const MAGIC: &str = "# ppsrig raw ";

/// Which way the bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the instrument to the host. The time is that of their arrival.
    Rx,
    /// From the host to the instrument.
    Tx,
    /// What the rig itself did: one JSON object.
    Did,
}

impl Direction {
    const ALL: [Self; 3] = [Self::Rx, Self::Tx, Self::Did];

    const fn name(self) -> &'static str {
        match self {
            Self::Rx => "rx",
            Self::Tx => "tx",
            Self::Did => "did",
        }
    }
}

/// One line of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Host time.
    pub at: HostNanos,
    /// Which way the bytes went.
    pub direction: Direction,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// A recording that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawLog {
    /// Its records, in the order in which they were written.
    pub records: Vec<RawRecord>,
    /// Bytes of a last line that was not finished; 0 in a recording that ended in order.
    pub torn_tail_bytes: usize,
}

impl RawLog {
    /// The same, if every record has one of these directions.
    ///
    /// # Errors
    /// [`RawLogError::Line`] for the first one that has not.
    pub fn all_directions(self, allowed: &[Direction]) -> Result<Self, RawLogError> {
        match self.records.iter().position(|record| !allowed.contains(&record.direction)) {
            Some(index) => Err(RawLogError::Line { line: index + 2, fault: LineFault::OtherDirection }),
            None => Ok(self),
        }
    }
}

/// Why a file is not a recording. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RawLogError {
    /// line 1 is something else
    #[error("line 1 is not `# ppsrig raw 1 {expected}`: this is no recording of that instrument")]
    NotARecording {
        /// The instrument that was asked for.
        expected: String,
    },
    /// another layout
    #[error(
        "line 1 says layout version `{found}`, this ppsrig reads version 1; use the ppsrig that recorded it"
    )]
    OtherVersion {
        /// The version that the file states.
        found: String,
    },
    /// a line that is no record
    #[error("line {line}: {fault}; the recording was damaged after it was written")]
    Line {
        /// Counts from 1.
        line: usize,
        /// What is wrong with it.
        fault: LineFault,
    },
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineFault {
    /// no host time
    #[error("it does not begin with a host time in nanoseconds")]
    Time,
    /// unknown direction
    #[error("its second word is none of rx, tx, did")]
    Direction,
    /// a direction of another kind of recording
    #[error("its second word does not belong into this recording")]
    OtherDirection,
    /// unknown escape
    #[error("it holds a backslash that begins none of \\xNN, \\\\, \\r, \\n")]
    Escape,
    /// control byte
    #[error("it holds a byte that should have been escaped")]
    Unescaped,
}

/// Writes one instrument's recording.
#[derive(Debug)]
pub struct RawWriter<W: Write> {
    out: W,
    line: Vec<u8>,
    /// After a failed write the file may end in half a line, and a line behind it would be misread.
    failed: bool,
}

impl<W: Write> RawWriter<W> {
    /// Begins the recording: writes its first line.
    ///
    /// # Errors
    /// What the writer answers.
    pub fn new(mut out: W, instrument: &str) -> io::Result<Self> {
        out.write_all(header(instrument).as_bytes())?;
        out.flush()?;
        Ok(Self { out, line: Vec::new(), failed: false })
    }

    /// Appends one record, in one write, and flushes it.
    ///
    /// # Errors
    /// What the writer answers. After an error nothing more is written, and every further call fails.
    pub fn record(&mut self, at: HostNanos, direction: Direction, payload: &[u8]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("the recording was given up after a failed write"));
        }
        self.line.clear();
        append_record(&mut self.line, at, direction, payload);
        let result = self.out.write_all(&self.line).and_then(|()| self.out.flush());
        self.failed = result.is_err();
        result
    }
}

/// The first line of a recording, its line end included.
#[must_use]
pub fn header(instrument: &str) -> String {
    format!("{MAGIC}{VERSION} {instrument}\n")
}

/// Appends one line to `out`.
pub fn append_record(out: &mut Vec<u8>, at: HostNanos, direction: Direction, payload: &[u8]) {
    out.extend_from_slice(at.0.to_string().as_bytes());
    out.push(b' ');
    out.extend_from_slice(direction.name().as_bytes());
    if !payload.is_empty() {
        out.push(b' ');
    }
    for (index, &byte) in payload.iter().enumerate() {
        let last = index + 1 == payload.len();
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b' ' if last => out.extend_from_slice(b"\\x20"),
            b' '..=b'~' => out.push(byte),
            _ => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
        }
    }
    out.push(b'\n');
}

/// Reads a whole recording of `instrument`. A last line without its line end is left out and counted: a killed run
/// leaves one, or an empty file.
///
/// # Errors
/// [`RawLogError`] for any other line that is no record, and for a file that is no recording of this instrument.
pub fn parse(bytes: &[u8], instrument: &str) -> Result<RawLog, RawLogError> {
    let first = header(instrument);
    let Some(body) = bytes.strip_prefix(first.as_bytes()) else {
        return if first.as_bytes().starts_with(bytes) {
            Ok(RawLog { records: Vec::new(), torn_tail_bytes: bytes.len() })
        } else {
            Err(foreign_first_line(bytes, instrument))
        };
    };
    let mut log = RawLog::default();
    for (index, line) in body.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else {
            log.torn_tail_bytes = line.len();
            break;
        };
        let record = parse_line(line).map_err(|fault| RawLogError::Line { line: index + 2, fault })?;
        log.records.push(record);
    }
    Ok(log)
}

fn foreign_first_line(bytes: &[u8], instrument: &str) -> RawLogError {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let rest = line.strip_prefix(MAGIC.as_bytes()).and_then(|rest| std::str::from_utf8(rest).ok());
    match rest.and_then(|rest| rest.split(' ').next()) {
        Some(version) if version != VERSION && version.bytes().all(|byte| byte.is_ascii_digit()) => {
            RawLogError::OtherVersion { found: version.to_owned() }
        }
        _ => RawLogError::NotARecording { expected: instrument.to_owned() },
    }
}

fn parse_line(line: &[u8]) -> Result<RawRecord, LineFault> {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let at = words.next().and_then(host_time).ok_or(LineFault::Time)?;
    let name = words.next().ok_or(LineFault::Direction)?;
    let direction = Direction::ALL
        .into_iter()
        .find(|direction| direction.name().as_bytes() == name)
        .ok_or(LineFault::Direction)?;
    let payload = unescape(words.next().unwrap_or_default())?;
    Ok(RawRecord { at, direction, payload })
}

fn host_time(word: &[u8]) -> Option<HostNanos> {
    // `parse` alone would take a leading plus sign, which no writer of ours writes.
    word.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(word).ok()?.parse().ok().map(HostNanos)
}

fn unescape(text: &[u8]) -> Result<Vec<u8>, LineFault> {
    let mut payload = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'\\' => {
                let (byte, behind) = unescape_one(rest).ok_or(LineFault::Escape)?;
                payload.push(byte);
                rest = behind;
            }
            b' '..=b'~' => payload.push(byte),
            _ => return Err(LineFault::Unescaped),
        }
    }
    Ok(payload)
}

/// The byte that the text behind a backslash stands for, and what follows it.
fn unescape_one(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&kind, rest) = text.split_first()?;
    match kind {
        b'\\' => Some((b'\\', rest)),
        b'r' => Some((b'\r', rest)),
        b'n' => Some((b'\n', rest)),
        b'x' => {
            let (digits, rest) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let byte = u8::from_str_radix(digits, 16).ok().filter(|_| all_hex)?;
            Some((byte, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
