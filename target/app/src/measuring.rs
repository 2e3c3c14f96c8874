//! The measurements that a board makes by itself: which one runs, and what it has to say.

use ppsrig_wire::{AckOutcome, CORES, Capabilities, CtimeDone, CtimePlan, FromBoard, PathPlan};

use crate::path::{self, PairSource, PathMemory, PathRun};

/// What the firmware is to work at, between two passes of its idle loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Measure a chunk of this path: [`Controller::measure_path`](crate::Controller::measure_path), with interrupts masked.
    Path(PathPlan),
    /// Run this to its end, then [`Controller::ctime_done`](crate::Controller::ctime_done).
    Ctime(CtimePlan),
}

/// A measurement that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    Path(PathPlan),
    Ctime(CtimePlan),
}

/// How far the latest `ctime` run is.
#[derive(Debug)]
enum Ctime {
    Idle,
    Due(CtimePlan),
    Done(CtimeDone),
}

/// The board's measurements, one at a time.
#[derive(Debug)]
pub struct Measuring<'a> {
    path: PathRun<'a>,
    ctime: Ctime,
    /// Cores that can work.
    cores: u8,
    /// The latest one, for a host that asks again.
    latest: Option<Plan>,
}

impl<'a> Measuring<'a> {
    /// None runs. `memory` is what paths are counted in, `cores` how many the board has.
    #[must_use]
    pub const fn new(memory: &'a mut PathMemory, cores: u8) -> Self {
        Self { path: PathRun::new(memory), ctime: Ctime::Idle, cores, latest: None }
    }

    /// Whether one runs, its messages included.
    pub(crate) fn running(&self) -> bool {
        self.path.running() || !matches!(self.ctime, Ctime::Idle)
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
            Plan::Ctime(_) => Capabilities::CTIME,
        };
        if !capabilities.has(needed) || !self.feasible(&plan) {
            return AckOutcome::Unsupported;
        }
        match plan {
            Plan::Path(plan) => self.path.start(plan),
            Plan::Ctime(plan) => self.ctime = Ctime::Due(plan),
        }
        self.latest = Some(plan);
        AckOutcome::Done
    }

    fn feasible(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Path(plan) => path::feasible(plan),
            Plan::Ctime(plan) => {
                let cores = plan.cores;
                cores >= 1
                    && cores <= self.cores
                    && usize::from(cores) <= CORES
                    && plan.operations >= u64::from(cores)
            }
        }
    }

    pub(crate) fn work(&self) -> Option<Work> {
        match self.ctime {
            Ctime::Due(plan) => Some(Work::Ctime(plan)),
            Ctime::Idle | Ctime::Done(_) => self.path.due().map(Work::Path),
        }
    }

    pub(crate) fn measure_path(&mut self, source: &mut impl PairSource) {
        self.path.measure(source);
    }

    pub(crate) fn ctime_done(&mut self, done: CtimeDone) {
        if matches!(self.ctime, Ctime::Due(_)) {
            self.ctime = Ctime::Done(done);
        }
    }

    /// The next message, taken out.
    pub(crate) fn message(&mut self) -> Option<FromBoard> {
        match core::mem::replace(&mut self.ctime, Ctime::Idle) {
            Ctime::Done(done) => Some(FromBoard::CtimeDone(done)),
            other => {
                self.ctime = other;
                self.path.message()
            }
        }
    }
}
