//! A port of the bench: a tty, `tcp://host:port`, `rfc2217://host:port`, or a USBTMC device.
//!
//! A thread of its own reads it from the moment it is open, records every byte with its arrival time and passes it on:
//! what arrives between opening and the first look would otherwise be lost beyond the kernel's buffer (serialport-rs
//! issue 308). The same thread waits for a port that vanished and opens it again under its name, whatever device that
//! name stands for then; both are recorded, so that a replay knows of the gap.

pub mod adapter;
mod keeper;
mod lock_file;
mod rfc2217;
mod tcp;
mod transport;
mod tty;
mod usbtmc;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;

use crate::bench_file::PortSettings;
use crate::events::PortOwner;
use crate::rig::recorder::Log;
use crate::rig::watch::{Deadline, Halt};
use crate::units::HostNanos;
use keeper::{Arrival, Shared};
pub use transport::ModemLine;

/// How long a read may block before the reader looks whether the port is being closed.
const READ_TIMEOUT: Duration = Duration::from_millis(50);
/// How long a port that vanished is waited for.
const RETURN_ALLOWED: Duration = Duration::from_secs(30);
/// How long a command to a generator waits for a port that is away: what it commands would come at another time than
/// was meant.
const COMMAND_ALLOWED: Duration = Duration::from_secs(2);
/// How long closing may take. A read of a USBTMC device cannot be called off, and ends by itself after five seconds.
const CLOSE_ALLOWED: Duration = Duration::from_secs(7);

