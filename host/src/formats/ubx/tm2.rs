//! UBX TIM-TM2: the receiver's own stamps of edges at its time mark input.
//!
//! Read from the raw bytes: the `ublox` crate's accessor for the time base panics on valid frames (0.10.0). A receiver
//! reports the last rising and the last falling edge of a navigation epoch: the fields of one without its `new` bit are
//! those of an earlier frame, and edges before the last one show in the count only.

use crate::units::Picos;

use super::{payload, u8_at, u16_at, u32_at};

const CLASS_ID: (u8, u8) = (0x0d, 0x03);
const LENGTH: usize = 28;
const PS_A_MS: i128 = 1_000_000_000;
const MS_A_WEEK: u32 = 604_800_000;
const NS_A_MS: u32 = 1_000_000;

/// One time mark frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tm2 {
    /// The input: 0 for EXTINT0.
    pub channel: u8,
    /// Whether the receiver runs on, or stops after one mark.
    pub running: bool,
    /// Whether it stands still.
    pub stopped: bool,
    /// The rising edge, if this frame brings a new one.
    pub rising: Option<Mark>,
    /// The falling edge, if this frame brings a new one. It may precede the rising one, and then ends another pulse.
    pub falling: Option<Mark>,
    /// Rising edges so far, modulo 65536.
    pub count: u16,
    /// The scale of the marks.
    pub base: Tm2Base,
    /// Whether the receiver knows UTC.
    pub utc_available: bool,
    /// Whether the receiver vouches for the time.
    pub time_valid: bool,
    /// Its accuracy estimate in nanoseconds.
    pub accuracy_ns: u32,
}

/// The scale of the marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tm2Base {
    /// The receiver's own clock.
    Receiver,
    /// GNSS time.
    Gnss,
    /// UTC.
    Utc,
    /// The value that the documents reserve.
    Reserved,
}

/// When an edge came, on the frame's scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Week number.
    pub week: u16,
    /// Milliseconds of the week.
    pub ms: u32,
    /// Nanoseconds behind them.
    pub sub_ns: u32,
}

impl Mark {
    /// Picoseconds since the scale's week 0 began.
    #[must_use]
    pub const fn time(self) -> Picos {
        let ms = self.week as i128 * MS_A_WEEK as i128 + self.ms as i128;
        Picos(ms * PS_A_MS + self.sub_ns as i128 * 1000)
    }
}

impl Tm2 {
    /// Rising edges that no frame has reported between `earlier` and this one: the count steps by one for each edge, and
    /// a frame reports the last.
    #[must_use]
    pub const fn unreported_since(&self, earlier: &Self) -> u16 {
        let step = self.count.wrapping_sub(earlier.count);
        if self.rising.is_some() { step.saturating_sub(1) } else { step }
    }
}

