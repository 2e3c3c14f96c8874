//! A disk that fills up while a run is recorded: the run ends with an error that says so, and the bench goes down.
//!
//! The disk is a tmpfs of a few kilobytes in a mount namespace of its own. Where none can be mounted the test is
//! reported as ignored, and its name says that it was skipped.

mod common;

use std::process::{Command, ExitCode, Stdio};

use common::{Place, text, virtual_bench};
use libtest_mimic::{Arguments, Failed, Trial};

/// Enough for run.toml and the first records, not for a run.
const DISK: &str = "size=24k";

/// `sh -c SCRIPT` in which "$1" becomes a folder on a small disk.
fn on_a_small_disk(namespace: &str, script: &str) -> Command {
    let mount = format!("mount -t tmpfs -o {DISK} tmpfs \"$1\" && {script}");
    let mut command = Command::new("unshare");
    command.arg(namespace).args(["sh", "-c", &mount, "sh"]);
    command
}

/// The kind of namespace in which this user may mount a disk: root's own, or one that makes him root.
fn namespace() -> Option<&'static str> {
    let place = Place::new();
    ["-m", "-rm"].into_iter().find(|namespace| {
        let mut attempt = on_a_small_disk(namespace, "true");
        attempt.arg(place.path()).stdout(Stdio::null()).stderr(Stdio::null());
        attempt.status().is_ok_and(|status| status.success())
    })
}

fn a_full_disk_ends_the_run(namespace: &str) -> Result<(), Failed> {
    let _turn = virtual_bench();
    let place = Place::new();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk)?;
    let arguments = ["run", "--edges", "200", "--rate", "2", "--width-ms", "250", "--out"];
    let ppsrig = place.ppsrig(arguments);
    let mut command = on_a_small_disk(namespace, "shift && exec \"$@\"");
    command.arg(&disk).arg(ppsrig.get_program()).args(ppsrig.get_args()).arg(&disk);
    for (name, value) in ppsrig.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.stdin(Stdio::null()).output()?;
    let stderr = text(&output.stderr);
    if output.status.code() != Some(2)
        || !stderr.contains("No space left on device")
        || stderr.contains("panicked")
    {
        return Err(format!("{:?}: {}\n{stderr}", output.status, text(&output.stdout)).into());
    }
    place.wait_until_nothing_runs();
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trial = match namespace() {
        Some(namespace) => {
            Trial::test("a_full_disk_ends_the_run", move || a_full_disk_ends_the_run(namespace))
        }
        None => {
            let name = "a_full_disk_ends_the_run (skipped: no disk can be mounted here)";
            Trial::test(name, || Ok(())).with_ignored_flag(true)
        }
    };
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}
