//! Keeps a port: the thread that reads and records it, waits for it when it vanishes and opens it again, and the state
//! that it shares with whoever writes.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::transport::{self, ModemLine, Opened, Output};
use super::{PortError, READ_TIMEOUT};
use crate::bench_file::PortSettings;
use crate::events::{PortOwner, RigEvent};
use crate::formats::raw_log::Direction;
use crate::rig::recorder::Log;
use crate::rig::watch::Deadline;
use crate::units::HostNanos;

/// From one try to open a port that is away to the next.
const TRY_EVERY: Duration = Duration::from_millis(100);
/// How long after a failed write the reader may take to see that the port is gone.
const NOTICE_ALLOWED: Duration = Duration::from_secs(1);

/// What a port's reader passes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Bytes that arrived together.
    Bytes {
        /// When.
        at: HostNanos,
        /// They.
        bytes: Vec<u8>,
    },
    /// The port is gone for good. Nothing follows.
    Gone {
        /// What the system says.
        reason: String,
    },
}

/// How a port is.
enum State {
    Open(Box<dyn Output>),
    /// Being waited for. What the system said when it vanished.
    Away(String),
    /// Given up.
    Gone(String),
}

/// What reader and writer share.
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    closing: AtomicBool,
    returns: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so a thread that panicked left nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change_to(&self, state: State) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    pub(super) fn is_away(&self) -> bool {
        matches!(*self.lock(), State::Away(_))
    }

    pub(super) fn returns(&self) -> u64 {
        self.returns.load(Ordering::Relaxed)
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Sends bytes, waiting for a port that is away.
    pub(super) fn send(
        &self,
        address: &str,
        bytes: &[u8],
        log: &Log,
        deadline: Deadline,
    ) -> Result<HostNanos, PortError> {
        let vanished = |reason: &str| {
            let (address, reason) = (address.to_owned(), reason.to_owned());
            PortError::Vanished { address, reason }
        };
        // A write that failed, with how often the port had come back by then: it may be away and back between two looks.
        let mut failed: Option<(Deadline, u64, String)> = None;
        let mut state = self.lock();
        loop {
            match &mut *state {
                State::Gone(reason) => return Err(vanished(reason)),
                State::Away(reason) if deadline.passed() => return Err(vanished(reason)),
                State::Away(_) => {}
                State::Open(output) => match failed.as_ref().filter(|(_, at, _)| *at == self.returns()) {
                    Some((notice, _, reason)) if notice.passed() => return Err(vanished(reason)),
                    // The reader has yet to see what this write saw.
                    Some(_) => {}
                    None => {
                        let at = log.record(Direction::Tx, bytes);
                        match output.write_all(bytes).and_then(|()| output.flush()) {
                            Ok(()) => return Ok(at),
                            Err(error) if is_timeout(error.kind()) => {
                                let (address, reason) = (address.to_owned(), error.to_string());
                                return Err(PortError::Unsent { address, reason });
                            }
                            Err(error) => {
                                let notice = Deadline::after(NOTICE_ALLOWED);
                                failed = Some((notice, self.returns(), error.to_string()));
                            }
                        }
                    }
                },
            }
            state = self.changed.wait_timeout(state, READ_TIMEOUT).unwrap_or_else(PoisonError::into_inner).0;
            log.watch().check()?;
        }
    }

    pub(super) fn set_modem_line(
        &self,
        address: &str,
        line: ModemLine,
        up: bool,
        log: &Log,
    ) -> Result<HostNanos, PortError> {
        let address = address.to_owned();
        match &mut *self.lock() {
            State::Away(reason) | State::Gone(reason) => {
                Err(PortError::Vanished { address, reason: reason.clone() })
            }
            State::Open(output) => {
                let at = log.clock().now();
                let failed = |error: std::io::Error| PortError::NoModemLine {
                    address,
                    line,
                    reason: error.to_string(),
                };
                output.set_modem_line(line, up).map(|()| at).map_err(failed)
            }
        }
    }
}

