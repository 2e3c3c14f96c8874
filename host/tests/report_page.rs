//! Pages in a real browser: Chromium opens them at the width of a phone and of a desk, light and dark, and says what it saw.
//!
//! `browser/look.mjs` is the part that runs in node, with playwright-core from `build/tools/node` (`PPSRIG_TEST_NODE`), and
//! Debian's Chromium (`PPSRIG_TEST_CHROMIUM`). With `PPSRIG_TEST_PICTURES=FOLDER` it also takes pictures, to be looked at.

use std::path::{Path, PathBuf};
use std::process::Command;

use ppsrig::analysis::compare::Verdict;
use ppsrig::analysis::fixed::Fixed;
use ppsrig::analysis::verdict::Outcome;
use ppsrig::analysis::{Analysis, analyse, seconds};
use ppsrig::events::{RigEvent, Stamped};
use ppsrig::names::Measurement;
use ppsrig::night::result::{ComparisonResult, HealthResult, MeasureResult, NightFigure, StepResult};
use ppsrig::night::{Night, NightPlan, NightRecord, Step};
use ppsrig::plan::RunRecord;
use ppsrig::report::html;
use ppsrig::units::HostNanos;
use serde_json::Value;

const HOSTILE: &str = "\"'><script>alert(1)</script></text></svg><img src=//x.example/y onerror=alert(2)>";
/// Edges of the large page.
const MANY: u32 = 100_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the tree").to_owned()
}

fn capture(name: &str, change: impl Fn(&mut RunRecord)) -> (RunRecord, Analysis) {
    let contents = ppsrig::bundle::read(&root().join("fixtures/captures").join(name)).expect("a capture");
    let (mut record, mut recording) = (contents.record.expect("run.toml"), contents.recording);
    change(&mut record);
    for turn in 0..12_u64 {
        let millicelsius = 41_000 + 250 * turn as i32;
        let event = RigEvent::Temperature { name: "board".to_owned(), millicelsius };
        recording.rig.push(Stamped { at: HostNanos(turn * 1_000_000_000), event });
    }
    recording.rig.sort_by_key(|event| event.at);
    let reference = seconds::recorded(&record, &recording);
    let analysis = analyse(&record, &recording, &reference);
    (record, analysis)
}

/// The edges of a capture again and again, each time a little later: what a page is made of, not what a run is.
fn many() -> String {
    let (record, mut analysis) = capture("synthetic-alternate", |_| {});
    let edge = analysis.edge.as_mut().expect("edges");
    let session = &mut edge.sessions[0];
    let (rows, points) = (session.rows.clone(), session.spread_points.clone());
    let turns = MANY / record.plan.edges;
    let span_ns = record.plan.period_ns * u64::from(record.plan.edges);
    for turn in 1..turns {
        let (shift_ns, shift) = (span_ns * u64::from(turn), record.plan.edges * turn);
        session.rows.extend(
            rows.iter().filter(|row| row.burst == ppsrig::events::Burst::Edges).cloned().map(|mut row| {
                row.commanded = row.commanded.map(|number| number + shift);
                row.gpst_ns = row.gpst_ns.map(|ns| ns + shift_ns as i64);
                row.arrival = row.arrival.map(|at| HostNanos(at.0 + shift_ns));
                let late = 1_000 * i128::from(turn % 997);
                [&mut row.echo, &mut row.bracket]
                    .into_iter()
                    .flatten()
                    .for_each(|latency| latency.ps += late);
                row
            }),
        );
        session.spread_points.extend(points.iter().map(|point| {
            let mut point = *point;
            point.edge += shift;
            point
        }));
    }
    for latencies in &mut edge.latencies {
        let values = latencies.sample.sessions[0].clone();
        let all =
            (1..turns).flat_map(|turn| values.iter().map(move |ps| ps + 1_000 * i128::from(turn % 997)));
        latencies.sample.sessions[0].extend(all.collect::<Vec<_>>());
    }
    html::run(&record, &analysis)
}

fn hostile_run() -> String {
    let (record, analysis) = capture("synthetic-faults", |record| {
        record.provenance.bench_file = HOSTILE.to_owned();
        record.provenance.image = HOSTILE.to_owned();
        record.conditions.generator = HOSTILE.to_owned();
    });
    html::run(&record, &analysis)
}

