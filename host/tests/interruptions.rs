//! What ends a run from outside, or does not: signals, and a stderr that goes away.

mod common;

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use common::{Place, bench_with, text, virtual_bench};
use rustix::process::{Pid, Signal, kill_process};

/// A stderr behind which nobody reads any more.
fn nobody_reads() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("two file descriptors are free");
    drop(reader);
    writer.into()
}

fn full_disk() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("Linux has it").into()
}

#[test]
fn a_stderr_that_is_gone_changes_no_exit_code() {
    let place = Place::new();
    for stderr in [nobody_reads(), full_disk()] {
        let refused = place.ppsrig(["run", "--edges", "0"]).stderr(stderr).status().expect("ppsrig starts");
        assert_eq!(refused.code(), Some(2));
    }
}

#[test]
fn a_run_goes_on_to_its_end_without_its_stderr() {
    let _turn = virtual_bench();
    let place = Place::new();
    let arguments = ["run", "--edges", "4", "--rate", "2", "--width-ms", "250"];
    let output = place.ppsrig(arguments).stderr(nobody_reads()).output().expect("ppsrig starts");
    let read = |name: &str| text(&std::fs::read(place.bundle().join(name)).expect("it was written"));
    // Whether it passed is up to how busy the machine is.
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).expect("it is JSON");
    assert_eq!(summary["exit"], output.status.code().expect("it was not killed"), "{}", text(&output.stdout));
    assert!(read("raw/rig.log").contains("\"did\":\"finished\""), "{}", read("raw/rig.log"));
    let told: Vec<_> =
        read("raw/generator.log").lines().filter(|l| l.contains(" tx ")).map(str::to_owned).collect();
    assert!(told.iter().rev().take(4).any(|line| line.ends_with("OUTP OFF\\n")), "{told:?}");
    place.wait_until_nothing_runs();
}

/// Starts a run whose bring-up command never says READY, and waits until it is about to wait for that. Signals that this
/// process ignores are not ignored by the run.
fn waiting_run(place: &Place) -> Child {
    let command = "[\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]";
    let bench = bench_with(&[
        (command, "[\"sh\", \"-c\", \"exec sleep 600\"]"),
        ("../../build/firmware/virt.elf", "@run/later.elf"),
    ]);
    let bench = place.file("never-ready.toml", bench);
    let run = place.ppsrig(["run".as_ref(), bench.as_os_str()]);
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("env is part of the coreutils")
}

#[test]
fn signals_end_a_run_in_order_before_its_first_edge_and_no_table_is_printed() {
    // A terminal that closes sends more than one SIGHUP.
    for signals in [[Signal::INT].as_slice(), &[Signal::TERM], &[Signal::HUP; 3]] {
        let place = Place::new();
        let mut run = waiting_run(&place);
        let mut stderr = BufReader::new(run.stderr.take().expect("it is piped"));
        let mut said = String::new();
        while !said.contains("bringing the bench up") {
            assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
        }
        let pid = i32::try_from(run.id()).ok().and_then(Pid::from_raw).expect("a process id is positive");
        for signal in signals {
            kill_process(pid, *signal).expect("it is ours, and ended but not waited for at the most");
        }
        stderr.read_to_string(&mut said).expect("it is text");
        let output = run.wait_with_output().expect("it was started");
        assert_eq!(output.status.code(), Some(2), "{signals:?}: {said}");
        assert!(said.contains("before the first edge") && said.contains("error: interrupted"), "{said}");
        let bundle = place.bundle();
        assert_eq!(text(&output.stdout), format!("{}\n", bundle.display()));
        let rig = text(&std::fs::read(bundle.join("raw/rig.log")).expect("it was recorded"));
        assert!(rig.contains("\"did\":\"stopped\",\"reason\":\"interrupted\""), "{signals:?}: {rig}");
        place.wait_until_nothing_runs();
    }
}
