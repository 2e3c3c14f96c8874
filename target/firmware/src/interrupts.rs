//! What happens in interrupt context: an edge is captured, a byte is received. Nothing here waits or formats.

use heapless::spsc::Producer;
use ppsrig_app::{Capturer, Edge, Turn, clock_id};
use ppsrig_timekeeping::Timekeeping;
use ppsrig_wire::{CaptureCounters, Snapshot};

use crate::{
    arch::{ArmArchCounter, IrqCell},
    board,
};

/// The interrupt handler's half of the work.
pub(crate) struct Handler {
    /// Numbers and records captures. The idle loop uses it as well, for polled edges.
    pub(crate) capturer: Capturer<'static>,
    /// The clocks of the snapshots.
    pub(crate) timekeeper: Timekeeping<'static, ArmArchCounter>,
    /// Bytes from the link.
    pub(crate) received: Producer<'static, u8>,
}

static HANDLER: IrqCell<Option<Handler>> = IrqCell::new(None);

/// Puts the handler's state in place. Interrupts that come before are taken without effect.
pub(crate) fn install(handler: Handler) {
    HANDLER.lock(|place| *place = Some(handler));
}

/// Runs `f` on the handler's state with interrupts masked; not to be used in an open interrupt window's timed path.
pub(crate) fn with_handler<R>(f: impl FnOnce(&mut Handler) -> R) -> Option<R> {
    HANDLER.lock(|handler| handler.as_mut().map(f))
}

/// Entered from the vector. `capture` is the counter, read before anything else was done.
pub(crate) extern "C" fn irq(capture: u64) {
    let interrupt = board::GIC.acknowledge();
    match interrupt {
        board::GPIO_INTERRUPT => {
            // Before the rest of the work: an edge from here on, a bounce, is latched anew and captured on its own.
            board::GPIO.clear_edge();
            with_handler(|handler| edge(handler, capture));
        }
        board::UART_INTERRUPT => {
            with_handler(receive);
        }
        _ => {}
    }
    board::GIC.end(interrupt);
}

/// The pair, then the echo, then the record.
fn edge(handler: &mut Handler, capture: u64) {
    let Some(plan) = handler.capturer.plan() else {
        board::GPIO.disarm();
        return;
    };
    let snapshot = handler.timekeeper.ktime_get_snapshot_id(clock_id(plan.clock_id));
    let edge = Edge {
        counters: CaptureCounters::Irq { capture },
        snapshot: Some(Snapshot { counter: snapshot.cycles, time_ns: snapshot.systime }),
        echo: Some(board::raise_echo()),
    };
    if handler.capturer.capture(edge) != Some(Turn::Irq) {
        board::GPIO.disarm();
    }
}

fn receive(handler: &mut Handler) {
    board::UART.clear_receive_interrupt();
    while let Some(byte) = board::UART.receive() {
        // A byte that finds no room is lost; its frame is then damaged, and the host tries again.
        let _full = handler.received.enqueue(byte);
    }
}
