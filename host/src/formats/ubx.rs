//! UBX frames of a u-blox receiver: TIM-TP here, which names the next pulse and says how far off it is; the navigation
//! messages, receiver health and time marks in the modules below.
//!
//! Fields are read from the payload's bytes. The `ublox` crate reads the same frames in the tests; its TIM-TM2
//! `time_base()` panics on valid frames (0.10.0), and it has no accessor for the lock bit.

mod health;
mod nav;
pub mod tm2;

use crate::events::{ReferenceEvent, TimeMessage, TimeScale, TimeSource, Trust};
use crate::units::GpsSecond;

use super::utc;

/// Sync, class, id and length.
const HEADER: usize = 6;
const CHECKSUM: usize = 2;

const TIME_BASE_UTC: u8 = 1 << 0;
const UTC_AVAILABLE: u8 = 1 << 1;
const QERR_INVALID: u8 = 1 << 4;
/// Since protocol 32. Earlier receivers send 0: theirs is no lock, and RMC has to say whether there is one.
const NOT_LOCKED: u8 = 1 << 5;

const MS_A_WEEK: u32 = 604_800_000;
const NS_A_MS: i64 = 1_000_000;
const NS_A_SECOND: i64 = 1_000_000_000;
/// Further than this from a whole second a pulse does not begin one. Cable delays of receivers are set in less.
const OFF_SECOND_NS: i64 = 1_000_000;
/// Half a clock period of the slowest receiver is 22 ns: more than this is no quantisation error.
const QERR_MAX_PS: i32 = 50_000;

/// Takes what a frame says.
pub(super) type Say<'s> = &'s mut dyn FnMut(ReferenceEvent);

/// Tells what a whole frame with a right checksum says: nothing, if it is of a kind that says nothing here.
pub fn decode(frame: &[u8], say: &mut dyn FnMut(ReferenceEvent)) {
    let Some(body) = frame.get(HEADER..frame.len().saturating_sub(CHECKSUM)) else { return };
    match (frame[2], frame[3]) {
        (0x0d, 0x01) => tim_tp(body, say),
        (0x01, 0x07) => nav::pvt(body, say),
        (0x01, 0x20) => nav::time_gps(body, say),
        (0x01, 0x21) => nav::time_utc(body, say),
        (0x01, 0x26) => nav::time_ls(body, say),
        (0x01, 0x35) => health::satellites(body, say),
        (0x0a, 0x09) => health::hardware(body, say),
        (0x0a, 0x38) => health::bands(body, say),
        _ => {}
    }
}

/// The payload of a whole frame of this class and id.
fn payload(frame: &[u8], (class, id): (u8, u8)) -> Option<&[u8]> {
    let body = frame.get(HEADER..frame.len().checked_sub(CHECKSUM)?)?;
    (frame[2] == class && frame[3] == id).then_some(body)
}

fn bytes_at<const N: usize>(body: &[u8], at: usize) -> [u8; N] {
    body.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

fn u8_at(body: &[u8], at: usize) -> u8 {
    body.get(at).copied().unwrap_or(0)
}

fn u16_at(body: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(body, at))
}

fn u32_at(body: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(body, at))
}

fn i32_at(body: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes_at(body, at))
}

fn tim_tp(body: &[u8], say: Say<'_>) {
    if body.len() != 16 {
        return nav::refuse(say, "TIM-TP: its length is not 16");
    }
    let (flags, reference, qerr) = (u8_at(body, 14), u8_at(body, 15), i32_at(body, 8));
    say(match second(u16_at(body, 12), u32_at(body, 0), u32_at(body, 4), flags, reference) {
        Ok(second) => ReferenceEvent::Time(TimeMessage {
            source: TimeSource::UbxTimTp,
            second,
            trust: trust(flags),
            qerr_ps: Some(qerr).filter(|qerr| {
                flags & QERR_INVALID == 0 && qerr.unsigned_abs() <= QERR_MAX_PS.unsigned_abs()
            }),
            scale: if flags & TIME_BASE_UTC != 0 { TimeScale::Utc } else { TimeScale::Gps },
        }),
        Err(fault) => ReferenceEvent::Refused { reason: format!("TIM-TP: {fault}") },
    });
}

