//! Units as types. Times are integers; f64 appears in `analysis` only, on differences.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
pub const PS_PER_S: i128 = 1_000_000_000_000;
/// Nanoseconds in a second.
pub const NS_PER_S: i64 = 1_000_000_000;

/// The day, year-month-day, up to which the table of leap seconds in `formats::utc` is known to be complete.
pub const LEAP_TABLE_END: &str = "2026-12-28";

/// A reading of the board's counter, in ticks. Readings never wrap in practice (64 bits), so a smaller later one is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Signed distance `self - earlier`, in ticks.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i128 {
        self.0 as i128 - earlier.0 as i128
    }
}

/// A frequency in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hertz(pub u64);

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

/// A time on the GPS time scale in nanoseconds since 1980-01-06T00:00:00, or a difference of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// The start of a whole GPS second.
    #[must_use]
    pub const fn at(second: GpsSecond) -> Self {
        Self(second.0 * NS_PER_S)
    }

    /// The GPS second that this lies in.
    #[must_use]
    pub const fn second(self) -> GpsSecond {
        GpsSecond(self.0.div_euclid(NS_PER_S))
    }

    /// Sum with a difference; saturates, which only a corrupted recording can reach.
    #[must_use]
    pub const fn plus(self, other: i64) -> Self {
        Self(self.0.saturating_add(other))
    }
}

/// A time or a difference in picoseconds. i128 holds the GPS time scale in picoseconds with room to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Picos(pub i128);

impl Picos {
    /// The same time, given in nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: Nanos) -> Self {
        Self(nanos.0 as i128 * 1000)
    }
}

/// A whole second on the GPS time scale: seconds since 1980-01-06T00:00:00 GPST, which is TAI - 19 s and knows no leap second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GpsSecond(pub i64);

impl GpsSecond {
    /// The second `count` seconds later; saturates.
    #[must_use]
    pub const fn plus(self, count: i64) -> Self {
        Self(self.0.saturating_add(count))
    }
}

/// Host arrival time: nanoseconds of the host's monotonic clock since the recording began.
///
/// It may choose a whole second and order events; it never measures anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostNanos(pub u64);

impl HostNanos {
    /// Seconds from `earlier` to `self`, for thresholds of tenths of a second and more.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.0 as f64 - earlier.0 as f64) / NS_PER_S as f64
    }
}
