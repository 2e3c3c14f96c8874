//! Each source of edges on the virtual bench: six edges of it, from loading the board to the ledger.

mod common;

use std::process::Output;

use common::{Place, bench_with, text, virtual_bench};
use serde_json::Value;

/// The section of the virtual bench's file, and what is changed in it.
const DRIVER: &str = "driver = \"scpi\"";
const PORT: &str = "port = \"@run/generator.tty\"\n";

fn bench(kind: &str, more: &[(&str, &str)]) -> String {
    let driver = format!("driver = \"{kind}\"");
    let command = format!("\"--echo\", \"--generator\", \"{kind}\"]");
    let mut replacements = vec![(DRIVER, driver.as_str()), ("\"--echo\"]", command.as_str())];
    replacements.extend(more);
    bench_with(&replacements)
}

fn run(place: &Place, bench: String, arguments: &[&str]) -> Output {
    let bench = place.file("bench.toml", bench);
    let output = place.ppsrig(["run"]).arg(bench).args(["--edges", "6", "--json"]).args(arguments).output();
    output.expect("ppsrig starts")
}

fn summary(place: &Place, output: &Output) -> Value {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let summary =
        std::fs::read(place.bundle().join("summary.json")).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"));
    let summary: Value = serde_json::from_slice(&summary).expect("it is JSON");
    assert!(output.status.success(), "{summary}\n{stderr}");
    summary
}

fn paired(summary: &Value, side: &str) -> u64 {
    summary["ledger"][side]["paired"].as_u64().expect("a number")
}

const TWO_A_SECOND: [&str; 4] = ["--rate", "2", "--width-ms", "250"];

fn six_edges_are_paired(kind: &str, more: &[(&str, &str)]) {
    let _turn = virtual_bench();
    let place = Place::new();
    let output = run(&place, bench(kind, more), &TWO_A_SECOND);
    let summary = summary(&place, &output);
    for side in ["commanded", "captured"] {
        assert_eq!(paired(&summary, side), 6, "{summary}");
    }
    place.wait_until_nothing_runs();
}

#[test]
fn a_siglent_starts_one_train_on_the_pulse_and_is_stopped_before_another() {
    six_edges_are_paired("siglent-sdg", &[]);
}

#[test]
fn a_rigol_starts_one_train_on_the_pulse_and_is_stopped_before_another() {
    six_edges_are_paired("rigol-dg", &[]);
}

#[test]
fn a_keysight_puts_its_train_off_against_the_pulse() {
    six_edges_are_paired(
        "keysight-33500",
        &[("edge = \"rising\"", "edge = \"rising\"\noffset-ns = 5_000_000")],
    );
}

/// A source that runs by itself: one edge more or less may fall into the window.
fn about_six_edges_are_paired(kind: &str, more: &[(&str, &str)], arguments: &[&str]) {
    let _turn = virtual_bench();
    let place = Place::new();
    let output = run(&place, bench(kind, more), arguments);
    let summary = summary(&place, &output);
    let commanded = paired(&summary, "commanded");
    assert!((5..=8).contains(&commanded), "{summary}");
    assert_eq!(paired(&summary, "captured"), commanded, "{summary}");
    place.wait_until_nothing_runs();
}

#[test]
fn an_fy6900_runs_by_itself_and_every_edge_while_the_window_is_open_counts() {
    about_six_edges_are_paired("feeltech-fy6900", &[], &TWO_A_SECOND);
}

#[test]
fn the_pulse_of_a_gpsdo_is_counted_by_the_seconds_of_the_window() {
    about_six_edges_are_paired("gpsdo-pulse", &[(PORT, "")], &["--rate", "1", "--width-ms", "200"]);
}

#[test]
fn bytes_of_zeros_on_a_data_line_are_edges_that_the_host_commanded() {
    let line = "baud = 50\nsignal = \"txd-byte\"\nedge = \"falling\"";
    let more = [("edge = \"rising\"", line)];
    let _turn = virtual_bench();
    let place = Place::new();
    let output = run(&place, bench("serial-line", &more), &["--rate", "2", "--width-ms", "180"]);
    let summary = summary(&place, &output);
    for side in ["commanded", "captured"] {
        assert_eq!(paired(&summary, side), 6, "{summary}");
    }
    let log = text(&std::fs::read(place.bundle().join("raw/rig.log")).expect("it was written"));
    assert!(log.contains("edges-commanded"), "{log}");
    place.wait_until_nothing_runs();
}

#[test]
fn a_width_that_is_clamped_silently_ends_the_run_before_an_edge_whatever_the_family() {
    for kind in ["keysight-33500", "siglent-sdg", "rigol-dg", "feeltech-fy6900"] {
        let _turn = virtual_bench();
        let place = Place::new();
        let clamps = place.file("clamps.toml", "[[fault]]\nkind = \"generator-clamps\"\nms = 100\n");
        let scenario = ["--scenario", clamps.to_str().expect("it is text")];
        let output = run(&place, bench(kind, &[]), &[&TWO_A_SECOND[..], &scenario].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{kind}: {stderr}");
        assert!(stderr.contains("generator.tty") && stderr.contains("reads back as"), "{kind}: {stderr}");
        assert!(stderr.contains("0.25") || stderr.contains("WMD25"), "{kind}: {stderr}");
        place.wait_until_nothing_runs();
    }
}
