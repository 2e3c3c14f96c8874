//! Arm GIC architecture version 2 (IHI 0048B): distributor (4.3) and core interface (4.4).

use crate::arch::Mmio;

const GICD_CTLR: usize = 0x000;
const GICD_ISENABLER: usize = 0x100;
const GICD_ICENABLER: usize = 0x180;
const GICD_ICPENDR: usize = 0x280;
const GICD_IPRIORITYR: usize = 0x400;
const GICD_ITARGETSR: usize = 0x800;
const GICC_CTLR: usize = 0x000;
const GICC_PMR: usize = 0x004;
const GICC_IAR: usize = 0x00c;
const GICC_EOIR: usize = 0x010;

/// Interrupt numbers of the widest distributor.
const INTERRUPTS: u32 = 1020;
/// The interrupt number in GICC_IAR: bits 9:0.
const INTERRUPT_NUMBER: u32 = 0x3ff;

/// The interrupt controller.
pub(crate) struct GicV2 {
    distributor: Mmio,
    core: Mmio,
}

impl GicV2 {
    pub(crate) const fn new(distributor: Mmio, core: Mmio) -> Self {
        Self { distributor, core }
    }

    /// Disables and clears everything, then lets interrupts of any priority through.
    pub(crate) fn init(&self) {
        self.distributor.write(GICD_CTLR, 0);
        for word in 0..INTERRUPTS.div_ceil(32) as usize {
            self.distributor.write(GICD_ICENABLER + 4 * word, u32::MAX);
            self.distributor.write(GICD_ICPENDR + 4 * word, u32::MAX);
        }
        self.core.write(GICC_PMR, 0xff);
        self.core.write(GICC_CTLR, 1);
        self.distributor.write(GICD_CTLR, 1);
    }

    /// Enables an interrupt for core 0. A lower `priority` goes first. It stays level-sensitive, as after reset.
    pub(crate) fn enable(&self, interrupt: u32, priority: u8) {
        self.set_byte(GICD_IPRIORITYR, interrupt, priority);
        self.set_byte(GICD_ITARGETSR, interrupt, 1);
        let word = interrupt as usize / 32;
        self.distributor.write(GICD_ISENABLER + 4 * word, 1 << (interrupt % 32));
    }

    /// The interrupt to serve; 1023 if there is none any more.
    #[inline]
    pub(crate) fn acknowledge(&self) -> u32 {
        self.core.read(GICC_IAR) & INTERRUPT_NUMBER
    }

    /// Ends the interrupt that was acknowledged. Numbers from 1020 on stand for none.
    #[inline]
    pub(crate) fn end(&self, interrupt: u32) {
        if interrupt < INTERRUPTS {
            self.core.write(GICC_EOIR, interrupt);
        }
    }

    fn set_byte(&self, registers: usize, interrupt: u32, value: u8) {
        let offset = registers + (interrupt as usize & !3);
        let shift = 8 * (interrupt % 4);
        let others = self.distributor.read(offset) & !(0xff << shift);
        self.distributor.write(offset, others | u32::from(value) << shift);
    }
}
