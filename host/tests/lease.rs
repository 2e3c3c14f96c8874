//! Two runs on one bench: one has it, the other says who; and a bench that is offline.
//!
//! The run that has the bench waits for a bring-up command that never says READY, so that it ends when the test wants.

mod common;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use common::{PATIENCE, Place, bench_with, refusal, text, virtual_bench};

/// A bench that never comes up.
fn never_ready(place: &Place) -> PathBuf {
    let command = "[\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]";
    let bench = bench_with(&[
        (command, "[\"sh\", \"-c\", \"exec sleep 600\"]"),
        ("../../build/firmware/virt.elf", "@run/later.elf"),
    ]);
    place.file("never-ready.toml", bench)
}

fn check(place: &Place, bench: &Path) -> Command {
    place.ppsrig(["check".as_ref(), bench.as_os_str()])
}

/// A check that has the bench when this returns.
fn holding(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ppsrig starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains("bringing the bench up") {
        assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
    }
    child
}

/// The only file of the benches' state with this ending.
fn state_file(place: &Place, ending: &str) -> PathBuf {
    let files = std::fs::read_dir(place.path().join("state")).expect("it was made").flatten();
    let found: Vec<_> =
        files.map(|file| file.path()).filter(|file| file.extension().is_some_and(|e| e == ending)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// Puts other lines in place of some of the lease's.
fn change_lease(place: &Place, changes: &[(&str, &str)]) {
    let path = state_file(place, "lease");
    let lease = std::fs::read_to_string(&path).expect("it is text");
    let line = |line: &str| {
        let change = changes.iter().find(|(key, _)| line.starts_with(&format!("{key} = ")));
        change.map_or_else(|| line.to_owned(), |(key, value)| format!("{key} = {value}"))
    };
    let changed: Vec<_> = lease.lines().map(line).collect();
    // Whole, since its holder may read it at any time.
    let new = place.file("changed.lease", changed.join("\n"));
    std::fs::rename(new, path).expect("it is one file system");
}

fn kill(mut child: Child) {
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}

#[test]
fn of_two_runs_started_at_once_one_has_the_bench_and_the_other_says_who() {
    let place = Place::new();
    let bench = never_ready(&place);
    // Both until one of them has ended: that is the one that was refused.
    let mut runs: Vec<_> = (0..2)
        .map(|_| {
            check(&place, &bench)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("ppsrig starts")
        })
        .collect();
    let started = Instant::now();
    let refused = loop {
        assert!(started.elapsed() < PATIENCE, "both go on");
        match runs.iter_mut().position(|run| run.try_wait().expect("it is ours").is_some()) {
            Some(index) => break runs.remove(index),
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    let said = refusal(&refused.wait_with_output().expect("it has ended"));
    let holder = runs.remove(0);
    for part in [
        format!("(pid {})", holder.id()),
        "for check".to_owned(),
        "--wait".to_owned(),
        "never-ready.toml".to_owned(),
    ] {
        assert!(said.contains(&part), "`{part}` is not in: {said}");
    }
    kill(holder);
    place.wait_until_nothing_runs();
}

#[test]
fn other_commands_and_copies_of_the_bench_file_are_refused_too_and_leave_nothing() {
    let place = Place::new();
    let text = std::fs::read_to_string(never_ready(&place)).expect("it is text");
    // By the probe's serial number they are one bench.
    let one = text.replace("unix:@run/swd.sock", "000770000001").replace("@run/board.tty", "/dev/ttyUSB0");
    let (bench, copy) = (place.file("one.toml", &one), place.file("two.toml", &one));
    let holder = holding(check(&place, &bench));
    for command in ["run", "flash", "trace", "check"] {
        let output = place.ppsrig([command.as_ref(), copy.as_os_str()]).output().expect("ppsrig starts");
        let said = refusal(&output);
        assert!(said.contains(&format!("(pid {})", holder.id())), "{command}: {said}");
        assert!(said.contains("probe 20b7:9db1:000770000001"), "{command}: {said}");
    }
    assert!(!place.path().join("results").exists(), "a run that did not begin leaves no bundle");
    kill(holder);
    place.wait_until_nothing_runs();
}

#[test]
fn a_run_that_waits_gets_the_bench_when_the_first_has_ended() {
    let place = Place::new();
    let bench = never_ready(&place);
    let first = holding(check(&place, &bench));
    let mut second = check(&place, &bench);
    let mut second = second
        .args(["--wait", "60"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ppsrig starts");
    let mut stderr = BufReader::new(second.stderr.take().expect("it is piped"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("it is text");
    assert!(said.contains("waiting up to 60 s") && said.contains(&format!("(pid {})", first.id())), "{said}");
    kill(first);
    while !said.contains("bringing the bench up") {
        assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
    }
    kill(second);
    place.wait_until_nothing_runs();
}

#[test]
fn a_killed_holders_lease_is_free_at_once_on_its_host_and_after_its_time_elsewhere() {
    let place = Place::new();
    let bench = never_ready(&place);
    let lease = |mut command: Command| {
        command.env("PPSRIG_LEASE_S", "3");
        command
    };
    kill(holding(lease(check(&place, &bench))));
    // Its process is seen to be gone.
    let before = Instant::now();
    kill(holding(lease(check(&place, &bench))));
    // As another host sees it, which cannot look for processes of this one: renewed just before.
    change_lease(&place, &[("boot-id", "\"another\""), ("host", "\"lab7\"")]);
    let said = refusal(&check(&place, &bench).output().expect("ppsrig starts"));
    assert!(said.contains("on lab7 (pid "), "{said}");
    let mut waiting = check(&place, &bench);
    waiting.args(["--wait", "60"]);
    let third = holding(waiting);
    assert!(before.elapsed().as_secs() >= 2, "it had to wait for the end of the lease");
    kill(third);
    place.wait_until_nothing_runs();
}

#[test]
fn a_run_that_lost_its_lease_ends_and_says_so() {
    let place = Place::new();
    let bench = never_ready(&place);
    let mut command = check(&place, &bench);
    command.env("PPSRIG_LEASE_S", "1");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ppsrig starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains("bringing the bench up") {
        assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
    }
    // What it finds after the machine slept for a while. It may renew between our reading and writing: then once more.
    while child.try_wait().expect("it is ours").is_none() {
        change_lease(&place, &[("token", "\"another\""), ("host", "\"lab7\"")]);
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    std::io::Read::read_to_string(&mut stderr, &mut said).expect("it is text");
    assert_eq!(child.wait().expect("it has ended").code(), Some(2), "{said}");
    assert!(said.contains("the lease of the bench is lost") && said.contains("on lab7"), "{said}");
    place.wait_until_nothing_runs();
}

#[test]
fn a_damaged_lease_and_one_from_the_future_are_told_with_what_to_do() {
    let place = Place::new();
    let bench = never_ready(&place);
    kill(holding(check(&place, &bench)));
    change_lease(&place, &[("boot-id", "\"another\""), ("expires", "\"2999-01-01T00:00:00Z\"")]);
    let said = refusal(&check(&place, &bench).output().expect("ppsrig starts"));
    let path = state_file(&place, "lease");
    assert!(said.contains("the clock of that host or of this one is wrong"), "{said}");
    assert!(said.contains(&format!("remove {}", path.display())), "{said}");
    std::fs::write(&path, b"\x00\xff").expect("it fits");
    let said = refusal(&check(&place, &bench).output().expect("ppsrig starts"));
    assert!(said.contains("is not what ppsrig writes") && said.contains(" s more"), "{said}");
    place.wait_until_nothing_runs();
}

#[test]
fn an_offline_bench_is_named_and_comes_back_only_when_it_is_well_or_by_force() {
    let _turn = virtual_bench();
    let place = Place::new();
    // A folder of the state is made by any command that takes the bench.
    let sick = place.file("sick.toml", "[board]\ndead = true\n");
    let dead = ["flash", "--scenario", sick.to_str().expect("it is text")];
    refusal(&place.ppsrig(dead).output().expect("ppsrig starts"));
    let offline = state_file(&place, "lock").with_extension("offline");
    let reason = "bench = \"b\"\nreason = \"the golden image gives 71 ns\"\nsince-utc = \"2026-12-01T02:00:00Z\"\nby = \"alice on lab3\"\n";
    std::fs::write(&offline, reason).expect("it fits");
    let run = |arguments: &[&str]| {
        let output = place.ppsrig(arguments).output().expect("ppsrig starts");
        place.wait_until_nothing_runs();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, _, warned) = run(&["flash"]);
    assert_eq!(code, Some(0), "by hand it goes on: {warned}");
    assert!(
        warned.contains(
            "warning: the bench is offline since 2026-12-01T02:00:00Z by alice on lab3: the golden"
        ),
        "{warned}"
    );
    let (code, stays, _) = run(&["check", "--back-online", "--scenario", sick.to_str().expect("it is text")]);
    assert!(
        code == Some(2) && stays.contains("the bench stays offline since") && offline.exists(),
        "{stays}"
    );
    let (code, forced, _) = run(&[
        "check",
        "--back-online",
        "--force",
        "--json",
        "--scenario",
        sick.to_str().expect("it is text"),
    ]);
    let forced: serde_json::Value = serde_json::from_str(&forced).expect("it is JSON");
    assert_eq!((code, &forced["back_online"]["online"]), (Some(2), &true.into()), "{forced}");
    assert!(!offline.exists());
    std::fs::write(&offline, reason).expect("it fits");
    let (code, back, said) = run(&["check", "--back-online"]);
    if code == Some(0) {
        assert!(
            back.contains("back online; it was offline since") && back.contains("alice on lab3"),
            "{back}{said}"
        );
    }
    assert_eq!(
        offline.exists(),
        code != Some(0),
        "a host that is too busy makes a virtual bench unwell: {back}"
    );
}
