//! Whole files through the reader, at several read sizes.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::series::{MISSING_PS, Phase, Tau0From};

fn read_by(text: &[u8], options: &ReadOptions, read_size: usize) -> Result<Read, SeriesError> {
    let mut reader = SeriesReader::new(options.clone());
    for read in text.chunks(read_size) {
        reader.push(read)?;
    }
    reader.finish()
}

/// The same at several read sizes.
fn read_with(text: &str, options: &ReadOptions) -> Result<Read, SeriesError> {
    let whole = read_by(text.as_bytes(), options, 1 << 20);
    for read_size in [1, 7, 64, 4096] {
        assert_eq!(
            format!("{:?}", read_by(text.as_bytes(), options, read_size)),
            format!("{whole:?}"),
            "{read_size}"
        );
    }
    whole
}

fn read(text: &str) -> Result<Read, SeriesError> {
    read_with(text, &ReadOptions::default())
}

fn lenient() -> ReadOptions {
    ReadOptions { lenient: true, ..ReadOptions::default() }
}

fn picoseconds(read: &Read) -> Vec<i64> {
    match &read.series.phase {
        Phase::Picoseconds(values) => values.clone(),
        Phase::Seconds(values) => panic!("in seconds: {values:?}"),
    }
}

fn seconds(read: &Read) -> Vec<f64> {
    match &read.series.phase {
        Phase::Seconds(values) => values.clone(),
        Phase::Picoseconds(values) => panic!("whole: {values:?}"),
    }
}

