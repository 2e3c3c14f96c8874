//! What GPSDOs answer that are spoken to in SCPI: HP 58503A and Z3801A with their T2 time code, and Jackson Labs units.
//!
//! Both answer in lines behind a prompt that arrives in front of the next answer. An answer does not say what it answers,
//! so the decoder is told what was asked (`ReceiverDecoder::sent`); time codes, sentences and trace lines are known by
//! themselves, from a recording of the answers alone. What differs between the families stands in [`Family::queries`].
//! Written from documents: never run against hardware.

mod family;
mod time_code;

use self::family::Answer;
pub use self::family::{Family, Query};
use self::time_code::{hp_time, time_code};
use super::receiver::refused;
use super::{jackson, nmea};
use crate::events::{LeapMessage, ReferenceEvent, Stamped, StateMessage, StateSource, Trust};
use crate::units::HostNanos;

/// Longest line; a status screen has 80 columns.
const LINE_MAX: usize = 512;

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
            if byte == b'>' {
                self.end_prompt(events);
            }
        }
    }

    /// A prompt has no line end: it counts as soon as it is whole, before the next question.
    fn end_prompt(&mut self, events: &mut Vec<Stamped<ReferenceEvent>>) {
        let (text, error) = without_prompts(&self.line);
        if !text.is_empty() {
            return;
        }
        self.line.clear();
        self.length = 0;
        if let Some(error) = error {
            // The question in front of an error prompt will not be answered.
            self.asked = None;
            let reason = format!("the instrument's prompt says error {error}; `:SYST:ERR?` names it");
            events.push(Stamped { at: self.at, event: ReferenceEvent::Refused { reason } });
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
        let text = line.trim_ascii();
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

#[cfg(test)]
mod tests;
