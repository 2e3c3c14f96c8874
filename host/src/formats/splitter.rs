//! Finds UBX frames, NMEA sentences or TSIP packets in what a receiver sends, whatever stands between them.
//!
//! A receiver's port is noisy: sentences are cut, frames lose bytes, a wrong length would swallow what follows. So
//! nothing is believed before its checksum (TSIP has none: there its kind, length and fields stand in): where a frame
//! turns out not to be one, the search goes on behind its beginning, and everything intact inside its supposed length is
//! still found. The bytes wait for that together with their arrival times, so that a frame keeps the time of its own last
//! byte.

use std::collections::VecDeque;

use ublox::UbxProtocol;
use ublox::proto23::Proto23;

use super::tsip;
use crate::units::HostNanos;

const UBX_SYNC: [u8; 2] = [0xb5, 0x62];
const UBX_HEADER: usize = 6;
const UBX_CHECKSUM: usize = 2;
/// Longest sentence in bytes, `$` included. The standard says 82; proprietary ones are longer.
const SENTENCE_MAX: usize = 512;
/// A wrong baud rate gives nothing but garbage: it is reported piece by piece, not hoarded.
const GARBAGE_MAX: usize = 1024;
/// So many bytes that were used up may lie in front of those that wait.
const USED_MAX: usize = 1 << 16;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    /// NMEA sentences.
    Nmea,
    /// UBX frames, and NMEA sentences between them.
    Ubx,
    /// TSIP packets.
    Tsip,
}

