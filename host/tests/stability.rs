//! `ppsrig stability` as a program: files and pipes in, text and exit codes out.

mod common;

use std::io::{Read, Write};
use std::process::{Output, Stdio};

use common::{Place, fixtures, text};

fn capture(name: &str) -> String {
    fixtures().join("captures/series").join(name).display().to_string()
}

fn with_stdin(arguments: &[&str], input: &[u8]) -> Output {
    let place = Place::new();
    let mut ppsrig = place.ppsrig(arguments);
    ppsrig.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ppsrig.spawn().expect("ppsrig starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("it ends")
    })
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let bytes = std::fs::read(capture("phase.txt.gz")).expect("it is there");
    let piped = with_stdin(&["stability", "-", "--json"], &bytes);
    assert_eq!(piped.status.code(), Some(0), "{}", text(&piped.stderr));
    let place = Place::new();
    let file =
        place.ppsrig(["stability", &capture("phase.txt.gz"), "--json"]).output().expect("ppsrig starts");
    let object =
        |output: &Output| serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("an object");
    assert_eq!(object(&piped)["rows"], object(&file)["rows"]);
    assert_eq!(object(&piped)["input"]["file"], "stdin");
}

#[test]
fn what_cannot_be_read_ends_with_two_and_says_where() {
    for (input, wanted) in [
        ("1.5\n2,5\n3.5\n", "stdin: line 2, column 2"),
        ("1.5\nnan\n3.5\n", "without time tags"),
        ("1.5\n2.5\n1e308\n", "line 3, column 1"),
        ("1.5\n2.5\n3.", "no line end"),
        ("", "no reading in 0 lines"),
        ("1.5\n", "one reading only"),
        ("0 1\n1 2\n2 3\n1 4\n", "time goes back by 1 s"),
        ("1.5 ns\n2.5 us\n", "--unit"),
    ] {
        let output = with_stdin(&["stability", "-"], input.as_bytes());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{input}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.contains(wanted), "{input}: no `{wanted}` in {stderr}");
    }
}

#[test]
fn each_recording_gives_an_object() {
    for (name, channel) in
        [("refclocks.log", "PPS0"), ("ticc-timestamp.txt", "B"), ("edges.csv", "1/poll"), ("loopstats", "")]
    {
        let place = Place::new();
        let mut ppsrig =
            place.ppsrig(["stability", &capture(name), "--json", "--dev", "oadev,mtie", "--taus", "decade"]);
        if !channel.is_empty() {
            ppsrig.args(["--channel", channel]);
        }
        let output = ppsrig.output().expect("ppsrig starts");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        let rows = object["rows"].as_array().expect("rows");
        assert!(rows.iter().any(|row| row["dev"] == "oadev" && row["m"] == 1), "{name}: {rows:?}");
        assert!(rows.iter().all(|row| row["value"].as_f64().is_some_and(f64::is_finite)), "{name}: {rows:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    let mut ppsrig = place.ppsrig(["stability", &capture("phase.txt"), "--taus", "all"]);
    let mut child = ppsrig.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ppsrig starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{said}");
}
