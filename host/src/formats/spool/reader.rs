//! Reads a spool, piece by piece: however it is cut, what comes out is the same.

use super::layout::{BLOCK, Block, HEADER, Header, HeaderFault, RECORD_BYTES};
use super::{BlockFault, SpoolError};
use crate::samples::{LeftOut, SampleKey, SampleSink};

/// A spool that is being read.
#[derive(Debug)]
pub struct Spool {
    lenient: bool,
    header: Option<Header>,
    /// The begin of a block that is not whole yet.
    carry: Vec<u8>,
    /// Where the next block begins in the file.
    at: u64,
    blocks: u64,
    /// Pairs in the blocks before, those of damaged ones included.
    held: u64,
    /// The session that the sink knows of, and the number of its next pair.
    current: Option<(SampleKey, u64)>,
    ended: bool,
    left_out: LeftOut,
}

/// What stands at the front of some bytes.
enum Front {
    /// Not whole yet: so many bytes are needed.
    Begun(usize),
    /// So many bytes were used.
    Used(usize),
}

impl Spool {
    /// A reader at the start of a file. With `lenient`, damaged blocks and a torn end are left out and counted.
    #[must_use]
    pub const fn new(lenient: bool) -> Self {
        Self {
            lenient,
            header: None,
            carry: Vec::new(),
            at: 0,
            blocks: 0,
            held: 0,
            current: None,
            ended: false,
            left_out: LeftOut::of("block"),
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// [`SpoolError`]. Nothing more is to be pushed then.
    pub fn push<S: SampleSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), SpoolError> {
        let mut rest = bytes;
        while !self.carry.is_empty() {
            let mut carry = std::mem::take(&mut self.carry);
            let front = self.front(&carry, sink)?;
            match front {
                Front::Used(used) => carry.drain(..used),
                Front::Begun(need) => {
                    let (more, left) = rest.split_at((need - carry.len()).min(rest.len()));
                    carry.extend_from_slice(more);
                    rest = left;
                    carry.drain(..0)
                }
            };
            let waits = matches!(front, Front::Begun(need) if carry.len() < need);
            self.carry = carry;
            if waits {
                return Ok(());
            }
        }
        while !rest.is_empty() {
            match self.front(rest, sink)? {
                Front::Used(used) => rest = &rest[used..],
                Front::Begun(_) => {
                    self.carry.extend_from_slice(rest);
                    break;
                }
            }
        }
        let (block, byte) = (self.blocks, self.at);
        sink.health().map_err(|fault| SpoolError::Block { block, byte, fault: BlockFault::Samples(fault) })
    }

    /// The end of the file. Returns its header, and what was left out.
    ///
    /// # Errors
    /// [`SpoolError`], also for a file without end mark.
    pub fn finish(mut self) -> Result<(Header, LeftOut), SpoolError> {
        let header = self.header.ok_or(SpoolError::NotASpool)?;
        if !self.carry.is_empty() {
            let have = self.carry.len() as u64;
            let block = self.carry.first_chunk().and_then(Block::of);
            let payload = match block {
                Some(Block::Pairs { count, .. }) => count * RECORD_BYTES,
                _ => 0,
            };
            self.blocks += 1;
            self.fault(BlockFault::Torn { have, need: (BLOCK + payload) as u64 })?;
        } else if !self.ended {
            self.blocks += 1;
            self.fault(BlockFault::NoEnd)?;
        }
        Ok((header, self.left_out))
    }

    fn front<S: SampleSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Front, SpoolError> {
        if self.header.is_none() {
            let Some(head) = bytes.first_chunk::<HEADER>() else { return Ok(Front::Begun(HEADER)) };
            self.header = Some(Header::of(head).map_err(|fault| match fault {
                HeaderFault::Magic => SpoolError::NotASpool,
                HeaderFault::Version { version, record } => SpoolError::Version { version, record },
                HeaderFault::Damaged => SpoolError::Header,
            })?);
            self.at = HEADER as u64;
            return Ok(Front::Used(HEADER));
        }
        if self.ended {
            return Err(self.error(BlockFault::Behind));
        }
        let Some(head) = bytes.first_chunk::<BLOCK>() else { return Ok(Front::Begun(BLOCK)) };
        match Block::of(head) {
            // Without its length the next block cannot be found.
            None => {
                self.blocks += 1;
                Err(self.error(BlockFault::Header))
            }
            Some(Block::End { total }) => {
                self.ended = true;
                if total != self.held {
                    self.blocks += 1;
                    self.fault(BlockFault::Total { said: total, held: self.held })?;
                }
                self.at += BLOCK as u64;
                Ok(Front::Used(BLOCK))
            }
            Some(Block::Pairs { key, first, count, crc }) => {
                let length = BLOCK + count * RECORD_BYTES;
                let Some(records) = bytes.get(BLOCK..length) else { return Ok(Front::Begun(length)) };
                self.blocks += 1;
                self.block(&key, first, records, crc, sink)?;
                self.held += count as u64;
                self.at += length as u64;
                Ok(Front::Used(length))
            }
        }
    }

    fn block<S: SampleSink>(
        &mut self,
        key: &SampleKey,
        first: u64,
        records: &[u8],
        crc: u32,
        sink: &mut S,
    ) -> Result<(), SpoolError> {
        let next = first.saturating_add((records.len() / RECORD_BYTES) as u64);
        let expected = match &self.current {
            Some((current, number)) if current == key => *number,
            _ => {
                sink.session(key).map_err(|fault| self.error(BlockFault::Samples(fault)))?;
                0
            }
        };
        self.current = Some((key.clone(), next));
        if first != expected {
            self.fault(BlockFault::Gap { key: key.clone(), expected, found: first })?;
        }
        if crc32fast::hash(records) != crc {
            return self.fault(BlockFault::Payload);
        }
        sink.records(records);
        Ok(())
    }

    fn error(&self, fault: BlockFault) -> SpoolError {
        SpoolError::Block { block: self.blocks, byte: self.at, fault }
    }

    /// Strictly the end, leniently one more.
    fn fault(&mut self, fault: BlockFault) -> Result<(), SpoolError> {
        if !self.lenient {
            return Err(self.error(fault));
        }
        self.left_out.add(fault.name(), self.blocks);
        Ok(())
    }
}
