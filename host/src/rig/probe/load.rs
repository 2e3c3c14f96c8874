//! Loading an image into RAM and proving that it is there.
//!
//! What probe-rs 0.32 would do itself is avoided where it is wrong for AArch64: its loader needs aligned segments, its
//! verify does not say where, and its RAM start writes X15 in place of the program counter. Never written: PSTATE, whose
//! writeback panics.

use std::path::Path;
use std::time::{Duration, Instant};

use probe_rs::config::MemoryRegion;
use probe_rs::{Core, MemoryInterface, Session};

use super::bulk::{Bulk, with_bulk};
use super::{Report, Stage};
use crate::rig::image::{Image, Segment};

/// Bytes written or read in one probe operation; progress is told after each.
const BLOCK: usize = 4096;
/// Alignment that probe-rs's bulk transfers need.
const WORD: u64 = 4;
const RESET_ALLOWED: Duration = Duration::from_secs(3);

/// Loads into the first core of a session, which stays halted.
pub(super) struct Loader<'a> {
    pub(super) session: &'a mut Session,
    pub(super) operations: &'a mut u64,
    pub(super) progress: &'a mut dyn FnMut(Stage, u64, u64),
    /// Whether blocks are left to probe-rs, which moves them word by word, because [`Bulk`] could not.
    pub(super) by_words: bool,
}

/// A core that was loaded and is halted.
pub(super) struct Loaded<'a> {
    pub(super) core: Core<'a>,
    pub(super) operations: &'a mut u64,
    pub(super) progress: &'a mut dyn FnMut(Stage, u64, u64),
}

/// Bytes at a word-aligned address, a whole number of words.
struct Block {
    address: u64,
    data: Vec<u8>,
}

impl<'a> Loader<'a> {
    /// Resets and halts, writes, verifies, and points the core at the image's entry. It stays halted.
    pub(super) fn load(mut self, image: &Image, started: Instant) -> Result<(Report, Loaded<'a>), String> {
        (self.progress)(Stage::Reset, 0, 0);
        *self.operations += 1;
        self.core()?
            .reset_and_halt(RESET_ALLOWED)
            .map_err(|error| format!("the core does not halt after a reset: {}", chain(&error)))?;
        let attach_ns = nanos(started);
        let mut blocks = Vec::new();
        for segment in &image.segments {
            blocks.extend(self.aligned_blocks(segment)?);
        }
        let writing = Instant::now();
        self.each(&blocks, Stage::Write)?;
        let write_ns = nanos(writing);
        let verifying = Instant::now();
        self.each(&blocks, Stage::Verify)?;
        let verify_ns = nanos(verifying);
        let Self { session, operations, progress, .. } = self;
        let mut core = session.core(0).map_err(gone)?;
        *operations += 1;
        let pc = core.program_counter().id();
        core.write_core_reg(pc, image.entry).map_err(|error| {
            format!("cannot set the program counter to {:#x}: {}", image.entry, chain(&error))
        })?;
        let report = Report {
            bytes: image.bytes(),
            segments: image.segments.len() as u64,
            entry: image.entry,
            attach_ns,
            write_ns,
            verify_ns,
            operations: *operations,
        };
        Ok((report, Loaded { core, operations, progress }))
    }

    fn core(&mut self) -> Result<Core<'_>, String> {
        self.session.core(0).map_err(gone)
    }

    /// Cuts a segment into blocks of whole words; the bytes around a ragged end are read first and written back.
    fn aligned_blocks(&mut self, segment: &Segment) -> Result<Vec<Block>, String> {
        let start = segment.address / WORD * WORD;
        let head = self.word_bytes(start, (segment.address - start) as usize, false)?;
        let end = segment.address + segment.data.len() as u64;
        let ragged = (end % WORD) as usize;
        let missing = if ragged == 0 { 0 } else { WORD as usize - ragged };
        let tail = self.word_bytes(end / WORD * WORD, missing, true)?;
        let all = [head.as_slice(), &segment.data, &tail].concat();
        let mut address = start;
        let mut blocks = Vec::new();
        for data in all.chunks(BLOCK) {
            blocks.push(Block { address, data: data.to_vec() });
            address += data.len() as u64;
        }
        Ok(blocks)
    }

    /// The first or last `count` bytes of a word in memory.
    fn word_bytes(&mut self, address: u64, count: usize, last: bool) -> Result<Vec<u8>, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        *self.operations += 1;
        let word = self
            .core()?
            .read_word_32(address)
            .map_err(|error| format!("cannot read memory at {address:#x}: {}", chain(&error)))?
            .to_le_bytes();
        Ok(if last { word[word.len() - count..].to_vec() } else { word[..count].to_vec() })
    }

    /// Writes or verifies all blocks: in bulk, and from the first that fails on as probe-rs does it by itself.
    fn each(&mut self, blocks: &[Block], stage: Stage) -> Result<(), String> {
        (self.progress)(stage, 0, total(blocks));
        let mut moved = 0;
        if !self.by_words {
            let problem;
            (moved, problem) = self.in_bulk(blocks, stage)?;
            if let Some(problem) = problem {
                log::warn!("{problem}; the rest is moved word by word, which takes longer");
                self.by_words = true;
            }
        }
        for index in moved..blocks.len() {
            *self.operations += 1;
            let mut core = self.core()?;
            moved_block(&mut core, &blocks[index], stage).map_err(Trouble::text)?;
            drop(core);
            (self.progress)(stage, total(&blocks[..=index]), total(blocks));
        }
        Ok(())
    }

    /// How many blocks went well, and what was wrong with the next one.
    fn in_bulk(&mut self, blocks: &[Block], stage: Stage) -> Result<(usize, Option<String>), String> {
        let Self { session, operations, progress, .. } = self;
        with_bulk(session, |bulk| {
            for (index, block) in blocks.iter().enumerate() {
                **operations += 1;
                match moved_block(bulk, block, stage) {
                    Ok(()) => {}
                    Err(Trouble::Moving(problem)) => return Ok((index, Some(problem))),
                    Err(Trouble::Differs(problem)) => return Err(problem),
                }
                progress(stage, total(&blocks[..=index]), total(blocks));
            }
            Ok((blocks.len(), None))
        })
        .map_err(gone)?
    }
}

