//! The published clocks: what every core may read at any time without a lock.

use crate::{
    Arch, ClockId, Clocksource, ClocksourceCell, Ktime, StaticBranch, Timekeeping, Timespec64,
    read_base::{PublishedReadBase, TkReadBase},
    seqcount::{INVALID, SeqCount, Sequence},
    shadow::Shadow,
    sync::{AtomicI64, AtomicU32, Ordering, unmodelled},
};

/// One published clock with its sequence counter; models the reader's half of `struct tk_data`.
///
/// The sequence counter comes first: its address is then the clock's own.
#[repr(C)]
pub(crate) struct TkData<A: Arch> {
    pub(crate) seq: SeqCount,
    pub(crate) clock_was_set_seq: AtomicU32,
    pub(crate) cs_was_changed_seq: AtomicU32,
    pub(crate) clock: A::Clock,
    pub(crate) tkr_mono: PublishedReadBase,
    pub(crate) tkr_raw: PublishedReadBase,
    pub(crate) offs_real: AtomicI64,
    pub(crate) offs_boot: AtomicI64,
    pub(crate) offs_aux: AtomicI64,
    pub(crate) xtime_sec: AtomicI64,
    pub(crate) coarse_nsec: AtomicU32,
    /// See [`Shadow`].
    pub(crate) set_cycles: unmodelled::AtomicU64,
    pub(crate) held_cycles: unmodelled::AtomicU64,
}

impl<A: Arch> TkData<A> {
    fn new(clock: &'static Clocksource) -> Self {
        Self {
            seq: SeqCount::new(INVALID),
            clock_was_set_seq: AtomicU32::new(0),
            cs_was_changed_seq: AtomicU32::new(0),
            clock: A::Clock::new(clock),
            tkr_mono: PublishedReadBase::new(),
            tkr_raw: PublishedReadBase::new(),
            offs_real: AtomicI64::new(0),
            offs_boot: AtomicI64::new(0),
            offs_aux: AtomicI64::new(0),
            xtime_sec: AtomicI64::new(0),
            coarse_nsec: AtomicU32::new(0),
            set_cycles: unmodelled::AtomicU64::new(0),
            held_cycles: unmodelled::AtomicU64::new(0),
        }
    }

    /// Makes a shadow what readers see; models `timekeeping_update_from_shadow()`.
    pub(crate) fn publish(&self, shadow: &Shadow, states: u32) {
        self.seq.write(states, || {
            self.clock_was_set_seq.store(shadow.clock_was_set_seq, Ordering::Relaxed);
            self.cs_was_changed_seq.store(shadow.cs_was_changed_seq, Ordering::Relaxed);
            self.clock.store(shadow.clock);
            self.tkr_mono.store(&shadow.tkr_mono);
            self.tkr_raw.store(&shadow.tkr_raw);
            self.offs_real.store(shadow.offs_real, Ordering::Relaxed);
            self.offs_boot.store(shadow.offs_boot, Ordering::Relaxed);
            self.offs_aux.store(shadow.offs_aux, Ordering::Relaxed);
            self.xtime_sec.store(shadow.xtime_sec, Ordering::Relaxed);
            self.coarse_nsec.store(shadow.coarse_nsec, Ordering::Relaxed);
            self.set_cycles.store(shadow.set_cycles, Ordering::Relaxed);
            self.held_cycles.store(shadow.held_cycles, Ordering::Relaxed);
        });
    }

    /// Runs `read` until it was not disturbed by a writer; models the loop of `read_seqcount_begin()` and
    /// `read_seqcount_retry()`.
    #[inline(always)]
    pub(crate) fn read<R>(&self, read: impl Fn(Sequence) -> R) -> R {
        loop {
            let seq = self.seq.read_begin();
            let result = read(seq);
            if !self.seq.read_retry(seq) {
                return result;
            }
        }
    }
}

/// The clocks; models `timekeeper_data[]`, the core's and those of the auxiliary clocks, with the static key of the
/// inlined read.
///
/// Readers share it by reference. What changes it is [`Timekeeping`], of which there is one. The core clock comes
/// first, so that its sequence counter has the address of the whole.
#[repr(C)]
pub struct Timekeeper<A: Arch> {
    pub(crate) core: TkData<A>,
    pub(crate) aux: [TkData<A>; ClockId::AUX_CLOCKS],
    /// The kernel's `clocksource_read_inlined`.
    pub(crate) clocksource_read_inlined: A::ReadInlined,
}

impl<A: Arch> Timekeeper<A> {
    /// Clocks that have not been started: every snapshot is invalid until [`Timekeeper::timekeeping_init`].
    /// `clock` is what they will start with.
    #[must_use]
    pub fn new(clock: &'static Clocksource) -> Self {
        Self {
            core: TkData::new(clock),
            aux: core::array::from_fn(|_| TkData::new(clock)),
            clocksource_read_inlined: A::ReadInlined::disabled(),
        }
    }

