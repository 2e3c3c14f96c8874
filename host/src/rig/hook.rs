//! A command of the lab's own: run to its end under the [`guard`](super::guard), never through a shell, and ended with
//! everything that it started when its time is over or ppsrig ends.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use thiserror::Error;

use super::guard::GRACE;
use super::watch::{Deadline, Halt, Watch};

const LOOK: Duration = Duration::from_millis(20);
/// Of what it wrote last an error quotes so much.
const QUOTED: u64 = 600;

/// Why a hook failed.
#[derive(Debug, Error)]
pub enum HookError {
    /// it or its log
    #[error("cannot start `{command}`: {reason}")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        reason: std::io::Error,
    },
    /// it ended with another status than 0
    #[error("`{command}` ended with {status}{output}")]
    Failed {
        /// The command.
        command: String,
        /// How.
        status: String,
        /// What it wrote last, behind a colon, or nothing.
        output: String,
    },
    /// out of time
    #[error("`{command}` was ended: it took more than its {seconds} s{output}")]
    Late {
        /// The command.
        command: String,
        /// Its deadline.
        seconds: u64,
        /// What it wrote last.
        output: String,
    },
    /// everything has to end
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// Runs a hook. What it writes is appended to the file `log`; `surroundings` are put into its environment.
///
/// # Errors
/// [`HookError`]: it could not be started, took too long, or ended with another status than 0.
pub fn run(
    command: &[String],
    allowed: Duration,
    surroundings: &[(&str, &str)],
    log: &Path,
    watch: &Watch,
) -> Result<(), HookError> {
    let told = command.join(" ");
    let failed = |reason| HookError::Start { command: told.clone(), reason };
    let mut output = OpenOptions::new().append(true).read(true).create(true).open(log).map_err(failed)?;
    let from = output.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut child = start(command, surroundings, &output).map_err(failed)?;
    let deadline = Deadline::after(allowed);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        let halt = watch.check();
        if halt.is_err() || deadline.passed() {
            end(&mut child);
            halt?;
            return Err(HookError::Late {
                command: told,
                seconds: allowed.as_secs(),
                output: last(&output, from),
            });
        }
        std::thread::sleep(LOOK);
    };
    match status.success() {
        true => Ok(()),
        false => {
            Err(HookError::Failed { command: told, status: status.to_string(), output: last(&output, from) })
        }
    }
}

fn start(command: &[String], surroundings: &[(&str, &str)], output: &File) -> std::io::Result<Child> {
    let executable = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("ppsrig"));
    let mut guard = Command::new(executable);
    guard.arg("guard").arg("--").args(command).envs(surroundings.iter().copied());
    guard.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output.try_clone()?).process_group(0);
    guard.spawn()
}

/// Has the guard end the command and what it started.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    let deadline = Deadline::after(GRACE + Duration::from_secs(1));
    while matches!(child.try_wait(), Ok(None)) {
        if deadline.passed() {
            let _gone = child.kill();
            let _reaped = child.wait();
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// What was written last, in one line.
fn last(mut output: &File, from: u64) -> String {
    let mut bytes = Vec::new();
    let length = output.metadata().map_or(from, |data| data.len());
    let begin = from.max(length.saturating_sub(QUOTED));
    let read = output.seek(SeekFrom::Start(begin)).and_then(|_| output.take(QUOTED).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if read.is_err() || lines.is_empty() { String::new() } else { format!(": {}", lines.join("; ")) }
}
