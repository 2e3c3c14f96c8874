//! A machine for models: two counters that stand still and one that counts its readings, and a choice of clocksource
//! that is a modelled atomic.

use crate::{
    Arch, Clocksource, ClocksourceCell, ClocksourceFlags, ClocksourceId, StaticBranch, Timekeeper,
    sync::{AtomicU32, AtomicU64, Ordering},
};

/// The arch counter's value as long as it is not let run.
pub(super) const ARCH_CYCLES: u64 = 1_000;
/// The other counter's value.
pub(super) const OTHER_CYCLES: u64 = 10;

/// A nanosecond a cycle.
const fn clock(read: crate::Read, id: u32, flags: ClocksourceFlags) -> Clocksource {
    Clocksource {
        read,
        read_snapshot: None,
        mask: u64::MAX,
        mult: 1 << 8,
        shift: 8,
        max_cycles: 1 << 40,
        id: ClocksourceId(id),
        flags,
    }
}

/// Stands still, and can be read in place.
pub(super) static ARCH: Clocksource = clock(|_| ARCH_CYCLES, 1, ClocksourceFlags::CAN_INLINE_READ);
/// Stands still at another value.
pub(super) static OTHER: Clocksource = clock(|_| OTHER_CYCLES, 2, ClocksourceFlags::NONE);
/// Counts its readings. A modelled atomic, or loom would not know that the order of readings matters.
pub(super) static RUNNING: Clocksource =
    clock(|_| NOW.fetch_add(1, Ordering::Relaxed), 3, ClocksourceFlags::NONE);

static CLOCKS: [&Clocksource; 3] = [&ARCH, &OTHER, &RUNNING];

/// The machine.
pub(super) struct ModelArch;

impl Arch for ModelArch {
    type ReadInlined = ModelBranch;
    type Clock = ModelClock;

    fn arch_inlined_clocksource_read() -> u64 {
        ARCH_CYCLES
    }
}

/// The branch of a core that never hears of a change: as late as a patched instruction can be.
pub(super) struct ModelBranch;

impl StaticBranch for ModelBranch {
    fn disabled() -> Self {
        Self
    }

    fn likely(&self) -> bool {
        true
    }

    fn enable(&self) {}

    fn disable(&self) {}
}

/// The clocksource in use, by its number.
pub(super) struct ModelClock(AtomicU32);

impl ClocksourceCell for ModelClock {
    fn new(clock: &'static Clocksource) -> Self {
        Self(AtomicU32::new(number(clock)))
    }

    fn load(&self) -> &'static Clocksource {
        CLOCKS[self.0.load(Ordering::Relaxed) as usize]
    }

    fn store(&self, clock: &'static Clocksource) {
        self.0.store(number(clock), Ordering::Relaxed);
    }
}

fn number(clock: &'static Clocksource) -> u32 {
    let found = CLOCKS.iter().position(|other| core::ptr::eq(*other, clock));
    found.expect("a clocksource of the models") as u32
}

loom::lazy_static! {
    static ref NOW: AtomicU64 = AtomicU64::new(0);
    static ref BY_ARCH: Timekeeper<ModelArch> = Timekeeper::new(&ARCH);
    static ref BY_RUNNING: Timekeeper<ModelArch> = Timekeeper::new(&RUNNING);
}

/// Clocks by [`ARCH`], new in every order.
pub(super) fn by_arch() -> &'static Timekeeper<ModelArch> {
    &BY_ARCH
}

/// Clocks by [`RUNNING`], new in every order.
pub(super) fn by_running() -> &'static Timekeeper<ModelArch> {
    &BY_RUNNING
}
