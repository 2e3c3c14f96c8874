//! Files of numbers: one column of phase or frequency, or a time tag and a value a line.
//!
//! allantools hands such files to numpy.loadtxt (github.com/aewallin/allantools, tests/: one value a line, `#` comments);
//! Stable32 reads ASCII columns with or without time tags, which it calls timetags and which are usually modified Julian
//! dates (W. Riley, Stable32 User Manual, "Data Files" and "Timetags", stable32.com). Comments begin with `#`, `%` or `;`.
//! Lines of text in front of the first number are a heading. Blanks or tabs stand between columns, or a comma where it
//! cannot be the comma of a decimal number.

use super::decimal::Decimal;
use super::row::{DAY, Line, Row, SECOND, tag};
use super::trouble::{Class, Trouble, is_blank, no_number, number, shown, unit_message, words};

/// Lines of text in front of the first number.
const HEADING_MAX: usize = 100;
/// Modified Julian dates from 1968 to 2132.
const MODIFIED_JULIAN: std::ops::Range<f64> = 40_000.0..100_000.0;

/// What a time tag counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagUnit {
    /// Seconds.
    Seconds,
    /// Days, as of the modified Julian date.
    Days,
}

/// Reads the lines of such a file.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// How many there are: that of the first line of numbers.
    count: Option<usize>,
    heading: usize,
    per_unit: i128,
}

impl Columns {
    pub(super) fn new(tags: TagUnit) -> Self {
        let per_unit = if tags == TagUnit::Days { DAY } else { SECOND };
        Self { count: None, heading: 0, per_unit }
    }

    /// Whether there is one column, and its lines may be taken by [`only_number`].
    #[inline]
    pub(super) fn is_one(&self) -> bool {
        self.count == Some(1)
    }

    pub(super) fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line<'a>, Trouble> {
        let start = line.iter().take_while(|byte| is_blank(**byte)).count();
        match line.get(start) {
            None => return Ok(Line::Blank),
            Some(b'#' | b'%' | b';') => return Ok(Line::Nothing),
            Some(byte) if self.count.is_none() && is_heading(*byte, &line[start..]) => {
                self.heading += 1;
                if self.heading > HEADING_MAX {
                    let what = format!("{HEADING_MAX} lines of text before this one, and no number yet");
                    return Err(Trouble::new(start, Class::NoNumber, what));
                }
                return Ok(Line::Nothing);
            }
            Some(_) => {}
        }
        // A comment may follow a number.
        let end = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
        let (first, second) = split(&line[..end], start)?;
        let count = 1 + usize::from(second.is_some());
        if self.count.is_some_and(|known| known != count) {
            let what = format!("{} where the lines before have {}", columns(count), columns(count % 2 + 1));
            return Err(Trouble::new(second.map_or(start, |(at, _)| at), Class::Columns, what));
        }
        let (at, word) = second.unwrap_or(first);
        let value = Some(number(word, at)?);
        let tag = match second {
            None => None,
            Some(_) => Some(tag(&number(first.1, first.0)?, self.per_unit).ok_or_else(|| {
                Trouble::new(first.0, Class::OutOfRange, format!("{} is no time", shown(first.1)))
            })?),
        };
        self.count = Some(count);
        Ok(Line::Row(Row { source: (b"", b""), tag, value, at }))
    }
}

/// The number that is all of a line at the front of `bytes`, and how many bytes the line has with its end. Anything that is
/// not quite that is none, and left to [`Columns::line`].
#[inline]
pub(super) fn only_number(bytes: &[u8]) -> Option<(Decimal<'_>, usize)> {
    let (value, length) = Decimal::prefix(bytes)?;
    match bytes.get(length) {
        Some(b'\n') => Some((value, length + 1)),
        Some(b'\r') if bytes.get(length + 1) == Some(&b'\n') => Some((value, length + 2)),
        _ => None,
    }
}

fn columns(count: usize) -> &'static str {
    if count == 1 { "one column" } else { "two columns" }
}

/// A line of text in front of the numbers; `nan` and `inf` are no headings.
fn is_heading(first: u8, line: &[u8]) -> bool {
    let word: Vec<u8> =
        line.iter().take_while(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    (first.is_ascii_alphabetic() || matches!(first, b'"' | b'/' | b'*' | b'['))
        && !matches!(&word[..], b"nan" | b"inf" | b"infinity")
}

type Word<'a> = (usize, &'a [u8]);

