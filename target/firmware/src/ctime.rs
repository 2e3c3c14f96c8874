//! The `ctime` run: the same work on one to four cores, while the first core's timer moves the coarse clock.

use core::sync::atomic::{AtomicU32, Ordering};

use heapless::Vec;
use ppsrig_app::ctime::{self, Shared};
use ppsrig_wire::{CORES, CtimeCore, CtimeDone, CtimePlan};

use crate::{
    arch::{Published, SpinLock, cores, counter, cpu, pair::Clocks, pmu, psci},
    interrupts, report,
};

/// Seconds that a core may take to switch on, and to end its share after the first core ended its own. An emulator's cores
/// wait for their turn on the machine that it runs on.
const PATIENCE_S: u64 = 60;

/// Where secondary cores find their work.
static JOB: Published<Job> = Published::new();

/// The clocks and the inodes that all cores share, and what each is to do.
pub(crate) struct Job {
    clocks: &'static Clocks,
    shared: Shared,
    slots: [SpinLock<Slot>; CORES],
    /// Cores that are ready to begin; they begin together.
    ready: AtomicU32,
}

/// One core's work.
struct Slot {
    order: Option<CtimePlan>,
    result: Option<CtimeCore>,
}

/// What a core counts itself.
struct Machine;

impl ctime::Core for Machine {
    fn instructions(&self) -> Option<u32> {
        pmu::instructions()
    }

    fn counter(&self) -> u64 {
        counter::now()
    }
}

impl Job {
    /// Nothing to do yet.
    pub(crate) fn new(clocks: &'static Clocks) -> Self {
        let slots = [const { SpinLock::new(Slot { order: None, result: None }) }; CORES];
        Self { clocks, shared: Shared::new(), slots, ready: AtomicU32::new(0) }
    }

    /// Runs a plan to its end; for the first core.
    pub(crate) fn run(&'static self, plan: &CtimePlan) -> CtimeDone {
        JOB.publish(self);
        self.shared.restart();
        self.ready.store(0, Ordering::Relaxed);
        interrupts::start_ticks();
        let others = 1..usize::from(plan.cores).min(CORES);
        for core in others.clone() {
            self.slots[core].lock(|slot| *slot = Slot { order: Some(*plan), result: None });
            switch_on(core);
        }
        let mut done = CtimeDone { window: plan.window, cores: Vec::new() };
        let _room = done.cores.push(self.work(plan, 0));
        for core in others {
            let _room = done.cores.push(self.result(core));
        }
        interrupts::stop_ticks();
        done
    }

    /// Waits for all cores, then does one core's share.
    fn work(&self, plan: &CtimePlan, core: usize) -> CtimeCore {
        self.ready.fetch_add(1, Ordering::AcqRel);
        while self.ready.load(Ordering::Acquire) < u32::from(plan.cores) {
            cpu::relax();
        }
        ctime::work(plan, core, self.clocks, &self.shared, &Machine)
    }

    fn result(&self, core: usize) -> CtimeCore {
        let patience = Patience::new();
        loop {
            if let Some(result) = self.slots[core].lock(|slot| slot.result.take()) {
                return result;
            }
            patience.check(core, "does not end its share");
        }
    }
}

/// Entered by a secondary core: it does what it finds to do, and switches itself off.
pub(crate) fn secondary(core: usize) -> ! {
    pmu::start();
    if let (Some(job), true) = (JOB.get(), core < CORES)
        && let Some(plan) = job.slots[core].lock(|slot| slot.order.take())
    {
        let result = job.work(&plan, core);
        job.slots[core].lock(|slot| slot.result = Some(result));
    }
    psci::cpu_off()
}

/// A core that ended a share before may still be on its way off.
fn switch_on(core: usize) {
    let patience = Patience::new();
    loop {
        match cores::start(core) {
            psci::Outcome::Done => return,
            psci::Outcome::Busy => patience.check(core, "does not switch off"),
            psci::Outcome::Refused => {
                report::report_and_stop(format_args!("core {core} cannot be switched on"))
            }
        }
    }
}

/// The end of waiting for a core.
struct Patience(u64);

impl Patience {
    fn new() -> Self {
        Self(counter::now().saturating_add(PATIENCE_S * counter::declared_hz()))
    }

    /// Ends the run, and says what was waited for, when it took too long.
    fn check(&self, core: usize, what: &str) {
        if counter::now() > self.0 {
            report::report_and_stop(format_args!("core {core} {what}"));
        }
        cpu::relax();
    }
}
