//! UBX NAV-TIMEUTC, NAV-TIMEGPS, NAV-PVT and NAV-TIMELS: which second the last pulse began, how well the receiver knows
//! the time, and where its leap seconds come from.
//!
//! A navigation epoch stands on a whole second where the receiver navigates at 1 Hz; one between pulses names none.

use super::{Say, i32_at, u8_at, u16_at, u32_at};
use crate::events::{
    LeapMessage, ReferenceEvent, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource, Trust,
};
use crate::formats::utc::UtcTime;
use crate::units::GpsSecond;

const WEEK_S: i64 = 604_800;
/// The receiver's clock steps by a millisecond at most, and calendar fields are rounded to ten: further from its second
/// than this an epoch is one between pulses.
const OFF_SECOND_NS: i64 = 5_000_000;

/// NAV-TIMEUTC. The calendar fields are rounded to 10 ms and `nano`, signed, is counted from them: 23:59:59.9993 at the
/// end of a year is sent as 00:00:00 of the next one and -700,000 ns.
pub(super) fn time_utc(body: &[u8], say: Say<'_>) {
    if body.len() != 20 {
        return refuse(say, "NAV-TIMEUTC: its length is not 20");
    }
    let valid = u8_at(body, 19) & 7 == 7;
    let utc = calendar(&body[12..19]);
    let nano = i32_at(body, 8);
    named(TimeSource::UbxNavTimeUtc, utc, nano, if valid { Trust::NotStated } else { Trust::Unlocked }, say);
    accuracy(u32_at(body, 4), say);
}

/// NAV-TIMEGPS.
pub(super) fn time_gps(body: &[u8], say: Say<'_>) {
    if body.len() != 16 {
        return refuse(say, "NAV-TIMEGPS: its length is not 16");
    }
    let (ms, fraction, week) = (u32_at(body, 0), i32_at(body, 4), u16_at(body, 8));
    let (leap, valid) = (u8_at(body, 10) as i8, u8_at(body, 11));
    if i64::from(ms) >= WEEK_S * 1000 {
        return refuse(say, "NAV-TIMEGPS: a time of week past the week's end");
    }
    let ns = i64::from(ms) * 1_000_000 + i64::from(fraction);
    let of_week = (ns + 500_000_000).div_euclid(1_000_000_000);
    if (ns - of_week * 1_000_000_000).abs() > OFF_SECOND_NS {
        return;
    }
    say(ReferenceEvent::Time(TimeMessage {
        source: TimeSource::UbxNavTimeGps,
        second: GpsSecond(i64::from(week) * WEEK_S + of_week),
        trust: if valid & 3 == 3 { Trust::NotStated } else { Trust::Unlocked },
        qerr_ps: None,
        scale: TimeScale::Gps,
    }));
    if valid & 4 != 0 {
        say(ReferenceEvent::Leap(LeapMessage {
            source: "NAV-TIMEGPS",
            gps_minus_utc: Some(leap.into()),
            change: None,
            at: None,
        }));
    }
    accuracy(u32_at(body, 12), say);
}

/// NAV-PVT: the same second, and whether there is a fix.
pub(super) fn pvt(body: &[u8], say: Say<'_>) {
    if body.len() != 92 {
        return refuse(say, "NAV-PVT: its length is not 92");
    }
    let (valid, fix, flags) = (u8_at(body, 11), u8_at(body, 20), u8_at(body, 21));
    let fixed = flags & 1 != 0 && matches!(fix, 2..=5);
    // Date, time, and no doubt left about whole seconds.
    let trust = if valid & 7 == 7 && fixed { Trust::Locked } else { Trust::Unlocked };
    named(TimeSource::UbxNavPvt, calendar(&body[4..11]), i32_at(body, 16), trust, say);
    accuracy(u32_at(body, 12), say);
}

