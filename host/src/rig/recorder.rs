//! The recording side of a run: one clock for all host times, and one raw log per instrument, written as things happen.
//!
//! A log that cannot be written any more (a full disk) ends the run through the [`Watch`]; it is never ignored.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::events::RigEvent;
use crate::formats::raw_log::{Direction, RawWriter};
use crate::rig::watch::Watch;
use crate::units::HostNanos;

/// Host time since the recording began.
#[derive(Clone, Copy, Debug)]
pub struct RecordingClock(Instant);

impl RecordingClock {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time now.
    #[must_use]
    pub fn now(self) -> HostNanos {
        HostNanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Makes the raw logs of one recording.
#[derive(Clone, Debug)]
pub struct Recorder {
    clock: RecordingClock,
    watch: Watch,
}

impl Recorder {
    /// A recording that begins now. `watch` learns of logs that cannot be written.
    #[must_use]
    pub fn new(watch: &Watch) -> Self {
        Self { clock: RecordingClock::start(), watch: watch.clone() }
    }

    /// The recording's clock.
    #[must_use]
    pub const fn clock(&self) -> RecordingClock {
        self.clock
    }

    /// Begins the log of one instrument as a new file `FOLDER/INSTRUMENT.log`.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn log(&self, folder: &Path, instrument: &str) -> std::io::Result<Log> {
        let path = folder.join(format!("{instrument}.log"));
        let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(named)?;
        let writer = RawWriter::new(file, instrument).map_err(named)?;
        Ok(Log {
            clock: self.clock,
            watch: self.watch.clone(),
            name: path.display().to_string().into(),
            writer: Some(Arc::new(Mutex::new(writer))),
        })
    }

    /// A log that keeps nothing: for commands that record no run.
    #[must_use]
    pub fn no_log(&self) -> Log {
        Log { clock: self.clock, watch: self.watch.clone(), name: "".into(), writer: None }
    }
}

/// The raw log of one instrument, shared by the thread that reads and the one that writes.
#[derive(Clone, Debug)]
pub struct Log {
    clock: RecordingClock,
    watch: Watch,
    name: Arc<str>,
    writer: Option<Arc<Mutex<RawWriter<File>>>>,
}

impl Log {
    /// The recording's clock.
    #[must_use]
    pub const fn clock(&self) -> RecordingClock {
        self.clock
    }

    /// Records bytes with the time now, and returns that time.
    ///
    /// The time is taken under the log's lock, so that a log's times never run backwards.
    pub fn record(&self, direction: Direction, bytes: &[u8]) -> HostNanos {
        let Some(writer) = &self.writer else { return self.clock.now() };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.clock.now();
        if let Err(error) = writer.record(at, direction, bytes) {
            self.watch.recording_failed(format!("{}: {error}", self.name));
        }
        at
    }

    /// Records what the rig itself did, now.
    pub fn did(&self, event: &RigEvent) -> HostNanos {
        let json = serde_json::to_vec(event).expect("a rig event has string keys only");
        self.record(Direction::Did, &json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::raw_log;

    #[test]
    fn what_is_recorded_can_be_read_again_in_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = Recorder::new(&Watch::new()).log(folder.path(), "link").expect("a new file");
        let first = log.record(Direction::Rx, b"\x00a");
        let second = log.record(Direction::Tx, b"b");
        assert!(first <= second);
        let bytes = std::fs::read(folder.path().join("link.log")).expect("it was written");
        let read = raw_log::parse(&bytes, "link").expect("it is whole");
        let payloads: Vec<_> = read.records.iter().map(|record| (record.at, record.payload.as_slice())).collect();
        assert_eq!(payloads, [(first, b"\x00a".as_slice()), (second, b"b".as_slice())]);
    }

    #[test]
    fn a_log_is_never_written_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let recorder = Recorder::new(&Watch::new());
        recorder.log(folder.path(), "rig").expect("a new file");
        let error = recorder.log(folder.path(), "rig").expect_err("it exists");
        assert!(error.to_string().contains("rig.log"), "{error}");
    }

    #[test]
    fn a_log_that_cannot_be_written_ends_the_run_through_the_watch() {
        let watch = Watch::new();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut log = Recorder::new(&watch).log(folder.path(), "rig").expect("a new file");
        let (reader, writer) = std::io::pipe().expect("two file descriptors are free");
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        log.writer = Some(Arc::new(Mutex::new(RawWriter::new(writer, "rig").expect("it is open"))));
        drop(reader);
        log.did(&RigEvent::Finished);
        let halt = watch.check().expect_err("the pipe is broken");
        assert!(halt.to_string().contains("rig.log"), "{halt}");
    }
}
