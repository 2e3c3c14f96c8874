//! Whole runs on the virtual bench: two edges a second and 250 ms wide, so that they hold on a busy machine.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use common::{PATIENCE, Place, fixtures, refusal, text, virtual_bench};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const SLOW: [&str; 4] = ["--rate", "2", "--width-ms", "250"];
const FILES: [&str; 3] = ["edges.csv", "summary.csv", "summary.json"];

fn summary(bundle: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(bundle.join("summary.json")).expect("it was written"))
        .expect("it is JSON")
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| std::fs::read(folder.join(name)).expect("it was written")).collect()
}

fn rig_log(bundle: &Path) -> String {
    text(&std::fs::read(bundle.join("raw/rig.log")).expect("it was recorded"))
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", text(&output.stderr)))
}

fn scenario(name: &str) -> String {
    fixtures().join("scenarios").join(name).display().to_string()
}

#[test]
fn a_run_pairs_every_edge_and_its_replay_gives_the_same_bytes() {
    let _turn = virtual_bench();
    let place = Place::new();
    let output = place
        .ppsrig(["run", "--edges", "6", "--seed", "5", "--json"])
        .args(SLOW)
        .output()
        .expect("ppsrig starts");
    let stderr = text(&output.stderr);
    let bundle = place.bundle();
    let stdout = text(&output.stdout);
    assert_eq!(code(&output), 0, "{stdout}\n{stderr}");
    let (object, path) = stdout.trim_end().rsplit_once('\n').expect("an object, then the bundle's path");
    assert_eq!(Path::new(path), bundle);
    let summary = summary(&bundle);
    assert_eq!(serde_json::from_str::<Value>(object).expect("it is JSON"), summary);
    assert_eq!(summary["status"], "complete");
    for side in ["commanded", "captured"] {
        assert_eq!(summary["ledger"][side]["paired"], 6, "{summary}");
        assert_eq!(summary["preamble_ledger"][side]["paired"], 4, "{summary}");
    }
    assert_eq!((&summary["probe_transactions"], &summary["emulated"]), (&0.into(), &true.into()));
    let recorded = files(&bundle);
    let again = place.path().join("again");
    for (arguments, folder) in [(vec![], &bundle), (vec!["--out".as_ref(), again.as_os_str()], &again)] {
        let replay = place.ppsrig(["replay"]).arg(&bundle).args(arguments).output().expect("ppsrig starts");
        assert_eq!(code(&replay), 0, "{}", text(&replay.stderr));
        assert!(files(folder) == recorded, "the replay differs");
    }
    place.wait_until_nothing_runs();
}

#[test]
fn interrupt_and_poll_take_turns() {
    let _turn = virtual_bench();
    let place = Place::new();
    let arguments = ["run", "--edges", "8", "--mode", "alternate"];
    let output = place.ppsrig(arguments).args(SLOW).output().expect("ppsrig starts");
    assert_eq!(code(&output), 0, "{}\n{}", text(&output.stdout), text(&output.stderr));
    let edges = text(&files(&place.bundle())[0]);
    assert_eq!(edges.lines().filter(|line| line.contains(",irq,")).count(), 4, "{edges}");
    assert_eq!(edges.lines().filter(|line| line.contains(",poll,")).count(), 4, "{edges}");
}

#[test]
fn two_sessions_boot_the_board_twice_and_balance_together() {
    let _turn = virtual_bench();
    let place = Place::new();
    let arguments = ["run", "--edges", "3", "--sessions", "2"];
    let output = place.ppsrig(arguments).args(SLOW).output().expect("ppsrig starts");
    assert_eq!(code(&output), 0, "{}\n{}", text(&output.stdout), text(&output.stderr));
    let bundle = place.bundle();
    assert_eq!(rig_log(&bundle).matches("\"purpose\":\"load\"").count(), 2);
    assert_eq!(summary(&bundle)["ledger"]["commanded"]["paired"], 6);
}

#[test]
fn a_faulty_bench_gives_exactly_the_numbers_that_follow_from_its_faults() {
    let _turn = virtual_bench();
    let place = Place::new();
    let faults = scenario("faults.toml");
    let arguments =
        ["run", "--scenario", &faults, "--edges", "24", "--rate", "1", "--width-ms", "250", "--json"];
    let output = place.ppsrig(arguments).output().expect("ppsrig starts");
    let summary = summary(&place.bundle());
    let ledger = &summary["ledger"];
    let sides = |class: &str| (ledger["commanded"][class].clone(), ledger["captured"][class].clone());
    assert_eq!(ledger["balanced"], true, "{ledger}");
    assert_eq!(sides("missed").0, 3, "{ledger}");
    assert_eq!(sides("spurious").1, 2, "{ledger}");
    assert_eq!(sides("duplicate").1, 4, "{ledger}");
    assert_eq!(sides("unlocked"), (4.into(), 4.into()), "{ledger}");
    assert_eq!(sides("settling"), (3.into(), 3.into()), "{ledger}");
    assert_eq!(sides("paired"), (14.into(), 14.into()), "{ledger}");
    // Of 24 edges 14 are paired, which is fewer than the limit needs; but a limit was exceeded first.
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
}

