//! The `jumps` trial: one core sets the clock forth and back, suspends, resumes and switches the clocksource, while
//! all cores take snapshots; every valid snapshot must belong to one state of the clocks.
//!
//! To make that visible the clock is set to *eras*, whole multiples of `ERA` ahead of raw time, and which era
//! belongs to which `clock_was_set_seq` is written down before the clock is set. The second clocksource counts
//! [`OTHER_OFFSET`] ahead of the first, so that a counter value tells by which of them it was read.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ppsrig_timekeeping::{
    Arch, ClockId, Clocksource, ClocksourceId, Ktime, SnapshotValidity, SystemTimeSnapshot, Timekeeper,
    Timekeeping, Timespec64,
};
use ppsrig_wire::{JumpsCore, JumpsDone, JumpsPlan};

use crate::{SplitMix64, ctime::Core};

/// Nanoseconds between two eras: far more than a trial lasts.
const ERA: Ktime = 1_000_000_000_000_000;
/// Eras that the clock is set to: 1 to this.
const ERAS: u64 = 7;
/// States that are remembered; a core that stood still for so many changes checks nothing of them.
const STATES: usize = 256;
/// Snapshots that the changing core takes between two changes.
const BETWEEN: u32 = 32;
/// Nanoseconds slept in a suspend.
const SLEPT: Ktime = 1_000_000;
/// Cycles that the second clocksource counts ahead of the first: a bit that the first does not reach in a trial.
pub const OTHER_OFFSET: u64 = 1 << 50;
/// The id of the second clocksource.
pub const OTHER_ID: ClocksourceId = ClocksourceId(2);

/// The two clocksources of a trial; the first is the one in use before and after it.
#[derive(Clone, Copy, Debug)]
pub struct Clocksources {
    /// CNTVCT_EL0, by [`ClocksourceId::ARM_ARCH_COUNTER`].
    pub arch: &'static Clocksource,
    /// The same counter and [`OTHER_OFFSET`], by [`OTHER_ID`], which cannot be read in place.
    pub other: &'static Clocksource,
}

/// What all cores share.
#[derive(Debug)]
pub struct Shared {
    /// By `clock_was_set_seq` modulo the length: the sequence, shifted left by 8, and its era.
    eras: [AtomicU64; STATES],
    /// `cs_was_changed_seq` at the beginning, when the first clocksource was in use.
    first_change: AtomicU64,
    stop: AtomicBool,
}

impl Shared {
    /// Nothing happened yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            eras: [const { AtomicU64::new(0) }; STATES],
            first_change: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }
    }

    fn remember(&self, seq: u32, era: u64) {
        self.eras[seq as usize % STATES].store(u64::from(seq) << 8 | era, Ordering::Release);
    }

    /// The era of a sequence; none if it is not remembered any more.
    fn era(&self, seq: u32) -> Option<u64> {
        let entry = self.eras[seq as usize % STATES].load(Ordering::Acquire);
        (entry >> 8 == u64::from(seq)).then_some(entry & 0xff)
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

/// One core's reading.
struct Reader<'a, A: Arch> {
    clocks: &'a Timekeeper<A>,
    shared: &'a Shared,
    random: SplitMix64,
    last_raw: Ktime,
    counts: JumpsCore,
}

impl<'a, A: Arch> Reader<'a, A> {
    fn new(plan: &JumpsPlan, core: usize, clocks: &'a Timekeeper<A>, shared: &'a Shared) -> Self {
        let counts = JumpsCore { snapshots: 0, suspended: 0, violations: 0 };
        let random = SplitMix64::new(plan.seed.wrapping_add(core as u64));
        Self { clocks, shared, random, last_raw: Ktime::MIN, counts }
    }

    /// Takes one snapshot of some clock by some build, and checks it.
    fn read(&mut self) {
        const CLOCKS: [ClockId; 4] =
            [ClockId::REALTIME, ClockId::MONOTONIC, ClockId::MONOTONIC_RAW, ClockId::BOOTTIME];
        let word = self.random.next();
        // Every second one is CLOCK_REALTIME, which the jumps move.
        let clock_id = if word & 1 == 0 { ClockId::REALTIME } else { CLOCKS[(word >> 8) as usize % 4] };
        let mut snapshot = SystemTimeSnapshot::UNKNOWN;
        match (word >> 16) % 3 {
            0 => self.clocks.ktime_get_snapshot_id_indirect(clock_id, &mut snapshot),
            1 => self.clocks.ktime_get_snapshot_id_inline(clock_id, &mut snapshot),
            _ => self.clocks.ktime_get_snapshot_id_inline_biased(clock_id, &mut snapshot),
        }
        match snapshot.validity {
            SnapshotValidity::Valid => {
                self.counts.snapshots += 1;
                self.counts.violations += u64::from(!self.belongs_to_one_state(clock_id, &snapshot));
                self.last_raw = self.last_raw.max(snapshot.monoraw);
            }
            SnapshotValidity::Suspended => self.counts.suspended += 1,
            SnapshotValidity::ClockInvalid | SnapshotValidity::UnknownClock => self.counts.violations += 1,
        }
    }

