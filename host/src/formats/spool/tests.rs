//! Spools: written, read back, cut and damaged.

use proptest::prelude::*;

use super::layout::{BLOCK, HEADER};
use super::*;
use crate::samples::LeftOut;
use crate::samples::testing::{Kept, Told, pieces};
use crate::units::Hertz;

const HEAD: Header = Header { counter_hz: Some(Hertz(12_500_000)), emulated: true };

fn key(session: u32, variant: &str) -> SampleKey {
    SampleKey { session, variant: variant.to_owned(), clock_id: "realtime".to_owned() }
}

fn written(sessions: &[(SampleKey, Vec<(u64, u64)>)]) -> Vec<u8> {
    let mut spool = SpoolWriter::new(Vec::new(), HEAD).unwrap();
    for (key, pairs) in sessions {
        spool.session(key).unwrap();
        pairs.iter().for_each(|&(pre, snapshot)| spool.pair(pre, snapshot).unwrap());
    }
    spool.finish().unwrap()
}

fn read(bytes: &[u8], lenient: bool, lengths: &[usize]) -> Result<(Kept, Header, LeftOut), SpoolError> {
    let (mut reader, mut kept) = (Spool::new(lenient), Kept::default());
    for piece in pieces(bytes, lengths) {
        reader.push(piece, &mut kept)?;
    }
    let (header, left_out) = reader.finish()?;
    Ok((kept, header, left_out))
}

fn pairs(count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|i| (i * 1000, i * 1000 + i % 3)).collect()
}

/// Two sessions, of which the first has two blocks.
fn two_sessions() -> Vec<u8> {
    written(&[(key(1, "inline"), pairs(4097)), (key(2, "inline"), pairs(3))])
}

const SECOND_BLOCK: usize = HEADER + BLOCK + MOST_RECORDS * 16;
const THIRD_BLOCK: usize = SECOND_BLOCK + BLOCK + 16;

