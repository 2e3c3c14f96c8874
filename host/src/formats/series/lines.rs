//! Bytes to lines, whatever the reads were. A line is cut out of the read it lies in; only one that spans reads is copied.

use memchr::memchr;

/// Longest line in bytes.
pub const LINE_MAX: usize = 64 * 1024;

/// Splits bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    carried: Vec<u8>,
    /// The line under way is longer than [`LINE_MAX`]; what follows of it is not kept.
    too_long: bool,
}

/// What there is next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A line without its line end.
    Line(&'a [u8]),
    /// A line is longer than any: told as soon as that is seen, once.
    TooLong,
    /// The rest of a line that is too long has come to its end.
    Skipped,
}

impl Lines {
    /// Takes bytes and hands each line to `each`, until that refuses one.
    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Next<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.too_long {
                self.too_long = false;
                each(Next::Skipped)?;
            } else if self.carried.len() + line.len() > LINE_MAX {
                self.carried.clear();
                each(Next::TooLong)?;
                each(Next::Skipped)?;
            } else if self.carried.is_empty() {
                each(Next::Line(without_return(line)))?;
            } else {
                self.carried.extend_from_slice(line);
                let whole = std::mem::take(&mut self.carried);
                each(Next::Line(without_return(&whole)))?;
                self.carried = whole;
                self.carried.clear();
            }
        }
        if self.too_long {
            return Ok(());
        }
        if self.carried.len() + bytes.len() > LINE_MAX {
            self.carried.clear();
            self.too_long = true;
            return each(Next::TooLong);
        }
        self.carried.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether no part of a line waits for its end.
    pub(super) const fn is_between(&self) -> bool {
        self.carried.is_empty() && !self.too_long
    }

    /// What stands behind the last line end, unless it was told already.
    pub(super) fn torn(&self) -> Option<&[u8]> {
        (!self.carried.is_empty()).then_some(&self.carried[..])
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(bytes: &[u8], read_size: usize) -> (Vec<String>, Option<usize>) {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for read in bytes.chunks(read_size) {
            let told = lines.push(read, |next| {
                found.push(match next {
                    Next::Line(line) => String::from_utf8_lossy(line).into_owned(),
                    Next::TooLong => "TOO LONG".to_owned(),
                    Next::Skipped => "SKIPPED".to_owned(),
                });
                Ok::<_, ()>(())
            });
            assert_eq!(told, Ok(()));
        }
        (found, lines.torn().map(<[u8]>::len))
    }

    #[test]
    fn lines_are_the_same_at_any_read_size() {
        let long = "x".repeat(LINE_MAX);
        let text = format!("a\r\n\nbc\n{long}\n{long}y\nlast\n{long}{long}zz\nend");
        let expected = (
            ["a", "", "bc", &long, "TOO LONG", "SKIPPED", "last", "TOO LONG", "SKIPPED"]
                .map(str::to_owned)
                .to_vec(),
            Some(3),
        );
        for read_size in [1, 7, 1000, 65_536, 65_537, 1 << 20] {
            assert!(split(text.as_bytes(), read_size) == expected, "{read_size}");
        }
    }

    #[test]
    fn an_endless_line_is_told_once_and_not_kept() {
        let (found, torn) = split(&vec![b'1'; 5 * LINE_MAX], 1000);
        assert_eq!((found, torn), (vec!["TOO LONG".to_owned()], None));
    }
}
