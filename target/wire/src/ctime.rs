//! The messages of the `ctime` measurement: a pipe-like workload in which every operation stamps inodes.

use heapless::Vec;
use serde::{Deserialize, Serialize};

/// Cores that a run can use at most.
pub const CORES: usize = 4;

/// The ways of stamping an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CtimeVariant {
    /// Coarse time only: no multigrain timestamps.
    Coarse,
    /// Multigrain, the floor compared outside the timekeeper.
    Multigrain,
    /// Multigrain with the floor inside: `ktime_get_coarse_real_ts64_with_floor()`.
    MultigrainFloor,
    /// Multigrain without a floor: deliberately wrong, so that a test can see the violations counted. `ppsrig run`
    /// never asks for it.
    Broken,
}

/// What to run. It ends by itself, with [`CtimeDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CtimePlan {
    /// Number of the window, chosen by the host, different for each window of a run.
    pub window: u32,
    /// The way of stamping.
    pub variant: CtimeVariant,
    /// Cores that work: 1 to [`CORES`].
    pub cores: u8,
    /// Operations of all cores together. Shares differ by at most one, larger ones first.
    pub operations: u64,
    /// Seed of what each core does next.
    pub seed: u64,
}

/// What one core did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CtimeCore {
    /// Operations: one write and one read of a pipe, each of which stamps its inode.
    pub operations: u64,
    /// Instructions that they took, where the core counts them (event INST_RETIRED). An emulator that runs its cores
    /// by turns on one virtual clock counts those of all cores here.
    pub instructions: Option<u64>,
    /// Coarse stamps that were earlier than a fine-grained stamp that had been handed out before, on whichever core.
    pub ordering_violations: u64,
    /// Fine-grained stamps that were handed out.
    pub fine_stamps: u64,
    /// Counter ticks from the core's first operation to its last.
    pub elapsed_ticks: u64,
}

/// The end of a `ctime` run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CtimeDone {
    /// The window.
    pub window: u32,
    /// The cores, the first one first.
    pub cores: Vec<CtimeCore, CORES>,
}
