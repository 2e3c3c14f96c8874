//! Bundles on the disk: recorded, replayed, cut short, damaged.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use ppsrig_wire::EdgeMode;

use super::{Bundle, BundleError, Instrument, ReadError, names, read, synthetic};
use crate::analysis::class::Class;
use crate::analysis::path;
use crate::analysis::synthetic::Scene;
use crate::command::replay::finish;
use crate::command::samples::read_samples;
use crate::events::{IntervalEvent, Recording, ReferenceEvent, Stamped};
use crate::formats::raw_log::{Direction, header};
use crate::plan::RunRecord;
use crate::report::{EDGES, JUNIT, PAIRS, PAIRS_SPOOL, REPORT, SAMPLES, SUMMARY, SUMMARY_JSON};
use crate::units::HostNanos;

const WRITTEN: [&str; 5] = [EDGES, SUMMARY, JUNIT, REPORT, SUMMARY_JSON];

fn contents(dir: &Path) -> Vec<Vec<u8>> {
    contents_of(dir, &WRITTEN)
}

fn contents_of(dir: &Path, names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| fs::read(dir.join(name)).unwrap_or_else(|_| panic!("{name} is there"))).collect()
}

fn bundle(scene: &Scene) -> (tempfile::TempDir, PathBuf) {
    let results = tempfile::tempdir().unwrap();
    let dir = synthetic::write(scene, results.path());
    (results, dir)
}

fn faulty() -> Scene {
    let mut scene = Scene::new(EdgeMode::Irq, 24, 500);
    scene.echo = true;
    scene.skipped = [3].into();
    scene.spurious_after = [9].into();
    scene.bounced = [15].into();
    scene.torn = [20].into();
    scene
}

#[test]
fn what_was_recorded_is_read_back() {
    let scene = faulty();
    let (_results, dir) = bundle(&scene);
    let contents = read(&dir).unwrap();
    let recorded = scene.recording();
    assert_eq!(contents.record, Some(scene.record()));
    assert_eq!(contents.recording.rig, recorded.rig);
    assert_eq!(contents.recording.interval, recorded.interval);
    assert_eq!(contents.recording.board.len(), recorded.board.len());
    assert_eq!(contents.recording.incomplete, Vec::<String>::new());
}

#[test]
fn a_replay_gives_the_same_bytes_again() {
    let (_results, dir) = bundle(&faulty());
    let first = finish(&dir, None, false).unwrap();
    let before = contents(&dir);
    let elsewhere = tempfile::tempdir().unwrap();
    let out = elsewhere.path().join("again");
    let second = finish(&dir, Some(&out), false).unwrap();
    assert_eq!(contents(&out), before);
    assert_eq!(contents(&dir), before);
    assert_eq!(first.exit, second.exit);
    let ledger = &first.analysis.as_ref().unwrap().edge.as_ref().unwrap().edges;
    assert_eq!(ledger.imbalances(), Vec::<String>::new());
    let count = |class| (ledger.commanded.count(class), ledger.captured.count(class));
    assert_eq!(count(Class::Paired), (22, 22));
    assert_eq!(count(Class::Missed).0 + count(Class::Lost).0, 2);
    assert_eq!(count(Class::Spurious).1 + count(Class::Duplicate).1 + count(Class::Torn).1, 3);
}

#[test]
fn the_report_begins_with_the_verdict_fits_its_width_and_names_the_rule_in_short() {
    let mut scene = Scene::new(EdgeMode::Alternate, 200, 50);
    scene.echo = true;
    let (_results, dir) = bundle(&scene);
    let text = finish(&dir, None, false).unwrap().text;
    assert!(text.starts_with(" verdict  passed (exit 0): 200 of 200"), "{text}");
    // The line with the files' folder is a path, and never wrapped.
    let width = usize::from(crate::report::terminal::width());
    let wide: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > width.max(80) && !line.starts_with("files in"))
        .collect();
    assert_eq!(wide, Vec::<&str>::new());
    for part in
        ["balance", "tie echo", "tie bracket", "half echo bracket", "emulated", "ratio", "0 transactions"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let rule = text.lines().filter(|line| line.starts_with(" seconds ")).collect::<Vec<_>>();
    assert_eq!(rule, [" seconds     by the reference's messages (in full: summary.json)"]);
}

