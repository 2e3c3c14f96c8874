//! Everything that is done through the debug probe.
//!
//! probe-rs can hang in a probe that vanished (its Glasgow driver spins, its reset waits without a limit), so it is only
//! ever run in a child process of our own executable (`ppsrig probe-worker`, [`worker`]) that is killed when it makes no
//! progress. The two speak JSON lines: a [`Request`] on the child's stdin, then [`Reply`]s on its stdout. The child ends
//! when its stdin closes, so it never outlives ppsrig.

mod bulk;
mod child;
mod load;
pub mod lock;
mod stepping;
pub mod worker;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use child::{OnProgress, perform};
pub use stepping::is_counter_read;

use crate::rig::watch::Halt;

/// What the child is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Our program's version on both sides; the two are the same executable unless it was replaced meanwhile.
    pub version: String,
    /// The task.
    pub task: Task,
}

/// One probe session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// List the probes that are plugged in.
    List,
    /// Attach to the board, look whether its core answers, and detach.
    Attach(Target),
    /// Reset and halt, write every segment of an image, verify, set the program counter, run and detach.
    Load {
        /// The board.
        target: Target,
        /// What is written.
        load: Load,
    },
    /// The same, but stop at an address, from there execute one instruction after another up to the next that reads the
    /// counter, and go on to the next address.
    Trace {
        /// The board.
        target: Target,
        /// What is written.
        load: Load,
        /// Where stepping begins, in the order in which the core comes there: instructions that read the counter.
        from: Vec<u64>,
    },
}

/// What is loaded into a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// The ELF file.
    pub image: PathBuf,
    /// Frames for the image's mailbox: commands that the board finds there when it starts. None: the mailbox stays as it is.
    pub mailbox: Vec<u8>,
}

impl Load {
    /// An image as it is.
    #[must_use]
    pub const fn plain(image: PathBuf) -> Self {
        Self { image, mailbox: Vec::new() }
    }
}

/// An instruction that the core executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// Its encoding, as it stood in the board's memory.
    pub word: u32,
}

/// What came of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Performed {
    /// What was done.
    pub report: Report,
    /// [`Task::List`]: the probes that are plugged in.
    pub probes: Vec<ListedProbe>,
    /// [`Task::Trace`]: for each address the instructions from the one where stepping began to the next that reads the
    /// counter, both among them.
    pub executed: Vec<Vec<Executed>>,
}

/// A chip behind a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The probe.
    pub selector: String,
    /// A registry name, or `FILE:NAME`.
    pub chip: String,
}

/// A line from the child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// It got on.
    Progress(Progress),
    /// The probes that are plugged in.
    Probes(Vec<ListedProbe>),
    /// The instructions that were stepped through from one address on.
    Executed(Vec<Executed>),
    /// Done. The last line.
    Done(Report),
    /// Given up. The last line.
    Failed {
        /// What failed, on what, and what to try.
        reason: String,
        /// Probe operations up to then.
        operations: u64,
    },
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Bytes done in this stage.
    pub done: u64,
    /// Bytes to do in this stage; 0 where nothing is counted.
    pub total: u64,
}

/// A stage of a probe session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Opening the probe and attaching to the core.
    Attach,
    /// Resetting and halting the core.
    Reset,
    /// Writing the image.
    Write,
    /// Reading it back.
    Verify,
    /// Setting the program counter and letting the core run.
    Start,
    /// Waiting for the core to come to the address where stepping begins.
    Approach,
    /// Stepping.
    Step,
}

impl Stage {
    /// As a phrase that continues "while".
    #[must_use]
    pub const fn doing(self) -> &'static str {
        match self {
            Self::Attach => "attaching",
            Self::Reset => "resetting the core",
            Self::Write => "writing the image",
            Self::Verify => "reading the image back",
            Self::Start => "starting the core",
            Self::Approach => "waiting for the core to come to the counter read",
            Self::Step => "stepping the core",
        }
    }
}

/// A probe that is plugged in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedProbe {
    /// What a bench file takes.
    pub selector: String,
    /// What it calls itself.
    pub name: String,
    /// Whether this user may open it.
    pub accessible: bool,
}

/// What a probe session did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Bytes loaded.
    pub bytes: u64,
    /// Segments loaded.
    pub segments: u64,
    /// Where execution began.
    pub entry: u64,
    /// Nanoseconds from opening the probe to the core halted in reset.
    pub attach_ns: u64,
    /// Nanoseconds for writing.
    pub write_ns: u64,
    /// Nanoseconds for reading back and comparing.
    pub verify_ns: u64,
    /// probe-rs operations: attach, reset, each block written or read, each register.
    pub operations: u64,
}

/// Why a probe session failed.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// the child's own words
    #[error("{reason}")]
    Failed {
        /// What failed, on what, and what to try.
        reason: String,
        /// Probe operations up to then.
        operations: u64,
    },
    /// no progress
    #[error(
        "probe {selector}: no answer for {seconds} s while {doing}; unplug and replug the probe, then try again",
        seconds = allowed.as_secs()
    )]
    Hung {
        /// The probe.
        selector: String,
        /// What it was doing.
        doing: &'static str,
        /// What was allowed.
        allowed: Duration,
    },
    /// the child ended without a last line
    #[error("probe {selector}: the probe process ended while {doing} ({status}){output}")]
    Died {
        /// The probe.
        selector: String,
        /// What it was doing.
        doing: &'static str,
        /// How it ended.
        status: String,
        /// The last lines of its stderr, each behind a line break, or nothing.
        output: String,
    },
    /// the child could not be started
    #[error("cannot start the probe process: {0}")]
    Start(std::io::Error),
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

impl ProbeError {
    /// Probe operations before it failed, as far as known.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        match self {
            Self::Failed { operations, .. } => *operations,
            _ => 0,
        }
    }
}
