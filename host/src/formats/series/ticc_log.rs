//! Logs of a TAPR TICC: `<seconds> chA` in timestamp and in period mode, `<seconds> TI(A->B)` in interval mode.
//!
//! Syntax: TICC firmware, `print_signed_picos_as_seconds` and the modes around it (github.com/TAPR/TICC, TICC.ino), with 12
//! decimals, `#` comments, CR LF. Lines of the debug mode end in a timestamp; `chC (B-A)` of the TimeLab mode is passed
//! over. Timestamps and periods look alike: see [`kind_of`]. [`interval_counter`](crate::formats::interval_counter) reads the same lines as they
//! arrive at a port.

use super::decimal::Decimal;
use super::kind::Kind;
use super::row::{Line, Row, SECOND, tag};
use super::trouble::{Class, Trouble, number, shown, words};

/// Readings of a channel that are looked at to tell timestamps from periods.
const LOOKED_AT: usize = 16;

/// Reads a line of a log of this kind.
pub(super) fn line(line: &[u8], kind: Kind) -> Result<Line<'_>, Trouble> {
    let mut found: [(usize, &[u8]); 10] = [(0, b""); 10];
    let mut count = 0;
    for word in words(line) {
        if count == found.len() {
            return Err(Trouble::new(word.0, Class::Columns, "more columns than a TICC prints"));
        }
        found[count] = word;
        count += 1;
    }
    match &found[..count] {
        [] => Ok(Line::Blank),
        [(_, word), ..] if word.starts_with(b"#") => Ok(Line::Nothing),
        [_, (_, b"chC"), (_, b"(B-A)")] => Ok(Line::PassedOver("chC of the TimeLab mode")),
        [.., (at, value), (_, what)] if count == 2 || count == 9 => {
            reading(kind, (*at, value), what, found[count - 1].0)
        }
        [(at, _), ..] => {
            let what = format!("{} is not `<seconds> <channel>`", shown(line));
            Err(Trouble::new(*at, Class::Columns, what))
        }
    }
}

fn reading<'a>(
    kind: Kind,
    (at, word): (usize, &'a [u8]),
    what: &'a [u8],
    what_at: usize,
) -> Result<Line<'a>, Trouble> {
    let interval = what == b"TI(A->B)";
    if !interval && channel(what).is_none() {
        let message = format!("{} is neither chA nor chB nor TI(A->B)", shown(what));
        return Err(Trouble::new(what_at, Class::NoNumber, message));
    }
    if interval != (kind == Kind::TiccInterval) {
        let message = format!("{} in a log of {kind}: the counter's mode was changed", shown(what));
        return Err(Trouble::new(what_at, Class::Columns, message));
    }
    let value = number(word, at)?;
    if kind != Kind::TiccTimestamp {
        let source = channel(what).unwrap_or(b"");
        return Ok(Line::Row(Row { source: (source, b""), tag: None, value: Some(value), at }));
    }
    let tag = tag(&value, SECOND)
        .ok_or_else(|| Trouble::new(at, Class::OutOfRange, format!("{} is no time", shown(word))))?;
    Ok(Line::Row(Row { source: (channel(what).unwrap_or(b""), b""), tag: Some(tag), value: None, at }))
}

/// `A` of `chA`.
fn channel(word: &[u8]) -> Option<&[u8]> {
    match word {
        b"chA" => Some(b"A"),
        b"chB" => Some(b"B"),
        _ => None,
    }
}

/// The kind of log that has this line, if it is one of a TICC. A channel's numbers are times if each is later than the one
/// before, by nearly a whole number of the least such distance; periods scatter about one value.
pub(super) fn kind_of(line: &[u8], head: &[u8]) -> Option<Kind> {
    let last = words(line).last()?.1;
    if last == b"TI(A->B)" {
        return Some(Kind::TiccInterval);
    }
    channel(last)?;
    let whole = head.iter().rposition(|byte| *byte == b'\n').map_or(head, |end| &head[..end]);
    let mut times = Vec::new();
    for line in whole.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let found: Vec<_> = words(line).collect();
        if let [.., (_, time), (_, channel)] = found[..]
            && channel == last
            && let Some((time, length)) = Decimal::prefix(time)
            && length == found[found.len() - 2].1.len()
        {
            times.push(time.seconds(0));
        }
        if times.len() == LOOKED_AT {
            break;
        }
    }
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let even = |step: &f64| *step > 0.0 && (step / least - (step / least).round()).abs() < 0.25;
    Some(if steps.iter().all(even) { Kind::TiccTimestamp } else { Kind::TiccPeriod })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_another_mode_or_none_are_refused() {
        let class = |text: &'static str, kind| line(text.as_bytes(), kind).map_err(|trouble| trouble.class);
        assert!(matches!(class("  12.345678901234 chA", Kind::TiccTimestamp), Ok(Line::Row(_))));
        assert!(matches!(class("-0.000000001234 TI(A->B)", Kind::TiccInterval), Ok(Line::Row(_))));
        assert!(matches!(class("1.0 chC (B-A)", Kind::TiccTimestamp), Ok(Line::PassedOver(_))));
        assert_eq!(class("0.000000001 TI(A->B)", Kind::TiccTimestamp), Err(Class::Columns));
        assert_eq!(class("1.0 chA", Kind::TiccInterval), Err(Class::Columns));
        assert_eq!(class("1.0 chD", Kind::TiccTimestamp), Err(Class::NoNumber));
        assert_eq!(class("1,5 chA", Kind::TiccTimestamp), Err(Class::DecimalComma));
        assert_eq!(class("nan chA", Kind::TiccTimestamp), Err(Class::NotFinite));
        assert_eq!(class("12.3456", Kind::TiccTimestamp), Err(Class::Columns));
        assert_eq!(class("1 2 3 4 5 6 7 8 9 10 11", Kind::TiccTimestamp), Err(Class::Columns));
    }

    #[test]
    fn a_lost_pulse_does_not_make_periods_of_times() {
        let head = b"5.1 chA\n6.1 chA\n9.1 chA\n10.1 chA\n";
        assert_eq!(kind_of(b"5.1 chA", head), Some(Kind::TiccTimestamp));
    }
}