#[test]
fn the_bytes_are_those_that_the_page_describes() {
    let bytes = written(&[(key(7, "inline"), vec![(1, 2)])]);
    assert_eq!(bytes.len(), 32 + 80 + 16 + 80);
    assert_eq!(bytes[..8], [0x89, b'P', b'P', b'S', b'\r', b'\n', 0x1a, b'\n']);
    assert_eq!(bytes[8..16], [1, 0, 32, 0, 1, 0, 16, 0]);
    assert_eq!(bytes[16..24], 12_500_000_u64.to_le_bytes());
    assert_eq!(bytes[24..28], [1, 0, 0, 0]);
    // CRC-32/ISO-HDLC, as another crate computes it.
    let crc = |bytes: &[u8]| crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes).to_le_bytes();
    assert_eq!(bytes[28..32], crc(&bytes[..28]));
    let (block, end) = (&bytes[32..112], &bytes[128..]);
    assert_eq!(block[..8], *b"BLK1\x01\0\0\0");
    assert_eq!(block[8..24], [0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(block[24..56], *b"inline\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(block[56..72], *b"realtime\0\0\0\0\0\0\0\0");
    assert_eq!(block[72..76], crc(&bytes[112..128]));
    assert_eq!(block[76..80], crc(&block[..76]));
    assert_eq!(bytes[112..128], [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(end[..16], *b"END1\0\0\0\0\x01\0\0\0\0\0\0\0");
}

#[test]
fn a_spool_without_pairs_is_one() {
    let (kept, header, left_out) = read(&written(&[]), false, &[5]).unwrap();
    assert_eq!((kept.0.len(), header, left_out.total()), (0, HEAD, 0));
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused_and_its_whole_blocks_are_read_leniently() {
    let whole = two_sessions();
    for length in [
        HEADER,
        HEADER + 1,
        HEADER + BLOCK + 5,
        SECOND_BLOCK,
        SECOND_BLOCK + 90,
        THIRD_BLOCK,
        whole.len() - 1,
    ] {
        let cut = &whole[..length];
        let said = read(cut, false, &[4000]).unwrap_err().to_string();
        assert!(said.contains("the file ends"), "{length}: {said}");
        let (kept, _, left_out) = read(cut, true, &[4000]).unwrap();
        let pairs = kept.pairs().len();
        let expected = [(SECOND_BLOCK, 4096), (THIRD_BLOCK, 4097), (whole.len() - BLOCK, 4100)];
        let held = expected.iter().rfind(|(end, _)| length >= *end).map_or(0, |(_, held)| *held);
        assert_eq!((pairs, left_out.total()), (held, 1), "{length}");
    }
    for length in 0..HEADER {
        assert_eq!(read(&whole[..length], true, &[4000]).unwrap_err(), SpoolError::NotASpool);
    }
}

#[test]
fn a_damaged_block_is_named_and_left_out_leniently() {
    let mut bytes = two_sessions();
    bytes[SECOND_BLOCK + BLOCK] ^= 1;
    let said = read(&bytes, false, &[usize::MAX]).unwrap_err().to_string();
    assert!(said.starts_with("block 2, byte 65648: its pairs are not those that were written"), "{said}");
    let (kept, _, left_out) = read(&bytes, true, &[usize::MAX]).unwrap();
    assert_eq!(kept.pairs().len(), 4096 + 3);
    assert_eq!(left_out.to_string(), "1 block left out: 1 damaged (first: block 2)");
}

#[test]
fn a_damaged_block_header_ends_the_reading_even_leniently() {
    let mut bytes = two_sessions();
    bytes[SECOND_BLOCK + 4] ^= 1;
    for lenient in [false, true] {
        let said = read(&bytes, lenient, &[usize::MAX]).unwrap_err().to_string();
        assert!(said.starts_with("block 2, byte 65648: no block begins here"), "{said}");
    }
}

#[test]
fn a_block_that_is_missing_is_found_by_number_and_by_count() {
    let mut bytes = two_sessions();
    bytes.drain(HEADER..SECOND_BLOCK);
    let said = read(&bytes, false, &[usize::MAX]).unwrap_err().to_string();
    assert!(
        said.contains("first pair is number 4096 of inline realtime session 1, number 0 was to follow"),
        "{said}"
    );
    let (_, _, left_out) = read(&bytes, true, &[usize::MAX]).unwrap();
    assert_eq!(left_out.total(), 2, "{left_out}");
    let mut bytes = two_sessions();
    bytes.drain(THIRD_BLOCK..THIRD_BLOCK + BLOCK + 3 * 16);
    let said = read(&bytes, false, &[usize::MAX]).unwrap_err().to_string();
    assert!(said.contains("the end mark counts 4100 pairs, the blocks before it hold 4097"), "{said}");
}

#[test]
fn another_version_and_bytes_behind_the_end_are_refused() {
    let mut bytes = two_sessions();
    bytes.push(0);
    assert!(
        read(&bytes, true, &[usize::MAX]).unwrap_err().to_string().contains("something follows the end mark")
    );
    let mut bytes = two_sessions();
    bytes[8] = 2;
    assert_eq!(read(&bytes, false, &[9]).unwrap_err(), SpoolError::Version { version: 2, record: 1 });
    let mut bytes = two_sessions();
    bytes[17] ^= 1;
    assert_eq!(read(&bytes, false, &[9]).unwrap_err(), SpoolError::Header);
}

#[test]
fn a_name_that_does_not_fit_is_refused_by_the_writer() {
    let mut spool = SpoolWriter::new(Vec::new(), HEAD).unwrap();
    spool.session(&key(1, &"v".repeat(MOST_NAME))).unwrap();
    assert!(spool.session(&key(1, &"v".repeat(MOST_NAME + 1))).unwrap_err().to_string().contains("no room"));
    assert!(spool.session(&key(1, "a\0b")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_written_is_read_however_it_is_cut(
        sessions in prop::collection::vec((0..9_u32, "[a-z:+-]{0,12}", prop::collection::vec(any::<(u64, u64)>(), 1..60)), 0..6),
        lengths in prop::collection::vec(1..300_usize, 1..5),
    ) {
        let sessions: Vec<_> = sessions.into_iter().map(|(session, variant, pairs)| (key(session, &variant), pairs)).collect();
        // The same session twice in a row would number its pairs twice.
        prop_assume!(sessions.windows(2).all(|two| two[0].0 != two[1].0));
        let (kept, header, _) = read(&written(&sessions), false, &lengths).unwrap();
        let told: Vec<Told> = sessions
            .into_iter()
            .flat_map(|(key, pairs)| {
                std::iter::once(Told::Session(key)).chain(pairs.into_iter().map(|(a, b)| Told::Pair(a, b)))
            })
            .collect();
        prop_assert_eq!((kept.0, header), (told, HEAD));
    }

    #[test]
    fn no_changed_byte_goes_unseen(place in any::<prop::sample::Index>(), change in 1..=255_u8, lenient in any::<bool>()) {
        let mut bytes = written(&[(key(1, "inline"), pairs(40)), (key(2, "inline"), pairs(40))]);
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        let whole = read(&bytes, lenient, &[usize::MAX]);
        prop_assert!(whole.as_ref().map_or(true, |(_, _, left_out)| lenient && left_out.total() > 0), "{:?}", whole);
        prop_assert_eq!(read(&bytes, lenient, &[13, 70]), whole);
    }
}
