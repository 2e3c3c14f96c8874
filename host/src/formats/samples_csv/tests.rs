//! CSV of samples: what is read, and what is refused with which words.

use proptest::prelude::*;

use super::*;
use crate::samples::testing::{Kept, Told, pieces};

type Read = Result<(Kept, LeftOut), SamplesCsvError>;

fn read_as(bytes: &[u8], lenient: bool, lengths: &[usize], fast: bool) -> Read {
    let (mut reader, mut kept) = (SamplesCsv::new(lenient), Kept::default());
    for piece in pieces(bytes, lengths) {
        if let Some(layout) = &mut reader.layout {
            layout.fast &= fast;
        }
        reader.push(piece, &mut kept)?;
    }
    Ok((kept, reader.finish()?))
}

fn read(text: &str) -> Read {
    read_as(text.as_bytes(), false, &[usize::MAX], true)
}

fn refusal(text: &str) -> String {
    read(text).expect_err("it is refused").to_string()
}

fn key(session: u32, variant: &str, clock_id: &str) -> Told {
    Told::Session(SampleKey { session, variant: variant.to_owned(), clock_id: clock_id.to_owned() })
}

#[test]
fn pairs_of_a_bundle_are_read_by_session() {
    let text = "session,variant,clock_id,seq,counter_pre,counter_snapshot\n\
                1,inline,realtime,0,123456789012,123456789013\n\
                1,inline,realtime,1,123456789100,123456789100\n\
                2,inline,realtime,0,18446744073709551614,18446744073709551615\n";
    let (kept, left_out) = read(text).unwrap();
    let told = [
        key(1, "inline", "realtime"),
        Told::Pair(123_456_789_012, 123_456_789_013),
        Told::Pair(123_456_789_100, 123_456_789_100),
        key(2, "inline", "realtime"),
        Told::Pair(u64::MAX - 1, u64::MAX),
    ];
    assert_eq!(kept.0, told);
    assert_eq!(left_out.total(), 0);
}

#[test]
fn columns_stand_in_any_order_among_others_under_either_name() {
    let text =
        "note,counter_snap,x,counter_pre,variant\r\n\"a, \"\"b\"\"\",7,1.5,\"5\",inline\r\n,8,,6,inline\r\n";
    let (kept, _) = read(text).unwrap();
    assert_eq!(kept.0, [key(1, "inline", ""), Told::Pair(5, 7), Told::Pair(6, 8)]);
    let (kept, _) = read("\u{feff}counter_pre,counter_snapshot\n1,2\n").unwrap();
    assert_eq!(kept.0, [key(1, "", ""), Told::Pair(1, 2)]);
}

#[test]
fn histograms_of_a_bundle_are_read_by_batch() {
    let text = "session,variant,clock_id,cores,batch,ticks,count\n\
                1,inline,realtime,1,0,0,13618\n1,inline,realtime,1,31,4294967295,1\n\
                1,inline:overhead,realtime,1,0,0,31250\n";
    let (kept, _) = read(text).unwrap();
    let told = [
        key(1, "inline", "realtime"),
        Told::Counted(0, 0, 13618),
        Told::Counted(31, u32::MAX, 1),
        key(1, "inline:overhead", "realtime"),
        Told::Counted(0, 0, 31250),
    ];
    assert_eq!(kept.0, told);
}

#[test]
fn a_header_that_is_not_ours_is_refused_with_what_it_is() {
    assert!(refusal("").contains("the file is empty"));
    assert!(refusal("counter_pre,counter_snapshot").contains("the file ends within it"));
    assert!(refusal("\n1,2\n").contains("names neither counter_pre and counter_snapshot nor"));
    assert!(refusal("a,b\n1,2\n").contains("it begins `a,b`"));
    assert!(refusal("counter_pre;counter_snapshot\n").contains("separated by `;`, not `,`"));
    assert!(refusal("counter_pre\tcounter_snapshot\n").contains("separated by a tab"));
    assert!(refusal("counter_pre,counter_snap,counter_snapshot\n").contains("names counter_snapshot twice"));
}

