//! What can be wrong with a line.

use std::fmt;

use super::decimal::Decimal;

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// `1,5` where `1.5` is meant, or could be meant.
    DecimalComma,
    /// NaN or infinity.
    NotFinite,
    /// A unit behind the number.
    Unit,
    /// More or fewer columns than the lines before it.
    Columns,
    /// Something else than a number.
    NoNumber,
    /// A number beyond any clock.
    OutOfRange,
    /// The last line has no line end.
    Torn,
    /// Time goes back.
    Backwards,
    /// A time tag off the grid.
    Irregular,
    /// A line longer than any.
    TooLong,
    /// An empty line between the points of a file without time tags.
    Blank,
}

impl Class {
    /// As it is written in messages and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DecimalComma => "decimal comma",
            Self::NotFinite => "not finite",
            Self::Unit => "unit",
            Self::Columns => "columns",
            Self::NoNumber => "no number",
            Self::OutOfRange => "out of range",
            Self::Torn => "torn",
            Self::Backwards => "backwards",
            Self::Irregular => "irregular",
            Self::TooLong => "too long",
            Self::Blank => "blank",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Byte in the line, from 1.
    pub(super) column: usize,
    pub(super) class: Class,
    pub(super) what: String,
}

impl Trouble {
    pub(super) fn new(at: usize, class: Class, what: impl Into<String>) -> Self {
        Self { column: at + 1, class, what: what.into() }
    }
}

/// The start of a text as it can be shown in a message.
pub(super) fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(40)];
    let dots = if cut.len() < bytes.len() { "..." } else { "" };
    format!("`{}{dots}`", String::from_utf8_lossy(cut).escape_debug())
}

/// A word that has to be a number; `at` is where it begins in its line.
pub(super) fn number(word: &[u8], at: usize) -> Result<Decimal<'_>, Trouble> {
    match Decimal::prefix(word) {
        Some((decimal, length)) if length == word.len() => Ok(decimal),
        _ => Err(no_number(word, at)),
    }
}

/// Says why a word is no number.
#[cold]
pub(super) fn no_number(word: &[u8], at: usize) -> Trouble {
    let lower: Vec<u8> = word.iter().map(u8::to_ascii_lowercase).collect();
    let unsigned = lower.strip_prefix(b"-").or_else(|| lower.strip_prefix(b"+")).unwrap_or(&lower);
    if unsigned.starts_with(b"nan") || unsigned.starts_with(b"inf") {
        return Trouble::new(at, Class::NotFinite, format!("{} is no reading", shown(word)));
    }
    let length = Decimal::prefix(word).map_or(0, |(_, length)| length);
    let rest = &word[length..];
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    if rest.first() == Some(&b',') && (digit(rest.get(1)) || length > 0) {
        let what = format!("{} has a comma; decimals take a point", shown(word));
        return Trouble::new(at + length, Class::DecimalComma, what);
    }
    let letters = rest.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii() || *byte == b'/');
    if length > 0 && !rest.is_empty() && letters {
        return Trouble::new(at + length, Class::Unit, unit_message(rest));
    }
    Trouble::new(at + length, Class::NoNumber, format!("{} is no number", shown(word)))
}

/// What is said of a unit behind a number.
pub(super) fn unit_message(unit: &[u8]) -> String {
    format!("{} behind the number; numbers stand alone, and their unit is given by --unit", shown(unit))
}

/// The words of a line with where they begin; blanks and tabs stand between them.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line[at..].iter().take_while(|byte| is_blank(**byte)).count();
        let start = at;
        at += line[at..].iter().take_while(|byte| !is_blank(**byte)).count();
        (at > start).then(|| (start, &line[start..at]))
    })
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_word_has_its_class_and_place() {
        for (word, class, column) in [
            ("1,5", Class::DecimalComma, 12),
            ("1,234567e-8", Class::DecimalComma, 12),
            ("nan", Class::NotFinite, 11),
            ("-NaN", Class::NotFinite, 11),
            ("+Infinity", Class::NotFinite, 11),
            ("1.5ns", Class::Unit, 14),
            ("7\u{b5}s", Class::Unit, 12),
            ("x", Class::NoNumber, 11),
            ("--1", Class::NoNumber, 11),
            ("1.2.3", Class::NoNumber, 14),
            ("", Class::NoNumber, 11),
        ] {
            let trouble = number(word.as_bytes(), 10).unwrap_err();
            assert_eq!((trouble.class, trouble.column), (class, column), "{word}: {trouble:?}");
        }
    }
}
