//! `ppsrig history` over recorded bundles that are copied below a results folder.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Place;

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
