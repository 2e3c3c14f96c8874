use proptest::prelude::*;

use super::*;

fn record(at: u64, direction: Direction, payload: &[u8]) -> RawRecord {
    RawRecord { at: HostNanos(at), direction, payload: payload.to_vec() }
}

fn written(records: &[RawRecord]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = RawWriter::new(&mut out, "link").unwrap();
    for record in records {
        writer.record(record.at, record.direction, &record.payload).unwrap();
    }
    out
}

#[test]
fn the_text_is_as_documented() {
    let text = written(&[
        record(12, Direction::Rx, b"a\\b \xb5\x00\r\n"),
        record(13, Direction::Tx, b"*IDN? "),
        record(14, Direction::Did, b"{}"),
        record(15, Direction::Rx, b""),
    ]);
    let expected = "# ppsrig raw 1 link\n12 rx a\\\\b \\xb5\\x00\\r\\n\n13 tx *IDN?\\x20\n14 did {}\n15 rx\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn a_torn_last_line_is_forgiven_and_counted() {
    let text = written(&[record(1, Direction::Rx, b"one"), record(2, Direction::Rx, b"two")]);
    let whole = text.len() - b"2 rx two\n".len();
    for end in 0..text.len() {
        let log = parse(&text[..end], "link").unwrap();
        let records = if end >= whole { 1 } else { 0 };
        assert_eq!(log.records.len(), records, "cut at byte {end}");
    }
    assert_eq!(parse(&text[..text.len() - 1], "link").unwrap().torn_tail_bytes, 8);
    assert_eq!(parse(&text, "link").unwrap().torn_tail_bytes, 0);
}

#[test]
fn a_torn_line_elsewhere_is_an_error_with_its_number() {
    let faults = [
        ("1 rx one\n2 r\n3 rx three\n", 3, LineFault::Direction),
        ("1 rx one\n\n3 rx three\n", 3, LineFault::Time),
        ("+1 rx one\n", 2, LineFault::Time),
        ("99999999999999999999 rx one\n", 2, LineFault::Time),
        ("1 rx \\x4\n", 2, LineFault::Escape),
        ("1 rx \\x+4\n", 2, LineFault::Escape),
        ("1 rx \\q\n", 2, LineFault::Escape),
        ("1 rx one\r\n", 2, LineFault::Unescaped),
    ];
    for (body, line, fault) in faults {
        let text = format!("# ppsrig raw 1 link\n{body}");
        assert_eq!(parse(text.as_bytes(), "link"), Err(RawLogError::Line { line, fault }), "{body:?}");
    }
}

#[test]
fn another_file_is_refused_by_its_first_line() {
    let other = RawLogError::NotARecording { expected: "link".to_owned() };
    assert_eq!(parse(b"# ppsrig raw 1 generator\n", "link"), Err(other.clone()));
    assert_eq!(parse(b"session,commanded_seq\n", "link"), Err(other.clone()));
    assert_eq!(parse(b"\x7fELF", "link"), Err(other));
    let newer = RawLogError::OtherVersion { found: "2".to_owned() };
    assert_eq!(parse(b"# ppsrig raw 2 link\n", "link"), Err(newer));
}

#[test]
fn after_a_failed_write_nothing_more_is_written() {
    struct Full {
        room: usize,
        failures: usize,
    }
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 && self.failures < 1 {
                self.failures += 1;
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = if self.failures > 0 { bytes.len() } else { bytes.len().min(self.room) };
            self.room = self.room.saturating_sub(taken);
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = RawWriter::new(Full { room: 24, failures: 0 }, "link").unwrap();
    let first = writer.record(HostNanos(1), Direction::Rx, b"long enough").unwrap_err();
    assert_eq!(first.kind(), io::ErrorKind::StorageFull);
    assert!(
        writer.record(HostNanos(2), Direction::Rx, b"more").is_err(),
        "there is room again, but half a line"
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        records in prop::collection::vec((any::<u64>(), 0..3_usize, prop::collection::vec(any::<u8>(), 0..40)), 0..20)
    ) {
        let records: Vec<_> =
            records.iter().map(|(at, way, payload)| record(*at, Direction::ALL[*way], payload)).collect();
        let text = written(&records);
        prop_assert!(text.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')));
        prop_assert!(!text.windows(2).any(|pair| pair == b" \n"));
        prop_assert_eq!(parse(&text, "link").unwrap().records, records);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _any = parse(&bytes, "link");
        let mut with_header = header("link").into_bytes();
        with_header.extend(bytes);
        let _any = parse(&with_header, "link");
    }
}
