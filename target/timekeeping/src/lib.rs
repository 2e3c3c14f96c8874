//! The part of the kernel's timekeeping that a board captures and stamps with, under the kernel's names.
//!
//! Modelled on `kernel/time/clocksource.c`, `kernel/time/timekeeping.c` and the multigrain timestamps of `fs/inode.c`;
//! each item's documentation names the kernel function or structure that it models. A [`Clocksource`]'s counter is
//! turned into nanoseconds by `mult` and `shift`. A [`Timekeeper`] is what every core may read without a lock; its
//! snapshot ties the time of a named clock to one single counter read. [`Timekeeping`] is what changes it.
//!
//! There is no clock discipline here (no NTP multiplier), so that the time of a snapshot is an exact function of its
//! counter value.
#![no_std]

#[cfg(test)]
extern crate std;

mod arch;
mod clocksource;
mod inode;
mod mgtime;
mod pps;
mod read_base;
mod seqcount;
mod shadow;
mod snapshot;
mod sync;
mod time;
mod timekeeper;
mod timekeeping;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod testing;
#[cfg(all(test, not(loom)))]
mod tests;

pub use arch::{Arch, ClocksourceCell, StaticBranch};
pub use clocksource::{
    Clocksource, ClocksourceFlags, ClocksourceHwSnapshot, ClocksourceId, Read, ReadSnapshot,
    clocks_calc_mult_shift,
};
pub use inode::{Ctime, Inode};
pub use mgtime::{Broken, Build, Coarse, CtimeFloor, Multigrain, MultigrainFloor, Stamper, coarse_ctime};
pub use pps::{PpsError, PpsPoll, PpsTime};
pub use snapshot::{SnapshotValidity, SystemTimeSnapshot};
pub use time::{ClockId, Ktime, Timespec64};
pub use timekeeper::Timekeeper;
pub use timekeeping::{Timekeeping, TimekeepingError};

/// Nanoseconds in a second; the kernel's `NSEC_PER_SEC`.
pub const NSEC_PER_SEC: u32 = 1_000_000_000;
