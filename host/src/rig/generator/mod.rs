//! The generator, in the words of a run: prepare a train of pulses, arm it, see whether it is complete, make it safe.
//!
//! Instruments that start a train on the reference's pulse are one driver (`triggered`) over tables of their words
//! (`families`). The others have nothing in common with them: a train that runs by itself (`feeltech`), a line that the
//! host moves (`serial_line`), and pulses that nobody commands (`gpsdo_pulse`).

pub mod families;
mod feeltech;
mod gpsdo_pulse;
mod running;
mod serial_line;
#[cfg(test)]
mod transcript;
mod triggered;

use std::time::Duration;

use thiserror::Error;

use crate::bench_file::{self, EdgeName, GeneratorDriver};
use crate::rig::dialogue::{Dialogue, DialogueError};
use crate::rig::port::{Port, PortError};
use crate::units::HostNanos;

use families::{KEYSIGHT_33500, RIGOL_DG, SIGLENT_SDG};

/// Its name in messages.
const NAME: &str = "generator";

/// A train of pulses.
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

/// An edge that the host itself has commanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostEdge {
    /// Its number in the train, from 0.
    pub edge: u32,
    /// Just before the command was handed to the system.
    pub sent: HostNanos,
}

/// Why the generator cannot be used.
#[derive(Debug, Error)]
pub enum GeneratorError {
    /// what it said, or did not
    #[error(transparent)]
    Dialogue(#[from] DialogueError),
    /// the port
    #[error("generator: {0}")]
    Port(#[from] PortError),
    /// it silently set something else
    #[error(
        "generator {address}: {setting} was set to {wanted} but reads back as {found} in `{reply}`; it cannot do what \
         was asked for"
    )]
    NotSet {
        /// The port.
        address: String,
        /// The query that reads the setting.
        setting: String,
        /// What was set.
        wanted: String,
        /// What it says.
        found: String,
        /// The whole reply.
        reply: String,
    },
    /// it never could
    #[error("generator {driver}: {reason}")]
    Cannot {
        /// What it is.
        driver: &'static str,
        /// Why not, and what to try.
        reason: String,
    },
}

/// A source of edges.
pub trait Generator: Send {
    /// What it says of itself, and what could not be found out.
    fn identity(&self) -> &str;

    /// Sets everything up for a train, and proves it by reading back. Nothing is fired yet, but by a source that runs by
    /// itself: no window is open.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError>;

    /// Arms: the train starts on the reference's next pulse, or as the source does it. Returns when the generator has
    /// acknowledged it.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn arm(&mut self) -> Result<(), GeneratorError>;

    /// The board has captured so many edges so far. An instrument that would start over on the next pulse is stopped by
    /// that, when its train is over.
    ///
    /// # Errors
    /// [`GeneratorError`]
    fn captured(&mut self, _count: u32) -> Result<(), GeneratorError> {
        Ok(())
    }

    /// Edges that the host has commanded since the last call.
    fn host_edges(&mut self) -> Vec<HostEdge> {
        Vec::new()
    }

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

/// Switches the source off and asks who it is. `port` is asked for only where there is one.
///
/// # Errors
/// [`GeneratorError`]; whatever `port` says.
pub fn open<E: From<GeneratorError>>(
    declared: &bench_file::Generator,
    port: impl FnOnce() -> Result<Port, E>,
) -> Result<Box<dyn Generator>, E> {
    let triggered = |family, port| triggered::Triggered::open(family, declared, Dialogue::new(NAME, port));
    Ok(match declared.driver {
        GeneratorDriver::GpsdoPulse => Box::new(gpsdo_pulse::GpsdoPulse::new()),
        GeneratorDriver::Scpi | GeneratorDriver::Keysight33500 => {
            Box::new(triggered(&KEYSIGHT_33500, port()?)?)
        }
        GeneratorDriver::SiglentSdg => Box::new(triggered(&SIGLENT_SDG, port()?)?),
        GeneratorDriver::RigolDg => Box::new(triggered(&RIGOL_DG, port()?)?),
        GeneratorDriver::FeeltechFy6900 => {
            Box::new(feeltech::Feeltech::open(declared, Dialogue::new(NAME, port()?))?)
        }
        GeneratorDriver::SerialLine => Box::new(serial_line::SerialLine::open(declared, port()?)?),
    })
}

/// Nanoseconds as decimal seconds, exactly.
fn seconds(ns: u64) -> String {
    decimal(i128::from(ns), 9)
}

/// Millivolts as decimal volts, exactly.
fn volts(mv: i32) -> String {
    decimal(i128::from(mv), 3)
}

/// A whole count of `10^-places` as a decimal number without needless digits.
fn decimal(count: i128, places: u32) -> String {
    let scale = 10_u128.pow(places);
    let sign = if count < 0 { "-" } else { "" };
    let (whole, rest) = (count.unsigned_abs() / scale, count.unsigned_abs() % scale);
    let text = format!("{sign}{whole}.{rest:0width$}", width = places as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_small_units_become_exact_decimals() {
        for (ns, text) in [
            (1, "0.000000001"),
            (5_000_000, "0.005"),
            (1_000_000_000, "1"),
            (12_300_000_000, "12.3"),
            (0, "0"),
        ] {
            assert_eq!(seconds(ns), text);
        }
        assert_eq!((volts(3300), volts(-50), volts(0)), ("3.3".into(), "-0.05".into(), "0".into()));
    }
}
