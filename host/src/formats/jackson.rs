//! What Jackson Labs GPSDOs say of their own health: the health word, trace lines (`SERV:TRAC`) and `$PJLTS`.
//!
//! Lock states: 0 warming up, 1 holdover, 2 locking, 5 holdover and still in phase, 6 locked. Written from documents.

use crate::events::{ReferenceEvent, StateMessage, StateSource, Trust};

use super::nmea;

const HOLDOVER: u32 = 0x10;
/// Bits of the health word.
const HEALTH: [(u32, &str); 10] = [
    (0x1, "its coarse DAC is at its upper limit"),
    (0x2, "its coarse DAC is at its lower limit"),
    (0x4, "its phase is more than 250 ns from UTC"),
    (0x8, "it has run for less than 300 s"),
    (HOLDOVER, "it is in holdover for more than 60 s"),
    (0x20, "its frequency estimate is out of bounds"),
    (0x40, "its oscillator's voltage is too high"),
    (0x80, "its oscillator's voltage is too low"),
    (0x100, "it drifts by more than 100 ns in 100 s"),
    (0x200, "its phase was reset less than 3 minutes ago"),
];

/// A health word, `0x` and hexadecimal digits.
pub(super) fn health_word(text: &str) -> Option<u32> {
    let digits = text.trim().strip_prefix("0x").or_else(|| text.trim().strip_prefix("0X"))?;
    let good = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| good)
}

/// What a health word comes to.
pub(super) fn health(source: StateSource, word: u32, offset_ps: Option<i64>) -> ReferenceEvent {
    let (trust, words) = judged(word);
    ReferenceEvent::State(StateMessage { source, trust, offset_ps, words })
}

fn judged(word: u32) -> (Trust, String) {
    let known = HEALTH.iter().fold(0, |known, (bit, _)| known | bit);
    let mut words: Vec<String> =
        HEALTH.iter().filter(|(bit, _)| word & bit != 0).map(|(_, words)| (*words).to_owned()).collect();
    if word & !known != 0 {
        words.push(format!("its health word has unknown bits {:#x}", word & !known));
    }
    let trust = match word {
        0 => Trust::Locked,
        HOLDOVER => Trust::Holdover,
        _ => Trust::Unlocked,
    };
    (trust, words.join(", "))
}

/// Lock state and health word together: the graver counts.
fn locked(source: StateSource, lock: u8, word: u32, offset_ps: Option<i64>) -> ReferenceEvent {
    let (mut trust, health) = judged(word);
    let (by_lock, words) = match lock {
        6 => (Trust::Locked, ""),
        1 | 5 => (Trust::Holdover, "it is in holdover"),
        0 => (Trust::Unlocked, "it is warming up"),
        2 => (Trust::Unlocked, "it is locking"),
        _ => (Trust::Unlocked, "its lock state is unknown"),
    };
    if trust == Trust::Locked || (trust == Trust::Holdover && by_lock == Trust::Unlocked) {
        trust = by_lock;
    }
    let words = [words, &health].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
    ReferenceEvent::State(StateMessage { source, trust, offset_ps, words })
}

/// Nanoseconds as decimal text, in picoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let ns: f64 = text.parse().ok()?;
    (plain && ns.is_finite()).then(|| (ns * 1000.0).clamp(-1e18, 1e18).round() as i64)
}

/// A trace line, or a line of `SYNC?`'s summary that holds the health word.
pub(super) fn by_itself(text: &[u8], say: &mut dyn FnMut(ReferenceEvent)) -> bool {
    let Some(text) = std::str::from_utf8(text).ok() else { return false };
    let event = trace(text).or_else(|| {
        let (key, value) = text.split_once(':')?;
        let word = health_word(value).filter(|_| key.to_ascii_uppercase().contains("HEALTH"))?;
        Some(health(StateSource::JacksonHealth, word, None))
    });
    event.map(say).is_some()
}

/// `08-07-31 373815 60685 -32.08 -2.22E-11 14 10 6 0x54`: date, pulses, DAC, UTC offset in ns, frequency error, satellites
/// in view and tracked, lock state, health.
fn trace(text: &str) -> Option<ReferenceEvent> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let &[date, pulses, dac, offset, error, in_view, tracked, lock, health] = &fields[..] else {
        return None;
    };
    let is_date = date.len() == 8
        && date.bytes().enumerate().all(|(index, byte)| match index {
            2 | 5 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let counts = [pulses, dac, in_view, tracked].iter().all(|text| text.parse::<u64>().is_ok());
    error.parse::<f64>().ok().filter(|_| is_date && counts)?;
    let (lock, word) = (lock.parse().ok()?, health_word(health)?);
    Some(locked(StateSource::JacksonTrace, lock, word, Some(nanoseconds(offset)?)))
}

/// `$PJLTS`: filtered and raw UTC offset in ns, captured pulses, lock state, control voltage in V and percent, frequency
/// accuracy, seconds in holdover, satellites, health. GGA is passed over, unless it is damaged: its quality is the lock
/// state in some units and empty in others. True if the sentence is one of these.
pub(super) fn sentence(sentence: &[u8], say: &mut dyn FnMut(ReferenceEvent)) -> bool {
    if sentence.get(3..6) == Some(b"GGA") {
        if let Err(fault) = nmea::checked_body(sentence) {
            say(ReferenceEvent::Refused { reason: format!("GGA: {fault}") });
        }
        return true;
    }
    if !sentence.starts_with(b"$PJLTS,") {
        return false;
    }
    let event = nmea::checked_body(sentence).and_then(|body| {
        let fields: Vec<&str> = body.split(',').skip(1).collect();
        let read = || {
            let lock = fields.get(3)?.parse().ok()?;
            let word = health_word(fields.get(9)?)?;
            Some(locked(StateSource::JacksonPjlts, lock, word, Some(nanoseconds(fields[0])?)))
        };
        read().ok_or_else(|| "its fields are not those that are documented".to_owned())
    });
    say(event.unwrap_or_else(|fault| ReferenceEvent::Refused { reason: format!("PJLTS: {fault}") }));
    true
}
