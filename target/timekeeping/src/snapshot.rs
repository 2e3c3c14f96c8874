//! `ktime_get_snapshot_id()`, built three ways: the function whose way to its counter read is measured.
//!
//! The three do the same, and differ in what lies between their entry and the counter read:
//!
//! | build | clocksource | dispatch |
//! |---|---|---|
//! | [`Timekeeper::ktime_get_snapshot_id_indirect`] | called through its pointer | in the order of the compiler |
//! | [`Timekeeper::ktime_get_snapshot_id_inline`] | arch counter read in place, behind a static branch | the same |
//! | [`Timekeeper::ktime_get_snapshot_id_inline_biased`] | the same | `CLOCK_REALTIME` first |
//!
//! Before the read stands what the kernel has to do there: the clock id's dispatch, the checks that timekeeping is not
//! suspended, the clock valid and no writer inside (one acquire load and one test, see [`crate::seqcount`]), and the
//! choice of the read. What can wait is done behind it: the snapshot is marked invalid where it fails and not
//! beforehand, and whether the clocksource may be read inline at all is checked in the same read section after the
//! read. Everything that is seldom taken is a function of its own that is entered by a jump, so that the straight way
//! of the two inlined builds saves no registers.

use crate::{
    Arch, ClockId, ClocksourceCell, ClocksourceHwSnapshot, ClocksourceId, Ktime, StaticBranch, Timekeeper,
    seqcount::Sequence, sync::Ordering, timekeeper::TkData,
};

/// Whether a snapshot can be used, and why not; models `system_time_snapshot::valid`, which only says whether.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SnapshotValidity {
    /// All fields hold.
    Valid,
    /// Timekeeping is suspended.
    Suspended,
    /// The clock is not running: an auxiliary clock that is not enabled, or clocks that were never started.
    ClockInvalid,
    /// There is no clock of that id.
    UnknownClock,
}

/// What one counter read gave; models `struct system_time_snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SystemTimeSnapshot {
    /// The clocksource's counter value, the only one read, in its cycles.
    pub cycles: u64,
    /// The counter beneath the clocksource, if it is derived from one.
    pub hw: ClocksourceHwSnapshot,
    /// Time of the named clock at `cycles`, in nanoseconds.
    pub systime: Ktime,
    /// `CLOCK_MONOTONIC_RAW` at `cycles`, in nanoseconds; of an auxiliary clock its own raw time, since it was enabled.
    pub monoraw: Ktime,
    /// Which clocksource.
    pub cs_id: ClocksourceId,
    /// Counts the times that this clock's offsets changed.
    pub clock_was_set_seq: u32,
    /// Counts the times that this clock's clocksource was exchanged. The kernel has 8 bits for it, which wrap.
    pub cs_was_changed_seq: u32,
    /// Whether the other fields mean anything.
    pub validity: SnapshotValidity,
}

impl SystemTimeSnapshot {
    /// One that holds nothing.
    pub const UNKNOWN: Self = Self {
        cycles: 0,
        hw: ClocksourceHwSnapshot::NONE,
        systime: 0,
        monoraw: 0,
        cs_id: ClocksourceId::GENERIC,
        clock_was_set_seq: 0,
        cs_was_changed_seq: 0,
        validity: SnapshotValidity::UnknownClock,
    };

    /// The kernel's `valid`.
    #[must_use]
    pub const fn valid(&self) -> bool {
        matches!(self.validity, SnapshotValidity::Valid)
    }
}

impl<A: Arch> Timekeeper<A> {
    /// Reads the counter once, and says what the named clock and the raw clock show at that value; models
    /// `ktime_get_snapshot_id()`. The build is that of the least latency for REALTIME.
    #[inline]
    #[must_use]
    pub fn ktime_get_snapshot_id(&self, clock_id: ClockId) -> SystemTimeSnapshot {
        let mut snapshot = SystemTimeSnapshot::UNKNOWN;
        self.ktime_get_snapshot_id_inline_biased(clock_id, &mut snapshot);
        snapshot
    }

