//! A port of the bench: a tty, or `tcp://host:port`.
//!
//! A thread of its own reads it from the moment it is open, records every byte with its arrival time and passes it on:
//! what arrives between opening and the first look would otherwise be lost beyond the kernel's buffer (serialport-rs
//! issue 308). A port that vanishes is an event like any other.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;

use crate::bench_file::Port as Place;
use crate::formats::raw_log::Direction;
use crate::rig::holder;
use crate::rig::recorder::Log;
use crate::rig::watch::{Halt, Watch};
use crate::units::HostNanos;

/// How long a read may block before the reader looks whether the port is being closed.
const READ_TIMEOUT: Duration = Duration::from_millis(50);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

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
    /// neither a tty nor tcp://host:port
    #[error("{0}")]
    BadAddress(String),
    /// whatever else the system says
    #[error("{address}: cannot open the port: {reason}")]
    Open {
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

/// What a port's reader passes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Bytes that arrived together.
    Bytes {
        /// When.
        at: HostNanos,
        /// They.
        bytes: Vec<u8>,
    },
    /// The port cannot be read any more. Nothing follows.
    Vanished {
        /// What the system says.
        reason: String,
    },
}

/// An open port.
pub struct Port {
    address: String,
    writer: Box<dyn Write + Send>,
    arrivals: Receiver<Arrival>,
    vanished: Option<String>,
    log: Log,
    closing: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Port {
    /// Opens a tty exclusively, or connects, and starts to read and record.
    ///
    /// # Errors
    /// [`PortError`], which says what to try.
    pub fn open(address: &str, baud: u32, log: Log) -> Result<Self, PortError> {
        log.watch().check()?;
        let (reader, writer) = match Place::parse(address).map_err(PortError::BadAddress)? {
            Place::Tcp { host, port } => connect(address, &host, port, log.watch())?,
            Place::Tty(_) => open_tty(address, baud)?,
        };
        Ok(Self::over(address, reader, writer, log))
    }

    fn over(address: &str, reader: Box<dyn Read + Send>, writer: Box<dyn Write + Send>, log: Log) -> Self {
        let (sender, arrivals) = channel();
        let closing = Arc::new(AtomicBool::new(false));
        let reader = {
            let (log, closing) = (log.clone(), Arc::clone(&closing));
            std::thread::spawn(move || read_until_closed(reader, &log, &closing, &sender))
        };
        Self {
            address: address.to_owned(),
            writer,
            arrivals,
            vanished: None,
            log,
            closing,
            reader: Some(reader),
        }
    }

    /// As the bench file names it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Records bytes and sends them; returns the time just before.
    ///
    /// # Errors
    /// [`PortError::Vanished`]
    pub fn write(&mut self, bytes: &[u8]) -> Result<HostNanos, PortError> {
        let at = self.log.record(Direction::Tx, bytes);
        let sent = self.writer.write_all(bytes).and_then(|()| self.writer.flush());
        sent.map(|()| at).map_err(|error| self.gone(error.to_string()))
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
            Ok(Arrival::Vanished { reason }) => {
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
        self.closing.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // It looks at the flag at least every READ_TIMEOUT.
            let _panicked = reader.join();
        }
    }
}

impl std::fmt::Debug for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Port").field("address", &self.address).finish_non_exhaustive()
    }
}

fn read_until_closed(mut port: Box<dyn Read + Send>, log: &Log, closing: &AtomicBool, to: &Sender<Arrival>) {
    let mut buffer = [0; 4096];
    while !closing.load(Ordering::Relaxed) {
        let arrival = match port.read(&mut buffer) {
            Ok(0) => Arrival::Vanished { reason: "end of file".to_owned() },
            Ok(count) => {
                let at = log.record(Direction::Rx, &buffer[..count]);
                Arrival::Bytes { at, bytes: buffer[..count].to_vec() }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted
                ) =>
            {
                continue;
            }
            Err(error) => Arrival::Vanished { reason: error.to_string() },
        };
        let last = matches!(arrival, Arrival::Vanished { .. });
        if to.send(arrival).is_err() || last {
            return;
        }
    }
}

type Halves = (Box<dyn Read + Send>, Box<dyn Write + Send>);

fn open_tty(address: &str, baud: u32) -> Result<Halves, PortError> {
    // DTR stays as the system sets it: there is no way to open a tty on Linux without a moment of DTR.
    let opened = serialport::new(address, baud).timeout(READ_TIMEOUT).open_native();
    let reader = opened.map_err(|error| tty_error(address, &error))?;
    let writer = reader.try_clone_native().map_err(|error| tty_error(address, &error))?;
    Ok((Box::new(reader), Box::new(writer)))
}

fn tty_error(address: &str, error: &serialport::Error) -> PortError {
    let path = Path::new(address);
    let address = address.to_owned();
    match error.kind() {
        serialport::ErrorKind::Io(ErrorKind::NotFound) => PortError::Missing { address },
        serialport::ErrorKind::Io(ErrorKind::PermissionDenied) => PortError::Permission { address },
        serialport::ErrorKind::NoDevice => {
            PortError::Busy { holder: holder::describe(&holder::holders(path), path), address }
        }
        _ if path.is_file() || path.is_dir() => PortError::NotATty { address },
        _ => PortError::Open { reason: error.to_string(), address },
    }
}

fn connect(address: &str, host: &str, port: u16, watch: &Watch) -> Result<Halves, PortError> {
    let failed =
        |error: std::io::Error| PortError::Open { address: address.to_owned(), reason: error.to_string() };
    let mut last = std::io::Error::new(ErrorKind::NotFound, "the host name has no address");
    for candidate in (host, port).to_socket_addrs().map_err(failed)? {
        watch.check()?;
        match TcpStream::connect_timeout(&candidate, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(failed)?;
                stream.set_read_timeout(Some(READ_TIMEOUT)).map_err(failed)?;
                stream.set_write_timeout(Some(CONNECT_TIMEOUT)).map_err(failed)?;
                let writer = stream.try_clone().map_err(failed)?;
                return Ok((Box::new(stream), Box::new(writer)));
            }
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

#[cfg(test)]
mod tests;
