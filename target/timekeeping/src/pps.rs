//! PPS by polling: counters only while the pin is watched, time afterwards.
//!
//! Around each reading of the pin the poller takes the raw counter, nothing else: an edge lies between two counter
//! values. [`Timekeeper::pps_poll_begin`] before the loop keeps what the clocks were based on then;
//! [`Timekeeper::pps_poll_convert`] afterwards turns a counter value from the loop into time. In between the clock may
//! have been set, or the clocksource exchanged: a counter value from before a clock set is converted as it would have
//! been at that moment, one from after it by the new time, and what cannot be told apart is refused.
//!
//! Models what polling PPS clients build of `ktime_get_snapshot_id()`, and of the history that
//! `get_device_system_crosststamp()` keeps: `cs_was_changed_seq` and `clock_was_set_seq` say whether it still holds.

use core::fmt;

use crate::{
    Arch, ClockId, ClocksourceCell, Ktime, SnapshotValidity, Timekeeper, read_base::TkReadBase,
    seqcount::Sequence, sync::Ordering, timekeeper::TkData,
};

/// What the clocks were based on when polling began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PpsPoll {
    clock_id: ClockId,
    base: Base,
    /// The counter value at the beginning.
    cycles: u64,
}

impl PpsPoll {
    /// The counter value at the beginning, in cycles of the clocksource.
    #[must_use]
    pub const fn cycles(&self) -> u64 {
        self.cycles
    }
}

/// One read section's view of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Base {
    mono: TkReadBase,
    raw: TkReadBase,
    offset: Ktime,
    clock_was_set_seq: u32,
    cs_was_changed_seq: u32,
    set_cycles: u64,
    held_cycles: u64,
    now: u64,
}

/// The time of one counter value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PpsTime {
    /// Of the named clock, in nanoseconds.
    pub systime: Ktime,
    /// Of `CLOCK_MONOTONIC_RAW`, in nanoseconds; of an auxiliary clock its own raw time.
    pub monoraw: Ktime,
}

/// Why a counter value has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PpsError {
    /// The clock cannot be read now: suspended, not running, or unknown.
    Invalid(SnapshotValidity),
    /// The clocksource was exchanged since polling began: its cycles mean nothing to the new one.
    ClocksourceChanged,
    /// The clock was set more than once since polling began, and the counter value is from before the last time.
    ClockWasSet,
    /// The counter value is from before the beginning, later than now, or from a suspend; or more than half the
    /// counter's range is over since the beginning.
    OutOfInterval,
}

impl fmt::Display for PpsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(formatter, "the clock cannot be read: {why:?}"),
            Self::ClocksourceChanged => formatter.write_str("the clocksource was exchanged while polling"),
            Self::ClockWasSet => formatter.write_str("the clock was set several times while polling"),
            Self::OutOfInterval => formatter.write_str("the counter value was not taken while polling"),
        }
    }
}

impl core::error::Error for PpsError {}

impl<A: Arch> Timekeeper<A> {
    /// Before polling: keeps what the named clock is based on.
    ///
    /// # Errors
    /// The clock cannot be read.
    pub fn pps_poll_begin(&self, clock_id: ClockId) -> Result<PpsPoll, PpsError> {
        let base = self.base(clock_id)?;
        Ok(PpsPoll { clock_id, base, cycles: base.now })
    }

    /// After polling: the time at a counter value of the clocksource that was taken since `poll` began.
    ///
    /// # Errors
    /// The clock cannot be read, the clocksource was exchanged, the clock set too often, or the counter value is not
    /// from the time since.
    pub fn pps_poll_convert(&self, poll: &PpsPoll, cycles: u64) -> Result<PpsTime, PpsError> {
        let now = self.base(poll.clock_id)?;
        if now.cs_was_changed_seq != poll.base.cs_was_changed_seq {
            return Err(PpsError::ClocksourceChanged);
        }
        let since = |from: u64, to: u64| to.wrapping_sub(from) & now.mono.mask;
        let elapsed = since(poll.cycles, now.now);
        let at = since(poll.cycles, cycles);
        if at > elapsed || elapsed > now.mono.mask >> 1 {
            return Err(PpsError::OutOfInterval);
        }
        let base = match now.clock_was_set_seq.wrapping_sub(poll.base.clock_was_set_seq) {
            0 => &now,
            _ if at >= since(poll.cycles, now.set_cycles) => &now,
            1 if at <= since(poll.cycles, now.held_cycles) => &poll.base,
            1 => return Err(PpsError::OutOfInterval),
            _ => return Err(PpsError::ClockWasSet),
        };
        Ok(base.at(poll.clock_id, cycles))
    }

    /// The clock's base and the counter now.
    fn base(&self, clock_id: ClockId) -> Result<Base, PpsError> {
        let tkd = self.tk_data(clock_id).ok_or(PpsError::Invalid(SnapshotValidity::UnknownClock))?;
        tkd.read(|seq| {
            if let Some(why) = unreadable(seq) {
                return Err(PpsError::Invalid(why));
            }
            Ok(self.view(clock_id, tkd))
        })
    }

    /// Within a read section.
    fn view(&self, clock_id: ClockId, tkd: &TkData<A>) -> Base {
        let clock = tkd.clock.load();
        let (mono, raw) = (tkd.tkr_mono.load(), tkd.tkr_raw.load());
        Base {
            mono,
            raw,
            offset: self.dispatch(clock_id).1,
            clock_was_set_seq: tkd.clock_was_set_seq.load(Ordering::Relaxed),
            cs_was_changed_seq: tkd.cs_was_changed_seq.load(Ordering::Relaxed),
            set_cycles: tkd.set_cycles.load(Ordering::Relaxed),
            held_cycles: tkd.held_cycles.load(Ordering::Relaxed),
            now: (clock.read)(clock) & mono.mask,
        }
    }
}

impl Base {
    fn at(&self, clock_id: ClockId, cycles: u64) -> PpsTime {
        let monoraw = self.raw.at_or_before(cycles);
        let systime = if clock_id == ClockId::MONOTONIC_RAW {
            monoraw
        } else {
            self.mono.at_or_before(cycles).wrapping_add(self.offset)
        };
        PpsTime { systime, monoraw }
    }
}

const fn unreadable(seq: Sequence) -> Option<SnapshotValidity> {
    if seq.suspended() {
        Some(SnapshotValidity::Suspended)
    } else if seq.clock_valid() {
        None
    } else {
        Some(SnapshotValidity::ClockInvalid)
    }
}
