//! One run at a time on a bench: a lease, renewed by the process that holds it and expiring by itself, so that neither a
//! killed process nor a host that lost its power keeps a bench for ever. The lock on the probe (`rig/probe/lock.rs`) stays
//! what keeps two processes apart if clocks are wrong.
//!
//! The lease is a file in the [`StateFolder`], written whole, changed only under a lock that is held for a moment. Between
//! hosts that share the folder its expiry alone counts, by the wall clock; on one host a holder that is gone is seen at once.

mod folder;
pub mod holder;
mod key;
pub mod offline;
mod standing;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::watch::{Deadline, Halt, Watch};
use folder::Keep;
use holder::Holder;
use standing::{Observed, Standing};

pub(in crate::rig) use folder::open_lock;
pub use folder::{StateError, StateFolder};
pub use key::BenchKey;

/// How long a lease holds without being renewed.
const LEASE: Duration = Duration::from_secs(60);
/// What `PPSRIG_LEASE_S` may make of it.
const LEASE_S: std::ops::RangeInclusive<u64> = 1..=3600;
/// How often the holder looks whether its machine slept.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);
/// How often somebody who waits looks again.
const LOOK: Duration = Duration::from_millis(200);

/// Why a bench cannot be had.
#[derive(Debug, Error)]
pub enum LeaseError {
    /// somebody else has it
    #[error(
        "the bench ({bench}) is in use{waited}: {by}; wait for it with --wait SECONDS, or have that ended"
    )]
    Held {
        /// What it is.
        bench: String,
        /// Empty, or how long was waited.
        waited: String,
        /// Who, or what is known of that.
        by: String,
    },
    /// `PPSRIG_LEASE_S`
    #[error("PPSRIG_LEASE_S is {text:?}: give a whole number of seconds, {} to {}", LEASE_S.start(), LEASE_S.end())]
    Length {
        /// What it says.
        text: String,
    },
    /// the file
    #[error("cannot take the lease of the bench")]
    State(#[from] StateError),
    /// interrupted while waiting
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// A bench is this process's own until this is dropped.
#[derive(Debug)]
pub struct Lease {
    file: LeaseFile,
    stop: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

/// The file of a lease that this process holds.
#[derive(Clone, Debug)]
struct LeaseFile {
    state: StateFolder,
    key: BenchKey,
    path: PathBuf,
    holder: Holder,
    length: Duration,
}

impl Lease {
    /// Takes a bench, waiting so long for another holder to end. `waiting` is told who that is, once for each.
    /// Once it is taken it is renewed by a thread; `watch` is told if it is lost.
    ///
    /// # Errors
    /// [`LeaseError::Held`] names who has it.
    pub fn acquire(
        key: &BenchKey,
        purpose: &str,
        wait: Duration,
        watch: &Watch,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<Self, LeaseError> {
        let length = match std::env::var_os("PPSRIG_LEASE_S").filter(|text| !text.is_empty()) {
            None => LEASE,
            Some(text) => length(&text.to_string_lossy())?,
        };
        Self::acquire_in(StateFolder::find()?, key, (purpose, length), wait, watch, waiting)
    }

    fn acquire_in(
        state: StateFolder,
        key: &BenchKey,
        (purpose, length): (&str, Duration),
        wait: Duration,
        watch: &Watch,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<Self, LeaseError> {
        let path = state.file(key, "lease");
        let holder = Holder::of_self(key.to_string(), purpose, Timestamp::now(), length.as_secs());
        let mut file = LeaseFile { state, key: key.clone(), path, holder, length };
        let deadline = Deadline::after(wait);
        let mut observed = Observed::default();
        let mut named = String::new();
        loop {
            watch.check()?;
            let Standing::Held(by) = file.take(&mut observed)? else { break };
            if deadline.passed() {
                let waited = if wait.is_zero() {
                    String::new()
                } else {
                    format!(" after {} s of waiting", wait.as_secs())
                };
                return Err(LeaseError::Held { bench: key.to_string(), waited, by });
            }
            if by != named {
                let left = deadline.left().as_millis().div_ceil(1000);
                waiting(&format!("the bench is in use, waiting up to {left} s: {by}"));
                named = by;
            }
            std::thread::sleep(LOOK.min(deadline.left()));
        }
        Ok(Self::renewed(file, watch))
    }

    fn renewed(file: LeaseFile, watch: &Watch) -> Self {
        let (stop, stopped) = channel();
        let (own, watch) = (file.clone(), watch.clone());
        let renewing = std::thread::spawn(move || {
            if let Err(reason) = own.renew_until(&stopped) {
                watch.lease_lost(reason);
            }
        });
        Self { file, stop: Some(stop), renewing: Some(renewing) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(renewing) = self.renewing.take() {
            let _panicked = renewing.join();
        }
        if let Err(error) = self.file.give_back() {
            log::warn!("the lease was not given back and ends by itself: {error}");
        }
    }
}

impl LeaseFile {
    /// Takes the bench if it is free.
    fn take(&mut self, observed: &mut Observed) -> Result<Standing, StateError> {
        let _lock = self.state.lock(&self.key)?;
        let now = Timestamp::now();
        let standing = observed.standing(folder::read(&self.path)?, now, &self.path);
        if standing == Standing::Free {
            self.holder.since = now;
            self.write(now)?;
        }
        Ok(standing)
    }

    fn write(&self, now: Timestamp) -> Result<(), StateError> {
        let length = SignedDuration::try_from(self.length).expect("an hour at most");
        let holder = Holder { expires: now.saturating_add(length).unwrap_or(now), ..self.holder.clone() };
        folder::write(&self.path, &toml::to_string(&holder).expect("plain values"), Keep::ForAWhile)
    }

    /// Renews it until `stopped` closes.
    ///
    /// # Errors
    /// Why it is this process's no longer.
    fn renew_until(&self, stopped: &Receiver<()>) -> Result<(), String> {
        let every = self.length / 3;
        let (mut renewed, mut at) = (Instant::now(), Timestamp::now());
        while stopped.recv_timeout(every.min(LOOK_AT_CLOCK)) == Err(RecvTimeoutError::Timeout) {
            // A machine that sleeps does not count the time, but sees it on the wall clock when it wakes.
            let by_wall = Duration::try_from(Timestamp::now().duration_since(at)).unwrap_or_default();
            if renewed.elapsed().max(by_wall) < every {
                continue;
            }
            match self.renew() {
                Ok(None) => (renewed, at) = (Instant::now(), Timestamp::now()),
                Ok(Some(lost)) => return Err(lost),
                // A full disk may have room again before the lease has ended.
                Err(error) if renewed.elapsed().max(by_wall) < self.length => {
                    log::warn!("the lease is not renewed: {error}");
                }
                Err(error) => return Err(format!("it could not be renewed: {error}")),
            }
        }
        Ok(())
    }

    /// Renews it; or says who has it now. One that has ended and that nobody took is still this process's.
    fn renew(&self) -> Result<Option<String>, StateError> {
        let _lock = self.state.lock(&self.key)?;
        match self.current()? {
            Some(Ok(holder)) if holder.token == self.holder.token => {
                self.write(Timestamp::now()).map(|()| None)
            }
            Some(Ok(holder)) => Ok(Some(format!(
                "it was not renewed in time (was this machine suspended, or its clock set?), and the bench was taken by {holder}"
            ))),
            Some(Err(reason)) => {
                Ok(Some(format!("{}: not what ppsrig writes: {reason}", self.path.display())))
            }
            None => Ok(Some(format!(
                "{} is gone: it was not renewed in time and another run took the bench and has ended, or somebody removed it",
                self.path.display()
            ))),
        }
    }

    fn current(&self) -> Result<Option<Result<Holder, String>>, StateError> {
        Ok(folder::read(&self.path)?.map(|content| standing::parse(&content.bytes)))
    }

    fn give_back(&self) -> Result<(), StateError> {
        let _lock = self.state.lock(&self.key)?;
        match self.current()? {
            Some(Ok(holder)) if holder.token == self.holder.token => folder::remove(&self.path),
            _ => Ok(()),
        }
    }
}

fn length(text: &str) -> Result<Duration, LeaseError> {
    let seconds = text.parse().ok().filter(|seconds| LEASE_S.contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| LeaseError::Length { text: text.to_owned() })
}

#[cfg(test)]
mod tests;
