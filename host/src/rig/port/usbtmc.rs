//! A USB test and measurement instrument through the kernel's character device, `/dev/usbtmc0`: never run on hardware.
//!
//! A write is one message. The kernel asks the instrument for an answer when it is read, and an instrument that is asked
//! without having one is confused. So the device is read once for each message that holds a `?`. The kernel gives an
//! answer five seconds, which nothing can cut short, and a message to the instrument waits as long: what may take longer,
//! `*OPC?` at the end of a train for instance, has to be asked for piecemeal.
//!
//! After one answer that did not come, many instruments answer nothing more (python-usbtmc issue 49). The device is then
//! closed and opened again, and the answer given up. That ends the kernel's transfer; the order to clear the
//! instrument's own buffers is an ioctl (USBTMC_IOCTL_CLEAR), which needs code that this crate does not allow itself.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};

use super::transport::{Opened, Output};
use super::{PortError, READ_TIMEOUT};
use crate::rig::holder;
use crate::rig::watch::Deadline;

/// How long the kernel may keep a read or a write, with a second to spare.
const KERNEL_ALLOWS: Duration = Duration::from_secs(6);
const REOPEN_EVERY: Duration = Duration::from_millis(10);

/// The device, or a fake of it.
trait Device: Send + Sync {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&self, message: &[u8]) -> io::Result<usize>;
}

impl Device for File {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self;
        Read::read(&mut file, buffer)
    }

    fn write(&self, message: &[u8]) -> io::Result<usize> {
        let mut file = self;
        Write::write(&mut file, message)
    }
}

type Reopen = Box<dyn Fn() -> io::Result<Arc<dyn Device>> + Send + Sync>;

/// What reader and writer share.
struct Shared {
    reopen: Reopen,
    /// None while it is being opened again.
    device: Mutex<Option<Arc<dyn Device>>>,
    /// Answers that are owed.
    owed: Mutex<u32>,
    asked: Condvar,
}

pub(super) fn open(address: &str, path: &Path) -> Result<Opened, PortError> {
    let owned = || address.to_owned();
    let device = open_device(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => PortError::Missing { address: owned() },
        ErrorKind::PermissionDenied => PortError::Permission { address: owned() },
        ErrorKind::Unsupported => PortError::NotUsbtmc { address: owned() },
        ErrorKind::WouldBlock | ErrorKind::ResourceBusy => {
            PortError::Busy { address: owned(), holder: holder::describe(&holder::holders(path), path) }
        }
        _ => PortError::Open { address: owned(), reason: error.to_string() },
    })?;
    let path: PathBuf = path.to_owned();
    Ok(opened(device, Box::new(move || open_device(&path))))
}

fn open_device(path: &Path) -> io::Result<Arc<dyn Device>> {
    // Asked before opening: to open a pipe would wait for its other end.
    if !std::fs::metadata(path)?.file_type().is_char_device() {
        return Err(ErrorKind::Unsupported.into());
    }
    let flags = (OFlags::CLOEXEC | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags.cast_signed()).open(path)?;
    if rustix::termios::isatty(&file) {
        return Err(ErrorKind::Unsupported.into());
    }
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(Arc::new(file))
}

fn opened(device: Arc<dyn Device>, reopen: Reopen) -> Opened {
    let shared = Arc::new(Shared {
        reopen,
        device: Mutex::new(Some(device)),
        owed: Mutex::new(0),
        asked: Condvar::new(),
    });
    Opened { input: Box::new(Answers(Arc::clone(&shared))), output: Box::new(Messages(shared)) }
}

impl Shared {
    fn device(&self) -> io::Result<Arc<dyn Device>> {
        let device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        device.clone().ok_or_else(|| io::Error::from(ErrorKind::NotConnected))
    }

    /// Waits for a moment until an answer is owed.
    fn is_owed(&self) -> bool {
        let owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.asked.wait_timeout_while(owed, READ_TIMEOUT, |owed| *owed == 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 > 0
    }

    fn owe(&self, change: impl FnOnce(u32) -> u32) {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        *owed = change(*owed);
        self.asked.notify_all();
    }

    /// Closes the device and opens it again.
    fn start_afresh(&self) -> io::Result<()> {
        let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        *device = None;
        let deadline = Deadline::after(KERNEL_ALLOWS);
        loop {
            match (self.reopen)() {
                // A message that is under way has the old device, and with it the lock, until the kernel gives it up.
                Err(error) if error.kind() == ErrorKind::WouldBlock && !deadline.passed() => {
                    std::thread::sleep(REOPEN_EVERY);
                }
                opened => {
                    *device = Some(opened?);
                    return Ok(());
                }
            }
        }
    }
}

/// The side that is read.
struct Answers(Arc<Shared>);

impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.0.is_owed() {
            return Err(ErrorKind::TimedOut.into());
        }
        let result = self.0.device()?.read(buffer);
        match &result {
            // Less than was asked for: the message ended.
            Ok(count) if *count < buffer.len() => self.0.owe(|owed| owed.saturating_sub(1)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                log::warn!("a USBTMC instrument does not answer; its device is opened again");
                self.0.owe(|owed| owed.saturating_sub(1));
                self.0.start_afresh()?;
            }
            Err(_) => {}
        }
        match result {
            // An empty answer is no end of the port.
            Ok(0) => Err(ErrorKind::TimedOut.into()),
            other => other,
        }
    }
}

/// The side that is written.
struct Messages(Arc<Shared>);

impl Write for Messages {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let result = self.0.device()?.write(message);
        if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut) {
            self.0.start_afresh()?;
        }
        let written = result?;
        if message[..written].contains(&b'?') {
            self.0.owe(|owed| owed.saturating_add(1));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Messages {}

#[cfg(test)]
mod tests;