/// Why a port cannot be used.
#[derive(Debug, Error)]
pub enum PortError {
    /// nothing there
    #[error("{address}: no such port; `ppsrig list` shows the ports of this machine")]
    Missing {
        /// As the bench file names it.
        address: String,
    },
    /// held by another process
    #[error("{address}: the port is in use by {holder}; end it, or give another port")]
    Busy {
        /// As the bench file names it.
        address: String,
        /// Who holds it.
        holder: String,
    },
    /// not allowed
    #[error(
        "{address}: permission denied; join the group that owns the port (`sudo usermod -aG dialout $USER`), \
         then log in again"
    )]
    Permission {
        /// As the bench file names it.
        address: String,
    },
    /// a file or folder
    #[error("{address}: this is no tty; give a serial port such as /dev/ttyUSB0, or tcp://host:port")]
    NotATty {
        /// As the bench file names it.
        address: String,
    },
    /// another kind of device
    #[error("{address}: this is no USBTMC device; `ppsrig list` shows those of this machine")]
    NotUsbtmc {
        /// As the bench file names it.
        address: String,
    },
    /// neither form of a port
    #[error("{0}")]
    BadAddress(String),
    /// a modem line was asked for where there is none
    #[error("{address}: cannot set the modem line {line}: {reason}; this port may have no modem lines")]
    NoModemLine {
        /// As the bench file names it.
        address: String,
        /// Which.
        line: ModemLine,
        /// What the system says.
        reason: String,
    },
    /// whatever else the system says
    #[error("{address}: cannot open the port: {reason}")]
    Open {
        /// As the bench file names it.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// it takes no bytes
    #[error("{address}: the port takes no bytes: {reason}; is its flow control, or its server, stuck?")]
    Unsent {
        /// As the bench file names it.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// gone while in use
    #[error("{address}: the port vanished: {reason}; was the instrument unplugged or switched off?")]
    Vanished {
        /// As the bench file names it.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// How long a port that vanished is waited for, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patience {
    /// The reader's, for the port to come back.
    port: Duration,
    /// A write's. None is longer than the reader's.
    command: Duration,
}

impl Patience {
    const NONE: Self = Self { port: Duration::ZERO, command: Duration::ZERO };

    /// Who only reads, or asks again, waits as long as there is hope.
    const fn of(owner: PortOwner) -> Self {
        let command = match owner {
            PortOwner::Generator => COMMAND_ALLOWED,
            PortOwner::Link | PortOwner::Reference | PortOwner::IntervalCounter => RETURN_ALLOWED,
        };
        Self { port: RETURN_ALLOWED, command }
    }
}

/// An open port.
pub struct Port {
    address: String,
    shared: Arc<Shared>,
    arrivals: Receiver<Arrival>,
    vanished: Option<String>,
    patience: Patience,
    log: Log,
    reader: Option<JoinHandle<()>>,
}

impl Port {
    /// Opens a port at this baud rate, 8n1, and starts to read and record. If it vanishes, that is an error at once.
    ///
    /// # Errors
    /// [`PortError`], which says what to try.
    pub fn open(address: &str, baud: u32, log: Log) -> Result<Self, PortError> {
        Self::open_with(&PortSettings::plain(address, baud), log)
    }

    /// As [`Port::open`], with the line set as the bench file says.
    ///
    /// # Errors
    /// [`PortError`], which says what to try.
    pub fn open_with(settings: &PortSettings, log: Log) -> Result<Self, PortError> {
        Self::start(settings, log, None, Patience::NONE)
    }

    /// Opens an instrument's port for a run: one that vanishes is waited for, and `rig` (`rig.log`) tells of it. Meanwhile
    /// [`Port::read`] finds nothing; a write waits for the port, that to a generator for two seconds only.
    ///
    /// # Errors
    /// [`PortError`], which says what to try.
    pub fn open_for(
        owner: PortOwner,
        settings: &PortSettings,
        log: Log,
        rig: &Log,
    ) -> Result<Self, PortError> {
        Self::start(settings, log, Some((owner, rig.clone())), Patience::of(owner))
    }

    fn start(
        settings: &PortSettings,
        log: Log,
        rig: Option<(PortOwner, Log)>,
        patience: Patience,
    ) -> Result<Self, PortError> {
        log.watch().check()?;
        let opened = transport::open(settings, log.watch())?;
        let address = settings.address.clone();
        let (shared, arrivals, reader) =
            keeper::start(settings.clone(), opened, log.clone(), rig, patience.port);
        Ok(Self { address, shared, arrivals, vanished: None, patience, log, reader: Some(reader) })
    }

    /// As the bench file names it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether the port is away just now, and being waited for.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.shared.is_away()
    }

    /// How often the port came back so far. An answer that was due before is not to be waited for.
    #[must_use]
    pub fn returns(&self) -> u64 {
        self.shared.returns()
    }

    /// The time now, as everything that is recorded has it.
    #[must_use]
    pub fn now(&self) -> HostNanos {
        self.log.clock().now()
    }

    /// Records bytes and sends them; returns the time just before. For a USBTMC device they are one message.
    ///
    /// # Errors
    /// [`PortError::Vanished`], [`PortError::Unsent`], [`PortError::Halt`]
    pub fn write(&mut self, bytes: &[u8]) -> Result<HostNanos, PortError> {
        let deadline = Deadline::after(self.patience.command);
        self.shared.send(&self.address, bytes, &self.log, deadline)
    }

    /// Raises or lowers a modem line; returns the time just before.
    ///
    /// # Errors
    /// [`PortError::NoModemLine`], [`PortError::Vanished`]
    pub fn set_modem_line(&mut self, line: ModemLine, up: bool) -> Result<HostNanos, PortError> {
        self.shared.set_modem_line(&self.address, line, up, &self.log)
    }

    /// The next bytes, or none if nothing arrives for `wait`.
    ///
    /// # Errors
    /// [`PortError::Vanished`], again at every call.
    pub fn read(&mut self, wait: Duration) -> Result<Option<(HostNanos, Vec<u8>)>, PortError> {
        if let Some(reason) = &self.vanished {
            return Err(self.gone(reason.clone()));
        }
        match self.arrivals.recv_timeout(wait) {
            Ok(Arrival::Bytes { at, bytes }) => Ok(Some((at, bytes))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Ok(Arrival::Gone { reason }) => {
                self.vanished = Some(reason.clone());
                Err(self.gone(reason))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.gone("its reader ended".to_owned())),
        }
    }

    fn gone(&self, reason: String) -> PortError {
        PortError::Vanished { address: self.address.clone(), reason }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.shared.close();
        let Some(reader) = self.reader.take() else { return };
        // It looks at the flag at least every READ_TIMEOUT, but for a USBTMC device that owes an answer.
        let deadline = Deadline::after(CLOSE_ALLOWED);
        while !reader.is_finished() && !deadline.passed() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if reader.is_finished() {
            let _panicked = reader.join();
        }
    }
}

impl std::fmt::Debug for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Port").field("address", &self.address).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
