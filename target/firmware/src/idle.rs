//! The idle loop, and the measurements that it works at between two passes. It spins and never waits for an interrupt:
//! its longest gap proves that nobody halted the core.
//!
//! In a polling turn each pass reads the pin [`READINGS`] times in a row. While the next reading may be the edge, at
//! most one byte goes out between two such rows, so that sending never widens an edge's bracket by more than that;
//! right after an edge the output is drained as far as the UART takes it, since the pin must change back first.

use heapless::spsc::Consumer;
use ppsrig_app::{Action, Controller, Edge, EdgeWatch, Turn, Work};
use ppsrig_wire::{CaptureCounters, CapturePlan, EdgeDirection, FromBoard, PathPlan, mailbox};

use crate::{
    arch::{counter, cpu, pair::Clocks},
    board,
    cores::Job,
    interrupts,
    path::Pairs,
};

/// Pin readings in one pass of a polling turn: some tens of microseconds, so that commands are not kept waiting.
const READINGS: usize = 32;
/// Bytes sent in one pass while edges are captured by interrupt or not at all.
const BYTES_A_PASS: usize = 16;

/// The loop's state.
pub(crate) struct Idle {
    controller: Controller<'static>,
    received: Consumer<'static, u8>,
    watch: EdgeWatch,
    clocks: &'static Clocks,
    job: &'static Job,
    mailbox: Mailbox,
}

/// Commands that lay in memory at boot, and how far they were taken.
struct Mailbox {
    memory: [u8; mailbox::SIZE],
    taken: usize,
}

impl Mailbox {
    fn next(&mut self) -> Option<u8> {
        let byte = *mailbox::frames(&self.memory)?.get(self.taken)?;
        self.taken += 1;
        Some(byte)
    }
}

impl Idle {
    /// Takes the idle loop's ends of the rings, the clocks to measure on, and the mailbox as it was found.
    pub(crate) fn new(
        controller: Controller<'static>,
        received: Consumer<'static, u8>,
        clocks: &'static Clocks,
        job: &'static Job,
        memory: [u8; mailbox::SIZE],
    ) -> Self {
        let mailbox = Mailbox { memory, taken: 0 };
        Self { controller, received, watch: EdgeWatch::new(EdgeDirection::Rising), clocks, job, mailbox }
    }

    /// Runs for ever.
    pub(crate) fn run(mut self) -> ! {
        loop {
            while let Some(byte) = self.received.dequeue() {
                self.receive(byte);
            }
            // Each command of the mailbox runs to its end before the next is taken.
            while !self.controller.busy() {
                let Some(byte) = self.mailbox.next() else { break };
                self.receive(byte);
            }
            if self.controller.idle(counter::now()) > 0 {
                board::lower_echo();
            }
            match self.controller.turn() {
                Some(Turn::Poll) => self.poll(),
                Some(Turn::Irq) | None => self.send(BYTES_A_PASS),
            }
            match self.controller.work() {
                Some(Work::Path(plan)) => self.measure_path(&plan),
                Some(Work::Ctime(plan)) => {
                    self.controller.work_done(FromBoard::CtimeDone(self.job.run_ctime(&plan)));
                }
                Some(Work::Jumps(plan)) => {
                    self.controller.work_done(FromBoard::JumpsDone(self.job.run_jumps(&plan)));
                }
                None => {}
            }
        }
    }

    fn receive(&mut self, byte: u8) {
        match self.controller.receive(byte, counter::now()) {
            Some(Action::Open(plan)) => self.open(plan),
            Some(Action::Close) => close(),
            None => {}
        }
    }

    /// Measures a chunk without interrupts, which would only make some pairs longer.
    fn measure_path(&mut self, plan: &PathPlan) {
        interrupts::with_handler(|handler| handler.timekeeper.update_wall_time());
        let mut pairs = Pairs::new(plan, self.clocks);
        let mask = cpu::mask_interrupts();
        self.controller.measure_path(&mut pairs);
        cpu::restore_interrupts(mask);
    }

    fn open(&mut self, plan: CapturePlan) {
        self.watch = EdgeWatch::new(plan.direction);
        board::GPIO.watch(plan.direction);
        interrupts::with_handler(|handler| {
            handler.timekeeper.update_wall_time();
            handler.capturer.open(plan);
            if handler.capturer.turn() == Some(Turn::Irq) {
                board::GPIO.arm();
            }
        });
    }

    fn poll(&mut self) {
        for _ in 0..READINGS {
            let (before, level, after) = board::GPIO.level_between_counters();
            if let Some(counters) = self.watch.reading(before, level, after) {
                polled(counters);
                self.controller.idle(counter::now());
                board::lower_echo();
                break;
            }
        }
        self.send(if self.watch.armed() { 1 } else { usize::MAX });
    }

    /// Sends at most `limit` bytes, and no more than the UART takes at once.
    fn send(&mut self, limit: usize) {
        for _ in 0..limit {
            if !board::UART.can_send() {
                return;
            }
            let Some(byte) = self.controller.next_byte() else { return };
            board::UART.try_send(byte);
        }
    }
}

/// Records an edge that was found by polling, and hands over to the interrupt if it is its turn.
fn polled(counters: CaptureCounters) {
    let edge = Edge { counters, snapshot: None, echo: Some(board::raise_echo()) };
    interrupts::with_handler(|handler| {
        if handler.capturer.capture(edge) == Some(Turn::Irq) {
            board::GPIO.arm();
        }
    });
}

fn close() {
    board::GPIO.disarm();
    interrupts::with_handler(|handler| handler.capturer.close());
}