fn total(blocks: &[Block]) -> u64 {
    blocks.iter().map(|block| block.data.len() as u64).sum()
}

/// What is wrong with a block.
enum Trouble {
    /// It could not be moved.
    Moving(String),
    /// It was, and is not what was written: no other way of reading it makes that good.
    Differs(String),
}

impl Trouble {
    fn text(self) -> String {
        match self {
            Self::Moving(text) | Self::Differs(text) => text,
        }
    }
}

/// Memory of a halted core.
trait Memory {
    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), probe_rs::Error>;
    fn get(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), probe_rs::Error>;
}

impl Memory for Bulk<'_> {
    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), probe_rs::Error> {
        self.write(address, bytes)
    }

    fn get(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), probe_rs::Error> {
        self.read(address, bytes)
    }
}

impl Memory for Core<'_> {
    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), probe_rs::Error> {
        self.write(address, bytes)
    }

    fn get(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), probe_rs::Error> {
        self.read(address, bytes)
    }
}

impl Loaded<'_> {
    /// Lets the core run.
    pub(super) fn start(&mut self) -> Result<(), String> {
        (self.progress)(Stage::Start, 0, 0);
        *self.operations += 1;
        self.core.run().map_err(|error| format!("cannot start the core: {}", chain(&error)))
    }
}

fn gone(error: probe_rs::Error) -> String {
    format!("cannot reach the core: {}", chain(&error))
}

fn moved_block(memory: &mut impl Memory, block: &Block, stage: Stage) -> Result<(), Trouble> {
    match stage {
        Stage::Verify => verify(memory, block),
        _ => write(memory, block),
    }
}

fn write(memory: &mut impl Memory, block: &Block) -> Result<(), Trouble> {
    memory.put(block.address, &block.data).map_err(|error| {
        let (length, address) = (block.data.len(), block.address);
        Trouble::Moving(format!("cannot write {length} bytes at {address:#x}: {}", chain(&error)))
    })
}

fn verify(memory: &mut impl Memory, block: &Block) -> Result<(), Trouble> {
    let mut read = vec![0; block.data.len()];
    memory.get(block.address, &mut read).map_err(|error| {
        let (length, address) = (block.data.len(), block.address);
        Trouble::Moving(format!("cannot read {length} bytes back at {address:#x}: {}", chain(&error)))
    })?;
    match first_difference(&block.data, &read) {
        None => Ok(()),
        Some(at) => Err(Trouble::Differs(format!(
            "verify failed at {:#x}: wrote {:#04x}, read {:#04x} back; is the board's RAM set up and stable there, \
             does `chip` name this board?",
            block.address + at as u64,
            block.data[at],
            read[at]
        ))),
    }
}

fn first_difference(wrote: &[u8], read: &[u8]) -> Option<usize> {
    wrote.iter().zip(read).position(|(wrote, read)| wrote != read)
}

/// Whether every segment lies in the chip's RAM.
pub(super) fn check_ram(target: &probe_rs::Target, image: &Image, path: &Path) -> Result<(), String> {
    let ram: Vec<_> = target
        .memory_map
        .iter()
        .filter_map(|region| if let MemoryRegion::Ram(ram) = region { Some(ram.range.clone()) } else { None })
        .collect();
    for segment in &image.segments {
        let end = segment.address.saturating_add(segment.memory_bytes);
        if !ram.iter().any(|range| range.start <= segment.address && end <= range.end) {
            let known: Vec<_> =
                ram.iter().map(|range| format!("{:#x}..{:#x}", range.start, range.end)).collect();
            return Err(format!(
                "{}: the segment {:#x}..{end:#x} lies outside the RAM of {} ({}); was the image linked for another board?",
                path.display(),
                segment.address,
                target.name,
                known.join(", ")
            ));
        }
    }
    Ok(())
}

/// An error with its causes on one line, none said twice.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let one_line = |error: &dyn std::error::Error| {
        let text = error.to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
    };
    let mut text = one_line(error);
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = one_line(next);
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}

pub(super) fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_byte_is_found() {
        assert_eq!(first_difference(b"abcd", b"abcd"), None);
        assert_eq!(first_difference(b"abcd", b"abxx"), Some(2));
    }

    #[test]
    fn an_error_chain_is_one_line_without_repetition() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer: inner.")]
        struct Outer(#[source] std::io::Error);
        let error = Outer(std::io::Error::other("inner"));
        assert_eq!(chain(&error), "outer: inner");
        let error = Outer(std::io::Error::other("broken\npipe"));
        assert_eq!(chain(&error), "outer: inner: broken pipe");
    }
}
