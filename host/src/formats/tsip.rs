//! TSIP of Trimble receivers: 8F-AB and 8F-AC of Thunderbolt and Resolution, A1-00 of TSIPv1 (RES 720).
//!
//! A packet is `10 id data 10 03`, every 10 in it doubled. There is no checksum in the older ones, so a packet counts only
//! if its kind is one of these and its length is exact; and the date of one that names a second must be that of its week
//! and time of week, without which it is refused.

use crate::events::{
    LeapMessage, ReferenceEvent, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource, Trust,
};
use crate::units::GpsSecond;

use super::utc::{self, UtcTime};

/// Begins a packet, ends it, and is doubled inside.
pub(super) const DLE: u8 = 0x10;
const ETX: u8 = 0x03;
/// Longest packet that is looked at, on the wire.
const WIRE_MAX: usize = 512;

const PRIMARY: ([u8; 2], usize) = ([0x8f, 0xab], 18);
const SUPPLEMENTAL: ([u8; 2], usize) = ([0x8f, 0xac], 69);
const TIMING: [u8; 2] = [0xa1, 0x00];
/// Fields of A1-00 that are read end here; what follows differs between releases.
const TIMING_MIN: usize = 27;

const WEEK_S: i64 = 604_800;

/// What stands at the front of some bytes that begin with [`DLE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// A packet of a known kind.
    Whole {
        /// Bytes on the wire.
        length: usize,
        /// From its id on.
        contents: Vec<u8>,
    },
    /// More bytes will tell.
    Cut,
    /// No packet of a known kind begins here.
    None,
}

/// Looks at the front of `bytes`.
pub(super) fn packet(bytes: &[u8]) -> Packet {
    match bytes.get(1) {
        None => return Packet::Cut,
        Some(&id) if id != 0x8f && id != 0xa1 => return Packet::None,
        Some(_) => {}
    }
    if bytes.get(2).is_some_and(|&sub| !is_known([bytes[1], sub])) {
        return Packet::None;
    }
    let mut contents = Vec::with_capacity(80);
    let mut at = 1;
    while at < WIRE_MAX {
        match (bytes.get(at), bytes.get(at + 1)) {
            (None, _) | (Some(&DLE), None) => return Packet::Cut,
            (Some(&DLE), Some(&DLE)) => {
                contents.push(DLE);
                at += 2;
            }
            (Some(&DLE), Some(&ETX)) => {
                let good = has_right_length(&contents);
                return if good { Packet::Whole { length: at + 2, contents } } else { Packet::None };
            }
            (Some(&DLE), Some(_)) => return Packet::None,
            (Some(&byte), _) => {
                contents.push(byte);
                at += 1;
            }
        }
    }
    Packet::None
}

fn is_known(kind: [u8; 2]) -> bool {
    [PRIMARY.0, SUPPLEMENTAL.0, TIMING].contains(&kind)
}

fn has_right_length(contents: &[u8]) -> bool {
    let Some(&[id, sub]) = contents.get(..2) else { return false };
    match [id, sub] {
        kind if kind == PRIMARY.0 => contents.len() == PRIMARY.1,
        kind if kind == SUPPLEMENTAL.0 => contents.len() == SUPPLEMENTAL.1,
        // Its length field counts the bytes from the mode on, with or without the checksum, by release.
        TIMING if contents.len() > TIMING_MIN => {
            let stated = usize::from(u16_at(contents, 2));
            (contents.len() - 5..=contents.len() - 4).contains(&stated)
        }
        _ => false,
    }
}

/// Takes what a packet says.
type Say<'s> = &'s mut dyn FnMut(ReferenceEvent);

/// Tells what a packet says, from its id on.
pub fn decode(contents: &[u8], say: &mut dyn FnMut(ReferenceEvent)) {
    match contents {
        [0x8f, 0xab, ..] if contents.len() == PRIMARY.1 => primary(&contents[1..], say),
        [0x8f, 0xac, ..] if contents.len() == SUPPLEMENTAL.1 => supplemental(&contents[1..], say),
        [0xa1, 0x00, ..] if contents.len() > TIMING_MIN => timing(&contents[1..], say),
        _ => {}
    }
}

