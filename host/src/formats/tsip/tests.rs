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
    let mut events: Vec<Stamped<ReferenceEvent>> =
        bytes.chunks(read_size).zip(0..).flat_map(|(read, at)| decoder.push(read, HostNanos(at))).collect();
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
