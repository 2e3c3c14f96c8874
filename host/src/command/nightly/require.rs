//! What must be so before a night begins.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::night::plan::Require;
use crate::rig::watch::Deadline;

const MEBIBYTE: u64 = 1 << 20;
const TIMEDATECTL_ALLOWED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Why a night cannot begin: what is required and is not so. Empty if all is.
pub(super) fn unmet(require: &Require, dir: &Path) -> Vec<String> {
    let mut unmet = Vec::new();
    if let Some(least) = require.free_disk_mib {
        match rustix::fs::statvfs(dir) {
            Ok(disk) => {
                let free = disk.f_bavail.saturating_mul(disk.f_frsize) / MEBIBYTE;
                if free < least {
                    unmet
                        .push(format!("{free} MiB are free in {}, the plan requires {least}", dir.display()));
                }
            }
            Err(error) => unmet.push(format!("the free space in {} is not known: {error}", dir.display())),
        }
    }
    if let Some(most) = require.load_below {
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        match text.split_whitespace().next().and_then(|load| load.parse::<f64>().ok()) {
            Some(load) if load < most => {}
            Some(load) => {
                unmet.push(format!("the host's load is {load}, the plan requires less than {most}"))
            }
            None => unmet.push("the host's load is not known: /proc/loadavg says nothing".to_owned()),
        }
    }
    if require.clock_synchronised {
        match synchronised() {
            Ok(answer) if answer == "yes" => {}
            Ok(answer) => unmet.push(format!(
                "the host's clock is not synchronised (timedatectl says NTPSynchronized={answer}), the plan requires it"
            )),
            Err(why) => unmet.push(format!("whether the host's clock is synchronised is not known: {why}")),
        }
    }
    unmet
}

/// What the kernel says of the clock, as timedatectl tells it.
fn synchronised() -> Result<String, String> {
    let mut child = Command::new("timedatectl")
        .args(["show", "--property=NTPSynchronized", "--value"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("timedatectl: {error}"))?;
    let deadline = Deadline::after(TIMEDATECTL_ALLOWED);
    while matches!(child.try_wait(), Ok(None)) {
        if deadline.passed() {
            let _gone = child.kill();
            let _reaped = child.wait();
            return Err("timedatectl does not answer".to_owned());
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().map_err(|error| format!("timedatectl: {error}"))?;
    match String::from_utf8_lossy(&output.stdout).trim() {
        "" => Err(format!("timedatectl ended with {}", output.status)),
        answer => Ok(answer.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_so_is_told_with_what_is() {
        let require =
            Require { free_disk_mib: Some(1 << 40), load_below: Some(1e-9), clock_synchronised: false };
        let told = unmet(&require, Path::new("/"));
        assert!(told[0].contains("MiB are free in /, the plan requires 1099511627776"), "{told:?}");
        assert!(told.len() == 2 && told[1].contains("load"), "{told:?}");
        assert_eq!(unmet(&Require::default(), Path::new("/")), Vec::<String>::new());
    }
}