/// One word, or two with blanks or a comma between them.
fn split(line: &[u8], start: usize) -> Result<(Word<'_>, Option<Word<'_>>), Trouble> {
    let mut found = words(line);
    let first = found.next().unwrap_or((start, b""));
    let second = found.next();
    if let Some((at, third)) = found.next() {
        if Decimal::prefix(third).is_none() && second.is_some_and(|(at, word)| number(word, at).is_ok()) {
            return Err(Trouble::new(at, Class::Unit, unit_message(third)));
        }
        let what = format!("a third column, {}; one or two are read", shown(third));
        return Err(Trouble::new(at, Class::Columns, what));
    }
    if let Some(second) = second {
        let Some(tag) = first.1.strip_suffix(b",") else { return with_blank(first, second) };
        return Ok(((first.0, tag), Some(second)));
    }
    match first.1.iter().position(|byte| *byte == b',') {
        None => Ok((first, None)),
        Some(comma) => {
            let (left, right) = (&first.1[..comma], &first.1[comma + 1..]);
            if separates(left, right) {
                return Ok(((first.0, left), Some((first.0 + comma + 1, right))));
            }
            let what = format!(
                "{} has a comma, which may be a decimal's or a column's; decimals take a point, columns a blank",
                shown(first.1)
            );
            Err(Trouble::new(first.0 + comma, Class::DecimalComma, what))
        }
    }
}

/// Two words with a blank between them. A unit is no column, and neither is a sign that was torn from its number.
fn with_blank<'a>(first: Word<'a>, second: Word<'a>) -> Result<(Word<'a>, Option<Word<'a>>), Trouble> {
    let begins_number =
        second.1.first().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.'));
    let first_is_number = Decimal::prefix(first.1).is_some_and(|(_, length)| length == first.1.len());
    if !begins_number && first_is_number {
        let trouble = no_number(second.1, second.0);
        if trouble.class == Class::NotFinite {
            return Err(trouble);
        }
        return Err(Trouble::new(second.0, Class::Unit, unit_message(second.1)));
    }
    Ok((first, Some(second)))
}

/// Whether a comma can only stand between columns: what is left of it has a point or an exponent of its own, or what is
/// right of it a sign, or a point that is not the decimal point of `1,234.5`.
fn separates(left: &[u8], right: &[u8]) -> bool {
    let has = |text: &[u8], bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    if has(left, b".eE") {
        return true;
    }
    match right.iter().position(|byte| *byte == b'.') {
        _ if has(&right[..right.len().min(1)], b"+-") => true,
        Some(point) => point != 3 && !has(&right[..point], b",eE"),
        None => false,
    }
}

/// How many columns the first line of numbers has; 0 if there is none.
pub(super) fn first_count(head: &[u8]) -> usize {
    first_tags(head).map_or(0, |(count, _)| count)
}

/// The columns of the first line of numbers, and the tags of the first lines if there are two.
fn first_tags(head: &[u8]) -> Option<(usize, Vec<(f64, i32)>)> {
    let mut columns = Columns::new(TagUnit::Seconds);
    let mut tags = Vec::new();
    let whole = head.iter().rposition(|byte| *byte == b'\n')?;
    for line in head[..whole].split(|byte| *byte == b'\n').take(1000) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(Line::Row(row)) = columns.line(line)
            && row.tag.is_some()
            && let Some((_, word)) = words(line).next()
            && let Some((tag, _)) = Decimal::prefix(word)
        {
            tags.push((tag.seconds(0), tag.decimals()));
        }
    }
    Some((columns.count?, tags))
}