fn fixed(value: f64) -> Fixed {
    Fixed::rounded(value, 3).expect("it is a number")
}

fn figure(value: f64) -> NightFigure {
    NightFigure {
        variant: "inline".to_owned(),
        mode: String::new(),
        tie: String::new(),
        metric: "mean".to_owned(),
        unit: "ns".to_owned(),
        n: 1_000_000,
        value: Some(fixed(value)),
        interval: Some((fixed(value - 0.2), fixed(value + 0.2))),
        uncertainty: Some(fixed(0.1)),
    }
}

fn steps() -> Vec<StepResult> {
    let step = |round: u32, image: &str, value: f64| StepResult {
        step: Step { measure: "path".to_owned(), image: image.to_owned(), round },
        utc: "2026-12-01T02:00:00Z".to_owned(),
        bundle: format!("runs/{round} {image}"),
        outcome: Outcome::Passed,
        reasons: vec!["every limit is kept".to_owned()],
        figures: vec![figure(value)],
    };
    (1..=6).flat_map(|round| [step(round, "old", 41.2), step(round, HOSTILE, 43.4)]).collect()
}

fn comparison(verdict: Verdict, change: f64) -> ComparisonResult {
    ComparisonResult {
        base: "old".to_owned(),
        new: HOSTILE.to_owned(),
        variant: "inline".to_owned(),
        metric: "mean".to_owned(),
        unit: "ns".to_owned(),
        change_unit: "ns".to_owned(),
        sessions: (6, 6),
        base_value: Some(fixed(41.2)),
        new_value: Some(fixed(41.2 + change)),
        change: Some(fixed(change)),
        interval: Some((fixed(change - 0.6), fixed(change + 0.6))),
        margin: Some(fixed(1.0)),
        resolvable: Some(fixed(0.8)),
        verdict,
        reason: String::new(),
    }
}

fn night() -> String {
    let (run, _) = capture("virtual-path", |_| {});
    let comparisons = vec![comparison(Verdict::Worse, 2.2), comparison(Verdict::Equivalent, 0.1)];
    let measure = MeasureResult {
        name: "path".to_owned(),
        measurement: Measurement::Path,
        clock: "live",
        steps: steps(),
        comparisons,
        limits: Vec::new(),
        ended: "decided after 6 rounds".to_owned(),
    };
    let health = HealthResult {
        well: true,
        reasons: Vec::new(),
        bundle: "health/g".to_owned(),
        figures: vec![figure(41.0)],
    };
    let night = Night {
        name: HOSTILE.to_owned(),
        bench: "lab".to_owned(),
        plan_file: "plan.toml".to_owned(),
        started_utc: "2026-12-01T00:00:00Z".to_owned(),
        ended_utc: String::new(),
        resumed: 0,
        seed: 1,
        ppsrig: "0.1.0".to_owned(),
        emulated: true,
        outcome: Outcome::Failed,
        exit: 1,
        reasons: vec![HOSTILE.to_owned()],
        images: vec![(HOSTILE.to_owned(), "00".to_owned())],
        health: Some(health),
        measures: vec![measure],
    };
    html::night(&night_record(run), &night)
}

fn night_record(run: RunRecord) -> NightRecord {
    let plan = NightPlan {
        name: HOSTILE.to_owned(),
        bench: "lab.toml".into(),
        seed: Some(1),
        time_budget_s: None,
        alpha: 0.01,
        images: Vec::new(),
        require: ppsrig::night::plan::Require::default(),
        health: None,
        hooks: ppsrig::night::plan::Hooks::default(),
        measures: Vec::new(),
    };
    NightRecord {
        night_version: 1,
        plan_file: "plan.toml".to_owned(),
        plan_sha256: "00".to_owned(),
        started_utc: "2026-12-01T00:00:00Z".to_owned(),
        ppsrig_version: "0.1.0".to_owned(),
        ppsrig_commit: "unknown".to_owned(),
        seed: 1,
        images: Vec::new(),
        plan,
        bench: run.bench,
    }
}

