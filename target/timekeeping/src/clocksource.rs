//! A free-running counter and how its ticks become nanoseconds.

use crate::NSEC_PER_SEC;

/// The kernel's `struct clocksource`: a counter with the factors that turn its cycles into nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Clocksource {
    /// Reads the counter. Called through this pointer, as the kernel does.
    pub read: fn() -> u64,
    /// The counter's bits, `CLOCKSOURCE_MASK(bits)`.
    pub mask: u64,
    /// Nanoseconds = cycles * `mult` >> `shift`.
    pub mult: u32,
    /// See `mult`.
    pub shift: u32,
    /// Largest difference in cycles whose product with `mult` fits 64 bits with a bit to spare.
    pub max_cycles: u64,
}

impl Clocksource {
    /// Registers a counter of `bits` bits at `hz`; models `clocksource_register_hz()`, which leads to
    /// `__clocksource_update_freq_scale()`.
    ///
    /// The factors are exact for as long a time as the counter takes to wrap, at most 600 s.
    ///
    /// # Panics
    /// If `hz` is 0 or `bits` is not 1 to 64: both are constants of a board.
    #[must_use]
    pub fn register_hz(read: fn() -> u64, bits: u32, hz: u32) -> Self {
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
        Self { read, mask, mult, shift, max_cycles }
    }

    /// Cycles from `last` to `now` for a counter that wraps; models `clocksource_delta()`.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn no_counter() -> u64 {
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
