//! The memory map: every address is itself. The first GiB is devices, the second is memory, cached and shared by the
//! cores; the rest is not there. Blocks of 1 GiB, so that one table of four entries is all (Arm ARM, VMSAv8-64, 4 KiB
//! granule).

/// Attribute 0: device memory, nothing gathered, reordered or acknowledged early. Attribute 1: normal memory,
/// write-back.
pub(super) const MAIR: u64 = 0xff00;
/// TCR_EL1: addresses of 32 bits (T0SZ = 32), so that the walk starts at level 1; tables are cached and inner
/// shareable; no second range (EPD1); physical addresses of 32 bits.
pub(super) const TCR: u64 = 32 | 0b01 << 8 | 0b01 << 10 | 0b11 << 12 | 1 << 23;

/// A block that was accessed (AF), for EL1 to read and write.
const BLOCK: u64 = 0b01 | 1 << 10;
const ATTRIBUTE_1: u64 = 1 << 2;
const INNER_SHAREABLE: u64 = 0b11 << 8;
const NEVER_EXECUTED: u64 = 0b11 << 53;

/// The level 1 table, aligned as TTBR0_EL1 wants it.
#[repr(C, align(64))]
pub(super) struct Table([u64; 4]);

/// See the head of this file. Memory stays writable and executable: static branches are patched in the text.
pub(super) static TABLE: Table =
    Table([BLOCK | NEVER_EXECUTED, 0x4000_0000 | BLOCK | ATTRIBUTE_1 | INNER_SHAREABLE, 0, 0]);
