//! The listing of a trace: the instructions that the core executed from one read of its counter to the next, for
//! people, for `trace.txt`, and for a comparison of two of them.
//!
//! The instructions strictly between the two reads are numbered: the last number is what a counter of one tick an
//! instruction advances between them, less the one that it advances between two reads next to each other.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

/// One executed instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands.
    pub address: u64,
    /// Its encoding.
    pub word: u32,
    /// The function that it belongs to, and how far into it; where nothing is known, no name.
    pub place: Option<(String, u64)>,
}

/// What was traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Name of the build.
    pub variant: String,
    /// Name of the clock that was asked for.
    pub clock_id: String,
    /// From the caller's read to the read inside, both among them.
    pub lines: Vec<Line>,
}

impl Listing {
    /// Instructions strictly between the caller's read and the read inside.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.lines.len().saturating_sub(2)
    }

    /// As text, with a heading.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "# {}, {}: {} instructions between the caller's counter read and the read inside\n",
            self.variant,
            self.clock_id,
            self.instructions()
        );
        let places: Vec<_> = self.lines.iter().map(Line::place).collect();
        let width = places.iter().map(String::len).max().unwrap_or(0);
        for (number, (line, place)) in self.lines.iter().zip(places).enumerate() {
            let last = self.instructions() + 1;
            let number = if number == 0 || number == last { "read".to_owned() } else { number.to_string() };
            let _infallible = writeln!(
                text,
                "{number:>4}  {:#010x}  {:08x}  {place:width$}  {}",
                line.address,
                line.word,
                disassemble(line.word)
            );
        }
        text
    }
}

impl Line {
    fn place(&self) -> String {
        self.place.as_ref().map_or_else(|| "?".to_owned(), |(name, offset)| format!("{name}+{offset:#x}"))
    }
}

/// An instruction in the assembler's notation; targets are relative to it (`$`), so that two builds can be compared.
#[must_use]
pub fn disassemble(word: u32) -> String {
    let bytes = word.to_le_bytes();
    match InstDecoder::default().decode(&mut U8Reader::new(&bytes)) {
        Ok(instruction) => instruction.to_string(),
        Err(_) => format!(".inst {word:#010x}"),
    }
}

/// Two trace files as a unified diff of functions and instructions; empty where they do the same. Numbers, addresses and
/// encodings are left out: they differ wherever something before them does.
#[must_use]
pub fn diff((from_name, from): (&str, &str), (to_name, to): (&str, &str)) -> String {
    let (from, to) = (essence(from), essence(to));
    let diff = TextDiff::from_lines(&from, &to);
    if diff.iter_all_changes().all(|change| change.tag() == ChangeTag::Equal) {
        return String::new();
    }
    // The whole listing, since it is short.
    diff.unified_diff().context_radius(10_000).header(from_name, to_name).to_string()
}

/// A trace file without what differs from build to build: of each instruction its function and its assembler notation.
fn essence(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        if line.starts_with("# ppsrig") || line.starts_with("# image") {
            continue;
        }
        let _infallible = writeln!(lines, "{}", instruction_of(line).unwrap_or_else(|| line.to_owned()));
    }
    lines
}

fn instruction_of(line: &str) -> Option<String> {
    let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
    let (_number, address, _word) = (columns.next()?, columns.next()?, columns.next()?);
    let (place, instruction) = (columns.next()?, columns.next()?);
    address.strip_prefix("0x")?;
    let function = place.rsplit_once('+').map_or(place, |(function, _)| function);
    Some(format!("  {function}  {instruction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(words: &[u32], base: u64) -> Listing {
        let line = |(index, &word): (usize, &u32)| {
            let offset = 4 * index as u64;
            Line { address: base + offset, word, place: Some(("a::path".to_owned(), offset)) }
        };
        Listing {
            variant: "inline".into(),
            clock_id: "realtime".into(),
            lines: words.iter().enumerate().map(line).collect(),
        }
    }

    const WORDS: [u32; 3] = [0xD53B_E040, 0x9100_0484, 0xD53B_E041];

    #[test]
    fn the_instructions_between_the_reads_are_numbered() {
        let listing = listing(&WORDS, 0x4020_0000);
        assert_eq!(listing.instructions(), 1);
        let text = listing.text();
        assert!(text.starts_with("# inline, realtime: 1 instructions "), "{text}");
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines[1], "   1  0x40200004  91000484  a::path+0x4  add x4, x4, #0x1");
        assert_eq!(lines[2], "read  0x40200008  d53be041  a::path+0x8  mrs x1, cntvct_el0");
    }

    #[test]
    fn two_builds_that_do_the_same_at_other_addresses_do_not_differ() {
        let (a, b) = (listing(&WORDS, 0x4020_0000).text(), listing(&WORDS, 0x4020_1000).text());
        assert_ne!(a, b);
        assert_eq!(diff(("a", &a), ("b", &b)), "");
    }

    #[test]
    fn an_instruction_more_is_one_line_of_the_diff_and_of_the_heading() {
        let a = listing(&WORDS, 0x4020_0000).text();
        let b = listing(&[WORDS[0], WORDS[1], 0xD503_201F, WORDS[2]], 0x4020_0000).text();
        let diff = diff(("a", &a), ("b", &b));
        assert!(diff.contains("\n+  a::path  nop\n"), "{diff}");
        assert_eq!(diff.lines().filter(|line| line.starts_with('+')).count(), 3, "{diff}");
    }

    #[test]
    fn what_is_no_instruction_is_shown_as_a_word() {
        assert_eq!(disassemble(0xFFFF_FFFF), ".inst 0xffffffff");
        assert_eq!(disassemble(0x6B01_001F), "cmp w0, w1");
    }
}
