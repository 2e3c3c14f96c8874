//! Writes a spool as the pairs come.

use std::io::{self, Write};

use thiserror::Error;

use super::layout::{Block, Header, MOST_RECORDS, RECORD_BYTES};
use crate::samples::SampleKey;

/// Why a spool cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// the system
    #[error(transparent)]
    System(#[from] io::Error),
    /// a name
    #[error(
        "a spool has no room for the names of {0}: 32 bytes for the variant, 16 for the clock, none of them zero"
    )]
    Name(SampleKey),
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::System(error) => error,
            WriteError::Name(_) => Self::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

/// A spool that is being written. It is whole only after [`SpoolWriter::finish`].
#[derive(Debug)]
pub struct SpoolWriter<W: Write> {
    to: W,
    key: SampleKey,
    /// Number of the first pair in `records`.
    first: u64,
    records: Vec<u8>,
    total: u64,
}

impl<W: Write> SpoolWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(mut to: W, header: Header) -> Result<Self, WriteError> {
        to.write_all(&header.to_bytes())?;
        let records = Vec::with_capacity(MOST_RECORDS * RECORD_BYTES);
        Ok(Self { to, key: SampleKey::default(), first: 0, records, total: 0 })
    }

    /// What follows is of this session; its pairs are counted from 0.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn session(&mut self, key: &SampleKey) -> Result<(), WriteError> {
        self.flush()?;
        let probe = Block::Pairs { key: key.clone(), first: 0, count: 0, crc: 0 };
        probe.to_bytes().ok_or_else(|| WriteError::Name(key.clone()))?;
        self.key = key.clone();
        self.first = 0;
        Ok(())
    }

    /// One pair.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn pair(&mut self, pre: u64, snapshot: u64) -> Result<(), WriteError> {
        self.records.extend_from_slice(&pre.to_le_bytes());
        self.records.extend_from_slice(&snapshot.to_le_bytes());
        if self.records.len() == MOST_RECORDS * RECORD_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the end mark and returns what was written to.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.flush()?;
        self.head(&Block::End { total: self.total })?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let count = self.records.len() / RECORD_BYTES;
        let crc = crc32fast::hash(&self.records);
        self.head(&Block::Pairs { key: self.key.clone(), first: self.first, count, crc })?;
        self.to.write_all(&self.records)?;
        self.records.clear();
        self.first += count as u64;
        self.total += count as u64;
        Ok(())
    }

    fn head(&mut self, block: &Block) -> Result<(), WriteError> {
        let bytes = block.to_bytes().ok_or_else(|| WriteError::Name(self.key.clone()))?;
        Ok(self.to.write_all(&bytes)?)
    }
}