/// Writes the pages, and what they are for.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let (record, analysis) = capture("synthetic-path-ctime", |_| {});
    let pages = [
        ("many.html", many()),
        ("faults.html", hostile_run()),
        ("path-ctime.html", html::run(&record, &analysis)),
        ("night.html", night()),
    ];
    let write = |(name, page): (&str, String)| {
        let file = folder.join(name);
        std::fs::write(&file, page).expect("a page is written");
        file
    };
    pages.map(write).into()
}

fn needed(variable: &str, default: PathBuf, what: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or(default, PathBuf::from);
    assert!(path.exists(), "{what} is missing ({}): run ./setup.sh, or set {variable}", path.display());
    path
}

fn looked(pages: &[PathBuf], scratch: &Path) -> Vec<Value> {
    let node = needed("PPSRIG_TEST_NODE", root().join("build/tools/node"), "playwright-core");
    let chromium = needed("PPSRIG_TEST_CHROMIUM", "/usr/bin/chromium".into(), "Chromium");
    let mut command = Command::new("node");
    command.arg(root().join("host/tests/browser/look.mjs")).arg(chromium).arg(scratch).args(pages);
    if let Some(pictures) = std::env::var_os("PPSRIG_TEST_PICTURES") {
        command.arg("--pictures").arg(pictures);
    }
    let output = command.env("PPSRIG_TEST_NODE", node).output().expect("node runs: ./setup.sh installs it");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {errors}");
    serde_json::from_slice(&output.stdout).expect("what was seen, as JSON")
}

fn number(seen: &Value, path: &str) -> f64 {
    seen.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {seen}"))
}

/// What must hold at any width, light or dark.
fn check(seen: &Value) {
    let what = format!("{} at {} px, {}", seen["file"], seen["width"], seen["scheme"]);
    for empty in ["/console", "/requests", "/cut"] {
        assert_eq!(seen.pointer(empty), Some(&Value::Array(Vec::new())), "{empty} of {what}");
    }
    assert_eq!(number(seen, "/scripts"), 0.0, "{what}: something could run");
    assert_eq!(number(seen, "/unnamed"), 0.0, "{what}: a region or a plot has no name");
    assert_eq!(number(seen, "/overflow"), 0.0, "{what}: the page is wider than the window");
    assert!(number(seen, "/least/contrast") >= 4.5, "{what}: {}", seen["least"]);
    assert!(number(seen, "/smallest/pixels") >= 11.0, "{what}: {}", seen["smallest"]);
    assert_eq!(seen["tabbed"], seen["reachable"], "{what}: not everything is reached with the keyboard");
    let levels = seen["headings"]
        .as_array()
        .expect("headings")
        .iter()
        .map(|heading| heading[0].as_i64().expect("a level"));
    let levels: Vec<i64> = levels.collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{what}: one h1");
    assert!(levels[0] == 1 && levels.windows(2).all(|two| two[1] <= two[0] + 1), "{what}: {levels:?}");
    let inside = |link: &Value| link.as_str().is_some_and(|link| link.starts_with("./") || link == "#main");
    assert!(seen["links"].as_array().expect("links").iter().all(inside), "{what}: {}", seen["links"]);
}

#[test]
fn pages_open_fast_ask_for_nothing_and_can_be_read_by_everybody() {
    let scratch = tempfile::tempdir().expect("a folder");
    let pages = pages(scratch.path());
    let size = std::fs::metadata(&pages[0]).expect("it was written").len();
    assert!(size < 5_000_000, "the page of {MANY} edges has {size} bytes");
    let text = std::fs::read_to_string(&pages[0]).expect("it is text");
    assert!(text.contains("There are more edges (100000) than columns of pixels"), "it says what it draws");
    let seen = looked(&pages, scratch.path());
    assert_eq!(seen.len(), pages.len() * 4);
    seen.iter().for_each(check);
    for page in &pages {
        let loads = seen
            .iter()
            .filter(|one| one["file"].as_str() == page.to_str())
            .map(|one| number(one, "/load_ms"));
        // The best of four: a busy machine says nothing about the page.
        let best = loads.fold(f64::INFINITY, f64::min);
        println!("{}: {best:.0} ms", page.display());
        assert!(best < 2000.0, "{} took {best} ms to open", page.display());
    }
}
