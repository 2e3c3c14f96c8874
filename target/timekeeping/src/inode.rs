//! The change time of an inode, with the flag that somebody has looked at it.

use crate::{
    Timespec64,
    sync::{AtomicU64, Ordering},
};

/// Somebody has looked at the stamp since it was set; the kernel's `I_CTIME_QUERIED`, at another place.
const QUERIED: u64 = 1;
/// Bits of the nanoseconds.
const NSEC_BITS: u32 = 30;

/// The part of `struct inode` that is stamped: `i_ctime_sec` and `i_ctime_nsec`.
///
/// The kernel has two words and exchanges the nanoseconds alone, under the inode's lock for writers; somebody who looks
/// without it can see the seconds of one stamp with the nanoseconds of another. Here they share one word of 64 bits: 33
/// of seconds (until 2106), 30 of nanoseconds, and the flag.
#[derive(Debug)]
pub struct Inode(AtomicU64);

/// A change time as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ctime {
    /// The stamp.
    pub time: Timespec64,
    /// Somebody has looked at it.
    pub queried: bool,
}

impl Ctime {
    fn from_word(word: u64) -> Self {
        let tv_sec = (word as i64) >> (NSEC_BITS + 1);
        let tv_nsec = ((word >> 1) & ((1 << NSEC_BITS) - 1)) as u32;
        Self { time: Timespec64 { tv_sec, tv_nsec }, queried: word & QUERIED != 0 }
    }

    fn to_word(self) -> u64 {
        let Timespec64 { tv_sec, tv_nsec } = self.time;
        ((tv_sec as u64) << (NSEC_BITS + 1)) | (u64::from(tv_nsec) << 1) | u64::from(self.queried)
    }
}

impl Inode {
    /// Stamped with `time`, which nobody has looked at. Seconds from -2^32 to 2^32-1.
    #[must_use]
    pub fn new(time: Timespec64) -> Self {
        Self(AtomicU64::new(Ctime { time, queried: false }.to_word()))
    }

    /// The stamp, without counting as a look; models the `smp_load_acquire()` of `i_ctime_nsec` and, of its time,
    /// `inode_get_ctime()`.
    #[inline]
    #[must_use]
    pub fn ctime(&self) -> Ctime {
        Ctime::from_word(self.0.load(Ordering::Acquire))
    }

    /// Looks at the stamp, as `stat()` does: the next change must show a later one; models `fill_mg_cmtime()`.
    #[inline]
    pub fn fill_mg_cmtime(&self) -> Timespec64 {
        let word = self.0.load(Ordering::Acquire);
        if word & QUERIED != 0 {
            return Ctime::from_word(word).time;
        }
        Ctime::from_word(self.0.fetch_or(QUERIED, Ordering::AcqRel)).time
    }

    /// Puts `now` in the place of the stamp as it was found, and returns the stamp that then stands; models the
    /// `try_cmpxchg()` of `inode_set_ctime_current()`.
    ///
    /// If the same stamp was only looked at meanwhile, once more; if another core stamped, its stamp stands.
    #[inline]
    pub(crate) fn exchange_ctime(&self, found: Ctime, now: Timespec64) -> Timespec64 {
        let new = Ctime { time: now, queried: false }.to_word();
        let mut old = found.to_word();
        if new == old {
            return now;
        }
        loop {
            match self.0.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return now,
                Err(other) if other == old | QUERIED && old & QUERIED == 0 => old = other,
                Err(other) => return Ctime::from_word(other).time,
            }
        }
    }
}
