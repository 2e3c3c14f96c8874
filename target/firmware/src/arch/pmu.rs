//! The performance monitors: the cycle counter, and the number of instructions executed where the core counts them.

use core::arch::asm;

/// Event INST_RETIRED, instruction architecturally executed.
const INST_RETIRED: u64 = 0x08;

/// Starts PMCCNTR_EL0, 64 bits of it, and event counter 0 for instructions. To be called on each core that counts.
pub(crate) fn start() {
    // SAFETY: sets up counters that nobody else uses; they raise no interrupt.
    unsafe {
        asm!(
            "msr pmccfiltr_el0, xzr",      // counts at every exception level that is not secure
            "msr pmevtyper0_el0, {event}", // the same for the event
            "msr pmintenclr_el1, {all}",
            "msr pmcntenset_el0, {both}",
            "msr pmcr_el0, {control}",
            "isb",
            event = in(reg) INST_RETIRED,
            all = in(reg) 0xffff_ffff_u64,
            both = in(reg) 1_u64 << 31 | 1,
            control = in(reg) 0b100_0111_u64, // LC: 64 bits; C and P: both from 0; E: enabled
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// PMCCNTR_EL0 now.
pub(crate) fn cycles() -> u64 {
    let cycles;
    // SAFETY: reads a counter that EL1 may read. Not `nomem`: it stays in its place among other accesses.
    unsafe { asm!("isb", "mrs {}, pmccntr_el0", out(reg) cycles, options(nostack, preserves_flags)) };
    cycles
}

/// Instructions executed so far, modulo 2^32; none where the core does not count them (PMCEID0_EL0).
pub(crate) fn instructions() -> Option<u32> {
    let (counted, count): (u64, u64);
    // SAFETY: as above.
    unsafe {
        asm!("mrs {}, pmceid0_el0", out(reg) counted, options(nomem, nostack, preserves_flags));
        asm!("isb", "mrs {}, pmevcntr0_el0", out(reg) count, options(nostack, preserves_flags));
    }
    (counted & 1 << INST_RETIRED != 0).then_some(count as u32)
}