impl Speech {
    const fn neither(self) -> &'static str {
        match self {
            Self::Nmea | Self::Ubx => "neither UBX nor NMEA",
            Self::Tsip => "no TSIP packet that is known here",
        }
    }

    const fn begins(self, byte: u8) -> bool {
        match self {
            Self::Nmea => byte == b'$',
            Self::Ubx => byte == b'$' || byte == UBX_SYNC[0],
            Self::Tsip => byte == tsip::DLE,
        }
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// A whole UBX frame with a right checksum.
    Ubx(&'b [u8]),
    /// From `$` up to and without the line end; its checksum is not looked at.
    Sentence(&'b [u8]),
    /// A whole TSIP packet of a known kind and its length, from its id on, without its frame and doubled bytes.
    Tsip(&'b [u8]),
    /// Bytes in a row that are nothing.
    Garbage {
        /// How many.
        bytes: usize,
        /// What they look most like.
        reason: &'static str,
    },
}

/// Takes what was found, with the arrival of its last byte.
pub(super) type Found<'f> = &'f mut dyn FnMut(HostNanos, Piece<'_>);

/// What stands at the front of the buffer.
enum Front {
    /// More bytes will tell.
    Undecided,
    /// So many bytes are a UBX frame.
    Ubx(usize),
    /// So many bytes are a sentence and the first byte of its line end.
    Sentence(usize),
    /// So many bytes are a TSIP packet, with these contents.
    Tsip(usize, Vec<u8>),
    /// So many bytes are nothing.
    Nothing(usize, &'static str),
}

/// Splits one receiver's bytes.
#[derive(Debug)]
pub(super) struct Splitter {
    speech: Speech,
    /// Bytes, of which the first `used` are done with.
    waiting: Vec<u8>,
    used: usize,
    /// For each read that still has bytes to be decided: how many, and when they arrived.
    arrivals: VecDeque<(usize, HostNanos)>,
    garbage: usize,
    garbage_reason: &'static str,
    garbage_at: HostNanos,
}

impl Splitter {
    pub(super) const fn new(speech: Speech) -> Self {
        Self {
            speech,
            waiting: Vec::new(),
            used: 0,
            arrivals: VecDeque::new(),
            garbage: 0,
            garbage_reason: "",
            garbage_at: HostNanos(0),
        }
    }

    /// Takes bytes that arrived together, and tells what is decided by them.
    pub(super) fn push(&mut self, bytes: &[u8], at: HostNanos, found: Found<'_>) {
        if !bytes.is_empty() {
            if self.used == self.waiting.len() || self.used > USED_MAX {
                self.waiting.drain(..self.used);
                self.used = 0;
            }
            self.waiting.extend_from_slice(bytes);
            self.arrivals.push_back((bytes.len(), at));
        }
        self.split(false, found);
    }

    /// The recording is over: decides what is still waiting.
    pub(super) fn finish(&mut self, found: Found<'_>) {
        self.split(true, found);
        self.flush_garbage(found);
    }

    fn split(&mut self, last: bool, found: Found<'_>) {
        while self.used < self.waiting.len() {
            match front(&self.waiting[self.used..], self.speech, last) {
                Front::Undecided => break,
                Front::Nothing(length, reason) => self.discard(length, reason, found),
                Front::Ubx(length) => {
                    let (at, from) = self.take(length, found);
                    found(at, Piece::Ubx(&self.waiting[from..from + length]));
                }
                Front::Sentence(length) => {
                    let (at, from) = self.take(length, found);
                    found(at, Piece::Sentence(&self.waiting[from..from + length - 1]));
                }
                Front::Tsip(length, contents) => {
                    let (at, _) = self.take(length, found);
                    found(at, Piece::Tsip(&contents));
                }
            }
        }
    }

    /// Uses up a piece: when its last byte arrived, and where it begins.
    fn take(&mut self, length: usize, found: Found<'_>) -> (HostNanos, usize) {
        self.flush_garbage(found);
        let from = self.used;
        self.used += length;
        (self.take_arrival(length), from)
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
    fn discard(&mut self, length: usize, reason: &'static str, found: Found<'_>) {
        for _ in 0..length {
            let byte = self.waiting[self.used];
            self.used += 1;
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
                self.flush_garbage(found);
            }
        }
    }

    fn flush_garbage(&mut self, found: Found<'_>) {
        if self.garbage == 0 {
            return;
        }
        let neither = self.speech.neither();
        let reason = if self.garbage_reason.is_empty() { neither } else { self.garbage_reason };
        found(self.garbage_at, Piece::Garbage { bytes: self.garbage, reason });
        self.garbage = 0;
        self.garbage_reason = "";
    }
}

/// Decides what stands at the front of `bytes`, which is not empty. After the last byte nothing is undecided.
fn front(bytes: &[u8], speech: Speech, last: bool) -> Front {
    if !speech.begins(bytes[0]) {
        let begin = bytes.iter().position(|&byte| speech.begins(byte));
        return Front::Nothing(begin.unwrap_or(bytes.len()), "");
    }
    match bytes[0] {
        b'$' => front_sentence(bytes, last),
        tsip::DLE => front_tsip(bytes, last),
        _ => front_ubx(bytes, last),
    }
}

fn front_tsip(bytes: &[u8], last: bool) -> Front {
    match tsip::packet(bytes) {
        tsip::Packet::Whole { length, contents } => Front::Tsip(length, contents),
        tsip::Packet::Cut if !last => Front::Undecided,
        tsip::Packet::Cut => Front::Nothing(1, "the recording ends inside a TSIP packet"),
        tsip::Packet::None => Front::Nothing(1, ""),
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
        Some(frame) if has_right_checksum(frame) => Front::Ubx(total),
        Some(_) => Front::Nothing(UBX_SYNC.len(), "a UBX frame with a wrong checksum"),
    }
}

/// Fletcher's sum over everything from the class on.
fn has_right_checksum(frame: &[u8]) -> bool {
    let [_, _, summed @ .., stated_a, stated_b] = frame else { return false };
    let (a, b) = summed.iter().fold((0_u8, 0_u8), |(a, b), &byte| {
        let a = a.wrapping_add(byte);
        (a, b.wrapping_add(a))
    });
    (a, b) == (*stated_a, *stated_b)
}

fn front_sentence(bytes: &[u8], last: bool) -> Front {
    let ends = |&byte: &u8| byte == b'$' || !(b' '..=b'~').contains(&byte);
    let length = bytes[1..].iter().position(ends).map(|index| index + 1);
    match length {
        Some(length) if length > SENTENCE_MAX => Front::Nothing(1, "a sentence longer than any"),
        Some(length) if matches!(bytes[length], b'\r' | b'\n') => Front::Sentence(length + 1),
        Some(length) => Front::Nothing(length, "a sentence that was cut short"),
        None if bytes.len() > SENTENCE_MAX => Front::Nothing(1, "a sentence longer than any"),
        None if last => Front::Nothing(bytes.len(), "the recording ends inside a sentence"),
        None => Front::Undecided,
    }
}
