//! Nights and runs made up for tests of reports, and the programs that others wrote to read them.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ppsrig::analysis::compare::Verdict;
use ppsrig::analysis::fixed::Fixed;
use ppsrig::analysis::verdict::Outcome;
use ppsrig::bundle::{self, Contents};
use ppsrig::names::Measurement;
use ppsrig::night::result::{ComparisonResult, HealthResult, LimitResult, MeasureResult, StepResult};
use ppsrig::night::{Night, NightFigure, NightRecord, Step};
use ppsrig::report::Output;
use serde_json::{Value, json};

/// What ./setup.sh --tests installs; PPSRIG_TEST_TOOLS names another place.
fn tools() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/tools/venv");
    std::env::var_os("PPSRIG_TEST_TOOLS").map_or_else(built, PathBuf::from)
}

/// A program or file of the tests' tools. Fails where it is missing.
pub(crate) fn tool(name: &str) -> PathBuf {
    let path = tools().join(name);
    assert!(path.exists(), "{} is missing: run ./setup.sh --tests", path.display());
    path
}

/// What the programs found in the reports of these folders, by the folder's name.
pub(crate) fn read_back(folders: &[&Path]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/read_reports.py");
    let read = Command::new(tool("bin/python"))
        .arg("-B")
        .arg(script)
        .arg(tool("share/junit-10.xsd"))
        .args(folders)
        .output()
        .expect("Python runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).expect("it prints JSON")
}

/// Writes files of a report into a folder.
pub(crate) fn write(folder: &Path, files: &[Output<'_>]) {
    std::fs::create_dir_all(folder).expect("the folder is ours");
    for file in files {
        let mut bytes = Vec::new();
        file.write(&mut bytes).expect("memory takes everything");
        std::fs::write(folder.join(file.name), bytes).expect("it fits");
    }
}

/// A recorded run of fixtures/captures.
pub(crate) fn capture(name: &str) -> Contents {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures").join(name);
    bundle::read(&folder).expect("it is whole")
}

/// Texts that came from outside.
#[derive(Clone)]
pub(crate) struct Names<'a> {
    pub(crate) plan: &'a str,
    pub(crate) bench: &'a str,
    pub(crate) measure: &'a str,
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    pub(crate) reason: &'a str,
}

pub(crate) const USUAL: Names<'static> = Names {
    plan: "kernels",
    bench: "a53-1",
    measure: "path-counted",
    before: "before",
    after: "after",
    reason: "the port vanished for 12 s",
};

/// night.toml of a night that measures `path` of two images.
pub(crate) fn record(names: &Names<'_>) -> NightRecord {
    let bench = capture("virtual-path").record.expect("it is whole").bench;
    let measure = json!({
        "name": names.measure, "measurement": "path", "clock": "exact", "clock-id": "realtime", "edges": 100,
        "rate-millihertz": 10_000, "mode": "irq", "iterations": 100_000, "dither": true, "cores": 1,
        "operations": 1, "sessions": 3, "most-sessions": 3, "compare": [], "limits": [],
    });
    let images = json!([{ "name": names.before }, { "name": names.after }]);
    let plan = json!({
        "name": names.plan, "bench": "/lab/bench.toml", "alpha": 0.01, "images": images, "require": {},
        "hooks": {}, "measures": [measure],
    });
    let record = json!({
        "night-version": 1, "plan-file": format!("{}.toml", names.plan), "plan-sha256": "0".repeat(64),
        "started-utc": "2026-12-01T01:00:00Z", "ppsrig-version": "0.1.0", "ppsrig-commit": "0123456789ab",
        "seed": 7, "images": [], "plan": plan, "bench": bench,
    });
    serde_json::from_value(record).expect("it is a night's record")
}

