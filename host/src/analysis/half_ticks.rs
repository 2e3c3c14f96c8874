//! Where the counter stood at a capture and at its echo, in half ticks: the middle between two readings is a whole number
//! of them. A reading stands for the start of its tick.

use ppsrig_wire::{Capture, CaptureCounters};

/// The counter of a capture, in half ticks.
pub trait HalfTicks {
    /// The counter at the edge as captured: a polled edge stands in the middle of what its two readings hold.
    fn half_ticks(&self) -> i128;

    /// Half the width of what the readings hold, in half ticks; 0 for an interrupt capture, which is a reading.
    fn half_width_half_ticks(&self) -> i128;

    /// The counter when the echo pin was raised: the middle of what its two readings hold, and half the width of that,
    /// both in half ticks. None where the board raised no echo.
    fn echo_half_ticks(&self) -> Option<(i128, i128)>;
}

impl HalfTicks for Capture {
    fn half_ticks(&self) -> i128 {
        match self.counters {
            CaptureCounters::Irq { capture } => 2 * i128::from(capture),
            CaptureCounters::Poll { before, after } => i128::from(before) + i128::from(after) + 1,
        }
    }

    fn half_width_half_ticks(&self) -> i128 {
        match self.counters {
            CaptureCounters::Irq { .. } => 0,
            CaptureCounters::Poll { before, after } => (i128::from(after) - i128::from(before) + 1).max(0),
        }
    }

    fn echo_half_ticks(&self) -> Option<(i128, i128)> {
        let (before, after) = self.echo?;
        let (before, after) = (i128::from(before), i128::from(after));
        Some((before + after + 1, (after - before + 1).max(0)))
    }
}
