//! The guard of a labgrid place (`ppsrig place-guard`): acquires it, and releases it when ppsrig ends, in whatever way.
//! labgrid's locks do not expire, so whoever was killed would keep a place for ever. The guard itself acquires: at no moment
//! is there a place without a guard. ppsrig holds its stdin, and reads one JSON object a line from its stdout.
//!
//! A place that the caller holds already is used and left acquired. That it was the guard who acquired it is kept in a file
//! beside the lease, whose lock the guard holds until it has released: so the next run neither takes a place that is
//! about to be released for its caller's own, nor leaves one acquired whose guard was killed as well.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::client::{ClientError, call};
use super::resources;
use crate::bench_file::Labgrid;
use crate::rig::guard::{close_on_end_of_stdin, close_on_signal};
use crate::rig::lease::open_lock;
use crate::rig::watch::Deadline;

/// How long the guard before may take to release: its whole time to do so.
const LOCK_ALLOWED: Duration = Duration::from_secs(45);
/// How long a release is tried for.
pub(super) const RELEASE_ALLOWED: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// How often it is asked again for a place that somebody else has.
const AGAIN: Duration = Duration::from_secs(1);

/// What the guard is told.
#[derive(Clone, Debug)]
pub struct Order {
    /// The place.
    pub labgrid: Labgrid,
    /// The file that says whether a guard acquired it.
    pub file: PathBuf,
    /// How long it may wait for somebody else.
    pub wait: Duration,
}

/// What the guard says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Told {
    /// Somebody else has it.
    Waiting {
        /// What labgrid says.
        said: String,
    },
    /// It may be used now.
    Held {
        /// Whether the guard acquired it, and will release it.
        acquired: bool,
        /// What `labgrid-client env` says.
        environment: String,
    },
    /// It cannot be had.
    Refused {
        /// Why.
        why: String,
    },
}

/// Acquires the place, waits until stdin closes or a signal comes, and releases it.
#[must_use]
pub fn run(order: &Order) -> ExitCode {
    let (sender, closed) = channel();
    close_on_end_of_stdin(sender.clone());
    close_on_signal(sender);
    let guard = match Guard::lock(order, &closed) {
        Ok(guard) => guard,
        Err(why) => {
            tell(&Told::Refused { why });
            return ExitCode::FAILURE;
        }
    };
    guard.hold(&closed)
}

struct Guard<'o> {
    order: &'o Order,
    /// Locked for as long as the guard lives. Not empty: a guard acquired the place.
    file: File,
}

impl<'o> Guard<'o> {
    fn lock(order: &'o Order, closed: &Receiver<()>) -> Result<Self, String> {
        let failed = |reason: std::io::Error| format!("{}: cannot lock it: {reason}", order.file.display());
        let file = open_lock(&order.file).map_err(failed)?;
        let deadline = Deadline::after(LOCK_ALLOWED);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { order, file }),
                Err(TryLockError::Error(reason)) => return Err(failed(reason)),
                Err(TryLockError::WouldBlock) if deadline.passed() => {
                    return Err(format!(
                        "{}: another run has not released the place yet",
                        order.file.display()
                    ));
                }
                Err(TryLockError::WouldBlock) => {
                    if is_closed(closed, LOOK) {
                        return Err("interrupted".to_owned());
                    }
                }
            }
        }
    }

    fn hold(mut self, closed: &Receiver<()>) -> ExitCode {
        let (acquired, environment) = match self.take(closed) {
            Ok(taken) => taken,
            Err(why) => {
                tell(&Told::Refused { why });
                return ExitCode::FAILURE;
            }
        };
        match whole_name(&environment, &self.order.labgrid.place) {
            Ok(()) => {
                tell(&Told::Held { acquired, environment });
                let _closes_some_day = closed.recv();
            }
            Err(why) => tell(&Told::Refused { why }),
        }
        if !acquired || self.release() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Whether the guard acquired it, and what it has.
    fn take(&mut self, closed: &Receiver<()>) -> Result<(bool, String), String> {
        let left_by_a_guard = self.was_acquired();
        let labgrid = &self.order.labgrid;
        let deadline = Deadline::after(self.order.wait);
        let mut named = None;
        loop {
            let error = match call(labgrid, "acquire") {
                Ok(_) => break,
                Err(error) => error,
            };
            if !error.is_held() {
                return Err(error.to_string());
            }
            if named.as_ref() != Some(&error) {
                // It may be the caller who has it, or who was let in by whoever has it.
                if let Ok(environment) = call(labgrid, "env") {
                    return Ok((left_by_a_guard, environment));
                }
                self.note("");
                if !deadline.passed() {
                    tell(&Told::Waiting { said: error.to_string() });
                }
                named = Some(error.clone());
            }
            if deadline.passed() {
                return Err(error.to_string());
            }
            if is_closed(closed, AGAIN.min(deadline.left())) {
                return Err("interrupted".to_owned());
            }
        }
        self.note("acquired by ppsrig\n");
        call(labgrid, "env").map(|environment| (true, environment)).map_err(|error| {
            self.release();
            error.to_string()
        })
    }

    /// Whether the place is free afterwards, as far as it was the guard's.
    fn release(&mut self) -> bool {
        let deadline = Deadline::after(RELEASE_ALLOWED);
        loop {
            match call(&self.order.labgrid, "release") {
                Ok(_) => break,
                Err(error) if error.is_not_ours() => break,
                Err(ClientError::Start { .. }) => return false,
                Err(_) if deadline.passed() => return false,
                Err(_) => std::thread::sleep(AGAIN),
            }
        }
        self.note("");
        true
    }

    fn was_acquired(&mut self) -> bool {
        let mut text = String::new();
        let read = self.file.rewind().and_then(|()| self.file.read_to_string(&mut text));
        read.is_ok() && !text.is_empty()
    }

    fn note(&mut self, text: &str) {
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        // Without it only a place whose guard was killed too stays acquired.
        let _lost = written.and_then(|()| self.file.write_all(text.as_bytes()));
    }
}

/// labgrid takes any part of a name for the place that has it, which may be another board.
fn whole_name(environment: &str, wanted: &str) -> Result<(), String> {
    let (place, _) = resources::parse(environment)
        .map_err(|error| format!("`labgrid-client env` printed what cannot be understood: {error}"))?;
    if place == wanted || wanted.starts_with('+') {
        return Ok(());
    }
    let shown = crate::rig::lease::holder::visible;
    Err(format!("labgrid takes `{}` for its place `{}`; give the whole name", shown(wanted), shown(&place)))
}

fn is_closed(closed: &Receiver<()>, wait: Duration) -> bool {
    closed.recv_timeout(wait) != Err(RecvTimeoutError::Timeout)
}

/// A line to ppsrig, which may be gone.
fn tell(told: &Told) {
    let line = serde_json::to_string(told).expect("plain strings") + "\n";
    let _gone = std::io::stdout().lock().write_all(line.as_bytes());
    let _flushed = std::io::stdout().flush();
}
