//! The sequence counter: readers take no lock and read again when a writer came in between.
//!
//! Models `seqcount_raw_spinlock_t` with `read_seqcount_begin()`, `read_seqcount_retry()`, `write_seqcount_begin()` and
//! `write_seqcount_end()`. There is one writer by construction (`&mut Timekeeping`), so the spinlock is not needed and
//! no step is a read-modify-write.
//!
//! What is guarded are relaxed atomics. The writer's odd value is ordered before its data by a release fence, its last
//! value after them by a release store; the reader's acquire load comes before its data, and its acquire fence before
//! it looks at the counter again.
//!
//! The word carries two states beside the writer's bit. Both change in a write section only, so the load that every
//! reader does anyway tells of all three, and one test of one bit does the work of three loads and tests.

use crate::sync::{AtomicU32, Ordering, fence, spin_loop};

/// Not to be read now, for one of the reasons in the bits that follow: one bit to test, and the kernel's odd sequence.
const NOT_READY: u32 = 1;
/// A writer is inside.
const WRITING: u32 = 2;
/// The kernel's `timekeeping_suspended`.
pub(crate) const SUSPENDED: u32 = 4;
/// The opposite of the kernel's `timekeeper::clock_valid`.
pub(crate) const INVALID: u32 = 8;
/// All of them.
const STATES: u32 = NOT_READY | WRITING | SUSPENDED | INVALID;
/// What a write adds.
const STEP: u32 = 16;

/// A sequence word as a reader found it, without a writer inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence(u32);

impl Sequence {
    /// Timekeeping is suspended.
    pub(crate) const fn suspended(self) -> bool {
        self.0 & SUSPENDED != 0
    }

    /// The clock has been started, and not been stopped since.
    pub(crate) const fn clock_valid(self) -> bool {
        self.0 & INVALID == 0
    }
}

/// The counter.
#[derive(Debug)]
pub(crate) struct SeqCount(AtomicU32);

impl SeqCount {
    /// At its first value, in the given states.
    pub(crate) fn new(states: u32) -> Self {
        Self(AtomicU32::new(with_ready(states)))
    }

    /// The word if no writer is inside and the clock runs: one load, one test.
    #[inline(always)]
    pub(crate) fn read_begin_ready(&self) -> Option<Sequence> {
        let word = self.0.load(Ordering::Acquire);
        if word & NOT_READY == 0 { Some(Sequence(word)) } else { None }
    }

    /// Waits until no writer is inside; models `read_seqcount_begin()`.
    #[inline]
    pub(crate) fn read_begin(&self) -> Sequence {
        loop {
            let word = self.0.load(Ordering::Acquire);
            if word & WRITING == 0 {
                return Sequence(word);
            }
            spin_loop();
        }
    }

    /// What was read since `begin` may be mixed; models `read_seqcount_retry()`.
    #[inline(always)]
    pub(crate) fn read_retry(&self, begin: Sequence) -> bool {
        fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed) != begin.0
    }

    /// Lets no reader end from here on, until the [`SeqCount::write`] that has to follow: the first half of a write
    /// section, for a writer that reads the counter within it. The caller is the only writer.
    ///
    /// The counter is no memory, so a fence alone does not hold its reading back. The load behind it does: it ends when
    /// the store before it is visible, and the counter's read, with an ISB of its own, cannot pass the branch.
    pub(crate) fn hold(&self) {
        let word = self.0.load(Ordering::Relaxed);
        self.0.store(word | WRITING | NOT_READY, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.0.load(Ordering::Acquire) & WRITING == 0 {
            spin_loop();
        }
    }

    /// Runs `publish` as a write section that leaves the given states; models `write_seqcount_begin()` and
    /// `write_seqcount_end()`. The caller is the only writer.
    pub(crate) fn write(&self, states: u32, publish: impl FnOnce()) {
        let word = self.0.load(Ordering::Relaxed);
        self.0.store(word | WRITING | NOT_READY, Ordering::Relaxed);
        fence(Ordering::Release);
        publish();
        self.0.store((word & !STATES).wrapping_add(STEP) | with_ready(states), Ordering::Release);
    }
}

/// The states with the bit that stands for any of them.
const fn with_ready(states: u32) -> u32 {
    if states == 0 { 0 } else { states | NOT_READY }
}
