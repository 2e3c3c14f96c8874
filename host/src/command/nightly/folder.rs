//! A night's folder: made, found again, and its journal appended to. A line of the journal is on the disk before anything
//! that rests on it is done, and a bundle is whole before the line that names it.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jiff::Timestamp;

use crate::bundle;
use crate::night::journal::{self, Journal};
use crate::night::{Entry, NightRecord, names};

/// Nights of one plan that were begun in the same second.
const MOST_IN_A_SECOND: u32 = 99;

/// The folder of a night that goes on.
#[derive(Debug)]
pub(super) struct NightFolder {
    pub(super) dir: PathBuf,
    pub(super) record: NightRecord,
    pub(super) journal: Journal,
    file: File,
}

/// Now, as every file of a night has it.
pub(super) fn utc_now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Makes the folder of a new night, `<out>/<UTC time>-<plan>/`. It is none yet: `night.toml` comes last.
pub(super) fn make(out: &Path, name: &str, started: Timestamp) -> anyhow::Result<PathBuf> {
    let cannot = |path: &Path| format!("cannot create {}; give another folder with --out", path.display());
    fs::create_dir_all(out).with_context(|| cannot(out))?;
    let name = format!("{}-{}", started.strftime("%Y-%m-%dT%H-%M-%SZ"), bundle::safe(name));
    for number in 1..=MOST_IN_A_SECOND {
        let dir = out.join(if number == 1 { name.clone() } else { format!("{name}-{number}") });
        match fs::create_dir(&dir) {
            Ok(()) => {
                for folder in [names::RUNS, names::HEALTH] {
                    fs::create_dir(dir.join(folder)).with_context(|| cannot(&dir))?;
                }
                return Ok(dir);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| cannot(&dir)),
        }
    }
    bail!("{} nights of {name} in one second are too many", MOST_IN_A_SECOND)
}

impl NightFolder {
    /// Writes night.toml into a folder that was made, and begins the journal.
    pub(super) fn begin(dir: PathBuf, record: NightRecord) -> anyhow::Result<Self> {
        let text = toml::to_string_pretty(&record).context("cannot put the night's plan into TOML")?;
        bundle::write_file(&dir, names::NIGHT, |to| to.write_all(text.as_bytes()))?;
        let file = open_journal(&dir)?;
        Ok(Self { dir, record, journal: Journal::default(), file })
    }

    /// Opens a night that was cut. A torn last line goes.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Self> {
        let (record, journal) = read(dir)?;
        let file = open_journal(dir)?;
        if journal.torn_bytes > 0 {
            let cut = file.set_len(journal.whole_bytes).and_then(|()| file.sync_all());
            cut.with_context(|| format!("cannot write {}", dir.join(names::JOURNAL).display()))?;
        }
        Ok(Self { dir: dir.to_owned(), record, journal, file })
    }

    /// Refuses one that another process finished while the bench was waited for.
    pub(super) fn if_unfinished(self) -> anyhow::Result<Self> {
        if self.journal.is_finished() {
            bail!("{} was finished by another process meanwhile", self.dir.display());
        }
        Ok(self)
    }

    /// Appends a line to the journal. When this returns, it is on the disk.
    pub(super) fn write(&mut self, entry: Entry) -> anyhow::Result<()> {
        let written = self.file.write_all(entry.line().as_bytes()).and_then(|()| self.file.sync_data());
        written.with_context(|| {
            format!("cannot write {}; is the disk full?", self.dir.join(names::JOURNAL).display())
        })?;
        self.journal.entries.push(entry);
        Ok(())
    }

    /// A path in it, as the journal names it.
    pub(super) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.dir).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Run bundles that the journal does not name: of steps that were cut.
    pub(super) fn unnamed(&self) -> Vec<String> {
        let named: Vec<&str> = self
            .journal
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Done { bundle, .. } | Entry::Failed { bundle, .. } => Some(bundle.as_str()),
                _ => None,
            })
            .collect();
        let folders = fs::read_dir(self.dir.join(names::RUNS)).into_iter().flatten().flatten();
        let bundles =
            folders.map(|folder| format!("{}/{}", names::RUNS, folder.file_name().to_string_lossy()));
        let mut unnamed: Vec<_> = bundles.filter(|bundle| !named.contains(&bundle.as_str())).collect();
        unnamed.sort();
        unnamed
    }
}

fn open_journal(dir: &Path) -> anyhow::Result<File> {
    let path = dir.join(names::JOURNAL);
    let file = OpenOptions::new().append(true).create(true).open(&path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

/// Whether a folder is a night's.
pub(in crate::command) fn is_night(dir: &Path) -> bool {
    dir.join(names::NIGHT).is_file()
}

/// Reads night.toml and the journal.
///
/// # Errors
/// What is wrong, with file and line. A torn last line is no error, and neither is a journal that was not begun.
pub(super) fn read(dir: &Path) -> anyhow::Result<(NightRecord, Journal)> {
    let path = dir.join(names::NIGHT);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let record: NightRecord = toml::from_str(&text)
        .with_context(|| format!("{} is no night of this version of ppsrig", path.display()))?;
    if record.night_version != 1 {
        bail!(
            "{} says night-version = {}, this ppsrig reads version 1",
            path.display(),
            record.night_version
        );
    }
    let path = dir.join(names::JOURNAL);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let journal = journal::parse(&bytes).with_context(|| path.display().to_string())?;
    Ok((record, journal))
}

/// Earlier nights of a plan, the newest first: of the same name, from a file of the same name.
pub(super) fn nights_of(out: &Path, plan: &str, file: &str) -> Vec<(PathBuf, NightRecord, Journal)> {
    let folders = fs::read_dir(out).into_iter().flatten().flatten().map(|folder| folder.path());
    let mut dirs: Vec<_> = folders.filter(|dir| is_night(dir)).collect();
    dirs.sort();
    let nights = dirs.into_iter().rev().filter_map(|dir| match read(&dir) {
        Ok((record, journal)) => Some((dir, record, journal)),
        Err(error) => {
            log::warn!("{} is passed over: {error:#}", dir.display());
            None
        }
    });
    nights.filter(|(_, record, _)| record.plan.name == plan && record.plan_file == file).collect()
}

/// Has everything in a bundle on the disk, before the journal says that it is there.
pub(super) fn sync_bundle(dir: &Path) -> anyhow::Result<()> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let cannot = || format!("cannot bring {} to the disk", folder.display());
        for entry in fs::read_dir(&folder).with_context(cannot)? {
            let path = entry.with_context(cannot)?.path();
            if path.is_dir() { folders.push(path) } else { sync(&path).with_context(cannot)? }
        }
        sync(&folder).with_context(cannot)?;
    }
    let parent = dir.parent().unwrap_or(dir);
    sync(parent).with_context(|| format!("cannot bring {} to the disk", parent.display()))
}
