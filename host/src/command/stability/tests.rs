//! Files on the disk: recorded ones with what is read of them beside, compressed ones, damaged ones; and what is printed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::*;
use crate::report::stability::facts_of;
use crate::series::Phase;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

fn args(words: &[&str]) -> Args {
    Cli::try_parse_from(std::iter::once("stability").chain(words.iter().copied())).unwrap().args
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures/series")
}

fn capture(name: &str) -> String {
    captures().join(name).display().to_string()
}

fn read(words: &[&str]) -> anyhow::Result<input::FileRead> {
    let args = args(words);
    input::read(&args.file, &args.reading()?, &input::Progress::new())
}

/// Options that a recorded file needs.
fn options_of(name: &str) -> &'static [&'static str] {
    match name {
        "frequency.txt" => &["--type", "frequency"],
        "ticc-timestamp.txt" => &["--channel", "A"],
        "peerstats" => &["--channel", "PPS(0)"],
        "edges.csv" => &["--channel", "1/irq"],
        "damaged.txt" => &["--lenient"],
        _ => &[],
    }
}

/// What was read, as a text that shows each point.
fn shown(read: &input::FileRead) -> String {
    let mut facts = facts_of(&read.input);
    facts.insert("gzip".to_owned(), json!(read.gzip));
    facts.insert("tau0_s".to_owned(), json!(read.series.tau0_s));
    facts.insert("missing".to_owned(), json!(read.series.missing));
    let mut text = serde_json::to_string_pretty(&facts).unwrap() + "\n";
    match &read.series.phase {
        Phase::Picoseconds(values) => {
            let points = values
                .iter()
                .map(|value| if *value == i64::MIN { "-\n".to_owned() } else { format!("{value} ps\n") });
            text.extend(points);
        }
        Phase::Seconds(values) => text.extend(
            values.iter().map(
                |value| {
                    if value.is_nan() { "-\n".to_owned() } else { format!("{value:e} s\n") }
                },
            ),
        ),
    }
    text
}

#[test]
fn recorded_series_give_what_stands_beside_them() {
    let mut names: Vec<String> = fs::read_dir(captures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md" && !name.ends_with(".read"))
        .collect();
    names.sort();
    assert!(names.len() >= 18, "{names:?}");
    for name in names {
        let path = capture(&name);
        let words: Vec<&str> =
            std::iter::once(path.as_str()).chain(options_of(&name).iter().copied()).collect();
        let found = shown(&read(&words).unwrap_or_else(|error| panic!("{name}: {error:#}")));
        let beside = captures().join(format!("{name}.read"));
        if std::env::var_os("PPSRIG_BLESS").is_some() {
            fs::write(&beside, &found).unwrap();
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        assert!(found == expected, "{} differs; PPSRIG_BLESS=1 rewrites it", beside.display());
    }
}

#[test]
fn the_same_phase_compressed_is_the_same_phase() {
    let (plain, packed) =
        (read(&[&capture("phase.txt")]).unwrap(), read(&[&capture("phase.txt.gz")]).unwrap());
    assert_eq!((plain.gzip, packed.gzip), (false, true));
    assert_eq!(plain.series, packed.series);
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn file(bytes: &[u8]) -> (tempfile::NamedTempFile, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let path = file.path().display().to_string();
    (file, path)
}

#[test]
fn several_gzip_members_are_one_file_and_a_cut_one_is_an_error() {
    let text: String = (0..2000).map(|index| format!("{}e-12\n", index * index % 977)).collect();
    let mut bytes = packed(&text);
    bytes.extend(packed("5e-12\n"));
    let (_whole, path) = file(&bytes);
    assert_eq!(read(&[&path]).unwrap().series.phase.len(), 2001);
    let (_cut, path) = file(&bytes[..bytes.len() / 2]);
    let said = format!("{:#}", read(&[&path]).unwrap_err());
    assert!(said.contains("gzip data end early") && said.contains("--lenient"), "{said}");
    let forgiven = read(&[&path, "--lenient"]).unwrap();
    assert!(forgiven.cut && (2..2000).contains(&forgiven.series.phase.len()));
    bytes[100] ^= 0xff;
    let (_damaged, path) = file(&bytes);
    assert!(read(&[&path]).is_err());
}

#[test]
fn an_error_names_the_file_the_line_and_the_column() {
    let (_file, path) = file(b"1.5\n2,5\n");
    let said = format!("{:#}", read(&[&path]).unwrap_err());
    assert!(said.starts_with(&format!("{path}: line 2, column 2: `2,5` has a comma")), "{said}");
    let said = format!("{:#}", read(&["/nowhere/phase.txt"]).unwrap_err());
    assert!(said.starts_with("/nowhere/phase.txt: cannot be opened"), "{said}");
    let said = format!("{:#}", read(&[&captures().display().to_string()]).unwrap_err());
    assert!(said.contains("a folder"), "{said}");
}

#[test]
fn names_that_mean_nothing_are_refused_with_those_that_do() {
    let said = |words: &[&str]| {
        Cli::try_parse_from(std::iter::once("stability").chain(words.iter().copied()))
            .unwrap_err()
            .to_string()
    };
    assert!(said(&["x", "--tau0", "0"]).contains("positive number of seconds"));
    assert!(said(&["x", "--tau0", "1,5"]).contains("positive number of seconds"));
    assert!(said(&["x", "--format", "csv"]).contains("ticc-timestamp"));
    assert!(said(&["x", "--unit", "ppm"]).contains("ns"));
    assert!(said(&["x", "--alpha", "3"]).contains("-2..=2"));
    let refused = |words: &[&str]| format!("{:#}", answer(&args(words)).unwrap_err());
    assert!(refused(&["x", "--dev", "xdev"]).contains("--dev xdev: give one of adev"));
    assert!(refused(&["x", "--dev", "adev,adev"]).contains("adev is there twice"));
    assert!(refused(&["x", "--confidence", "1"]).contains("between 0 and 1"));
    assert!(refused(&["x", "--type", "frequency", "--unit", "ns"]).contains("--unit"));
    assert!(refused(&[&capture("loopstats"), "--unit", "ns"]).contains("the unit of loopstats is known"));
}

#[test]
fn the_table_fits_eighty_columns_and_says_what_it_cannot_know() {
    for (name, wanted) in [
        ("phase.txt", "without time tags a gap cannot be seen"),
        ("phase.txt", "assumed: there are no time tags"),
        ("tagged.txt", "3 missing in 2 gaps, the first before line 8"),
        ("damaged.txt", "left out: 1 decimal comma, 1 not finite"),
        ("refclocks.log", "filtered samples"),
        ("peerstats", "203.0.113.15"),
    ] {
        let path = capture(name);
        let words: Vec<&str> =
            std::iter::once(path.as_str()).chain(options_of(name).iter().copied()).collect();
        let text = answer(&args(&words)).unwrap();
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(wanted), "{name}: no `{wanted}` in\n{text}");
        // The first line is a path.
        let wide: Vec<&str> = text.lines().skip(1).filter(|line| line.chars().count() > 80).collect();
        assert_eq!(wide, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn json_has_its_rows_and_what_else_there_is_to_know() {
    let object: Value =
        serde_json::from_str(&answer(&args(&[&capture("tagged.txt"), "--json"])).unwrap()).unwrap();
    assert_eq!(object["input"]["missing"], 3);
    assert_eq!(object["input"]["tau0_s"], 10.0);
    assert_eq!(object["input"]["lines_left_out"]["count"], 0);
    for row in object["rows"].as_array().unwrap() {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["alpha", "dev", "high", "low", "m", "n", "tau_s", "value"]);
    }
}
