//! Files for machines, read by programs that others wrote: the JUnit schema and viewer, the OpenMetrics parser, GitHub's
//! Markdown, Python's CSV.

mod reports;

use ppsrig::analysis::analyse;
use ppsrig::analysis::seconds::recorded;
use ppsrig::report;
use reports::{USUAL, capture, case, cases, night, read_back, record, sample, sick, write};
use serde_json::Value;

fn of_night(night: &ppsrig::night::Night) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let record = record(&USUAL);
    write(folder.path(), &report::night::files(&record, night));
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    read_back(&[folder.path()])[name].take()
}

#[test]
fn a_nights_junit_has_a_case_for_each_measurement_limit_and_comparison() {
    let found = of_night(&night(&USUAL));
    let junit = &found["junit.xml"];
    assert_eq!(junit["errors"], serde_json::json!([]), "the schema takes it");
    assert!(junit["shown"].as_u64().unwrap() > 1000, "the viewer shows it");
    let results: Vec<_> =
        cases(junit).iter().map(|case| [&case["name"], &case["result"]].map(text)).collect();
    assert_eq!(
        results,
        [
            ["night done", "passed"],
            ["health", "passed"],
            ["measured before inline", "passed"],
            ["measured after inline", "passed"],
            ["limit before inline instructions at most 20", "passed"],
            ["limit after inline instructions at most 20", "failure"],
            ["compare inline instructions: after with before", "failure"],
            ["compare inline mean: after with before", "skipped"],
        ]
    );
    let worse = case(junit, "compare inline instructions: after with before");
    assert_eq!(
        worse["message"],
        "inline instructions: worse, 20 to 21 instructions, change 1 (1 to 1), margin 0.5, 3 and 3 sessions, emulated"
    );
    let told = text(&worse["text"]);
    assert!(
        told.contains("where to look: runs/20261201T013000Z-a53-1 and runs/20261201T013500Z-a53-1"),
        "{told}"
    );
    assert!(told.contains("ppsrig compare runs/20261201T011000Z-a53-1 "), "{told}");
    assert_eq!(case(junit, "measured after inline")["time"], 900.0, "three steps of five minutes");
    let skipped = text(&case(junit, "compare inline mean: after with before")["message"]);
    assert!(skipped.ends_with(USUAL.reason), "{skipped}");
    let properties = junit["suites"][0]["properties"].as_array().unwrap();
    for property in [["bench", "a53-1"], ["emulated", "true"], ["seed", "7"]] {
        assert!(properties.contains(&serde_json::json!(property)), "{properties:?}");
    }
}

#[test]
fn a_night_that_could_not_be_done_has_an_error_that_says_why() {
    let found = of_night(&sick(&USUAL));
    let junit = &found["junit.xml"];
    assert_eq!(junit["errors"], serde_json::json!([]));
    let done = case(junit, "night done");
    assert_eq!(done["result"], "error");
    assert_eq!(done["message"], "the bench is sick: the port vanished for 12 s");
    let health = case(junit, "health");
    assert_eq!(health["result"], "error");
    assert!(text(&health["text"]).contains("--back-online"));
    let measured = case(junit, "measured before");
    assert_eq!(
        (text(&measured["result"]), text(&measured["message"])),
        ("skipped", "not begun: the bench is sick")
    );
    assert!(cases(junit).iter().all(|case| case["result"] != "failure"), "a sick bench is no regression");
    let metrics = &found["metrics.prom"];
    assert_eq!(sample(metrics, "ppsrig_bench_online", &[("bench", "a53-1")]), Some(0.0));
    assert_eq!(sample(metrics, "ppsrig_night_last_success_timestamp_seconds", &[]), None);
}

