//! The TAPR TICC interval counter in timestamp mode: lines `<seconds.fraction> chA`, CRLF, and comments with `#`.
//!
//! Seconds become integer picoseconds: f64 loses them above some thousand seconds. A counter that knows how well each
//! reading is known may say so in a comment line before it, `# +/- <seconds> chA`; the TICC itself has no such line.

use crate::events::{IntervalChannel, IntervalEvent, IntervalStamp, Stamped};
use crate::units::{HostNanos, PS_PER_S, Picos};

/// Longest line in bytes. A debug line has about 90.
const LINE_MAX: usize = 256;

/// Decodes the bytes that come from a TICC.
#[derive(Debug, Default)]
pub struct TiccDecoder {
    line: Vec<u8>,
    /// Bytes of the line so far, those included that are not kept because it is too long.
    length: usize,
    /// The half-width that the last comment stated, until the next reading.
    half_width: Option<(IntervalChannel, Picos)>,
}

impl TiccDecoder {
    /// One that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes that arrived together, and returns what they completed. An event's time is that of its line end.
    pub fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<IntervalEvent>> {
        let mut events = Vec::new();
        for &byte in bytes {
            if byte == b'\n' {
                events.extend(self.end_of_line().map(|event| Stamped { at, event }));
            } else {
                self.length += 1;
                if self.length <= LINE_MAX {
                    self.line.push(byte);
                }
            }
        }
        events
    }

    fn end_of_line(&mut self) -> Option<IntervalEvent> {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        let refused = |what: &str| {
            let shown = String::from_utf8_lossy(&line[..line.len().min(40)]).escape_debug().to_string();
            Some(IntervalEvent::Refused { reason: format!("`{shown}`: {what}") })
        };
        if length > LINE_MAX {
            self.half_width = None;
            return refused("a line longer than any");
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            self.half_width = None;
            return refused("not ASCII");
        };
        let text = text.trim_end_matches('\r');
        if text.is_empty() {
            return None;
        }
        if let Some(comment) = text.strip_prefix('#') {
            return self.comment(comment.trim());
        }
        let stated = self.half_width.take();
        match reading(text) {
            Ok((channel, time)) => {
                let half_width = stated.filter(|(of, _)| *of == channel).map(|(_, half_width)| half_width);
                Some(IntervalEvent::Stamp(IntervalStamp { channel, time, half_width }))
            }
            Err(what) => refused(what),
        }
    }

    fn comment(&mut self, comment: &str) -> Option<IntervalEvent> {
        // Older firmware writes `10 MHz`, and what stands behind it asks for a key.
        if comment.to_ascii_lowercase().starts_with("10 mhz reference lost") {
            self.half_width = None;
            return Some(IntervalEvent::ReferenceLost);
        }
        let stated = comment.strip_prefix("+/-")?;
        self.half_width = reading(stated.trim_start()).ok().filter(|(_, half_width)| half_width.0 >= 0);
        if self.half_width.is_none() {
            return Some(IntervalEvent::Refused { reason: format!("`# {comment}` states no half-width") });
        }
        None
    }
}

/// A reading, `<seconds.fraction> chA`. A line of the debug mode has seven columns in front of that.
fn reading(line: &str) -> Result<(IntervalChannel, Picos), &'static str> {
    let words: Vec<_> = line.split_ascii_whitespace().collect();
    let (&[.., time, channel], 2 | 9) = (&words[..], words.len()) else {
        return Err("not `<seconds> <channel>`; the counter must be in timestamp mode");
    };
    let channel = match channel {
        "chA" => IntervalChannel::A,
        "chB" => IntervalChannel::B,
        _ => return Err("neither channel chA nor chB"),
    };
    seconds(time).map(|time| (channel, time)).ok_or("no number of seconds with up to 12 decimals")
}

