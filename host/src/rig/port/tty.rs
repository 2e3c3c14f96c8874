//! A tty, opened for this process alone.
//!
//! Three locks keep others off, and are kept by others: TIOCEXCL (the kernel refuses further opens but root's), flock
//! (everything built on serialport looks at it, and picocom as it is built by default), and the lock file of UUCP's days
//! (minicom; picocom if it was built so), which is looked at and not made, since its folder is often root's alone.
//!
//! DTR: Linux raises DTR and RTS whenever a port is opened that nobody has open, and no setting keeps it from that
//! (serialport-rs says so of its `dtr_on_open`). What can be avoided is the fall at every close, and with it the rise
//! at the next open that resets a board: HUPCL is cleared. So a board resets at the first open after it was plugged in
//! at most.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{ControlModes, OptionalActions};
use serialport::{DataBits, SerialPort as _, StopBits, TTYPort};

use super::transport::{ModemLine, Opened, Output};
use super::{PortError, READ_TIMEOUT, lock_file};
use crate::bench_file::{Dtr, Line, Parity, PortSettings};
use crate::rig::holder;

pub(super) fn open(path: &Path, settings: &PortSettings) -> Result<Opened, PortError> {
    let address = settings.address.as_str();
    if let Some(holder) = lock_file::holder(path, Path::new(lock_file::FOLDER)) {
        return Err(PortError::Busy { address: address.to_owned(), holder: holder.to_string() });
    }
    // Open beside the port itself until that is open, so that the line is not hung up in between.
    let beside = keep_dtr_at_close(path).map_err(|error| open_error(address, path, &error))?;
    let Line { data_bits, parity, stop_bits } = settings.line;
    let builder = serialport::new(path.to_string_lossy(), settings.baud)
        .timeout(READ_TIMEOUT)
        .data_bits(match data_bits {
            5 => DataBits::Five,
            6 => DataBits::Six,
            7 => DataBits::Seven,
            _ => DataBits::Eight,
        })
        .parity(match parity {
            Parity::None => serialport::Parity::None,
            Parity::Odd => serialport::Parity::Odd,
            Parity::Even => serialport::Parity::Even,
        })
        .stop_bits(if stop_bits == 2 { StopBits::Two } else { StopBits::One });
    let input = builder.open_native().map_err(|error| tty_error(address, path, &error))?;
    drop(beside);
    let mut output = input.try_clone_native().map_err(|error| tty_error(address, path, &error))?;
    let dtr = match settings.dtr {
        Dtr::Keep => None,
        Dtr::On => Some(true),
        Dtr::Off => Some(false),
    };
    if let Some(up) = dtr {
        output.set_modem_line(ModemLine::Dtr, up).map_err(|error| PortError::NoModemLine {
            address: address.to_owned(),
            line: ModemLine::Dtr,
            reason: error.to_string(),
        })?;
    }
    Ok(Opened { input: Box::new(input), output: Box::new(output) })
}

impl Output for TTYPort {
    fn set_modem_line(&mut self, line: ModemLine, up: bool) -> io::Result<()> {
        match line {
            ModemLine::Dtr => self.write_data_terminal_ready(up),
            ModemLine::Rts => self.write_request_to_send(up),
            ModemLine::TxdBreak if up => self.set_break(),
            ModemLine::TxdBreak => self.clear_break(),
        }
        .map_err(io::Error::from)
    }
}

/// Clears HUPCL, and returns the open tty.
fn keep_dtr_at_close(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let mut line = rustix::termios::tcgetattr(&file)?;
    if line.control_modes.contains(ControlModes::HUPCL) {
        line.control_modes.remove(ControlModes::HUPCL);
        rustix::termios::tcsetattr(&file, OptionalActions::Now, &line)?;
    }
    Ok(file)
}

fn open_error(address: &str, path: &Path, error: &io::Error) -> PortError {
    let address = address.to_owned();
    match error.kind() {
        ErrorKind::NotFound => PortError::Missing { address },
        ErrorKind::PermissionDenied => PortError::Permission { address },
        ErrorKind::ResourceBusy => busy(address, path),
        _ if Errno::from_io_error(error) == Some(Errno::NOTTY) || is_no_device(path) => {
            PortError::NotATty { address }
        }
        _ => PortError::Open { reason: error.to_string(), address },
    }
}

fn tty_error(address: &str, path: &Path, error: &serialport::Error) -> PortError {
    let address = address.to_owned();
    match error.kind() {
        serialport::ErrorKind::Io(ErrorKind::NotFound) => PortError::Missing { address },
        serialport::ErrorKind::Io(ErrorKind::PermissionDenied) => PortError::Permission { address },
        serialport::ErrorKind::NoDevice => busy(address, path),
        _ => PortError::Open { reason: error.to_string(), address },
    }
}

fn busy(address: String, path: &Path) -> PortError {
    PortError::Busy { holder: holder::describe(&holder::holders(path), path), address }
}

/// A file, a folder, or a device that is no tty.
fn is_no_device(path: &Path) -> bool {
    let opened = std::fs::metadata(path).map(|data| data.file_type());
    opened.is_ok_and(|kind| {
        use std::os::unix::fs::FileTypeExt as _;
        !kind.is_char_device()
    })
}