/// NAV-TIMELS: leap seconds and where they come from.
pub(super) fn time_ls(body: &[u8], say: Say<'_>) {
    if body.len() != 24 {
        return refuse(say, "NAV-TIMELS: its length is not 24");
    }
    let (origin, current, valid) = (u8_at(body, 8), u8_at(body, 9) as i8, u8_at(body, 23));
    let (change, to_event) = (u8_at(body, 11) as i8, i32_at(body, 12));
    let current = (valid & 1 != 0).then_some(i16::from(current));
    let announced = (valid & 2 != 0).then_some(change);
    let now_s = i64::from(u32_at(body, 0)) / 1000;
    // Week and day of the change: the day at whose end it takes effect, Sunday is 1.
    let (week, day) = (u16_at(body, 16), u16_at(body, 18));
    let ahead = announced.is_some_and(|change| change != 0) && to_event >= 0;
    let at = (ahead && (1..=7).contains(&day) && week != 0).then(|| {
        // Exact to the second by the countdown, which ends as the second behind 23:59:59 begins.
        let of_week = (now_s + i64::from(to_event)).rem_euclid(WEEK_S);
        let day_end = i64::from(week) * WEEK_S + i64::from(day) * 86_400;
        let week_start = (day_end - of_week + WEEK_S / 2).div_euclid(WEEK_S) * WEEK_S;
        GpsSecond(week_start + of_week)
    });
    say(ReferenceEvent::Leap(LeapMessage {
        source: "NAV-TIMELS",
        gps_minus_utc: current,
        change: announced,
        at,
    }));
    if origin == 0 {
        let words = "its leap seconds are those of its firmware's day, not yet from the sky".to_owned();
        state(StateSource::UbxNavTimeLs, Trust::Unlocked, None, words, say);
    }
}

/// Year, month, day, hour, minute, second: seven bytes.
fn calendar(fields: &[u8]) -> UtcTime {
    let small = |index: usize| i8::try_from(u8_at(fields, index)).unwrap_or(0);
    UtcTime {
        year: i16::try_from(u16_at(fields, 0)).unwrap_or(0),
        month: small(2),
        day: small(3),
        hour: u8_at(fields, 4),
        minute: u8_at(fields, 5),
        second: u8_at(fields, 6),
    }
}

fn named(source: TimeSource, utc: UtcTime, nano: i32, trust: Trust, say: Say<'_>) {
    if i64::from(nano).abs() > OFF_SECOND_NS {
        return;
    }
    match utc.gps_second() {
        Ok(second) => {
            let scale = TimeScale::Utc;
            say(ReferenceEvent::Time(TimeMessage { source, second, trust, qerr_ps: None, scale }));
        }
        // A receiver that knows no time sends zeros.
        Err(_) if trust == Trust::Unlocked => say(ReferenceEvent::Void { source }),
        Err(fault) => {
            say(ReferenceEvent::Refused { reason: format!("{}: {utc:?}: {fault}", source.name()) });
        }
    }
}

/// The receiver's estimate of how far its time may be off.
fn accuracy(ns: u32, say: Say<'_>) {
    let words = format!("it knows the time to {ns} ns");
    state(StateSource::UbxTimeAccuracy, Trust::NotStated, Some(i64::from(ns) * 1000), words, say);
}

pub(super) fn state(source: StateSource, trust: Trust, offset_ps: Option<i64>, words: String, say: Say<'_>) {
    say(ReferenceEvent::State(StateMessage { source, trust, offset_ps, words }));
}

pub(super) fn refuse(say: Say<'_>, reason: &str) {
    say(ReferenceEvent::Refused { reason: reason.to_owned() });
}

#[cfg(test)]
mod tests {
    use super::super::testing::{frame, said};
    use super::*;

    fn time_utc_body(nano: i32, calendar: [u8; 7], valid: u8) -> Vec<u8> {
        let mut body = vec![0; 4];
        body.extend(20_u32.to_le_bytes());
        body.extend(nano.to_le_bytes());
        body.extend(calendar);
        body.push(valid);
        body
    }

    fn time(events: &[ReferenceEvent]) -> Option<(i64, Trust)> {
        events.iter().find_map(|event| match event {
            ReferenceEvent::Time(message) => Some((message.second.0, message.trust)),
            _ => None,
        })
    }

