//! A time base that advances with the counter, and the arithmetic of turning cycles into nanoseconds.

use crate::{
    Clocksource, Ktime, NSEC_PER_SEC,
    sync::{AtomicU64, Ordering, unmodelled},
};

/// Models `struct tk_read_base`, as the writer has it and as a reader takes it out of a read section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TkReadBase {
    /// The counter's bits.
    pub(crate) mask: u64,
    /// The counter value up to which time has been accumulated.
    pub(crate) cycle_last: u64,
    /// Cycles beyond which 64 bits do not hold the product. The kernel looks it up in the clocksource.
    pub(crate) max_cycles: u64,
    /// Nanoseconds = cycles * `mult` >> `shift`.
    pub(crate) mult: u32,
    /// See `mult`.
    pub(crate) shift: u32,
    /// Nanoseconds at `cycle_last` beyond `base`, shifted left by `shift`; less than a second.
    pub(crate) xtime_nsec: u64,
    /// Whole seconds (raw), or whole seconds of wall time brought back to monotonic time, in nanoseconds.
    pub(crate) base: Ktime,
}

impl TkReadBase {
    /// One that has not been set up.
    pub(crate) const UNSET: Self =
        Self { mask: 0, cycle_last: 0, max_cycles: 0, mult: 0, shift: 0, xtime_nsec: 0, base: 0 };

    /// Nanoseconds since `base` at `cycles`; models `timekeeping_cycles_to_ns()`.
    ///
    /// A counter value before `cycle_last`, as another core may read it, counts as `cycle_last`.
    #[inline]
    pub(crate) fn cycles_to_ns(&self, cycles: u64) -> u64 {
        let delta = cycles.wrapping_sub(self.cycle_last) & self.mask;
        if delta > self.max_cycles {
            return self.long_delta_to_ns(delta);
        }
        // No overflow: the product is below 2^63 and `xtime_nsec`, less than a shifted second, is far below 2^63.
        delta.wrapping_mul(u64::from(self.mult)).wrapping_add(self.xtime_nsec) >> (self.shift & 63)
    }

    /// Models the part of `timekeeping_cycles_to_ns()` that ends in `mul_u64_u32_add_u64_shr()`.
    #[cold]
    #[inline(never)]
    fn long_delta_to_ns(&self, delta: u64) -> u64 {
        if delta & !(self.mask >> 1) != 0 {
            return self.xtime_nsec >> (self.shift & 63);
        }
        let product = u128::from(delta) * u128::from(self.mult) + u128::from(self.xtime_nsec);
        (product >> (self.shift & 63)) as u64
    }

    /// Time at `cycles`.
    #[inline]
    pub(crate) fn at(&self, cycles: u64) -> Ktime {
        self.base.wrapping_add_unsigned(self.cycles_to_ns(cycles))
    }

    /// Time at `cycles`, at most half the counter's range before or after `cycle_last`, as a snapshot taken then would
    /// have given it; models the interpolation of `adjust_historical_crosststamp()`, without its rounding.
    pub(crate) fn at_or_before(&self, cycles: u64) -> Ktime {
        let back = self.cycle_last.wrapping_sub(cycles) & self.mask;
        if back == 0 || back & !(self.mask >> 1) != 0 {
            return self.at(cycles);
        }
        let shifted = i128::from(self.xtime_nsec) - i128::from(back) * i128::from(self.mult);
        self.base.wrapping_add((shifted >> (self.shift & 63)) as i64)
    }

    /// Moves `cycle_last` to `cycles` without losing a fraction, and returns the whole seconds that are over; models
    /// `timekeeping_forward_now()` and `tk_normalize_xtime()`.
    pub(crate) fn forward(&mut self, cycles: u64) -> i64 {
        let mut delta = cycles.wrapping_sub(self.cycle_last) & self.mask;
        if delta & !(self.mask >> 1) != 0 {
            delta = 0;
        } else {
            self.cycle_last = cycles;
        }
        let shifted = u128::from(delta) * u128::from(self.mult) + u128::from(self.xtime_nsec);
        let second = u128::from(NSEC_PER_SEC) << self.shift;
        self.xtime_nsec = (shifted % second) as u64;
        (shifted / second) as i64
    }

    /// Goes on with another clocksource at its present value; models `tk_setup_internals()`. Of a finer fraction of a
    /// nanosecond than the new shift can hold the rest is lost, as there.
    pub(crate) fn setup(&mut self, clock: &Clocksource, cycles: u64) {
        if clock.shift < self.shift {
            self.xtime_nsec >>= self.shift - clock.shift;
        } else {
            self.xtime_nsec <<= clock.shift - self.shift;
        }
        let Clocksource { mask, max_cycles, mult, shift, .. } = *clock;
        *self = Self { mask, cycle_last: cycles, max_cycles, mult, shift, ..*self };
    }
}

/// A read base that is published: to be read in a read section, and written in a write section.
#[derive(Debug)]
pub(crate) struct PublishedReadBase {
    mask: unmodelled::AtomicU64,
    cycle_last: AtomicU64,
    max_cycles: unmodelled::AtomicU64,
    mult: unmodelled::AtomicU32,
    shift: unmodelled::AtomicU32,
    xtime_nsec: AtomicU64,
    base: unmodelled::AtomicI64,
}

impl PublishedReadBase {
    /// Holds one that has not been set up.
    pub(crate) fn new() -> Self {
        Self {
            mask: unmodelled::AtomicU64::new(0),
            cycle_last: AtomicU64::new(0),
            max_cycles: unmodelled::AtomicU64::new(0),
            mult: unmodelled::AtomicU32::new(0),
            shift: unmodelled::AtomicU32::new(0),
            xtime_nsec: AtomicU64::new(0),
            base: unmodelled::AtomicI64::new(0),
        }
    }

    /// Each field by itself: whole only if the sequence counter says so afterwards.
    #[inline(always)]
    pub(crate) fn load(&self) -> TkReadBase {
        TkReadBase {
            mask: self.mask.load(Ordering::Relaxed),
            cycle_last: self.cycle_last.load(Ordering::Relaxed),
            max_cycles: self.max_cycles.load(Ordering::Relaxed),
            mult: self.mult.load(Ordering::Relaxed),
            shift: self.shift.load(Ordering::Relaxed),
            xtime_nsec: self.xtime_nsec.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed),
        }
    }

    /// The base alone.
    #[inline(always)]
    pub(crate) fn base(&self) -> Ktime {
        self.base.load(Ordering::Relaxed)
    }

    /// Within a write section.
    pub(crate) fn store(&self, base: &TkReadBase) {
        self.mask.store(base.mask, Ordering::Relaxed);
        self.cycle_last.store(base.cycle_last, Ordering::Relaxed);
        self.max_cycles.store(base.max_cycles, Ordering::Relaxed);
        self.mult.store(base.mult, Ordering::Relaxed);
        self.shift.store(base.shift, Ordering::Relaxed);
        self.xtime_nsec.store(base.xtime_nsec, Ordering::Relaxed);
        self.base.store(base.base, Ordering::Relaxed);
    }
}
