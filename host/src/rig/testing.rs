//! A pseudo-terminal pair for tests: the instrument's side of a port.

use std::fs::File;
use std::io::{Read, Write};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

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
