//! The idle loop. It spins and never waits for an interrupt: its longest gap proves that nobody halted the core.
//!
//! In a polling turn each pass reads the pin [`READINGS`] times in a row. While the next reading may be the edge, at
//! most one byte goes out between two such rows, so that sending never widens an edge's bracket by more than that;
//! right after an edge the output is drained as far as the UART takes it, since the pin must change back first.

use heapless::spsc::Consumer;
use ppsrig_app::{Action, Controller, Edge, EdgeWatch, Turn};
use ppsrig_wire::{CaptureCounters, CapturePlan, EdgeDirection};

use crate::{arch::counter, board, interrupts};

/// Pin readings in one pass of a polling turn: some tens of microseconds, so that commands are not kept waiting.
const READINGS: usize = 32;
/// Bytes sent in one pass while edges are captured by interrupt or not at all.
const BYTES_A_PASS: usize = 16;

/// The loop's state.
pub(crate) struct Idle {
    controller: Controller<'static>,
    received: Consumer<'static, u8>,
    watch: EdgeWatch,
}

impl Idle {
    /// Takes the idle loop's ends of the rings.
    pub(crate) fn new(controller: Controller<'static>, received: Consumer<'static, u8>) -> Self {
        Self { controller, received, watch: EdgeWatch::new(EdgeDirection::Rising) }
    }

    /// Runs for ever.
    pub(crate) fn run(mut self) -> ! {
        loop {
            while let Some(byte) = self.received.dequeue() {
                match self.controller.receive(byte, counter::now()) {
                    Some(Action::Open(plan)) => self.open(plan),
                    Some(Action::Close) => close(),
                    None => {}
                }
            }
            if self.controller.idle(counter::now()) > 0 {
                board::lower_echo();
            }
            match self.controller.turn() {
                Some(Turn::Poll) => self.poll(),
                Some(Turn::Irq) | None => self.send(BYTES_A_PASS),
            }
        }
    }

    fn open(&mut self, plan: CapturePlan) {
        self.watch = EdgeWatch::new(plan.direction);
        board::GPIO.watch(plan.direction);
        interrupts::with_handler(|handler| {
            handler.timekeeper.timekeeping_forward_now();
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
