//! The arch counter, CNTVCT_EL0, and device accesses that are held between two readings of it.

use core::arch::asm;

use super::Mmio;

/// The counter now, in ticks.
///
/// The ISB keeps the read from being done early, among the instructions before it: the architecture lets a counter
/// read be speculated (Arm ARM, the chapter on the Generic Timer). Not `nomem`, so that the compiler leaves it in its
/// place among device accesses.
#[inline]
pub(crate) fn now() -> u64 {
    let ticks;
    // SAFETY: reads a counter that EL1 may read.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// CNTFRQ_EL0: the rate in hertz that the boot firmware or the machine claims.
pub(crate) fn declared_hz() -> u64 {
    let hertz;
    // SAFETY: reads a register that EL1 may read.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nomem, nostack, preserves_flags)) };
    hertz
}

/// Reads a device register between two counter reads: (before, value, after). The moment at which the device was read
/// lies between them.
///
/// The ISB after the first counter read makes it complete before the load starts; the DSB makes the load complete
/// before the second counter read can start, and the ISB after it keeps that read from being done early.
#[inline]
pub(crate) fn around_read(device: Mmio, offset: usize) -> (u64, u32, u64) {
    let (before, after): (u64, u64);
    let value: u32;
    // SAFETY: `device` promises that its registers may be read, and `address` checks the offset.
    unsafe {
        asm!(
            "isb",
            "mrs {before}, cntvct_el0",
            "isb",
            "ldr {value:w}, [{address}]",
            "dsb sy",
            "isb",
            "mrs {after}, cntvct_el0",
            before = out(reg) before,
            value = out(reg) value,
            after = lateout(reg) after,
            address = in(reg) device.address(offset),
            options(nostack, preserves_flags),
        );
    }
    (before, value, after)
}

/// Writes a device register between two counter reads, and returns them. The DSB makes the write reach the device
/// before the second read; the ISBs as in [`around_read`].
#[inline]
pub(crate) fn around_write(device: Mmio, offset: usize, value: u32) -> (u64, u64) {
    let (before, after): (u64, u64);
    // SAFETY: `device` promises that its registers may be written, and `address` checks the offset.
    unsafe {
        asm!(
            "isb",
            "mrs {before}, cntvct_el0",
            "isb",
            "str {value:w}, [{address}]",
            "dsb sy",
            "isb",
            "mrs {after}, cntvct_el0",
            before = out(reg) before,
            value = in(reg) value,
            after = lateout(reg) after,
            address = in(reg) device.address(offset),
            options(nostack, preserves_flags),
        );
    }
    (before, after)
}
