//! What all runs and nights below a results folder have given: `<results>/history.sqlite`.
//!
//! The bundles are the truth, the database is a cache of what their run.toml, summary.json and summary.csv say. It is brought up
//! to date in one transaction ([`refresh`]), and made anew under another name where it is damaged or of another version
//! ([`rebuild`]). It keeps SQLite's rollback journal: nothing lies beside it once a transaction is over, and a reader
//! waits for a writer no longer than the commit.

mod entry;
pub mod export;
mod figures;
pub mod query;
mod scan;
pub mod series;
mod store;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use thiserror::Error;

/// The database's name in the results folder.
pub const DATABASE: &str = "history.sqlite";
/// Version of the tables, kept as SQLite's `user_version`.
const SCHEMA: i64 = 1;
/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no history.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// no folder
    #[error("{path} is no folder; give the folder that holds the run bundles, by default results")]
    NotAFolder {
        /// What was given.
        path: PathBuf,
    },
    /// a file
    #[error("cannot read or write {path}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// the database
    #[error("{path}: {source}; `ppsrig history --rebuild` makes it anew from the bundles")]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// parquet
    #[error("cannot write {path}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the writer says.
        source: parquet::errors::ParquetError,
    },
}

/// What a refresh did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Runs and nights that were read, because they were new or had changed.
    pub read: usize,
    /// Those that are gone.
    pub removed: usize,
    /// Those that are as they were.
    pub unchanged: usize,
    /// What has to be said: that the database was made anew, folders that cannot be read.
    pub words: Vec<String>,
}

/// Brings `<results>/history.sqlite` up to date with the runs and nights below.
///
/// # Errors
/// [`HistoryError`]; a bundle that cannot be read is none, it is listed with its reason.
pub fn refresh(results: &Path) -> Result<Refreshed, HistoryError> {
    let path = results.join(DATABASE);
    let why = match update(results, &path) {
        Ok(done) => return Ok(done),
        Err(Update::Stale(why)) => why,
        Err(Update::Failed(error)) => return Err(error),
    };
    let mut done = rebuild(results)?;
    if !why.is_empty() {
        done.words.insert(0, format!("{} was {why}: it was made anew from the bundles", path.display()));
    }
    Ok(done)
}

/// Makes the database anew, under another name that is renamed at the end.
///
/// # Errors
/// [`HistoryError`]; what stood there before is then as it was.
pub fn rebuild(results: &Path) -> Result<Refreshed, HistoryError> {
    folder(results)?;
    let path = results.join(DATABASE);
    let file = |source| HistoryError::File { path: path.clone(), source };
    let scratch = tempfile::Builder::new().prefix(".history.").suffix(".part").tempfile_in(results);
    let scratch = scratch.map_err(file)?.into_temp_path();
    let database = |source| HistoryError::Database { path: path.clone(), source };
    let mut connection = Connection::open(&scratch).map_err(database)?;
    // Nobody else knows the file, and a crash leaves the old one.
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY").map_err(database)?;
    let done = fill(&mut connection, results, true).map_err(|error| error.into_history(&path))?;
    connection.close().map_err(|(_, source)| database(source))?;
    share(&scratch, results);
    std::fs::File::open(&scratch).and_then(|file| file.sync_all()).map_err(file)?;
    forget(&path).map_err(file)?;
    scratch.persist(&path).map_err(|error| file(error.error))?;
    Ok(done)
}

/// Removes a database and then what a killed writer left beside it, which SQLite would play back into the next one of that name.
fn forget(path: &Path) -> std::io::Result<()> {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A temporary file is its owner's alone; the database is for whoever may read the bundles.
fn share(scratch: &Path, results: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(folder) = std::fs::metadata(results) else { return };
    let mode = folder.permissions().mode() & 0o664 | 0o600;
    // Who cannot then read it makes one in memory.
    let _ = std::fs::set_permissions(scratch, std::fs::Permissions::from_mode(mode));
}

/// A history to be read, and what has to be said of it.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    /// What a user should know.
    pub words: Vec<String>,
}

/// Brings the history up to date and opens it for reading. Where the folder may not be written, it is made in memory.
///
/// # Errors
/// [`HistoryError`].
pub fn open(results: &Path) -> Result<History, HistoryError> {
    folder(results)?;
    let path = results.join(DATABASE);
    let database = |source| HistoryError::Database { path: path.clone(), source };
    match refresh(results) {
        Ok(done) => {
            let connection = open_read_only(&path).map_err(database)?;
            Ok(History { connection, path, words: done.words })
        }
        Err(error) if error.is_read_only() => {
            let mut connection = Connection::open_in_memory().map_err(database)?;
            let done = fill(&mut connection, results, true).map_err(|error| error.into_history(&path))?;
            let word = format!("{} may not be written: its history was read into memory", results.display());
            Ok(History { connection, path, words: [vec![word], done.words].concat() })
        }
        Err(error) => Err(error),
    }
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn folder(results: &Path) -> Result<(), HistoryError> {
    if results.is_dir() { Ok(()) } else { Err(HistoryError::NotAFolder { path: results.to_owned() }) }
}

impl HistoryError {
    fn is_read_only(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        match self {
            Self::File { source, .. } => matches!(
                source.kind(),
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Database { source, .. } => {
                matches!(source.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
            }
            _ => false,
        }
    }
}

/// Why a database was not brought up to date.
enum Update {
    /// It has to be made anew; empty: there is none.
    Stale(String),
    Failed(HistoryError),
}

fn update(results: &Path, path: &Path) -> Result<Refreshed, Update> {
    folder(results).map_err(Update::Failed)?;
    if !path.exists() {
        return Err(Update::Stale(String::new()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok((connection, version))
    });
    let (mut connection, version) = opened.map_err(|error| stale_or_failed(error, path))?;
    if version != SCHEMA {
        return Err(Update::Stale(format!("of version {version}, this ppsrig keeps version {SCHEMA}")));
    }
    fill(&mut connection, results, false).map_err(|error| match error {
        Fill::Database(error) => stale_or_failed(error, path),
        Fill::Other(error) => Update::Failed(error),
    })
}

fn stale_or_failed(error: rusqlite::Error, path: &Path) -> Update {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => Update::Stale("damaged".to_owned()),
        // A table that is not there, or a column.
        Some(rusqlite::ErrorCode::Unknown) => Update::Stale("damaged".to_owned()),
        _ => Update::Failed(HistoryError::Database { path: path.to_owned(), source: error }),
    }
}

enum Fill {
    Database(rusqlite::Error),
    Other(HistoryError),
}

impl Fill {
    fn into_history(self, path: &Path) -> HistoryError {
        match self {
            Self::Database(source) => HistoryError::Database { path: path.to_owned(), source },
            Self::Other(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Fill {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Everything in one transaction.
fn fill(connection: &mut Connection, results: &Path, new: bool) -> Result<Refreshed, Fill> {
    connection.set_prepared_statement_cache_capacity(32);
    let found = scan::scan(results).map_err(Fill::Other)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if new {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    let done = store::bring_up_to_date(&transaction, &found)?;
    transaction.commit()?;
    Ok(done)
}