    fn belongs_to_one_state(&self, clock_id: ClockId, snapshot: &SystemTimeSnapshot) -> bool {
        let ahead = (snapshot.systime.wrapping_sub(snapshot.monoraw) + ERA / 2).div_euclid(ERA);
        let era =
            if clock_id == ClockId::REALTIME { self.shared.era(snapshot.clock_was_set_seq) } else { Some(0) };
        let changes =
            snapshot.cs_was_changed_seq.wrapping_sub(self.shared.first_change.load(Ordering::Relaxed) as u32);
        let by_arch = snapshot.cs_id == ClocksourceId::ARM_ARCH_COUNTER;
        let counted_by_arch = snapshot.cycles & OTHER_OFFSET == 0;
        era.is_none_or(|era| ahead == era as Ktime)
            && (clock_id != ClockId::MONOTONIC_RAW || snapshot.systime == snapshot.monoraw)
            && by_arch == changes.is_multiple_of(2)
            && by_arch == counted_by_arch
            && snapshot.monoraw >= self.last_raw
    }
}

/// Reads until the changing core stops; for the other cores.
pub fn read<A: Arch>(plan: &JumpsPlan, core: usize, clocks: &Timekeeper<A>, shared: &Shared) -> JumpsCore {
    let mut reader = Reader::new(plan, core, clocks, shared);
    while !shared.stop.load(Ordering::Relaxed) {
        reader.read();
    }
    reader.counts
}

/// The changing core: what it has changed, and how.
struct Changer<'a, A: Arch, W> {
    reader: Reader<'a, A>,
    sources: Clocksources,
    /// Runs something on the write side, where its interrupt handlers do not come in between.
    with: W,
    era: u64,
    by_arch: bool,
    done: JumpsDone,
}

/// Something to be done on the write side.
type Change<'c, A> = &'c mut dyn FnMut(&mut Timekeeping<'static, A>);

/// Makes the clocks ready for a trial; to be called before any core reads.
pub fn prepare<A: Arch>(timekeeping: &mut Timekeeping<'static, A>, shared: &Shared) {
    let snapshot = timekeeping.ktime_get_snapshot_id(ClockId::REALTIME);
    shared.first_change.store(u64::from(snapshot.cs_was_changed_seq), Ordering::Relaxed);
    shared.remember(snapshot.clock_was_set_seq.wrapping_add(1), 1);
    let _valid = timekeeping.do_settimeofday64(Timespec64::from_ktime(snapshot.monoraw.saturating_add(ERA)));
    shared.stop.store(false, Ordering::Release);
}

/// Changes the clocks and reads them for as long as the plan says, then puts the first clocksource back and stops the
/// others; for the first core. The other cores' counts are for the caller to add.
pub fn change<A: Arch>(
    plan: &JumpsPlan,
    clocks: &Timekeeper<A>,
    sources: Clocksources,
    shared: &Shared,
    machine: &impl Core,
    with: impl FnMut(Change<'_, A>),
) -> JumpsDone {
    let cores = heapless::Vec::new();
    let done = JumpsDone { window: plan.window, sets: 0, suspends: 0, switches: 0, cores };
    let reader = Reader::new(plan, 0, clocks, shared);
    let mut changer = Changer { reader, sources, with, era: 1, by_arch: true, done };
    let started = machine.counter();
    while machine.counter().wrapping_sub(started) < plan.ticks {
        changer.step();
    }
    if !changer.by_arch {
        changer.switch();
    }
    shared.stop.store(true, Ordering::Release);
    let Changer { reader, mut done, .. } = changer;
    let _room = done.cores.push(reader.counts);
    done
}

impl<A: Arch, W: FnMut(Change<'_, A>)> Changer<'_, A, W> {
    /// One change of some kind, then some snapshots.
    fn step(&mut self) {
        match self.reader.random.next() % 4 {
            0 => (self.with)(&mut |timekeeping| timekeeping.update_wall_time()),
            1 => self.set(),
            2 => self.suspend_and_resume(),
            _ => self.switch(),
        }
        (0..BETWEEN).for_each(|_| self.reader.read());
    }

    /// Writes down the era of the next two sequences: a change counts at most so many.
    fn announce(&mut self) {
        let Self { reader, era, .. } = self;
        let seq = reader.clocks.ktime_get_snapshot_id(ClockId::REALTIME).clock_was_set_seq;
        reader.shared.remember(seq.wrapping_add(1), *era);
        reader.shared.remember(seq.wrapping_add(2), *era);
    }

    fn set(&mut self) {
        self.era = 1 + self.reader.random.next() % ERAS;
        self.announce();
        let ahead = self.era as Ktime * ERA;
        (self.with)(&mut |timekeeping| {
            let now = timekeeping.ktime_get_snapshot_id(ClockId::MONOTONIC_RAW).monoraw;
            let _valid = timekeeping.do_settimeofday64(Timespec64::from_ktime(now.saturating_add(ahead)));
        });
        self.done.sets += 1;
    }

    fn suspend_and_resume(&mut self) {
        self.announce();
        (self.with)(&mut |timekeeping| timekeeping.timekeeping_suspend());
        (0..BETWEEN).for_each(|_| self.reader.read());
        (self.with)(&mut |timekeeping| timekeeping.timekeeping_resume(Some(SLEPT)));
        self.done.suspends += 1;
    }

    fn switch(&mut self) {
        self.announce();
        self.by_arch = !self.by_arch;
        let clock = if self.by_arch { self.sources.arch } else { self.sources.other };
        (self.with)(&mut |timekeeping| {
            let _awake = timekeeping.timekeeping_notify(clock);
        });
        self.done.switches += 1;
    }
}

#[cfg(test)]
mod tests;
