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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::Stamped;
    use crate::formats::receiver::ReceiverDecoder;
    use crate::units::HostNanos;

    /// The first 8F-AB and 8F-AC of a Resolution SMTx, as recorded.
    const AB: &[u8] = b"\x10\x8f\xab\x00\x01\x1c\xb8\x08\x25\x00\x12\x00\x30\x0e\x14\x16\x0c\x07\xe3\x10\x03";
    fn ac() -> Vec<u8> {
        let mut contents = vec![0; 69];
        contents[..4].copy_from_slice(&[0x8f, 0xac, 7, 0]);
        contents[17..21].copy_from_slice(&37_412.8_f32.to_be_bytes());
        contents
    }

    fn on_the_wire(contents: &[u8]) -> Vec<u8> {
        let doubled = |&byte: &u8| if byte == DLE { vec![DLE, DLE] } else { vec![byte] };
        let mut bytes = vec![DLE];
        bytes.extend(contents.iter().flat_map(doubled));
        bytes.extend([DLE, ETX]);
        bytes
    }

    fn decoded(bytes: &[u8], read_size: usize) -> Vec<ReferenceEvent> {
        let mut decoder = ReceiverDecoder::tsip();
        let mut events: Vec<Stamped<ReferenceEvent>> = bytes
            .chunks(read_size)
            .zip(0..)
            .flat_map(|(read, at)| decoder.push(read, HostNanos(at)))
            .collect();
        events.extend(decoder.finish());
        events.into_iter().map(|stamped| stamped.event).collect()
    }

    fn seconds(events: &[ReferenceEvent]) -> Vec<i64> {
        let of = |event: &ReferenceEvent| match event {
            ReferenceEvent::Time(message) => Some(message.second.0),
            _ => None,
        };
        events.iter().filter_map(of).collect()
    }

    fn states(events: &[ReferenceEvent]) -> Vec<StateMessage> {
        let of = |event: &ReferenceEvent| match event {
            ReferenceEvent::State(state) => Some(state.clone()),
            _ => None,
        };
        events.iter().filter_map(of).collect()
    }

    #[test]
    fn a_recorded_packet_names_its_second_on_the_gps_scale() {
        let events = decoded(AB, 1);
        assert_eq!(seconds(&events), [2085 * WEEK_S + 72_888]);
        assert!(matches!(
            &events[0],
            ReferenceEvent::Time(TimeMessage { trust: Trust::NotStated, scale: TimeScale::Gps, .. })
        ));
        assert!(matches!(&events[1], ReferenceEvent::Leap(LeapMessage { gps_minus_utc: Some(18), .. })));
    }

    #[test]
    fn a_clean_bill_of_health_carries_its_offset() {
        let state = states(&decoded(&on_the_wire(&ac()), 3)).remove(0);
        assert_eq!((state.trust, state.words.as_str()), (Trust::Locked, ""));
        assert_eq!(state.offset_ps, Some(37_412_801), "as near as its 24 bits state it");
    }

    #[test]
    fn modes_and_alarms_are_told_apart() {
        let state = |at: usize, value: u8| {
            let mut contents = ac();
            contents[at + 1] = value;
            let state = states(&decoded(&on_the_wire(&contents), 5)).remove(0);
            (state.trust, state.words)
        };
        assert_eq!(state(2, 2), (Trust::Holdover, "it is in holdover".to_owned()));
        assert_eq!(state(2, 1).0, Trust::Unlocked);
        assert_eq!(state(2, 6).0, Trust::Unlocked);
        assert_eq!(state(9, 1 << 4).1, "a critical alarm is on");
        assert_eq!(state(11, 1 << 3).1, "it tracks no satellites");
        assert_eq!(state(10, 1 << 4), (Trust::Unlocked, "it generates no pulse".to_owned()));
        assert_eq!(state(12, 1).1, "it has no time yet");
        assert_eq!(state(13, 8).0, Trust::Unlocked);
        let (trust, words) = state(11, 1 << 1);
        assert_eq!((trust, words.as_str()), (Trust::Locked, ""), "an open antenna is a note");
    }

    fn primary_with(change: impl Fn(&mut Vec<u8>)) -> Vec<ReferenceEvent> {
        let mut contents = AB[1..AB.len() - 2].to_vec();
        change(&mut contents);
        decoded(&on_the_wire(&contents), 100)
    }

    #[test]
    fn a_time_that_is_not_set_or_set_by_hand_is_not_trusted() {
        for flags in [1 << 2, 1 << 4] {
            let events = primary_with(|contents| contents[10] = flags);
            assert!(
                matches!(&events[0], ReferenceEvent::Time(TimeMessage { trust: Trust::Unlocked, .. })),
                "{events:?}"
            );
        }
        let guessed = primary_with(|contents| contents[10] = 1 << 1 | 1 << 3);
        assert!(matches!(&guessed[0], ReferenceEvent::Time(TimeMessage { trust: Trust::Unlocked, .. })));
    }

    #[test]
    fn a_date_on_utc_is_read_as_that_and_one_that_does_not_fit_is_refused() {
        // 20:14:48 GPS is 20:14:30 UTC.
        let utc = primary_with(|contents| {
            contents[10] = 3;
            contents[11] = 30;
        });
        assert_eq!(seconds(&utc), [2085 * WEEK_S + 72_888]);
        let wrong = primary_with(|contents| contents[11] = 31);
        assert!(matches!(&wrong[0], ReferenceEvent::Refused { .. }), "{wrong:?}");
        let past = primary_with(|contents| contents[2] = 0xff);
        assert!(matches!(&past[0], ReferenceEvent::Refused { .. }), "{past:?}");
    }

    #[test]
    fn the_packet_of_tsip_v1_names_its_second_and_no_quantisation_error() {
        let mut contents = vec![0xa1, 0x00, 0, 0, 2];
        contents.extend(72_888_u32.to_be_bytes());
        contents.extend(2085_u16.to_be_bytes());
        contents.extend([20, 14, 30, 12, 22, 0x07, 0xe3, 6, 6, 3, 0, 18]);
        contents.extend(1.5_f32.to_be_bytes());
        contents.extend([0; 12]);
        let length = (contents.len() - 4) as u16;
        contents[2..4].copy_from_slice(&length.to_be_bytes());
        contents.push(0x5a);
        let events = decoded(&on_the_wire(&contents), 4);
        let message = TimeMessage {
            source: TimeSource::TsipTiming,
            second: GpsSecond(2085 * WEEK_S + 72_888),
            trust: Trust::Locked,
            qerr_ps: None,
            scale: TimeScale::Utc,
        };
        assert_eq!(events[0], ReferenceEvent::Time(message));
    }

    #[test]
    fn doubled_bytes_and_a_packet_cut_inside_one_are_told_apart() {
        // A day that is 16: its byte is doubled on the wire.
        let mut contents = AB[1..AB.len() - 2].to_vec();
        contents[14] = 16;
        contents[2..6].copy_from_slice(&(72_888_u32 + 86_400).to_be_bytes());
        contents[6..8].copy_from_slice(&2084_u16.to_be_bytes());
        let wire = on_the_wire(&contents);
        assert_eq!(wire.len(), AB.len() + 1);
        let whole = seconds(&decoded(&wire, 7));
        assert_eq!(whole, [2084 * WEEK_S + 72_888 + 86_400]);
        for cut in 1..wire.len() {
            let events = decoded(&[&wire[..cut], &wire].concat(), 6);
            assert_eq!(seconds(&events), whole, "cut at {cut}");
        }
    }

    fn garbage() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => any::<u8>(), 2 => Just(DLE), 1 => Just(ETX), 1 => Just(0x8f), 1 => Just(0xab), 1 => Just(0xac)
        ];
        prop::collection::vec(byte, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn all_that_is_intact_is_found_and_nothing_else(
            pieces in prop::collection::vec((garbage(), any::<bool>()), 1..8),
            read_size in 1..100_usize,
        ) {
            let mut bytes = Vec::new();
            let (mut named, mut stated) = (0, 0);
            for (garbage, primary) in &pieces {
                bytes.extend(garbage);
                bytes.extend(if *primary { AB.to_vec() } else { on_the_wire(&ac()) });
                if *primary { named += 1 } else { stated += 1 }
            }
            let events = decoded(&bytes, read_size);
            prop_assert_eq!(seconds(&events), vec![2085 * WEEK_S + 72_888; named]);
            prop_assert_eq!(states(&events).len(), stated);
            prop_assert_eq!(decoded(&bytes, 1), events);
        }

        #[test]
        fn any_bytes_give_the_same_events_at_any_read_size(
            bytes in prop::collection::vec(garbage(), 0..40),
            read_size in 2..100_usize,
        ) {
            let bytes = bytes.concat();
            prop_assert_eq!(decoded(&bytes, read_size), decoded(&bytes, 1));
        }
    }
}
