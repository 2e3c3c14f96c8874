//! One clock as its only writer has it, before it is published.

use crate::{Clocksource, ClocksourceFlags, Ktime, NSEC_PER_SEC, Timespec64, read_base::TkReadBase};

/// Models `shadow_timekeeper`, a `struct timekeeper` that no reader sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shadow {
    pub(crate) clock: &'static Clocksource,
    pub(crate) clock_was_set_seq: u32,
    pub(crate) cs_was_changed_seq: u32,
    pub(crate) clock_valid: bool,
    pub(crate) tkr_mono: TkReadBase,
    pub(crate) tkr_raw: TkReadBase,
    /// The opposite of the kernel's `wall_to_monotonic`.
    pub(crate) offs_real: Ktime,
    pub(crate) offs_boot: Ktime,
    pub(crate) offs_aux: Ktime,
    /// Whole seconds of wall time at `cycle_last`; the fraction is `tkr_mono.xtime_nsec`.
    pub(crate) xtime_sec: i64,
    pub(crate) raw_sec: i64,
    pub(crate) coarse_nsec: u32,
    pub(crate) set_cycles: u64,
}

impl Shadow {
    /// One that has not been started.
    pub(crate) const fn new(clock: &'static Clocksource) -> Self {
        Self {
            clock,
            clock_was_set_seq: 0,
            cs_was_changed_seq: 0,
            clock_valid: false,
            tkr_mono: TkReadBase::UNSET,
            tkr_raw: TkReadBase::UNSET,
            offs_real: 0,
            offs_boot: 0,
            offs_aux: 0,
            xtime_sec: 0,
            raw_sec: 0,
            coarse_nsec: 0,
            set_cycles: 0,
        }
    }

    /// The clocksource's present value.
    pub(crate) fn read(&self) -> u64 {
        (self.clock.read)(self.clock) & self.clock.mask
    }

    /// Goes on with `clock`; models `tk_setup_internals()`.
    pub(crate) fn setup_internals(&mut self, clock: &'static Clocksource) {
        self.clock = clock;
        self.cs_was_changed_seq = self.cs_was_changed_seq.wrapping_add(1);
        let cycles = self.read();
        self.tkr_mono.setup(clock, cycles);
        self.tkr_raw.setup(clock, cycles);
    }

    /// Models `timekeeping_forward_now()`.
    pub(crate) fn forward_now(&mut self) {
        let cycles = self.read();
        self.xtime_sec = self.xtime_sec.wrapping_add(self.tkr_mono.forward(cycles));
        self.raw_sec = self.raw_sec.wrapping_add(self.tkr_raw.forward(cycles));
        self.update();
    }

    /// Lets time stand since the last accumulation; the end of `timekeeping_resume()`.
    pub(crate) fn rebase(&mut self) {
        let cycles = self.read();
        self.tkr_mono.cycle_last = cycles;
        self.tkr_raw.cycle_last = cycles;
    }

    /// Wall time at `cycle_last`; models `tk_xtime()`.
    pub(crate) fn xtime(&self) -> Timespec64 {
        let nsec = self.tkr_mono.xtime_nsec >> self.tkr_mono.shift;
        Timespec64 { tv_sec: self.xtime_sec, tv_nsec: nsec as u32 }
    }

    /// Monotonic time at `cycle_last`.
    pub(crate) fn monotonic(&self) -> Ktime {
        self.xtime().to_ktime().wrapping_sub(self.offs_real)
    }

    /// Sets wall time at `cycle_last`; models `tk_set_xtime()` and `tk_set_wall_to_mono()`. The fraction of a
    /// nanosecond stays, so that monotonic time does not lose it (in the kernel it does).
    pub(crate) fn set_xtime(&mut self, wall: Timespec64) {
        self.offs_real = wall.to_ktime().wrapping_sub(self.monotonic());
        let fraction = self.tkr_mono.xtime_nsec & ((1 << self.tkr_mono.shift) - 1);
        self.xtime_sec = wall.tv_sec;
        self.tkr_mono.xtime_nsec = (u64::from(wall.tv_nsec) << self.tkr_mono.shift) | fraction;
        self.update();
    }

    /// Adds time spent in suspend, in nanoseconds; models `__timekeeping_inject_sleeptime()`.
    pub(crate) fn inject_sleeptime(&mut self, delta: Ktime) {
        self.set_xtime(Timespec64::from_ktime(self.xtime().to_ktime().wrapping_add(delta)));
        self.offs_boot = self.offs_boot.wrapping_add(delta);
    }

    /// The offsets change at `cycle_last`; models `TK_CLOCK_WAS_SET`.
    pub(crate) fn clock_was_set(&mut self) {
        self.clock_was_set_seq = self.clock_was_set_seq.wrapping_add(1);
        self.set_cycles = self.tkr_mono.cycle_last;
    }

    /// Nanoseconds since `cycle_last`, if the clocksource counts in suspend; models
    /// `clocksource_stop_suspend_timing()`.
    pub(crate) fn slept(&self) -> Option<Ktime> {
        if !self.clock.flags.contains(ClocksourceFlags::SUSPEND_NONSTOP) {
            return None;
        }
        let from = TkReadBase { base: 0, xtime_nsec: 0, ..self.tkr_mono };
        Some(from.at(self.read()))
    }

    /// Models `tk_update_ktime_data()` and `tk_update_coarse_nsecs()`.
    pub(crate) fn update(&mut self) {
        let second = i64::from(NSEC_PER_SEC);
        self.tkr_mono.base = self.xtime_sec.wrapping_mul(second).wrapping_sub(self.offs_real);
        self.tkr_raw.base = self.raw_sec.wrapping_mul(second);
        self.coarse_nsec = self.xtime().tv_nsec;
    }
}
