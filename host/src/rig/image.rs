//! The ELF image that is loaded into the board: read and checked before anything touches the bench.

use std::fs::File;
use std::io::{Error, Read};
use std::path::{Path, PathBuf};

use object::elf::{EM_AARCH64, FileHeader64, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Architecture, Endianness, Object as _, ObjectSymbol as _};
use ppsrig_wire::mailbox;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Why a file is not an image.
#[derive(Debug, Error)]
pub enum ImageError {
    /// not readable
    #[error(
        "{path}: cannot read the image: {reason}; build it with `just firmware`, or give another with --image"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// a folder, a device or a pipe
    #[error("{path}: an image is a regular file, this is none; give an ELF file with --image")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// too long
    #[error("{path}: longer than {} MiB, that is no image for a board's RAM; was another file meant?", MOST_BYTES >> 20)]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// no 64-bit ELF file
    #[error("{path}: not a 64-bit ELF file ({reason}); build the image with `just firmware`")]
    NotElf {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// for another processor
    #[error("{path}: an image for {found}, not for AArch64; was a program of the host given?")]
    OtherProcessor {
        /// The file.
        path: PathBuf,
        /// The processor that it is for.
        found: String,
    },
    /// nothing to load
    #[error("{path}: no segment to load; a program linked for bare metal has at least one")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// a segment points outside the file
    #[error(
        "{path}: the segment at {address:#x} lies outside the file; the file is cut short, build it again"
    )]
    Torn {
        /// The file.
        path: PathBuf,
        /// The segment's load address.
        address: u64,
    },
    /// no mailbox
    #[error(
        "{path}: it takes no commands from its memory (no {symbol} in it); build it from the same source as ppsrig",
        symbol = mailbox::SYMBOL
    )]
    NoMailbox {
        /// The file.
        path: PathBuf,
    },
    /// too many commands
    #[error("{path}: {bytes} bytes of commands do not fit its mailbox of {capacity}", capacity = mailbox::CAPACITY)]
    MailboxFull {
        /// The file.
        path: PathBuf,
        /// Bytes of frames.
        bytes: usize,
    },
}

/// Longest image file that is read, debug information included.
const MOST_BYTES: u64 = 64 << 20;

/// A loadable segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Load (physical) address.
    pub address: u64,
    /// Its bytes in the file.
    pub data: Vec<u8>,
    /// Bytes that it takes in memory, at least `data.len()`; the firmware clears the rest itself.
    pub memory_bytes: u64,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Where execution begins.
    pub entry: u64,
    /// What to load.
    pub segments: Vec<Segment>,
    /// SHA-256 of the file, lower-case hex.
    pub sha256: String,
    /// Address of the mailbox, if it has one.
    pub mailbox: Option<u64>,
}

impl Image {
    /// Reads an image.
    ///
    /// # Errors
    /// [`ImageError`]
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        Self::parse(path, &read_bytes(path)?)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ImageError> {
        let not_elf =
            |error: object::Error| ImageError::NotElf { path: path.to_owned(), reason: error.to_string() };
        let elf = ElfFile64::<Endianness>::parse(bytes).map_err(not_elf)?;
        check_processor(path, &elf)?;
        let endian = elf.endian();
        let mut segments = Vec::new();
        for header in elf.elf_program_headers().iter().filter(|header| header.p_type(endian) == PT_LOAD) {
            let address = header.p_paddr(endian);
            let data = header
                .data(endian, bytes)
                .map_err(|()| ImageError::Torn { path: path.to_owned(), address })?
                .to_vec();
            if !data.is_empty() {
                let memory_bytes = header.p_memsz(endian).max(data.len() as u64);
                segments.push(Segment { address, data, memory_bytes });
            }
        }
        if segments.is_empty() {
            return Err(ImageError::Empty { path: path.to_owned() });
        }
        let mailbox = elf.symbols().find(|symbol| symbol.name() == Ok(mailbox::SYMBOL));
        Ok(Self {
            entry: elf.entry(),
            segments,
            sha256: hex(&Sha256::digest(bytes)),
            mailbox: mailbox.map(|symbol| symbol.address()),
        })
    }