    /// The build that calls the clocksource through its pointer; models `ktime_get_snapshot_id()` with
    /// `tk_clock_read_snapshot()`.
    ///
    /// Leaves `snapshot.validity` other than `Valid` if timekeeping is suspended, the clock is not running, or unknown;
    /// the other fields are then as before.
    #[inline(never)]
    pub extern "C" fn ktime_get_snapshot_id_indirect(
        &self,
        clock_id: ClockId,
        snapshot: &mut SystemTimeSnapshot,
    ) {
        let Some(tkd) = self.tk_data(clock_id) else { return unknown_clock(snapshot) };
        loop {
            let Some(seq) = tkd.seq.read_begin_ready() else {
                if wait(tkd, snapshot) {
                    continue;
                }
                return;
            };
            let clock = tkd.clock.load();
            if clock.read_snapshot.is_some() {
                return self.snapshot_derived(clock_id, snapshot);
            }
            if self.fill(clock_id, snapshot, seq, (clock.read)(clock)) {
                return;
            }
        }
    }

    /// The build that reads the arch counter in place, behind the static branch; models `ktime_get_snapshot_id()` with
    /// `tk_clock_read()` and its `arch_inlined_clocksource_read()`. Fails as
    /// [`Timekeeper::ktime_get_snapshot_id_indirect`].
    #[inline(never)]
    pub extern "C" fn ktime_get_snapshot_id_inline(
        &self,
        clock_id: ClockId,
        snapshot: &mut SystemTimeSnapshot,
    ) {
        let Some(tkd) = self.tk_data(clock_id) else { return unknown_clock(snapshot) };
        self.snapshot_inline(tkd, clock_id, snapshot);
    }

    /// The build that reads in place and looks for `CLOCK_REALTIME` first; other clocks take the way of
    /// [`Timekeeper::ktime_get_snapshot_id_inline`]. Fails as [`Timekeeper::ktime_get_snapshot_id_indirect`].
    #[inline(never)]
    pub extern "C" fn ktime_get_snapshot_id_inline_biased(
        &self,
        clock_id: ClockId,
        snapshot: &mut SystemTimeSnapshot,
    ) {
        if clock_id != ClockId::REALTIME {
            return self.ktime_get_snapshot_id_inline(clock_id, snapshot);
        }
        self.snapshot_inline(&self.core, ClockId::REALTIME, snapshot);
    }

    /// From the sequence counter to the read in place. Whatever does not go straight on is left to the build that goes
    /// through the pointer: it waits, says why not, and reads a clocksource that cannot be read in place.
    #[inline(always)]
    fn snapshot_inline(&self, tkd: &TkData<A>, clock_id: ClockId, snapshot: &mut SystemTimeSnapshot) {
        let Some(seq) = tkd.seq.read_begin_ready() else { return self.slow(clock_id, snapshot) };
        if !self.clocksource_read_inlined.likely() {
            return self.slow(clock_id, snapshot);
        }
        let now = A::arch_inlined_clocksource_read();
        self.fill_inline(clock_id, snapshot, seq, now);
    }

    #[cold]
    #[inline(always)]
    fn slow(&self, clock_id: ClockId, snapshot: &mut SystemTimeSnapshot) {
        self.ktime_get_snapshot_id_indirect(clock_id, snapshot);
    }

    /// Whose data; the first half of the kernel's `switch (clock_id)`, needed for the sequence counter.
    #[inline(always)]
    pub(crate) fn tk_data(&self, clock_id: ClockId) -> Option<&TkData<A>> {
        match clock_id {
            ClockId::REALTIME | ClockId::MONOTONIC | ClockId::MONOTONIC_RAW | ClockId::BOOTTIME => {
                Some(&self.core)
            }
            _ => self.aux_get_tk_data(clock_id),
        }
    }

