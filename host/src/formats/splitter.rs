//! Finds UBX frames and NMEA sentences in what a receiver sends, whatever stands between them.
//!
//! A receiver's port is noisy: sentences are cut, frames lose bytes, a wrong length would swallow what follows. So
//! nothing is believed before its checksum: where a frame turns out not to be one, the search goes on two bytes behind
//! its beginning, and everything intact inside its supposed length is still found. The bytes wait for that together
//! with their arrival times, so that a frame keeps the time of its own last byte.

use std::collections::VecDeque;

use ublox::proto23::Proto23;
use ublox::{ParserBuilder, UbxProtocol};

use crate::events::Stamped;
use crate::units::HostNanos;

const UBX_SYNC: [u8; 2] = [0xb5, 0x62];
const UBX_HEADER: usize = 6;
const UBX_CHECKSUM: usize = 2;
/// Longest sentence in bytes, `$` included. The standard says 82; proprietary ones are longer.
const SENTENCE_MAX: usize = 512;
/// A wrong baud rate gives nothing but garbage: it is reported piece by piece, not hoarded.
const GARBAGE_MAX: usize = 1024;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A whole UBX frame with a right checksum.
    Ubx(Vec<u8>),
    /// From `$` up to and without the line end; its checksum is not looked at.
    Sentence(Vec<u8>),
    /// Bytes in a row that are neither.
    Garbage {
        /// How many.
        bytes: usize,
        /// What they look most like.
        reason: &'static str,
    },
}

/// What stands at the front of the buffer.
enum Front {
    /// More bytes will tell.
    Undecided,
    /// So many bytes are a piece, without so many line end bytes.
    Piece(usize, fn(&[u8]) -> Piece),
    /// So many bytes are nothing.
    Nothing(usize, &'static str),
}

/// Splits one receiver's bytes.
#[derive(Debug)]
pub(super) struct Splitter {
    /// Whether UBX frames are looked for.
    ubx: bool,
    waiting: Vec<u8>,
    /// For each read that still has bytes in `waiting`: how many, and when they arrived.
    arrivals: VecDeque<(usize, HostNanos)>,
    garbage: usize,
    garbage_reason: &'static str,
    garbage_at: HostNanos,
    found: Vec<Stamped<Piece>>,
}

impl Splitter {
    pub(super) const fn new(ubx: bool) -> Self {
        Self {
            ubx,
            waiting: Vec::new(),
            arrivals: VecDeque::new(),
            garbage: 0,
            garbage_reason: "",
            garbage_at: HostNanos(0),
            found: Vec::new(),
        }
    }

    /// Takes bytes that arrived together, and returns what is decided by them.
    pub(super) fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<Piece>> {
        if !bytes.is_empty() {
            self.waiting.extend_from_slice(bytes);
            self.arrivals.push_back((bytes.len(), at));
        }
        self.split(false)
    }

    /// The recording is over: decides what is still waiting.
    pub(super) fn finish(&mut self) -> Vec<Stamped<Piece>> {
        let mut found = self.split(true);
        self.flush_garbage();
        found.append(&mut self.found);
        found
    }

    fn split(&mut self, last: bool) -> Vec<Stamped<Piece>> {
        while !self.waiting.is_empty() {
            match front(&self.waiting, self.ubx, last) {
                Front::Undecided => break,
                Front::Nothing(length, reason) => self.discard(length, reason),
                Front::Piece(length, piece) => {
                    self.flush_garbage();
                    let event = piece(&self.waiting[..length]);
                    self.waiting.drain(..length);
                    let at = self.take_arrival(length);
                    self.found.push(Stamped { at, event });
                }
            }
        }
        std::mem::take(&mut self.found)
    }

    /// When the last of the next `length` waiting bytes arrived; forgets the arrivals of all of them.
    fn take_arrival(&mut self, length: usize) -> HostNanos {
        let mut left = length;
        loop {
            // There is an arrival for every waiting byte.
            let Some((count, at)) = self.arrivals.front_mut() else { return self.garbage_at };
            let at = *at;
            if *count > left {
                *count -= left;
                return at;
            }
            left -= *count;
            self.arrivals.pop_front();
            if left == 0 {
                return at;
            }
        }
    }

