//! The pair that is measured: a raw counter read in the caller, then `ktime_get_snapshot_id()`, which reads it again.
//!
//! Each build of the snapshot function has a caller of its own, a symbol `ppsrig_pair_BUILD`, so that a debugger finds
//! the caller's read: it is the first read of CNTVCT_EL0 after the symbol, and the second one is that inside the
//! snapshot. What lies between them in the caller is the call alone: the arguments stand in their registers before.
//! `ppsrig_ladder_BUILD` is the same with a known delay of so many cycles in between.

use core::{arch::asm, hint::black_box};

use ppsrig_app::path::{MAX_ADDED_DELAY, Reading};
use ppsrig_timekeeping::{ClockId, SystemTimeSnapshot, Timekeeper};
use ppsrig_wire::PathVariant;

use super::ArmArchCounter;

/// Clocks as readers have them.
pub(crate) type Clocks = Timekeeper<ArmArchCounter>;
/// A caller: clocks, clock id, added delay in cycles.
pub(crate) type Caller = extern "C" fn(&Clocks, ClockId, u32, &mut Reading);

/// The caller for a build, with or without a known delay in the path.
pub(crate) const fn caller(variant: PathVariant, added_delay: bool) -> Caller {
    match (variant, added_delay) {
        (PathVariant::Indirect, false) => ppsrig_pair_indirect,
        (PathVariant::Indirect, true) => ppsrig_ladder_indirect,
        (PathVariant::Inline, false) => ppsrig_pair_inline,
        (PathVariant::Inline, true) => ppsrig_ladder_inline,
        (PathVariant::InlineBiased, false) => ppsrig_pair_inline_biased,
        (PathVariant::InlineBiased, true) => ppsrig_ladder_inline_biased,
        (PathVariant::Empty, false) => ppsrig_pair_empty,
        (PathVariant::Empty, true) => ppsrig_ladder_empty,
    }
}

/// The two reads of a caller that calls a build. Between the ISB and the reads of PMCCNTR_EL0 and CNTVCT_EL0 there is
/// nothing, so that the one tells the phase of the other; the ISB keeps both from being done early.
macro_rules! calling {
    ($pair:ident, $ladder:ident, $build:ident) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $pair(clocks: &Clocks, clock_id: ClockId, _added_delay: u32, reading: &mut Reading) {
            let mut snapshot = black_box(SystemTimeSnapshot::UNKNOWN);
            let (cycles, pre): (u64, u64);
            // SAFETY: reads two counters, and calls a function with its arguments in the registers of the C calling
            // convention.
            unsafe {
                asm!(
                    "isb",
                    "mrs x20, pmccntr_el0",
                    "mrs x21, cntvct_el0",
                    "bl {build}",
                    build = sym Clocks::$build,
                    in("x0") clocks,
                    in("w1") clock_id.0,
                    in("x2") &raw mut snapshot,
                    out("x20") cycles,
                    out("x21") pre,
                    clobber_abi("C"),
                );
            }
            *reading = Reading { cycles, pre, inner: snapshot.cycles, valid: snapshot.valid() };
        }

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $ladder(clocks: &Clocks, clock_id: ClockId, added_delay: u32, reading: &mut Reading) {
            let mut snapshot = black_box(SystemTimeSnapshot::UNKNOWN);
            let (cycles, pre): (u64, u64);
            let added_delay = added_delay.clamp(1, MAX_ADDED_DELAY);
            // SAFETY: as above; and it branches into its own chain of adds, of which there are one less than the
            // longest delay, since the branch is the first cycle.
            unsafe {
                asm!(
                    "adr x22, 2f",
                    "sub x22, x22, {adds:w}, uxtw #2",
                    "isb",
                    "mrs x20, pmccntr_el0",
                    "mrs x21, cntvct_el0",
                    "br x22",
                    ".rept {most}",
                    "add x22, x22, #1",
                    ".endr",
                    "2: bl {build}",
                    build = sym Clocks::$build,
                    most = const MAX_ADDED_DELAY - 1,
                    adds = in(reg) added_delay - 1,
                    in("x0") clocks,
                    in("w1") clock_id.0,
                    in("x2") &raw mut snapshot,
                    out("x20") cycles,
                    out("x21") pre,
                    out("x22") _,
                    clobber_abi("C"),
                );
            }
            *reading = Reading { cycles, pre, inner: snapshot.cycles, valid: snapshot.valid() };
        }
    };
}

calling!(ppsrig_pair_indirect, ppsrig_ladder_indirect, ktime_get_snapshot_id_indirect);
calling!(ppsrig_pair_inline, ppsrig_ladder_inline, ktime_get_snapshot_id_inline);
calling!(ppsrig_pair_inline_biased, ppsrig_ladder_inline_biased, ktime_get_snapshot_id_inline_biased);

/// Two reads back to back.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn ppsrig_pair_empty(_: &Clocks, _: ClockId, _added_delay: u32, reading: &mut Reading) {
    let (cycles, pre, inner): (u64, u64, u64);
    // SAFETY: reads counters that EL1 may read.
    unsafe {
        asm!(
            "isb",
            "mrs {cycles}, pmccntr_el0",
            "mrs {pre}, cntvct_el0",
            "mrs {inner}, cntvct_el0",
            cycles = out(reg) cycles,
            pre = out(reg) pre,
            inner = out(reg) inner,
            options(nostack, preserves_flags),
        );
    }
    *reading = Reading { cycles, pre, inner, valid: true };
}

/// Two reads with a known delay between them.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn ppsrig_ladder_empty(_: &Clocks, _: ClockId, added_delay: u32, reading: &mut Reading) {
    let (cycles, pre, inner): (u64, u64, u64);
    let added_delay = added_delay.clamp(1, MAX_ADDED_DELAY);
    // SAFETY: as above, with a branch into its own chain of adds.
    unsafe {
        asm!(
            "adr {chain}, 2f",
            "sub {chain}, {chain}, {adds:w}, uxtw #2",
            "isb",
            "mrs {cycles}, pmccntr_el0",
            "mrs {pre}, cntvct_el0",
            "br {chain}",
            ".rept {most}",
            "add {chain}, {chain}, #1",
            ".endr",
            "2: mrs {inner}, cntvct_el0",
            most = const MAX_ADDED_DELAY - 1,
            adds = in(reg) added_delay - 1,
            chain = out(reg) _,
            cycles = out(reg) cycles,
            pre = out(reg) pre,
            inner = out(reg) inner,
            options(nostack, preserves_flags),
        );
    }
    *reading = Reading { cycles, pre, inner, valid: true };
}