#[test]
fn a_nights_metrics_are_open_metrics_in_base_units() {
    let found = of_night(&night(&USUAL));
    let metrics = &found["metrics.prom"];
    let value = |name: &str, labels: &[(&str, &str)]| sample(metrics, name, labels);
    assert_eq!(value("ppsrig_night_outcome", &[("outcome", "failed")]), Some(1.0));
    assert_eq!(value("ppsrig_night_outcome", &[("outcome", "passed")]), Some(0.0));
    assert_eq!(value("ppsrig_night_duration_seconds", &[("plan", "kernels")]), Some(2160.0));
    assert_eq!(value("ppsrig_bench_online", &[]), Some(1.0));
    let worse = [("metric", "instructions"), ("verdict", "worse")];
    assert_eq!(value("ppsrig_comparison_verdict", &worse), Some(1.0));
    let after = [("image", "after"), ("emulated", "true"), ("clock", "exact")];
    assert_eq!(value("ppsrig_figure_mean_seconds", &after), Some(21.002e-9), "21.002 ns");
    assert_eq!(value("ppsrig_figure_instructions", &after), Some(21.0));
    assert_eq!(value("ppsrig_figure_p50_seconds", &after), None, "unknown is no sample");
    assert_eq!(value("ppsrig_comparison_interval_low_seconds", &[]), Some(-2e-9));
    for family in metrics.as_array().unwrap() {
        assert_eq!(family["type"], "gauge");
        let (name, unit) = (text(&family["name"]), text(&family["unit"]));
        assert!(name.starts_with("ppsrig_") && name.ends_with(unit), "{name} in {unit}");
    }
}

#[test]
fn nights_that_measured_the_same_at_other_times_have_the_same_table() {
    let (one, mut other) = (night(&USUAL), night(&USUAL));
    "2026-12-02T03:00:00Z".clone_into(&mut other.started_utc);
    "2026-12-02T04:00:00Z".clone_into(&mut other.ended_utc);
    for step in &mut other.measures[0].steps {
        step.utc = step.utc.replace("2026-12-01", "2026-12-02");
        step.bundle = step.bundle.replace("20261201", "20261202");
    }
    // A step that was tried twice has given what it gives at once.
    let failed = ppsrig::night::result::StepResult {
        outcome: ppsrig::analysis::verdict::Outcome::NotDone,
        reasons: vec!["the port vanished".to_owned()],
        figures: Vec::new(),
        ..other.measures[0].steps[2].clone()
    };
    other.measures[0].steps.insert(2, failed);
    for limit in &mut other.measures[0].limits {
        limit.bundle = limit.bundle.replace("20261201", "20261202");
    }
    let record = record(&USUAL);
    let table = |night| {
        let mut bytes = Vec::new();
        let files = report::night::files(&record, night);
        files.iter().find(|file| file.name == "summary.csv").unwrap().write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(table(&one), table(&other));
    let rows = of_night(&one)["summary.csv"].take();
    let what: Vec<_> = rows.as_array().unwrap().iter().map(|row| text(&row["what"]).to_owned()).collect();
    assert_eq!(what.iter().filter(|what| *what == "step").count(), 18, "three figures of six steps");
    assert_eq!(what.last().unwrap(), "limit");
    let unknown = rows.as_array().unwrap().iter().find(|row| row["metric"] == "p50").unwrap();
    assert_eq!(unknown["value"], "", "unknown is empty");
}

#[test]
fn a_nights_page_has_the_verdict_first() {
    let found = of_night(&night(&USUAL));
    let page = &found["summary.md"];
    let blocks: Vec<&str> = page["blocks"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(blocks[0], "❌ kernels: failed (emulated board)");
    assert!(
        blocks.contains(&"worse") && blocks.contains(&"not-resolvable: the port vanished for 12 s"),
        "{blocks:?}"
    );
    assert!(page["tags"].as_array().unwrap().iter().any(|tag| tag == "details"), "details are folded");
}

#[test]
fn every_recorded_runs_junit_is_valid_and_tells_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let names =
        ["synthetic-alternate", "synthetic-faults", "synthetic-cut", "synthetic-path-ctime", "virtual-path"];
    let folders: Vec<_> = names.iter().map(|name| folder.path().join(name)).collect();
    for (name, folder) in names.iter().zip(&folders) {
        let (record, recording) = {
            let read = capture(name);
            (read.record.unwrap(), read.recording)
        };
        let analysis = analyse(&record, &recording, &recorded(&record, &recording));
        write(folder, &report::files(&record, &analysis));
    }
    let found = read_back(&folders.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    for name in names {
        assert_eq!(found[name]["junit.xml"]["errors"], serde_json::json!([]), "{name}");
    }
    let faults = &found["synthetic-faults"]["junit.xml"];
    assert_eq!(case(faults, "limit ledger_missed commanded")["result"], "failure");
    assert_eq!(case(faults, "limit ledger_missed commanded")["message"], "2 edges missed, the limit is 0");
    assert_eq!(case(faults, "limit paired-min-percent")["result"], "skipped");
    assert_eq!(case(&found["synthetic-cut"]["junit.xml"], "recorded whole")["result"], "error");
    assert_eq!(case(&found["virtual-path"]["junit.xml"], "indirect")["result"], "passed");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
