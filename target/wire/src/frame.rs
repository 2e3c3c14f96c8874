//! Framing: COBS of (sequence u16 LE, postcard body, CRC-32/ISO-HDLC LE), then a zero byte.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::{Serialize, de::DeserializeOwned};

/// Longest postcard body, in bytes.
pub const MAX_BODY: usize = 240;
/// Bytes around the body before COBS: the sequence and the CRC.
const OVERHEAD: usize = 2 + 4;
/// Longest frame content before COBS, in bytes.
pub const MAX_CONTENT: usize = MAX_BODY + OVERHEAD;
/// Longest frame on the wire, in bytes, its closing zero included. COBS adds one byte to at most 254.
pub const MAX_FRAME: usize = MAX_CONTENT + 1 + 1;
const _: () = assert!(MAX_CONTENT <= 254, "the COBS overhead of one byte holds up to 254 bytes");

const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Why the bytes between two zeros are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Not COBS, too short, too long, or the CRC does not match: bytes were lost or damaged.
    Damaged,
    /// The CRC matches but the body is none of this version's messages.
    Unknown {
        /// The frame's sequence number.
        sequence: u16,
    },
}

/// A message that is too long for a frame. No message of this crate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Writes one frame, the closing zero included, and returns its length in bytes.
///
/// # Errors
/// [`TooLong`] if the body exceeds [`MAX_BODY`].
pub fn encode<M: Serialize>(sequence: u16, message: &M, out: &mut [u8; MAX_FRAME]) -> Result<usize, TooLong> {
    let mut content = [0; MAX_CONTENT];
    content[..2].copy_from_slice(&sequence.to_le_bytes());
    let body = postcard::to_slice(message, &mut content[2..2 + MAX_BODY]).map_err(|_| TooLong)?.len();
    let crc = CRC.checksum(&content[..2 + body]);
    content[2 + body..2 + body + 4].copy_from_slice(&crc.to_le_bytes());
    let length = cobs::encode(&content[..body + OVERHEAD], &mut out[..MAX_FRAME - 1]);
    out[length] = 0;
    Ok(length + 1)
}

/// Reads what stood between two zeros on the wire: the frame's sequence number and its message.
///
/// # Errors
/// [`FrameError`]; never panics, whatever the bytes.
pub fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<(u16, M), FrameError> {
    let mut content = [0; MAX_FRAME];
    if bytes.len() >= MAX_FRAME {
        return Err(FrameError::Damaged);
    }
    let length = cobs::decode(bytes, &mut content).map_err(|_| FrameError::Damaged)?.frame_size();
    let Some(end) = length.checked_sub(4).filter(|&end| end >= 2) else {
        return Err(FrameError::Damaged);
    };
    let (signed, crc) = content[..length].split_at(end);
    if CRC.checksum(signed).to_le_bytes() != crc {
        return Err(FrameError::Damaged);
    }
    let sequence = u16::from_le_bytes([signed[0], signed[1]]);
    postcard::from_bytes(&signed[2..])
        .map(|message| (sequence, message))
        .map_err(|_| FrameError::Unknown { sequence })
}

/// Collects received bytes into the pieces between zeros, each to be given to [`decode`].
///
/// A piece longer than [`MAX_FRAME`] is cut, so that it decodes as damaged; the next zero starts afresh.
#[derive(Debug, Default)]
pub struct Accumulator {
    piece: heapless::Vec<u8, MAX_FRAME>,
}

impl Accumulator {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { piece: heapless::Vec::new() }
    }

    /// Takes one byte. When it closes a piece that is not empty, `take` is called with the piece.
    pub fn push<R>(&mut self, byte: u8, take: impl FnOnce(&[u8]) -> R) -> Option<R> {
        if byte != 0 {
            let _full = self.piece.push(byte);
            return None;
        }
        let result = (!self.piece.is_empty()).then(|| take(&self.piece));
        self.piece.clear();
        result
    }
}
