//! The few edges that `ppsrig check` fires: one train whose leading transitions are captured, as the preamble of a run, and
//! one whose trailing ones are. What they mean is found by reading the recording, as with a run.

use ppsrig_wire::{CapturePlan, EdgeDirection, EdgeMode};

use super::{OnStep, Rig, SessionError};
use crate::bench_file::EdgeName;
use crate::events::{Burst, RigEvent};
use crate::plan::{PREAMBLE_PERIOD_NS, Plan};
use crate::rig::generator::PulseTrain;
use crate::rig::link::check_identity;

/// The window of the leading transitions, which is recorded as a preamble is.
pub const LEADING: u32 = 1;
/// The window of the trailing ones. Nothing is recorded of it but what the board says.
pub const TRAILING: u32 = 2;

impl Rig {
    /// Fires both trains; the generator is safe afterwards, however it ended. `usual_width_ns` is the width that a run would
    /// have: that it can be set is proved first. `trailing`: edges of the second train; 0: there is none.
    ///
    /// # Errors
    /// What ended it early. What happened up to then is recorded.
    pub fn preflight(
        &mut self,
        plan: &Plan,
        usual_width_ns: u64,
        trailing: u32,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        let result = self.both_transitions(plan, usual_width_ns, trailing, step);
        self.end_safely(result)
    }

    fn both_transitions(
        &mut self,
        plan: &Plan,
        usual_width_ns: u64,
        trailing: u32,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        self.log.did(&RigEvent::SessionStarted { session: 1, seed: plan.seed });
        self.load(step)?;
        let identity = self.link.identify(&self.watch)?;
        check_identity(&identity, self.needs)?;
        let train = PulseTrain {
            cycles: plan.preamble_edges,
            period_ns: PREAMBLE_PERIOD_NS,
            width_ns: plan.width_ns,
            edge: self.edge,
        };
        self.generator.prepare(&PulseTrain { width_ns: usual_width_ns, ..train })?;
        self.burst(plan, (LEADING, Burst::Preamble, 1), &train, step)?;
        if trailing > 0 {
            self.trailing(plan, &PulseTrain { cycles: trailing, ..train }, step)?;
        }
        Ok(())
    }

    fn trailing(&mut self, plan: &Plan, train: &PulseTrain, step: OnStep<'_>) -> Result<(), SessionError> {
        self.generator.prepare(train)?;
        let direction = match train.edge {
            EdgeName::Rising => EdgeDirection::Falling,
            EdgeName::Falling => EdgeDirection::Rising,
        };
        let capture =
            CapturePlan { window: TRAILING, mode: EdgeMode::Irq, direction, clock_id: plan.clock_id };
        self.link.start_capture(capture, &self.watch)?;
        let armed = self.generator.arm().map_err(SessionError::from);
        let fired = armed.and_then(|()| self.await_train(TRAILING, Burst::Edges, train, step));
        if fired.is_err() {
            let _told_later = self.generator.make_safe();
        }
        let closed = self.link.stop_capture(TRAILING, &self.watch, &mut |_| {});
        fired?;
        closed?;
        Ok(())
    }
}
