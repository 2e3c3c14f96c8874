//! A place of a labgrid coordinator: acquired for a run if nobody holds it, used if the caller does, released however
//! the run ends ([`guard`]); its resources stand for `@labgrid/NAME` in the bench file's ports.
//!
//! labgrid knows users and hosts, not processes: two runs of one user on one host are kept apart by the lease alone.

mod client;
pub mod guard;
mod resources;

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use thiserror::Error;

use super::watch::{Deadline, Halt, Watch};
use crate::bench_file::{self, Labgrid};
use crate::rig::lease::holder::visible;
use guard::Told;

pub use resources::{ExportedPort, Resource};

/// What the guard may take beside waiting for others: the guard before, and some calls of labgrid's client.
const TAKE_ALLOWED: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(50);

/// Why a place cannot be used.
#[derive(Debug, Error)]
pub enum LabgridError {
    /// labgrid says no
    #[error("labgrid place {place}: {why}")]
    Refused {
        /// The place.
        place: String,
        /// Why.
        why: String,
    },
    /// the guard itself
    #[error("labgrid place {place}: its guard {what}")]
    Guard {
        /// The place.
        place: String,
        /// What it did.
        what: String,
    },
    /// nothing of that name
    #[error("`@labgrid/{wanted}`: place {place} {why}; it has {has}")]
    NoResource {
        /// The place.
        place: String,
        /// What the bench file names.
        wanted: String,
        /// What is wrong with it.
        why: String,
        /// What there is.
        has: String,
    },
    /// interrupted
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// A place that may be used until this is dropped.
#[derive(Debug)]
pub struct Place {
    name: String,
    resources: Vec<Resource>,
    guard: Child,
    /// The guard releases the place when this closes.
    held_open: Option<ChildStdin>,
}

impl Place {
    /// Acquires the place, waiting so long for somebody else to release it, or finds that the caller holds it. `file` is kept
    /// by its guard. `waiting` is told who has it.
    ///
    /// # Errors
    /// [`LabgridError::Refused`] names who has it.
    pub fn take(
        labgrid: &Labgrid,
        file: &Path,
        wait: Duration,
        watch: &Watch,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<Self, LabgridError> {
        let name = visible(&labgrid.place);
        let failed = |what: String| LabgridError::Guard { place: name.clone(), what };
        let mut guard = guard_command(labgrid, file, wait)
            .and_then(|mut command| command.spawn())
            .map_err(|error| failed(format!("cannot be started: {error}")))?;
        let held_open = guard.stdin.take();
        let told = lines(&mut guard);
        let mut place = Self { name: name.clone(), resources: Vec::new(), guard, held_open };
        let deadline = Deadline::after(wait + TAKE_ALLOWED);
        loop {
            watch.check()?;
            match told.recv_timeout(LOOK) {
                Ok(Told::Waiting { said }) => waiting(&format!("labgrid place {name}: waiting: {said}")),
                Ok(Told::Refused { why }) => return Err(LabgridError::Refused { place: name, why }),
                Ok(Told::Held { acquired, environment }) => {
                    log::info!(
                        "labgrid place {name}: {}",
                        if acquired { "acquired" } else { "held by the caller" }
                    );
                    let (_, resources) = resources::parse(&environment).map_err(failed)?;
                    place.resources = resources;
                    return Ok(place);
                }
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(RecvTimeoutError::Timeout) => return Err(failed("said nothing in time".to_owned())),
                Err(RecvTimeoutError::Disconnected) => return Err(failed("ended without a word".to_owned())),
            }
        }
    }

    /// The port that stands behind `@labgrid/NAME`; none for any other port.
    ///
    /// # Errors
    /// [`LabgridError::NoResource`], which lists what the place has.
    pub fn port(&self, address: &str) -> Option<Result<&ExportedPort, LabgridError>> {
        let wanted = bench_file::labgrid_resource(address)?;
        Some(resources::find(&self.name, &self.resources, wanted))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.held_open.take());
        // The guard ends by itself; it is only waited for, so that the place is free when the run has ended.
        let deadline = Deadline::after(guard::RELEASE_ALLOWED + Duration::from_secs(5));
        let status = loop {
            match self.guard.try_wait() {
                Ok(None) if !deadline.passed() => std::thread::sleep(LOOK),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        if !self.resources.is_empty() && !status.is_some_and(|status| status.success()) {
            crate::stderr::tell(&format!(
                "warning: labgrid place {0} may still be acquired; `labgrid-client --place={0} release` releases it",
                self.name
            ));
        }
    }
}

fn guard_command(labgrid: &Labgrid, file: &Path, wait: Duration) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("place-guard").arg(format!("--place={}", labgrid.place));
    command.arg(format!("--client={}", labgrid.client));
    command.args(labgrid.coordinator.iter().map(|address| format!("--coordinator={address}")));
    command.arg("--file").arg(file).arg(format!("--wait={}", wait.as_secs()));
    // Ctrl-C in a terminal reaches ppsrig alone.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
    Ok(command)
}

fn lines(guard: &mut Child) -> Receiver<Told> {
    let stdout = BufReader::new(guard.stdout.take().expect("it is piped"));
    let (sender, told) = channel();
    std::thread::spawn(move || {
        let told = stdout.lines().map_while(Result::ok);
        for one in told.filter_map(|line| serde_json::from_str(&line).ok()) {
            if sender.send(one).is_err() {
                return;
            }
        }
    });
    told
}
