//! Symbols by which others find and change things in the image before it runs.

use core::ptr;

use ppsrig_wire::mailbox;

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

/// The mailbox with the alignment that it promises.
#[repr(C, align(16))]
struct Mailbox([u8; mailbox::SIZE]);

/// Where commands lie that are taken at boot: see `ppsrig_wire::mailbox`. Empty as built.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.image")]
static PPSRIG_MAILBOX: Mailbox = Mailbox({
    let mut empty = [0; mailbox::SIZE];
    let magic = mailbox::MAGIC.to_le_bytes();
    (empty[0], empty[1], empty[2], empty[3]) = (magic[0], magic[1], magic[2], magic[3]);
    empty
});

/// The mailbox as it stands in memory.
pub(crate) fn mailbox() -> [u8; mailbox::SIZE] {
    // SAFETY: reads an initialised, aligned static. Volatile, as above.
    unsafe { ptr::read_volatile(&raw const PPSRIG_MAILBOX) }.0
}
