//! `ppsrig history` over recorded bundles that are copied below a results folder.

mod common;

use std::process::Command;

use std::fs;
use std::path::{Path, PathBuf};

use common::Place;
use serde_json::Value;

const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/captures/virtual-path");

/// A bundle as it was recorded, begun at another time.
fn copy(place: &Place, name: &str, started: &str) -> PathBuf {
    let dir = place.path().join("results").join(name);
    fs::create_dir_all(dir.join("raw")).expect("a folder");
    for file in ["run.toml", "summary.csv", "summary.json"] {
        let text = fs::read_to_string(Path::new(CAPTURE).join(file)).expect("the fixture is there");
        fs::write(dir.join(file), text.replace("2026-11-30T20:11:53Z", started)).expect("it fits");
    }
    dir
}

fn history(place: &Place, options: &[&str]) -> (String, String) {
    let output = place.ppsrig([&["history"], options].concat()).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it is text");
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// The objects of `runs` in the JSON, by one of their members.
fn member(place: &Place, options: &[&str], name: &str) -> Vec<String> {
    let (json, _) = history(place, &[&["--json"], options].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let runs = json["runs"].as_array().expect("a list");
    runs.iter().map(|run| run[name].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn what_is_new_changed_or_gone_shows_at_the_next_call() {
    let place = Place::new();
    let first = copy(&place, "first", "2026-11-01T01:00:00Z");
    let second = copy(&place, "fleet/second", "2026-11-02T01:00:00Z");
    assert_eq!(member(&place, &[], "folder"), ["fleet/second", "first"], "newest first");
    assert_eq!(member(&place, &["--since", "2026-11-02"], "folder"), ["fleet/second"]);
    assert_eq!(member(&place, &["--image", "EC1222"], "folder").len(), 2, "six digits of the hash");
    assert_eq!(member(&place, &["--measurement", "edge"], "folder").len(), 0);
    fs::remove_file(second.join("summary.json")).expect("it was there");
    let problems = member(&place, &[], "problem");
    assert!(problems[0].starts_with("not summarised"), "{problems:?}");
    assert_eq!(problems[1], "", "the other one is as it was");
    fs::remove_dir_all(first).expect("it was there");
    assert_eq!(member(&place, &[], "folder"), ["fleet/second"]);
}

#[test]
fn nothing_of_an_old_database_is_played_into_a_new_one() {
    let place = Place::new();
    copy(&place, "one", "2026-11-01T01:00:00Z");
    history(&place, &[]);
    let journal = place.path().join("results/history.sqlite-journal");
    fs::write(&journal, "what a writer that was killed left").expect("it fits");
    history(&place, &["--rebuild"]);
    assert!(!journal.exists());
    assert_eq!(member(&place, &[], "folder"), ["one"]);
}

#[test]
fn a_metric_without_a_question_is_refused_with_what_to_ask() {
    let place = Place::new();
    copy(&place, "one", "2026-11-01T01:00:00Z");
    let output = place.ppsrig(["history", "--metric", "mean"]).output().expect("it starts");
    assert!(common::refusal(&output).contains("add --trend, --changes"));
}

#[test]
fn one_that_cannot_be_read_stops_no_other() {
    let place = Place::new();
    copy(&place, "good", "2026-11-01T01:00:00Z");
    let bad = copy(&place, "2026-11-02T01-00-00Z-rig", "2026-11-02T01:00:00Z");
    fs::write(bad.join("summary.json"), "{").expect("it fits");
    let (list, _) = history(&place, &[]);
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains("2026-11-02T01:00:00Z  rig"), "its name tells start and bench: {list}");
    assert!(list.contains("summary.json: "), "{list}");
}

#[test]
fn a_damaged_or_older_database_is_made_anew_and_that_is_said() {
    let place = Place::new();
    copy(&place, "one", "2026-11-01T01:00:00Z");
    let (list, words) = history(&place, &[]);
    assert_eq!(words, "");
    let database = place.path().join("results/history.sqlite");
    fs::write(&database, "no database at all, but long enough to be looked at").expect("it fits");
    let (again, words) = history(&place, &[]);
    assert_eq!(again, list);
    assert!(words.contains("damaged") && words.contains("made anew"), "{words}");
    let older = rusqlite::Connection::open(&database).expect("it was just made");
    older.pragma_update(None, "user_version", 0).expect("it may be written");
    older.close().expect("nothing is open");
    let (again, words) = history(&place, &[]);
    assert_eq!(again, list);
    assert!(words.contains("of version 0"), "{words}");
    let names = fs::read_dir(place.path().join("results")).expect("it is there");
    let names: Vec<_> = names.map(|entry| entry.expect("it is readable").file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{names:?}");
}

/// Ten nights' runs, of another image from the sixth on, whose path takes 3 ns more.
fn slower(place: &Place) {
    for night in 1..=10 {
        let name = format!("2026-11-{night:02}");
        let dir = copy(place, &name, &format!("{name}T01:00:00Z"));
        let table = fs::read_to_string(dir.join("summary.csv")).expect("it was copied");
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let header = reader.headers().expect("it has a header").clone();
        let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
        let (metric, value) = (at("metric"), at("value"));
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&header).expect("memory");
        for record in reader.records().map(|record| record.expect("it is whole")) {
            let fields = record.iter().enumerate().map(|(index, field)| match field.parse::<f64>() {
                Ok(number) if index == value && &record[metric] == "mean" => {
                    format!(
                        "{:.3}",
                        number + 0.01 * f64::from(night % 3) + if night >= 6 { 3.0 } else { 0.0 }
                    )
                }
                _ => field.to_owned(),
            });
            writer.write_record(fields).expect("memory");
        }
        fs::write(dir.join("summary.csv"), writer.into_inner().expect("memory")).expect("it fits");
        let exact = |file: &str, from: &str, to: &str| {
            let text = fs::read_to_string(dir.join(file)).expect("it was copied");
            fs::write(dir.join(file), text.replace(from, to)).expect("it fits");
        };
        // Live figures of an emulated board would not be judged.
        exact("summary.json", "\"clock\": \"live\"", "\"clock\": \"exact\"");
    }
}

#[test]
fn a_change_is_located_and_confirmed_and_its_cause_is_not_guessed() {
    let place = Place::new();
    slower(&place);
    let (json, _) = history(&place, &["--changes", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let series = json["series"].as_array().expect("a list");
    let means: Vec<_> = series.iter().filter(|one| one["key"]["metric"] == "mean").collect();
    assert!(!means.is_empty());
    for one in means {
        let changes = one["changes"].as_array().expect("a list");
        assert_eq!(changes.len(), 1, "{one:#}");
        assert_eq!((&changes[0]["folder"], &changes[0]["cause"]), (&"2026-11-06".into(), &"unknown".into()));
    }
    let (text, _) = history(&place, &["--changes"]);
    assert!(text.contains("from 2026-11-06 on") && text.contains("no golden image"), "{text}");
    let (trend, _) = history(&place, &["--trend", "--metric", "mean"]);
    assert!(trend.contains("10 of 10 nights"), "{trend}");
    fs::remove_dir_all(place.path().join("results/2026-11-07")).expect("it is there");
    let (_, words) = history(&place, &["--html", place.path().join("page.html").to_str().expect("text")]);
    assert_eq!(words, "");
    let page = fs::read_to_string(place.path().join("page.html")).expect("it was written");
    assert!(page.contains("<svg") && page.contains("a change begins"), "{page}");
}

#[test]
fn others_read_what_is_exported() {
    let place = Place::new();
    copy(&place, "first", "2026-11-01T01:00:00Z");
    copy(&place, "second", "2026-11-02T01:00:00Z");
    let fleet = place.path().join("fleet").display().to_string();
    let (first, _) = history(&place, &["--parquet", &fleet]);
    let (again, _) = history(&place, &["--parquet", &fleet]);
    assert_eq!(first, again, "an export replaces its own files");
    assert_eq!(first.lines().count(), 2, "a file a day: {first}");
    let venv = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/tools/venv");
    let tools = std::env::var_os("PPSRIG_TEST_TOOLS").map_or_else(venv, PathBuf::from);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/read_history.py");
    let read = Command::new(tools.join("bin/python")).arg(script).arg(&fleet).output();
    let read = read.expect("no build/tools/venv: run ./setup.sh --tests");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let rows: Value = serde_json::from_slice(&read.stdout).expect("it is JSON");
    let rows = rows.as_array().expect("a list");
    let table = fs::read_to_string(Path::new(CAPTURE).join("summary.csv")).expect("the fixture is there");
    assert_eq!(rows.len(), 2 * (table.lines().count() - 1));
    let of_day = |day: &str| rows.iter().filter(|row| row["date"] == day).count();
    assert_eq!((of_day("2026-11-01"), of_day("2026-11-02")), (rows.len() / 2, rows.len() / 2));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let wanted = reader
        .deserialize::<std::collections::BTreeMap<String, String>>()
        .map(|row| row.expect("it is whole"));
    for wanted in wanted {
        let same = |row: &&Value| {
            row["variant"] == wanted["variant"].as_str() && row["metric"] == wanted["metric"].as_str()
        };
        let row = rows.iter().find(same).unwrap_or_else(|| panic!("{wanted:?}"));
        assert_eq!(row["value"].as_f64(), wanted["value"].parse().ok(), "{wanted:?}");
        assert_eq!(row["ci95_low"].as_f64(), wanted["ci95_low"].parse().ok(), "unknown is null: {wanted:?}");
        assert_eq!((&row["emulated"], &row["started_us"]), (&true.into(), &1_793_494_800_000_000_i64.into()));
    }
    let (files, _) = history(&place, &["--csv", &fleet]);
    let names: Vec<_> = files.lines().map(|line| line.rsplit('/').next().expect("a name")).collect();
    assert_eq!(names, ["nights.csv", "runs.csv", "figures.csv"]);
}
