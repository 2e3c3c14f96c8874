//! Comparisons from files: bundles of boards whose truth is known, written as the instruments would have sent them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use ppsrig_wire::EdgeMode;
use serde_json::Value;
use tempfile::TempDir;

use super::{Args, judged};
use crate::analysis::path::testing::Scene as Path_;
use crate::analysis::synthetic::Scene as Edges;
use crate::bundle::synthetic::{write, write_board_only};
use crate::events::{BoardEvent, RigEvent};
use crate::names::{Clock, PathVariant};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

fn compare(arguments: &[&str]) -> anyhow::Result<(u8, String)> {
    let line = Line::try_parse_from(["compare"].iter().chain(arguments)).expect("a command line");
    judged(&line.args)
}

fn told(arguments: &[&str]) -> (u8, String) {
    compare(arguments).unwrap_or_else(|error| panic!("{error:#}"))
}

fn json(arguments: &[&str]) -> (u8, Value) {
    let (exit, text) = told(&[arguments, &["--json"]].concat());
    (exit, serde_json::from_str(&text).expect("it is JSON"))
}

fn refused(arguments: &[&str]) -> String {
    format!("{:#}", compare(arguments).expect_err("it cannot be done"))
}

/// Lines as one.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A real board that ran live.
fn real(cycles: u64, sessions: u32) -> Path_ {
    Path_ {
        variants: vec![(PathVariant::Indirect, cycles)],
        sessions,
        iterations: 20_000,
        clock: Clock::Live,
        emulated: false,
        ..Path_::new()
    }
}

struct Bench {
    results: TempDir,
    /// Counts bundles: each begins an hour after the one before, with seeds of its own.
    count: std::cell::Cell<u64>,
}

impl Bench {
    fn new() -> Self {
        Self { results: tempfile::tempdir().expect("a temporary folder"), count: std::cell::Cell::new(0) }
    }

    fn path(&self, scene: &Path_) -> String {
        self.count.set(self.count.get() + 1);
        let (mut record, mut recording) = (scene.record(), scene.recording());
        record.provenance.started_utc = format!("2026-11-30T{:02}:00:00Z", self.count.get());
        for event in &mut recording.rig {
            match &mut event.event {
                RigEvent::SessionStarted { seed, .. }
                | RigEvent::PathStarted { seed, .. }
                | RigEvent::CtimeStarted { seed, .. } => *seed += 1_000_000 * self.count.get(),
                _ => {}
            }
        }
        text(&write_board_only(&record, &recording, self.results.path()))
    }

    fn edges(&self, scene: &Edges) -> String {
        text(&write(scene, self.results.path()))
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.results.path().join(name);
        fs::write(&path, content).expect("it fits");
        text(&path)
    }

    /// What a replay makes of a bundle, beside it.
    fn replayed(&self, bundle: &str) {
        crate::command::replay::finish(Path::new(bundle), None, false).unwrap();
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("it is text").to_owned()
}

fn row<'a>(object: &'a Value, metric: &str) -> &'a Value {
    let rows = object["rows"].as_array().expect("rows");
    rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("no {metric} in {object:#}"))
}

#[test]
fn two_more_nanoseconds_are_worse_and_two_fewer_better() {
    let bench = Bench::new();
    let (fast, slow) = (bench.path(&real(24, 4)), bench.path(&real(26, 4)));
    let (exit, object) = json(&[&fast, "--with", &slow]);
    let mean = row(&object, "mean");
    assert_eq!((exit, &mean["verdict"]), (1, &"worse".into()), "{object:#}");
    let change = mean["change"].as_f64().unwrap();
    assert!((1.5..2.5).contains(&change), "{change}");
    assert!(mean["low"].as_f64().unwrap() > 1.0 && mean["high"].as_f64().unwrap() > 2.0 - 0.5);
    assert_eq!((&mean["margin"], &mean["design"]), (&1.0.into(), &"welch".into()));
    assert_eq!((&mean["base"]["sessions"], &mean["base"]["n"]), (&4.into(), &80_000.into()));
    let (exit, object) = json(&[&slow, "--with", &fast]);
    assert_eq!((exit, &object["verdict"]), (0, &"better".into()));
    let (exit, object) = json(&[&fast, "--with", &slow, "--margin", "4"]);
    assert_eq!((exit, &object["verdict"]), (0, &"equivalent".into()), "{object:#}");
}

