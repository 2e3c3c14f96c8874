//! Finds runs and nights below a results folder, without reading them.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::HistoryError;
use crate::bundle;
use crate::night;
use crate::report;

/// Folders in folders that are looked into.
const DEPTH: u32 = 8;

/// What a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    Night,
}

/// A folder that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Relative to the results folder, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Changes when one of the files changes that are read.
    pub(super) fingerprint: String,
}

/// Everything that was found, and folders that cannot be read.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    pub(super) words: Vec<String>,
}

/// Looks below `results`. Links are not followed.
pub(super) fn scan(results: &Path) -> Result<Scan, HistoryError> {
    let mut scan = Scan::default();
    let fault = |source| HistoryError::File { path: results.to_owned(), source };
    scan.children(results, "", DEPTH).map_err(fault)?;
    scan.found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scan)
}

impl Scan {
    fn children(&mut self, dir: &Path, name: &str, depth: u32) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let own = entry.file_name();
            let own = own.to_string_lossy();
            let name = if name.is_empty() { own.into_owned() } else { format!("{name}/{own}") };
            self.folder(&entry.path(), name, depth - 1);
        }
        Ok(())
    }

    fn folder(&mut self, dir: &Path, name: String, depth: u32) {
        let found = |kind, files: &[&str]| Found {
            kind,
            name: name.clone(),
            path: dir.to_owned(),
            fingerprint: fingerprint(dir, files),
        };
        if dir.join(night::names::NIGHT).is_file() {
            let files = [night::names::NIGHT, night::names::JOURNAL, night::outputs::SUMMARY_JSON];
            self.found.push(found(Kind::Night, &files));
            for part in [night::names::RUNS, night::names::HEALTH] {
                self.look(&dir.join(part), &format!("{name}/{part}"), depth);
            }
        } else if dir.join(bundle::names::RUN).is_file() || dir.join(bundle::names::RAW).is_dir() {
            let files = [bundle::names::RUN, report::SUMMARY_JSON, report::SUMMARY];
            self.found.push(found(Kind::Run, &files));
        } else {
            self.look(dir, &name, depth);
        }
    }

    fn look(&mut self, dir: &Path, name: &str, depth: u32) {
        if depth == 0 {
            return;
        }
        match self.children(dir, name, depth) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.words.push(format!("{} cannot be read: {error}", dir.display()));
            }
            _ => {}
        }
    }
}

fn fingerprint(dir: &Path, files: &[&str]) -> String {
    let stamp =
        |meta: &Metadata| format!("{}.{:09}/{}/{}", meta.mtime(), meta.mtime_nsec(), meta.size(), meta.ino());
    let of = |name: &&str| fs::metadata(dir.join(name)).map(|meta| stamp(&meta)).unwrap_or_default();
    files.iter().map(of).collect::<Vec<_>>().join(" ")
}
