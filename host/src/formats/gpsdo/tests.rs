use proptest::prelude::*;

use super::*;
use crate::formats::receiver::ReceiverDecoder;

/// With the right checksum.
fn t2(body: &str) -> String {
    let sum = body.bytes().fold(0_u8, |sum, byte| sum.wrapping_add(byte));
    format!("{body}{sum:02X}")
}

fn decoded(mut decoder: ReceiverDecoder, bytes: &[u8], read_size: usize) -> Vec<ReferenceEvent> {
    let mut events: Vec<_> =
        bytes.chunks(read_size).zip(0..).flat_map(|(read, at)| decoder.push(read, HostNanos(at))).collect();
    events.extend(decoder.finish());
    events.into_iter().map(|stamped| stamped.event).collect()
}

fn hp(text: &str) -> Vec<ReferenceEvent> {
    let events = decoded(ReceiverDecoder::hp_scpi(), text.as_bytes(), 1);
    assert_eq!(decoded(ReceiverDecoder::hp_scpi(), text.as_bytes(), 1000), events);
    events
}

fn asked(family: Family, question: &str, answer: &str) -> Vec<ReferenceEvent> {
    let mut decoder = match family {
        Family::Hp => ReceiverDecoder::hp_scpi(),
        Family::Jackson => ReceiverDecoder::jackson(),
    };
    decoder.sent(format!("{question}\r\n").as_bytes());
    decoded(decoder, format!("{answer}\r\n").as_bytes(), 3)
}

fn time(events: &[ReferenceEvent]) -> Option<(i64, Trust)> {
    events.iter().find_map(|event| match event {
        ReferenceEvent::Time(message) => Some((message.second.0, message.trust)),
        _ => None,
    })
}

fn state(events: &[ReferenceEvent]) -> Option<(Trust, Option<i64>, &str)> {
    events.iter().find_map(|event| match event {
        ReferenceEvent::State(state) => Some((state.trust, state.offset_ps, state.words.as_str())),
        _ => None,
    })
}

fn second(year: i16, month: i8, day: i8, hour: u8, minute: u8, second: u8) -> i64 {
    UtcTime { year, month, day, hour, minute, second }.gps_second().unwrap().0
}

#[test]
fn the_documented_time_code_is_read_behind_a_prompt_that_came_late() {
    let events = hp("scpi > T220060105075143300003B\r\nscpi > ");
    assert_eq!(time(&events), Some((second(2006, 1, 5, 7, 51, 43), Trust::Locked)));
    assert_eq!(state(&events), Some((Trust::Locked, Some(1_000_000), "")), "TFOM 3: 1000 ns at most");
    assert_eq!(events.len(), 2);
}

#[test]
fn figures_of_merit_and_validity_say_what_is_trusted() {
    let trust = |tail: &str| {
        let events = hp(&format!("{}\r\n", t2(&format!("T220261130120000{tail}"))));
        let (trust, bound, _) = state(&events).unwrap();
        assert_eq!(time(&events).unwrap().1, trust);
        (trust, bound.unwrap())
    };
    assert_eq!(trust("30000"), (Trust::Locked, 1_000_000));
    assert_eq!(trust("40000"), (Trust::Locked, 10_000_000));
    assert_eq!(trust("31000").0, Trust::Unlocked);
    assert_eq!(trust("62000").0, Trust::Holdover);
    assert_eq!(trust("93000").0, Trust::Unlocked);
    assert_eq!(trust("30001").0, Trust::Unlocked);
}

#[test]
fn a_leap_second_is_announced_and_named() {
    let events = hp(&format!("{}\r\n", t2("T22016123123596030+00")));
    assert_eq!(time(&events), Some((second(2016, 12, 31, 23, 59, 60), Trust::Locked)));
    assert!(matches!(events[2], ReferenceEvent::Leap(LeapMessage { change: Some(1), .. })));
}

#[test]
fn a_wrong_checksum_and_an_impossible_date_are_refused() {
    for line in [
        "T220060105075143300003C".to_owned(),
        "T2200601050751433000".to_owned() + "0ZZ",
        t2("T22026023107514330000"),
    ] {
        let events = hp(&format!("{line}\r\n"));
        assert!(matches!(&events[..], [ReferenceEvent::Refused { .. }]), "{line}: {events:?}");
    }
}

#[test]
fn an_error_prompt_is_told_and_gives_the_question_up() {
    let mut decoder = ReceiverDecoder::hp_scpi();
    decoder.sent(b":PTIM:TINT?\n");
    let events = decoder.push(b"E-230> scpi > T220060105075143300003B\r\n", HostNanos(0));
    assert!(
        matches!(&events[0].event, ReferenceEvent::Refused { reason } if reason.contains("-230")),
        "{events:?}"
    );
    assert!(!decoder.awaits_answer());
    assert_eq!(events.len(), 3);
}

