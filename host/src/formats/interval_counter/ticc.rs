//! The TAPR TICC: readings as lines, and comments with `#`.
//!
//! Its modes print: timestamp `<s> chA`; interval `<s> TI(A->B)`; period `<s> chA`, told from timestamps only by the
//! heading; TimeLab both timestamps and a third column made of them, which is left; debug seven columns in front of a
//! timestamp, which must agree with it (source: TAPR/TICC, TICC.ino). A counter that knows how well each reading is
//! known may say so in a comment line before it, `# +/- <seconds> chA`; the TICC itself has no such line.

use super::{Lines, refused};
use crate::events::IntervalChannel::{self, A, B};
use crate::events::{IntervalEvent, IntervalReading, IntervalStamp};
use crate::formats::picoseconds;
use crate::units::{PS_PER_S, Picos};

/// One count of the debug mode's coarse column, PICstop: 100 us, in picoseconds.
const COARSE_PS: i128 = 100_000_000;
/// Columns of the debug mode, the channel included.
const DEBUG_COLUMNS: usize = 9;
/// A channel's timestamps grow; one that falls by more than this is of another scale.
const RESTART_PS: i128 = PS_PER_S / 2;
/// Most decimals that it prints.
const DECIMALS: usize = 12;

/// Decodes the lines of a TICC.
#[derive(Debug)]
pub(super) struct TiccDecoder {
    lines: Lines,
    state: State,
}

#[derive(Debug)]
struct State {
    letters: [char; 2],
    /// The half-width that the last comment stated, until the next reading.
    half_width: Option<(IntervalChannel, Picos)>,
    /// Of period mode: where the sum of channel A's periods stands.
    periods: Option<Picos>,
    /// The last timestamp of each channel.
    last: [Option<Picos>; 2],
}

impl TiccDecoder {
    pub(super) fn new(letters: [char; 2]) -> Self {
        let state = State { letters, half_width: None, periods: None, last: [None; 2] };
        Self { lines: Lines::default(), state }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<IntervalEvent> {
        let mut events = Vec::new();
        let Self { lines, state } = self;
        lines.push(bytes, |line| match line {
            Ok(line) => state.line(line, &mut events),
            Err(event) => {
                state.half_width = None;
                events.push(event);
            }
        });
        events
    }
}

impl State {
    fn line(&mut self, line: &str, events: &mut Vec<IntervalEvent>) {
        if let Some(comment) = line.strip_prefix('#') {
            return self.comment(comment.trim(), events);
        }
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let stated = self.half_width.take();
        let half_width = |of| stated.filter(|(channel, _)| *channel == of).map(|(_, half_width)| half_width);
        match words[..] {
            [] => {}
            // Made of the two lines before it.
            [_, "chC", "(int(B)", "+", "(B", "-", "A))"] => {}
            [time, "TI(A->B)"] => events.push(match seconds(time) {
                Some(time) => IntervalEvent::Interval(IntervalReading { time, half_width: None }),
                None => refused(line, NO_NUMBER),
            }),
            _ => match self.reading(&words) {
                Ok((channel, time)) => self.stamp(channel, time, half_width(channel), events),
                Err(what) => events.push(refused(line, what)),
            },
        }
    }

    /// A reading, `<seconds.fraction> chA`. A line of the debug mode has seven columns in front of that.
    fn reading(&self, words: &[&str]) -> Result<(IntervalChannel, Picos), &'static str> {
        let (&[.., time, channel], 2 | DEBUG_COLUMNS) = (words, words.len()) else {
            return Err("not `<seconds> <channel>`, as a TICC prints");
        };
        let mut letters = channel.strip_prefix("ch").into_iter().flat_map(str::chars);
        let channel = match (letters.next(), letters.next()) {
            (Some(letter), None) if letter == self.letters[0] => A,
            (Some(letter), None) if letter == self.letters[1] => B,
            _ => return Err("neither of the two channels"),
        };
        let time = seconds(time).ok_or(NO_NUMBER)?;
        if let &[_, _, _, _, _, coarse, fine, _, _] = words {
            let coarse: i128 = coarse.parse().map_err(|_| NO_NUMBER)?;
            let fine = seconds(fine).ok_or(NO_NUMBER)?;
            if coarse.checked_mul(COARSE_PS).map(|coarse| coarse - fine.0) != Some(time.0) {
                return Err("the timestamp is not PICstop * 100 us - tof, so the line is damaged");
            }
        }
        Ok((channel, time))
    }

    fn stamp(
        &mut self,
        channel: IntervalChannel,
        time: Picos,
        half_width: Option<Picos>,
        events: &mut Vec<IntervalEvent>,
    ) {
        let time = match &mut self.periods {
            None => time,
            // Each channel's periods add up to a scale of its own; only the edges' is of use.
            Some(_) if channel == B => return,
            Some(sum) => {
                sum.0 = sum.0.saturating_add(time.0);
                *sum
            }
        };
        let last = &mut self.last[usize::from(channel == B)];
        if last.replace(time).is_some_and(|last| time.0 + RESTART_PS < last.0) {
            self.last[usize::from(channel == A)] = None;
            events.push(IntervalEvent::Restarted);
        }
        events.push(IntervalEvent::Stamp(IntervalStamp { channel, time, half_width }));
    }