    /// The clock's data and the offset in it; the whole of `switch (clock_id)`. The raw clock takes the way of the
    /// monotonic one, and is put right at the end. Unknown ids were sorted out by [`Self::tk_data`].
    #[inline(always)]
    pub(crate) fn dispatch(&self, clock_id: ClockId) -> (&TkData<A>, Ktime) {
        let core = &self.core;
        match clock_id {
            ClockId::REALTIME => (core, core.offs_real.load(Ordering::Relaxed)),
            ClockId::BOOTTIME => (core, core.offs_boot.load(Ordering::Relaxed)),
            _ => match self.aux_get_tk_data(clock_id) {
                Some(tkd) => (tkd, tkd.offs_aux.load(Ordering::Relaxed)),
                None => (core, 0),
            },
        }
    }

    /// The clocksource is derived from a counter that is to be read with it; models the other half of
    /// `tk_clock_read_snapshot()`.
    #[cold]
    #[inline(never)]
    fn snapshot_derived(&self, clock_id: ClockId, snapshot: &mut SystemTimeSnapshot) {
        let Some(tkd) = self.tk_data(clock_id) else { return unknown_clock(snapshot) };
        loop {
            let Some(seq) = tkd.seq.read_begin_ready() else {
                if wait(tkd, snapshot) {
                    continue;
                }
                return;
            };
            let clock = tkd.clock.load();
            let mut hw = ClocksourceHwSnapshot::NONE;
            let now = match clock.read_snapshot {
                Some(read_snapshot) => read_snapshot(clock, &mut hw),
                None => (clock.read)(clock),
            };
            if self.fill(clock_id, snapshot, seq, now) {
                snapshot.hw = hw;
                return;
            }
        }
    }

    /// [`Self::fill`] after a read in place. In the read section it also checks that the clocksource may be read so: a
    /// core may see the static branch change late.
    #[inline(never)]
    fn fill_inline(&self, clock_id: ClockId, snapshot: &mut SystemTimeSnapshot, seq: Sequence, now: u64) {
        let inlined = self.dispatch(clock_id).0.clock.load().inlined();
        if !inlined || !self.fill(clock_id, snapshot, seq, now) {
            self.slow(clock_id, snapshot);
        }
    }

    /// Everything after the counter read. False if a writer came in between: `snapshot` is then as before.
    #[inline(never)]
    pub(crate) fn fill(
        &self,
        clock_id: ClockId,
        snapshot: &mut SystemTimeSnapshot,
        seq: Sequence,
        now: u64,
    ) -> bool {
        let (tkd, offset) = self.dispatch(clock_id);
        let clock = tkd.clock.load();
        let mono = tkd.tkr_mono.load();
        let raw = tkd.tkr_raw.load();
        let clock_was_set_seq = tkd.clock_was_set_seq.load(Ordering::Relaxed);
        let cs_was_changed_seq = tkd.cs_was_changed_seq.load(Ordering::Relaxed);
        if tkd.seq.read_retry(seq) {
            return false;
        }
        let cycles = now & mono.mask;
        let monoraw = raw.at(cycles);
        let systime =
            if clock_id == ClockId::MONOTONIC_RAW { monoraw } else { mono.at(cycles).wrapping_add(offset) };
        *snapshot = SystemTimeSnapshot {
            cycles,
            hw: ClocksourceHwSnapshot::NONE,
            systime,
            monoraw,
            cs_id: clock.id,
            clock_was_set_seq,
            cs_was_changed_seq,
            validity: SnapshotValidity::Valid,
        };
        true
    }
}

/// The sequence word says that the clock cannot be read now. True when it can after all: a writer was inside. Else the
/// snapshot says why.
#[cold]
#[inline(never)]
fn wait<A: Arch>(tkd: &TkData<A>, snapshot: &mut SystemTimeSnapshot) -> bool {
    let seq = tkd.seq.read_begin();
    if seq.suspended() {
        snapshot.validity = SnapshotValidity::Suspended;
    } else if !seq.clock_valid() {
        snapshot.validity = SnapshotValidity::ClockInvalid;
    } else {
        return true;
    }
    false
}

#[cold]
#[inline(never)]
fn unknown_clock(snapshot: &mut SystemTimeSnapshot) {
    snapshot.validity = SnapshotValidity::UnknownClock;
}
