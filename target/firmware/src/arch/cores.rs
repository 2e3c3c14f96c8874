//! The other cores: who they are, and a stack for each.

use core::{arch::asm, cell::UnsafeCell};

use super::psci::{self, Outcome};

/// Cores beside the first one that can be used.
pub(crate) const SECONDARIES: usize = ppsrig_wire::CORES - 1;
const STACK_BYTES: usize = 16 * 1024;

#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; STACK_BYTES]>);

// SAFETY: the bytes are never touched through this type; each core uses its own as its stack.
unsafe impl Sync for Stack {}

static STACKS: [Stack; SECONDARIES] = [const { Stack(UnsafeCell::new([0; STACK_BYTES])) }; SECONDARIES];

/// Cores of the machine that can be used, the first one included: those with consecutive numbers in Aff0 of MPIDR.
pub(crate) fn count() -> u8 {
    1 + (1..=SECONDARIES as u64).take_while(|&core| psci::exists(core)).count() as u8
}

/// This core's number, 0 for the first.
pub(crate) fn this() -> usize {
    let mpidr: u64;
    // SAFETY: a read-only register, readable at EL1.
    unsafe { asm!("mrs {}, mpidr_el1", out(reg) mpidr, options(nomem, nostack, preserves_flags)) };
    (mpidr & 0xff) as usize
}

/// Switches on core `core`, 1 to [`SECONDARIES`]; it enters [`crate::smp::secondary_main`].
pub(crate) fn start(core: usize) -> Outcome {
    let stack = &STACKS[core - 1];
    let top = stack.0.get().cast::<u8>().wrapping_add(STACK_BYTES);
    // SAFETY: the stack is aligned, and this core's alone. PSCI starts no core that is on, so it is not in use.
    unsafe { psci::cpu_on(core as u64, top) }
}
