//! The messages of the `jumps` trial: clocks that are changed in every way while all cores read them.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::CORES;

/// How long to try. It ends by itself, with [`JumpsDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JumpsPlan {
    /// Number of the window, chosen by the host, different for each window of a run.
    pub window: u32,
    /// Cores that read: 1 to [`CORES`]. The first one changes the clocks as well.
    pub cores: u8,
    /// How long, in counter ticks.
    pub ticks: u64,
    /// Seed of what happens when.
    pub seed: u64,
}

/// What one core read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JumpsCore {
    /// Snapshots that were valid.
    pub snapshots: u64,
    /// Snapshots that were not, since timekeeping was suspended.
    pub suspended: u64,
    /// Valid snapshots that belong to no one state of the clocks: torn, mixed, or back in raw time.
    pub violations: u64,
}

/// The end of a `jumps` trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JumpsDone {
    /// The window.
    pub window: u32,
    /// Times that the clock was set, forth or back.
    pub sets: u32,
    /// Suspends, each with its resume.
    pub suspends: u32,
    /// Clocksource switches.
    pub switches: u32,
    /// The cores, the first one first.
    pub cores: Vec<JumpsCore, CORES>,
}
