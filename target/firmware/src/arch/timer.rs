//! The virtual timer of the core: an interrupt once a period of the counter.

use core::arch::asm;

use super::counter;

/// Lets the timer interrupt a period from now, for the first time or the next.
pub(crate) fn arm(period: u64) {
    let at = counter::now().wrapping_add(period);
    // SAFETY: the timer's interrupt is handled; nothing else uses the timer.
    unsafe {
        asm!("msr cntv_cval_el0, {}", "msr cntv_ctl_el0, {}", "isb", in(reg) at, in(reg) 1_u64, options(nostack, preserves_flags));
    }
}

/// Lets it interrupt no more.
pub(crate) fn disarm() {
    // SAFETY: as above.
    unsafe { asm!("msr cntv_ctl_el0, xzr", "isb", options(nostack, preserves_flags)) };
}
