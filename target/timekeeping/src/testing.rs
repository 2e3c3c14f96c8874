//! A machine for tests: its counters are variables of the thread, its branch a flag.

use core::cell::Cell;
use std::{boxed::Box, sync::Mutex, thread_local};

use crate::{
    Arch, Clocksource, ClocksourceCell, ClocksourceFlags, ClocksourceHwSnapshot, ClocksourceId, StaticBranch,
    sync::{AtomicBool, Ordering},
};

thread_local! {
    static ARCH: Cell<u64> = const { Cell::new(0) };
    static OTHER: Cell<u64> = const { Cell::new(0) };
    static READS: Cell<u32> = const { Cell::new(0) };
    static INLINED: Cell<u32> = const { Cell::new(0) };
}

/// Sets both counters.
pub(crate) fn set_counters(arch: u64, other: u64) {
    ARCH.set(arch);
    OTHER.set(other);
}

/// Lets both counters run.
pub(crate) fn advance(arch: u64, other: u64) {
    ARCH.set(ARCH.get().wrapping_add(arch));
    OTHER.set(OTHER.get().wrapping_add(other));
}

/// How often any counter was read since the last time, and how often in place.
pub(crate) fn take_reads() -> (u32, u32) {
    (READS.replace(0), INLINED.replace(0))
}

/// The arch counter, read through a pointer.
pub(crate) fn read_arch(_: &Clocksource) -> u64 {
    READS.set(READS.get() + 1);
    ARCH.get()
}

/// Another counter.
pub(crate) fn read_other(_: &Clocksource) -> u64 {
    READS.set(READS.get() + 1);
    OTHER.get()
}

/// The other counter, with the arch counter said to be beneath it.
pub(crate) fn read_derived(clock: &Clocksource, hw: &mut ClocksourceHwSnapshot) -> u64 {
    *hw = ClocksourceHwSnapshot { hw_cycles: ARCH.get(), hw_csid: ClocksourceId::ARM_ARCH_COUNTER };
    read_other(clock)
}

/// A clocksource by the arch counter that can be read in place.
pub(crate) fn arch_clock(bits: u32, hz: u32) -> &'static Clocksource {
    let clock = Clocksource::register_hz(read_arch, bits, hz);
    leak(clock.with(ClocksourceId::ARM_ARCH_COUNTER, ClocksourceFlags::CAN_INLINE_READ))
}

/// A clocksource by the other counter, which counts in suspend.
pub(crate) fn other_clock(bits: u32, hz: u32) -> &'static Clocksource {
    let clock = Clocksource::register_hz(read_other, bits, hz);
    leak(clock.with(ClocksourceId(77), ClocksourceFlags::SUSPEND_NONSTOP))
}

/// For as long as the test runs.
pub(crate) fn leak(clock: Clocksource) -> &'static Clocksource {
    Box::leak(Box::new(clock))
}

/// The machine.
pub(crate) struct TestArch;

impl Arch for TestArch {
    type ReadInlined = FlagBranch;
    type Clock = LockedClock;

    fn arch_inlined_clocksource_read() -> u64 {
        INLINED.set(INLINED.get() + 1);
        READS.set(READS.get() + 1);
        ARCH.get()
    }
}

/// A branch that is a flag.
pub(crate) struct FlagBranch(AtomicBool);

impl StaticBranch for FlagBranch {
    fn disabled() -> Self {
        Self(AtomicBool::new(false))
    }

    fn likely(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn enable(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn disable(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A reference behind a lock.
pub(crate) struct LockedClock(Mutex<&'static Clocksource>);

impl ClocksourceCell for LockedClock {
    fn new(clock: &'static Clocksource) -> Self {
        Self(Mutex::new(clock))
    }

    fn load(&self) -> &'static Clocksource {
        *self.0.lock().expect("nothing panics while it holds the lock")
    }

    fn store(&self, clock: &'static Clocksource) {
        *self.0.lock().expect("nothing panics while it holds the lock") = clock;
    }
}
