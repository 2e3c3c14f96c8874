//! Counters that answer: Keysight 53230A, Pendulum CNT-90 and Stanford SR620. What was asked decides what a line means,
//! so this decoder also sees what was sent; one line answers one line with a question mark in it.
//!
//! Sources: 53230A programming guide and opronningen/53230A-Toolkit (`DATA:POIN?`, `DATA:REM? n`); CNT-91 programmer's
//! handbook (`FORM:TINF ON`: value, timestamp); SR620 manual (`;`-joined queries give one `;`-joined reply).

use std::collections::VecDeque;

use super::{Lines, refused};
use crate::events::{IntervalEvent, IntervalReading};
use crate::formats::picoseconds;

/// Queries whose answers are readings; whoever asks and whoever decodes must agree on them.
pub(super) const READS: [&str; 4] = ["DATA:REM?", "READ?", "FETC:ARR?", "XAVG?"];
/// Of the 53230A's questionable events: its timebase.
const TIMEBASE_BIT: u32 = 1 << 10;
const QUESTIONABLE: &str = "STAT:QUES:EVEN?";
/// Unanswered questions that are remembered; an instrument that is switched off answers none.
const ASKED_MAX: usize = 64;

/// How an instrument prints its readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Readings in seconds, parted by commas.
    Plain,
    /// Each reading is followed by its timestamp, all parted by commas.
    WithTimestamps,
    /// Answers of joined queries, parted by semicolons; the last one is the reading.
    Joined,
}

/// What a line that was sent asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Readings,
    Questionable,
    Other,
}

#[derive(Debug)]
pub(super) struct AnswersDecoder {
    dialect: Dialect,
    lines: Lines,
    sent: Lines,
    asked: VecDeque<Asked>,
}

impl AnswersDecoder {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, lines: Lines::default(), sent: Lines::default(), asked: VecDeque::new() }
    }

    pub(super) fn sent(&mut self, bytes: &[u8]) {
        let Self { sent, asked, .. } = self;
        sent.push(bytes, |line| {
            let line = line.unwrap_or_default();
            if line.contains('?') {
                asked.truncate(ASKED_MAX);
                asked.push_back(what(line));
            }
        });
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<IntervalEvent> {
        let mut events = Vec::new();
        let Self { lines, asked, dialect, .. } = self;
        lines.push(bytes, |line| match line {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => match asked.pop_front() {
                Some(Asked::Readings) => readings(*dialect, line.trim(), &mut events),
                Some(Asked::Questionable) => events.extend(questionable(line.trim())),
                Some(Asked::Other) => {}
                None => events.push(refused(line, "an answer that nobody asked for")),
            },
            Err(event) => {
                asked.pop_front();
                events.push(event);
            }
        });
        events
    }
}

fn what(line: &str) -> Asked {
    if READS.iter().any(|read| line.contains(read)) {
        Asked::Readings
    } else if line.contains(QUESTIONABLE) {
        Asked::Questionable
    } else {
        Asked::Other
    }
}

fn questionable(line: &str) -> Option<IntervalEvent> {
    let bits: Option<u32> = line.trim_start_matches('+').parse().ok();
    match bits {
        Some(bits) => (bits & TIMEBASE_BIT != 0).then_some(IntervalEvent::ReferenceLost),
        None => Some(refused(line, "no answer to STAT:QUES:EVEN?, which is a number")),
    }
}

fn readings(dialect: Dialect, line: &str, events: &mut Vec<IntervalEvent>) {
    let mut take = |text: &str| {
        // Codes for `no reading`: it timed out, and nothing was measured.
        if text.contains("9.91") && text.contains("37") {
            return;
        }
        events.push(match picoseconds::parse(text, 0) {
            Some(time) => IntervalEvent::Interval(IntervalReading { time, half_width: None }),
            None => refused(line, "no reading in seconds"),
        });
    };
    match dialect {
        Dialect::Plain => line.split(',').map(str::trim).for_each(take),
        Dialect::WithTimestamps => {
            let fields: Vec<_> = line.split(',').map(str::trim).collect();
            let (pairs, rest) = fields.as_chunks::<2>();
            pairs.iter().for_each(|[value, _]| take(value));
            if !rest.is_empty() {
                events.push(refused(line, "readings and timestamps do not alternate"));
            }
        }
        Dialect::Joined => take(line.rsplit(';').next().unwrap_or(line).trim()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Picos;

    fn interval(ps: i128) -> IntervalEvent {
        IntervalEvent::Interval(IntervalReading { time: Picos(ps), half_width: None })
    }

    fn answered(dialect: Dialect, asked: &str, answer: &str) -> Vec<IntervalEvent> {
        let mut decoder = AnswersDecoder::new(dialect);
        decoder.sent(asked.as_bytes());
        answer.as_bytes().chunks(3).flat_map(|read| decoder.push(read)).collect()
    }

    #[test]
    fn only_answers_to_reading_queries_are_readings() {
        let asked = "*IDN?\nDATA:POIN?\nDATA:REM? 2\nCONF:TINT (@1),(@2)\nSYST:ERR?\n";
        let answer =
            "Keysight,53230A,MY1,1.0\n+2\n+5.10520000000000E-006,-1.00000000000000E-012\n+0,\"No error\"\n";
        assert_eq!(answered(Dialect::Plain, asked, answer), [interval(5_105_200), interval(-1)]);
    }

    #[test]
    fn timestamps_and_joined_answers_are_passed_over() {
        let events = answered(Dialect::WithTimestamps, "READ?\n", "1.5E-6,12.25\r\n");
        assert_eq!(events, [interval(1_500_000)]);
        assert_eq!(answered(Dialect::Joined, "STRT;*WAI;XAVG?\n", "2.5E-6\r\n"), [interval(2_500_000)]);
        assert_eq!(answered(Dialect::Joined, "MODE?;XAVG?\n", "0;2.5E-6\r\n"), [interval(2_500_000)]);
        let events = answered(Dialect::WithTimestamps, "READ?\n", "1.5E-6,12.25,3\r\n");
        assert!(matches!(events[..], [IntervalEvent::Interval(_), IntervalEvent::Refused { .. }]));
    }

    #[test]
    fn no_value_is_no_reading_and_a_lost_timebase_is_an_event() {
        assert_eq!(answered(Dialect::Plain, "READ?\n", "+9.91000000000000E+037\n"), []);
        assert_eq!(answered(Dialect::Plain, "STAT:QUES:EVEN?\n", "+1024\n"), [IntervalEvent::ReferenceLost]);
        assert_eq!(answered(Dialect::Plain, "STAT:QUES:EVEN?\n", "+0\n"), []);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for (asked, answer) in
            [("", "1.0\n"), ("READ?\n", "x\n"), ("READ?\n", "1.0;2.0\n"), ("STAT:QUES:EVEN?\n", "x\n")]
        {
            let events = answered(Dialect::Plain, asked, answer);
            assert!(
                matches!(events[..], [IntervalEvent::Refused { .. }]),
                "{asked:?} {answer:?}: {events:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_events_at_any_read_size(
            sent in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'?')], 0..50),
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b','), b'0'..=b'9'], 0..300),
            read_size in 2..50_usize,
        ) {
            let events = |read_size| {
                let mut decoder = AnswersDecoder::new(Dialect::WithTimestamps);
                decoder.sent(&sent);
                bytes.chunks(read_size).flat_map(|read| decoder.push(read)).collect::<Vec<_>>()
            };
            prop_assert_eq!(events(read_size), events(1));
        }
    }
}