/// Starts to read a port that has been opened, and keeps it.
pub(super) fn start(
    settings: PortSettings,
    opened: Opened,
    log: Log,
    rig: Option<(PortOwner, Log)>,
    allowed: Duration,
) -> (Arc<Shared>, Receiver<Arrival>, JoinHandle<()>) {
    let Opened { input, output } = opened;
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Open(output)),
        changed: Condvar::new(),
        closing: AtomicBool::new(false),
        returns: AtomicU64::new(0),
    });
    let (sender, arrivals) = channel();
    let keeper = Keeper { settings, log, rig, allowed, shared: Arc::clone(&shared), to: sender };
    let thread = std::thread::spawn(move || keeper.run(input));
    (shared, arrivals, thread)
}

struct Keeper {
    settings: PortSettings,
    log: Log,
    rig: Option<(PortOwner, Log)>,
    allowed: Duration,
    shared: Arc<Shared>,
    to: Sender<Arrival>,
}

impl Keeper {
    /// Reads until the port is closed, or is gone for good.
    fn run(&self, mut input: Box<dyn Read + Send>) {
        while let Some(reason) = self.read_until_trouble(input) {
            let vanished = Instant::now();
            // Before anything else: while anybody holds the old device, the new one gets another name.
            self.shared.change_to(State::Away(reason.clone()));
            self.tell_vanished(&reason);
            match self.reopen(&reason) {
                Ok(Some(opened)) => {
                    self.tell_returned(vanished.elapsed());
                    self.shared.returns.fetch_add(1, Ordering::Relaxed);
                    self.shared.change_to(State::Open(opened.output));
                    input = opened.input;
                }
                Ok(None) => return,
                Err(reason) => {
                    self.shared.change_to(State::Gone(reason.clone()));
                    let _nobody_listens = self.to.send(Arrival::Gone { reason });
                    return;
                }
            }
        }
    }

    /// Why the port cannot be read any more; none if it is being closed.
    fn read_until_trouble(&self, mut input: Box<dyn Read + Send>) -> Option<String> {
        let mut buffer = [0; 4096];
        while !self.shared.closing.load(Ordering::Relaxed) {
            match input.read(&mut buffer) {
                Ok(0) => return Some("end of file".to_owned()),
                Ok(count) => {
                    let at = self.log.record(Direction::Rx, &buffer[..count]);
                    let arrival = Arrival::Bytes { at, bytes: buffer[..count].to_vec() };
                    self.to.send(arrival).ok()?;
                }
                Err(error) if is_timeout(error.kind()) => {}
                Err(error) => return Some(error.to_string()),
            }
        }
        None
    }

    /// Tries to open the port until it is there; none if it is being closed meanwhile.
    fn reopen(&self, reason: &str) -> Result<Option<Opened>, String> {
        let deadline = Deadline::after(self.allowed);
        let mut last = None;
        while !deadline.passed() {
            if self.shared.closing.load(Ordering::Relaxed) || self.log.watch().check().is_err() {
                return Ok(None);
            }
            match transport::open(&self.settings, self.log.watch()) {
                Ok(opened) => return Ok(Some(opened)),
                Err(error) => last = Some(error.to_string()),
            }
            let state = self.shared.lock();
            let waited = self.shared.changed.wait_timeout(state, deadline.left().min(TRY_EVERY));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
        Err(match last {
            None => reason.to_owned(),
            Some(last) => {
                format!("{reason}, and it was not back within {} s: {last}", self.allowed.as_secs())
            }
        })
    }

    fn tell_vanished(&self, reason: &str) {
        let Some((owner, rig)) = &self.rig else { return };
        let (port, instrument) = (self.settings.address.clone(), *owner);
        rig.did(&RigEvent::PortVanished { port, instrument, reason: reason.to_owned() });
        rig.watch().notice(format!(
            "{owner}: {} vanished ({reason}); waiting up to {} s for it",
            self.settings.address,
            self.allowed.as_secs()
        ));
    }

    fn tell_returned(&self, after: Duration) {
        let Some((owner, rig)) = &self.rig else { return };
        let (port, instrument) = (self.settings.address.clone(), *owner);
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        rig.did(&RigEvent::PortReturned { port, instrument, after_ms });
        rig.watch().notice(format!(
            "{owner}: {} is back after {:.1} s",
            self.settings.address,
            after.as_secs_f64()
        ));
    }
}

const fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