#[test]
fn json_on_stdout_is_the_object_in_the_file() {
    let (_results, dir) = bundle(&faulty());
    let outcome = finish(&dir, None, true).unwrap();
    assert_eq!(outcome.text.as_bytes(), fs::read(dir.join(SUMMARY_JSON)).unwrap());
    let object: serde_json::Value = serde_json::from_str(&outcome.text).unwrap();
    assert_eq!(object["status"], "complete");
    assert_eq!(object["ledger"]["balanced"], true);
    assert_eq!(object["emulated"], true);
    assert_eq!(object["exit"], outcome.exit);
}

/// The lines up to a host time, and half of the next one.
fn killed_at(bytes: &[u8], host_ns: u64) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let early = |line: &&str| line.split(' ').next().unwrap().parse::<u64>().is_ok_and(|at| at >= host_ns);
    let kept: usize = text.split_inclusive('\n').take_while(|line| !early(line)).map(str::len).sum();
    let torn = text[kept..].split_inclusive('\n').next().map_or(0, |line| line.len() / 2);
    bytes[..kept + torn].to_vec()
}

#[test]
fn a_run_that_was_killed_is_partial_wherever_its_files_end() {
    let scene = faulty();
    let (_results, dir) = bundle(&scene);
    let whole: Vec<(PathBuf, Vec<u8>)> = Instrument::ALL
        .iter()
        .map(|instrument| dir.join(names::RAW).join(instrument.file_name()))
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    let end = scene.recording().rig.last().unwrap().at.0;
    for part in 0..40 {
        for (path, bytes) in &whole {
            fs::write(path, killed_at(bytes, end * part / 40)).unwrap();
        }
        let outcome = finish(&dir, None, false).unwrap();
        let analysis = outcome.analysis.unwrap();
        assert_eq!(outcome.exit, 2, "part {part}");
        assert!(analysis.partial.is_some() && outcome.text.contains("partial"), "part {part}");
        assert_eq!(analysis.edge.unwrap().edges.imbalances(), Vec::<String>::new(), "part {part}");
    }
}

/// The text as if it had one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn keys(text: &str) -> Vec<String> {
    let object: serde_json::Value = serde_json::from_str(text).unwrap();
    object.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn without_its_record_a_bundle_is_partial_and_the_report_says_what_the_rig_did() {
    let (_results, dir) = bundle(&faulty());
    let whole = finish(&dir, None, true).unwrap();
    fs::remove_file(dir.join(names::RUN)).unwrap();
    let outcome = finish(&dir, None, false).unwrap();
    assert_eq!((outcome.exit, outcome.written.len()), (2, 0));
    let told = unwrapped(&outcome.text);
    assert!(told.contains("partial: run.toml is missing, although rig.log shows"), "{told}");
    assert!(told.contains("opened 2 capture windows and finished"), "{told}");
    let json = finish(&dir, None, true).unwrap().text;
    assert_eq!(keys(&json), keys(&whole.text));
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&object["outcome"], &object["exit"]), (&"not-done".into(), &2.into()));
    assert_eq!((&object["emulated"], &object["ledger"]), (&true.into(), &serde_json::Value::Null));
}

#[test]
fn a_run_that_was_stopped_before_its_record_says_why() {
    let results = tempfile::tempdir().unwrap();
    let started: Timestamp = "2026-11-30T12:34:56Z".parse().unwrap();
    let (bundle, mut raw) = Bundle::create(results.path(), "bench", started).unwrap();
    let line = br#"{"did":"stopped","reason":"interrupted"}"#;
    raw.rig.record(HostNanos(5), Direction::Did, line).unwrap();
    let told = unwrapped(&finish(bundle.dir(), None, false).unwrap().text);
    assert!(told.contains("stopped before it wrote run.toml"), "{told}");
    assert!(told.contains("interrupted") && !told.contains("missing"), "{told}");
}

#[test]
fn a_finished_run_without_one_of_its_recordings_is_partial() {
    let scene = faulty();
    for instrument in Instrument::ALL {
        for left in [None, Some(String::new()), Some(header(instrument.name()))] {
            let (_results, dir) = bundle(&scene);
            let path = dir.join(names::RAW).join(instrument.file_name());
            match &left {
                None => fs::remove_file(&path).unwrap(),
                Some(text) => fs::write(&path, text).unwrap(),
            }
            let outcome = finish(&dir, None, false).unwrap();
            assert_eq!(outcome.exit, 2, "{instrument:?} {left:?}");
            let partial = outcome.analysis.unwrap().partial.unwrap_or_default();
            let name = instrument.file_name();
            assert!(instrument == Instrument::Rig || partial.contains(&name), "{name}: {partial}");
            assert!(outcome.text.contains("partial") && outcome.text.contains(&name), "{}", outcome.text);
        }
    }
}

