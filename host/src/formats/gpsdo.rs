//! What GPSDOs answer that are spoken to in SCPI: HP 58503A and Z3801A with their T2 time code, and Jackson Labs units.
//!
//! Both answer in lines behind a prompt that arrives in front of the next answer. An answer does not say what it answers,
//! so the decoder is told what was asked ([`GpsdoDecoder::sent`]); time codes, sentences and trace lines are known by
//! themselves, from a recording of the answers alone. What differs between the families stands in [`Family::queries`].
//! Written from documents: never run against hardware.

use crate::events::{
    LeapMessage, ReferenceEvent, Stamped, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource,
    Trust,
};
use crate::units::HostNanos;

use super::receiver::refused;
use super::utc::UtcTime;
use super::{jackson, nmea};

/// Longest line; a status screen has 80 columns.
const LINE_MAX: usize = 512;
/// Length of a T2 time code, and of what its checksum sums up.
const TIME_CODE: usize = 23;
const SUMMED: usize = 21;

/// Whose dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// HP 58503A, Z3801A, Symmetricom.
    Hp,
    /// Jackson Labs.
    Jackson,
}

/// A question that is asked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Without its line end.
    pub text: &'static str,
    /// Asked in one of so many rounds.
    pub every: u32,
    answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// T2 and what follows.
    TimeCode,
    /// Seconds, then 1 while in holdover.
    Holdover,
    /// 1 while locked.
    Lock,
    /// Hexadecimal.
    Health,
    /// Seconds between its pulse and the satellites'.
    Interval,
    /// Leap seconds so far.
    Leap,
}

const HP: &[Query] = &[
    Query { text: ":PTIM:TCOD?", every: 1, answer: Answer::TimeCode },
    Query { text: ":ROSC:HOLD:DUR?", every: 10, answer: Answer::Holdover },
    Query { text: ":PTIM:TINT?", every: 10, answer: Answer::Interval },
    Query { text: ":PTIM:LEAP:ACC?", every: 60, answer: Answer::Leap },
];
const JACKSON: &[Query] = &[
    Query { text: "SYNC:LOCK?", every: 1, answer: Answer::Lock },
    Query { text: "SYNC:HEALTH?", every: 1, answer: Answer::Health },
    Query { text: "SYNC:HOLD:DUR?", every: 5, answer: Answer::Holdover },
    Query { text: "SYNC:TINT?", every: 5, answer: Answer::Interval },
    Query { text: "PTIM:LEAP:ACC?", every: 60, answer: Answer::Leap },
];

impl Family {
    /// What is sent once, before the first question. A line end of its own ends whatever half a command was there.
    #[must_use]
    pub const fn greeting(self) -> &'static [&'static str] {
        match self {
            Self::Hp => &["", ":PTIM:TCOD:FORM F2"],
            Self::Jackson => &[""],
        }
    }

    /// What is asked, in this order.
    #[must_use]
    pub const fn queries(self) -> &'static [Query] {
        match self {
            Self::Hp => HP,
            Self::Jackson => JACKSON,
        }
    }

    /// Milliseconds from one round of questions to the next. A time code names the next pulse and is sent when it is asked
    /// for: asked a little less often than once a second, it comes at every phase of the second in turn, and the earliest
    /// of twenty stands near the pulse before; and no second is named twice.
    #[must_use]
    pub const fn round_ms(self) -> u64 {
        match self {
            Self::Hp => 1070,
            Self::Jackson => 1000,
        }
    }

    /// What ends a command.
    #[must_use]
    pub const fn line_end(self) -> &'static str {
        match self {
            Self::Hp => "\n",
            Self::Jackson => "\r\n",
        }
    }
}

/// Decodes the answers of one GPSDO.
#[derive(Debug)]
pub struct GpsdoDecoder {
    family: Family,
    line: Vec<u8>,
    length: usize,
    command: Vec<u8>,
    asked: Option<Query>,
    at: HostNanos,
}

impl GpsdoDecoder {
    pub(super) fn new(family: Family) -> Self {
        let (line, command) = (Vec::new(), Vec::new());
        Self { family, line, length: 0, command, asked: None, at: HostNanos(0) }
    }

