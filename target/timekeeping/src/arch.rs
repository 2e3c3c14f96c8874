//! What the machine gives to timekeeping: its inlined counter read, the branch that selects it, and a place for the
//! clocksource in use.
//!
//! The firmware implements these with patched instructions and a pointer; this crate denies unsafe code, and its
//! tests use an atomic flag and an index.

use crate::Clocksource;

/// A machine that timekeeping runs on; models `asm/clock_inlined.h` and `CONFIG_ARCH_WANTS_CLOCKSOURCE_READ_INLINE`.
pub trait Arch: 'static {
    /// The branch that selects the inlined read.
    type ReadInlined: StaticBranch;
    /// The place of the clocksource in use.
    type Clock: ClocksourceCell;

    /// Reads the counter that clocksources with [`ClocksourceFlags::CAN_INLINE_READ`] count by, in its cycles, without
    /// a call; models `arch_inlined_clocksource_read()`.
    ///
    /// The counter must have been read before any load that follows is done: else the look back at the sequence counter
    /// may miss a writer, and a torn snapshot passes. A barrier does not order a counter read, so an implementation makes
    /// a load depend on its value. It is `#[inline(always)]`, and its assembly is not `nomem`.
    ///
    /// [`ClocksourceFlags::CAN_INLINE_READ`]: crate::ClocksourceFlags::CAN_INLINE_READ
    fn arch_inlined_clocksource_read() -> u64;
}

/// A branch whose direction seldom changes; models `struct static_key_false` with `static_branch_likely()`.
///
/// Patched in the text (see `asm!` with `label`), it costs one NOP while enabled and one B while disabled; as an atomic
/// flag a load and a compare-and-branch, one instruction more. A core may see a change late, or take the branch just before it: whoever uses
/// it checks afterwards that the choice was right, as [`Timekeeper`](crate::Timekeeper) does within its read section.
pub trait StaticBranch {
    /// The branch, disabled.
    fn disabled() -> Self;
    /// Enabled, as far as this core knows; models `static_branch_likely()`. `#[inline(always)]` in an implementation.
    fn likely(&self) -> bool;
    /// Models `static_branch_enable()`.
    fn enable(&self);
    /// Models `static_branch_disable()`.
    fn disable(&self);
}

/// A clocksource that can be exchanged while others read it; models `READ_ONCE(tkr->clock)` and its counterpart.
/// Relaxed order is enough: the sequence counter orders it.
pub trait ClocksourceCell {
    /// Holds `clock`.
    fn new(clock: &'static Clocksource) -> Self;
    /// The clocksource held. `#[inline(always)]` in an implementation.
    fn load(&self) -> &'static Clocksource;
    /// Holds `clock` from now on. Called by the only writer.
    fn store(&self, clock: &'static Clocksource);
}