    /// Starts all clocks but the auxiliary ones at 0 at the counter's present value, and returns what alone may change
    /// them; models `timekeeping_init()`.
    pub fn timekeeping_init(&mut self) -> Timekeeping<'_, A> {
        Timekeeping::start(self)
    }

    /// The data of an auxiliary clock; models `aux_get_tk_data()`.
    #[inline]
    pub(crate) fn aux_get_tk_data(&self, clock_id: ClockId) -> Option<&TkData<A>> {
        self.aux.get(clock_id.aux_index()?)
    }

    /// Reads the clocksource through its pointer, and says what `base` shows then; models `timekeeping_get_ns()`.
    /// While suspended the counter is left alone and time stands at the last base.
    #[inline(always)]
    fn now(&self, seq: Sequence, base: &TkReadBase) -> u64 {
        if seq.suspended() {
            return base.cycles_to_ns(base.cycle_last);
        }
        base.cycles_to_ns(self.tk_clock_read() & base.mask)
    }

    /// Models `tk_clock_read()`, without the inlined read.
    #[inline(always)]
    fn tk_clock_read(&self) -> u64 {
        let clock = self.core.clock.load();
        (clock.read)(clock)
    }

    /// `CLOCK_MONOTONIC` now, in nanoseconds; models `ktime_get()`. In suspend it stands still.
    #[must_use]
    pub fn ktime_get(&self) -> Ktime {
        self.core.read(|seq| {
            let base = self.core.tkr_mono.load();
            base.base.wrapping_add_unsigned(self.now(seq, &base))
        })
    }

    /// `CLOCK_REALTIME` now; models `ktime_get_real_ts64()`.
    #[must_use]
    pub fn ktime_get_real_ts64(&self) -> Timespec64 {
        let (tv_sec, nsec) = self.core.read(|seq| {
            (self.core.xtime_sec.load(Ordering::Relaxed), self.now(seq, &self.core.tkr_mono.load()))
        });
        let beyond = Timespec64::from_ktime(nsec as i64);
        Timespec64 { tv_sec: tv_sec.wrapping_add(beyond.tv_sec), tv_nsec: beyond.tv_nsec }
    }

    /// `CLOCK_MONOTONIC` at the last tick, in nanoseconds; models `ktime_get_coarse()`.
    #[inline]
    #[must_use]
    pub fn ktime_get_coarse(&self) -> Ktime {
        self.core.read(|_| {
            let nsec = self.core.coarse_nsec.load(Ordering::Relaxed);
            self.core.tkr_mono.base().wrapping_add(i64::from(nsec))
        })
    }

    /// `CLOCK_REALTIME` at the last tick, in nanoseconds; models `ktime_get_coarse_real()`.
    #[inline]
    #[must_use]
    pub fn ktime_get_coarse_real(&self) -> Ktime {
        self.core.read(|_| {
            let nsec = self.core.coarse_nsec.load(Ordering::Relaxed);
            let base = self.core.tkr_mono.base().wrapping_add(self.core.offs_real.load(Ordering::Relaxed));
            base.wrapping_add(i64::from(nsec))
        })
    }

    /// `CLOCK_REALTIME` at the last tick; models `ktime_get_coarse_real_ts64()`.
    #[inline]
    #[must_use]
    pub fn ktime_get_coarse_real_ts64(&self) -> Timespec64 {
        self.core.read(|_| self.tk_xtime_coarse())
    }

    /// Models `tk_xtime_coarse()`; within a read section.
    #[inline(always)]
    fn tk_xtime_coarse(&self) -> Timespec64 {
        Timespec64 {
            tv_sec: self.core.xtime_sec.load(Ordering::Relaxed),
            tv_nsec: self.core.coarse_nsec.load(Ordering::Relaxed),
        }
    }

    /// The later of `CLOCK_REALTIME` at the last tick and of `floor`, a `CLOCK_MONOTONIC` time in nanoseconds; models
    /// `ktime_get_coarse_real_ts64_with_floor()`. Both are taken at the same offset, in one read section.
    #[inline]
    #[must_use]
    pub fn ktime_get_coarse_real_ts64_with_floor(&self, floor: Ktime) -> Timespec64 {
        let (coarse, offset) =
            self.core.read(|_| (self.tk_xtime_coarse(), self.core.offs_real.load(Ordering::Relaxed)));
        let floor = floor.wrapping_add(offset);
        if floor > coarse.to_ktime() { Timespec64::from_ktime(floor) } else { coarse }
    }

    /// A `CLOCK_MONOTONIC` time as `CLOCK_REALTIME`, both in nanoseconds, at the present offset; models
    /// `ktime_mono_to_real()`, which reads the one word without the sequence counter.
    #[inline]
    #[must_use]
    pub fn ktime_mono_to_real(&self, mono: Ktime) -> Ktime {
        mono.wrapping_add(self.core.offs_real.load(Ordering::Relaxed))
    }
}