#[test]
fn the_table_fits_a_mail_and_says_all_that_it_rests_on() {
    let bench = Bench::new();
    let (old, new) = (bench.path(&real(24, 3)), bench.path(&real(40, 3)));
    let (_, table) = told(&[&old, "--with", &new]);
    let wide: Vec<&str> =
        table.lines().filter(|line| line.chars().count() > 72 && !line.contains(&old[..8])).collect();
    assert_eq!(wide, Vec::<&str>::new());
    let said = unwrapped(&table);
    for part in [
        "verdict worse (exit 1): path indirect realtime mean",
        "path, realtime, mean, ns, less is better",
        "margin 1.000",
        "3 and 3 sessions; sd ",
        "finds ",
        "The unit is the session",
        "did not take turns",
        "none on either side: 0 of 60000 and 0 of 60000 reads of 3 ticks or more",
        "image: synthetic.elf 000000000000 (both)",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{table}");
    }
    assert!(!table.contains("emulated"), "{table}");
}

#[test]
fn builds_of_one_bundle_that_took_turns_are_pairs() {
    let bench = Bench::new();
    let both = vec![(PathVariant::Indirect, 26), (PathVariant::Inline, 24)];
    let run = bench.path(&Path_ { variants: both, ..real(0, 4) });
    let (exit, object) = json(&[&format!("{run}:indirect"), "--with", &format!("{run}:inline")]);
    let mean = row(&object, "mean");
    assert_eq!(
        (exit, &mean["verdict"], &mean["design"]),
        (0, &"better".into(), &"paired".into()),
        "{object:#}"
    );
    assert_eq!((&mean["variant"], &mean["against"]), (&"indirect".into(), &"inline".into()));
    let warnings = object["warnings"].as_array().unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let none = refused(&[&format!("{run}:coarse"), "--with", &run]);
    assert!(none.contains("holds nothing of coarse; it holds indirect, inline"), "{none}");
    let unknown = refused(&[&format!("{run}:fast"), "--with", &run]);
    assert!(unknown.contains("nothing is called fast; give one of indirect"), "{unknown}");
}

#[test]
fn bundles_that_were_recorded_in_turns_are_pairs() {
    let bench = Bench::new();
    let runs: Vec<String> = (0..8).map(|run| bench.path(&real(24 + 3 * (run % 2), 1))).collect();
    let pick = |first: usize| runs.iter().skip(first).step_by(2).map(String::as_str).collect::<Vec<_>>();
    let arguments = [pick(0), vec!["--with"], pick(1)].concat();
    let (exit, object) = json(&arguments);
    let mean = row(&object, "mean");
    assert_eq!(
        (exit, &mean["design"], &mean["base"]["sessions"]),
        (1, &"paired".into(), &4.into()),
        "{object:#}"
    );
    let blocks: Vec<&str> =
        [&pick(0)[..2], &pick(1)[..2], &["--with"], &pick(0)[2..], &pick(1)[2..]].concat();
    assert_eq!(row(&json(&blocks).1, "mean")["design"], "welch");
}

#[test]
fn a_longer_tail_is_found_though_the_mean_is_not_worse() {
    let bench = Bench::new();
    let with = |every| Path_ { rare: Some((every, 400)), iterations: 40_000, ..real(24, 4) };
    let (base, new) = (bench.path(&with(400)), bench.path(&with(160)));
    let (exit, object) = json(&[&base, "--with", &new, "--margin", "5"]);
    let tail = row(&object, "tail_share");
    assert_eq!(
        (exit, &tail["verdict"], &row(&object, "mean")["verdict"]),
        (1, &"worse".into(), &"equivalent".into())
    );
    assert_eq!((&tail["counted"], &tail["base"]["n"]), (&"reads of 3 ticks or more".into(), &400.into()));
    let ratio = tail["ratio"].as_f64().unwrap();
    assert!((ratio - 2.5).abs() < 1e-6, "{ratio}");
}