/// Seconds with up to twelve decimals, exactly.
fn seconds(text: &str) -> Option<Picos> {
    let (negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > 15 || fraction.len() > 12 {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let fraction: i128 = format!("{fraction:0<12}").parse().ok()?;
    let magnitude = whole * PS_PER_S + fraction;
    Some(Picos(if negative { -magnitude } else { magnitude }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(text: &str, read_size: usize) -> Vec<IntervalEvent> {
        let mut decoder = TiccDecoder::new();
        let reads = text.as_bytes().chunks(read_size);
        reads.flat_map(|read| decoder.push(read, HostNanos(0))).map(|stamped| stamped.event).collect()
    }

    fn stamp(channel: IntervalChannel, time: i128, half_width: Option<i128>) -> IntervalEvent {
        IntervalEvent::Stamp(IntervalStamp { channel, time: Picos(time), half_width: half_width.map(Picos) })
    }

    use IntervalChannel::{A, B};

    #[test]
    fn readings_are_exact_picoseconds() {
        let text = "# TAPR TICC Timestamping Counter\r\n# timestamp (seconds)\r\n\r\n12.345678901234 chA\r\n\
                    8327.017700023045 chB\r\n999999999999.999999999999 chA\r\n7 chA\n0.5 chB\n-0.000000000001 chA\r\n";
        let expected = [
            stamp(A, 12_345_678_901_234, None),
            stamp(B, 8_327_017_700_023_045, None),
            stamp(A, 999_999_999_999_999_999_999_999, None),
            stamp(A, 7_000_000_000_000, None),
            stamp(B, 500_000_000_000, None),
            stamp(A, -1, None),
        ];
        for read_size in [1, 3, 7, 64, 1000] {
            assert_eq!(decoded(text, read_size), expected);
        }
    }

    #[test]
    fn a_stated_half_width_belongs_to_the_next_reading_of_its_channel() {
        let text = "# +/- 0.000012345678 chA\r\n1.0 chA\r\n2.0 chA\r\n# +/- 0.000000000000 chB\r\n# a word\r\n3.0 chB\r\n\
                    # +/- 0.000001 chA\r\n4.0 chB\r\n5.0 chA\r\n# +/- 0.1 chA\r\nrubbish\r\n6.0 chA\r\n";
        let events = decoded(text, 7);
        assert!(matches!(events[5], IntervalEvent::Refused { .. }));
        let expected = [
            stamp(A, PS_PER_S, Some(12_345_678)),
            stamp(A, 2 * PS_PER_S, None),
            stamp(B, 3 * PS_PER_S, Some(0)),
            stamp(B, 4 * PS_PER_S, None),
            stamp(A, 5 * PS_PER_S, None),
        ];
        assert_eq!(events[..5], expected);
        assert_eq!(events[6..], [stamp(A, 6 * PS_PER_S, None)]);
    }

    #[test]
    fn a_half_width_that_is_none_is_refused() {
        for text in ["# +/- chA\n", "# +/- -0.1 chA\n", "# +/- 0.1\n", "# +/- 1e-6 chA\n"] {
            assert!(matches!(decoded(text, 5)[..], [IntervalEvent::Refused { .. }]), "{text}");
        }
    }

    #[test]
    fn the_loss_of_the_counters_reference_is_an_event() {
        let text = "1.0 chA\r\n# 10 MHZ Reference lost!  Type any key to restart.\r\n0.5 chA\r\n";
        let expected = [stamp(A, PS_PER_S, None), IntervalEvent::ReferenceLost, stamp(A, PS_PER_S / 2, None)];
        assert_eq!(decoded(text, 7), expected);
    }

    #[test]
    fn lines_of_the_debug_mode_end_in_a_reading() {
        let line = "000848 001271 001000 001839 036830 73240178 0.000099976974 7324.017700023026 chA\r\n";
        assert_eq!(decoded(line, 64), [stamp(A, 7_324_017_700_023_026, None)]);
    }

    #[test]
    fn lines_that_are_no_reading_are_refused() {
        for line in [
            "1.0",
            "chA",
            "1.0 chC",
            "1.0 ch",
            "x chA",
            "1. chA",
            ".5 chA",
            "+1.0 chA",
            "1.0000000000001 chA",
            "1e3 chA",
            "1,0 chA",
            "--1.0 chA",
            "0.000000001 TI(A->B)",
            "1.0 2.0 chA",
            "NaN chA",
            "1234567890123456.0 chA",
        ] {
            let events = decoded(&format!("{line}\r\n"), 64);
            assert!(matches!(events[..], [IntervalEvent::Refused { .. }]), "{line}: {events:?}");
        }
        let long = format!("{}\r\n1.0 chA\r\n", "1".repeat(100_000));
        assert!(matches!(decoded(&long, 64)[..], [IntervalEvent::Refused { .. }, IntervalEvent::Stamp(_)]));
        assert!(decoded("1.0 chA", 64).is_empty(), "without a line end more digits could follow");
    }

    proptest! {
        #[test]
        fn every_printed_time_is_read_back(picos in 0..1_000_000_000_000_000_000_i128) {
            let text = format!("{}.{:012} chB\r\n", picos / PS_PER_S, picos % PS_PER_S);
            prop_assert_eq!(decoded(&text, 5), [stamp(B, picos, None)]);
        }

        #[test]
        fn any_bytes_give_the_same_events_at_any_read_size(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'#'), b'0'..=b'9'], 0..600),
            read_size in 2..100_usize,
        ) {
            let events = |read_size| {
                let mut decoder = TiccDecoder::new();
                bytes.chunks(read_size).flat_map(|read| decoder.push(read, HostNanos(0))).collect::<Vec<_>>()
            };
            prop_assert_eq!(events(read_size), events(1));
        }
    }
}
