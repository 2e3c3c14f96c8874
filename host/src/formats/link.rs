//! What the board sends, from bytes with arrival times to events. The frames are those of the wire crate.

use ppsrig_wire::FromBoard;
use ppsrig_wire::frame::{self, Accumulator, FrameError};

use crate::events::{BoardEvent, Stamped};
use crate::units::HostNanos;

/// Decodes the bytes that come from the board.
#[derive(Debug, Default)]
pub struct LinkDecoder {
    accumulator: Accumulator,
    /// Bytes since the last zero. The accumulator cuts long pieces, so it cannot tell.
    pending: usize,
}

impl LinkDecoder {
    /// One that has seen nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { accumulator: Accumulator::new(), pending: 0 }
    }

    /// Takes bytes that arrived together, and returns what they completed. An event's time is that of its last byte.
    pub fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<BoardEvent>> {
        let mut events = Vec::new();
        for &byte in bytes {
            let length = self.pending;
            self.pending = if byte == 0 { 0 } else { length + 1 };
            if let Some(event) = self.accumulator.push(byte, |piece| event_of(piece, length)) {
                events.push(Stamped { at, event });
            }
        }
        events
    }

    /// Bytes of a frame that has begun and not ended. At the end of a recording they are neither a frame nor damage:
    /// the recording was ended, not the frame.
    #[must_use]
    pub const fn pending_bytes(&self) -> usize {
        self.pending
    }
}

/// A whole frame of an unknown kind counts as damaged: what it carried is as lost as if its bytes had been, and the
/// record that is missing for it was torn, not dropped. A board of this protocol version sends none.
fn event_of(piece: &[u8], length: usize) -> BoardEvent {
    match frame::decode::<FromBoard>(piece) {
        Ok((sequence, message)) => BoardEvent::Frame { sequence, message },
        Err(FrameError::Damaged) => {
            BoardEvent::Damaged { bytes: length, reason: "bytes were lost or damaged on the link" }
        }
        Err(FrameError::Unknown { .. }) => BoardEvent::Damaged {
            bytes: length,
            reason: "a whole frame of a kind that this version does not know",
        },
    }
}

#[cfg(test)]
mod tests {
    use ppsrig_wire::frame::{MAX_FRAME, encode};
    use ppsrig_wire::{Capture, CaptureCounters, Heartbeat};
    use proptest::prelude::*;

    use super::*;

    fn message(number: u32) -> FromBoard {
        if number.is_multiple_of(3) {
            return FromBoard::Heartbeat(Heartbeat {
                window: 1,
                number,
                counter: u64::from(number) << 20,
                captured: number,
                dropped: 0,
                longest_gap_ticks: 7,
            });
        }
        FromBoard::Capture(Capture {
            window: 1,
            number,
            counters: CaptureCounters::Irq { capture: u64::from(number) * 1_250_000 },
            snapshot: None,
            echo: Some((1, 2)),
        })
    }

    fn framed(sequence: u16) -> Vec<u8> {
        let mut out = [0; MAX_FRAME];
        let length = encode(sequence, &message(sequence.into()), &mut out).unwrap();
        out[..length].to_vec()
    }

    fn decoded(bytes: &[u8], read_size: usize) -> Vec<BoardEvent> {
        let mut decoder = LinkDecoder::new();
        let reads = bytes.chunks(read_size).zip(0..);
        reads.flat_map(|(read, at)| decoder.push(read, HostNanos(at))).map(|stamped| stamped.event).collect()
    }

    #[test]
    fn the_time_is_that_of_the_last_byte() {
        let bytes = framed(4);
        let (early, late) = bytes.split_at(bytes.len() - 1);
        let mut decoder = LinkDecoder::new();
        assert!(decoder.push(early, HostNanos(10)).is_empty());
        assert_eq!(decoder.pending_bytes(), early.len());
        let events = decoder.push(late, HostNanos(20));
        assert_eq!(
            events,
            [Stamped { at: HostNanos(20), event: BoardEvent::Frame { sequence: 4, message: message(4) } }]
        );
    }

    #[test]
    fn bytes_that_vanish_damage_one_frame_only() {
        let mut bytes = framed(1);
        bytes.drain(5..9);
        let torn = bytes.len() - 1;
        bytes.extend(framed(2));
        let damaged = BoardEvent::Damaged { bytes: torn, reason: "bytes were lost or damaged on the link" };
        assert_eq!(decoded(&bytes, 7), [damaged, BoardEvent::Frame { sequence: 2, message: message(2) }]);
    }

    #[test]
    fn a_vanished_zero_damages_the_two_frames_that_it_parted() {
        let mut bytes = framed(1);
        bytes.pop();
        bytes.extend(framed(2));
        bytes.extend(framed(3));
        let events = decoded(&bytes, 64);
        assert_eq!(events.len(), 2);
        assert!(matches!(events[0], BoardEvent::Damaged { .. }));
        assert_eq!(events[1], BoardEvent::Frame { sequence: 3, message: message(3) });
    }

    #[test]
    fn a_piece_longer_than_any_frame_is_counted_in_full() {
        let mut bytes = vec![0x55; 1000];
        bytes.push(0);
        let expected = BoardEvent::Damaged { bytes: 1000, reason: "bytes were lost or damaged on the link" };
        assert_eq!(decoded(&bytes, 64), [expected]);
    }

    proptest! {
        #[test]
        fn intact_frames_are_found_between_garbage_at_any_read_size(
            garbage in prop::collection::vec(prop::collection::vec(1..=255_u8, 0..30), 1..6),
            read_size in 1..80_usize,
        ) {
            let mut bytes = Vec::new();
            for (piece, sequence) in garbage.iter().zip(0..) {
                bytes.extend(piece);
                bytes.push(0);
                bytes.extend(framed(sequence));
            }
            let events = decoded(&bytes, read_size);
            let frames: Vec<_> = events.iter().filter(|event| matches!(event, BoardEvent::Frame { .. })).collect();
            prop_assert_eq!(frames.len(), garbage.len());
            prop_assert_eq!(&decoded(&bytes, 1), &events);
        }
    }
}
