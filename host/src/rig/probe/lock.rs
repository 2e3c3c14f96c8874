//! One ppsrig at a time on a probe: a lock of our own per selector, since two processes on one probe disturb each other
//! in ways that neither notices.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::bench_file::{Selector, SelectorError};
use crate::rig::holder::Process;
use crate::rig::image::hex;

/// Why a probe cannot be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// another ppsrig has it
    #[error("probe {selector} is in use by {holder}; wait for it to end, or end it")]
    Held {
        /// The probe.
        selector: String,
        /// The other process.
        holder: String,
    },
    /// not of the form VID:PID[-INTERFACE][:SERIAL]
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// the lock file cannot be used
    #[error("{path}: cannot lock the probe: {reason}; set XDG_RUNTIME_DIR to a folder of your own")]
    File {
        /// The lock file or its folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// Holds a probe until dropped, or until the process ends in whatever way.
#[derive(Debug)]
pub struct ProbeLock {
    _file: File,
}

impl ProbeLock {
    /// Takes the probe.
    ///
    /// # Errors
    /// [`LockError::Held`] names who has it.
    pub fn acquire(selector: &str) -> Result<Self, LockError> {
        Self::acquire_in(&runtime_folder(), selector)
    }

    fn acquire_in(folder: &Path, selector: &str) -> Result<Self, LockError> {
        // In one spelling, so that `20B7:9db1` and `20b7:9DB1` are one probe.
        let selector = selector.parse::<Selector>()?.to_string();
        let path = folder.join(format!("probe-{}.lock", &hex(&Sha256::digest(&selector))[..16]));
        let failed =
            |reason: std::io::Error| LockError::File { path: path.clone(), reason: reason.to_string() };
        make_private(folder)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held { holder: holder_of(&mut file), selector });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The file stays where it is when the lock is dropped: removing it would let two others lock two files.
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}\n{selector}", std::process::id()))
            .map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn holder_of(file: &mut File) -> String {
    let mut text = String::new();
    let _unreadable = file.rewind().and_then(|()| file.read_to_string(&mut text));
    match text.lines().next().and_then(|pid| pid.parse().ok()) {
        Some(pid) => Process::of_pid(pid).map_or_else(|| format!("pid {pid}"), |process| process.to_string()),
        None => "another ppsrig that has just started".to_owned(),
    }
}

/// A folder of the user's own that does not outlive the machine's uptime.
fn runtime_folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("ppsrig"),
        None => std::env::temp_dir().join(format!("ppsrig-{}", rustix::process::geteuid().as_raw())),
    }
}

fn make_private(folder: &Path) -> Result<(), LockError> {
    let failed = |reason: String| LockError::File { path: folder.to_owned(), reason };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| failed(error.to_string()))?;
    let owner = fs::symlink_metadata(folder).map_err(|error| failed(error.to_string()))?;
    if !owner.is_dir() || owner.uid() != rustix::process::geteuid().as_raw() {
        return Err(failed("the folder belongs to another user".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_on_the_same_probe_names_the_holder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = ProbeLock::acquire_in(folder.path(), "20b7:9db1:unix:/x").expect("it is free");
        let error = ProbeLock::acquire_in(folder.path(), "20B7:9DB1:unix:/x").expect_err("it is held");
        assert!(error.to_string().contains(&format!("(pid {})", std::process::id())), "{error}");
        drop(first);
        ProbeLock::acquire_in(folder.path(), "20b7:9db1:unix:/x").expect("it is free again");
    }

    #[test]
    fn probes_with_different_serial_numbers_do_not_exclude_each_other() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let _first = ProbeLock::acquire_in(folder.path(), "0d28:0204:1").expect("it is free");
        let _second = ProbeLock::acquire_in(folder.path(), "0d28:0204:2").expect("it is free");
    }
}
