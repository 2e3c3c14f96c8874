//! A u-blox receiver as an interval counter: TIM-TM2 stamps the edges at its time mark inputs, 0 for channel A and 1 for
//! channel B, in steps of some nanoseconds. It reports only the last edge of each navigation epoch, so edges closer than
//! that show in its count alone.

use super::refused;
use crate::events::IntervalChannel::{A, B};
use crate::events::{IntervalEvent, IntervalStamp, Stamped};
use crate::formats::splitter::{Piece, Speech, Splitter};
use crate::formats::ubx::tm2::{self, Tm2, Tm2Base};
use crate::units::HostNanos;

/// Decodes the frames of one receiver.
#[derive(Debug)]
pub(super) struct TimeMarkDecoder {
    splitter: Splitter,
    /// Whether falling edges count.
    falling: bool,
    /// The last frame of each input.
    last: [Option<Tm2>; 2],
    base: Option<Tm2Base>,
}

impl TimeMarkDecoder {
    pub(super) const fn new(falling: bool) -> Self {
        Self { splitter: Splitter::new(Speech::Ubx), falling, last: [None; 2], base: None }
    }

    pub(super) fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<IntervalEvent>> {
        let mut marks = Vec::new();
        // Whatever else the receiver says is its reference's business.
        self.splitter.push(bytes, at, &mut |at, piece| {
            if let Piece::Ubx(frame) = piece {
                marks.extend(tm2::decode(frame).map(|mark| (at, mark)));
            }
        });
        let mut events = Vec::new();
        for (at, mark) in marks {
            let mut found = Vec::new();
            match mark {
                Ok(mark) => self.mark(mark, &mut found),
                Err(reason) => found.push(IntervalEvent::Refused { reason: reason.to_owned() }),
            }
            events.extend(found.into_iter().map(|event| Stamped { at, event }));
        }
        events
    }

    fn mark(&mut self, frame: Tm2, events: &mut Vec<IntervalEvent>) {
        let channel = match frame.channel {
            0 => A,
            1 => B,
            other => {
                return events.push(refused(&other.to_string(), "TIM-TM2 of an input that there is not"));
            }
        };
        if !frame.time_valid {
            let reason = "TIM-TM2: the receiver does not vouch for its time".to_owned();
            return events.push(IntervalEvent::Refused { reason });
        }
        if self.base.replace(frame.base).is_some_and(|base| base != frame.base) {
            self.last = [None; 2];
            events.push(IntervalEvent::Restarted);
        }
        let last = self.last[usize::from(channel == B)].replace(frame);
        // The count is that of rising edges.
        let missed = last.map_or(0, |last| frame.unreported_since(&last));
        if missed > 0 && !self.falling {
            events.push(IntervalEvent::Missed { channel, edges: missed.into() });
        }
        let mark = if self.falling { frame.falling } else { frame.rising };
        let stamp = |time| IntervalStamp { channel, time, half_width: None };
        events.extend(mark.map(|mark| IntervalEvent::Stamp(stamp(mark.time()))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Picos;

    /// Two frames of a real receiver, counts 10 and 11; the falling edge precedes the rising one.
    const FRAMES: [&str; 2] = [
        "b5620d031c0000cd0a0083098309aa714b1618f30400aa714b1621ee04001a0000004feb",
        "b5620d031c0000cd0b0083098309c9ac4b16dbf50800c9ac4b16a3f408001d0000005cb3",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
    }

    fn decoded(bytes: &[u8], falling: bool, read_size: usize) -> Vec<IntervalEvent> {
        let mut decoder = TimeMarkDecoder::new(falling);
        let reads = bytes.chunks(read_size).flat_map(|read| decoder.push(read, HostNanos(0)));
        reads.map(|stamped| stamped.event).collect()
    }

    fn stamp(ms: i128, sub_ns: i128) -> IntervalEvent {
        let time = Picos((2435 * 604_800_000 + ms) * 1_000_000_000 + sub_ns * 1000);
        IntervalEvent::Stamp(IntervalStamp { channel: A, time, half_width: None })
    }

    #[test]
    fn frames_of_a_real_receiver_are_stamps() {
        let both = FRAMES.map(bytes).concat();
        let rising = [stamp(374_043_050, 324_376), stamp(374_058_185, 587_227)];
        for read_size in [1, 3, 7, 9, 64] {
            assert_eq!(decoded(&both, false, read_size), rising);
        }
        assert_eq!(decoded(&both, true, 64)[1], stamp(374_058_185, 586_915));
    }

    #[test]
    fn edges_that_only_the_count_shows_are_missed() {
        let mut later = bytes(FRAMES[1]);
        later[8] = 14;
        let (mut a, mut b) = (0_u8, 0_u8);
        for &byte in &later[2..later.len() - 2] {
            a = a.wrapping_add(byte);
            b = b.wrapping_add(a);
        }
        let end = later.len() - 2;
        later[end..].copy_from_slice(&[a, b]);
        let events = decoded(&[bytes(FRAMES[0]), later].concat(), false, 64);
        assert_eq!(events[1], IntervalEvent::Missed { channel: A, edges: 3 });
        assert_eq!(events.len(), 3);
    }
}
