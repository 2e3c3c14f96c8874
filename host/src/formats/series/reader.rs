//! From bytes to a series: pushed in at any size, finished once.

use super::body::Body;
use super::columns::TagUnit;
use super::error::SeriesError;
use super::kind::Kind;
use crate::series::{Input, Series};
use crate::units::Picos;

/// The most points of a series: 1.6 GB.
pub const MOST_POINTS: usize = 200_000_000;
/// Bytes of a file that are looked at to say what it is.
const HEAD: usize = 64 * 1024;

/// How a file is to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// What it is; by its content, if not given.
    pub kind: Option<Kind>,
    /// Its frequencies are read, not its phase.
    pub frequency: bool,
    /// What a value of a file of columns is, as a power of ten of seconds: -9 for nanoseconds.
    pub scale: i32,
    /// Distance of two points; by the time tags, if not given, or one second.
    pub tau0: Option<Picos>,
    /// Which channel or source of several.
    pub source: Option<String>,
    /// What the time tags of a file of columns count; by their values, if not given.
    pub tags: Option<TagUnit>,
    /// Lines that cannot be read are left out and counted.
    pub lenient: bool,
    /// The most points.
    pub most_points: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            kind: None,
            frequency: false,
            scale: 0,
            tau0: None,
            source: None,
            tags: None,
            lenient: false,
            most_points: MOST_POINTS,
        }
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The phase.
    pub series: Series,
    /// What else there was.
    pub input: Input,
}

/// Reads a series.
#[derive(Debug)]
pub struct SeriesReader {
    options: ReadOptions,
    head: Vec<u8>,
    body: Option<Body>,
}

impl SeriesReader {
    /// One that has read nothing.
    #[must_use]
    pub const fn new(options: ReadOptions) -> Self {
        Self { options, head: Vec::new(), body: None }
    }

    /// Takes the next bytes of the file. After an error it takes no more.
    ///
    /// # Errors
    /// The first line that is wrong, unless the reader is lenient, and whatever cannot be forgiven.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), SeriesError> {
        if self.body.is_none() {
            let taken = bytes.len().min(HEAD - self.head.len());
            self.head.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.head.len() < HEAD {
                return Ok(());
            }
            self.begin()?;
        }
        match &mut self.body {
            Some(body) => body.push(bytes),
            None => Ok(()),
        }
    }

    /// The file has ended.
    ///
    /// # Errors
    /// As [`push`](Self::push); and if there is no series in it.
    pub fn finish(mut self) -> Result<Read, SeriesError> {
        if self.body.is_none() {
            self.begin()?;
        }
        match self.body {
            Some(body) => body.finish(),
            None => Err(SeriesError::AmbiguousTags),
        }
    }

    fn begin(&mut self) -> Result<(), SeriesError> {
        let head = std::mem::take(&mut self.head);
        let mut body = Body::new(self.options.clone(), &head)?;
        let read = body.push(&head);
        self.body = Some(body);
        read
    }
}
