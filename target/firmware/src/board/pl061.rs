//! Arm PrimeCell GPIO PL061 (DDI 0190), chapter 3. Line 0 is the edge input, line 1 the echo output.

use ppsrig_wire::EdgeDirection;

use crate::arch::{Mmio, counter};

const EDGE: u32 = 1 << 0;
const ECHO: u32 = 1 << 1;

/// GPIODATA is addressed with a mask: address bits 9:2 choose the lines that are read or written. So a write to one
/// line needs no read before it, and the idle loop and the interrupt handler cannot undo each other's.
const GPIODATA_EDGE: usize = (EDGE << 2) as usize;
const GPIODATA_ECHO: usize = (ECHO << 2) as usize;
const GPIODIR: usize = 0x400;
const GPIOIS: usize = 0x404;
const GPIOIBE: usize = 0x408;
const GPIOIEV: usize = 0x40c;
const GPIOIE: usize = 0x410;
const GPIOIC: usize = 0x41c;
const GPIOAFSEL: usize = 0x420;

/// The GPIO block.
pub(crate) struct Pl061(Mmio);

impl Pl061 {
    pub(crate) const fn new(registers: Mmio) -> Self {
        Self(registers)
    }

    /// Edge detection on line 0, disarmed; line 1 an output at low.
    pub(crate) fn init(&self) {
        self.0.write(GPIOIE, 0);
        self.0.write(GPIOAFSEL, 0);
        self.0.write(GPIODIR, ECHO);
        self.0.write(GPIODATA_ECHO, 0);
        self.0.write(GPIOIS, 0);
        self.0.write(GPIOIBE, 0);
        self.0.write(GPIOIC, 0xff);
    }

    /// Chooses which transition of line 0 is latched. Disarms it.
    pub(crate) fn watch(&self, direction: EdgeDirection) {
        self.disarm();
        self.0.write(GPIOIEV, if direction == EdgeDirection::Rising { EDGE } else { 0 });
    }

    /// Forgets what was latched, and lets the next edge interrupt.
    pub(crate) fn arm(&self) {
        self.clear_edge();
        self.0.write(GPIOIE, EDGE);
    }

    /// Lets no edge interrupt.
    pub(crate) fn disarm(&self) {
        self.0.write(GPIOIE, 0);
    }

    /// Clears the latch of line 0: the next edge is latched anew.
    pub(crate) fn clear_edge(&self) {
        self.0.write(GPIOIC, EDGE);
    }

    /// Reads line 0 between two counter reads.
    #[inline]
    pub(crate) fn level_between_counters(&self) -> (u64, bool, u64) {
        let (before, level, after) = counter::around_read(self.0, GPIODATA_EDGE);
        (before, level != 0, after)
    }

    /// Raises line 1 between two counter reads, which it returns.
    #[inline]
    pub(crate) fn raise_echo(&self) -> (u64, u64) {
        counter::around_write(self.0, GPIODATA_ECHO, ECHO)
    }

    /// Lowers line 1.
    pub(crate) fn lower_echo(&self) {
        self.0.write(GPIODATA_ECHO, 0);
    }
}
