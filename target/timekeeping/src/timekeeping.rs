//! Everything that changes the clocks.
//!
//! Each change is made on a shadow first and then published in one write section, as in the kernel. There is one
//! [`Timekeeping`] to a [`Timekeeper`], and its methods take `&mut self`: that is the kernel's `tk_core.lock`. A core
//! whose interrupt handlers read the clocks calls them with interrupts masked, or a handler would wait for ever for
//! the write section that it interrupted.

use core::{fmt, ops::Deref};

use crate::{
    Arch, ClockId, Clocksource, ClocksourceCell, Ktime, StaticBranch, Timekeeper, Timespec64,
    seqcount::{INVALID, SUSPENDED},
    shadow::Shadow,
};

/// Why a change was refused. The clocks are then as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimekeepingError {
    /// The time is not in normal form, negative, or too far off; the kernel's `-EINVAL`.
    InvalidTime,
    /// Wall time would lie before monotonic time, that is the machine's start before 1970; the kernel's `-EINVAL`.
    BeforeMonotonic,
    /// The clock id is not that of an auxiliary clock, or that clock is not enabled; the kernel's `-ENODEV`.
    NoSuchClock,
    /// Timekeeping is suspended: resume first.
    Suspended,
}

impl fmt::Display for TimekeepingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InvalidTime => "the time to set is negative, too far off or not in normal form",
            Self::BeforeMonotonic => "wall time cannot be set to before monotonic time",
            Self::NoSuchClock => "no auxiliary clock of that id is enabled",
            Self::Suspended => "timekeeping is suspended",
        })
    }
}

impl core::error::Error for TimekeepingError {}

/// The write side; models the writer's half of `struct tk_data` and what holds its lock.
pub struct Timekeeping<'a, A: Arch> {
    timekeeper: &'a Timekeeper<A>,
    core: Shadow,
    aux: [Shadow; ClockId::AUX_CLOCKS],
    suspended: bool,
}

impl<A: Arch> Deref for Timekeeping<'_, A> {
    type Target = Timekeeper<A>;

    fn deref(&self) -> &Timekeeper<A> {
        self.timekeeper
    }
}

impl<'a, A: Arch> Timekeeping<'a, A> {
    /// The caller sees to it that there is no other.
    pub(crate) fn start(timekeeper: &'a Timekeeper<A>) -> Self {
        timekeeper.clocksource_read_inlined.disable();
        let clock = timekeeper.core.clock.load();
        let mut this = Self {
            timekeeper,
            core: Shadow::new(clock),
            aux: [Shadow::new(clock); ClockId::AUX_CLOCKS],
            suspended: false,
        };
        this.core.setup_internals(clock);
        this.core.clock_valid = true;
        this.core.update();
        this.core.clock_was_set();
        this.publish_all();
        this.enable_inline_read();
        this
    }