    /// Puts command frames into the mailbox; they are loaded and verified with the rest.
    ///
    /// # Errors
    /// [`ImageError::NoMailbox`], [`ImageError::MailboxFull`]
    pub fn fill_mailbox(&mut self, path: &Path, frames: &[u8]) -> Result<(), ImageError> {
        let filled = mailbox::filled(frames)
            .ok_or_else(|| ImageError::MailboxFull { path: path.to_owned(), bytes: frames.len() })?;
        let place = self.mailbox.and_then(|address| {
            self.segments.iter_mut().find_map(|segment| {
                let offset = usize::try_from(address.checked_sub(segment.address)?).ok()?;
                segment.data.get_mut(offset..)?.first_chunk_mut::<{ mailbox::SIZE }>()
            })
        });
        // The magic tells that both sides mean the same layout.
        match place.filter(|place| mailbox::frames(place).is_some()) {
            Some(place) => *place = filled,
            None => return Err(ImageError::NoMailbox { path: path.to_owned() }),
        }
        Ok(())
    }

    /// The instruction at an address, if it is loaded.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<u32> {
        let word = self.segments.iter().find_map(|segment| {
            let offset = usize::try_from(address.checked_sub(segment.address)?).ok()?;
            segment.data.get(offset..)?.first_chunk::<4>()
        });
        word.map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Bytes that are loaded.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.data.len() as u64).sum()
    }
}

fn check_processor(path: &Path, elf: &ElfFile64<'_, Endianness>) -> Result<(), ImageError> {
    let header: &FileHeader64<Endianness> = elf.elf_header();
    if header.e_machine(elf.endian()) == EM_AARCH64 && elf.endian() == Endianness::Little {
        return Ok(());
    }
    let found = match elf.architecture() {
        Architecture::Unknown => format!("processor number {}", header.e_machine(elf.endian())),
        known => format!("{known:?}"),
    };
    Err(ImageError::OtherProcessor { path: path.to_owned(), found })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ImageError> {
    let unreadable =
        |error: Error| ImageError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    // Asked before opening: to open a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(ImageError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ImageError::TooLong { path: path.to_owned() });
    }
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest image: one segment of `data` at 0x4020_0000.
    fn elf(machine: u16, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        bytes.extend(2_u16.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        for word in [0x4020_0000_u64, 64, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(0_u32.to_le_bytes());
        for half in [64_u16, 56, 1, 64, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(5_u32.to_le_bytes());
        for word in [120_u64, 0x4020_0000, 0x4020_0000, data.len() as u64, data.len() as u64 + 8, 16] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(data);
        bytes
    }

    #[test]
    fn a_segment_is_read_with_its_load_address_and_memory_size() {
        let image = Image::parse(Path::new("x.elf"), &elf(183, b"abcdef")).expect("it is one");
        assert_eq!(image.entry, 0x4020_0000);
        let expected = Segment { address: 0x4020_0000, data: b"abcdef".to_vec(), memory_bytes: 14 };
        assert_eq!(image.segments, [expected]);
        assert_eq!(image.bytes(), 6);
    }

    #[test]
    fn a_program_of_the_host_is_refused_by_name_of_its_processor() {
        let error = Image::parse(Path::new("x.elf"), &elf(62, b"abcd")).expect_err("x86");
        assert!(error.to_string().contains("X86_64"), "{error}");
    }

    #[test]
    fn a_file_cut_short_is_refused_with_the_segment_s_address() {
        let mut bytes = elf(183, b"abcdef");
        bytes.truncate(bytes.len() - 1);
        let error = Image::parse(Path::new("x.elf"), &bytes).expect_err("cut");
        assert!(error.to_string().contains("0x40200000"), "{error}");
    }

    #[test]
    fn only_a_regular_file_of_a_sane_length_is_read() {
        let error = Image::read(Path::new("/dev/zero")).expect_err("it has no end").to_string();
        assert!(error.contains("/dev/zero") && error.contains("regular file"), "{error}");
        let long = tempfile::NamedTempFile::new().expect("a temporary file");
        long.as_file().set_len(MOST_BYTES + 1).expect("it is sparse");
        let error = Image::read(long.path()).expect_err("it is too long").to_string();
        assert!(error.contains("64 MiB"), "{error}");
    }

    #[test]
    fn text_is_no_image() {
        let error = Image::parse(Path::new("x.elf"), b"hello").expect_err("text");
        assert!(matches!(error, ImageError::NotElf { .. }), "{error}");
    }
}