#[test]
fn a_counter_sixteen_times_too_slow_is_refused_before_an_edge_is_fired() {
    let _turn = virtual_bench();
    let place = Place::new();
    let scenario = scenario("counter-off-by-16.toml");
    let output = place.ppsrig(["run", "--scenario", &scenario]).args(SLOW).output().expect("ppsrig starts");
    let stderr = refusal(&output);
    assert!(stderr.contains("ratio 0.06") && stderr.contains("declared are 12500000 Hz"), "{stderr}");
    let log = rig_log(&place.bundle());
    assert!(log.contains("\"window\":1,") && !log.contains("\"window\":2,"), "{log}");
    place.wait_until_nothing_runs();
}

#[test]
fn a_generator_that_falls_silent_ends_the_run_with_a_partial_bundle() {
    let _turn = virtual_bench();
    let place = Place::new();
    let scenario = scenario("silent-generator.toml");
    let arguments = ["run", "--scenario", &scenario, "--edges", "8"];
    let output = place.ppsrig(arguments).args(SLOW).output().expect("ppsrig starts");
    let stderr = refusal(&output);
    assert!(stderr.contains("generator") && stderr.contains("8 edges"), "{stderr}");
    let bundle = place.bundle();
    assert_eq!(summary(&bundle)["status"], "partial");
    assert!(rig_log(&bundle).contains("generator-failed"));
    place.wait_until_nothing_runs();
}

/// A run under way, with what it says on stderr.
struct Running {
    child: Child,
    said: Receiver<String>,
}

impl Running {
    fn start(place: &Place) -> Self {
        let arguments = ["run", "--edges", "40"];
        let mut command: Command = place.ppsrig(arguments);
        command.args(SLOW).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("ppsrig starts");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _nobody_listens = sender.send(line);
            }
        });
        Self { child, said }
    }

    fn wait_until_it_says(&self, beginning: &str) {
        loop {
            let line = self.said.recv_timeout(PATIENCE).expect("it gets there");
            if line.starts_with(beginning) {
                return;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id is positive");
        kill_process(pid, signal).expect("it is ours");
    }
}

#[test]
fn an_interrupted_run_leaves_a_safe_generator_and_a_partial_bundle() {
    let _turn = virtual_bench();
    let place = Place::new();
    let run = Running::start(&place);
    run.wait_until_it_says("preamble done");
    run.signal(Signal::INT);
    let output = run.child.wait_with_output().expect("it was started");
    assert_eq!(code(&output), 2);
    let bundle = place.bundle();
    assert_eq!(text(&output.stdout).lines().last(), bundle.to_str(), "the bundle's path comes last");
    assert!(
        rig_log(&bundle).contains("\"did\":\"stopped\",\"reason\":\"interrupted\""),
        "{}",
        rig_log(&bundle)
    );
    assert_eq!(summary(&bundle)["status"], "partial");
    let generator = text(&std::fs::read(bundle.join("raw/generator.log")).expect("it was recorded"));
    let told: Vec<_> = generator.lines().filter(|line| line.contains(" tx ")).collect();
    assert!(told.iter().rev().take(4).any(|line| line.ends_with("OUTP OFF\\n")), "{told:?}");
    place.wait_until_nothing_runs();
}

#[test]
fn a_run_that_is_interrupted_before_its_first_edge_prints_no_table_of_zeros() {
    let _turn = virtual_bench();
    let place = Place::new();
    let run = Running::start(&place);
    run.wait_until_it_says("reference:");
    run.signal(Signal::TERM);
    run.wait_until_it_says("it ended before the first edge");
    run.wait_until_it_says("error: interrupted");
    let output = run.child.wait_with_output().expect("it was started");
    assert_eq!(code(&output), 2);
    assert_eq!(text(&output.stdout), format!("{}\n", place.bundle().display()));
    place.wait_until_nothing_runs();
}

#[test]
fn a_killed_run_leaves_nothing_running_and_a_bundle_that_replays_as_partial() {
    let _turn = virtual_bench();
    for moment in ["bringing the bench up", "reference:", "loaded", "preamble done"] {
        let place = Place::new();
        let mut run = Running::start(&place);
        run.wait_until_it_says(moment);
        run.signal(Signal::KILL);
        run.child.wait().expect("it was started");
        place.wait_until_nothing_runs();
        let bundle = place.bundle();
        let replay = place.ppsrig(["replay"]).arg(&bundle).output().expect("ppsrig starts");
        let said = text(&replay.stdout);
        assert_eq!(code(&replay), 2, "{moment}: {said}{}", text(&replay.stderr));
        assert!(said.contains("partial"), "{moment}: {said}");
    }
}
