//! A block of device registers.

use core::ptr;

/// A 4 KiB block of device registers.
#[derive(Clone, Copy)]
pub(crate) struct Mmio(usize);

/// Bytes in a block.
const SIZE: usize = 0x1000;

impl Mmio {
    /// The block at `base`.
    ///
    /// # Safety
    /// All of the 4 KiB at `base` must be registers of one device, mapped as device memory, whose reads and writes never
    /// touch memory that Rust knows of (no DMA).
    pub(crate) const unsafe fn new(base: usize) -> Self {
        Self(base)
    }

    /// The address of a register of 32 bits.
    #[inline(always)]
    pub(super) fn address(self, offset: usize) -> usize {
        assert!(offset < SIZE && offset.is_multiple_of(4), "not a register of the block");
        self.0 + offset
    }

    /// Reads a register.
    #[inline(always)]
    pub(crate) fn read(self, offset: usize) -> u32 {
        // SAFETY: `address` lies in the block and is aligned; `new` promised that it may be read.
        unsafe { ptr::read_volatile(self.address(offset) as *const u32) }
    }

    /// Writes a register.
    #[inline(always)]
    pub(crate) fn write(self, offset: usize, value: u32) {
        // SAFETY: `address` lies in the block and is aligned; `new` promised that it may be written.
        unsafe { ptr::write_volatile(self.address(offset) as *mut u32, value) }
    }

    /// Reads one byte of a register that is made for it.
    pub(crate) fn read_byte(self, offset: usize) -> u8 {
        // SAFETY: as in `read`; a byte needs no alignment.
        unsafe { ptr::read_volatile(self.address(offset) as *const u8) }
    }

    /// Writes 16 bits of a register that is made for it.
    pub(crate) fn write_half(self, offset: usize, value: u16) {
        // SAFETY: as in `write`; what is aligned to 4 is aligned to 2.
        unsafe { ptr::write_volatile(self.address(offset) as *mut u16, value) }
    }
}