/// What a whole frame with a right checksum says; none for any other frame.
///
/// # Errors
/// What is wrong with a frame of this kind.
pub fn decode(frame: &[u8]) -> Option<Result<Tm2, &'static str>> {
    let body = payload(frame, CLASS_ID)?;
    if body.len() != LENGTH {
        return Some(Err("TIM-TM2: its length is not 28"));
    }
    let flags = u8_at(body, 1);
    let mark = |week: usize, ms: usize, sub: usize, new: u8| {
        let mark = Mark { week: u16_at(body, week), ms: u32_at(body, ms), sub_ns: u32_at(body, sub) };
        (flags & new != 0).then_some(mark)
    };
    let (rising, falling) = (mark(4, 8, 12, 1 << 7), mark(6, 16, 20, 1 << 2));
    let impossible = |mark: &Mark| mark.ms >= MS_A_WEEK || mark.sub_ns >= NS_A_MS;
    if rising.iter().chain(&falling).any(impossible) {
        return Some(Err("TIM-TM2: a time of week past the week's end"));
    }
    Some(Ok(Tm2 {
        channel: u8_at(body, 0),
        running: flags & 1 != 0,
        stopped: flags & 1 << 1 != 0,
        rising,
        falling,
        count: u16_at(body, 2),
        base: match flags >> 3 & 3 {
            0 => Tm2Base::Receiver,
            1 => Tm2Base::Gnss,
            2 => Tm2Base::Utc,
            _ => Tm2Base::Reserved,
        },
        utc_available: flags & 1 << 5 != 0,
        time_valid: flags & 1 << 6 != 0,
        accuracy_ns: u32_at(body, 24),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::frame;
    use super::*;

    /// Two frames of a real receiver, 1.2 s apart.
    const EARLIER: &[u8] = b"\xb5\x62\x0d\x03\x1c\x00\x00\xcd\x0a\x00\x83\x09\x83\x09\xaa\x71\x4b\x16\x18\xf3\x04\x00\xaa\x71\x4b\x16\x21\xee\x04\x00\x1a\x00\x00\x00\x4f\xeb";
    const LATER: &[u8] = b"\xb5\x62\x0d\x03\x1c\x00\x00\xcd\x0b\x00\x83\x09\x83\x09\xc9\xac\x4b\x16\xdb\xf5\x08\x00\xc9\xac\x4b\x16\xa3\xf4\x08\x00\x1d\x00\x00\x00\x5c\xb3";

    fn read(frame: &[u8]) -> Tm2 {
        decode(frame).expect("a time mark").expect("a good one")
    }

    #[test]
    fn a_real_frame_on_which_a_careless_accessor_panics() {
        let mark = read(LATER);
        assert_eq!((mark.channel, mark.count, mark.accuracy_ns), (0, 11, 29));
        assert_eq!(mark.rising, Some(Mark { week: 2435, ms: 374_058_185, sub_ns: 587_227 }));
        assert_eq!(mark.falling, Some(Mark { week: 2435, ms: 374_058_185, sub_ns: 586_915 }));
        assert_eq!((mark.base, mark.time_valid, mark.utc_available), (Tm2Base::Gnss, true, false));
        let (rising, falling) = (mark.rising.unwrap().time(), mark.falling.unwrap().time());
        assert_eq!(rising.0 - falling.0, 312_000, "the falling one ended the pulse before");
        assert_eq!(mark.unreported_since(&read(EARLIER)), 0);
    }

    fn with(flags: u8, count: u16) -> Vec<u8> {
        let mut body = LATER[6..34].to_vec();
        body[1] = flags;
        body[2..4].copy_from_slice(&count.to_le_bytes());
        frame(0x0d, 0x03, &body)
    }

    #[test]
    fn stale_fields_are_none_and_every_time_base_is_read() {
        let stale = read(&with(0x49, 11));
        assert_eq!((stale.rising, stale.falling), (None, None));
        assert_eq!(read(&with(0x80, 1)).falling, None);
        let bases = [0x00, 0x08, 0x10, 0x18].map(|flags| read(&with(flags, 0)).base);
        assert_eq!(bases, [Tm2Base::Receiver, Tm2Base::Gnss, Tm2Base::Utc, Tm2Base::Reserved]);
    }

    #[test]
    fn the_count_wraps_and_tells_what_was_not_reported() {
        let at = |flags, count| read(&with(flags, count));
        assert_eq!(at(0xcd, 0).unreported_since(&at(0xcd, 65_535)), 0);
        assert_eq!(at(0xcd, 2).unreported_since(&at(0xcd, 65_535)), 2);
        assert_eq!(at(0x4d, 12).unreported_since(&at(0xcd, 12)), 0, "a falling edge alone");
        assert_eq!(at(0x4d, 13).unreported_since(&at(0xcd, 12)), 1, "counted, and its stamp is stale");
    }

    #[test]
    fn a_mark_that_cannot_be_is_refused() {
        let mut body = LATER[6..34].to_vec();
        body[8..12].copy_from_slice(&604_800_000_u32.to_le_bytes());
        assert!(decode(&frame(0x0d, 0x03, &body)).is_some_and(|read| read.is_err()));
        assert!(decode(&frame(0x0d, 0x03, &body[..20])).is_some_and(|read| read.is_err()));
        assert_eq!(decode(&frame(0x0d, 0x01, &body[..16])), None);
        assert_eq!(decode(b""), None);
    }
}
