//! Reads a file of samples, whatever it is: pairs.spool, pairs.csv, samples.csv, or a CSV with their columns.
//!
//! In pieces of [`PIECE`] bytes, so that a file of any size, or a pipe, takes the same memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::formats::samples_csv::{SamplesCsv, SamplesCsvError};
use crate::formats::spool::{self, Spool, SpoolError};
use crate::samples::{LeftOut, SampleSink};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// Why samples cannot be read.
#[derive(Debug, Error)]
pub enum SamplesError {
    /// a folder
    #[error("{path} is a folder; give a file of samples in it, or the run bundle to what reads bundles")]
    Folder {
        /// What was given.
        path: PathBuf,
    },
    /// the system
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// CSV
    #[error("{path}: {fault}")]
    Csv {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: SamplesCsvError,
    },
    /// a spool
    #[error("{path}: {fault}")]
    Spool {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: SpoolError,
    },
}

/// What a file says beside its samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplesRead {
    /// The header of a spool.
    pub header: Option<spool::Header>,
    /// What was left out, with `lenient`.
    pub left_out: LeftOut,
}

/// Reads the samples of a file into `sink`; `-` is stdin. With `lenient`, what is damaged is left out and counted.
///
/// # Errors
/// [`SamplesError`], naming the file, and the line and column or the block.
pub fn read_samples<S: SampleSink>(
    path: &Path,
    lenient: bool,
    sink: &mut S,
) -> Result<SamplesRead, SamplesError> {
    if path == Path::new("-") {
        return read_from(&mut io::stdin().lock(), Path::new("stdin"), lenient, sink);
    }
    if path.is_dir() {
        return Err(SamplesError::Folder { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(|source| SamplesError::File { path: path.to_owned(), source })?;
    read_from(&mut file, path, lenient, sink)
}

/// Reads samples from `from`, which messages call `path`.
///
/// # Errors
/// [`SamplesError`].
pub fn read_from<S: SampleSink>(
    from: &mut impl Read,
    path: &Path,
    lenient: bool,
    sink: &mut S,
) -> Result<SamplesRead, SamplesError> {
    let mut piece = vec![0; PIECE];
    let mut pieces = Pieces { from, path };
    let first = pieces.fill(&mut piece)?;
    if piece[..first].starts_with(&spool::MAGIC) {
        let fault = |fault| SamplesError::Spool { path: path.to_owned(), fault };
        let mut reader = Spool::new(lenient);
        let mut length = first;
        while length > 0 {
            reader.push(&piece[..length], sink).map_err(fault)?;
            length = pieces.fill(&mut piece)?;
        }
        let (header, left_out) = reader.finish().map_err(fault)?;
        return Ok(SamplesRead { header: Some(header), left_out });
    }
    let fault = |fault| SamplesError::Csv { path: path.to_owned(), fault };
    let mut reader = SamplesCsv::new(lenient);
    let mut length = first;
    while length > 0 {
        reader.push(&piece[..length], sink).map_err(fault)?;
        length = pieces.fill(&mut piece)?;
    }
    Ok(SamplesRead { header: None, left_out: reader.finish().map_err(fault)? })
}

struct Pieces<'a, R> {
    from: &'a mut R,
    path: &'a Path,
}

impl<R: Read> Pieces<'_, R> {
    /// Fills the piece, unless the file ends before. Returns how far.
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, SamplesError> {
        let mut filled = 0;
        while filled < piece.len() {
            match self.from.read(&mut piece[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(SamplesError::File { path: self.path.to_owned(), source }),
            }
        }
        Ok(filled)
    }
}