    /// One byte at a time, so that long garbage is reported in the same portions whatever the reads were.
    fn discard(&mut self, length: usize, reason: &'static str) {
        let bytes: Vec<u8> = self.waiting.drain(..length).collect();
        for byte in bytes {
            let at = self.take_arrival(1);
            // The line ends behind a sentence are no garbage.
            if matches!(byte, b'\r' | b'\n') && self.garbage == 0 && reason.is_empty() {
                continue;
            }
            if self.garbage == 0 || self.garbage_reason.is_empty() {
                self.garbage_reason = reason;
            }
            self.garbage += 1;
            self.garbage_at = at;
            if self.garbage == GARBAGE_MAX {
                self.flush_garbage();
            }
        }
    }

    fn flush_garbage(&mut self) {
        if self.garbage == 0 {
            return;
        }
        let reason =
            if self.garbage_reason.is_empty() { "neither UBX nor NMEA" } else { self.garbage_reason };
        let event = Piece::Garbage { bytes: self.garbage, reason };
        self.found.push(Stamped { at: self.garbage_at, event });
        self.garbage = 0;
        self.garbage_reason = "";
    }
}

/// Decides what stands at the front of `bytes`, which is not empty. After the last byte nothing is undecided.
fn front(bytes: &[u8], ubx: bool, last: bool) -> Front {
    match bytes[0] {
        b'$' => front_sentence(bytes, last),
        byte if ubx && byte == UBX_SYNC[0] => front_ubx(bytes, last),
        _ => {
            let begins = |&byte: &u8| byte == b'$' || (ubx && byte == UBX_SYNC[0]);
            Front::Nothing(bytes.iter().position(begins).unwrap_or(bytes.len()), "")
        }
    }
}

fn front_ubx(bytes: &[u8], last: bool) -> Front {
    let undecided = |length: usize| {
        if last { Front::Nothing(length, "the recording ends inside a UBX frame") } else { Front::Undecided }
    };
    match bytes.get(1) {
        None => return undecided(1),
        Some(&byte) if byte != UBX_SYNC[1] => return Front::Nothing(1, ""),
        Some(_) => {}
    }
    let Some(length) = bytes.get(4..UBX_HEADER) else { return undecided(UBX_SYNC.len()) };
    let length = u16::from_le_bytes([length[0], length[1]]);
    if length > Proto23::MAX_PAYLOAD_LEN {
        return Front::Nothing(UBX_SYNC.len(), "a UBX frame with an impossible length");
    }
    let total = UBX_HEADER + usize::from(length) + UBX_CHECKSUM;
    match bytes.get(..total) {
        None => undecided(UBX_SYNC.len()),
        Some(frame) if has_right_checksum(frame) => Front::Piece(total, |frame| Piece::Ubx(frame.to_vec())),
        Some(_) => Front::Nothing(UBX_SYNC.len(), "a UBX frame with a wrong checksum"),
    }
}

/// Asks the `ublox` crate. A frame of a kind that it does not know, or of a length that it does not expect, is intact.
fn has_right_checksum(frame: &[u8]) -> bool {
    let mut parser = ParserBuilder::new().with_protocol::<Proto23>().with_vec_buffer();
    let mut packets = parser.consume_ubx(frame);
    match packets.next() {
        None => false,
        Some(Ok(_)) => true,
        Some(Err(error)) => !matches!(
            error,
            ublox::ParserError::InvalidChecksum { .. } | ublox::ParserError::OutOfMemory { .. }
        ),
    }
}

fn front_sentence(bytes: &[u8], last: bool) -> Front {
    let ends = |&byte: &u8| byte == b'$' || !(b' '..=b'~').contains(&byte);
    let length = bytes[1..].iter().position(ends).map(|index| index + 1);
    match length {
        Some(length) if length > SENTENCE_MAX => Front::Nothing(1, "a sentence longer than any"),
        Some(length) if matches!(bytes[length], b'\r' | b'\n') => Front::Piece(length + 1, |line| {
            // Without its line end.
            Piece::Sentence(line[..line.len() - 1].to_vec())
        }),
        Some(length) => Front::Nothing(length, "a sentence that was cut short"),
        None if bytes.len() > SENTENCE_MAX => Front::Nothing(1, "a sentence longer than any"),
        None if last => Front::Nothing(bytes.len(), "the recording ends inside a sentence"),
        None => Front::Undecided,
    }
}