    #[test]
    fn a_second_rounded_over_the_years_end_is_the_next_years_first() {
        // The example of the receiver's interface description.
        let body = time_utc_body(-700_000, [0xdc, 0x07, 1, 1, 0, 0, 0], 0xf7);
        let utc = UtcTime { year: 2012, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
        assert_eq!(
            time(&said(&frame(1, 0x21, &body))),
            Some((utc.gps_second().unwrap().0, Trust::NotStated))
        );
    }

    #[test]
    fn a_leap_second_is_named_and_an_epoch_between_pulses_is_not() {
        let leap = time_utc_body(12, [0xe0, 0x07, 12, 31, 23, 59, 60], 0xf7);
        let utc = UtcTime { year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60 };
        assert_eq!(
            time(&said(&frame(1, 0x21, &leap))),
            Some((utc.gps_second().unwrap().0, Trust::NotStated))
        );
        let between = time_utc_body(200_000_000, [0xea, 0x07, 11, 30, 1, 2, 3], 0xf7);
        assert_eq!(time(&said(&frame(1, 0x21, &between))), None);
    }

    #[test]
    fn what_the_receiver_does_not_know_is_unlocked_or_void() {
        let guessed = time_utc_body(0, [0xea, 0x07, 11, 30, 1, 2, 3], 0xf3);
        assert_eq!(time(&said(&frame(1, 0x21, &guessed))).map(|(_, trust)| trust), Some(Trust::Unlocked));
        let nothing = time_utc_body(0, [0; 7], 0);
        let void = ReferenceEvent::Void { source: TimeSource::UbxNavTimeUtc };
        assert_eq!(said(&frame(1, 0x21, &nothing))[0], void);
        let impossible = time_utc_body(0, [0xea, 0x07, 2, 31, 1, 2, 3], 0xf7);
        assert!(matches!(said(&frame(1, 0x21, &impossible))[0], ReferenceEvent::Refused { .. }));
    }

    #[test]
    fn gps_time_carries_the_leap_seconds() {
        let mut body = 237_888_000_u32.to_le_bytes().to_vec();
        body.extend((-300_i32).to_le_bytes());
        body.extend(2146_u16.to_le_bytes());
        body.extend([18, 7]);
        body.extend(9_u32.to_le_bytes());
        let events = said(&frame(1, 0x20, &body));
        assert_eq!(time(&events), Some((2146 * WEEK_S + 237_888, Trust::NotStated)));
        assert!(events.iter().any(|event| matches!(
            event,
            ReferenceEvent::Leap(LeapMessage { gps_minus_utc: Some(18), change: None, .. })
        )));
    }

    #[test]
    fn an_announced_leap_second_has_its_place() {
        // 2016-12-31 was a Saturday, day 7 of week 1929; an hour before its end.
        let mut body = vec![0; 24];
        let inserted = UtcTime { year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60 };
        let inserted = inserted.gps_second().unwrap();
        let now = inserted.0 - 3600;
        body[0..4].copy_from_slice(&((now % WEEK_S) as u32 * 1000).to_le_bytes());
        body[8] = 2;
        body[9] = 17;
        body[11] = 1;
        body[12..16].copy_from_slice(&3600_i32.to_le_bytes());
        body[16..18].copy_from_slice(&1929_u16.to_le_bytes());
        body[18..20].copy_from_slice(&7_u16.to_le_bytes());
        body[23] = 3;
        let leap = LeapMessage {
            source: "NAV-TIMELS",
            gps_minus_utc: Some(17),
            change: Some(1),
            at: Some(inserted),
        };
        assert_eq!(said(&frame(1, 0x26, &body)), [ReferenceEvent::Leap(leap)]);
        body[8] = 0;
        let events = said(&frame(1, 0x26, &body));
        assert!(matches!(&events[1], ReferenceEvent::State(state) if state.trust == Trust::Unlocked));
    }

    #[test]
    fn pvt_vouches_with_a_fix_and_the_seconds_resolved() {
        let mut body = vec![0; 92];
        body[4..11].copy_from_slice(&[0xea, 0x07, 11, 30, 1, 2, 3]);
        body[11] = 7;
        body[20] = 3;
        body[21] = 1;
        assert_eq!(time(&said(&frame(1, 7, &body))).map(|(_, trust)| trust), Some(Trust::Locked));
        for (index, value) in [(11, 3), (20, 0), (20, 1), (21, 0)] {
            let mut body = body.clone();
            body[index] = value;
            assert_eq!(time(&said(&frame(1, 7, &body))).map(|(_, trust)| trust), Some(Trust::Unlocked));
        }
    }

    #[test]
    fn a_frame_of_another_length_is_refused() {
        for id in [0x07, 0x20, 0x21, 0x26] {
            for length in [0, 15, 19, 23, 91, 200] {
                let events = said(&frame(1, id, &vec![0; length]));
                assert!(matches!(&events[..], [ReferenceEvent::Refused { .. }]), "{id:#x} {length}");
            }
        }
    }
}