/// The receiver does not say whether a pulse that is not locked was so before, so this is never holdover. A pulse on
/// UTC while the receiver knows no UTC parameters rests on the leap seconds of its firmware's day.
const fn trust(flags: u8) -> Trust {
    let guessed_utc = flags & TIME_BASE_UTC != 0 && flags & UTC_AVAILABLE == 0;
    if flags & NOT_LOCKED != 0 || guessed_utc { Trust::Unlocked } else { Trust::Locked }
}

/// The second that begins at the pulse. `sub_ms` counts 2^-32 ms, and has been seen as 0.99999997 ms.
fn second(week: u16, ms: u32, sub_ms: u32, flags: u8, reference: u8) -> Result<GpsSecond, String> {
    if ms >= MS_A_WEEK {
        return Err(format!("time of week {ms} ms is past the week's end"));
    }
    let sub_ns = (i64::from(sub_ms) * NS_A_MS + (1 << 31)) >> 32;
    let ns = i64::from(ms) * NS_A_MS + sub_ns;
    let of_week = (ns + NS_A_SECOND / 2).div_euclid(NS_A_SECOND);
    if (ns - of_week * NS_A_SECOND).abs() > OFF_SECOND_NS {
        return Err(format!("the pulse at {ms} ms of the week begins no second; set the time pulse to 1 Hz"));
    }
    if flags & TIME_BASE_UTC != 0 {
        return Ok(utc::gps_second_of_utc_week(week, of_week));
    }
    match reference & 0x0f {
        0 => Ok(GpsSecond(i64::from(week) * i64::from(MS_A_WEEK / 1000) + of_week)),
        other => Err(format!("the pulse's time base is GNSS number {other}, not GPS; set it to GPS or UTC")),
    }
}

/// Frames for tests.
#[cfg(test)]
pub(crate) mod testing {
    use crate::events::ReferenceEvent;

    /// A frame with the right checksum.
    pub(crate) fn frame(class: u8, id: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = vec![0xb5, 0x62, class, id];
        frame.extend((body.len() as u16).to_le_bytes());
        frame.extend(body);
        let (mut a, mut b) = (0_u8, 0_u8);
        for &byte in &frame[2..] {
            a = a.wrapping_add(byte);
            b = b.wrapping_add(a);
        }
        frame.extend([a, b]);
        frame
    }

