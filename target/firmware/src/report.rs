//! The last words of a board that cannot go on: a panic or an unexpected exception, as text on the link.
//!
//! The text stands between two zero bytes, so that the host's decoder takes it for one damaged frame and finds the
//! frames before it whole; the recording shows the text.

use core::{
    fmt::{self, Write},
    panic::PanicInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{arch::cpu, board};

/// Set by the first report. A panic or an exception while reporting finds it set, and ends without a word.
static REPORTING: AtomicBool = AtomicBool::new(false);

/// Writes bytes to the link, waiting for room.
struct Link;

impl Write for Link {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while !board::UART.try_send(byte) {}
        }
        Ok(())
    }
}

/// Says it once, and stops the core for good.
pub(crate) fn report_and_stop(text: fmt::Arguments<'_>) -> ! {
    cpu::mask_interrupts();
    if !REPORTING.swap(true, Ordering::Relaxed) {
        let _always_ok = write!(Link, "\0ppsrig firmware stopped: {text}\r\n\0");
    }
    cpu::park()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    report_and_stop(format_args!("{info}"))
}

/// Entered by every vector but that of the interrupts. `vector` counts the entries of the vector table.
pub(crate) extern "C" fn unexpected_exception(vector: u64, esr: u64, elr: u64, far: u64) -> ! {
    report_and_stop(format_args!("exception at vector {vector}: ESR {esr:#x}, ELR {elr:#x}, FAR {far:#x}"))
}
