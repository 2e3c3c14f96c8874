//! A pseudo-terminal pair for tests: the instrument's side of a port, which can also be unplugged.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::events::RigEvent;
use crate::formats::raw_log::{self, RawWriter};
use crate::rig::recorder::{Log, Recorder};
use crate::rig::watch::Watch;

/// The instrument's end; [`Pty::path`] is what a port opens.
pub(crate) struct Pty {
    master: File,
    path: String,
}

impl Pty {
    pub(crate) fn open() -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a free pty");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let path = ptsname(&master, Vec::new()).expect("it has a name");
        Self { master: File::from(master), path: path.into_string().expect("it is ASCII") }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.master.write_all(bytes).expect("the other end is open");
    }

    pub(crate) fn read(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.master.read_exact(&mut bytes).expect("the other end is open");
        bytes
    }

    /// The next byte; none once the other end is closed.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let mut byte = [0];
        matches!(self.master.read(&mut byte), Ok(1)).then_some(byte[0])
    }

    /// Splits off the instrument's end for a thread that plays the instrument.
    pub(crate) fn file(&self) -> File {
        self.master.try_clone().expect("a file descriptor is free")
    }
}

/// A name that stands for one pty after another, as one under /dev/serial/by-id does; and a `rig.log`.
pub(crate) struct Plug {
    folder: tempfile::TempDir,
    pty: Option<Pty>,
    watch: Watch,
    rig: Log,
}

impl Plug {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = File::create(folder.path().join("rig.log")).expect("it fits");
        let watch = Watch::new();
        let rig = Recorder::new(&watch).log("rig", RawWriter::new(file, "rig").expect("it fits"));
        let mut plug = Self { folder, pty: None, watch, rig };
        plug.plug_in();
        plug
    }

    fn name(&self) -> PathBuf {
        self.folder.path().join("by-id")
    }

    pub(crate) fn address(&self) -> String {
        self.name().to_str().expect("it is ASCII").to_owned()
    }

    pub(crate) const fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) const fn rig(&self) -> &Log {
        &self.rig
    }

    pub(crate) fn plug_in(&mut self) {
        let pty = Pty::open();
        symlink(pty.path(), self.name()).expect("it fits");
        self.pty = Some(pty);
    }

    pub(crate) fn unplug(&mut self) {
        std::fs::remove_file(self.name()).expect("it is there");
        self.pty = None;
    }

    pub(crate) fn pty(&mut self) -> &mut Pty {
        self.pty.as_mut().expect("it is plugged in")
    }

    /// What the rig's log says, without its times.
    pub(crate) fn events(&self) -> Vec<RigEvent> {
        let bytes = std::fs::read(self.folder.path().join("rig.log")).expect("it was written");
        let records = raw_log::parse(&bytes, "rig").expect("it is whole").records;
        let event = |payload: &[u8]| serde_json::from_slice(payload).expect("it is an event");
        records.iter().map(|record| event(&record.payload)).collect()
    }
}