fn bytes_at<const N: usize>(body: &[u8], at: usize) -> [u8; N] {
    body.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

fn u16_at(body: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes_at(body, at))
}

fn u32_at(body: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes_at(body, at))
}

fn f32_at(body: &[u8], at: usize) -> f32 {
    f32::from_be_bytes(bytes_at(body, at))
}

/// A second, and the calendar fields that come with it.
struct Named {
    source: TimeSource,
    week: u16,
    of_week: u32,
    utc_offset: i16,
    calendar: UtcTime,
    /// The calendar, and the pulse with it, is on UTC.
    on_utc: bool,
}

impl Named {
    /// The second: week and time of week count GPS time whatever the calendar is on.
    fn second(&self) -> Result<GpsSecond, String> {
        let name = self.source.name();
        if i64::from(self.of_week) >= WEEK_S {
            return Err(format!("{name}: time of week {} s is past the week's end", self.of_week));
        }
        let second = i64::from(self.week) * WEEK_S + i64::from(self.of_week);
        // GPS time has no leap second: its calendar is plain days of 86,400 s.
        let shown = if self.on_utc { second - i64::from(self.utc_offset) } else { second };
        let plain = utc::plain_second(self.calendar)
            .ok_or_else(|| format!("{name}: {:?} is no date and time", self.calendar))?;
        // 23:59:60 is counted as the second behind it by some.
        if plain == shown || (self.on_utc && self.calendar.second == 60 && (plain - shown).abs() <= 1) {
            return Ok(GpsSecond(second));
        }
        Err(format!(
            "{name}: its date is {} s away from its week {} and time of week {}",
            plain - shown,
            self.week,
            self.of_week
        ))
    }

    fn say(&self, trust: Trust, say: Say<'_>) {
        let scale = if self.on_utc { TimeScale::Utc } else { TimeScale::Gps };
        say(match self.second() {
            Ok(second) => {
                ReferenceEvent::Time(TimeMessage { source: self.source, second, trust, qerr_ps: None, scale })
            }
            Err(_) if trust == Trust::Unlocked => ReferenceEvent::Void { source: self.source },
            Err(reason) => ReferenceEvent::Refused { reason },
        });
    }
}

/// 8F-AB. `body` begins with the subcode, as the documents count.
fn primary(body: &[u8], say: Say<'_>) {
    let flags = body[9];
    let named = Named {
        source: TimeSource::TsipPrimary,
        of_week: u32_at(body, 1),
        week: u16_at(body, 5),
        utc_offset: u16_at(body, 7) as i16,
        on_utc: flags & 1 != 0,
        calendar: UtcTime {
            second: body[10],
            minute: body[11],
            hour: body[12],
            day: i8::try_from(body[13]).unwrap_or(0),
            month: i8::try_from(body[14]).unwrap_or(0),
            year: i16::try_from(u16_at(body, 15)).unwrap_or(0),
        },
    };
    let utc_pulse = flags & 1 << 1 != 0;
    let no_utc = flags & 1 << 3 != 0 || named.utc_offset == 0;
    // Set by hand, not set, or on UTC without knowing it. Whether it is locked only 8F-AC tells.
    let bad = flags & (1 << 2 | 1 << 4) != 0 || ((named.on_utc || utc_pulse) && no_utc);
    named.say(if bad { Trust::Unlocked } else { Trust::NotStated }, say);
    if !no_utc {
        leap("8F-AB", Some(named.utc_offset), None, say);
    }
}

fn leap(source: &'static str, gps_minus_utc: Option<i16>, change: Option<i8>, say: Say<'_>) {
    say(ReferenceEvent::Leap(LeapMessage { source, gps_minus_utc, change, at: None }));
}

/// Minor alarms that speak against the pulse, by bit. Those of antenna and survey are in `NOTED`.
const MINOR: [(u16, &str); 4] = [
    (3, "it tracks no satellites"),
    (4, "its oscillator is not being disciplined"),
    (9, "its position is questionable"),
    (12, "it generates no pulse"),
];
/// Minor alarms that are worth a note.
const NOTED: [(u16, &str); 8] = [
    (0, "its DAC is near its limit"),
    (1, "its antenna is open"),
    (2, "its antenna is shorted"),
    (5, "a survey is going on"),
    (6, "no position is stored"),
    (8, "it is in test mode"),
    (10, "its EEPROM failed"),
    (11, "its almanac is incomplete"),
];
const LEAP_PENDING: u16 = 1 << 7;