/// Line, column and class of a strict error.
fn place(text: &str) -> (u64, usize, Class) {
    match read(text) {
        Err(SeriesError::Line { line, column, class, .. }) => (line, column, class),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn one_column_is_a_point_every_second_unless_told_otherwise() {
    let found =
        read("# a comment\nPhase of a clock\n1.5e-9\n  2.5e-9\r\n+3.5E-9 # note\n% more\n-4.5e-9\n").unwrap();
    assert_eq!(picoseconds(&found), [1500, 2500, 3500, -4500]);
    assert_eq!(
        (found.series.tau0_s, found.input.tau0_from, found.input.tagged),
        (1.0, Tau0From::Assumed, false)
    );
    assert_eq!((found.input.lines, found.input.readings), (7, 4));
    let options = ReadOptions { tau0: Some(parse_tau0("0.1").unwrap()), scale: -9, ..ReadOptions::default() };
    let found = read_with("1.5\n2.0001\n", &options).unwrap();
    assert_eq!(seconds(&found), [1.5e-9, 2.0001e-9]);
    assert_eq!((found.series.tau0_s, found.input.tau0_from), (0.1, Tau0From::Given));
}

#[test]
fn finer_than_picoseconds_becomes_seconds_correctly_rounded() {
    let found = read("0.000000000001\n8.511601033439709e-02\n1.234567e-8\n").unwrap();
    assert_eq!(seconds(&found), [1e-12, 8.511601033439709e-02, 1.234567e-8]);
}

#[test]
fn gaps_are_seen_by_time_tags() {
    let found = read("0 1e-9\n1 2e-9\n2 3e-9\n5 4e-9\n6 5e-9\n").unwrap();
    assert_eq!(picoseconds(&found), [1000, 2000, 3000, MISSING_PS, MISSING_PS, 4000, 5000]);
    assert_eq!((found.series.missing, found.input.gaps, found.input.first_gap_line), (2, 1, Some(4)));
    assert_eq!((found.input.tau0_from, found.input.tagged), (Tau0From::Tags, true));
}

#[test]
fn wrong_lines_are_named_with_line_and_column() {
    assert_eq!(place("1.5\n2,5\n3.5\n"), (2, 2, Class::DecimalComma));
    assert_eq!(place("1.5\n2.5 ns\n"), (2, 5, Class::Unit));
    assert_eq!(place("1.5\n2.5us\n"), (2, 4, Class::Unit));
    assert_eq!(place("1.5\n2.5 3.5\n"), (2, 5, Class::Columns));
    assert_eq!(place("1.5\nx\n"), (2, 1, Class::NoNumber));
    assert_eq!(place("1.5\n1e308\n"), (2, 1, Class::OutOfRange));
    assert_eq!(place("1.5\n1e999\n"), (2, 1, Class::OutOfRange));
    assert_eq!(place("1.5\n2.5\n3."), (3, 3, Class::Torn));
    assert_eq!(place("1.5\n2.5\n\n3.5\n"), (3, 1, Class::Blank));
    assert_eq!(place("0 1\n1 2\n0.5 3\n3 4\n"), (3, 5, Class::Backwards));
    assert_eq!(place("0 1\n1 2\n2 3\n2.4 4\n3 5\n"), (4, 5, Class::Irregular));
    assert_eq!(place("0 1\n1 nan\n2 3\n"), (2, 3, Class::NotFinite));
    let long = format!("1\n2\n{}\n3\n", "1".repeat(LINE_MAX + 1));
    assert_eq!(place(&long), (3, LINE_MAX + 1, Class::TooLong));
}

#[test]
fn what_is_missing_at_an_unknown_place_is_refused_also_leniently() {
    for text in ["1.5\nnan\n2.5\n3.5\n", "1.5\n-inf\n2.5\n3.5\n"] {
        for options in [ReadOptions::default(), lenient()] {
            let refused = read_with(text, &options);
            assert!(matches!(refused, Err(SeriesError::Hole { line: 2, column: 1, .. })), "{refused:?}");
        }
    }
}

#[test]
fn lenient_leaves_lines_out_and_what_they_stood_for_is_missing() {
    let found = read_with("1\n2\n3,5\n4\n\n6\n7.", &lenient()).unwrap();
    assert_eq!(
        picoseconds(&found),
        [1_000_000_000_000, 2_000_000_000_000, MISSING_PS, 4_000_000_000_000, MISSING_PS, 6_000_000_000_000]
    );
    assert_eq!(found.series.missing, 2);
    assert_eq!(
        found.input.left_out.to_string(),
        "3 lines left out: 1 decimal comma, 1 blank, 1 torn, first at line 3"
    );
    let found = read_with("0 1\n1 2\n2 3\n3 nan\n4 3\n3.5 9\n5 4\n6 4\n", &lenient()).unwrap();
    assert_eq!((found.series.missing, found.series.phase.len()), (1, 7));
    assert_eq!(
        found.input.left_out.to_string(),
        "2 lines left out: 1 not finite, 1 backwards, first at line 4"
    );
}

#[test]
fn files_without_a_series_say_so() {
    assert!(matches!(read(""), Err(SeriesError::Empty { lines: 0, .. })));
    assert!(matches!(read("# nothing\n\n\n"), Err(SeriesError::Empty { lines: 3, .. })));
    assert!(matches!(read("# one\n1.5\n"), Err(SeriesError::One { line: 2 })));
    assert!(matches!(read("7 1.5\n"), Err(SeriesError::One { line: 1 })));
    assert!(matches!(
        read_with("1\n2\nx\ny\nz\n", &lenient()),
        Err(SeriesError::MostlyWrong { points: 2, .. })
    ));
    assert!(matches!(read("59000 1\n59001 2\n59002 3\n"), Err(SeriesError::AmbiguousTags)));
    let few = ReadOptions { most_points: 3, ..ReadOptions::default() };
    assert!(matches!(read_with("1\n2\n3\n4\n", &few), Err(SeriesError::TooMany { most: 3, line: 4 })));
}

#[test]
fn frequencies_add_up_and_gaps_in_them_are_refused() {
    let options = ReadOptions { frequency: true, ..ReadOptions::default() };
    let found = read_with("1e-9\n2e-9\n-1e-9\n", &options).unwrap();
    assert_eq!(seconds(&found).len(), 4);
    assert!((seconds(&found)[3] - 2e-9).abs() < 1e-24);
    let gap = read_with("0 1e-9\n1 2e-9\n2 2e-9\n4 1e-9\n", &options);
    assert!(matches!(gap, Err(SeriesError::FrequencyGap { missing: 1, line: 4 })), "{gap:?}");
    let none = read_with("1.0 chA\n2.0 chA\n", &options);
    assert!(matches!(none, Err(SeriesError::NoFrequency { .. })), "{none:?}");
}

#[test]
fn time_stamps_of_a_ticc_become_phase_and_lost_pulses_are_missing() {
    let text = "# TAPR TICC\r\n100.000000000010 chA\r\n101.000000000032 chA\r\n102.000000000031 chA\r\n104.000000000050 chA\r\n";
    let found = read(text).unwrap();
    assert_eq!(found.input.format, "ticc-timestamp");
    assert_eq!(picoseconds(&found), [0, 22, 21, MISSING_PS, 40]);
    assert_eq!(found.input.source.as_deref(), Some("A"));
}

#[test]
fn periods_of_a_ticc_add_up() {
    let found =
        read("1.000000000022 chB\n0.999999999999 chB\n1.000000000001 chB\n0.999999999990 chB\n").unwrap();
    assert_eq!((found.input.format, found.series.tau0_s), ("ticc-period", 1.0));
    assert_eq!(picoseconds(&found), [0, 22, 21, 22, 12]);
}

#[test]
fn of_several_sources_one_is_chosen() {
    let mut text = String::new();
    for second in 0..5 {
        let _ = writeln!(text, "{second}.000000000001 chA\n{second}.00000000000{second} chB");
    }
    let several = read(&text);
    let counted = vec![("A".to_owned(), 5), ("B".to_owned(), 5)];
    assert_eq!(several, Err(SeriesError::Several { sources: counted.clone() }));
    let of = |name: &str| {
        read_with(&text, &ReadOptions { source: Some(name.to_owned()), ..ReadOptions::default() })
    };
    assert_eq!(picoseconds(&of("B").unwrap()), [0, 1, 2, 3, 4]);
    assert_eq!(of("A").unwrap().input.others, [("B".to_owned(), 5)]);
    assert_eq!(of("C"), Err(SeriesError::NoSuchSource { wanted: "C".to_owned(), sources: counted }));
}

#[test]
fn an_error_says_what_to_try() {
    let said = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        said("1.5\n2,5\n"),
        "line 2, column 2: `2,5` has a comma, which may be a decimal's or a column's; decimals take a point, columns a blank \
         (--lenient leaves such lines out and counts them)"
    );
    assert!(said("1.5\nnan\n").contains("give a file with time tags"));
    assert!(said("").contains("no reading in 0 lines"));
}

#[test]
fn a_long_file_is_read_in_its_own_memory() {
    let mut reader = SeriesReader::new(ReadOptions::default());
    let chunk = "1.234567e-8\n".repeat(10_000);
    for _ in 0..30 {
        reader.push(chunk.as_bytes()).unwrap();
    }
    assert_eq!(reader.finish().unwrap().series.phase.len(), 300_000);
}

fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => (0..2000_i32, -9..9_i32).prop_map(|(tag, value)| format!("{tag} {value}e-9")),
        5 => (-9999..9999_i64).prop_map(|value| format!("{value}e-12")),
        2 => (0..99_u32, prop::sample::select(vec!["chA", "chB", "TI(A->B)"])).prop_map(|(second, what)| format!("{second}.5 {what}")),
        2 => (0..60_u32).prop_map(|second| format!("2009-11-30 14:33:{second:02}.0 PPS 7 N 1 4.9e-07 -6.7e-07 1.0e-06")),
        2 => (0..60_u32).prop_map(|second| format!("50935 {second}.031 0.000006019 13.7 0.0003 0.01 6")),
        1 => (0..60_u32).prop_map(|second| format!("source 0 - assert {second}.5, sequence: {second} - clear 0.0, sequence: 0")),
        1 => prop::sample::select(vec!["", "#", "nan", "1,5", "gpst_ns,latency_ns", "x\r"]).prop_map(str::to_owned),
        1 => ".{0,30}",
    ]
}

proptest! {
    #[test]
    fn any_file_gives_the_same_at_any_read_size(
        lines in prop::collection::vec(any_line(), 0..40), torn in any::<bool>(), lenient in any::<bool>(), read_size in 1..50_usize,
    ) {
        let mut text = lines.join("\n");
        if !torn {
            text.push('\n');
        }
        let options = ReadOptions { lenient, most_points: 100_000, ..ReadOptions::default() };
        let whole = read_by(text.as_bytes(), &options, 1 << 20);
        let cut = read_by(text.as_bytes(), &options, read_size);
        prop_assert_eq!(format!("{cut:?}"), format!("{whole:?}"));
        if let Ok(read) = whole {
            prop_assert!(read.series.phase.len() >= 2 && read.series.tau0_s > 0.0);
        }
    }

    #[test]
    fn whole_picoseconds_are_read_back(values in prop::collection::vec(-1_000_000_000_000_000_i64..1_000_000_000_000_000, 2..50)) {
        let mut text = String::new();
        for value in &values {
            let _ = writeln!(text, "{value}e-12");
        }
        prop_assert_eq!(picoseconds(&read(&text).unwrap()), values);
    }
}
