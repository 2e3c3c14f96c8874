//! Reads and validates a bench file. Every problem is reported at once, each with its line.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{BenchFile, schema};
use thiserror::Error;

/// Longest bench file that is read, in bytes.
const SIZE_MAX: u64 = 1 << 20;

/// One thing that is wrong with a bench file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1; none for what is missing altogether.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

/// Every problem of one bench file, in order of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file.
    pub file: PathBuf,
    /// At least one.
    pub list: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        for (index, Problem { line, what }) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            match line {
                Some(line) => write!(f, "{file}:{line}: {what}")?,
                None => write!(f, "{file}: {what}")?,
            }
        }
        Ok(())
    }
}

/// Why there is no bench.
#[derive(Debug, Error)]
pub enum BenchFileError {
    /// no such file
    #[error("bench file {} does not exist; the shipped ones are in fixtures/benches/", .0.display())]
    Missing(PathBuf),
    /// a folder
    #[error("{} is a folder, a bench is one TOML file; name the file in it", .0.display())]
    Folder(PathBuf),
    /// a device or a pipe
    #[error("{} is not a regular file; a bench is one TOML file", .0.display())]
    NotAFile(PathBuf),
    /// too long
    #[error("{} is longer than 1 MiB, that is no bench file", .0.display())]
    TooLong(PathBuf),
    /// a folder whose name is not text
    #[error("the folder of bench file {} has a name that is not UTF-8; move the file elsewhere", .0.display())]
    FolderName(PathBuf),
    /// the system's answer
    #[error("cannot read bench file {}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// not text
    #[error("bench file {}: byte {byte} is not UTF-8 text", file.display())]
    NotText {
        /// The file.
        file: PathBuf,
        /// Offset of the first bad byte, from 0.
        byte: usize,
    },
    /// its content
    #[error("{0}")]
    Invalid(Problems),
}

/// Reads and validates a bench file.
///
/// # Errors
/// [`BenchFileError`], with every problem of the content in one.
pub fn read(file: &Path) -> Result<BenchFile, BenchFileError> {
    let text = read_text(file)?;
    let unreadable = |source| BenchFileError::Unreadable { file: file.to_owned(), source };
    let folder = std::path::absolute(file).map_err(unreadable)?;
    let folder = folder.parent().unwrap_or(Path::new("/")).canonicalize().map_err(unreadable)?;
    if folder.to_str().is_none() {
        return Err(BenchFileError::FolderName(file.to_owned()));
    }
    schema::parse(&text, &folder, &|path| path.is_file())
        .map_err(|list| BenchFileError::Invalid(Problems { file: file.to_owned(), list }))
}

/// Reads a bench from its text, without looking whether the files that it names exist. `folder` is the absolute folder
/// of the bench file, for relative paths.
///
/// # Errors
/// Every problem, in order of lines; those without a line last.
pub fn parse(text: &str, folder: &Path) -> Result<BenchFile, Vec<Problem>> {
    schema::parse(text, folder, &|_| true)
}

fn read_text(file: &Path) -> Result<String, BenchFileError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => BenchFileError::Missing(file.to_owned()),
        _ => BenchFileError::Unreadable { file: file.to_owned(), source },
    };
    // Asked before opening: to open a pipe would wait for its writer.
    let kind = std::fs::metadata(file).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err(BenchFileError::Folder(file.to_owned()));
    }
    if !kind.is_file() {
        return Err(BenchFileError::NotAFile(file.to_owned()));
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(BenchFileError::TooLong(file.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| BenchFileError::NotText {
        file: file.to_owned(),
        byte: error.utf8_error().valid_up_to(),
    })
}
