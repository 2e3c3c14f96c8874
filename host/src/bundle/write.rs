//! Writes the files that follow from a recording, each under another name first.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::recorder::BundleError;

/// Writes files into `dir`, by name and content, in place of what is there. Returns their paths.
///
/// # Errors
/// [`BundleError`], naming the file. Each file that stood there before is then as it was, or whole and new.
pub fn write_files(dir: &Path, files: &[(&str, String)]) -> Result<Vec<PathBuf>, BundleError> {
    fs::create_dir_all(dir).map_err(|source| BundleError::Create { path: dir.to_owned(), source })?;
    for (name, text) in files {
        write_whole(dir, name, text.as_bytes())?;
    }
    Ok(files.iter().map(|(name, _)| dir.join(name)).collect())
}

/// Writes one file under another name, and renames it once it is whole and on the disk.
pub(super) fn write_whole(dir: &Path, name: &str, content: &[u8]) -> Result<(), BundleError> {
    let (path, scratch) = (dir.join(name), dir.join(format!(".{name}.part")));
    let written = (|| -> io::Result<()> {
        let mut file = File::create(&scratch)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&scratch, &path)
    })();
    written.map_err(|source| {
        // The half-written one is of no use to anybody; that it cannot be removed either changes nothing.
        let _ = fs::remove_file(&scratch);
        BundleError::Write { path, source }
    })
}
