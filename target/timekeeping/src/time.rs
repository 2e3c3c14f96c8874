//! Names of clocks, and the two forms of a time.

use crate::NSEC_PER_SEC;

/// Nanoseconds, signed; the kernel's `ktime_t`.
pub type Ktime = i64;

/// A clock's number; the kernel's `clockid_t`. Any number can be asked for, most are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ClockId(pub i32);

impl ClockId {
    /// `CLOCK_REALTIME`: wall time, which can be set.
    pub const REALTIME: Self = Self(0);
    /// `CLOCK_MONOTONIC`: since boot without the time in suspend, never set.
    pub const MONOTONIC: Self = Self(1);
    /// `CLOCK_MONOTONIC_RAW`: as `MONOTONIC`, never disciplined.
    pub const MONOTONIC_RAW: Self = Self(4);
    /// `CLOCK_BOOTTIME`: `MONOTONIC` and the time spent in suspend.
    pub const BOOTTIME: Self = Self(7);
    /// `CLOCK_AUX`: the first of the auxiliary clocks.
    pub const AUX: Self = Self(16);
    /// `CLOCK_AUX_LAST`.
    pub const AUX_LAST: Self = Self(23);
    /// `MAX_AUX_CLOCKS`.
    pub const AUX_CLOCKS: usize = 8;

    /// Which auxiliary clock this is, from 0; none for others. Models `clockid_to_tkid()`.
    #[must_use]
    pub const fn aux_index(self) -> Option<usize> {
        let index = self.0.wrapping_sub(Self::AUX.0);
        if index >= 0 && index < Self::AUX_CLOCKS as i32 { Some(index as usize) } else { None }
    }
}

/// Seconds and nanoseconds; models `struct timespec64` in its normal form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timespec64 {
    /// Whole seconds, rounded towards minus infinity.
    pub tv_sec: i64,
    /// Nanoseconds beyond them, 0 to 999,999,999.
    pub tv_nsec: u32,
}

impl Timespec64 {
    /// Models `ktime_to_timespec64()`.
    #[must_use]
    pub const fn from_ktime(nanoseconds: Ktime) -> Self {
        let second = NSEC_PER_SEC as i64;
        Self { tv_sec: nanoseconds.div_euclid(second), tv_nsec: nanoseconds.rem_euclid(second) as u32 }
    }

    /// In nanoseconds; models `timespec64_to_ktime()`. Wraps beyond 292 years from 0, which [`Timespec64::valid`]
    /// excludes.
    #[must_use]
    pub const fn to_ktime(self) -> Ktime {
        self.tv_sec.wrapping_mul(NSEC_PER_SEC as i64).wrapping_add(self.tv_nsec as i64)
    }

    /// In normal form, not negative, and such that 30 years more still fit; models `timespec64_valid_settod()`.
    #[must_use]
    pub const fn valid(self) -> bool {
        const TIME_SETTOD_SEC_MAX: i64 = i64::MAX / NSEC_PER_SEC as i64 - 30 * 365 * 24 * 3600;
        self.tv_sec >= 0 && self.tv_sec < TIME_SETTOD_SEC_MAX && self.tv_nsec < NSEC_PER_SEC
    }
}
