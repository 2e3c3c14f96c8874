//! Counters that print each reading over RS-232 and cannot be asked anything: HP 53131A and 53132A, whose serial port is
//! output only ("talk-only"; remote control needs GPIB).
//!
//! The manual pages that could be reached show no printed reading, and no such instrument was ever heard here. So
//! whatever reads as one number with a unit of time is taken: a sign, digits that may stand in groups of three parted
//! by commas or spaces, a point, an exponent, then `s`, `ms`, `us`, `ns` or `ps` in either case, or no unit for seconds.
//! 9.91E37 is the instrument's code for no value.

use super::{Lines, refused};
use crate::events::{IntervalEvent, IntervalReading};
use crate::formats::picoseconds;
use crate::units::Picos;

/// Decodes such lines. Every reading is an interval from channel 1 to channel 2.
#[derive(Debug, Default)]
pub(super) struct TalkOnlyDecoder {
    lines: Lines,
}

impl TalkOnlyDecoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<IntervalEvent> {
        let mut events = Vec::new();
        self.lines.push(bytes, |line| match line {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => events.push(match reading(line.trim()) {
                Some(time) => IntervalEvent::Interval(IntervalReading { time, half_width: None }),
                None => refused(line, "no reading of a time interval: a number, then s, ms, us or ns"),
            }),
            Err(event) => events.push(event),
        });
        events
    }
}

fn reading(line: &str) -> Option<Picos> {
    let (number, unit) = match line.rfind(|c: char| c.is_ascii_digit() || c == '.') {
        Some(end) => line.split_at(end + 1),
        None => return None,
    };
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "s" => 0,
        "ms" => -3,
        "us" => -6,
        "ns" => -9,
        "ps" => -12,
        _ => return None,
    };
    picoseconds::parse(&ungrouped(number)?, unit)
}

/// Without the commas or spaces between groups of three; none where the groups are of another size, as `1,5` is.
fn ungrouped(number: &str) -> Option<String> {
    let mantissa_end = number.find(['e', 'E']).unwrap_or(number.len());
    let (mantissa, exponent) = number.split_at(mantissa_end);
    let (sign, digits) = match mantissa.strip_prefix(['+', '-']) {
        Some(rest) => (&mantissa[..1], rest.trim_start()),
        None => ("", mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let separators = [',', ' '];
    let mut groups = whole.split(separators);
    let first = groups.next()?;
    let good = |group: &str| group.len() == 3;
    if (whole.contains(separators) && first.len() > 3) || !groups.all(good) {
        return None;
    }
    // Behind the point only the last group may be shorter.
    let groups: Vec<_> = fraction.split(separators).collect();
    let (last, before) = groups.split_last()?;
    if !before.iter().all(|group| good(group)) || (!before.is_empty() && last.len() > 3) {
        return None;
    }
    let plain = |text: &str| text.replace(separators, "");
    Some(format!("{sign}{}.{}{exponent}", plain(whole), plain(fraction)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picos(line: &str) -> Option<i128> {
        reading(line).map(|picos| picos.0)
    }

    #[test]
    fn a_reading_has_a_unit_or_is_in_seconds() {
        let table = [
            ("5.105 us", 5_105_000),
            ("-12.345,6 ns", -12_346),
            ("1,234.567 890 us", 1_234_567_890),
            ("+1.000 000 000 123 s", 1_000_000_000_123),
            ("0.25 MS", 250_000_000),
            ("+5.10500E-006", 5_105_000),
            ("12 345 678 ps", 12_345_678),
        ];
        for (line, expected) in table {
            assert_eq!(picos(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn anything_else_is_no_reading() {
        for line in [
            "1,5 us",
            "12 34 us",
            "10.000 MHz",
            "+9.91E37",
            "",
            "us",
            "1.2.3 us",
            "1,,234 us",
            "- us",
            "1 2 us",
        ] {
            assert_eq!(picos(line), None, "{line}");
        }
        let mut decoder = TalkOnlyDecoder::default();
        let events = decoder.push(b"\r\n1.5 us\r\n10.0 MHz\r\n2.5 u");
        assert!(
            matches!(events[..], [IntervalEvent::Interval(_), IntervalEvent::Refused { .. }]),
            "{events:?}"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_events_at_any_read_size(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b','), b'0'..=b'9'], 0..300),
            read_size in 2..50_usize,
        ) {
            let events = |read_size| {
                let mut decoder = TalkOnlyDecoder::default();
                bytes.chunks(read_size).flat_map(|read| decoder.push(read)).collect::<Vec<_>>()
            };
            prop_assert_eq!(events(read_size), events(1));
        }
    }
}
