//! Multigrain timestamps: the floor below which no stamp may lie, and the stamps of inodes.
//!
//! Inodes are stamped with the coarse clock, which is cheap and moves at ticks. Only where somebody has looked at a
//! stamp since it was set, and the coarse clock still shows the same, a fine-grained stamp is taken. It raises the
//! *floor*: a coarse stamp that is taken later, by any core for any inode, is at least the floor, so that stamps order
//! as the changes did. The floor is kept in `CLOCK_MONOTONIC`, so a clock set moves real time and reorders nothing.
//!
//! Three builds of one use of it, see [`Build`]. Models `fs/inode.c` of the patch series of 2024 that introduced
//! `ktime_get_coarse_real_ts64_with_floor()`, where the floor was `ctime_floor` there; later kernels keep it as
//! `mg_floor` beside the timekeeper.

use core::marker::PhantomData;

use crate::{
    Arch, Ktime, Timekeeper, Timespec64,
    inode::Inode,
    sync::{AtomicI64, Ordering},
};

/// How a file system stamps; the three builds that are compared, as types so that each is compiled by itself.
pub trait Build {
    /// Fine-grained stamps are taken at all; the kernel's `is_mgtime()` (`FS_MGTIME`).
    const MULTIGRAIN: bool;

    /// The coarse clock, at least `floor` where there is one; `floor` in nanoseconds of `CLOCK_MONOTONIC`.
    fn coarse<A: Arch>(timekeeper: &Timekeeper<A>, floor: &CtimeFloor) -> (Timespec64, Ktime);
}

/// No multigrain stamps: the coarse clock alone, as before them; models `ktime_get_coarse_real_ts64()` in
/// `current_time()`.
#[derive(Clone, Copy, Debug)]
pub struct Coarse;

impl Build for Coarse {
    const MULTIGRAIN: bool = false;

    #[inline]
    fn coarse<A: Arch>(timekeeper: &Timekeeper<A>, _: &CtimeFloor) -> (Timespec64, Ktime) {
        (timekeeper.ktime_get_coarse_real_ts64(), 0)
    }
}

/// The floor compared outside the timekeeper, in two steps; models the older `coarse_ctime()`.
#[derive(Clone, Copy, Debug)]
pub struct Multigrain;

impl Build for Multigrain {
    const MULTIGRAIN: bool = true;

    #[inline]
    fn coarse<A: Arch>(timekeeper: &Timekeeper<A>, floor: &CtimeFloor) -> (Timespec64, Ktime) {
        let floor = floor.read();
        (Timespec64::from_ktime(coarse_ctime(timekeeper, floor)), floor)
    }
}

/// The floor compared by the timekeeper, in one read section; models the users of
/// `ktime_get_coarse_real_ts64_with_floor()`.
#[derive(Clone, Copy, Debug)]
pub struct MultigrainFloor;

impl Build for MultigrainFloor {
    const MULTIGRAIN: bool = true;

    #[inline]
    fn coarse<A: Arch>(timekeeper: &Timekeeper<A>, floor: &CtimeFloor) -> (Timespec64, Ktime) {
        let floor = floor.read();
        (timekeeper.ktime_get_coarse_real_ts64_with_floor(floor), floor)
    }
}

/// Wrong on purpose: fine-grained stamps are handed out, and coarse ones take no notice. It shows that a check of the
/// order can fail. No file system is built so.
#[derive(Clone, Copy, Debug)]
pub struct Broken;

impl Build for Broken {
    const MULTIGRAIN: bool = true;

    #[inline]
    fn coarse<A: Arch>(timekeeper: &Timekeeper<A>, floor: &CtimeFloor) -> (Timespec64, Ktime) {
        (timekeeper.ktime_get_coarse_real_ts64(), floor.read())
    }
}

/// The later of the coarse clock and the floor, in nanoseconds of `CLOCK_REALTIME`; `floor` in nanoseconds of
/// `CLOCK_MONOTONIC`. Models `coarse_ctime()`, with its two read sections.
#[inline]
#[must_use]
pub fn coarse_ctime<A: Arch>(timekeeper: &Timekeeper<A>, floor: Ktime) -> Ktime {
    let coarse = timekeeper.ktime_get_coarse();
    if floor > coarse { timekeeper.ktime_mono_to_real(floor) } else { timekeeper.ktime_get_coarse_real() }
}

