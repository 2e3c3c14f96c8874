//! The folder in which benches have their state: who uses one, and whether it is offline. Files there appear whole and are
//! changed under a lock that is held for a moment only.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use thiserror::Error;

use super::key::BenchKey;
use crate::rig::watch::Deadline;

/// Where a lab with several users keeps it, if the folder is there.
const SHARED: &str = "/var/lib/ppsrig";
/// How long another process may hold the lock on a bench's files. It takes milliseconds.
const LOCK_ALLOWED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
const SHARED_MODE: u32 = 0o664;

/// What is wrong with the state of benches.
#[derive(Debug, Error)]
pub enum StateError {
    /// there is nowhere to keep it
    #[error(
        "no folder for the state of benches: neither PPSRIG_STATE_DIR, XDG_STATE_HOME nor HOME is set; set the first"
    )]
    Nowhere,
    /// the system's answer
    #[error("{}: cannot {what}: {reason}; PPSRIG_STATE_DIR chooses another folder, which all who share a bench have to use", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system says.
        reason: std::io::Error,
    },
    /// another process has it locked
    #[error("{}: another process has had it locked for {} s; `fuser -v` on it says which", path.display(), LOCK_ALLOWED.as_secs())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// a file that cannot be understood
    #[error("{}: not what ppsrig writes: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where it is wrong.
        reason: String,
    },
}

/// The folder of benches' state.
#[derive(Clone, Debug)]
pub struct StateFolder(PathBuf);

/// How long a file matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// Through a power cut.
    ForGood,
    /// Not longer than its process: waiting for a slow disk would only make it late.
    ForAWhile,
}

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) modified: Timestamp,
}

impl StateFolder {
    /// `PPSRIG_STATE_DIR`, else `/var/lib/ppsrig` if it is there and writable, else `ppsrig` in `XDG_STATE_HOME` or in
    /// `~/.local/state`. Made if it is not there.
    ///
    /// # Errors
    /// [`StateError`] if there is none and none can be made.
    pub fn find() -> Result<Self, StateError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = || {
            let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
            state.map(|state| state.join("ppsrig"))
        };
        let shared = || Some(PathBuf::from(SHARED)).filter(|folder| is_writable(folder));
        let folder = set("PPSRIG_STATE_DIR").or_else(shared).or_else(own).ok_or(StateError::Nowhere)?;
        Self::at(folder)
    }

    /// That folder, made if it is not there.
    ///
    /// # Errors
    /// [`StateError::File`] if it cannot be made.
    pub fn at(folder: PathBuf) -> Result<Self, StateError> {
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(Self(folder)),
            Err(reason) => Err(StateError::File { path: folder, what: "make the folder", reason }),
        }
    }

    /// The file in which the guard of a bench's labgrid place keeps whether it acquired it.
    #[must_use]
    pub fn place_file(&self, key: &BenchKey) -> PathBuf {
        self.file(key, "place")
    }

    /// The file of a bench with this ending.
    pub(super) fn file(&self, key: &BenchKey, ending: &str) -> PathBuf {
        self.0.join(format!("{}.{ending}", key.file_name()))
    }

    /// Locks a bench's files until the result is dropped.
    pub(super) fn lock(&self, key: &BenchKey) -> Result<File, StateError> {
        let path = self.file(key, "lock");
        let failed = |what, reason| StateError::File { path: path.clone(), what, reason };
        let file = open_lock(&path).map_err(|reason| failed("open it", reason))?;
        let deadline = Deadline::after(LOCK_ALLOWED);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if deadline.passed() => {
                    return Err(StateError::Locked { path });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
                Err(TryLockError::Error(reason)) => return Err(failed("lock it", reason)),
            }
        }
    }
}

/// Opens or makes a lock file. One of another user can only be read; a local file system locks it all the same.
pub(in crate::rig) fn open_lock(path: &Path) -> std::io::Result<File> {
    let made = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    match made {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path).map_err(|_| error),
        Ok(file) => {
            share(&file);
            Ok(file)
        }
        other => other,
    }
}

/// Lets those who share the folder read the file, and its group write it, whatever this user's umask is for other files.
fn share(file: &File) {
    let _of_another_user = file.set_permissions(Permissions::from_mode(SHARED_MODE));
}

fn is_writable(folder: &Path) -> bool {
    use rustix::fs::Access;
    folder.is_dir() && rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// The content of a file, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<Content>, StateError> {
    let failed = |reason| StateError::File { path: path.to_owned(), what: "read it", reason };
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(failed)?,
    };
    let modified = fs::metadata(path).and_then(|data| data.modified()).map_err(failed)?;
    let modified = Timestamp::try_from(modified).unwrap_or(Timestamp::MAX);
    Ok(Some(Content { bytes, modified }))
}

/// Puts a whole file in the place of whatever is there. To be called under the bench's lock.
pub(super) fn write(path: &Path, text: &str, keep: Keep) -> Result<(), StateError> {
    let failed = |reason| StateError::File { path: path.to_owned(), what: "write it", reason };
    let new = path.with_extension("new");
    // Left by a process that was killed, perhaps another user's.
    remove(&new)?;
    let written = OpenOptions::new().write(true).create_new(true).open(&new).and_then(|mut file| {
        share(&file);
        file.write_all(text.as_bytes())?;
        if keep == Keep::ForGood { file.sync_all() } else { Ok(()) }
    });
    written.and_then(|()| fs::rename(&new, path)).map_err(failed)
}

/// Removes a file; one that is not there is no error.
pub(super) fn remove(path: &Path) -> Result<(), StateError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => {
            Err(StateError::File { path: path.to_owned(), what: "remove it", reason })
        }
        _ => Ok(()),
    }
}
