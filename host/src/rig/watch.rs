//! What every wait of the rig looks at besides its own deadline: whether the user interrupted the run, whether the
//! recording can still be written, and whether the bench is still this run's own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Why everything has to end now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// SIGINT, SIGTERM or SIGHUP.
    #[error("interrupted")]
    Interrupted,
    /// A recording under `raw/` could not be written.
    #[error("cannot write the recording: {0}")]
    Recording(String),
    /// The lease of the bench is another's, or could not be renewed.
    #[error("the lease of the bench is lost: {0}")]
    Lease(String),
    /// There was so much time for everything together.
    #[error("the time for all of it is over")]
    OutOfTime,
}

/// Shared by everything that waits.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    interrupted: Arc<AtomicBool>,
    failure: Arc<Mutex<Option<Halt>>>,
    notices: Arc<Mutex<Vec<String>>>,
    until: Option<Deadline>,
}

impl Watch {
    /// One that nothing interrupts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, for what has to end by then, whatever deadlines its parts have.
    #[must_use]
    pub fn until(&self, deadline: Deadline) -> Self {
        Self { until: Some(deadline), ..self.clone() }
    }

    /// Makes SIGINT, SIGTERM and SIGHUP raise the flag. A SIGINT or SIGTERM after that ends the process at once; a SIGHUP
    /// does not, since a terminal that closes sends several. One that is ignored, as under nohup, stays so.
    ///
    /// To be called once there is something to end in order: until then signals end the process, whatever it waits for.
    ///
    /// # Errors
    /// If the handlers cannot be installed.
    pub fn catch_signals(&self) -> std::io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 2, Arc::clone(&self.interrupted))?;
            signal_hook::flag::register(signal, Arc::clone(&self.interrupted))?;
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        if !ignores(&status, SIGHUP) {
            signal_hook::flag::register(SIGHUP, Arc::clone(&self.interrupted))?;
        }
        Ok(())
    }

    /// Says that a recording could not be written. Only the first failure is kept.
    pub fn recording_failed(&self, reason: String) {
        self.fail(Halt::Recording(reason));
    }

    /// Says that the bench may be another's by now.
    pub fn lease_lost(&self, reason: String) {
        self.fail(Halt::Lease(reason));
    }

    fn fail(&self, halt: Halt) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(halt);
    }

    /// Says something that whoever follows the run should hear: a port that vanished, one that is back.
    pub fn notice(&self, text: String) {
        log::info!("{text}");
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// What there is to be said since the last call.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// The reason to end.
    pub fn check(&self) -> Result<(), Halt> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Halt::Interrupted);
        }
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(failure) => Err(failure.clone()),
            None if self.until.is_some_and(Deadline::passed) => Err(Halt::OutOfTime),
            None => Ok(()),
        }
    }
}

/// Whether a process ignores a signal, by its `/proc/PID/status`.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// A point in time by which something must have happened.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The time `allowed` from now.
    #[must_use]
    pub fn after(allowed: Duration) -> Self {
        Self(Instant::now() + allowed)
    }

    /// What is left of it.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    #[must_use]
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_end_by_then_ends_and_the_rest_goes_on() {
        let watch = Watch::new();
        assert_eq!(watch.until(Deadline::after(Duration::ZERO)).check(), Err(Halt::OutOfTime));
        assert_eq!(watch.until(Deadline::after(Duration::from_secs(3600))).check(), Ok(()));
        assert_eq!(watch.check(), Ok(()));
    }

    #[test]
    fn ignored_signals_are_read_from_the_status_of_a_process() {
        let status = "Name:\tppsrig\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP) && !ignores(status, SIGINT) && !ignores("", SIGHUP));
    }

    #[test]
    fn the_first_recording_failure_is_the_one_that_is_told() {
        let watch = Watch::new();
        assert_eq!(watch.check(), Ok(()));
        watch.recording_failed("link.log: no space left".to_owned());
        watch.recording_failed("rig.log: no space left".to_owned());
        assert_eq!(watch.check(), Err(Halt::Recording("link.log: no space left".to_owned())));
    }
}
