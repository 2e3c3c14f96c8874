//! A delay of so many CPU cycles: a chain of dependent adds, entered by a computed branch.
//!
//! Each add needs the result of the one before it, so it takes a cycle of its own even on a core that issues two
//! instructions at once; NOPs would not. `FromBoard::PathDone` tells what the chain takes by PMCCNTR_EL0.

use core::{arch::global_asm, hint::black_box};

use super::pmu;

/// Adds in the chain: the longest delay is one less.
const STEPS: usize = ppsrig_app::path::MAX_DITHER_STEPS as usize;

global_asm!(
    r#"
    .section .text.ppsrig_dither, "ax"
    .balign 64
    .global ppsrig_dither
    .type ppsrig_dither, %function
ppsrig_dither:
    adr     x9, 1f
    sub     x9, x9, w0, uxtw #2
    br      x9
    .rept {steps}
    add     x9, x9, #1
    .endr
1:  ret
    .size ppsrig_dither, . - ppsrig_dither
    "#,
    steps = const STEPS,
);

unsafe extern "C" {
    /// Executes `steps` of the adds above.
    fn ppsrig_dither(steps: u32);
}

/// Takes `steps` cycles and what the call costs, which is the same for all.
///
/// # Panics
/// If the chain is not so long.
#[inline]
pub(crate) fn wait(steps: u32) {
    assert!(steps as usize <= STEPS, "the chain of adds is not so long");
    // SAFETY: it branches into its own chain, as was just checked; it touches x9 alone, which a call may.
    unsafe { ppsrig_dither(steps) }
}

/// Cycles that `steps` take more than none: the least of some tries, since only disturbances add to it.
pub(crate) fn cycles_of(steps: u32) -> u32 {
    let least = |steps| (0..16).map(|_| timed(black_box(steps))).min().unwrap_or(0);
    let (none, all) = (least(0), least(steps));
    u32::try_from(all.saturating_sub(none)).unwrap_or(u32::MAX)
}

/// Not inlined: the same instructions whatever `steps` is.
#[inline(never)]
fn timed(steps: u32) -> u64 {
    let before = pmu::cycles();
    wait(steps);
    pmu::cycles().wrapping_sub(before)
}
