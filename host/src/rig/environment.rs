//! Temperatures beside the instruments, read from files every ten seconds while a run is recorded.
//!
//! A bad night can then be told from a hot one. Nothing depends on them: a file that cannot be read is recorded and told
//! once, and the run goes on. A read can hang in a driver, so it happens in a thread that is not waited for for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use crate::bench_file::Environment;
use crate::events::RigEvent;
use crate::rig::recorder::Log;
use crate::stderr;

/// From reading to reading.
const EVERY: Duration = Duration::from_secs(10);
/// A reading that hangs is left behind after this long.
const TEARDOWN: Duration = Duration::from_secs(1);
/// A number is shorter than this.
const MOST_BYTES: u64 = 64;

/// Reads until it is dropped.
#[derive(Debug)]
pub struct EnvironmentReader {
    stop: Option<Sender<()>>,
    ended: Receiver<()>,
}

impl EnvironmentReader {
    /// Starts a thread that reads at once and then every ten seconds; none where nothing is to be read.
    #[must_use]
    pub fn start(environment: &Environment, log: &Log) -> Option<Self> {
        if environment.is_empty() {
            return None;
        }
        let (stop, stopped) = channel();
        let (end, ended) = channel::<()>();
        let reader =
            Reader { files: environment.temperature.clone(), log: log.clone(), silent: BTreeSet::new() };
        std::thread::spawn(move || {
            reader.run(&stopped);
            drop(end);
        });
        Some(Self { stop: Some(stop), ended })
    }
}

impl Drop for EnvironmentReader {
    fn drop(&mut self) {
        self.stop.take();
        // It ends by going away, or hangs in a read and then records nothing more.
        let _ends_or_hangs = self.ended.recv_timeout(TEARDOWN);
    }
}

struct Reader {
    files: BTreeMap<String, PathBuf>,
    log: Log,
    /// Those that were told of.
    silent: BTreeSet<String>,
}

impl Reader {
    fn run(mut self, stopped: &Receiver<()>) {
        loop {
            for (name, path) in &self.files {
                let read = read(path);
                if stopped.try_recv() == Err(TryRecvError::Disconnected) {
                    return;
                }
                match read {
                    Ok(millicelsius) => {
                        self.log.did(&RigEvent::Temperature { name: name.clone(), millicelsius });
                    }
                    Err(reason) if self.silent.insert(name.clone()) => {
                        stderr::tell(&format!("temperature `{name}` is not recorded: {reason}"));
                        self.log.did(&RigEvent::TemperatureUnreadable { name: name.clone(), reason });
                    }
                    Err(_) => {}
                }
            }
            if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}

/// The number in a file.
fn read(path: &Path) -> Result<i32, String> {
    let mut text = String::new();
    let file = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text));
    file.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let number = text.trim();
    number.parse().map_err(|_| {
        format!("{} holds {number:?}, and no whole number of thousandths of a degree", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::raw_log::{self, RawWriter};
    use crate::rig::recorder::Recorder;
    use crate::rig::watch::Watch;

    fn recorded(files: &[(&str, &Path)]) -> Vec<RigEvent> {
        let kept = tempfile::NamedTempFile::new().expect("a temporary file");
        let writer = RawWriter::new(kept.reopen().expect("it is there"), "rig").expect("it fits");
        let log = Recorder::new(&Watch::new()).log("rig", writer);
        let temperature = files.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect();
        let reader = EnvironmentReader::start(&Environment { temperature }, &log).expect("there are files");
        let lines =
            || raw_log::parse(&std::fs::read(kept.path()).expect("it is there"), "rig").expect("it is one");
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while lines().records.len() < files.len() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        drop(reader);
        lines().records.iter().map(|line| serde_json::from_slice(&line.payload).expect("JSON")).collect()
    }

    #[test]
    fn temperatures_are_read_and_what_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let (good, bad) = (folder.path().join("temp"), folder.path().join("word"));
        std::fs::write(&good, "-1250\n").expect("it fits");
        std::fs::write(&bad, "hot\n").expect("it fits");
        let events = recorded(&[("a good one", &good), ("bad", &bad), ("c", &folder.path().join("none"))]);
        let named = |name: &str| name.to_owned();
        assert_eq!(events[0], RigEvent::Temperature { name: named("a good one"), millicelsius: -1250 });
        let why = |event: &RigEvent| match event {
            RigEvent::TemperatureUnreadable { name, reason } => (name.clone(), reason.clone()),
            other => panic!("{other:?}"),
        };
        assert!(why(&events[1]).1.contains("no whole number"), "{events:?}");
        assert!(why(&events[2]).1.contains("cannot read"), "{events:?}");
        assert_eq!(why(&events[2]).0, "c");
    }

    #[test]
    fn a_read_that_hangs_does_not_hold_up_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .expect("a fifo");
        let log = Recorder::new(&Watch::new()).no_log();
        let temperature = [("stuck".to_owned(), fifo)].into();
        drop(EnvironmentReader::start(&Environment { temperature }, &log));
    }
}
