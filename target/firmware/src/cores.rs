//! Work of one to four cores: the `ctime` run, while the first core's timer moves the coarse clock, and the `jumps`
//! trial, while the first core changes the clocks.

use core::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

use heapless::Vec;
use ppsrig_app::{
    ctime,
    jumps::{self, Clocksources},
};
use ppsrig_wire::{CORES, CtimeCore, CtimeDone, CtimePlan, JumpsCore, JumpsDone, JumpsPlan};

use crate::{
    arch::{Published, SpinLock, cores, counter, cpu, pair::Clocks, pmu, psci},
    interrupts, report,
};

/// Seconds that a core may take to switch on, and to end its share after the first core ended its own. An emulator's
/// cores wait for their turn on the machine that it runs on.
const PATIENCE_S: u64 = 60;

/// Where secondary cores find their work.
static JOB: Published<Job> = Published::new();

/// The clocks and the inodes that all cores share, and what each is to do.
pub(crate) struct Job {
    clocks: &'static Clocks,
    sources: Clocksources,
    stamps: ctime::Shared,
    jumps: jumps::Shared,
    slots: [SpinLock<Slot>; CORES],
    /// Cores that are ready to begin; they begin together.
    ready: AtomicU32,
}

/// One core's work.
struct Slot {
    order: Option<Order>,
    result: Option<Counted>,
}

/// What a core is to do.
#[derive(Clone, Copy)]
enum Order {
    Ctime(CtimePlan),
    Jumps(JumpsPlan),
}

impl Order {
    fn cores(&self) -> u8 {
        match self {
            Self::Ctime(plan) => plan.cores,
            Self::Jumps(plan) => plan.cores,
        }
    }
}

/// What it did.
enum Counted {
    Ctime(CtimeCore),
    Jumps(JumpsCore),
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
    pub(crate) fn new(clocks: &'static Clocks, sources: Clocksources) -> Self {
        let slots = [const { SpinLock::new(Slot { order: None, result: None }) }; CORES];
        let (stamps, jumps) = (ctime::Shared::new(), jumps::Shared::new());
        Self { clocks, sources, stamps, jumps, slots, ready: AtomicU32::new(0) }
    }

    /// Runs a plan to its end; for the first core.
    pub(crate) fn run_ctime(&'static self, plan: &CtimePlan) -> CtimeDone {
        self.stamps.restart();
        interrupts::start_ticks();
        let others = self.start_others(Order::Ctime(*plan));
        let mut done = CtimeDone { window: plan.window, cores: Vec::new() };
        self.wait_for_all(plan.cores);
        let _room = done.cores.push(ctime::work(plan, 0, self.clocks, &self.stamps, &Machine));
        for core in others {
            if let Counted::Ctime(counted) = self.result(core) {
                let _room = done.cores.push(counted);
            }
        }
        interrupts::stop_ticks();
        done
    }

    /// Runs a trial to its end; for the first core, which changes the clocks.
    pub(crate) fn run_jumps(&'static self, plan: &JumpsPlan) -> JumpsDone {
        interrupts::with_handler(|handler| jumps::prepare(&mut handler.timekeeper, &self.jumps));
        let others = self.start_others(Order::Jumps(*plan));
        self.wait_for_all(plan.cores);
        let mut done = jumps::change(plan, self.clocks, self.sources, &self.jumps, &Machine, |change| {
            interrupts::with_handler(|handler| change(&mut handler.timekeeper));
        });
        for core in others {
            if let Counted::Jumps(counted) = self.result(core) {
                let _room = done.cores.push(counted);
            }
        }
        done
    }

    /// Gives the other cores their work, and returns their numbers.
    fn start_others(&'static self, order: Order) -> Range<usize> {
        JOB.publish(self);
        self.ready.store(0, Ordering::Relaxed);
        let others = 1..usize::from(order.cores()).min(CORES);
        for core in others.clone() {
            self.slots[core].lock(|slot| *slot = Slot { order: Some(order), result: None });
            switch_on(core);
        }
        others
    }

    fn wait_for_all(&self, cores: u8) {
        self.ready.fetch_add(1, Ordering::AcqRel);
        while self.ready.load(Ordering::Acquire) < u32::from(cores) {
            cpu::relax();
        }
    }

    /// What another core does.
    fn follow(&self, order: &Order, core: usize) -> Counted {
        self.wait_for_all(order.cores());
        match order {
            Order::Ctime(plan) => {
                Counted::Ctime(ctime::work(plan, core, self.clocks, &self.stamps, &Machine))
            }
            Order::Jumps(plan) => Counted::Jumps(jumps::read(plan, core, self.clocks, &self.jumps)),
        }
    }

    fn result(&self, core: usize) -> Counted {
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
        && let Some(order) = job.slots[core].lock(|slot| slot.order.take())
    {
        let result = job.follow(&order, core);
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
