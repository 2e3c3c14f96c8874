//! The plan file: what is done every night, as people write it. Read key by key like a bench file, so that every mistake is
//! told at once with its line; the result is [`NightPlan`], with every default filled in and every path absolute.
//!
//! What a bench can do with a measure is asked of whoever knows the bench ([`Check`]): the same functions that `ppsrig run`
//! asks, so that a plan that is valid can be run.

mod measure;
mod schema;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bench_file::{Problem, Problems};
use crate::night::NightPlan;
use crate::night::plan::Measure;

/// Longest plan that is read, in bytes.
const SIZE_MAX: u64 = 1 << 20;

/// What is wrong with the bench file, or with measures on that bench; each measure comes with the line on which it begins.
pub type Check<'a> = dyn Fn(&Path, &[(usize, &Measure)]) -> Vec<Problem> + 'a;

/// Why there is no plan.
#[derive(Debug, Error)]
pub enum PlanFileError {
    /// no such file
    #[error("plan {} does not exist; the shipped ones are in fixtures/plans/", .0.display())]
    Missing(PathBuf),
    /// a folder, a pipe
    #[error("{} is not a regular file; a plan is one TOML file", .0.display())]
    NotAFile(PathBuf),
    /// too long
    #[error("{} is longer than 1 MiB, that is no plan", .0.display())]
    TooLong(PathBuf),
    /// the system's answer
    #[error("cannot read plan {}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// not text
    #[error("plan {}: byte {byte} is not UTF-8 text", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
        /// Offset of the first bad byte, from 0.
        byte: usize,
    },
    /// a name that a journal cannot hold
    #[error("the folder of plan {} has a name that is not UTF-8; move the file elsewhere", .0.display())]
    FolderName(PathBuf),
    /// its content
    #[error("{0}")]
    Invalid(Problems),
}

/// Whether a TOML text is a plan rather than a bench file: a bench has tables alone, a plan names its bench.
#[must_use]
pub fn is_plan(text: &str) -> bool {
    let (table, _errors) = toml::de::DeTable::parse_recoverable(text);
    let table = table.into_inner();
    table.contains_key("measure") || table.get("bench").is_some_and(|bench| bench.get_ref().is_str())
}

/// Reads and validates a plan.
///
/// # Errors
/// [`PlanFileError`], with every problem of the content in one.
pub fn read(file: &Path, check: &Check<'_>) -> Result<NightPlan, PlanFileError> {
    let text = read_text(file)?;
    let unreadable = |source| PlanFileError::Unreadable { file: file.to_owned(), source };
    let folder = std::path::absolute(file).map_err(unreadable)?;
    let folder = folder.parent().unwrap_or(Path::new("/")).canonicalize().map_err(unreadable)?;
    if folder.to_str().is_none() {
        return Err(PlanFileError::FolderName(file.to_owned()));
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    schema::parse(
        &text,
        &schema::Place { folder: &folder, name: &name, exists: &|path| path.exists(), check },
    )
    .map_err(|list| PlanFileError::Invalid(Problems { file: file.to_owned(), list }))
}

/// Its text.
///
/// # Errors
/// [`PlanFileError`].
pub fn read_text(file: &Path) -> Result<String, PlanFileError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => PlanFileError::Missing(file.to_owned()),
        _ => PlanFileError::Unreadable { file: file.to_owned(), source },
    };
    // Asked before opening: to open a pipe would wait for its writer.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(PlanFileError::NotAFile(file.to_owned()));
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(PlanFileError::TooLong(file.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| PlanFileError::NotText {
        file: file.to_owned(),
        byte: error.utf8_error().valid_up_to(),
    })
}
