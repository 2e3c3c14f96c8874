//! The generator, in the words of a run: prepare a train of pulses, arm it, see whether it is complete, make it safe.

use std::time::Duration;

use thiserror::Error;

use crate::bench_file::EdgeName;
use crate::rig::port::PortError;

/// A train of pulses that starts on the reference's next pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PulseTrain {
    /// Pulses.
    pub cycles: u32,
    /// Nanoseconds from edge to edge.
    pub period_ns: u64,
    /// Nanoseconds for which the output is at its active level.
    pub width_ns: u64,
    /// Which transition is the edge.
    pub edge: EdgeName,
}

impl PulseTrain {
    /// From the first edge to the end of the last period.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        Duration::from_nanos(self.period_ns.saturating_mul(self.cycles as u64))
    }
}

/// Why the generator cannot be used.
#[derive(Debug, Error)]
pub enum GeneratorError {
    /// the port
    #[error("generator: {0}")]
    Port(#[from] PortError),
    /// no reply
    #[error(
        "generator {address}: no reply to `{query}` within {seconds} s; is it switched on, and is the baud rate right?",
        seconds = allowed.as_secs()
    )]
    Silent {
        /// The port.
        address: String,
        /// What it was asked.
        query: String,
        /// What it was given.
        allowed: Duration,
    },
    /// a reply that is not what was asked for
    #[error(
        "generator {address}: `{reply}` is no answer to `{query}`; does another instrument sit on this port?"
    )]
    BadReply {
        /// The port.
        address: String,
        /// What it was asked.
        query: String,
        /// What it said.
        reply: String,
    },
    /// its error queue was not empty
    #[error("generator {address}: it reports {errors} after {after}; can it do what was asked for?")]
    Reported {
        /// The port.
        address: String,
        /// What was being done.
        after: &'static str,
        /// Its errors, joined.
        errors: String,
    },
    /// it silently set something else
    #[error(
        "generator {address}: {setting} was set to {wanted} but reads back as {found}; it cannot do what was asked for"
    )]
    NotSet {
        /// The port.
        address: String,
        /// The query that reads the setting.
        setting: &'static str,
        /// What was set.
        wanted: String,
        /// What it says.
        found: String,
    },
}

/// An instrument that fires edges when told.
pub trait Generator: Send {
    /// Sets everything up for a train, and proves it by reading back. Nothing is fired yet.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError>;

    /// Arms: the train starts on the reference's next pulse. Returns when the generator has acknowledged it.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn arm(&mut self) -> Result<(), GeneratorError>;

    /// Whether the train that was armed is complete; waits up to `wait` for it.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError>;

    /// Ends whatever is going on and switches the output off, also after an error.
    ///
    /// # Errors
    /// [`GeneratorError`] if it cannot be said that the output is off.
    fn make_safe(&mut self) -> Result<(), GeneratorError>;
}
