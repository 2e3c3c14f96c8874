//! `ppsrig compare` as a user runs it, on the recorded runs of fixtures/captures: what is on stdout, and the exit code.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use common::{Place, fixtures, refusal, text};

fn compare(arguments: &[&Path], options: &[&str]) -> Output {
    let place = Place::new();
    let mut command = place.ppsrig(["compare"]);
    command.args(&arguments[..1]).args(options);
    if arguments.len() > 1 {
        command.arg("--with").args(&arguments[1..]);
    }
    command.output().expect("ppsrig starts")
}

fn capture(name: &str) -> PathBuf {
    fixtures().join("captures").join(name)
}

#[test]
fn counted_instructions_of_two_builds_differ_exactly() {
    let run = capture("virtual-path-counted");
    let of = |variant: &str| PathBuf::from(format!("{}:{variant}", run.display()));
    let better = compare(&[&of("indirect"), &of("inline-biased")], &[]);
    let table = text(&better.stdout);
    assert_eq!(better.status.code(), Some(0), "{table}");
    assert!(table.starts_with("verdict better (exit 0): "), "{table}");
    assert!(table.contains("         23          6         -17  0.261  better\n"), "{table}");
    assert!(table.contains("less is better") && table.contains("emulated\n"), "{table}");
    let worse = compare(&[&of("inline-biased"), &of("indirect")], &["--json"]);
    let object: serde_json::Value = serde_json::from_slice(&worse.stdout).expect("it is JSON");
    assert_eq!(
        (worse.status.code(), &object["verdict"], &object["exit"]),
        (Some(1), &"worse".into(), &1.into())
    );
}

#[test]
fn one_session_a_side_ends_without_verdict() {
    let found =
        compare(&[&capture("synthetic-alternate"), &capture("virtual-alternate").join("edges.csv")], &[]);
    assert_eq!(found.status.code(), Some(3), "{}", text(&found.stderr));
    assert!(text(&found.stdout).contains("unknown until three sessions a side"), "{}", text(&found.stdout));
    let base = compare(&[&capture("synthetic-alternate")], &[]);
    assert_eq!(base.status.code(), Some(0));
    assert!(text(&base.stdout).contains("sd between sessions: unknown until three sessions"));
}

#[test]
fn published_figures_come_with_ratios() {
    let found = compare(&[&fixtures().join("published/path.csv"), &capture("virtual-path")], &[]);
    assert_eq!(found.status.code(), Some(3));
    let table = text(&found.stdout);
    assert!(
        table.contains("indirect           49.900     22.786     -27.114  0.457  no-verdict\n"),
        "{table}"
    );
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reasons() {
    let said = refusal(&compare(&[&capture("virtual-path"), &capture("virtual-alternate")], &[]));
    assert!(said.contains("nothing on both sides can be compared"), "{said}");
    assert!(said.contains("path indirect realtime mean: only in the base"), "{said}");
    let said = refusal(&compare(&[&capture("synthetic-cut"), &capture("synthetic-alternate")], &[]));
    assert!(said.contains("synthetic-cut: ") && said.contains("only finished runs are compared"), "{said}");
    let said = refusal(&compare(&[&capture("no-such-run")], &[]));
    assert!(said.contains("no-such-run: no such file or folder"), "{said}");
}

#[test]
fn samples_through_a_pipe_are_read_like_a_file() {
    let samples = capture("samples").join("pairs.csv");
    let file = compare(&[&samples], &["--counter-hz", "12500000"]);
    assert_eq!(file.status.code(), Some(0), "{}", text(&file.stderr));
    let place = Place::new();
    for name in ["-", "/dev/stdin"] {
        let mut command = place.ppsrig(["compare", "--counter-hz", "12500000", name]);
        // A pipe, which cannot be read twice as a file can.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ppsrig starts");
        let content = std::fs::read(&samples).expect("it is there");
        child.stdin.take().expect("it is piped").write_all(&content).expect("it is read");
        let piped = child.wait_with_output().expect("it ends");
        assert_eq!(piped.status.code(), Some(0));
        // The remark behind the tables names the input.
        let tables = |output: &Output| {
            let said = text(&output.stdout);
            let tables = said.lines().skip(1).take_while(|line| !line.contains("phases"));
            tables.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(tables(&piped), tables(&file), "{name}");
    }
    let table = place.file("table.csv", "path indirect,49.9\n");
    let mut command = place.ppsrig(["compare", "-"]);
    let input = std::fs::File::open(table).expect("it was written");
    let refused = refusal(&command.stdin(input).output().expect("ppsrig starts"));
    assert!(refused.contains("neither counter_pre and counter_snapshot"), "{refused}");
}
