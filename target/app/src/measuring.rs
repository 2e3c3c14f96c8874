//! The measurements that a board makes by itself: which one runs, and what it has to say.

use ppsrig_wire::{AckOutcome, CORES, Capabilities, CtimePlan, FromBoard, JumpsPlan, PathPlan};

use crate::path::{self, PairSource, PathMemory, PathRun};

/// What the firmware is to work at, between two passes of its idle loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Measure a chunk of this path: [`Controller::measure_path`](crate::Controller::measure_path), with interrupts
    /// masked.
    Path(PathPlan),
    /// Run this to its end, then [`Controller::work_done`](crate::Controller::work_done).
    Ctime(CtimePlan),
    /// The same.
    Jumps(JumpsPlan),
}

/// A measurement that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Path(PathPlan),
    Ctime(CtimePlan),
    Jumps(JumpsPlan),
}

/// How far what runs to its end in one go is.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is never copied")]
enum WholeRun {
    Idle,
    Due(Work),
    Done(FromBoard),
}

/// The board's measurements, one at a time.
#[derive(Debug)]
pub struct Measuring<'a> {
    path: PathRun<'a>,
    whole: WholeRun,
    /// Cores that can work.
    cores: u8,
    /// The latest one, for a host that asks again.
    latest: Option<Plan>,
}

impl<'a> Measuring<'a> {
    /// None runs. `memory` is what paths are counted in, `cores` how many the board has.
    #[must_use]
    pub const fn new(memory: &'a mut PathMemory, cores: u8) -> Self {
        Self { path: PathRun::new(memory), whole: WholeRun::Idle, cores, latest: None }
    }

    /// Whether one runs, its messages included.
    pub(crate) fn running(&self) -> bool {
        self.path.running() || !matches!(self.whole, WholeRun::Idle)
    }

    /// Begins a measurement unless it is the latest one already; `idle` says that nothing else goes on.
    pub(crate) fn start(&mut self, plan: Plan, capabilities: Capabilities, idle: bool) -> AckOutcome {
        if self.latest == Some(plan) && (self.running() || idle) {
            return AckOutcome::Done;
        }
        if self.running() || !idle {
            return AckOutcome::WrongWindow;
        }
        let needed = match plan {
            Plan::Path(_) => Capabilities::PATH,
            Plan::Ctime(_) | Plan::Jumps(_) => Capabilities::CTIME,
        };
        if !capabilities.has(needed) || !self.feasible(&plan) {
            return AckOutcome::Unsupported;
        }
        match plan {
            Plan::Path(plan) => self.path.start(plan),
            Plan::Ctime(plan) => self.whole = WholeRun::Due(Work::Ctime(plan)),
            Plan::Jumps(plan) => self.whole = WholeRun::Due(Work::Jumps(plan)),
        }
        self.latest = Some(plan);
        AckOutcome::Done
    }

    fn feasible(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Path(plan) => path::feasible(plan),
            Plan::Ctime(plan) => self.has(plan.cores) && plan.operations >= u64::from(plan.cores),
            Plan::Jumps(plan) => self.has(plan.cores),
        }
    }

    fn has(&self, cores: u8) -> bool {
        cores >= 1 && cores <= self.cores && usize::from(cores) <= CORES
    }

    pub(crate) fn work(&self) -> Option<Work> {
        match self.whole {
            WholeRun::Due(work) => Some(work),
            WholeRun::Idle | WholeRun::Done(_) => self.path.due().map(Work::Path),
        }
    }

    pub(crate) fn measure_path(&mut self, source: &mut impl PairSource) {
        self.path.measure(source);
    }

    pub(crate) fn work_done(&mut self, done: FromBoard) {
        if matches!(self.whole, WholeRun::Due(_)) {
            self.whole = WholeRun::Done(done);
        }
    }

    /// The next message, taken out.
    pub(crate) fn message(&mut self) -> Option<FromBoard> {
        match core::mem::replace(&mut self.whole, WholeRun::Idle) {
            WholeRun::Done(done) => Some(done),
            other => {
                self.whole = other;
                self.path.message()
            }
        }
    }
}