/// The latest fine-grained stamp that was handed out, in nanoseconds of `CLOCK_MONOTONIC`; models `ctime_floor`
/// (later `mg_floor`). On a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct CtimeFloor(AtomicI64);

impl Default for CtimeFloor {
    fn default() -> Self {
        Self::new()
    }
}

impl CtimeFloor {
    /// Nothing was handed out.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    /// The floor. Acquire, so that a core which learnt of a change also finds the floor that its stamp had.
    #[inline]
    #[must_use]
    pub fn read(&self) -> Ktime {
        self.0.load(Ordering::Acquire)
    }

    /// Raises the floor from `floor`, as read before, to `fine`, the present time, and returns the stamp to hand out;
    /// models the `cmpxchg()` in `inode_set_ctime_current()`.
    ///
    /// If another core raised it meanwhile, its floor is taken, provided that it is not earlier than `fine`. The kernel
    /// takes it in any case: then a stamp can be handed out that lies before a tick which this core has already stamped
    /// with, and a changed file goes back in time.
    #[inline]
    fn raise(&self, floor: Ktime, fine: Ktime) -> Ktime {
        let mut floor = floor;
        loop {
            match self.0.compare_exchange(floor, fine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return fine,
                Err(other) if other >= fine => return other,
                Err(other) => floor = other,
            }
        }
    }
}

/// What stamps inodes: the clocks, the floor, and one of the builds.
pub struct Stamper<'a, A: Arch, B: Build> {
    timekeeper: &'a Timekeeper<A>,
    floor: &'a CtimeFloor,
    build: PhantomData<B>,
}

impl<A: Arch, B: Build> Clone for Stamper<'_, A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Arch, B: Build> Copy for Stamper<'_, A, B> {}

impl<'a, A: Arch, B: Build> Stamper<'a, A, B> {
    /// Stamps by these clocks, above this floor. Both are shared by all cores.
    #[must_use]
    pub const fn new(timekeeper: &'a Timekeeper<A>, floor: &'a CtimeFloor) -> Self {
        Self { timekeeper, floor, build: PhantomData }
    }

    /// The time to stamp with, without setting it: what a reader of the file compares its stamps with, to see whether
    /// they need an update; models `current_time()`.
    ///
    /// Where the stamp has been looked at and the coarse clock does not show a later time, it is a fine-grained time, so
    /// that the comparison says "update". That time is not handed out: the floor stays.
    #[inline(never)]
    #[must_use]
    pub fn current_time(&self, inode: &Inode) -> Timespec64 {
        let (now, _) = B::coarse(self.timekeeper, self.floor);
        if !B::MULTIGRAIN {
            return now;
        }
        let ctime = inode.ctime();
        if ctime.queried && now <= ctime.time { self.timekeeper.ktime_get_real_ts64() } else { now }
    }

    /// Stamps the inode and returns the stamp; models `inode_set_ctime_current()`.
    ///
    /// The stamp is later than the one before if anybody looked at that, and not earlier otherwise; after the clock was
    /// set backwards it follows the clock. If another core stamped the inode meanwhile, its stamp is returned: it is as
    /// late as ours.
    #[inline(never)]
    pub fn inode_set_ctime_current(&self, inode: &Inode) -> Timespec64 {
        // The inode first: whoever stamped it had raised the floor or seen the tick before, so what is read from here on
        // is not earlier. The kernel reads the clock first, and leaves this to the lock that callers mostly hold.
        let ctime = inode.ctime();
        let (mut now, floor) = B::coarse(self.timekeeper, self.floor);
        if B::MULTIGRAIN && ctime.queried && now <= ctime.time {
            now = self.fine_stamp(floor);
        }
        inode.exchange_ctime(ctime, now)
    }

    /// A fine-grained time that is the floor from now on; models that part of `inode_set_ctime_current()`, later
    /// `ktime_get_real_ts64_mg()`.
    #[inline(never)]
    fn fine_stamp(&self, floor: Ktime) -> Timespec64 {
        let fine = self.floor.raise(floor, self.timekeeper.ktime_get());
        Timespec64::from_ktime(self.timekeeper.ktime_mono_to_real(fine))
    }
}
