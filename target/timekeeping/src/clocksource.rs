//! A free-running counter and how its ticks become nanoseconds.

use crate::NSEC_PER_SEC;

/// Which counter a clocksource counts by; models `enum clocksource_ids`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ClocksourceId(pub u32);

impl ClocksourceId {
    /// `CSID_GENERIC`: none that anybody else could name.
    pub const GENERIC: Self = Self(0);
    /// `CSID_ARM_ARCH_COUNTER`: CNTVCT_EL0.
    pub const ARM_ARCH_COUNTER: Self = Self(1);
}

/// What a clocksource can do; the kernel's `CLOCK_SOURCE_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct ClocksourceFlags(pub u32);

impl ClocksourceFlags {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// `CLOCK_SOURCE_SUSPEND_NONSTOP`: it counts in suspend as well.
    pub const SUSPEND_NONSTOP: Self = Self(0x80);
    /// `CLOCK_SOURCE_CAN_INLINE_READ`: its `read` gives what
    /// [`Arch::arch_inlined_clocksource_read`](crate::Arch::arch_inlined_clocksource_read) gives.
    pub const CAN_INLINE_READ: Self = Self(0x200);

    /// All of `flags` are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Those of either.
    #[must_use]
    pub const fn union(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
}

/// The hardware counter beneath a clocksource that is derived from one; models `struct clocksource_hw_snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ClocksourceHwSnapshot {
    /// The hardware counter's value, in its own cycles.
    pub hw_cycles: u64,
    /// Which counter; `GENERIC` if there is none.
    pub hw_csid: ClocksourceId,
}

impl ClocksourceHwSnapshot {
    /// No counter beneath.
    pub const NONE: Self = Self { hw_cycles: 0, hw_csid: ClocksourceId::GENERIC };
}

/// Reads a clocksource's counter, in cycles; the kernel's `clocksource::read`.
pub type Read = fn(&Clocksource) -> u64;
/// Reads it and the counter beneath at the same moment; the kernel's `clocksource::read_snapshot`.
pub type ReadSnapshot = fn(&Clocksource, &mut ClocksourceHwSnapshot) -> u64;

/// A counter with the factors that turn its cycles into nanoseconds; models `struct clocksource`.
#[derive(Clone, Copy, Debug)]
pub struct Clocksource {
    /// Reads the counter. Called through this pointer, as the kernel does.
    pub read: Read,
    /// Reads the counter and the one beneath it.
    pub read_snapshot: Option<ReadSnapshot>,
    /// The counter's bits, `CLOCKSOURCE_MASK(bits)`.
    pub mask: u64,
    /// Nanoseconds = cycles * `mult` >> `shift`.
    pub mult: u32,
    /// See `mult`.
    pub shift: u32,
    /// Largest difference in cycles whose product with `mult` fits 64 bits with a bit to spare.
    pub max_cycles: u64,
    /// Which counter.
    pub id: ClocksourceId,
    /// What it can do.
    pub flags: ClocksourceFlags,
}

impl Clocksource {
    /// Registers a counter of `bits` bits at `hz`, without flags and without an id; models
    /// `clocksource_register_hz()`, which leads to `__clocksource_update_freq_scale()`.
    ///
    /// The factors are exact for as long a time as the counter takes to wrap, at most 600 s.
    ///
    /// # Panics
    /// If `hz` is 0 or `bits` is not 1 to 64: both are constants of a board.
    #[must_use]
    pub fn register_hz(read: Read, bits: u32, hz: u32) -> Self {
        assert!(hz > 0, "a counter has a rate");
        assert!((1..=64).contains(&bits), "a counter has 1 to 64 bits");
        let mask = u64::MAX >> (64 - bits);
        let mut seconds = mask / u64::from(hz);
        if seconds == 0 {
            seconds = 1;
        } else if seconds > 600 && mask > u64::from(u32::MAX) {
            seconds = 600;
        }
        let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
        let (mut mult, mut shift) = clocks_calc_mult_shift(hz, NSEC_PER_SEC, seconds);
        // The kernel leaves room for an adjustment of 11 percent, so that `mult` keeps the same value here as there.
        while shift > 0 && mult.checked_add((u64::from(mult) * 11 / 100) as u32).is_none() {
            mult >>= 1;
            shift -= 1;
        }
        let max_cycles = ((u64::MAX >> 1) / u64::from(mult)).min(mask);
        let (id, flags) = (ClocksourceId::GENERIC, ClocksourceFlags::NONE);
        Self { read, read_snapshot: None, mask, mult, shift, max_cycles, id, flags }
    }