#[test]
fn one_session_a_side_has_no_verdict_and_says_what_is_missing() {
    let bench = Bench::new();
    let (base, new) = (bench.path(&real(24, 1)), bench.path(&real(44, 3)));
    let (exit, object) = json(&[&base, "--with", &new]);
    assert_eq!((exit, &object["verdict"]), (3, &"not-resolvable".into()));
    assert_eq!(row(&object, "mean")["reason"], "unknown until three sessions a side");
    let (exit, shown) = told(&[&base]);
    assert!(exit == 0 && shown.contains("sd between sessions: unknown until three sessions"), "{shown}");
    let (_, shown) = told(&[&new]);
    assert!(shown.contains("sessions a side                    5          10          20"), "{shown}");
    assert!(shown.contains("finds a difference of"), "{shown}");
}

#[test]
fn a_phase_check_that_failed_is_invalid_whatever_the_figures_say() {
    let bench = Bench::new();
    let (base, new) = (bench.path(&real(24, 3)), bench.path(&Path_ { dither: false, ..real(60, 3) }));
    let (exit, object) = json(&[&base, "--with", &new]);
    let mean = row(&object, "mean");
    assert_eq!((exit, &mean["verdict"]), (3, &"invalid".into()), "{object:#}");
    assert!(
        mean["reason"].as_str().unwrap().contains("new: indirect realtime, session 1, path: dither is off")
    );
}

#[test]
fn live_figures_of_an_emulated_board_have_no_verdict() {
    let bench = Bench::new();
    let emulated = |cycles| Path_ { emulated: true, ..real(cycles, 3) };
    let (base, new) = (bench.path(&emulated(24)), bench.path(&emulated(60)));
    let (exit, table) = told(&[&base, "--with", &new]);
    assert_eq!(exit, 3);
    let said = unwrapped(&table);
    assert!(said.contains("the board is emulated and its clock live, so its speed says nothing"), "{table}");
    assert!(table.contains("emulated\n"), "{table}");
    let real_one = bench.path(&real(24, 3));
    let mixed = refused(&[&real_one, "--with", &new]);
    assert!(
        mixed.contains("path indirect realtime mean: not compared: board real against emulated"),
        "{mixed}"
    );
}

