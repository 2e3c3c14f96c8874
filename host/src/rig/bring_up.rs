//! ppsrig's side of a bring-up command: starts it under the [`guard`](super::guard), waits for READY, and ends it.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use super::guard::GRACE;
use super::watch::{Deadline, Halt, Watch};
use crate::names::Clock;
use crate::units::Hertz;

/// How long a bring-up command may take until READY.
const READY_ALLOWED: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(50);
/// Lines of the command's stderr that an error quotes.
const QUOTED_LINES: usize = 8;

/// What a bring-up command is told through its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// PPSRIG_RUN_DIR: what `@run` stands for.
    pub run_dir: PathBuf,
    /// PPSRIG_SCENARIO, absolute.
    pub scenario: Option<PathBuf>,
    /// PPSRIG_CLOCK
    pub clock: Clock,
    /// PPSRIG_COUNTER_HZ
    pub counter_hz: Option<Hertz>,
    /// PPSRIG_SEED
    pub seed: u64,
    /// PPSRIG_CORES: cores that a run needs, if more than one.
    pub cores: u8,
}

/// Why a bench did not come up.
#[derive(Debug, Error)]
pub enum BringUpError {
    /// no such program
    #[error("bring-up: no program `{program}` beside {beside} or on PATH; {advice}")]
    NoProgram {
        /// As the bench file names it.
        program: String,
        /// Folder of the running executable.
        beside: PathBuf,
        /// What to try.
        advice: String,
    },
    /// cannot be started
    #[error("bring-up: cannot start `{program}`: {reason}")]
    Start {
        /// As the bench file names it.
        program: String,
        /// What the system says.
        reason: std::io::Error,
    },
    /// ended before READY
    #[error("bring-up: `{command}` ended ({status}) before it was ready{output}")]
    Ended {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines of its stderr, each behind a line break, or nothing.
        output: String,
    },
    /// not READY in time
    #[error("bring-up: `{command}` did not print READY within {seconds} s{output}", seconds = READY_ALLOWED.as_secs())]
    Late {
        /// The command.
        command: String,
        /// The last lines of its stderr, each behind a line break, or nothing.
        output: String,
    },
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// A bench that is up. It goes down when this is dropped.
#[derive(Debug)]
pub struct BringUp {
    guard: Child,
    /// The guard ends the command when this closes.
    held_open: Option<ChildStdin>,
    lines: Receiver<String>,
    facts: String,
}

impl BringUp {
    /// Starts the command, its `@run` already replaced, and waits until it says READY. Its stderr goes to the file `log`.
    ///
    /// # Errors
    /// [`BringUpError`], with the last lines of its stderr.
    pub fn start(
        command: &[String],
        surroundings: &Surroundings,
        log: &Path,
        watch: &Watch,
    ) -> Result<Self, BringUpError> {
        let failed = |reason| BringUpError::Start { program: command[0].clone(), reason };
        let program = find_program(&command[0])?;
        let stderr = OpenOptions::new().append(true).create(true).open(log).map_err(failed)?;
        let mut guard = guard_command(&program, &command[1..], surroundings)
            .map_err(failed)?
            .stderr(stderr)
            .spawn()
            .map_err(failed)?;
        let held_open = guard.stdin.take();
        let stdout = BufReader::new(guard.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                log::info!(target: "ppsrig::bring_up", "{line}");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut up = Self { guard, held_open, lines, facts: String::new() };
        up.facts = up.wait_until_ready(&command.join(" "), log, watch)?;
        Ok(up)
    }

    /// What the command said behind READY.
    #[must_use]
    pub fn facts(&self) -> &str {
        &self.facts
    }

    fn wait_until_ready(&mut self, command: &str, log: &Path, watch: &Watch) -> Result<String, BringUpError> {
        let deadline = Deadline::after(READY_ALLOWED);
        loop {
            watch.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => match line.strip_prefix("READY") {
                    Some(facts) if facts.is_empty() || facts.starts_with(' ') => {
                        return Ok(facts.trim().to_owned());
                    }
                    _ => {}
                },
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(BringUpError::Late { command: command.to_owned(), output: last_lines(log) });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status =
                        self.guard.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                    return Err(BringUpError::Ended {
                        command: command.to_owned(),
                        status,
                        output: last_lines(log),
                    });
                }
            }
        }
    }
}

impl Drop for BringUp {
    fn drop(&mut self) {
        drop(self.held_open.take());
        let deadline = Deadline::after(GRACE + Duration::from_secs(1));
        while matches!(self.guard.try_wait(), Ok(None)) {
            if deadline.passed() {
                // The guard's own group is its id; the command's group is the guard's business and dies of its stdin.
                if let Some(group) = i32::try_from(self.guard.id()).ok().and_then(Pid::from_raw) {
                    let _gone = kill_process_group(group, Signal::KILL);
                }
                let _reaped = self.guard.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn guard_command(
    program: &Path,
    arguments: &[String],
    surroundings: &Surroundings,
) -> std::io::Result<Command> {
    let run_dir = &surroundings.run_dir;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("guard").arg("--scratch").arg(run_dir).arg("--").arg(program);
    command.args(arguments);
    command.env("PPSRIG_RUN_DIR", run_dir).env("PPSRIG_CLOCK", surroundings.clock.name());
    command.env("PPSRIG_SEED", surroundings.seed.to_string());
    match surroundings.cores {
        0 | 1 => command.env_remove("PPSRIG_CORES"),
        cores => command.env("PPSRIG_CORES", cores.to_string()),
    };
    match &surroundings.scenario {
        Some(scenario) => command.env("PPSRIG_SCENARIO", scenario),
        None => command.env_remove("PPSRIG_SCENARIO"),
    };
    match surroundings.counter_hz {
        Some(hertz) => command.env("PPSRIG_COUNTER_HZ", hertz.0.to_string()),
        None => command.env_remove("PPSRIG_COUNTER_HZ"),
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    Ok(command)
}

/// Looks beside the running executable first, so that a build of the source tree finds its own, then on PATH.
fn find_program(program: &str) -> Result<PathBuf, BringUpError> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let beside =
        std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned())).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(beside.clone()).chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(program)).find(|candidate| candidate.is_file());
    found.ok_or_else(|| {
        let advice = match program {
            "vbench" => "build the virtual bench with `cargo build -p ppsrig-vbench`".to_owned(),
            _ => "install it, or give its full path in [bring-up] of the bench file".to_owned(),
        };
        BringUpError::NoProgram { program: program.to_owned(), beside, advice }
    })
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut last = VecDeque::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if last.len() == QUOTED_LINES {
            last.pop_front();
        }
        last.push_back(format!("\n  {line}"));
    }
    last.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_nowhere_says_where_it_was_looked_for() {
        let error = find_program("no-such-program-anywhere").expect_err("it is nowhere");
        assert!(error.to_string().contains("or on PATH"), "{error}");
    }

    #[test]
    fn an_error_quotes_the_last_lines() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text: String = (0..20).map(|n| format!("line {n}\n\n")).collect();
        std::fs::write(file.path(), text).expect("it fits");
        let quoted = last_lines(file.path());
        assert!(quoted.starts_with("\n  line 12\n"), "{quoted}");
        assert!(quoted.ends_with("line 19"), "{quoted}");
    }
}
