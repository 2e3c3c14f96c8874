//! The machine's part of the path measurement.

use ppsrig_app::{
    clock_id,
    path::{PairSource, Reading},
};
use ppsrig_timekeeping::ClockId;
use ppsrig_wire::PathPlan;

use crate::arch::{
    dither,
    pair::{self, Caller, Clocks},
    pmu,
};

/// Takes the pairs of one plan.
pub(crate) struct Pairs {
    clocks: &'static Clocks,
    caller: Caller,
    clock_id: ClockId,
    added_delay: u32,
}

impl Pairs {
    /// The pairs of this plan, on these clocks.
    pub(crate) fn new(plan: &PathPlan, clocks: &'static Clocks) -> Self {
        let caller = pair::caller(plan.variant, plan.added_delay > 0);
        Self { clocks, caller, clock_id: clock_id(plan.clock_id), added_delay: plan.added_delay }
    }
}

impl PairSource for Pairs {
    #[inline]
    fn pair(&mut self, delay: u32) -> Reading {
        let mut reading = Reading::default();
        dither::wait(delay);
        (self.caller)(self.clocks, self.clock_id, self.added_delay, &mut reading);
        reading
    }

    fn instructions(&self) -> Option<u32> {
        pmu::instructions()
    }

    fn dither_cycles(&mut self, steps: u32) -> u32 {
        dither::cycles_of(steps.saturating_sub(1))
    }
}