    /// Everything that a frame says.
    pub(crate) fn said(frame: &[u8]) -> Vec<ReferenceEvent> {
        let mut events = Vec::new();
        super::decode(frame, &mut |event| events.push(event));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(frame: &[u8]) -> Option<ReferenceEvent> {
        testing::said(frame).pop()
    }

    fn tim_tp(ms: u32, sub_ms: u32, qerr: i32, week: u16, flags: u8, reference: u8) -> Vec<u8> {
        let mut frame = Vec::new();
        frame.extend(ms.to_le_bytes());
        frame.extend(sub_ms.to_le_bytes());
        frame.extend(qerr.to_le_bytes());
        frame.extend(week.to_le_bytes());
        frame.extend([flags, reference]);
        testing::frame(0x0d, 0x01, &frame)
    }

    fn message(second: i64, trust: Trust, qerr_ps: Option<i32>) -> Option<ReferenceEvent> {
        on(TimeScale::Gps, second, trust, qerr_ps)
    }

    fn on(scale: TimeScale, second: i64, trust: Trust, qerr_ps: Option<i32>) -> Option<ReferenceEvent> {
        let (source, second) = (TimeSource::UbxTimTp, GpsSecond(second));
        Some(ReferenceEvent::Time(TimeMessage { source, second, trust, qerr_ps, scale }))
    }

    const WEEK: i64 = 604_800;

    #[test]
    fn a_frame_of_a_real_receiver() {
        // u-blox M8T, pulse on UTC, 2021-02-23 18:04:30: 18 s less than GPS time.
        let frame = b"\xb5\x62\x0d\x01\x10\x00\x98\x9f\x2d\x0e\x00\x00\x00\x00\x86\x26\x00\x00\x62\x08\x0b\x0f\xc0\x33";
        assert_eq!(decode(frame), on(TimeScale::Utc, 2146 * WEEK + 237_871 + 18, Trust::Locked, Some(9862)));
    }

    #[test]
    fn the_time_base_is_respected() {
        let gps = tim_tp(237_870_000, 0, 5, 2146, 0, 0);
        assert_eq!(decode(&gps), message(2146 * WEEK + 237_870, Trust::Locked, Some(5)));
        let utc = tim_tp(237_870_000, 0, 5, 2146, TIME_BASE_UTC | UTC_AVAILABLE, 0x3f);
        assert_eq!(decode(&utc), on(TimeScale::Utc, 2146 * WEEK + 237_888, Trust::Locked, Some(5)));
        for other in [1, 2, 3, 4, 15] {
            assert!(matches!(decode(&tim_tp(0, 0, 0, 2146, 0, other)), Some(ReferenceEvent::Refused { .. })));
        }
    }

    #[test]
    fn the_flags_say_what_is_trusted() {
        let trusted = |flags| match decode(&tim_tp(1000, 0, 7, 2146, flags, 0)) {
            Some(ReferenceEvent::Time(message)) => (message.trust, message.qerr_ps),
            other => panic!("{other:?}"),
        };
        assert_eq!(trusted(UTC_AVAILABLE), (Trust::Locked, Some(7)));
        assert_eq!(trusted(NOT_LOCKED), (Trust::Unlocked, Some(7)));
        assert_eq!(trusted(TIME_BASE_UTC), (Trust::Unlocked, Some(7)));
        assert_eq!(trusted(QERR_INVALID), (Trust::Locked, None));
    }

    #[test]
    fn an_impossible_quantisation_error_is_none() {
        for (qerr, expected) in [(50_000, Some(50_000)), (-50_001, None), (i32::MIN, None), (i32::MAX, None)]
        {
            assert_eq!(
                decode(&tim_tp(1000, 0, qerr, 2146, 0, 0)),
                message(2146 * WEEK + 1, Trust::Locked, expected)
            );
        }
    }

    #[test]
    fn the_fraction_rounds_to_the_second_and_over_the_weeks_end() {
        // 0.99999997 ms, as seen from a receiver.
        let late = 4_294_967_168;
        assert_eq!(
            decode(&tim_tp(237_869_999, late, 0, 2146, 0, 0)),
            message(2146 * WEEK + 237_870, Trust::Locked, Some(0))
        );
        assert_eq!(
            decode(&tim_tp(604_799_999, late, 0, 2146, 0, 0)),
            message(2147 * WEEK, Trust::Locked, Some(0))
        );
        assert_eq!(
            decode(&tim_tp(604_799_999, u32::MAX, 0, u16::MAX, 0, 0)),
            message(65_536 * WEEK, Trust::Locked, Some(0))
        );
        for (ms, sub_ms) in [(500, 0), (2, 0), (997, late), (604_800_000, 0), (u32::MAX, u32::MAX)] {
            assert!(
                matches!(decode(&tim_tp(ms, sub_ms, 0, 2146, 0, 0)), Some(ReferenceEvent::Refused { .. })),
                "{ms}"
            );
        }
    }

    #[test]
    fn other_frames_and_broken_ones_say_nothing() {
        assert_eq!(decode(&tim_tp(1000, 0, 0, 2146, 0, 0)[..5]), None);
        assert_eq!(decode(b""), None);
        // A time mark on which a careless accessor of the crate panics.
        let tm2 = b"\xb5\x62\x0d\x03\x1c\x00\x00\xcd\x0b\x00\x83\x09\x83\x09\xc9\xac\x4b\x16\xdb\xf5\x08\x00\xc9\xac\x4b\x16\xa3\xf4\x08\x00\x1d\x00\x00\x00\x5c\xb3";
        assert_eq!(decode(tm2), None);
    }

    #[test]
    fn the_fields_are_those_that_the_ublox_crate_reads() {
        use ublox::proto23::{PacketRef, Proto23};
        use ublox::{ParserBuilder, UbxPacket};
        let frame = tim_tp(123_456_000, 77, -9_876, 2146, 0x0b, 0x0f);
        let mut parser = ParserBuilder::new().with_protocol::<Proto23>().with_vec_buffer();
        let mut packets = parser.consume_ubx(&frame);
        let Some(Ok(UbxPacket::Proto23(PacketRef::TimTp(packet)))) = packets.next() else { panic!("TIM-TP") };
        let body = payload(&frame, (0x0d, 0x01)).unwrap();
        assert_eq!((packet.tow_ms(), packet.tow_sub_ms()), (u32_at(body, 0), u32_at(body, 4)));
        assert_eq!((packet.q_err(), packet.week()), (i32_at(body, 8), u16_at(body, 12)));
    }
}
