//! What `ppstest` prints: `source N - assert S.NNNNNNNNN, sequence: K - clear  S.NNNNNNNNN, sequence: K`.
//!
//! Syntax: pps-tools, ppstest.c (github.com/redlab-i/pps-tools). A source that was never asserted shows 0.000000000 and
//! sequence 0. On a kernel that cannot wait the same event may be printed again, under the same sequence number. Lines about
//! opening the source, and of a fetch that timed out, stand between.

use super::row::{Line, Row, SECOND, tag};
use super::trouble::{Class, Trouble, number, shown, words};

/// What else ppstest prints.
const OTHER: [&[u8]; 5] = [b"trying", b"found", b"ok,", b"time_pps_fetch()", b"unable"];

/// Whether this is a line with a time stamp.
pub(super) fn is_reading(line: &[u8]) -> bool {
    let mut words = words(line);
    let mut next = || words.next().map_or(&b""[..], |(_, word)| word);
    next() == b"source" && next().iter().all(u8::is_ascii_digit) && next() == b"-" && next() == b"assert"
}

/// Reads the lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Ppstest {
    /// The other edge is read.
    clear: bool,
    /// Source and sequence number of the last line.
    last: Option<(Vec<u8>, u64)>,
}

impl Ppstest {
    pub(super) const fn new(clear: bool) -> Self {
        Self { clear, last: None }
    }

    pub(super) fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line<'a>, Trouble> {
        let found: Vec<_> = words(line).collect();
        match found.first() {
            None => return Ok(Line::Blank),
            Some((_, word)) if OTHER.contains(word) || word.starts_with(b"#") => return Ok(Line::Nothing),
            Some(_) => {}
        }
        let wrong = |at: usize| {
            let what = format!("{} is no line of ppstest", shown(line));
            Trouble::new(at, Class::Columns, what)
        };
        let [
            (_, b"source"),
            (_, source),
            (_, b"-"),
            (_, b"assert"),
            assert,
            (_, b"sequence:"),
            (_, asserted),
            (_, b"-"),
            (_, b"clear"),
            clear,
            (_, b"sequence:"),
            (_, cleared),
        ] = &found[..]
        else {
            return Err(wrong(found[0].0));
        };
        let ((at, stamp), sequence) = if self.clear { (*clear, cleared) } else { (*assert, asserted) };
        let stamp = stamp.strip_suffix(b",").ok_or_else(|| wrong(at))?;
        let sequence: u64 =
            std::str::from_utf8(sequence).ok().and_then(|text| text.parse().ok()).ok_or_else(|| wrong(at))?;
        if sequence == 0 && stamp.iter().all(|byte| matches!(byte, b'0' | b'.')) {
            return Ok(Line::PassedOver("no edge of that kind yet"));
        }
        if self.last.as_ref().is_some_and(|(of, last)| of == source && *last == sequence) {
            return Ok(Line::PassedOver("the same event again"));
        }
        let stamp = number(stamp, at)?;
        let tag = tag(&stamp, SECOND).ok_or_else(|| wrong(at))?;
        self.last = Some((source.to_vec(), sequence));
        Ok(Line::Row(Row {
            source: (source, if self.clear { b"clear" } else { b"" }),
            tag: Some(tag),
            value: None,
            at,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] =
        b"source 0 - assert 1186592699.388832443, sequence: 364 - clear  1186592699.488832443, sequence: 363";

    #[test]
    fn either_edge_is_read_and_the_same_event_only_once() {
        for (clear, expected) in
            [(false, 1_186_592_699_388_832_443_000), (true, 1_186_592_699_488_832_443_000)]
        {
            let mut reader = Ppstest::new(clear);
            let Ok(Line::Row(row)) = reader.line(LINE) else { panic!("no row") };
            assert_eq!((row.source.0, row.tag.unwrap().at), (&b"0"[..], expected));
            assert_eq!(reader.line(LINE), Ok(Line::PassedOver("the same event again")));
        }
        let mut reader = Ppstest::new(true);
        let never =
            b"source 0 - assert 1186592699.388832443, sequence: 364 - clear  0.000000000, sequence: 0";
        assert_eq!(reader.line(never), Ok(Line::PassedOver("no edge of that kind yet")));
    }

    #[test]
    fn lines_about_the_source_are_no_readings_and_torn_ones_are_refused() {
        let mut reader = Ppstest::default();
        assert_eq!(reader.line(b"ok, found 1 source(s), now start fetching data..."), Ok(Line::Nothing));
        assert_eq!(reader.line(b"time_pps_fetch() error -1 (Connection timed out)"), Ok(Line::Nothing));
        for cut in [10, 30, 60, LINE.len() - 30] {
            assert_eq!(reader.line(&LINE[..cut]).map_err(|trouble| trouble.class), Err(Class::Columns));
        }
    }
}