    /// Takes note of what was sent. One question is open at a time: a new one means that the last was given up.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if matches!(byte, b'\r' | b'\n') {
                let command = std::mem::take(&mut self.command);
                let text = String::from_utf8_lossy(&command);
                let queries = self.family.queries();
                if let Some(query) = queries.iter().find(|query| query.text.eq_ignore_ascii_case(text.trim()))
                {
                    self.asked = Some(*query);
                }
            } else if self.command.len() < LINE_MAX {
                self.command.push(byte);
            }
        }
    }

    /// The question that has no answer yet.
    pub(super) const fn asked(&self) -> Option<Query> {
        self.asked
    }

    pub(super) fn push(&mut self, bytes: &[u8], at: HostNanos, events: &mut Vec<Stamped<ReferenceEvent>>) {
        for &byte in bytes {
            self.at = at;
            if matches!(byte, b'\r' | b'\n') {
                self.end_line(events);
                continue;
            }
            self.length += 1;
            if self.line.len() < LINE_MAX {
                self.line.push(byte);
            }
        }
    }

    pub(super) fn finish(&mut self, events: &mut Vec<Stamped<ReferenceEvent>>) {
        let (rest, _) = without_prompts(&self.line);
        if !rest.is_empty() && !is_prompt_begun(rest) {
            let event = refused(self.length, "the recording ends inside a line");
            events.push(Stamped { at: self.at, event });
        }
        self.line.clear();
        self.length = 0;
    }

    fn end_line(&mut self, events: &mut Vec<Stamped<ReferenceEvent>>) {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        let at = self.at;
        let mut say = |event| events.push(Stamped { at, event });
        if length > LINE_MAX {
            return say(refused(length, "a line longer than any"));
        }
        let (text, error) = without_prompts(&line);
        if let Some(error) = error {
            // The question in front of an error prompt will not be answered.
            self.asked = None;
            let reason = format!("the instrument's prompt says error {error}; `:SYST:ERR?` names it");
            say(ReferenceEvent::Refused { reason });
        }
        if text.is_empty() || self.by_itself(text, &mut say) {
            return;
        }
        match std::str::from_utf8(text) {
            Ok(text) if text.is_ascii() => self.answered(text.trim(), &mut say),
            _ => say(refused(length, "neither an answer nor a sentence")),
        }
    }

    /// What is known without its question. Garbage may stand in front of it.
    fn by_itself(&mut self, text: &[u8], say: &mut dyn FnMut(ReferenceEvent)) -> bool {
        match self.family {
            Family::Hp => {
                let Some(code) = time_code(text) else { return false };
                if self.asked.is_some_and(|query| query.answer == Answer::TimeCode) {
                    self.asked = None;
                }
                match code {
                    Ok(code) => hp_time(code, say),
                    Err(reason) => say(ReferenceEvent::Refused { reason }),
                }
                true
            }
            Family::Jackson => {
                let Some(begin) = text.iter().position(|&byte| byte == b'$') else {
                    return jackson::by_itself(text, say);
                };
                for sentence in text[begin + 1..].split(|&byte| byte == b'$') {
                    let sentence = [b"$", sentence].concat();
                    if !jackson::sentence(&sentence, say) {
                        nmea::decode(&sentence).into_iter().for_each(&mut *say);
                    }
                }
                true
            }
        }
    }

    /// An answer in the form that its question wants; anything else is a line of a screen, or an echo.
    fn answered(&mut self, text: &str, say: &mut dyn FnMut(ReferenceEvent)) {
        let Some(query) = self.asked else { return };
        let state = |source, trust, offset_ps, words: String| {
            ReferenceEvent::State(StateMessage { source, trust, offset_ps, words })
        };
        let event = match query.answer {
            Answer::TimeCode => return,
            Answer::Lock => match text {
                "1" => state(StateSource::JacksonLock, Trust::Locked, None, String::new()),
                "0" => state(StateSource::JacksonLock, Trust::Unlocked, None, "it is not locked".to_owned()),
                _ => return,
            },
            Answer::Health => match jackson::health_word(text) {
                Some(word) => jackson::health(StateSource::JacksonHealth, word, None),
                None => return,
            },
            Answer::Holdover => {
                let Some((seconds, now)) = text.split_once(',').and_then(|(seconds, now)| {
                    Some((real(seconds)?, now.trim().parse::<u8>().ok().filter(|now| *now <= 1)?))
                }) else {
                    return;
                };
                self.asked = None;
                // Where it is not in holdover, the time is that of the last one.
                if now == 0 {
                    return;
                }
                let words = format!("it has been in holdover for {seconds:.0} s");
                state(StateSource::ScpiHoldover, Trust::Holdover, None, words)
            }
            Answer::Interval => {
                let Some(seconds) = real(text) else { return };
                let offset_ps = Some((seconds * 1e12).clamp(-1e18, 1e18).round() as i64);
                state(StateSource::ScpiInterval, Trust::NotStated, offset_ps, String::new())
            }
            Answer::Leap => {
                let Ok(seconds) = text.parse::<i16>() else { return };
                ReferenceEvent::Leap(LeapMessage {
                    source: "LEAP:ACC?",
                    gps_minus_utc: Some(seconds),
                    change: None,
                    at: None,
                })
            }
        };
        self.asked = None;
        say(event);
    }
}