#[test]
fn answers_are_told_by_their_questions() {
    assert_eq!(
        state(&asked(Family::Hp, ":ROSC:HOLD:DUR?", "+4.20000E+02,1")),
        Some((Trust::Holdover, None, "it has been in holdover for 420 s"))
    );
    assert_eq!(state(&asked(Family::Hp, ":rosc:hold:dur?", "+4.20000E+02,0")), None, "the last one");
    let interval = asked(Family::Hp, ":PTIM:TINT?", "scpi > -3.45E-08");
    assert_eq!(state(&interval), Some((Trust::NotStated, Some(-34_500), "")));
    let leap = asked(Family::Hp, ":PTIM:LEAP:ACC?", "+18");
    assert!(matches!(leap[0], ReferenceEvent::Leap(LeapMessage { gps_minus_utc: Some(18), .. })));
    assert_eq!(
        state(&asked(Family::Jackson, "SYNC:LOCK?", "0")),
        Some((Trust::Unlocked, None, "it is not locked"))
    );
    assert_eq!(state(&asked(Family::Jackson, "SYNC:LOCK?", "1")), Some((Trust::Locked, None, "")));
    assert_eq!(state(&asked(Family::Jackson, "SYNC:HEALTH?", "0x0")), Some((Trust::Locked, None, "")));
    let (trust, _, words) = {
        let events = asked(Family::Jackson, "SYNC:HEALTH?", "0x230");
        let (trust, offset, words) = state(&events).unwrap();
        (trust, offset, words.to_owned())
    };
    assert_eq!(trust, Trust::Unlocked);
    assert!(words.contains("holdover") && words.contains("phase was reset"), "{words}");
}

#[test]
fn a_status_screen_an_echo_and_an_answer_of_another_form_answer_nothing() {
    let mut decoder = ReceiverDecoder::hp_scpi();
    decoder.sent(b":ROSC:HOLD:DUR?\n");
    let screen = b"scpi > :ROSC:HOLD:DUR?\r\n------- Receiver Status -------\r\nSYNCHRONIZATION  [ Outputs Valid ]\r\n\r\n";
    assert!(decoder.push(screen, HostNanos(0)).is_empty());
    assert!(decoder.awaits_answer());
    assert_eq!(decoder.push(b"+0.0E+00,1\r\n", HostNanos(0)).len(), 1);
    assert!(!decoder.awaits_answer());
}

#[test]
fn jackson_labs_units_speak_by_themselves_too() {
    let text = b"scpi > 08-07-31 373815 60685 -32.08 -2.22E-11 14 10 6 0x54\r\n\
        $GPRMC,005947.00,A,3715.6616,N,12157.6709,W,0.0,0.0,080710,,*2F\r\n\
        $PJLTS,0.00,0.00,0,1,1.6732218,55.7740,1.9E-8,655,3,0x230*54\r\n\
        HEALTH STATUS : 0x0\r\n";
    let events = decoded(ReceiverDecoder::jackson(), text, 7);
    assert_eq!(events.len(), 4, "{events:?}");
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ReferenceEvent::State(state) => Some((state.source, state.trust, state.offset_ps)),
            _ => None,
        })
        .collect();
    assert_eq!(
        states,
        [
            (StateSource::JacksonTrace, Trust::Unlocked, Some(-32_080)),
            (StateSource::JacksonPjlts, Trust::Unlocked, Some(0)),
            (StateSource::JacksonHealth, Trust::Locked, None),
        ]
    );
    assert_eq!(time(&events), Some((second(2010, 7, 8, 0, 59, 47), Trust::Locked)));
}

fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => any::<u8>(), 1 => Just(b'T'), 1 => Just(b'2'), 1 => Just(b'$'), 1 => Just(b'\r'), 2 => 48..58_u8
    ];
    prop::collection::vec(byte, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_intact_time_code_is_found(
        pieces in prop::collection::vec(garbage(), 1..6),
        read_size in 1..100_usize,
    ) {
        let mut bytes = Vec::new();
        for garbage in &pieces {
            bytes.extend(garbage);
            bytes.extend(b"T220060105075143300003B\r\n");
        }
        let events = decoded(ReceiverDecoder::hp_scpi(), &bytes, read_size);
        let found = events.iter().filter(|event| matches!(event, ReferenceEvent::Time(_))).count();
        prop_assert_eq!(found, pieces.len());
        prop_assert_eq!(decoded(ReceiverDecoder::hp_scpi(), &bytes, 1), events);
    }

    #[test]
    fn any_bytes_give_the_same_events_at_any_read_size(
        bytes in prop::collection::vec(garbage(), 0..60),
        question in 0..5_usize,
        read_size in 2..100_usize,
    ) {
        let bytes = bytes.concat();
        let said = |read_size| {
            let mut decoder = ReceiverDecoder::jackson();
            decoder.sent(format!("{}\r\n", JACKSON[question].text).as_bytes());
            decoded(decoder, &bytes, read_size)
        };
        prop_assert_eq!(said(read_size), said(1));
    }
}
