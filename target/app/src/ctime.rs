//! The `ctime` measurement: every core writes to and reads from a pipe of its own, and every write and read stamps an
//! inode.
//!
//! An operation is that of will-it-scale's `pipe1_threads`, as far as a kernel does it between the two system calls:
//! 512 bytes into the pipe, `file_update_time()`, 512 bytes out of it, `file_accessed()`. Now and then a core looks at
//! the stamp of some core's pipe, as `stat()` does: without that no fine-grained stamp is ever taken.
//!
//! Each stamp is held against the latest fine-grained one that had been handed out, on whichever core, before it was
//! taken: if it is earlier, that is a violation of the order.

use core::sync::atomic::{AtomicI64, Ordering};

use ppsrig_timekeeping::{
    Arch, Broken, Build, Coarse, CtimeFloor, Inode, Ktime, Multigrain, MultigrainFloor, Stamper, Timekeeper,
    Timespec64,
};
use ppsrig_wire::{CORES, CtimeCore, CtimePlan, CtimeVariant};

use crate::SplitMix64;

/// Bytes that one operation writes and reads.
const BYTES: usize = 512;
/// Bytes that a pipe holds: one page.
const PIPE_BYTES: usize = 4096;
/// One operation in so many looks at a stamp.
const LOOK_ONE_IN: u64 = 256;
/// Operations between two readings of the machine's instruction counter, which has 32 bits.
const SLICE: u64 = 4096;

/// What all cores share.
#[derive(Debug)]
pub struct Shared {
    floor: CtimeFloor,
    inodes: [Inode; CORES],
    /// The latest fine-grained stamp that was handed out, in nanoseconds of CLOCK_REALTIME.
    latest_fine: Latest,
}

/// On a cache line of its own, since every operation reads it.
#[derive(Debug)]
#[repr(align(64))]
struct Latest(AtomicI64);

impl Shared {
    /// Nothing was stamped yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            floor: CtimeFloor::new(),
            inodes: core::array::from_fn(|_| Inode::new(Timespec64::default())),
            latest_fine: Latest(AtomicI64::new(Ktime::MIN)),
        }
    }

    /// Forgets which stamp was the latest, before another run: after one of the broken build it can be later than any
    /// clock.
    pub fn restart(&self) {
        self.latest_fine.0.store(Ktime::MIN, Ordering::Release);
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

/// What the machine gives to a working core.
pub trait Core {
    /// Instructions executed so far, modulo 2^32, if the core counts them.
    fn instructions(&self) -> Option<u32>;
    /// The counter, in ticks.
    fn counter(&self) -> u64;
}

/// Does core `core`'s share of a plan, 0 for the first, and says what it was.
pub fn work<A: Arch>(
    plan: &CtimePlan,
    core: usize,
    clocks: &Timekeeper<A>,
    shared: &Shared,
    machine: &impl Core,
) -> CtimeCore {
    match plan.variant {
        CtimeVariant::Coarse => Worker::<A, Coarse>::new(plan, core, clocks, shared).run(plan, machine),
        CtimeVariant::Multigrain => {
            Worker::<A, Multigrain>::new(plan, core, clocks, shared).run(plan, machine)
        }
        CtimeVariant::MultigrainFloor => {
            Worker::<A, MultigrainFloor>::new(plan, core, clocks, shared).run(plan, machine)
        }
        CtimeVariant::Broken => Worker::<A, Broken>::new(plan, core, clocks, shared).run(plan, machine),
    }
}

/// Operations of one core: shares differ by at most one, larger ones first.
fn share(plan: &CtimePlan, core: usize) -> u64 {
    let cores = u64::from(plan.cores.max(1));
    plan.operations / cores + u64::from((core as u64) < plan.operations % cores)
}

/// The bytes of a pipe.
struct Pipe {
    page: [u8; PIPE_BYTES],
    at: usize,
}

impl Pipe {
    /// Puts the message in and takes it out again at once, as one thread with both ends does.
    #[inline(never)]
    fn write(&mut self, message: &[u8; BYTES]) {
        self.page[self.at..self.at + BYTES].copy_from_slice(message);
    }

    #[inline(never)]
    fn read(&mut self, message: &mut [u8; BYTES]) {
        message.copy_from_slice(&self.page[self.at..self.at + BYTES]);
        self.at = (self.at + BYTES) % PIPE_BYTES;
    }
}

/// One working core.
struct Worker<'a, A: Arch, B: Build> {
    clocks: &'a Timekeeper<A>,
    stamper: Stamper<'a, A, B>,
    shared: &'a Shared,
    inode: &'a Inode,
    core: usize,
    cores: u64,
    random: SplitMix64,
    pipe: Pipe,
    message: [u8; BYTES],
    last_stamp: Timespec64,
    atime: Timespec64,
    violations: u64,
    fine_stamps: u64,
}

