//! Symbols by which others find and change things in the image before it runs. The mailbox of a first command that is
//! written through the debug probe will stand here as well (`PPSRIG_MAILBOX`).

use core::ptr;

/// The protocol version that Identify states. A symbol of its own, so that a test can patch it in the ELF file and see
/// the host refuse an image from the future.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.image")]
static PPSRIG_PROTOCOL: u16 = ppsrig_wire::PROTOCOL_VERSION;

/// The protocol version as it stands in memory.
pub(crate) fn protocol_version() -> u16 {
    // SAFETY: reads an initialised, aligned static. Volatile, so that the compiler does not put in the value that it
    // compiled.
    unsafe { ptr::read_volatile(&raw const PPSRIG_PROTOCOL) }
}