#[test]
fn a_bench_without_interval_counter_needs_no_recording_of_one() {
    let mut scene = Scene::new(EdgeMode::Irq, 24, 500);
    scene.interval_counter = false;
    let (_results, dir) = bundle(&scene);
    let path = dir.join(names::RAW).join(Instrument::IntervalCounter.file_name());
    for left in [Some(header("interval-counter")), None] {
        match left {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(finish(&dir, None, false).unwrap().exit, 0);
    }
}

#[test]
fn rubbish_is_an_error_with_its_line_in_every_recording() {
    let mut scene = faulty();
    scene.interval_counter = false;
    for instrument in Instrument::ALL {
        let wrong = if instrument == Instrument::Rig { "7 rx x" } else { "7 did x" };
        for line in ["rubbish", wrong] {
            let (_results, dir) = bundle(&scene);
            let path = dir.join(names::RAW).join(instrument.file_name());
            fs::write(&path, format!("{}{line}\n", header(instrument.name()))).unwrap();
            let message = format!("{:#}", finish(&dir, None, false).unwrap_err());
            assert!(message.contains(&format!("{}: line 2", instrument.file_name())), "{message}");
        }
    }
}

#[test]
fn a_record_that_contradicts_itself_is_an_error_that_names_the_key() {
    let (_results, dir) = bundle(&faulty());
    let path = dir.join(names::RUN);
    let text = fs::read_to_string(&path).unwrap();
    for (of_run, altered, key) in [
        ("period-ns = 500000000", "period-ns = 0", "plan.period-ns is 0"),
        ("period-ns = 500000000", "period-ns = 400000000", "disagrees with plan.rate-millihertz = 2000"),
        ("rate-millihertz = 2000", "rate-millihertz = 0", "plan.rate-millihertz"),
        ("counter-hz = 12500000", "counter-hz = 0", "bench.board.counter-hz"),
        ("edges = 24", "edges = 0", "plan.edges"),
        ("edges = 24", "edges = 1000001", "a run has 1000000 at most"),
        ("sessions = 1", "sessions = 0", "plan.sessions"),
        ("preamble-edges = 4", "preamble-edges = 0", "plan.preamble-edges"),
        ("width-ns = 5000000", "width-ns = 500000000", "plan.width-ns"),
    ] {
        assert!(text.contains(of_run), "{of_run} in\n{text}");
        fs::write(&path, text.replacen(&format!("\n{of_run}"), &format!("\n{altered}"), 1)).unwrap();
        let message = format!("{:#}", finish(&dir, None, false).unwrap_err());
        assert!(message.contains("run.toml: ") && message.contains(key), "{message}");
    }
}

#[test]
fn a_folder_without_raw_is_no_bundle() {
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(read(empty.path()), Err(ReadError::NoRaw { .. })));
    assert!(matches!(read(&empty.path().join("nothing")), Err(ReadError::NotAFolder { .. })));
}

#[test]
fn a_damaged_recording_is_an_error_with_file_and_line_and_keeps_what_was_written() {
    let (_results, dir) = bundle(&faulty());
    finish(&dir, None, false).unwrap();
    let before = contents(&dir);
    let path = dir.join(names::RAW).join(Instrument::Rig.file_name());
    let text = fs::read_to_string(&path).unwrap().replacen("window-opened", "window-closed-by-magic", 1);
    fs::write(&path, text).unwrap();
    let message = format!("{:#}", finish(&dir, None, false).unwrap_err());
    assert!(message.contains("rig.log line 4"), "{message}");
    assert_eq!(contents(&dir), before);
}

#[test]
fn an_unknown_key_in_the_run_record_is_an_error_with_its_line() {
    let (_results, dir) = bundle(&faulty());
    let path = dir.join(names::RUN);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("surprise = 1\n{text}")).unwrap();
    let message = format!("{:#}", finish(&dir, None, false).unwrap_err());
    assert!(message.contains("run.toml") && message.contains("surprise"), "{message}");
}