impl<'a, A: Arch, B: Build> Worker<'a, A, B> {
    fn new(plan: &CtimePlan, core: usize, clocks: &'a Timekeeper<A>, shared: &'a Shared) -> Self {
        let seed = SplitMix64::new(plan.seed ^ SplitMix64::new(core as u64).next()).next();
        Self {
            clocks,
            stamper: Stamper::new(clocks, &shared.floor),
            shared,
            inode: &shared.inodes[core % CORES],
            core,
            cores: u64::from(plan.cores.max(1)),
            random: SplitMix64::new(seed),
            pipe: Pipe { page: [0; PIPE_BYTES], at: 0 },
            message: [core as u8; BYTES],
            last_stamp: Timespec64::default(),
            atime: Timespec64::default(),
            violations: 0,
            fine_stamps: 0,
        }
    }

    fn run(mut self, plan: &CtimePlan, machine: &impl Core) -> CtimeCore {
        let operations = share(plan, self.core);
        let mut instructions = None;
        let started = machine.counter();
        let mut left = operations;
        while left > 0 {
            let slice = left.min(SLICE);
            let before = machine.instructions();
            for _ in 0..slice {
                self.operate();
            }
            if let (Some(before), Some(after)) = (before, machine.instructions()) {
                instructions = Some(instructions.unwrap_or(0) + u64::from(after.wrapping_sub(before)));
            }
            left -= slice;
        }
        CtimeCore {
            operations,
            instructions,
            ordering_violations: self.violations,
            fine_stamps: self.fine_stamps,
            elapsed_ticks: machine.counter().wrapping_sub(started),
        }
    }

    fn operate(&mut self) {
        let word = self.random.next();
        if word.is_multiple_of(LOOK_ONE_IN) {
            let whose = (word >> 32) % self.cores;
            self.shared.inodes[whose as usize % CORES].fill_mg_cmtime();
        }
        self.pipe.write(&self.message);
        self.file_update_time();
        self.pipe.read(&mut self.message);
        self.file_accessed();
    }

    /// The write side: the change time becomes the present time.
    #[inline]
    fn file_update_time(&mut self) {
        let latest_fine = self.shared.latest_fine.0.load(Ordering::Acquire);
        let stamp = self.stamper.inode_set_ctime_current(self.inode);
        self.check(stamp, latest_fine);
        // A stamp changes at a tick, or because it is fine-grained.
        if stamp != self.last_stamp {
            self.last_stamp = stamp;
            self.remember_fine(stamp.to_ktime(), latest_fine);
        }
    }

    /// The read side: the access time becomes the present time if it shows another.
    #[inline]
    fn file_accessed(&mut self) {
        let latest_fine = self.shared.latest_fine.0.load(Ordering::Acquire);
        let now = self.stamper.current_time(self.inode);
        self.check(now, latest_fine);
        if now != self.atime {
            self.atime = now;
        }
    }

    /// Holds a stamp against the latest fine-grained one, as it was before this one was taken.
    #[inline]
    fn check(&mut self, stamp: Timespec64, latest_fine: Ktime) {
        self.violations += u64::from(stamp.to_ktime() < latest_fine);
    }

    /// A stamp that is later than the coarse clock shows after it was taken is fine-grained.
    #[cold]
    fn remember_fine(&mut self, stamp: Ktime, latest_fine: Ktime) {
        if stamp > latest_fine && stamp > self.clocks.ktime_get_coarse_real() {
            self.fine_stamps += 1;
            self.shared.latest_fine.0.fetch_max(stamp, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests;
