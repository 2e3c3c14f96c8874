//! `ppsrig check` on the virtual bench: what it finds in good health, what of it a fault changes, and that the generator's
//! output is off afterwards.

mod common;

use common::{Place, bench_with, fixtures, text, virtual_bench};
use serde_json::Value;

fn check(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = place.ppsrig(["check", "--json"]).args(arguments).output().expect("ppsrig starts");
    let findings = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}\n{}", text(&output.stdout), text(&output.stderr)));
    place.wait_until_nothing_runs();
    (output.status.code(), findings)
}

fn finding<'a>(findings: &'a Value, name: &str) -> &'a Value {
    let all = findings["findings"].as_array().expect("a list");
    all.iter().find(|one| one["finding"] == name).unwrap_or_else(|| panic!("`{name}` is not in {findings}"))
}

fn scenario(name: &str) -> String {
    fixtures().join("scenarios").join(name).display().to_string()
}

#[test]
fn the_virtual_bench_is_well_and_every_finding_has_its_evidence() {
    let _turn = virtual_bench();
    let (code, findings) = check(&Place::new(), &[]);
    assert_eq!(code, Some(0), "{findings}");
    let state = |name: &str| finding(&findings, name)["state"].as_str().expect("it has one").to_owned();
    for name in ["probe", "link", "generator", "reference", "interval counter", "polarity", "width", "second"]
    {
        assert_eq!(state(name), "good", "{name}: {findings}");
    }
    for name in ["quantisation errors", "cables"] {
        assert_eq!(state(name), "not-verifiable", "{name}: {findings}");
    }
    let polarity = &finding(&findings, "polarity")["figures"];
    let apart = polarity["leading_to_trailing_ns"].as_i64().expect("a figure");
    assert!((100_000_000..300_000_000).contains(&apart), "{findings}");
    let messages = finding(&findings, "second")["figures"]["messages"].as_array().expect("a list").clone();
    let tim_tp = messages.iter().find(|one| one["message"] == "TIM-TP").expect("it comes");
    assert!(tim_tp["median_ns"].as_i64().expect("a figure") < -500_000_000, "{findings}");
    assert!(finding(&findings, "counter rate")["figures"]["hz"].is_f64(), "{findings}");
    assert!(findings["findings"].as_array().expect("a list").iter().all(|one| one["evidence"] != ""));
}

#[test]
fn a_dead_board_cannot_be_used_and_nothing_is_fired() {
    let _turn = virtual_bench();
    let (code, findings) = check(&Place::new(), &["--scenario", &scenario("dead-board.toml")]);
    assert_eq!(code, Some(2));
    let state = |name: &str| finding(&findings, name)["state"].clone();
    assert_eq!((state("probe"), state("link")), ("unusable".into(), "not-checked".into()));
    assert_eq!(state("generator"), "good");
    for name in ["polarity", "second", "counter rate", "cables"] {
        assert_eq!(state(name), "not-checked", "{findings}");
    }
}

#[test]
fn sentences_behind_the_next_pulse_are_found_before_a_run_is_spoilt() {
    let _turn = virtual_bench();
    let late = scenario("reference-sentences-1050-ms-late.toml");
    let (code, findings) = check(&Place::new(), &["--scenario", &late]);
    assert_ne!(code, Some(0), "{findings}");
    assert_eq!(finding(&findings, "second")["state"], "unwell", "{findings}");
    // Polarity and width do not need to know which second it is, nor the reference at all.
    assert_ne!(finding(&findings, "polarity")["state"], "unwell", "{findings}");
}

#[test]
fn a_width_that_cannot_be_set_is_found_and_no_edge_is_fired() {
    let _turn = virtual_bench();
    let place = Place::new();
    let clamps = place.file("clamps.toml", "[[fault]]\nkind = \"generator-clamps\"\nms = 3\n");
    let (code, findings) = check(&place, &["--scenario", clamps.to_str().expect("it is text")]);
    assert_eq!(code, Some(2), "{findings}");
    let edges = finding(&findings, "edges")["evidence"].as_str().expect("text").to_owned();
    assert!(edges.contains("reads back"), "{findings}");
}

#[test]
fn a_free_running_source_is_checked_as_far_as_it_can_be() {
    let _turn = virtual_bench();
    let place = Place::new();
    let bench = bench_with(&[
        ("driver = \"scpi\"", "driver = \"feeltech-fy6900\""),
        ("width-ms = 5 ", "width-ms = 200 "),
        ("\"--echo\"]", "\"--echo\", \"--generator\", \"feeltech-fy6900\"]"),
    ]);
    let bench = place.file("bench.toml", bench);
    let (_, findings) = check(&place, &[bench.to_str().expect("it is text")]);
    for name in ["polarity", "second"] {
        assert_eq!(finding(&findings, name)["state"], "not-verifiable", "{name}: {findings}");
    }
}
