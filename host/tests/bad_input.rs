//! What is asked for wrongly is refused before anything is touched: exit code 2, and an error that says what is wrong.

mod common;

use common::{Place, bench_with, bench_without_bring_up, fixtures, refusal, text};

/// Refused, and no bundle made.
fn refused(arguments: &[&str], wanted: &[&str]) {
    let place = Place::new();
    let output = place.ppsrig(arguments).output().expect("ppsrig starts");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
    for word in wanted {
        assert!(stderr.contains(word), "{arguments:?}: `{word}` is missing in: {stderr}");
    }
    assert!(!place.path().join("results").exists(), "{arguments:?}: a bundle was made");
}

#[test]
fn numbers_that_make_no_run_are_refused() {
    refused(&["run", "--edges", "0"], &["--edges 0"]);
    refused(&["run", "--edges", "-1"], &["--edges"]);
    refused(&["run", "--edges", "1000001"], &["--edges 1000001", "takes 1000000"]);
    refused(&["run", "--rate", "0"], &["--rate", "no edges would ever come"]);
    refused(&["run", "--rate", "0.0001"], &["--rate", "millihertz"]);
    refused(&["run", "--rate", "fast"], &["--rate", "decimal"]);
    refused(&["run", "--width-ms", "0"], &["--width-ms 0"]);
    refused(&["run", "--sessions", "0"], &["--sessions 0"]);
    refused(&["run", "--counter-hz", "0"], &["--counter-hz"]);
    refused(&["run", "--seed", "9223372036854775808"], &["--seed"]);
}

#[test]
fn a_pulse_that_does_not_fit_its_period_is_refused_with_what_would() {
    refused(&["run", "--rate", "100", "--width-ms", "20"], &["20 ms", "--rate 49.751"]);
    refused(&["run", "--rate", "0.5", "--width-ms", "1500"], &["--width-ms 1500", "preamble"]);
}

#[test]
fn names_that_mean_nothing_are_refused_with_those_that_do() {
    refused(&["run", "--measure", "latency"], &["edge, path, ctime"]);
    refused(&["run", "--mode", "both"], &["irq, poll, alternate"]);
    refused(&["run", "--clock-id", "tai"], &["realtime, monotonic, monotonic-raw, boottime"]);
    refused(&["run", "--clock", "virtual"], &["live, exact"]);
    refused(
        &["run", "--measure", "path", "--variant", "fast"],
        &["--variant fast", "indirect, inline, inline-biased"],
    );
    refused(&["run", "--measure", "path", "--dither", "some"], &["on or off"]);
    refused(&["trace", "--variant", "coarse"], &["indirect, inline, inline-biased"]);
}

#[test]
fn what_a_measurement_cannot_do_is_refused() {
    refused(&["run", "--clock", "exact"], &["--clock exact", "takes no edges"]);
    refused(
        &["run", "--measure", "path", "--iterations", "99999"],
        &["--iterations 99999", "at least 100000"],
    );
    refused(&["run", "--measure", "path,path"], &["path is there twice"]);
    refused(&["run", "--measure", "path", "--max-bias", "-1"], &["nanoseconds"]);
    refused(&["run", "--measure", "path", "--counter-hz", "2000000000"], &["above cpu-hz"]);
    refused(&["run", "--measure", "path", "--counter-hz", "12499999"], &["in step only every"]);
    refused(&["run", "--measure", "ctime", "--cores", "5"], &["--cores"]);
    refused(&["run", "--measure", "ctime", "--operations", "0"], &["--operations"]);
}

#[test]
fn counting_instructions_needs_an_emulated_board_that_can_be_brought_up() {
    let place = Place::new();
    let bench = place.file("hardware.toml", bench_without_bring_up(place.path()));
    let bench = bench.to_str().expect("it is text");
    refused(
        &["run", bench, "--measure", "path", "--clock", "exact"],
        &["--clock exact", "only an emulated board"],
    );
}

