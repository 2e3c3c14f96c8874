//! The core itself: its registers of identification, its interrupt mask.

use core::arch::asm;

/// The I bit of DAIF.
const MASK_IRQ: u64 = 1 << 7;

/// An interrupt mask as it was found.
#[derive(Clone, Copy)]
pub(crate) struct InterruptMask(u64);

/// Masks interrupts, and returns the mask as it was.
pub(crate) fn mask_interrupts() -> InterruptMask {
    let daif: u64;
    // SAFETY: masking interrupts breaks no promise of the language. Not `nomem`: what follows must not move before it.
    unsafe { asm!("mrs {}, daif", "msr daifset, #2", out(reg) daif, options(nostack)) };
    InterruptMask(daif)
}

/// Puts the mask back.
pub(crate) fn restore_interrupts(mask: InterruptMask) {
    if mask.0 & MASK_IRQ == 0 {
        unmask_interrupts();
    }
}

/// Lets interrupts in.
pub(crate) fn unmask_interrupts() {
    // SAFETY: the handler shares data with the rest through `IrqCell` and the rings only, so it may run anywhere. Not
    // `nomem`: what precedes must not move behind it.
    unsafe { asm!("msr daifclr, #2", options(nostack)) };
}

/// Stops the core for good.
pub(crate) fn park() -> ! {
    loop {
        // SAFETY: waits, and touches nothing.
        unsafe { asm!("wfi", options(nomem, nostack)) };
    }
}

/// Waits a moment for another core. YIELD, not the ISB of `core::hint::spin_loop`: an emulator that runs its cores by
/// turns takes it for the end of this core's turn.
#[inline]
pub(crate) fn relax() {
    // SAFETY: a hint.
    unsafe { asm!("yield", options(nomem, nostack, preserves_flags)) };
}

/// MIDR_EL1.
pub(crate) fn midr() -> u64 {
    let midr;
    // SAFETY: a read-only register of identification, readable at EL1.
    unsafe { asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags)) };
    midr
}

/// The exception level that this runs at.
pub(crate) fn exception_level() -> u8 {
    let current_el: u64;
    // SAFETY: a read-only register, readable at EL1.
    unsafe { asm!("mrs {}, CurrentEL", out(reg) current_el, options(nomem, nostack, preserves_flags)) };
    ((current_el >> 2) & 0b11) as u8
}