/// Whether the tags of a file are seconds or modified Julian days, with what says so; none where either could be.
///
/// Days are taken for days only if they lie between 1968 and 2132, and a step of them is a round number of seconds and no
/// round number of days.
pub(super) fn tag_unit(head: &[u8]) -> Option<(TagUnit, String)> {
    let Some((2, tags)) = first_tags(head) else { return Some((TagUnit::Seconds, String::new())) };
    let steps: Vec<f64> =
        tags.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|step| *step > 0.0).collect();
    let all_dates = tags.iter().all(|(tag, _)| MODIFIED_JULIAN.contains(tag));
    if !all_dates || steps.is_empty() {
        return Some((TagUnit::Seconds, "time tags in seconds".to_owned()));
    }
    let mut sorted = steps;
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let resolution = 10_f64.powi(-tags.iter().map(|(_, decimals)| *decimals).max().unwrap_or(0));
    // f64 itself is good for 7e-12 d at such dates.
    let close: Vec<f64> =
        sorted.into_iter().filter(|step| (step - median).abs() < 1.01 * resolution + 2e-11).collect();
    let step = close.iter().sum::<f64>() / close.len() as f64;
    let equal = close.last().zip(close.first()).is_some_and(|(most, least)| most - least < 3e-11);
    let error = match () {
        () if step > 100.0 * resolution => resolution,
        () if equal => 0.0,
        () => resolution / close.len() as f64,
    } + 2e-11;
    let near = |value: f64, unit: f64, error: f64| {
        value >= unit / 2.0 && (value / unit - (value / unit).round()).abs() * unit <= error
    };
    let seconds = step * 86_400.0;
    let round_seconds =
        [1.0, 0.1].iter().any(|unit| near(seconds, *unit, (error * 86_400.0).min(unit / 4.0)));
    let digits = 10_f64.powf(step.log10().floor() - 2.0);
    let round_days = near(step, digits, digits * 1e-3 + 2e-11);
    match (round_seconds, round_days) {
        (true, false) => {
            let first = tags.first().map_or(0.0, |(tag, _)| *tag);
            Some((TagUnit::Days, format!("time tags in days (modified Julian dates from {first})")))
        }
        (true, true) => None,
        (false, _) => Some((TagUnit::Seconds, "time tags in seconds".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Line<'_>, Class> {
        Columns::new(TagUnit::Seconds).line(text.as_bytes()).map_err(|trouble| trouble.class)
    }

    fn row(text: &str) -> (Option<i128>, f64) {
        match read(text) {
            Ok(Line::Row(row)) => (row.tag.map(|tag| tag.at), row.value.unwrap().seconds(0)),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn one_or_two_columns_are_read() {
        assert_eq!(row("  +2.76e-7"), (None, 2.76e-7));
        assert_eq!(row("5 # a note"), (None, 5.0));
        for text in ["1 2.5", "1\t2.5", "1.0,2.5", "1, 2.5", "1,+2.5", "1,2.5", " 1 2.5 # a note"] {
            assert_eq!(row(text), (Some(1_000_000_000_000), 2.5), "{text}");
        }
        assert_eq!(row("1.5e0,-2e-9"), (Some(1_500_000_000_000), -2e-9));
        for text in ["# x", "% x", "; x", "File: PHASE.DAT", "Date, Value", "/ x"] {
            assert_eq!(read(text), Ok(Line::Nothing), "{text}");
        }
        assert_eq!(read(" \t"), Ok(Line::Blank));
    }

    #[test]
    fn a_line_that_could_mean_two_things_is_refused() {
        for (text, class) in [
            ("1,5", Class::DecimalComma),
            ("1,234567e-8", Class::DecimalComma),
            ("1,234.5", Class::DecimalComma),
            ("59000,5 1,2e-9", Class::DecimalComma),
            ("59000,5;1,2e-9", Class::DecimalComma),
            ("1.5 ns", Class::Unit),
            ("1.5ns", Class::Unit),
            ("1.5 \u{b5}s", Class::Unit),
            ("1 nan", Class::NotFinite),
            ("nan", Class::NotFinite),
            ("-Inf", Class::NotFinite),
            ("1 2 3", Class::Columns),
            ("- 1.5", Class::NoNumber),
            ("1.5 x2", Class::Unit),
            ("1 2.5 ns", Class::Unit),
            ("\u{0}\u{1}", Class::NoNumber),
            ("1e999999 5", Class::OutOfRange),
        ] {
            assert_eq!(read(text), Err(class), "{text}");
        }
    }

    #[test]
    fn the_first_line_decides_on_the_columns() {
        let mut columns = Columns::new(TagUnit::Seconds);
        assert!(columns.line(b"Title").is_ok());
        assert!(columns.line(b"1.5").is_ok());
        assert_eq!(
            columns.line(b"1.5 2.5").map_err(|trouble| (trouble.class, trouble.column)),
            Err((Class::Columns, 5))
        );
        assert_eq!(columns.line(b"Title").map_err(|trouble| trouble.class), Err(Class::NoNumber));
    }

    #[test]
    fn days_are_told_from_seconds_or_not_at_all() {
        let unit =
            |lines: &[&str]| tag_unit((lines.join(" 1e-9\n") + " 1e-9\n").as_bytes()).map(|(unit, _)| unit);
        for (lines, expected) in [
            (&["59000.000000000", "59000.000011574", "59000.000023148"][..], Some(TagUnit::Days)),
            (&["59000.00000", "59000.00035", "59000.00069", "59000.00104"], Some(TagUnit::Days)),
            (&["59000.000000000", "59000.041666667", "59000.083333333"], Some(TagUnit::Days)),
            (&["0", "1", "2"], Some(TagUnit::Seconds)),
            (&["1700000000.0", "1700000001.0"], Some(TagUnit::Seconds)),
            (&["59000", "59001", "59002"], None),
            (&["50000.0", "50000.1", "50000.2"], None),
            (&["50000.00", "50000.001", "50000.002"], None),
        ] {
            assert_eq!(unit(lines), expected, "{lines:?}");
        }
    }
}
