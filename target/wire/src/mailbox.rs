//! The mailbox: commands that lie in the image's memory before it runs.
//!
//! A measurement that must give the same bytes on every machine takes no input while it runs. So the host writes its
//! commands, as the frames that it would send over the link, into the symbol [`SYMBOL`] of the image through the debug
//! probe, and then lets the core go. The firmware takes them once, at boot, as if they had just been received; each
//! runs to its end before the next is taken. In the image as built the mailbox is empty.
//!
//! Layout, 4-byte aligned: magic u32 LE, length u32 LE, then [`CAPACITY`] bytes of which the first `length` count.

/// Name of the symbol in the image.
pub const SYMBOL: &str = "PPSRIG_MAILBOX";
/// First word of the mailbox: `PMB1` in memory. Where it is not found there is no mailbox.
pub const MAGIC: u32 = u32::from_le_bytes(*b"PMB1");
/// Bytes of frames that it holds.
pub const CAPACITY: usize = 1024;
/// Bytes of the mailbox with its head.
pub const SIZE: usize = HEAD + CAPACITY;
/// Bytes before the frames.
const HEAD: usize = 8;

/// The mailbox with these frames in it, ready to be written over the symbol; none if they are longer than
/// [`CAPACITY`].
#[must_use]
pub fn filled(frames: &[u8]) -> Option<[u8; SIZE]> {
    let mut mailbox = [0; SIZE];
    mailbox[..4].copy_from_slice(&MAGIC.to_le_bytes());
    mailbox[4..HEAD].copy_from_slice(&u32::try_from(frames.len()).ok()?.to_le_bytes());
    mailbox.get_mut(HEAD..HEAD + frames.len())?.copy_from_slice(frames);
    Some(mailbox)
}

/// The frames in a mailbox. None where the magic is missing or the length is longer than the mailbox: it is not ours
/// to guess.
#[must_use]
pub fn frames(mailbox: &[u8; SIZE]) -> Option<&[u8]> {
    let (magic, rest) = mailbox.split_first_chunk::<4>()?;
    let (length, bytes) = rest.split_first_chunk::<4>()?;
    if *magic != MAGIC.to_le_bytes() {
        return None;
    }
    bytes.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back() {
        for length in [0, 1, 300, CAPACITY] {
            let bytes = [7; CAPACITY];
            assert_eq!(frames(&filled(&bytes[..length]).unwrap()), Some(&bytes[..length]));
        }
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        assert_eq!(filled(&[0; CAPACITY + 1]), None);
    }

    #[test]
    fn a_mailbox_without_magic_or_with_a_wild_length_is_none() {
        let mut mailbox = filled(&[1, 2, 3]).unwrap();
        mailbox[0] ^= 1;
        assert_eq!(frames(&mailbox), None);
        let mut mailbox = filled(&[1, 2, 3]).unwrap();
        mailbox[7] = 0xff;
        assert_eq!(frames(&mailbox), None);
    }

    #[test]
    fn the_magic_reads_as_text_in_memory() {
        assert_eq!(&filled(&[]).unwrap()[..8], b"PMB1\0\0\0\0");
    }
}