#[test]
fn a_bundle_of_another_version_is_refused() {
    let (_results, dir) = bundle(&faulty());
    let path = dir.join(names::RUN);
    let text = fs::read_to_string(&path).unwrap().replacen("bundle-version = 1", "bundle-version = 2", 1);
    fs::write(&path, text).unwrap();
    assert!(matches!(read(&dir), Err(ReadError::Version { found: 2, .. })));
}

#[test]
fn two_bundles_of_one_second_have_two_folders() {
    let results = tempfile::tempdir().unwrap();
    let started: Timestamp = "2026-11-30T12:34:56Z".parse().unwrap();
    let (first, _) = Bundle::create(results.path(), "my bench/x", started).unwrap();
    let (second, _) = Bundle::create(results.path(), "my bench/x", started).unwrap();
    assert!(first.dir().ends_with("2026-11-30T12-34-56Z-my-bench-x"));
    assert!(second.dir().ends_with("2026-11-30T12-34-56Z-my-bench-x-2"));
}

#[test]
fn where_no_folder_can_be_made_the_error_names_it() {
    let results = tempfile::tempdir().unwrap();
    let file = results.path().join("file");
    fs::write(&file, "x").unwrap();
    let started: Timestamp = "2026-11-30T12:34:56Z".parse().unwrap();
    let message = Bundle::create(&file, "bench", started).unwrap_err().to_string();
    assert!(message.contains("file"), "{message}");
}

#[test]
fn a_seed_that_toml_cannot_hold_is_refused() {
    let results = tempfile::tempdir().unwrap();
    let started: Timestamp = "2026-11-30T12:34:56Z".parse().unwrap();
    let (bundle, _) = Bundle::create(results.path(), "bench", started).unwrap();
    let mut record = faulty().record();
    record.plan.seed = 1 << 63;
    assert!(matches!(bundle.write_record(&record), Err(BundleError::Seed { .. })));
    record.plan.seed = (1 << 63) - 1;
    bundle.write_record(&record).unwrap();
    assert_eq!(read(bundle.dir()).unwrap().record, Some(record));
}

fn board_only(record: &RunRecord, recording: &Recording) -> (tempfile::TempDir, PathBuf) {
    let results = tempfile::tempdir().unwrap();
    let dir = synthetic::write_board_only(record, recording, results.path());
    (results, dir)
}

/// `path` with its ladder and every pair, then `ctime`.
fn measured() -> path::testing::Scene {
    path::testing::Scene {
        ladder: true,
        raw_pairs: true,
        iterations: 2000,
        ctime_cores: Some(4),
        ..path::testing::Scene::new()
    }
}

#[test]
fn a_replay_of_path_and_ctime_gives_the_same_bytes_again() {
    let scene = measured();
    let (_results, dir) = board_only(&scene.record(), &scene.recording());
    let names = [SAMPLES, PAIRS, PAIRS_SPOOL, SUMMARY, JUNIT, REPORT, SUMMARY_JSON];
    let first = finish(&dir, None, false).unwrap();
    assert_eq!(first.written, names.map(|name| dir.join(name)));
    assert!(!dir.join(EDGES).exists(), "no edges were measured");
    let elsewhere = tempfile::tempdir().unwrap();
    finish(&dir, Some(elsewhere.path()), false).unwrap();
    assert_eq!(contents_of(elsewhere.path(), &names), contents_of(&dir, &names));
    assert_eq!(read(&dir).unwrap().recording, scene.recording());
}

#[test]
fn the_three_files_of_samples_hold_the_same_sessions_and_batches() {
    let scene = path::testing::Scene { sessions: 2, iterations: 2016, ..measured() };
    let (_results, dir) = board_only(&scene.record(), &scene.recording());
    finish(&dir, None, false).unwrap();
    let [mut histograms, pairs, spool] =
        [SAMPLES, PAIRS, PAIRS_SPOOL].map(|name| read_samples(&dir.join(name), false).unwrap());
    histograms.sessions.retain(|session| !session.key.variant.contains(':'));
    assert_eq!(histograms.sessions.len(), 6);
    assert_eq!(pairs.sessions, histograms.sessions, "the board's batches are those of its pairs");
    assert_eq!(spool.sessions, histograms.sessions);
    let board = scene.record().bench.board;
    assert_eq!((spool.counter_hz, spool.emulated), (Some(board.counter_hz), Some(true)));
    assert_eq!((pairs.counter_hz, pairs.emulated), (None, None));
}

