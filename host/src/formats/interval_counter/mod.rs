//! What an interval counter sends, from bytes with arrival times to events: timestamps, or intervals from A to B.
//!
//! Some only talk (`ticc`, `talk_only`); others answer what they are asked (`answers`), and then what was sent decides
//! what an answer means. Seconds become integer picoseconds everywhere.

mod answers;
mod talk_only;
mod ticc;
mod time_mark;

use answers::Dialect;

use crate::events::{IntervalEvent, Stamped};
use crate::names::IntervalCounterDriver;
use crate::units::HostNanos;

/// Decodes what goes to and comes from an interval counter.
#[derive(Debug)]
pub struct IntervalCounterDecoder(Kind);

#[derive(Debug)]
enum Kind {
    Ticc(ticc::TiccDecoder),
    TalkOnly(talk_only::TalkOnlyDecoder),
    Answers(answers::AnswersDecoder),
    TimeMark(time_mark::TimeMarkDecoder),
}

impl IntervalCounterDecoder {
    /// For an instrument. The letters are those that a TICC prints behind `ch` for channel A and channel B; `falling` is
    /// for one that stamps both transitions, and tells which of them counts.
    #[must_use]
    pub fn new(driver: IntervalCounterDriver, letters: [char; 2], falling: bool) -> Self {
        let answers = |dialect| Kind::Answers(answers::AnswersDecoder::new(dialect));
        Self(match driver {
            IntervalCounterDriver::Ticc => Kind::Ticc(ticc::TiccDecoder::new(letters)),
            IntervalCounterDriver::Hp53131a => Kind::TalkOnly(talk_only::TalkOnlyDecoder::default()),
            IntervalCounterDriver::Keysight53230a => answers(Dialect::Plain),
            IntervalCounterDriver::Cnt90 => answers(Dialect::WithTimestamps),
            IntervalCounterDriver::Sr620 => answers(Dialect::Joined),
            IntervalCounterDriver::TimTm2 => Kind::TimeMark(time_mark::TimeMarkDecoder::new(falling)),
        })
    }

    /// Takes bytes that were sent to it.
    pub fn sent(&mut self, bytes: &[u8]) {
        if let Kind::Answers(decoder) = &mut self.0 {
            decoder.sent(bytes);
        }
    }

    /// Takes bytes that arrived together, and returns what they completed. An event's time is that of its line end.
    pub fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<IntervalEvent>> {
        let events = match &mut self.0 {
            Kind::Ticc(decoder) => decoder.push(bytes),
            Kind::TalkOnly(decoder) => decoder.push(bytes),
            Kind::Answers(decoder) => decoder.push(bytes),
            Kind::TimeMark(decoder) => return decoder.push(bytes, at),
        };
        events.into_iter().map(|event| Stamped { at, event }).collect()
    }
}

/// Collects bytes into lines; a line that is too long is cut, and says so by its length.
#[derive(Debug, Default)]
struct Lines {
    line: Vec<u8>,
    /// Bytes of the line so far, those included that are not kept.
    length: usize,
}

/// Longest line in bytes. A debug line of a TICC has about 90; an answer with many readings has more.
const LINE_MAX: usize = 4096;

impl Lines {
    /// Calls back for each line that ends, with what is wrong with it if it cannot be text: without its line end.
    fn push(&mut self, bytes: &[u8], mut line: impl FnMut(Result<&str, IntervalEvent>)) {
        for &byte in bytes {
            if byte != b'\n' {
                self.length += 1;
                if self.length <= LINE_MAX {
                    self.line.push(byte);
                }
                continue;
            }
            let whole = self.length <= LINE_MAX;
            match std::str::from_utf8(&self.line) {
                _ if !whole => line(Err(refused_bytes(&self.line, "a line longer than any"))),
                Ok(text) if text.is_ascii() => line(Ok(text.trim_end_matches('\r'))),
                _ => line(Err(refused_bytes(&self.line, "not ASCII"))),
            }
            self.line.clear();
            self.length = 0;
        }
    }
}

fn refused_bytes(line: &[u8], what: &str) -> IntervalEvent {
    refused(&String::from_utf8_lossy(&line[..line.len().min(40)]), what)
}

fn refused(line: &str, what: &str) -> IntervalEvent {
    let shown: String = line.chars().take(40).collect();
    IntervalEvent::Refused { reason: format!("`{}`: {what}", shown.escape_debug()) }
}

#[cfg(test)]
mod tests;
