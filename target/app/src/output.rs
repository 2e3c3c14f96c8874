//! Frames on their way to the link, as a ring of bytes.

use heapless::Deque;
use ppsrig_wire::{
    FromBoard,
    frame::{MAX_FRAME, encode},
};

/// Bytes that the output holds: eight of the longest frames.
pub const OUTPUT_BYTES: usize = 8 * MAX_FRAME;

/// Takes whole frames, gives single bytes.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Deque<u8, OUTPUT_BYTES>,
    sequence: u16,
}

impl Output {
    pub(crate) const fn new() -> Self {
        Self { bytes: Deque::new(), sequence: 0 }
    }

    /// Whether any message fits. A caller that heeds it loses nothing.
    pub(crate) fn has_room(&self) -> bool {
        OUTPUT_BYTES - self.bytes.len() >= MAX_FRAME
    }

    /// Whether everything was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends one frame; frames are numbered in the order in which they go out.
    pub(crate) fn send(&mut self, message: &FromBoard) {
        let mut frame = [0; MAX_FRAME];
        let Ok(length) = encode(self.sequence, message, &mut frame) else {
            return; // No message of the wire crate is too long: its tests prove it.
        };
        if self.bytes.len() + length > OUTPUT_BYTES {
            return;
        }
        for &byte in &frame[..length] {
            let _fits = self.bytes.push_back(byte);
        }
        self.sequence = self.sequence.wrapping_add(1);
    }

    pub(crate) fn next_byte(&mut self) -> Option<u8> {
        self.bytes.pop_front()
    }
}
