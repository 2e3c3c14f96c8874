//! A machine of the host's: its monotonic clock as counter, flags and locks in place of patched instructions and
//! pointers.

use std::{
    boxed::Box,
    sync::{
        LazyLock, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use ppsrig_timekeeping::{
    Arch, Clocksource, ClocksourceCell, ClocksourceFlags, ClocksourceId, StaticBranch, Timekeeper,
    Timekeeping,
};

use crate::{
    ctime::Core,
    jumps::{Clocksources, OTHER_ID, OTHER_OFFSET},
};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(crate) fn now() -> u64 {
    START.elapsed().as_nanos() as u64
}

/// The machine.
pub(crate) struct HostArch;
pub(crate) struct Flag(AtomicBool);
pub(crate) struct Cell(RwLock<&'static Clocksource>);

impl Arch for HostArch {
    type ReadInlined = Flag;
    type Clock = Cell;

    fn arch_inlined_clocksource_read() -> u64 {
        now()
    }
}

impl StaticBranch for Flag {
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

impl ClocksourceCell for Cell {
    fn new(clock: &'static Clocksource) -> Self {
        Self(RwLock::new(clock))
    }

    fn load(&self) -> &'static Clocksource {
        *self.0.read().unwrap()
    }

    fn store(&self, clock: &'static Clocksource) {
        *self.0.write().unwrap() = clock;
    }
}

/// A core that counts nothing but time.
pub(crate) struct Host;

impl Core for Host {
    fn instructions(&self) -> Option<u32> {
        None
    }

    fn counter(&self) -> u64 {
        now()
    }
}

/// Both clocksources of a trial.
pub(crate) fn sources() -> Clocksources {
    let leak = |clock| -> &'static Clocksource { Box::leak(Box::new(clock)) };
    let hz = 1_000_000_000;
    let arch = Clocksource::register_hz(|_| now(), 56, hz);
    let other = Clocksource::register_hz(|_| now() + OTHER_OFFSET, 56, hz);
    Clocksources {
        arch: leak(arch.with(ClocksourceId::ARM_ARCH_COUNTER, ClocksourceFlags::CAN_INLINE_READ)),
        other: leak(other.with(OTHER_ID, ClocksourceFlags::NONE)),
    }
}

/// Clocks by the first of them.
pub(crate) fn clocks(sources: Clocksources) -> Timekeeping<'static, HostArch> {
    Box::leak(Box::new(Timekeeper::new(sources.arch))).timekeeping_init()
}