/// The spool was written by a program that knows results/README.md and nothing else of ours.
#[test]
fn samples_that_another_program_wrote_are_read_alike_as_csv_and_as_a_spool() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures/samples");
    let [pairs, spool, columns] = ["pairs.csv", "pairs.spool", "columns.csv"]
        .map(|name| read_samples(&folder.join(name), false).unwrap().sessions);
    assert_eq!(pairs, spool);
    let said: Vec<_> = spool
        .iter()
        .map(|one| (one.key.to_string(), one.n(), one.histogram().at_least(1), one.histogram().most()))
        .collect();
    let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
    let lines =
        said.iter().map(|(key, n, advanced, most)| format!("{key}: {n} {advanced} {}\n", most.unwrap()));
    assert_eq!(lines.collect::<String>(), expected);
    assert_eq!(columns[0].batches, pairs[0].batches, "whatever its columns are called");
}

#[test]
fn the_report_of_path_and_ctime_fits_eighty_columns_and_says_what_is_published() {
    let scene = path::testing::Scene { sessions: 3, ..measured() };
    let (_results, dir) = board_only(&scene.record(), &scene.recording());
    let outcome = finish(&dir, None, false).unwrap();
    let wide: Vec<&str> = outcome
        .text
        .lines()
        .filter(|line| line.chars().count() > 80 && !line.starts_with("files in"))
        .collect();
    assert_eq!(wide, Vec::<&str>::new(), "{}", outcome.text);
    for part in [
        "no spread published",
        "49.9",
        "81620228",
        "0.778",
        "0.974",
        "emulated",
        "phase bias",
        "slope",
        "0 transactions while the board measured",
        SAMPLES,
        PAIRS,
    ] {
        assert!(outcome.text.contains(part), "no `{part}` in\n{}", outcome.text);
    }
}

#[test]
fn a_path_run_that_was_killed_is_partial_wherever_its_files_end() {
    let scene = path::testing::Scene { iterations: 500, ctime_cores: Some(2), ..path::testing::Scene::new() };
    let recording = scene.recording();
    let (_results, dir) = board_only(&scene.record(), &recording);
    let files = [Instrument::Link, Instrument::Rig].map(|one| dir.join(names::RAW).join(one.file_name()));
    let whole = files.clone().map(|path| fs::read(path).unwrap());
    let end = recording.rig.last().unwrap().at.0;
    for part in 0..40 {
        for (path, bytes) in files.iter().zip(&whole) {
            fs::write(path, killed_at(bytes, end * part / 40)).unwrap();
        }
        let outcome = finish(&dir, None, false).unwrap();
        assert_eq!(outcome.exit, 2, "part {part}");
        assert!(
            outcome.analysis.unwrap().partial.is_some() && outcome.text.contains("partial"),
            "part {part}"
        );
    }
}

#[test]
fn instruments_that_only_edges_need_are_not_missed() {
    let scene = measured();
    let (_results, dir) = board_only(&scene.record(), &scene.recording());
    for instrument in [Instrument::Generator, Instrument::Reference, Instrument::IntervalCounter] {
        fs::remove_file(dir.join(names::RAW).join(instrument.file_name())).unwrap();
    }
    assert_eq!(read(&dir).unwrap().recording.incomplete, Vec::<String>::new());
    fs::remove_file(dir.join(names::RAW).join(Instrument::Link.file_name())).unwrap();
    assert_eq!(read(&dir).unwrap().recording.incomplete, ["raw/link.log is not there"]);
}

/// Small recordings with what is expected of them beside. `PPSRIG_BLESS=1` rewrites the expectations.
#[test]
fn recorded_captures_give_what_stands_beside_them() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures");
    let mut seen = 0;
    for entry in fs::read_dir(&captures).unwrap() {
        let dir = entry.unwrap().path();
        // series/ holds files of others, which `ppsrig stability` reads, and samples/ those of samples.
        if !dir.is_dir() || dir.ends_with("series") || dir.ends_with("samples") {
            continue;
        }
        seen += 1;
        let out = tempfile::tempdir().unwrap();
        let to = if std::env::var_os("PPSRIG_BLESS").is_some() { dir.as_path() } else { out.path() };
        let written = finish(&dir, Some(to), false).unwrap().written;
        let names = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap());
        // Pages are large, and tested by what they show.
        let names: Vec<&str> = names.filter(|name| *name != REPORT).collect();
        assert!(names.contains(&SUMMARY) && names.contains(&SUMMARY_JSON), "{names:?}");
        let (found, expected) = (contents_of(to, &names), contents_of(&dir, &names));
        for (name, (found, expected)) in names.iter().zip(found.iter().zip(expected)) {
            assert!(*found == expected, "{}/{name} differs; PPSRIG_BLESS=1 rewrites it", dir.display());
        }
    }
    assert!(seen > 0, "no recording in {}", captures.display());
}