#[test]
fn a_faulty_line_is_refused_with_line_and_column() {
    let rows = [
        ("\n", "line 3, column 1: the line is blank"),
        ("  \r\n", "line 3, column 1: the line is blank"),
        ("1,x\n", "line 3, column 3: counter_snapshot is `x`, which is no whole number"),
        ("-1,2\n", "line 3, column 1: counter_pre is `-1`, which is no whole number"),
        ("1, 2\n", "line 3, column 3: counter_snapshot is ` 2`, which is no whole number"),
        ("1,\n", "line 3, column 3: counter_snapshot is ``, which is no whole number"),
        ("1,nan\n", "counter_snapshot is `nan`, which is no whole number"),
        ("1,1e308\n", "counter_snapshot is `1e308`, which is no whole number"),
        ("1,2,5\n", "line 3, column 5: `5` is one field more than the header has"),
        ("1\n", "line 3, column 2: the line ends before counter_snapshot"),
        ("1,18446744073709551616\n", "counter_snapshot is `18446744073709551616`, which is too large"),
        ("1,\"2\n", "line 3, column 3: the quote of `\"2` is not closed"),
        ("1,2\"\n", "line 3, column 3: the quote of `2\"` is not closed"),
        ("1,23", "line 3, column 5: the file ends within the line `1,23`: it may have lost digits"),
    ];
    for (line, words) in rows {
        let said = refusal(&format!("counter_pre,counter_snapshot\n10,11\n{line}"));
        assert!(said.contains(words), "{said:?} of {line:?}");
    }
    let said = refusal("session,counter_pre,counter_snapshot\n4294967296,1,2\n");
    assert!(said.contains("session is `4294967296`, which is too large"), "{said}");
    let said = refusal("batch,ticks,count\n0,1,1099511627777\n");
    assert!(said.contains("count is `1099511627777`, which is too large"), "{said}");
}

#[test]
fn a_faulty_line_is_left_out_and_counted_if_that_is_wished() {
    let text = format!(
        "counter_pre,counter_snapshot\n1,2\n\n3\n4,5\n,\n6,x\n{}\n7,8\n9,1",
        "1".repeat(MOST_LINE + 1)
    );
    for lengths in [[usize::MAX], [7], [1000]] {
        let (kept, left_out) = read_as(text.as_bytes(), true, &lengths, true).unwrap();
        assert_eq!(kept.pairs(), [(1, 2), (4, 5), (7, 8)]);
        assert_eq!(
            left_out.to_string(),
            "6 lines left out: 1 blank (first: line 3), 1 field missing (first: line 4), \
             2 not a number (first: line 6), 1 line too long (first: line 8), 1 torn (first: line 10)"
        );
    }
}

#[test]
fn a_name_with_a_quote_in_it_is_never_taken_for_numbers() {
    let text = "session,variant,counter_pre,counter_snapshot\n1,\"a,1\",2,3\n1,\"a,1,2\n";
    assert!(refusal(text).contains("line 3, column 3: the quote of"), "{}", refusal(text));
}

fn table() -> impl Strategy<Value = String> {
    let number = prop_oneof![0..1000_u64, 0..10_u64.pow(13), any::<u64>()];
    let line = (1..3_u8, 0..2_usize, number.clone(), number).prop_map(|(session, variant, pre, snapshot)| {
        let variant = ["inline", "inline-biased"][variant];
        format!("{session},{variant},realtime,17,{pre},{snapshot}\n")
    });
    prop::collection::vec(line, 0..30).prop_map(|lines| {
        format!("session,variant,clock_id,seq,counter_pre,counter_snapshot\n{}", lines.concat())
    })
}

proptest! {
    #[test]
    fn what_is_read_is_what_the_csv_crate_reads(text in table(), lengths in prop::collection::vec(1..200_usize, 1..5)) {
        let (kept, _) = read_as(text.as_bytes(), false, &lengths, true).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<(u32, String, String, u64, u64, u64)> = reader.deserialize().map(Result::unwrap).collect();
        let mut told = Vec::new();
        for (session, variant, clock_id, _, pre, snapshot) in rows {
            let session = key(session, &variant, &clock_id);
            if told.iter().rfind(|told| matches!(told, Told::Session(_))) != Some(&session) {
                told.push(session);
            }
            told.push(Told::Pair(pre, snapshot));
        }
        prop_assert_eq!(kept.0, told);
    }

    #[test]
    fn a_damaged_table_means_the_same_however_it_is_read_and_cut(
        text in table(),
        lenient in any::<bool>(),
        harms in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"0,\n\r\"x \xff\0/:".to_vec())), 0..4),
        lengths in prop::collection::vec(1..90_usize, 1..5),
    ) {
        let mut bytes = text.into_bytes();
        for (place, byte) in harms {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let by_the_letter = read_as(&bytes, lenient, &[1], false);
        prop_assert_eq!(&read_as(&bytes, lenient, &lengths, true), &by_the_letter);
        prop_assert_eq!(&read_as(&bytes, lenient, &[usize::MAX], true), &by_the_letter);
    }
}
