//! What the kinds of ports have in common once they are open: a side to read, which comes back within
//! [`READ_TIMEOUT`](super::READ_TIMEOUT), and a side to write.

use std::fmt;
use std::io::{self, Read, Write};

use super::{PortError, rfc2217, tcp, tty, usbtmc};
use crate::bench_file::{Port as Place, PortSettings};
use crate::rig::watch::Watch;

/// A modem line that the host drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModemLine {
    /// Data terminal ready.
    Dtr,
    /// Request to send.
    Rts,
    /// The data line, which is no modem line but can be held at space like one.
    TxdBreak,
}

impl fmt::Display for ModemLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dtr => "DTR",
            Self::Rts => "RTS",
            Self::TxdBreak => "a break",
        })
    }
}

/// The side of a port that is written.
pub(super) trait Output: Write + Send {
    /// Raises or lowers a modem line.
    fn set_modem_line(&mut self, _line: ModemLine, _up: bool) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this kind of port has none"))
    }
}

/// A port that is open.
pub(super) struct Opened {
    /// A read that finds nothing is an error of kind `TimedOut` or `WouldBlock`; 0 bytes are the end.
    pub(super) input: Box<dyn Read + Send>,
    pub(super) output: Box<dyn Output>,
}

/// Opens the port that an address names now: a name under /dev/serial/by-id is looked up each time.
pub(super) fn open(settings: &PortSettings, watch: &Watch) -> Result<Opened, PortError> {
    let address = settings.address.as_str();
    match Place::parse(address).map_err(PortError::BadAddress)? {
        Place::Tty(path) => tty::open(&path, settings),
        Place::Tcp { host, port } => tcp::open(address, (&host, port), watch),
        Place::Rfc2217 { host, port } => rfc2217::open(settings, (&host, port), watch),
        Place::Usbtmc(path) => usbtmc::open(address, &path),
    }
}
