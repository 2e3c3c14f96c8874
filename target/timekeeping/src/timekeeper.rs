//! The clocks, and the snapshot that ties one of them to a counter value.

use crate::{Clocksource, NSEC_PER_SEC};

/// The clocks that a snapshot can name; the kernel's `clockid_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockId {
    /// `CLOCK_REALTIME`: wall time, which can be set.
    Realtime,
    /// `CLOCK_MONOTONIC`: since boot, never set.
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`: since boot, never disciplined.
    MonotonicRaw,
    /// `CLOCK_BOOTTIME`: `CLOCK_MONOTONIC` and the time spent in suspend.
    Boottime,
}

/// What one counter read gave; models `struct system_time_snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTimeSnapshot {
    /// The counter value read inside the function.
    pub cycles: u64,
    /// Time of the named clock at that value, in nanoseconds.
    pub systime: i64,
    /// `CLOCK_MONOTONIC_RAW` at that value, in nanoseconds.
    pub monoraw: i64,
}

/// Models `struct tk_read_base`: one time base that advances with the counter.
#[derive(Clone, Copy, Debug)]
struct TkReadBase {
    /// The counter value up to which time has been accumulated.
    cycle_last: u64,
    /// Nanoseconds below one second, shifted left by the clocksource's `shift`.
    xtime_nsec: u64,
    /// Whole seconds, in nanoseconds.
    base: i64,
}

impl TkReadBase {
    /// Nanoseconds at `cycles`; models `timekeeping_cycles_to_ns()` and the addition of `base` that follows it.
    fn cycles_to_ns(&self, clock: &Clocksource, cycles: u64) -> i64 {
        let delta = clock.delta(cycles, self.cycle_last);
        let nanoseconds = if delta <= clock.max_cycles {
            // No overflow: the product is below 2^63 and `xtime_nsec`, less than a shifted second, is far below 2^63.
            (delta * u64::from(clock.mult) + self.xtime_nsec) >> clock.shift
        } else {
            let product = u128::from(delta) * u128::from(clock.mult) + u128::from(self.xtime_nsec);
            (product >> clock.shift) as u64
        };
        self.base.wrapping_add_unsigned(nanoseconds)
    }

    /// Moves `cycle_last` to `cycles` without losing a fraction; models `timekeeping_forward_now()` and
    /// `tk_normalize_xtime()`.
    fn forward(&mut self, clock: &Clocksource, cycles: u64) {
        let delta = clock.delta(cycles, self.cycle_last);
        let shifted = u128::from(delta) * u128::from(clock.mult) + u128::from(self.xtime_nsec);
        let second = u128::from(NSEC_PER_SEC) << clock.shift;
        self.cycle_last = cycles;
        self.base = self.base.wrapping_add_unsigned((shifted / second) as u64 * u64::from(NSEC_PER_SEC));
        self.xtime_nsec = (shifted % second) as u64;
    }
}

/// Models `struct timekeeper`: the time bases and the offsets of the clocks that are derived from them.
#[derive(Clone, Copy, Debug)]
pub struct Timekeeper {
    clock: Clocksource,
    tkr_mono: TkReadBase,
    tkr_raw: TkReadBase,
    offs_real: i64,
    offs_boot: i64,
}

impl Timekeeper {
    /// Starts all clocks at 0 at the counter's present value; models `timekeeping_init()`.
    #[must_use]
    pub fn timekeeping_init(clock: Clocksource) -> Self {
        let start = TkReadBase { cycle_last: (clock.read)() & clock.mask, xtime_nsec: 0, base: 0 };
        Self { clock, tkr_mono: start, tkr_raw: start, offs_real: 0, offs_boot: 0 }
    }

    /// Sets `CLOCK_REALTIME`, in nanoseconds; models `do_settimeofday64()`.
    pub fn do_settimeofday64(&mut self, realtime: i64) {
        let monotonic = self.ktime_get_snapshot_id(ClockId::Monotonic).systime;
        self.offs_real = realtime.wrapping_sub(monotonic);
    }

    /// Adds time spent in suspend, in nanoseconds; models `timekeeping_inject_sleeptime64()`: wall time moves with it.
    pub fn timekeeping_inject_sleeptime64(&mut self, delta: i64) {
        self.offs_boot = self.offs_boot.wrapping_add(delta);
        self.offs_real = self.offs_real.wrapping_add(delta);
    }

    /// Accumulates up to the counter's present value; models `timekeeping_forward_now()`.
    ///
    /// Only needed so that later conversions stay within `max_cycles` and so in 64 bits: the time read is the same.
    pub fn timekeeping_forward_now(&mut self) {
        let cycles = (self.clock.read)() & self.clock.mask;
        self.tkr_mono.forward(&self.clock, cycles);
        self.tkr_raw.forward(&self.clock, cycles);
    }

    /// Reads the counter once, and says what the named clock and the raw clock show at that value;
    /// models `ktime_get_snapshot_id()`.
    #[inline]
    #[must_use]
    pub fn ktime_get_snapshot_id(&self, clock_id: ClockId) -> SystemTimeSnapshot {
        let cycles = (self.clock.read)() & self.clock.mask;
        let monoraw = self.tkr_raw.cycles_to_ns(&self.clock, cycles);
        let offset = match clock_id {
            ClockId::Realtime => self.offs_real,
            ClockId::Monotonic => 0,
            ClockId::Boottime => self.offs_boot,
            ClockId::MonotonicRaw => return SystemTimeSnapshot { cycles, systime: monoraw, monoraw },
        };
        let systime = self.tkr_mono.cycles_to_ns(&self.clock, cycles).wrapping_add(offset);
        SystemTimeSnapshot { cycles, systime, monoraw }
    }
}

#[cfg(test)]
mod tests;