    fn comment(&mut self, comment: &str, events: &mut Vec<IntervalEvent>) {
        let lower = comment.to_ascii_lowercase();
        // Older firmware writes `10 MHz`, and what stands behind it asks for a key.
        if lower.starts_with("10 mhz reference lost") {
            self.half_width = None;
            self.last = [None; 2];
            return events.push(IntervalEvent::ReferenceLost);
        }
        // The heading, which opening the port prints anew: the scale begins at 0 then.
        if lower.ends_with("(seconds)") {
            self.periods = lower.starts_with("period").then_some(Picos(0));
            if self.last.iter().any(Option::is_some) {
                self.last = [None; 2];
                events.push(IntervalEvent::Restarted);
            }
            return;
        }
        let Some(stated) = comment.strip_prefix("+/-") else { return };
        let words: Vec<_> = stated.split_ascii_whitespace().collect();
        self.half_width = match words.len() {
            2 => self.reading(&words).ok().filter(|(_, half_width)| half_width.0 >= 0),
            _ => None,
        };
        if self.half_width.is_none() {
            events.push(IntervalEvent::Refused { reason: format!("`# {comment}` states no half-width") });
        }
    }
}

const NO_NUMBER: &str = "no number of seconds with up to 12 decimals";

/// As it prints them: an exponent, a plus sign or a missing digit beside the point is damage.
fn seconds(text: &str) -> Option<Picos> {
    let number = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let good = digits(whole) && digits(fraction) && whole.len() <= 15 && fraction.len() <= DECIMALS;
    if good { picoseconds::parse(text, 0) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(text: &str, read_size: usize) -> Vec<IntervalEvent> {
        let mut decoder = TiccDecoder::new(['A', 'B']);
        let reads = text.as_bytes().chunks(read_size);
        reads.flat_map(|read| decoder.push(read)).collect()
    }

    fn stamp(channel: IntervalChannel, time: i128, half_width: Option<i128>) -> IntervalEvent {
        IntervalEvent::Stamp(IntervalStamp { channel, time: Picos(time), half_width: half_width.map(Picos) })
    }

    #[test]
    fn readings_are_exact_picoseconds() {
        let text = "# TAPR TICC Timestamping Counter\r\n# timestamp (seconds)\r\n\r\n12.345678901234 chA\r\n\
                    8327.017700023045 chB\r\n13 chA\n8327.5 chB\n999999999999.999999999999 chA\r\n";
        let expected = [
            stamp(A, 12_345_678_901_234, None),
            stamp(B, 8_327_017_700_023_045, None),
            stamp(A, 13_000_000_000_000, None),
            stamp(B, 8_327_500_000_000_000, None),
            stamp(A, 999_999_999_999_999_999_999_999, None),
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
    fn a_scale_that_begins_anew_is_an_event_with_its_heading_or_without() {
        let again = "# timestamp (seconds)\r\n9.0 chA\r\n# timestamp (seconds)\r\n1.0 chA\r\n";
        let nine = stamp(A, 9 * PS_PER_S, None);
        let one = stamp(A, PS_PER_S, None);
        assert_eq!(decoded(again, 7), [nine.clone(), IntervalEvent::Restarted, one.clone()]);
        assert_eq!(decoded("9.0 chA\r\n1.0 chA\r\n", 7), [nine, IntervalEvent::Restarted, one]);
    }

    #[test]
    fn channels_may_come_out_of_order() {
        let expected = [stamp(B, 2 * PS_PER_S, None), stamp(A, PS_PER_S, None), stamp(B, 3 * PS_PER_S, None)];
        assert_eq!(decoded("2.0 chB\r\n1.0 chA\r\n3.0 chB\r\n", 7), expected);
    }

    #[test]
    fn intervals_may_be_negative() {
        let text = "# time interval A->B (seconds)\r\n0.000000000017 TI(A->B)\r\n-0.000000000042 TI(A->B)\r\n1e3 TI(A->B)\n";
        let interval = |ps| IntervalEvent::Interval(IntervalReading { time: Picos(ps), half_width: None });
        let events = decoded(text, 3);
        assert_eq!(events[..2], [interval(17), interval(-42)]);
        assert!(matches!(events[2..], [IntervalEvent::Refused { .. }]));
    }

    #[test]
    fn periods_add_up_to_timestamps_of_channel_a() {
        let text = "# period (seconds)\r\n1.000000000001 chA\r\n0.999999999999 chB\r\n1.000000000002 chA\r\n";
        assert_eq!(decoded(text, 7), [stamp(A, PS_PER_S + 1, None), stamp(A, 2 * PS_PER_S + 3, None)]);
    }

    #[test]
    fn the_third_column_of_timelab_is_made_of_the_other_two() {
        let text = "1.000000000001 chA\r\n1.000000000003 chB\r\n1.000000000002 chC (int(B) + (B - A))\r\n";
        assert_eq!(decoded(text, 7), [stamp(A, PS_PER_S + 1, None), stamp(B, PS_PER_S + 3, None)]);
    }

    #[test]
    fn channels_may_have_other_letters() {
        let mut decoder = TiccDecoder::new(['X', '2']);
        let expected = [stamp(A, PS_PER_S, None), stamp(B, 2 * PS_PER_S, None)];
        assert_eq!(decoder.push(b"1.0 chX\n2.0 ch2\n"), expected);
        assert!(matches!(decoder.push(b"1.0 chA\n")[..], [IntervalEvent::Refused { .. }]));
    }

    #[test]
    fn lines_of_the_debug_mode_end_in_a_reading() {
        let line = "000848 001271 001000 001839 036830 73240178 0.000099976974 7324.017700023026 chA\r\n";
        assert_eq!(decoded(line, 64), [stamp(A, 7_324_017_700_023_026, None)]);
        let damaged = line.replace("023026", "023027");
        assert!(matches!(decoded(&damaged, 64)[..], [IntervalEvent::Refused { .. }]));
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
                let mut decoder = TiccDecoder::new(['A', 'B']);
                bytes.chunks(read_size).flat_map(|read| decoder.push(read)).collect::<Vec<_>>()
            };
            prop_assert_eq!(events(read_size), events(1));
        }
    }
}