#[test]
fn exact_mode_compares_counts_and_violations_count_on_any_board() {
    let bench = Bench::new();
    let exact = |cycles, violations| Path_ {
        counter_hz: 1_000_000_000,
        ctime_cores: Some(4),
        violations,
        emulated: true,
        clock: Clock::Exact,
        ..real(cycles, 1)
    };
    let (base, new) = (bench.path(&exact(24, 0)), bench.path(&exact(25, 3)));
    let (exit, object) = json(&[&base, "--with", &new]);
    let instructions = row(&object, "instructions");
    assert_eq!((exit, &instructions["verdict"]), (1, &"worse".into()), "{object:#}");
    assert_eq!((&instructions["base"]["value"], &instructions["change"]), (&23.0.into(), &1.0.into()));
    assert_eq!((&instructions["p_value"], &instructions["emulated"]), (&Value::Null, &true.into()));
    assert_eq!(row(&object, "instructions_per_operation")["verdict"], "equivalent");
    assert_eq!(row(&object, "ordering_violations")["verdict"], "worse");
    assert!(
        object["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["metric"] != "operations" && row["metric"] != "mean")
    );
}

fn edges(sessions: u32) -> Edges {
    Edges { sessions, echo: true, emulated: false, ..Edges::new(EdgeMode::Alternate, 60, 50) }
}

#[test]
fn edges_are_compared_by_mode_and_tie() {
    let bench = Bench::new();
    let (base, new) = (bench.edges(&edges(3)), bench.edges(&Edges { edges: 80, ..edges(3) }));
    let (_, object) = json(&[&base, "--with", &new, "--margin", "100000"]);
    let rows = object["rows"].as_array().unwrap();
    let keys: Vec<_> = rows
        .iter()
        .map(|row| {
            (row["variant"].as_str().unwrap(), row["tie"].as_str().unwrap(), row["metric"].as_str().unwrap())
        })
        .collect();
    for key in [
        ("irq", "echo", "mean"),
        ("irq", "echo", "tail_share"),
        ("irq", "bracket", "mean"),
        ("poll", "echo", "mean"),
    ] {
        assert!(keys.contains(&key), "no {key:?} in {keys:?}");
    }
    assert!(rows.iter().all(|row| row["metric"] != "mean" || row["verdict"] == "equivalent"), "{object:#}");
    let tail = row(&object, "tail_share")["counted"].as_str().unwrap();
    assert!(tail.starts_with("edges later than") && tail.ends_with("p90 of the base"), "{tail}");
    let slower = bench.edges(&Edges { period_ms: 100, ..edges(3) });
    let other = refused(&[&base, "--with", &slower]);
    assert!(other.contains("edge irq echo mean: not compared: edges a second 20 against 10"), "{other}");
}

#[test]
fn csv_files_of_a_bundle_say_what_the_bundle_says() {
    let bench = Bench::new();
    let (base, new) = (bench.edges(&edges(3)), bench.edges(&Edges { edges: 80, ..edges(3) }));
    bench.replayed(&base);
    let of_bundle = json(&[&base, "--with", &new]).1;
    for file in ["edges.csv", "summary.csv"] {
        let of_file = json(&[&format!("{base}/{file}"), "--with", &new]).1;
        let (a, b) = (row(&of_bundle, "mean"), row(&of_file, "mean"));
        for side in ["base", "new"] {
            let close = |what: &str| {
                let (a, b) = (a[side][what].as_f64().unwrap(), b[side][what].as_f64().unwrap());
                (a - b).abs() < 0.01
            };
            assert!(close("value") && close("sd") && close("sessions"), "{file}: {a:#} {b:#}");
        }
    }
}

#[test]
fn samples_take_the_read_overhead_off_and_need_the_counters_rate() {
    let bench = Bench::new();
    let (base, new) = (bench.path(&real(24, 3)), bench.path(&real(27, 3)));
    bench.replayed(&base);
    let samples = format!("{base}/samples.csv");
    let unknown = refused(&[&samples, "--with", &new]);
    assert!(unknown.contains("does not say how fast its counter runs; give --counter-hz"), "{unknown}");
    let (exit, object) = json(&[&samples, "--with", &new, "--counter-hz", "12_500_000"]);
    let (of_file, of_bundle) = (row(&object, "mean"), json(&[&base, "--with", &new]).1);
    assert_eq!(exit, 1, "{object:#}");
    assert_eq!(of_file["base"]["value"], row(&of_bundle, "mean")["base"]["value"]);
    assert!(object["base"][0]["remarks"][0].as_str().unwrap().contains("nothing bounds the bias"));
    let wrong = refused(&[&samples, "--with", &new, "--counter-hz", "1000000"]);
    assert!(wrong.contains("counter, Hz 1000000 against 12500000"), "{wrong}");
}

#[test]
fn published_figures_give_ratios_and_no_verdict() {
    let bench = Bench::new();
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/published");
    let all = vec![(PathVariant::Indirect, 50), (PathVariant::Inline, 41), (PathVariant::InlineBiased, 39)];
    let run = bench.path(&Path_ { variants: all, ctime_cores: Some(4), ..real(0, 3) });
    let (exit, object) = json(&[&text(&published.join("path.csv")), "--with", &run]);
    assert_eq!((exit, &object["verdict"]), (3, &"no-verdict".into()));
    let rows = object["rows"].as_array().unwrap();
    let variants: Vec<_> = rows.iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["indirect", "inline", "inline-biased"]);
    assert_eq!((&rows[0]["base"]["value"], &rows[0]["base"]["sessions"]), (&49.9.into(), &Value::Null));
    let ratio = rows[0]["ratio"].as_f64().unwrap();
    assert!((ratio - 49.0 / 49.9).abs() < 0.03, "{ratio}");
    assert_eq!(rows[2]["base_over_first"], 0.777_555);

    let (exit, object) = json(&[&text(&published.join("ctime.csv")), "--with", &run]);
    let rows = object["rows"].as_array().unwrap();
    assert_eq!((exit, rows.len(), &rows[0]["ratio"], &rows[0]["change"]), (3, 3, &Value::Null, &Value::Null));
    assert_eq!(
        (&rows[2]["base_over_first"], &rows[2]["new_over_first"]),
        (&0.973_632.into(), &0.961_538.into())
    );
}

