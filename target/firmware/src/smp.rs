//! The other cores.

use crate::arch::psci;

/// Entered by a secondary core from the boot code.
pub(crate) extern "C" fn secondary_main() -> ! {
    psci::cpu_off()
}
