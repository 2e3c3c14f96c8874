//! The recording side of a run: one clock for all host times, and one raw log per instrument, written as things happen.
//!
//! A log that cannot be written any more (a full disk) ends the run through the [`Watch`]; it is never ignored.

use std::fs::File;
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

    /// The log of one instrument, in a file that has been begun.
    #[must_use]
    pub fn log(&self, instrument: &str, file: RawWriter<File>) -> Log {
        Log {
            clock: self.clock,
            watch: self.watch.clone(),
            name: format!("raw/{instrument}.log").into(),
            writer: Some(Arc::new(Mutex::new(file))),
        }
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

    /// What ends the recording early.
    #[must_use]
    pub const fn watch(&self) -> &Watch {
        &self.watch
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
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let writer = RawWriter::new(file.reopen().expect("it is there"), "link").expect("it fits");
        let log = Recorder::new(&Watch::new()).log("link", writer);
        let first = log.record(Direction::Rx, b"\x00a");
        let second = log.record(Direction::Tx, b"b");
        assert!(first <= second);
        let bytes = std::fs::read(file.path()).expect("it was written");
        let read = raw_log::parse(&bytes, "link").expect("it is whole");
        let payloads: Vec<_> =
            read.records.iter().map(|record| (record.at, record.payload.as_slice())).collect();
        assert_eq!(payloads, [(first, b"\x00a".as_slice()), (second, b"b".as_slice())]);
    }

    #[test]
    fn a_log_that_cannot_be_written_ends_the_run_through_the_watch() {
        let watch = Watch::new();
        let (reader, writer) = std::io::pipe().expect("two file descriptors are free");
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        let log = Recorder::new(&watch).log("rig", RawWriter::new(writer, "rig").expect("it is open"));
        drop(reader);
        log.did(&RigEvent::Finished);
        let halt = watch.check().expect_err("the pipe is broken");
        assert!(halt.to_string().contains("raw/rig.log"), "{halt}");
    }
}
