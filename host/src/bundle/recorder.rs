//! A bundle while it is being recorded. Every output is open before the run starts.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use thiserror::Error;

use super::write::write_whole;
use super::{Instrument, names};
use crate::formats::raw_log::RawWriter;
use crate::plan::RunRecord;

/// Bundles of one bench that were begun in the same second.
const MOST_IN_A_SECOND: u32 = 99;

/// Why a bundle cannot be written.
#[derive(Debug, Error)]
pub enum BundleError {
    /// no folder
    #[error("cannot create {path}; give another folder with --out")]
    Create {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// no file
    #[error("cannot write {path}; is the disk full?")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// a run record that TOML cannot hold
    #[error("cannot put the run's plan into TOML")]
    Record(#[from] toml::ser::Error),
    /// a seed that TOML cannot hold
    #[error("seed {seed} is too large; TOML holds seeds below 2^63")]
    Seed {
        /// The seed.
        seed: u64,
    },
}

/// One instrument's recording.
pub type RawFile = RawWriter<File>;

/// The recordings of a run, to be handed to whoever writes them.
#[derive(Debug)]
pub struct RawFiles {
    /// raw/link.log
    pub link: RawFile,
    /// raw/generator.log
    pub generator: RawFile,
    /// raw/reference.log
    pub reference: RawFile,
    /// raw/interval-counter.log
    pub interval_counter: RawFile,
    /// raw/rig.log
    pub rig: RawFile,
    /// raw/bring-up.log
    pub bring_up: File,
}

/// The folder of a run that is going on.
#[derive(Clone, Debug)]
pub struct Bundle {
    dir: PathBuf,
}

impl Bundle {
    /// Creates `<results>/<UTC time>-<bench>` with its recordings. An existing folder is never used: a number follows
    /// the name of the second bundle of a second.
    ///
    /// # Errors
    /// [`BundleError`], naming the path.
    pub fn create(results: &Path, bench: &str, started: Timestamp) -> Result<(Self, RawFiles), BundleError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| BundleError::Create { path, source }
        };
        fs::create_dir_all(results).map_err(at(results))?;
        let name = format!("{}-{}", started.strftime("%Y-%m-%dT%H-%M-%SZ"), safe(bench));
        let dir = create_new(results, &name)?;
        let raw = dir.join(names::RAW);
        fs::create_dir(&raw).map_err(at(&raw))?;
        let open = |instrument: Instrument| {
            let path = raw.join(instrument.file_name());
            let file = create_file(&path)?;
            RawWriter::new(file, instrument.name()).map_err(|source| BundleError::Write { path, source })
        };
        let files = RawFiles {
            link: open(Instrument::Link)?,
            generator: open(Instrument::Generator)?,
            reference: open(Instrument::Reference)?,
            interval_counter: open(Instrument::IntervalCounter)?,
            rig: open(Instrument::Rig)?,
            bring_up: create_file(&raw.join(names::BRING_UP))?,
        };
        Ok((Self { dir }, files))
    }

    /// The bundle's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes run.toml.
    ///
    /// # Errors
    /// [`BundleError`].
    pub fn write_record(&self, record: &RunRecord) -> Result<(), BundleError> {
        if i64::try_from(record.plan.seed).is_err() {
            return Err(BundleError::Seed { seed: record.plan.seed });
        }
        let text = toml::to_string_pretty(record)?;
        write_whole(&self.dir, names::RUN, |to| to.write_all(text.as_bytes()))
    }
}

fn create_file(path: &Path) -> Result<File, BundleError> {
    let open = OpenOptions::new().write(true).create_new(true).open(path);
    open.map_err(|source| BundleError::Create { path: path.to_owned(), source })
}

fn create_new(results: &Path, name: &str) -> Result<PathBuf, BundleError> {
    let mut number = 1;
    loop {
        let dir = match number {
            1 => results.join(name),
            _ => results.join(format!("{name}-{number}")),
        };
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists && number < MOST_IN_A_SECOND => {
                number += 1
            }
            Err(source) => return Err(BundleError::Create { path: dir, source }),
        }
    }
}

/// A name as part of a folder's name.
pub(crate) fn safe(bench: &str) -> String {
    let name: String = bench
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' })
        .take(80)
        .collect();
    if name.is_empty() { "bench".to_owned() } else { name }
}
