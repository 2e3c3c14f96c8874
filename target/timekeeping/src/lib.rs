//! The part of the kernel's timekeeping that a board captures with, under the kernel's names.
//!
//! Modelled on `kernel/time/clocksource.c` and `kernel/time/timekeeping.c`: a [`Clocksource`] whose counter is turned
//! into nanoseconds by `mult` and `shift`, and a [`Timekeeper`] whose [`Timekeeper::ktime_get_snapshot_id`] gives the
//! time of a named clock, raw time and the counter value of one single counter read. Each item's documentation names
//! the kernel function or structure that it models.
//!
//! There is no clock discipline here (no NTP multiplier), so that the time of a snapshot is an exact function of its
//! counter value.
#![no_std]

mod clocksource;
mod timekeeper;

pub use clocksource::{Clocksource, clocks_calc_mult_shift};
pub use timekeeper::{ClockId, SystemTimeSnapshot, Timekeeper};

/// Nanoseconds in a second; the kernel's `NSEC_PER_SEC`.
pub const NSEC_PER_SEC: u32 = 1_000_000_000;