/// Records the synthetic captures of fixtures/captures anew; then `PPSRIG_BLESS=1` has to follow.
#[test]
#[ignore = "rewrites fixtures/captures"]
fn record_the_synthetic_captures() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures");
    let mut alternate = Scene::new(EdgeMode::Alternate, 40, 50);
    alternate.echo = true;
    let mut faults = Scene::new(EdgeMode::Irq, 40, 500);
    faults.skipped = [3, 17, 30].into();
    faults.spurious_after = [5, 21].into();
    faults.bounced = [8, 9, 25, 33].into();
    faults.torn = [36].into();
    faults.dropped = [38].into();
    faults.outage = 12..15;
    let mut cut = Scene::new(EdgeMode::Irq, 20, 500);
    cut.cut_at = Some(11);
    let path = path::testing::Scene { raw_pairs: false, iterations: 30_000, ..measured() };
    let recorded = [
        ("synthetic-alternate", bundle(&alternate)),
        ("synthetic-faults", bundle(&faults)),
        ("synthetic-cut", bundle(&cut)),
        ("synthetic-path-ctime", board_only(&path.record(), &path.recording())),
    ];
    for (name, (_results, dir)) in recorded {
        let to = captures.join(name);
        fs::create_dir_all(to.join(names::RAW)).unwrap();
        fs::copy(dir.join(names::RUN), to.join(names::RUN)).unwrap();
        for instrument in Instrument::ALL {
            let file = Path::new(names::RAW).join(instrument.file_name());
            fs::copy(dir.join(&file), to.join(&file)).unwrap();
        }
    }
}

#[test]
fn no_message_is_put_together_from_before_and_after_an_absence() {
    let results = tempfile::tempdir().unwrap();
    let raw = results.path().join(names::RAW);
    fs::create_dir_all(&raw).unwrap();
    let write = |name: &str, lines: &str| {
        fs::write(raw.join(format!("{name}.log")), format!("# ppsrig raw 1 {name}\n{lines}")).unwrap();
    };
    let gone = |instrument: &str| {
        format!(
            "2000 did {{\"did\":\"port-vanished\",\"port\":\"/p\",\"instrument\":\"{instrument}\",\"reason\":\"x\"}}\n\
             3000 did {{\"did\":\"port-returned\",\"port\":\"/p\",\"instrument\":\"{instrument}\",\"after_ms\":1}}\n"
        )
    };
    write(
        "interval-counter",
        "1000 rx 12.000000000000 chA\\r\\n13.00\n3001 rx 0000000000 chA\\r\n3002 rx \\n18.000000000000 chA\\r\\n\n",
    );
    write(
        "reference",
        "1000 rx $GPRMC,123519.00,A,4807.038,N,\n3001 rx 01131.000,E,022.4,084.4,230326,,,A*5B\\r\\n\n",
    );
    let found = |rig: &str| {
        write("rig", rig);
        let recording = read(results.path()).unwrap().recording;
        let stamp = |event: &IntervalEvent| match event {
            IntervalEvent::Stamp(stamp) => i64::try_from(stamp.time.0 / 1_000_000_000_000).unwrap(),
            other => panic!("{other:?}"),
        };
        let stamps: Vec<_> = recording.interval.iter().map(|event| stamp(&event.event)).collect();
        let is_time = |event: &&Stamped<ReferenceEvent>| matches!(event.event, ReferenceEvent::Time(_));
        (stamps, recording.reference.iter().filter(is_time).count())
    };
    assert_eq!(found(""), (vec![12, 13, 18], 1), "without an absence they are whole");
    assert_eq!(found(&gone("interval-counter")), (vec![12, 18], 1));
    assert_eq!(found(&gone("reference")), (vec![12, 13, 18], 0));
}