/// 8F-AC. No alarm is not on time: the PPS offset counts as well, against the bench file's limit.
fn supplemental(body: &[u8], say: Say<'_>) {
    let (critical, minor) = (u16_at(body, 8), u16_at(body, 10));
    let bits = |list: &[(u16, &'static str)]| -> Vec<&'static str> {
        list.iter().filter(|(bit, _)| minor & 1 << bit != 0).map(|&(_, words)| words).collect()
    };
    let (mut trust, mut words) = match body[2] {
        0 => (Trust::Locked, Vec::new()),
        2 | 3 => (Trust::Holdover, vec!["it is in holdover"]),
        1 => (Trust::Unlocked, vec!["it is powering up"]),
        4 => (Trust::Unlocked, vec!["it is recovering from holdover"]),
        6 => (Trust::Unlocked, vec!["its oscillator is not disciplined: disciplining is disabled"]),
        _ => (Trust::Unlocked, vec!["its disciplining mode is unknown"]),
    };
    if critical != 0 {
        words.push("a critical alarm is on");
    }
    words.extend(bits(&MINOR));
    match body[12] {
        0 | 0x0a | 0x0b => {}
        1 => words.push("it has no time yet"),
        _ => words.push("it computes no fix"),
    }
    // Placing its pulse or filtering, it follows the satellites no more than it did before.
    match body[13] {
        0 | 2 | 6 | 9 => {}
        1 => words.push("it is warming up"),
        3 => words.push("it is placing its pulse"),
        4 => words.push("its loop filter is starting"),
        5 => words.push("it compensates its oscillator's drift"),
        8 => words.push("it is recovering"),
        _ => words.push("its disciplining activity is unknown"),
    }
    if trust == Trust::Locked && !words.is_empty() {
        trust = Trust::Unlocked;
    }
    let source = StateSource::TsipSupplemental;
    let offset = f32_at(body, 16);
    let offset_ps = offset.is_finite().then(|| (f64::from(offset) * 1000.0).round() as i64);
    if offset_ps.is_none() {
        words.push("its PPS offset is no number");
        trust = Trust::Unlocked;
    }
    let words = words.join(", ");
    say(ReferenceEvent::State(StateMessage { source, trust, offset_ps, words }));
    for words in bits(&NOTED) {
        let words = words.to_owned();
        say(ReferenceEvent::State(StateMessage { source, trust: Trust::NotStated, offset_ps: None, words }));
    }
    if minor & LEAP_PENDING != 0 {
        // Which way it goes is not said; the table of leap seconds knows inserted ones only.
        leap("8F-AC", None, Some(1), say);
    }
}

/// A1-00 of TSIPv1. Its quantisation error is not used: in which unit it is stated is not settled.
fn timing(body: &[u8], say: Say<'_>) {
    let (base, flags) = (body[17], body[19]);
    let named = Named {
        source: TimeSource::TsipTiming,
        of_week: u32_at(body, 4),
        week: u16_at(body, 8),
        utc_offset: u16_at(body, 20) as i16,
        // 0 is GPS, 6 is UTC; of the others the calendar's relation to the week is not known here.
        on_utc: base == 6,
        calendar: UtcTime {
            hour: body[10],
            minute: body[11],
            second: body[12],
            month: i8::try_from(body[13]).unwrap_or(0),
            day: i8::try_from(body[14]).unwrap_or(0),
            year: i16::try_from(u16_at(body, 15)).unwrap_or(0),
        },
    };
    if base != 0 && base != 6 {
        let reason =
            format!("A1-00: its time base is number {base}, neither GPS nor UTC; set it to one of them");
        return say(ReferenceEvent::Refused { reason });
    }
    let (has_utc, has_time) = (flags & 1 != 0, flags & 1 << 1 != 0);
    let trust = if has_time && (has_utc || !named.on_utc) { Trust::Locked } else { Trust::Unlocked };
    named.say(trust, say);
    if has_utc {
        leap("A1-00", Some(named.utc_offset), None, say);
    }
}

#[cfg(test)]
mod tests;
