//! The capturing side: numbers a capture and puts its record into the ring.

use ppsrig_timekeeping as timekeeping;
use ppsrig_wire::{Capture, CaptureCounters, CapturePlan, ClockId, Snapshot};

use crate::{CaptureWriter, Turn};

/// What was taken at an edge, by interrupt or by poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The counter values that hold the edge.
    pub counters: CaptureCounters,
    /// The snapshot taken with it, if any.
    pub snapshot: Option<Snapshot>,
    /// Counter before and after the echo pin was raised, if there is one.
    pub echo: Option<(u64, u64)>,
}

/// Turns edges into numbered records while a window is open.
pub struct Capturer<'a> {
    writer: CaptureWriter<'a>,
    plan: Option<CapturePlan>,
}

impl<'a> Capturer<'a> {
    /// One without an open window.
    #[must_use]
    pub const fn new(writer: CaptureWriter<'a>) -> Self {
        Self { writer, plan: None }
    }

    /// Opens a window: captures are numbered from 0.
    pub fn open(&mut self, plan: CapturePlan) {
        self.writer.restart();
        self.plan = Some(plan);
    }

    /// Closes the window: what comes later is nobody's.
    pub fn close(&mut self) {
        self.plan = None;
    }

    /// The open window's plan.
    #[must_use]
    pub const fn plan(&self) -> Option<CapturePlan> {
        self.plan
    }

    /// Who captures the next edge; none without a window.
    #[must_use]
    pub fn turn(&self) -> Option<Turn> {
        self.plan.map(|plan| Turn::after(plan.mode, self.writer.captured()))
    }

    /// Records one edge and says who captures the next; none without a window.
    pub fn capture(&mut self, edge: Edge) -> Option<Turn> {
        let window = self.plan?.window;
        let number = self.writer.captured();
        let Edge { counters, snapshot, echo } = edge;
        self.writer.put(Capture { window, number, counters, snapshot, echo });
        self.turn()
    }
}

/// The timekeeper's clock for a clock id of the wire.
#[must_use]
pub const fn clock_id(id: ClockId) -> timekeeping::ClockId {
    match id {
        ClockId::Realtime => timekeeping::ClockId::REALTIME,
        ClockId::Monotonic => timekeeping::ClockId::MONOTONIC,
        ClockId::MonotonicRaw => timekeeping::ClockId::MONOTONIC_RAW,
        ClockId::Boottime => timekeeping::ClockId::BOOTTIME,
    }
}
