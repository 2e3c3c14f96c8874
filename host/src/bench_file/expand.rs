//! Puts the run's scratch folder in the place of `@run`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::place::{self, RUN};
use super::{BenchFile, Selector};

/// Why `@run` could not be replaced.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpandError {
    /// a folder whose name is not text
    #[error("the run's scratch folder {} has a name that is not UTF-8; set TMPDIR to another folder", .0.display())]
    FolderName(PathBuf),
    /// a socket path that is too long
    #[error("[board] `probe`: {0} (TMPDIR chooses it)")]
    SocketPath(String),
}

impl BenchFile {
    /// The bench with `run_dir` in the place of every `@run`.
    ///
    /// # Errors
    /// [`ExpandError`] if the folder's name is not text, or so long that a socket in it could not be connected to.
    pub fn expand(&self, run_dir: &Path) -> Result<Self, ExpandError> {
        let folder = run_dir.to_str().ok_or_else(|| ExpandError::FolderName(run_dir.to_owned()))?;
        let mut bench = self.clone();
        let replace = |text: &mut String| *text = expanded(text, folder);
        replace(&mut bench.board.probe);
        replace(&mut bench.board.link);
        replace(&mut bench.generator.port);
        replace(&mut bench.reference.port);
        bench.interval_counter.iter_mut().for_each(|counter| replace(&mut counter.port));
        for path in bench.environment.temperature.values_mut() {
            *path = expanded(&path.to_string_lossy(), folder).into();
        }
        bench.bring_up.iter_mut().flat_map(|bring_up| &mut bring_up.command).for_each(replace);
        bench.board.chip = expanded(&bench.board.chip, folder);
        bench.board.image = expanded(&bench.board.image.to_string_lossy(), folder).into();
        let serial = bench.board.probe.parse().ok().and_then(|selector: Selector| selector.serial);
        if let Some(path) = serial.as_deref().and_then(|serial| serial.strip_prefix("unix:")) {
            place::check_socket_path(path).map_err(ExpandError::SocketPath)?;
        }
        Ok(bench)
    }
}

/// `@run` counts where a path can begin: `@runner` and `user@run` are something else.
fn expanded(text: &str, folder: &str) -> String {
    let mut result = String::with_capacity(text.len() + folder.len());
    let mut rest = text;
    while let Some(index) = rest.find(RUN) {
        let (before, from) = rest.split_at(index);
        let begins = !before.ends_with(|letter: char| letter.is_alphanumeric());
        let ends = place::is_run(from) || from[RUN.len()..].starts_with([':', ',', ' ']);
        result.push_str(before);
        result.push_str(if begins && ends { folder } else { RUN });
        rest = &from[RUN.len()..];
    }
    result + rest
}
