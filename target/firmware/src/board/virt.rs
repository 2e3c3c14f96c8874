//! QEMU's `virt` machine: every address in one place (QEMU, `hw/arm/virt.c`, `base_memmap` and `a15irqmap`).

use ppsrig_wire::Capabilities;

use super::{gicv2::GicV2, pl011::Pl011, pl061::Pl061};
use crate::arch::Mmio;

/// What Identify calls this board.
pub(crate) const NAME: &str = "virt";

/// The interrupt controller: distributor and core interface.
pub(crate) const GIC: GicV2 =
    // SAFETY: the machine has these two blocks here (VIRT_GIC_DIST, VIRT_GIC_CPU), and they are no bus master.
    unsafe { GicV2::new(Mmio::new(0x0800_0000), Mmio::new(0x0801_0000)) };
/// The link to the host.
// SAFETY: the machine has a PL011 here (VIRT_UART); its DMA signals are wired to nothing.
pub(crate) const UART: Pl011 = unsafe { Pl011::new(Mmio::new(0x0900_0000)) };
/// The pins: line 0 is the edge input, line 1 the echo output.
// SAFETY: the machine has a PL061 here (VIRT_GPIO), which is no bus master.
pub(crate) const GPIO: Pl061 = unsafe { Pl061::new(Mmio::new(0x0903_0000)) };
// SAFETY: the machine has its configuration device here (VIRT_FW_CFG). It does DMA only when told through its register
// at 0x10, which nothing writes: this constant is private to this file.
const FW_CFG: Mmio = unsafe { Mmio::new(0x0902_0000) };

/// Interrupt number of a shared peripheral interrupt.
const SPI: u32 = 32;
/// The UART's interrupt.
pub(crate) const UART_INTERRUPT: u32 = SPI + 1;
/// The GPIO block's interrupt.
pub(crate) const GPIO_INTERRUPT: u32 = SPI + 7;

/// Sets up all devices. Interrupts reach the core once it unmasks them.
pub(crate) fn init() {
    GPIO.init();
    UART.init();
    GIC.init();
    // An edge goes before a byte when both wait.
    GIC.enable(GPIO_INTERRUPT, 0x40);
    GIC.enable(UART_INTERRUPT, 0x80);
}

/// What the board can do.
pub(crate) fn capabilities() -> Capabilities {
    let all = Capabilities::EDGE_IRQ
        .with(Capabilities::EDGE_POLL)
        .with(Capabilities::ECHO)
        .with(Capabilities::PATH);
    if emulated() { all.with(Capabilities::EMULATED) } else { all }
}

/// Whether QEMU says so itself: item 0 of its fw_cfg device is the signature `QEMU` (QEMU, `docs/specs/fw_cfg`).
fn emulated() -> bool {
    const DATA: usize = 0;
    const SELECTOR: usize = 8;
    FW_CFG.write_half(SELECTOR, 0);
    [(); 4].map(|()| FW_CFG.read_byte(DATA)) == *b"QEMU"
}

/// Raises the echo pin, and returns the counter before and after. The pin is lowered first in case that the idle loop
/// did not come round to it, so that there is a transition each time.
pub(crate) fn raise_echo() -> (u64, u64) {
    GPIO.lower_echo();
    GPIO.raise_echo()
}

/// Lowers the echo pin.
pub(crate) fn lower_echo() {
    GPIO.lower_echo();
}
