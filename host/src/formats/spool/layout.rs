//! The bytes of the header and of the block headers.

use crate::samples::SampleKey;
use crate::units::Hertz;

/// The first bytes. Like those of PNG, they show whether the file went through something that changes line ends.
pub const MAGIC: [u8; 8] = *b"\x89PPS\r\n\x1a\n";

/// The longest name of a variant; those of clocks have half as many bytes.
pub const MOST_NAME: usize = 32;
const MOST_CLOCK: usize = 16;

/// Pairs in a block, at most: 64 KiB, which fits the caches.
pub const MOST_RECORDS: usize = 4096;

pub(super) const VERSION: u16 = 1;
/// Two readings of 8 bytes.
pub(super) const RECORD: u16 = 1;
pub(super) const RECORD_BYTES: usize = 16;
pub(super) const HEADER: usize = 32;
pub(super) const BLOCK: usize = 80;

const BLOCK_MARK: [u8; 4] = *b"BLK1";
const END_MARK: [u8; 4] = *b"END1";
const EMULATED: u32 = 1;

/// What a spool says of all its pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The counter's declared rate, if it is known.
    pub counter_hz: Option<Hertz>,
    /// Whether the board was emulated.
    pub emulated: bool,
}

/// Why 32 bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    Magic,
    Version { version: u16, record: u16 },
    Damaged,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = Put { bytes: &mut bytes, at: 0 };
        put.raw(&MAGIC);
        put.raw(&VERSION.to_le_bytes());
        put.raw(&(HEADER as u16).to_le_bytes());
        put.raw(&RECORD.to_le_bytes());
        put.raw(&(RECORD_BYTES as u16).to_le_bytes());
        put.raw(&self.counter_hz.map_or(0, |rate| rate.0).to_le_bytes());
        put.raw(&u32::from(self.emulated).to_le_bytes());
        put.sum();
        bytes
    }

    pub(super) fn of(bytes: &[u8; HEADER]) -> Result<Self, HeaderFault> {
        if !bytes.starts_with(&MAGIC) {
            return Err(HeaderFault::Magic);
        }
        let (version, record) = (u16::from_le_bytes(part(bytes, 8)), u16::from_le_bytes(part(bytes, 12)));
        if (version, record) != (VERSION, RECORD) {
            return Err(HeaderFault::Version { version, record });
        }
        let sizes = (u16::from_le_bytes(part(bytes, 10)), u16::from_le_bytes(part(bytes, 14)));
        let flags = u32::from_le_bytes(part(bytes, 24));
        if sizes != (HEADER as u16, RECORD_BYTES as u16) || flags & !EMULATED != 0 || !is_whole(bytes) {
            return Err(HeaderFault::Damaged);
        }
        let rate = u64::from_le_bytes(part(bytes, 16));
        Ok(Self { counter_hz: (rate > 0).then_some(Hertz(rate)), emulated: flags & EMULATED != 0 })
    }
}

/// What stands before the pairs of a block, or the end mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Pairs { key: SampleKey, first: u64, count: usize, crc: u32 },
    End { total: u64 },
}

impl Block {
    /// None if a name is too long, or has a zero byte.
    pub(super) fn to_bytes(&self) -> Option<[u8; BLOCK]> {
        let mut bytes = [0; BLOCK];
        let mut put = Put { bytes: &mut bytes, at: 0 };
        let nobody = SampleKey { session: 0, ..SampleKey::default() };
        let (mark, key, count, number, crc) = match self {
            Self::Pairs { key, first, count, crc } => (BLOCK_MARK, key, *count, *first, *crc),
            Self::End { total } => (END_MARK, &nobody, 0, *total, 0),
        };
        put.raw(&mark);
        put.raw(&u32::try_from(count).ok()?.to_le_bytes());
        put.raw(&number.to_le_bytes());
        put.raw(&key.session.to_le_bytes());
        put.raw(&[0; 4]);
        put.raw(&padded::<MOST_NAME>(&key.variant)?);
        put.raw(&padded::<MOST_CLOCK>(&key.clock_id)?);
        put.raw(&crc.to_le_bytes());
        put.sum();
        Some(bytes)
    }

    /// None of anything that no writer writes.
    pub(super) fn of(bytes: &[u8; BLOCK]) -> Option<Self> {
        if !is_whole(bytes) || part(bytes, 20) != [0; 4] {
            return None;
        }
        let count = u32::from_le_bytes(part(bytes, 4)) as usize;
        let number = u64::from_le_bytes(part(bytes, 8));
        match part(bytes, 0) {
            END_MARK if count == 0 => Some(Self::End { total: number }),
            BLOCK_MARK if (1..=MOST_RECORDS).contains(&count) => Some(Self::Pairs {
                key: SampleKey {
                    session: u32::from_le_bytes(part(bytes, 16)),
                    variant: name(&part::<MOST_NAME>(bytes, 24))?,
                    clock_id: name(&part::<MOST_CLOCK>(bytes, 56))?,
                },
                first: number,
                count,
                crc: u32::from_le_bytes(part(bytes, 72)),
            }),
            _ => None,
        }
    }
}

struct Put<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Put<'_> {
    fn raw(&mut self, part: &[u8]) {
        self.bytes[self.at..self.at + part.len()].copy_from_slice(part);
        self.at += part.len();
    }

    /// The CRC of everything before it.
    fn sum(&mut self) {
        let crc = crc32fast::hash(&self.bytes[..self.at]);
        self.raw(&crc.to_le_bytes());
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

/// Whether the last four bytes are the CRC of those before.
fn is_whole(bytes: &[u8]) -> bool {
    bytes.split_last_chunk().is_some_and(|(before, crc)| crc32fast::hash(before).to_le_bytes() == *crc)
}

fn padded<const N: usize>(name: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    (!name.contains('\0')).then_some(bytes)
}

fn name(bytes: &[u8]) -> Option<String> {
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, padding) = bytes.split_at(length);
    padding.iter().all(|byte| *byte == 0).then(|| String::from_utf8(text.to_vec()).ok())?
}