#[test]
fn two_tables_are_set_side_by_side() {
    let bench = Bench::new();
    let old = bench.file("old.md", "| build | mean |\n|---|---|\n| inline | 41.2 ns |\n| gone | 1 |\n");
    let new = bench.file("new.csv", "name,value,unit\ninline,40.0,ns\n");
    let (exit, table) = told(&[&old, "--with", &new]);
    assert_eq!(exit, 3);
    assert!(table.contains("inline             41.200     40.000      -1.200  0.971  no-verdict"), "{table}");
    assert!(table.contains("left out: gone: only in the base"), "{table}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let bench = Bench::new();
    let run = bench.path(&real(24, 3));
    for (name, content, wanted) in [
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n\n", "no figure in it"),
        ("nan.csv", "inline,NaN\n", "line 1: `NaN` is no number"),
        ("comma.csv", "a,1\ninline,41,2\n", "line 2: 3 fields"),
        ("other.csv", "a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n", "no file of ppsrig has these columns"),
        ("edges.csv", "session,latency_ns\n1,5.000\n", "no column `mode`"),
        (
            "headed.csv",
            "session,mode,tie,latency_ns\n",
            "holds no session that could be compared: no line of it has a measured value",
        ),
        ("summary.json", "{\"a\": 1}\n", "not recognised; give one of: a run bundle's folder"),
        ("run.toml", "started = 1\n", "not recognised; give one of: a run bundle's folder"),
        ("phase.txt", "# phase\n1.2e-9\n1.3e-9\n", "not recognised; give one of: a run bundle's folder"),
        ("series.csv", "1,1.2e-9\n2,1.3e-9\n", "line 1: `1` (column 1) is a number where a name belongs"),
        (
            "excel.csv",
            "name;value\na;1\n",
            "line 1 column 5: not recognised: fields are separated by a comma",
        ),
        (
            "torn.csv",
            "session,mode,tie,latency_ns\n1,irq,echo,5.000\n1,irq",
            "line 3: 2 fields where the header has 4",
        ),
    ] {
        let file = bench.file(name, content);
        let error = refused(&[&file, "--with", &run]);
        assert!(error.contains(wanted) && error.contains(name), "{name}: {error}");
    }
    let nothing = refused(&["/nowhere/at/all", "--with", &run]);
    assert!(nothing.contains("no such file or folder"), "{nothing}");
    let folder = refused(&[&text(bench.results.path()), "--with", &run]);
    assert!(folder.contains("no run bundle"), "{folder}");
    let huge = bench.file("huge.csv", "name,value\ninline,-1e308\n");
    let said = refused(&[&huge]);
    assert!(
        said.contains("huge.csv: ") && said.contains("line 2: `-1e308` (column 2) is too large"),
        "{said}"
    );
    let torn = bench.file("lenient.csv", "session,mode,tie,latency_ns\n1,irq,echo,x\n1,irq,echo,5.000\n");
    let (exit, shown) = told(&[&torn, "--lenient"]);
    assert!(exit == 0 && shown.contains("lines with faults, left out: 1"), "{shown}");
}

#[test]
fn recordings_that_are_the_same_or_not_whole_are_told() {
    let bench = Bench::new();
    let (run, other) = (bench.path(&real(24, 3)), bench.path(&real(24, 3)));
    let (_, object) = json(&[&run, "--with", &run]);
    assert!(object["warnings"][0].as_str().unwrap().ends_with("are the same recording"), "{object:#}");
    let twice = refused(&[&run, &run, "--with", &other]);
    assert!(twice.contains("are the same recording: its sessions would count twice"), "{twice}");
    // The same plan, image and seeds once more.
    let scene = real(24, 3);
    let mut record = scene.record();
    record.provenance.started_utc = "2026-11-30T22:00:00Z".to_owned();
    let twins: Vec<String> = ["22", "23"]
        .map(|hour| {
            record.provenance.started_utc = format!("2026-11-30T{hour}:00:00Z");
            text(&write_board_only(&record, &scene.recording(), bench.results.path()))
        })
        .to_vec();
    let (_, object) = json(&[&twins[0], "--with", &twins[1]]);
    let warning = object["warnings"][0].as_str().unwrap();
    assert!(warning.contains("3 of 3 sessions have their seed in common"), "{warning}");
    let mut cut = scene.recording();
    cut.board.truncate(cut.board.len() / 2);
    cut.board.retain(|event| matches!(event.event, BoardEvent::Frame { .. }));
    let cut = text(&write_board_only(&record, &cut, bench.results.path()));
    let partial = refused(&[&cut, "--with", &run]);
    assert!(partial.contains("only finished runs are compared"), "{partial}");
}

#[test]
fn one_recording_is_known_in_whatever_form_it_comes() {
    let bench = Bench::new();
    let run = bench.path(&real(24, 3));
    bench.replayed(&run);
    let samples = format!("{run}/samples.csv");
    let lines = fs::read_to_string(&samples).unwrap().replace('\n', "\r\n");
    let other_ends = bench.file("crlf.csv", &lines);
    let forms = [run.as_str(), &samples, &other_ends];
    for (a, b) in [(0, 1), (0, 2), (1, 2), (2, 0)] {
        let arguments = ["--counter-hz", "12500000", forms[a], "--with", forms[b]];
        let (exit, object) = json(&arguments);
        assert_eq!((exit, &object["verdict"]), (3, &"no-verdict".into()), "{arguments:?}");
        let rows = object["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["verdict"] == "no-verdict"), "{object:#}");
        let said = "path indirect realtime mean: 3 of the base's 3 sessions are on the new side too";
        assert!(object["warnings"].as_array().unwrap().contains(&said.into()), "{object:#}");
        let twice = refused(&["--counter-hz", "12500000", forms[a], forms[b]]);
        assert!(
            twice.contains("hold the same recording: session 1 of the first would count twice"),
            "{twice}"
        );
    }
    // With itself, also what is counted exactly.
    let exact = Path_ { counter_hz: 1_000_000_000, emulated: true, clock: Clock::Exact, ..real(24, 1) };
    let (one, other) = (bench.path(&exact), bench.path(&exact));
    assert_eq!(json(&[&one, "--with", &one]).1["verdict"], "no-verdict");
    assert_eq!(json(&[&one, "--with", &other]).1["verdict"], "equivalent");
    let live = bench.path(&Path_ { emulated: true, ..real(24, 1) });
    let said = refused(&[&live, "--with", &one]);
    let wanted = "only in the base; the other side has instructions: mean and instructions are not compared (clock live \
                  against exact";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn units_of_time_are_converted_and_ratios_are_of_what_is_surely_not_nothing() {
    let bench = Bench::new();
    let of = |name: &str, value: &str| bench.file(name, &format!("name,value,unit\none,{value}\n"));
    let (micro, nano) = (of("micro.csv", "1,us"), of("nano.csv", "1000,ns"));
    let first = |a: &str, b: &str| json(&[a, "--with", b]).1["rows"][0].clone();
    let same = first(&micro, &nano);
    assert_eq!((&same["unit"], &same["change"], &same["ratio"]), (&"us".into(), &0.0.into(), &1.0.into()));
    let minus = first(&nano, &of("minus.csv", "-900,ns"));
    assert_eq!((&minus["change"], &minus["ratio"]), (&(-1900.0).into(), &Value::Null));
    let (_, object) = json(&[&nano, "--with", &of("stamps.csv", "3,stamps")]);
    assert_eq!(object["rows"][0]["change"], Value::Null);
    assert_eq!(object["left_out"][0], "difference of one: no factor is known for ns against stamps");
}

#[test]
fn a_run_that_measured_nothing_says_why() {
    let bench = Bench::new();
    let unlocked = bench.edges(&Edges { outage: 0..60, ..edges(1) });
    let said = refused(&[&unlocked]);
    assert!(
        said.contains("holds no session that could be compared: ") && said.contains(" edges unlocked"),
        "{said}"
    );
    let alone = Edges { echo: false, interval_counter: false, ..Edges::new(EdgeMode::Irq, 60, 50) };
    let said = refused(&[&bench.edges(&alone)]);
    assert!(said.contains("have no tie (echo or bracket)"), "{said}");
}

#[test]
fn a_summary_without_single_values_is_told_for_what_it_is() {
    let bench = Bench::new();
    let (base, new) = (bench.edges(&edges(3)), bench.edges(&Edges { edges: 80, ..edges(3) }));
    bench.replayed(&base);
    let (_, object) = json(&[&format!("{base}/summary.csv"), "--with", &new]);
    let told = object["left_out"].as_array().unwrap();
    assert!(told.contains(&"tail of edge irq echo mean: single values are not known".into()), "{told:?}");
    let itself = json(&[&format!("{base}/summary.csv"), "--with", &base]).1;
    assert_eq!(row(&itself, "mean")["verdict"], "no-verdict", "{itself:#}");
}

#[test]
fn traces_that_differ_are_shown_in_short() {
    let bench = Bench::new();
    let (old, new) = (bench.path(&real(24, 3)), bench.path(&real(24, 3)));
    let trace = |instructions: &[&str]| {
        let lines = instructions.iter().enumerate().map(|(index, text)| {
            format!("{index:>4}  {:#010x}  d503201f  f+{:#x}  {text}\n", 0x4020_0000 + 4 * index, 4 * index)
        });
        format!("# ppsrig trace 1\n# image a\n\n# indirect\n{}", lines.collect::<String>())
    };
    fs::write(PathBuf::from(&old).join("trace.txt"), trace(&["nop", "isb", "ret"])).unwrap();
    assert_eq!(json(&[&old, "--with", &new]).1["trace_differs"], Value::Null);
    fs::write(PathBuf::from(&new).join("trace.txt"), trace(&["nop", "ret"])).unwrap();
    let (_, table) = told(&[&old, "--with", &new]);
    assert!(table.contains("trace, what differs") && table.contains("  -  f  isb"), "{table}");
    let (_, object) = json(&[&old, "--with", &new]);
    assert_eq!(object["trace_differs"], true);
    fs::write(PathBuf::from(&new).join("trace.txt"), trace(&["nop", "isb", "ret"])).unwrap();
    let same = "trace: the same functions and instructions";
    assert!(told(&[&old, "--with", &new]).1.contains(same));
    // The first bundle has it, wherever it stands among the inputs.
    let third = bench.path(&real(25, 3));
    bench.replayed(&third);
    let samples = format!("{third}/samples.csv");
    assert!(told(&["--counter-hz", "12500000", &samples, &old, "--with", &new]).1.contains(same));
}

#[test]
fn builds_that_were_picked_have_their_own_parts_of_the_trace_compared() {
    let bench = Bench::new();
    let both = vec![(PathVariant::Indirect, 26), (PathVariant::Inline, 24)];
    let run = bench.path(&Path_ { variants: both, ..real(0, 3) });
    let line = |word: &str| format!("   1  0x40200000  d503201f  f+0x0  {word}\n");
    let (one, other) = (line("blr x8"), line("mrs x0, cntvct_el0"));
    let listing = format!(
        "# ppsrig trace 1\n# image a\n\n# indirect, realtime: 1\n{one}\n# inline, realtime: 1\n{other}"
    );
    fs::write(PathBuf::from(&run).join("trace.txt"), listing).unwrap();
    let (_, object) = json(&[&format!("{run}:indirect"), "--with", &format!("{run}:inline")]);
    let diff = object["trace_diff"].as_str().unwrap();
    assert!(diff.contains("-  f  blr x8") && diff.contains("+  f  mrs x0, cntvct_el0"), "{diff}");
}

#[test]
fn levels_and_margins_that_mean_nothing_are_refused() {
    let parse = |option: &str, value: &str| Line::try_parse_from(["compare", "a", option, value]).is_ok();
    for value in ["0", "0.5", "1", "-0.01", "NaN", "one"] {
        assert!(!parse("--alpha", value), "{value}");
    }
    for value in ["-1", "inf", "NaN"] {
        assert!(!parse("--margin", value), "{value}");
    }
    let said = Line::try_parse_from(["compare", "a", "--margin", "-1"]).err().map(|error| error.to_string());
    assert!(said.as_ref().is_some_and(|said| said.contains("give nanoseconds, 0 or more")), "{said:?}");
    assert!(parse("--alpha", "0.05") && parse("--margin", "0"));
    assert!(Line::try_parse_from(["compare"]).is_err());
}

#[test]
fn a_night_is_refused_with_the_folder_of_its_runs() {
    let bench = Bench::new();
    let night = bench.results.path().join("night");
    fs::create_dir_all(night.join("runs")).unwrap();
    fs::write(night.join("night.toml"), "").unwrap();
    let why = refused(&[&night.display().to_string()]);
    assert!(why.contains("night is a night") && why.ends_with("night/runs"), "{why}");
}
