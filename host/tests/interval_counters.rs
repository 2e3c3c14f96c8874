//! Each kind of interval counter on the virtual bench, with the board's echo on its channel B.

mod common;

use common::{Place, bench_with, text, virtual_bench};
use serde_json::Value;

/// The arrival of a reading tells its edge as long as it is less than half a period late: with an edge every other second
/// that holds on a busy machine.
const SLOW: [&str; 4] = ["--rate", "0.5", "--width-ms", "250"];

/// The virtual bench with another interval counter. What its middle of an interval is worth cannot be told by one that
/// prints no half-width: 20 ms hold it also on a busy machine.
fn bench(kind: &str) -> String {
    let command = format!("\"--echo\", \"--interval-counter\", \"{kind}\"]");
    let replacements = [
        ("driver = \"ticc\"", &*format!("driver = \"{kind}\"")),
        ("states-half-width = true", "uncertainty-ps = 20_000_000_000"),
        ("\"--echo\"]", &command),
    ];
    bench_with(&replacements)
}

fn run(place: &Place, kind: &str, more: &[&str]) -> (Value, String) {
    let bench = place.file("bench.toml", bench(kind));
    let output =
        place.ppsrig(["run"]).arg(bench).args(["--edges", "5", "--json"]).args(SLOW).args(more).output();
    let output = output.expect("ppsrig starts");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let summary =
        std::fs::read(place.bundle().join("summary.json")).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"));
    let edges = text(&std::fs::read(place.bundle().join("edges.csv")).expect("it was written"));
    (serde_json::from_slice(&summary).expect("it is JSON"), edges)
}

/// How many paired edges have an interval.
fn measured(edges: &str) -> usize {
    let mut lines = edges.lines();
    let header: Vec<_> = lines.next().expect("a header").split(',').collect();
    let column = header.iter().position(|name| *name == "interval_ps").expect("the column is there");
    let lines: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    lines.iter().filter(|line| line.contains(&"paired") && !line[column].is_empty()).count()
}

fn every_edge_has_its_interval(kind: &str) {
    let _turn = virtual_bench();
    let place = Place::new();
    let (summary, edges) = run(&place, kind, &[]);
    for side in ["commanded", "captured"] {
        assert_eq!(summary["ledger"][side]["paired"], 5, "{summary}");
    }
    assert_eq!(measured(&edges), 5, "{edges}");
    place.wait_until_nothing_runs();
}

#[test]
fn a_53230a_that_is_asked_for_what_it_has() {
    every_edge_has_its_interval("keysight-53230a");
}

#[test]
fn a_53131a_that_only_talks() {
    every_edge_has_its_interval("hp-53131a");
}

#[test]
fn an_sr620_that_answers_when_it_has_measured() {
    every_edge_has_its_interval("sr620");
}

#[test]
fn a_cnt_90_whose_readings_have_timestamps() {
    every_edge_has_its_interval("cnt-90");
}

#[test]
fn readings_after_the_loss_of_the_counters_own_reference_count_for_nothing() {
    for kind in ["ticc", "keysight-53230a"] {
        let _turn = virtual_bench();
        let place = Place::new();
        let lost = "[[fault]]\nkind = \"counter-reference-lost\"\nburst = 2\nat-s = 4.8\n";
        let scenario = place.file("lost.toml", lost);
        let (summary, edges) = run(&place, kind, &["--scenario", scenario.to_str().expect("it is text")]);
        // The edges are captured and counted all the same; only how late they are is not known.
        for side in ["commanded", "captured"] {
            assert_eq!(summary["ledger"][side]["paired"], 5, "{kind}: {summary}");
        }
        let measured = measured(&edges);
        assert!((1..=4).contains(&measured), "{kind}: {edges}");
        let note = summary["interval_counter_notes"][0].as_str().expect("it is told");
        assert!(note.contains("lost its own reference"), "{kind}: {note}");
        place.wait_until_nothing_runs();
    }
}
