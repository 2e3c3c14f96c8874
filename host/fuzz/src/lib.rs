//! What the fuzz targets share: an input in reads of changing sizes, and the claim that sizes make no difference.
//!
//! An input is either a file as it is, or one of the raw recordings of fixtures/captures, whose payload is then taken: so
//! the recordings serve as seeds of every target.

use std::borrow::Cow;
use std::fmt::Debug;

use ppsrig::analysis::samples::Collector;
use ppsrig::formats::raw_log;
use ppsrig::formats::raw_log::Direction;
use ppsrig::formats::series::{Kind, Read, ReadOptions, SeriesError, SeriesReader, TagUnit};
use ppsrig::series::Phase;

/// Points that a fuzzed file may have: a gap costs 8 bytes a missing point.
const MOST_POINTS: usize = 1 << 12;

/// The bytes that came from an instrument, if `data` is a recording, else `data` itself.
pub fn payload(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(rest) = data.strip_prefix(b"# ppsrig raw 1 ") else { return data.into() };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let Ok(instrument) = std::str::from_utf8(&rest[..end]) else { return data.into() };
    match raw_log::parse(data, instrument) {
        Ok(log) => {
            let received = log.records.into_iter().filter(|record| record.direction == Direction::Rx);
            received.flat_map(|record| record.payload).collect::<Vec<_>>().into()
        }
        Err(_) => data.into(),
    }
}

/// The bytes in reads of 1 to 64 bytes, and now and then of nothing; their sizes follow from the bytes.
pub fn reads(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    // FNV-1a, then a linear congruential generator (Knuth's MMIX).
    let mut state = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (read, left) = rest.split_at(rest.len().min((state >> 58) as usize));
        rest = left;
        Some(read)
    })
}

/// A decoder that is pushed bytes gives the same events whatever the reads were.
pub fn same_at_any_read_size<D, E: Debug + PartialEq>(
    data: &[u8],
    new: impl Fn() -> D,
    push: impl Fn(&mut D, &[u8]) -> Vec<E>,
    finish: impl Fn(&mut D) -> Vec<E>,
) {
    let bytes = payload(data);
    let (mut whole, mut parts) = (new(), new());
    let mut expected = push(&mut whole, &bytes);
    expected.extend(finish(&mut whole));
    let mut found: Vec<E> = reads(&bytes).flat_map(|read| push(&mut parts, read)).collect();
    found.extend(finish(&mut parts));
    assert_eq!(found, expected);
}

/// A file of a series, read as each of these kinds, strictly and leniently: the same series or the same error at any read
/// size, and never a series that is none.
pub fn series(data: &[u8], kinds: &[Option<Kind>]) {
    for kind in kinds {
        for (lenient, frequency) in [(false, false), (true, false), (true, true)] {
            let tags = kind.map(|_| if data.len() % 2 == 0 { TagUnit::Seconds } else { TagUnit::Days });
            let options = ReadOptions {
                kind: *kind,
                lenient,
                frequency,
                tags,
                most_points: MOST_POINTS,
                ..ReadOptions::default()
            };
            let whole = read(std::iter::once(data), &options);
            let parts = read(reads(data), &options);
            assert_same(&parts, &whole);
            if let Ok(read) = whole {
                assert!(read.series.tau0_s > 0.0 && read.series.tau0_s.is_finite());
                assert!((2..=MOST_POINTS + 1).contains(&read.series.phase.len()));
                assert!(read.series.missing < read.series.phase.len());
                assert!(lenient || read.input.left_out.count() == 0);
            }
        }
    }
}

/// Series by their bits, since a missing point is NaN; all else by value.
fn assert_same(left: &Result<Read, SeriesError>, right: &Result<Read, SeriesError>) {
    match (left, right) {
        (Ok(left), Ok(right)) => {
            let facts = |read: &Read| (read.input.clone(), read.series.tau0_s, read.series.missing);
            assert_eq!(facts(left), facts(right));
            assert!(bits(&left.series.phase).eq(bits(&right.series.phase)), "other points");
        }
        _ => assert_eq!(left.as_ref().err(), right.as_ref().err()),
    }
}

fn bits(phase: &Phase) -> Box<dyn Iterator<Item = u64> + '_> {
    match phase {
        Phase::Seconds(values) => Box::new(values.iter().map(|value| value.to_bits())),
        Phase::Picoseconds(values) => Box::new(values.iter().map(|value| value.cast_unsigned())),
    }
}

fn read<'a>(reads: impl Iterator<Item = &'a [u8]>, options: &ReadOptions) -> Result<Read, SeriesError> {
    let mut reader = SeriesReader::new(options.clone());
    for read in reads {
        reader.push(read)?;
    }
    reader.finish()
}

/// A file of samples: the same sessions or the same error at any read size, and every pair in a class.
pub fn samples<T: Debug + PartialEq, E: Debug + PartialEq>(
    data: &[u8],
    read: impl Fn(&mut dyn Iterator<Item = &[u8]>, &mut Collector) -> Result<T, E>,
) {
    let run = |reads: &mut dyn Iterator<Item = &[u8]>| {
        let mut collector = Collector::default();
        read(reads, &mut collector).map(|said| (said, collector.finish()))
    };
    let whole = run(&mut std::iter::once(data));
    assert_eq!(run(&mut reads(data)), whole);
    if let Ok((_, Ok(sessions))) = whole {
        for session in sessions {
            assert!(session.n() > 0 || !session.is_whole());
            assert_eq!(session.histogram().total(), session.n());
        }
    }
}

/// A spool with the sums that its bytes have, as far as it can be followed.
pub fn spool_with_sums(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    sum(&mut bytes, 0, 28);
    let mut at = 32;
    while let Some(count) = bytes.get(at + 4..at + 8).and_then(|field| field.try_into().ok()) {
        let records = (u32::from_le_bytes(count) as usize).min(4096) * 16;
        if let Some(pairs) = bytes.get(at + 80..at + 80 + records) {
            let crc = crc32fast::hash(pairs).to_le_bytes();
            bytes[at + 72..at + 76].copy_from_slice(&crc);
        }
        sum(&mut bytes, at, at + 76);
        at += 80 + records;
    }
    bytes
}

fn sum(bytes: &mut [u8], from: usize, to: usize) {
    if bytes.len() >= to + 4 {
        let crc = crc32fast::hash(&bytes[from..to]).to_le_bytes();
        bytes[to..to + 4].copy_from_slice(&crc);
    }
}