    /// The same with an id and flags.
    #[must_use]
    pub const fn with(self, id: ClocksourceId, flags: ClocksourceFlags) -> Self {
        Self { id, flags, ..self }
    }

    /// The same with a read that also gives the counter beneath. It is then never read inline.
    #[must_use]
    pub const fn with_read_snapshot(self, read_snapshot: ReadSnapshot) -> Self {
        Self { read_snapshot: Some(read_snapshot), ..self }
    }

    /// The arch's inlined read may stand for [`Clocksource::read`].
    #[inline]
    #[must_use]
    pub const fn inlined(&self) -> bool {
        self.flags.contains(ClocksourceFlags::CAN_INLINE_READ) && self.read_snapshot.is_none()
    }

    /// Cycles from `last` to `now` for a counter that wraps; models `clocksource_delta()`.
    #[inline]
    #[must_use]
    pub const fn delta(&self, now: u64, last: u64) -> u64 {
        now.wrapping_sub(last) & self.mask
    }
}

/// Finds `mult` and `shift` so that `from` hertz become `to` hertz for at least `max_seconds` without overflow of 64 bits;
/// models `clocks_calc_mult_shift()`.
///
/// # Panics
/// If `from` is 0.
#[must_use]
pub fn clocks_calc_mult_shift(from: u32, to: u32, max_seconds: u32) -> (u32, u32) {
    let mut accuracy_shift = 32;
    let mut range = (u64::from(max_seconds) * u64::from(from)) >> 32;
    while range > 0 {
        range >>= 1;
        accuracy_shift -= 1;
    }
    let mut shift = 32;
    loop {
        let mult = ((u64::from(to) << shift) + u64::from(from / 2)) / u64::from(from);
        if mult >> accuracy_shift == 0 || shift == 0 {
            return (u32::try_from(mult).unwrap_or(u32::MAX), shift);
        }
        shift -= 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn no_counter(_: &Clocksource) -> u64 {
        0
    }

    #[test]
    fn twelve_and_a_half_megahertz_are_exactly_80_ns_a_tick() {
        let clock = Clocksource::register_hz(no_counter, 56, 12_500_000);
        assert_eq!(u64::from(clock.mult), 80u64 << clock.shift);
    }

    #[test]
    fn a_narrow_counter_wraps() {
        let clock = Clocksource::register_hz(no_counter, 16, 1_000_000);
        assert_eq!(clock.delta(3, 0xfffe), 5);
    }

    proptest! {
        #[test]
        fn the_factors_are_right_to_a_part_in_five_million(hz in 10_000u32..=2_000_000_000) {
            let clock = Clocksource::register_hz(no_counter, 56, hz);
            let true_scaled = (u128::from(NSEC_PER_SEC) << 64) / u128::from(hz);
            let scaled = u128::from(clock.mult) << (64 - clock.shift);
            prop_assert!(scaled.abs_diff(true_scaled) <= true_scaled / 5_000_000);
        }

        #[test]
        fn ten_minutes_never_overflow(hz in 10_000u32..=2_000_000_000) {
            let clock = Clocksource::register_hz(no_counter, 64, hz);
            prop_assert!(u64::from(hz) * 600 * u64::from(clock.mult) / u64::from(clock.mult) == u64::from(hz) * 600);
            prop_assert!((u64::from(hz) * 600).checked_mul(u64::from(clock.mult)).is_some());
            prop_assert!(clock.max_cycles.checked_mul(u64::from(clock.mult)).is_some());
        }
    }
}