/// A figure of a build.
pub(crate) fn figure(metric: &str, unit: &str, value: Fixed) -> NightFigure {
    NightFigure {
        variant: "inline".to_owned(),
        mode: String::new(),
        tie: String::new(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        n: 100_000,
        value: Some(value),
        interval: Some((value, value)),
        uncertainty: Some(Fixed { scaled: 0, places: 0 }),
    }
}

/// One step, at so many minutes after the night's start.
pub(crate) fn step(
    names: &Names<'_>,
    image: &str,
    round: u32,
    minute: u32,
    instructions: i128,
) -> StepResult {
    StepResult {
        step: Step { measure: names.measure.to_owned(), image: image.to_owned(), round },
        utc: format!("2026-12-01T01:{minute:02}:00Z"),
        bundle: format!("runs/20261201T01{minute:02}00Z-{}", names.bench),
        outcome: Outcome::Passed,
        reasons: vec![format!("everything was counted; {}", names.reason)],
        figures: vec![
            figure("instructions", "instructions", Fixed::whole(instructions)),
            figure("mean", "ns", Fixed::nanoseconds(instructions * 1000 + i128::from(round))),
            NightFigure {
                value: None,
                interval: None,
                uncertainty: None,
                ..figure("p50", "ns", Fixed::whole(0))
            },
        ],
    }
}

/// A night in which the second image has an instruction more, which a limit forbids as well.
pub(crate) fn night(names: &Names<'_>) -> Night {
    let steps = (1..=3).flat_map(|round| {
        let before = step(names, names.before, round, 10 * round, 20);
        [before, step(names, names.after, round, 10 * round + 5, 21)]
    });
    let measure = MeasureResult {
        name: names.measure.to_owned(),
        measurement: Measurement::Path,
        clock: "exact",
        steps: steps.collect(),
        comparisons: vec![comparison(names, Verdict::Worse, ""), unresolved(names)],
        limits: vec![
            limit(names, names.before, 20, Outcome::Passed),
            limit(names, names.after, 21, Outcome::Failed),
        ],
        ended: format!("decided after 3 rounds; {}", names.reason),
    };
    Night {
        name: names.plan.to_owned(),
        bench: names.bench.to_owned(),
        plan_file: format!("{}.toml", names.plan),
        started_utc: "2026-12-01T01:00:00Z".to_owned(),
        ended_utc: "2026-12-01T01:36:00Z".to_owned(),
        resumed: 0,
        seed: 7,
        ppsrig: "0.1.0 (0123456789ab)".to_owned(),
        emulated: true,
        outcome: Outcome::Failed,
        exit: 1,
        reasons: vec![format!("{}: an instruction more; {}", names.measure, names.reason)],
        images: vec![(names.before.to_owned(), "a".repeat(64)), (names.after.to_owned(), "b".repeat(64))],
        health: Some(HealthResult {
            well: true,
            reasons: Vec::new(),
            bundle: format!("health/20261201T010500Z-{}", names.bench),
            figures: vec![figure("instructions", "instructions", Fixed::whole(23))],
        }),
        measures: vec![measure],
    }
}

fn comparison(names: &Names<'_>, verdict: Verdict, reason: &str) -> ComparisonResult {
    ComparisonResult {
        base: names.before.to_owned(),
        new: names.after.to_owned(),
        variant: "inline".to_owned(),
        metric: "instructions".to_owned(),
        unit: "instructions".to_owned(),
        change_unit: "instructions".to_owned(),
        sessions: (3, 3),
        base_value: Some(Fixed::whole(20)),
        new_value: Some(Fixed::whole(21)),
        change: Some(Fixed::whole(1)),
        interval: Some((Fixed::whole(1), Fixed::whole(1))),
        margin: Some(Fixed { scaled: 5, places: 1 }),
        resolvable: None,
        verdict,
        reason: reason.to_owned(),
    }
}

fn unresolved(names: &Names<'_>) -> ComparisonResult {
    ComparisonResult {
        metric: "mean".to_owned(),
        unit: "ns".to_owned(),
        change_unit: "ns".to_owned(),
        interval: Some((Fixed::nanoseconds(-2_000), Fixed::nanoseconds(4_000))),
        margin: Some(Fixed::nanoseconds(1_000)),
        change: Some(Fixed::nanoseconds(1_000)),
        resolvable: Some(Fixed::nanoseconds(3_500)),
        ..comparison(names, Verdict::NotResolvable, names.reason)
    }
}

fn limit(names: &Names<'_>, image: &str, value: i128, outcome: Outcome) -> LimitResult {
    LimitResult {
        image: image.to_owned(),
        variant: "inline".to_owned(),
        metric: "instructions".to_owned(),
        unit: "instructions".to_owned(),
        at_most: Some(20.0),
        at_least: None,
        value: Some(Fixed::whole(value)),
        interval: None,
        outcome,
        reason: format!("instructions {value} in 3 sessions: {}", names.reason),
        bundle: format!("runs/20261201T011500Z-{}", names.bench),
    }
}

/// A night whose bench was found sick: nothing was measured.
pub(crate) fn sick(names: &Names<'_>) -> Night {
    let mut night = night(names);
    (night.outcome, night.exit) = (Outcome::NotDone, 2);
    night.reasons = vec![format!("the bench is sick: {}", names.reason)];
    let health = night.health.as_mut().expect("it has one");
    (health.well, health.reasons) = (false, vec![names.reason.to_owned()]);
    for measure in &mut night.measures {
        measure.steps.clear();
        measure.comparisons.clear();
        measure.limits.clear();
        measure.ended = "not begun: the bench is sick".to_owned();
    }
    night
}

/// Cases of junit.xml, of all suites: class, name, result, message and text.
pub(crate) fn cases(junit: &Value) -> Vec<&Value> {
    let suites = junit["suites"].as_array().expect("there are suites");
    suites.iter().flat_map(|suite| suite["cases"].as_array().expect("it has cases")).collect()
}

/// The case with this name.
pub(crate) fn case<'a>(junit: &'a Value, name: &str) -> &'a Value {
    let found = cases(junit).into_iter().find(|case| case["name"] == name);
    found.unwrap_or_else(|| panic!("no case `{name}` in {junit:#}"))
}

/// The only sample of a metric with these labels.
pub(crate) fn sample(metrics: &Value, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let families = metrics.as_array().expect("there are families");
    let samples = families.iter().flat_map(|family| family["samples"].as_array().expect("it has samples"));
    let fits =
        |sample: &&Value| sample[0] == name && labels.iter().all(|(label, text)| sample[1][*label] == *text);
    let found: Vec<&Value> = samples.filter(fits).collect();
    assert!(found.len() < 2, "{name} {labels:?} is not unique: {found:?}");
    found.first().map(|sample| sample[2].as_f64().expect("it is a number"))
}