#[test]
fn traces_that_are_none_are_refused_by_name() {
    let place = Place::new();
    let notes = place.file("notes.txt", "hello");
    let notes = notes.to_str().expect("it is text");
    refused(&["trace", "--diff", notes, notes], &["notes.txt", "not a trace"]);
    refused(&["trace", "--diff", "/nowhere", "/nowhere"], &["/nowhere"]);
}

#[test]
fn bench_files_that_are_none_are_refused_by_name() {
    let folder = fixtures().join("benches");
    refused(&["run", folder.to_str().expect("it is text")], &["benches", "folder"]);
    refused(&["run", "/nowhere/bench.toml"], &["/nowhere/bench.toml"]);
    let place = Place::new();
    let unknown = place.file("typo.toml", bench_with(&[("link-baud =", "link-boud =")]));
    refused(&["run", unknown.to_str().expect("it is text")], &["typo.toml:", "link-boud"]);
    refused(&["validate", unknown.to_str().expect("it is text")], &["typo.toml:", "link-boud"]);
    let output = place.ppsrig(["validate"]).env("PPSRIG_BENCH", &unknown).output().expect("ppsrig starts");
    assert!(refusal(&output).contains("link-boud"));
}

#[test]
fn a_scenario_needs_a_bench_that_takes_one() {
    let place = Place::new();
    let bench = place.file("hardware.toml", bench_without_bring_up(place.path()));
    let scenario = place.file("s.toml", "");
    let arguments =
        ["run", bench.to_str().expect("it is text"), "--scenario", scenario.to_str().expect("it is text")];
    refused(&arguments, &["hardware.toml", "no [bring-up]"]);
    refused(&["run", "--scenario", "/nowhere.toml"], &["--scenario /nowhere.toml"]);
}

#[test]
fn files_that_are_no_image_are_refused_before_the_bench_is_brought_up() {
    let place = Place::new();
    let text_file = place.file("notes.elf", "hello");
    refused(&["run", "--image", text_file.to_str().expect("it is text")], &["notes.elf", "not a 64-bit ELF"]);
    // Small, unlike the program under test: a larger file is refused for that.
    refused(&["run", "--image", "/bin/sh"], &["not for AArch64"]);
    refused(&["flash", "--image", "/nowhere.elf"], &["/nowhere.elf", "--image"]);
    refused(&["run", "--image", "/dev/zero"], &["/dev/zero", "regular file"]);
    refused(&["run", "--image", "/"], &["regular file"]);
}

#[test]
fn a_bring_up_command_that_is_missing_or_fails_is_named_with_its_last_words() {
    let place = Place::new();
    let missing = bench_with(&[("[\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]", "[\"no-such-bench\"]")]);
    let missing = place.file("missing.toml", missing);
    let output =
        place.ppsrig(["flash", missing.to_str().expect("it is text")]).output().expect("ppsrig starts");
    let stderr = refusal(&output);
    assert!(stderr.contains("no program `no-such-bench`") && stderr.contains("PATH"), "{stderr}");
    let failing = "[\"sh\", \"-c\", \"echo the relay is stuck >&2; exit 7\"]";
    let failing = bench_with(&[("[\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]", failing)]);
    let failing = place.file("failing.toml", failing);
    let output =
        place.ppsrig(["flash", failing.to_str().expect("it is text")]).output().expect("ppsrig starts");
    let stderr = refusal(&output);
    assert!(stderr.contains("exit status: 7") && stderr.contains("the relay is stuck"), "{stderr}");
}

#[test]
fn results_that_cannot_be_written_are_refused_by_path() {
    let place = Place::new();
    let file = place.file("not-a-folder", "");
    let output = place.ppsrig(["run", "--out"]).arg(&file).output().expect("ppsrig starts");
    assert!(refusal(&output).contains("not-a-folder"));
}

#[test]
fn help_and_version_are_data_and_a_bare_call_is_not() {
    let place = Place::new();
    for arguments in [["--help"].as_slice(), &["run", "--help"], &["--version"], &["help", "check"]] {
        let output = place.ppsrig(arguments).output().expect("ppsrig starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
    }
    let output = place.ppsrig::<&str>([]).output().expect("ppsrig starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Usage"));
}
