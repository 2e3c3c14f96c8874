//! Power State Coordination Interface (Arm DEN 0022): other cores are switched on, and switch themselves off.

use core::{
    arch::asm,
    sync::atomic::{AtomicBool, Ordering},
};

const CPU_OFF: u64 = 0x8400_0002;
const CPU_ON: u64 = 0xc400_0003;
const AFFINITY_INFO: u64 = 0xc400_0004;

/// How a call ended; other codes count as `Refused`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Success: 0, or a positive answer.
    Done,
    /// The core is on, or on its way on or off.
    Busy,
    /// There is no such core, or no such function.
    Refused,
}

/// Whether calls go to EL3, because there is no hypervisor: the image was entered at EL2, which it left.
static THROUGH_SMC: AtomicBool = AtomicBool::new(false);

/// Says at which exception level the image was entered: EL2 leaves only EL3 to answer, at EL1 there is a hypervisor,
/// or an emulator that plays its part.
pub(crate) fn entered_at(exception_level: u32) {
    THROUGH_SMC.store(exception_level == 2, Ordering::Relaxed);
}

/// Whether the machine has a core with this affinity.
pub(crate) fn exists(mpidr: u64) -> bool {
    call(AFFINITY_INFO, mpidr, 0, 0) >= 0
}

/// Switches a core on: it starts in the boot code and arrives in `secondary_main` with this stack.
///
/// # Safety
/// `stack_top` must be aligned to 16 bytes and be the top of memory that nobody else uses until the core is off again.
pub(crate) unsafe fn cpu_on(mpidr: u64, stack_top: *mut u8) -> Outcome {
    unsafe extern "C" {
        /// In `boot.rs`; only its address is used.
        fn secondary_start();
    }
    match call(CPU_ON, mpidr, secondary_start as *const () as u64, stack_top as u64) {
        0 => Outcome::Done,
        // ALREADY_ON, ON_PENDING
        -4 | -5 => Outcome::Busy,
        _ => Outcome::Refused,
    }
}

/// Switches this core off. If that is refused it waits for ever.
pub(crate) fn cpu_off() -> ! {
    call(CPU_OFF, 0, 0, 0);
    super::cpu::park()
}

fn call(function: u64, a: u64, b: u64, c: u64) -> i64 {
    let result;
    // SAFETY: PSCI's functions above touch nothing of the caller but x0 to x17 (SMC calling convention). Not `nomem`:
    // what another core is to find in memory must be written before.
    unsafe {
        if THROUGH_SMC.load(Ordering::Relaxed) {
            asm!("smc #0", inout("x0") function => result, in("x1") a, in("x2") b, in("x3") c, clobber_abi("C"), options(nostack));
        } else {
            asm!("hvc #0", inout("x0") function => result, in("x1") a, in("x2") b, in("x3") c, clobber_abi("C"), options(nostack));
        }
    }
    result
}