/// A number as SCPI answers have it.
fn real(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse::<f64>().ok().filter(|number| plain && number.is_finite())
}

/// The line without the prompts in front of it, and the error of the last one that had one.
fn without_prompts(line: &[u8]) -> (&[u8], Option<i32>) {
    let (mut rest, mut error) = (line, None);
    loop {
        rest = rest.trim_ascii();
        if let Some(behind) = rest.strip_prefix(b"scpi >") {
            rest = behind;
        } else if let Some((number, behind)) = error_prompt(rest) {
            (rest, error) = (behind, Some(number));
        } else {
            return (rest, error);
        }
    }
}

/// `E-230>`: error -230.
fn error_prompt(rest: &[u8]) -> Option<(i32, &[u8])> {
    let behind = rest.strip_prefix(b"E")?;
    let end = behind.iter().take(8).position(|&byte| byte == b'>')?;
    let number = std::str::from_utf8(&behind[..end]).ok()?.parse().ok()?;
    Some((number, &behind[end + 1..]))
}

fn is_prompt_begun(rest: &[u8]) -> bool {
    b"scpi >".starts_with(rest)
        || (rest.len() < 8
            && rest[0] == b'E'
            && !rest[1..].iter().any(|byte| !b"+-0123456789".contains(byte)))
}

/// The time code in a line: `T2yyyymmddhhmmssMFLRVcc`.
fn time_code(text: &[u8]) -> Option<Result<&[u8], String>> {
    let mut wrong = None;
    for code in text.windows(TIME_CODE) {
        let fields_fit = code.starts_with(b"T2")
            && code[2..18].iter().all(u8::is_ascii_digit)
            && b"0+-".contains(&code[18])
            && code[19..21].iter().all(u8::is_ascii_digit);
        if !fields_fit {
            continue;
        }
        let sum = code[..SUMMED].iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        let stated = std::str::from_utf8(&code[SUMMED..]).ok();
        let stated = stated.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match stated.and_then(|text| u8::from_str_radix(text, 16).ok()) {
            Some(stated) if stated == sum => return Some(Ok(code)),
            Some(stated) => wrong = Some(format!("T2: checksum {stated:02X} does not match {sum:02X}")),
            None => wrong = Some("T2: no checksum".to_owned()),
        }
    }
    wrong.map(Err)
}

fn hp_time(code: &[u8], say: &mut dyn FnMut(ReferenceEvent)) {
    let number = |range: std::ops::Range<usize>| {
        code[range].iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let small = |from: usize| number(from..from + 2);
    let utc = UtcTime {
        year: number(2..6),
        month: small(6) as i8,
        day: small(8) as i8,
        hour: small(10) as u8,
        minute: small(12) as u8,
        second: small(14) as u8,
    };
    let (tfom, ffom, valid) = (code[16] - b'0', code[17] - b'0', code[20] == b'0');
    let (trust, words) = match (valid, ffom) {
        (false, _) => (Trust::Unlocked, "its time is not valid"),
        (true, 0) => (Trust::Locked, ""),
        (true, 1) => (Trust::Unlocked, "its loop has not settled (FFOM 1)"),
        (true, 2) => (Trust::Holdover, "it is in holdover (FFOM 2)"),
        (true, _) => (Trust::Unlocked, "its oscillator does not follow the satellites (FFOM 3)"),
    };
    let source = TimeSource::HpTimeCode;
    match utc.gps_second() {
        Ok(second) => {
            let scale = TimeScale::Utc;
            say(ReferenceEvent::Time(TimeMessage { source, second, trust, qerr_ps: None, scale }));
        }
        Err(_) if trust == Trust::Unlocked => say(ReferenceEvent::Void { source }),
        Err(fault) => return say(ReferenceEvent::Refused { reason: format!("T2: {utc:?}: {fault}") }),
    }
    // TFOM n: its time is off by 10^n ns at most.
    let bound_ps = 1000 * 10_i64.pow(tfom.into());
    say(ReferenceEvent::State(StateMessage {
        source: StateSource::HpTimeCode,
        trust,
        offset_ps: Some(bound_ps),
        words: words.to_owned(),
    }));
    let change = match code[18] {
        b'+' => 1,
        b'-' => -1,
        _ => return,
    };
    say(ReferenceEvent::Leap(LeapMessage {
        source: "T2",
        gps_minus_utc: None,
        change: Some(change),
        at: None,
    }));
}

#[cfg(test)]
mod tests;
