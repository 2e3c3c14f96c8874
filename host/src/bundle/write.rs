//! Writes the files that follow from a recording, each under another name first.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::recorder::BundleError;

/// Writes a file into `dir`, which is made if need be, in place of what is there. `content` is asked to write it, so that
/// a large file is never in memory. Returns its path.
///
/// # Errors
/// [`BundleError`], naming the file. A file that stood there before is then as it was.
pub fn write_file(
    dir: &Path,
    name: &str,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, BundleError> {
    fs::create_dir_all(dir).map_err(|source| BundleError::Create { path: dir.to_owned(), source })?;
    write_whole(dir, name, content)?;
    Ok(dir.join(name))
}

/// Writes one file under another name, and renames it once it is whole and on the disk.
pub(super) fn write_whole(
    dir: &Path,
    name: &str,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), BundleError> {
    let (path, scratch) = (dir.join(name), dir.join(format!(".{name}.part")));
    let written = (|| -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&scratch)?);
        content(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&scratch, &path)
    })();
    written.map_err(|source| {
        // The half-written one is of no use to anybody; that it cannot be removed either changes nothing.
        let _ = fs::remove_file(&scratch);
        BundleError::Write { path, source }
    })
}
