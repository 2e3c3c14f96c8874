//! The transcripts of interval counters, played at several read sizes.

use super::*;
use crate::units::Picos;

/// The readings in picoseconds, losses of the reference, and lines that were refused.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heard {
    intervals: Vec<i128>,
    lost: usize,
    refused: usize,
}

fn play(transcript: &str, driver: IntervalCounterDriver, read_size: usize) -> Heard {
    let mut decoder = IntervalCounterDecoder::new(driver, ['A', 'B'], false);
    let mut heard = Heard::default();
    for line in transcript.lines() {
        match line.split_at_checked(2) {
            Some(("> ", sent)) => decoder.sent(format!("{sent}\n").as_bytes()),
            Some(("< ", answer)) => {
                let answer = format!("{answer}\r\n");
                let reads = answer.as_bytes().chunks(read_size);
                for stamped in reads.flat_map(|read| decoder.push(read, HostNanos(0))) {
                    match stamped.event {
                        IntervalEvent::Interval(reading) => heard.intervals.push(reading.time.0),
                        IntervalEvent::ReferenceLost => heard.lost += 1,
                        IntervalEvent::Refused { .. } => heard.refused += 1,
                        other => panic!("{other:?}"),
                    }
                }
            }
            _ => {}
        }
    }
    heard
}

#[test]
fn every_transcript_gives_its_readings() {
    let table = [
        (
            IntervalCounterDriver::Keysight53230a,
            include_str!("../../../../fixtures/transcripts/keysight-53230a.txt"),
            Heard { intervals: vec![5_105_200, -12], lost: 1, refused: 0 },
        ),
        (
            IntervalCounterDriver::Cnt90,
            include_str!("../../../../fixtures/transcripts/cnt-90.txt"),
            Heard { intervals: vec![1_500_000, -42], lost: 0, refused: 0 },
        ),
        (
            IntervalCounterDriver::Sr620,
            include_str!("../../../../fixtures/transcripts/sr620.txt"),
            Heard { intervals: vec![2_500_000, -10], lost: 0, refused: 0 },
        ),
        (
            IntervalCounterDriver::Hp53131a,
            include_str!("../../../../fixtures/transcripts/hp-53131a.txt"),
            Heard { intervals: vec![5_105_200, -42, 1_234_567_000_001], lost: 0, refused: 2 },
        ),
    ];
    for (driver, transcript, expected) in table {
        for read_size in [1, 3, 7, 64] {
            assert_eq!(play(transcript, driver, read_size), expected, "{}", driver.name());
        }
    }
}

#[test]
fn seconds_far_from_zero_keep_their_picoseconds() {
    let mut decoder = IntervalCounterDecoder::new(IntervalCounterDriver::Ticc, ['A', 'B'], false);
    for decimals in 0..=12 {
        let text = format!("{:.decimals$} chA\r\n", 123_456_789 + decimals);
        let events = decoder.push(text.as_bytes(), HostNanos(0));
        let whole = (123_456_789 + decimals as i128) * crate::units::PS_PER_S;
        let stamp = crate::events::IntervalStamp {
            channel: crate::events::IntervalChannel::A,
            time: Picos(whole),
            half_width: None,
        };
        assert_eq!(events[0].event, IntervalEvent::Stamp(stamp), "{text}");
    }
}