    /// The clocks, for readers.
    #[must_use]
    pub const fn timekeeper(&self) -> &'a Timekeeper<A> {
        self.timekeeper
    }

    fn states(&self, shadow: &Shadow) -> u32 {
        (if self.suspended { SUSPENDED } else { 0 }) | (if shadow.clock_valid { 0 } else { INVALID })
    }

    fn publish_core(&self) {
        self.timekeeper.core.publish(&self.core, self.states(&self.core));
    }

    fn publish_aux(&self, index: usize) {
        let shadow = &self.aux[index];
        self.timekeeper.aux[index].publish(shadow, self.states(shadow));
    }

    fn publish_all(&self) {
        self.publish_core();
        for index in 0..ClockId::AUX_CLOCKS {
            self.publish_aux(index);
        }
    }

    /// Lets no reader end until its clock is published again, before a change that lets the clocks stand still for a
    /// moment: between the last reading of the old clocksource and the first of the new one, or of what comes after a
    /// suspend. A reader that read the counter within that moment by the old base would see a time that comes again
    /// later. The kernel has stopped all other cores here.
    fn hold_readers(&self) {
        self.timekeeper.core.seq.hold();
        for (data, _) in self.timekeeper.aux.iter().zip(&self.aux).filter(|(_, shadow)| shadow.clock_valid) {
            data.seq.hold();
        }
    }

    /// Runs `change` on the auxiliary clocks that are enabled, and publishes them.
    fn each_aux(&mut self, change: impl Fn(&mut Shadow)) {
        for index in 0..ClockId::AUX_CLOCKS {
            if self.aux[index].clock_valid {
                change(&mut self.aux[index]);
                self.publish_aux(index);
            }
        }
    }

    /// The tick: accumulates up to the counter's present value, which moves the coarse clocks; models
    /// `update_wall_time()` and `tk_aux_advance()`. Does nothing in suspend.
    ///
    /// To be called often enough that the counter does not run through half its range in between.
    pub fn update_wall_time(&mut self) {
        if self.suspended {
            return;
        }
        self.core.forward_now();
        self.publish_core();
        self.each_aux(Shadow::forward_now);
    }

    /// Sets `CLOCK_REALTIME`; models `do_settimeofday64()`.
    ///
    /// # Errors
    /// Refused as by the kernel: an invalid time, or one before `CLOCK_MONOTONIC`.
    pub fn do_settimeofday64(&mut self, wall: Timespec64) -> Result<(), TimekeepingError> {
        self.awake()?;
        if !wall.valid() {
            return Err(TimekeepingError::InvalidTime);
        }
        let mut shadow = self.core;
        shadow.forward_now();
        if wall.to_ktime() < shadow.monotonic() {
            return Err(TimekeepingError::BeforeMonotonic);
        }
        shadow.set_xtime(wall);
        shadow.clock_was_set();
        self.core = shadow;
        self.publish_core();
        Ok(())
    }

    /// Adds time spent in suspend, in nanoseconds: to `CLOCK_REALTIME` and `CLOCK_BOOTTIME`; models
    /// `timekeeping_inject_sleeptime64()`.
    ///
    /// # Errors
    /// Negative, or suspended.
    pub fn timekeeping_inject_sleeptime64(&mut self, delta: Ktime) -> Result<(), TimekeepingError> {
        self.awake()?;
        if delta < 0 {
            return Err(TimekeepingError::InvalidTime);
        }
        self.core.forward_now();
        self.core.inject_sleeptime(delta);
        self.core.clock_was_set();
        self.publish_core();
        Ok(())
    }

    /// Stops all clocks: snapshots are invalid from here on; models `timekeeping_suspend()`. Twice is as once.
    pub fn timekeeping_suspend(&mut self) {
        if self.suspended {
            return;
        }
        self.hold_readers();
        self.core.forward_now();
        self.suspended = true;
        self.publish_core();
        self.each_aux(Shadow::forward_now);
    }

    /// Lets the clocks go on; models `timekeeping_resume()`. Without a suspend before it, it does nothing.
    ///
    /// The time slept is what the clocksource counted, if it counts in suspend, else `persistent`, nanoseconds by a
    /// persistent clock, else nothing. `CLOCK_MONOTONIC` and the auxiliary clocks stood still meanwhile.
    pub fn timekeeping_resume(&mut self, persistent: Option<Ktime>) {
        if !self.suspended {
            return;
        }
        let slept = self.core.slept().or(persistent).unwrap_or(0).max(0);
        self.core.resume(slept);
        self.suspended = false;
        self.publish_core();
        self.each_aux(|shadow| shadow.resume(0));
    }

    /// Goes on with another clocksource, all clocks without a step; models `timekeeping_notify()` and
    /// `change_clocksource()`. The inlined read is off meanwhile, and on afterwards if the clocksource can be read so.
    ///
    /// The kernel stops all cores for this. Here a reader that took the inlined read too early or too late reads
    /// again: its read section compares the sequence, and checks that the clocksource in it may be read inline.
    ///
    /// # Errors
    /// Suspended.
    pub fn timekeeping_notify(&mut self, clock: &'static Clocksource) -> Result<(), TimekeepingError> {
        self.awake()?;
        if core::ptr::eq(self.core.clock, clock) {
            return Ok(());
        }
        self.timekeeper.clocksource_read_inlined.disable();
        self.hold_readers();
        self.core.forward_now();
        self.core.setup_internals(clock);
        self.core.clock_was_set();
        self.publish_core();
        // Models `tk_aux_update_clocksource()`.
        self.each_aux(|shadow| {
            shadow.forward_now();
            shadow.setup_internals(clock);
            shadow.clock_was_set();
        });
        self.enable_inline_read();
        Ok(())
    }

    fn enable_inline_read(&self) {
        if self.core.clock.inlined() {
            self.timekeeper.clocksource_read_inlined.enable();
        }
    }

    /// Starts an auxiliary clock at 0; models `aux_clock_enable()`. If it runs already it starts again.
    ///
    /// # Errors
    /// Not an auxiliary clock's id, or suspended.
    pub fn aux_clock_enable(&mut self, clock_id: ClockId) -> Result<(), TimekeepingError> {
        self.awake()?;
        let index = clock_id.aux_index().ok_or(TimekeepingError::NoSuchClock)?;
        let Shadow { clock_was_set_seq, cs_was_changed_seq, .. } = self.aux[index];
        let shadow = &mut self.aux[index];
        *shadow = Shadow { clock_was_set_seq, cs_was_changed_seq, ..Shadow::new(self.core.clock) };
        shadow.setup_internals(self.core.clock);
        shadow.clock_valid = true;
        shadow.update();
        shadow.clock_was_set();
        self.publish_aux(index);
        Ok(())
    }

    /// Stops an auxiliary clock: its snapshots are invalid from here on; models `aux_clock_disable()`.
    ///
    /// # Errors
    /// Not the id of an auxiliary clock that is enabled.
    pub fn aux_clock_disable(&mut self, clock_id: ClockId) -> Result<(), TimekeepingError> {
        let index = self.enabled(clock_id)?;
        self.aux[index].clock_valid = false;
        self.publish_aux(index);
        Ok(())
    }

    /// Sets an auxiliary clock; models `aux_clock_set()`.
    ///
    /// # Errors
    /// Not the id of an auxiliary clock that is enabled, an invalid time, or suspended.
    pub fn aux_clock_set(&mut self, clock_id: ClockId, time: Timespec64) -> Result<(), TimekeepingError> {
        self.awake()?;
        let index = self.enabled(clock_id)?;
        if !time.valid() {
            return Err(TimekeepingError::InvalidTime);
        }
        let shadow = &mut self.aux[index];
        shadow.forward_now();
        shadow.offs_aux = time.to_ktime().wrapping_sub(shadow.monotonic());
        shadow.clock_was_set();
        self.publish_aux(index);
        Ok(())
    }

    fn enabled(&self, clock_id: ClockId) -> Result<usize, TimekeepingError> {
        clock_id.aux_index().filter(|index| self.aux[*index].clock_valid).ok_or(TimekeepingError::NoSuchClock)
    }

    fn awake(&self) -> Result<(), TimekeepingError> {
        if self.suspended { Err(TimekeepingError::Suspended) } else { Ok(()) }
    }
}
