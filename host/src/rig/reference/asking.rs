//! Asks a reference that says nothing by itself: a round of questions every second or so, one open at a time, each with a deadline.
//!
//! In a thread of its own, since a round must not wait for a board that is being loaded: a reference that is not asked is
//! silent, and silence is a loss of lock. The answers' bytes are recorded by the port like all others, and so are the
//! questions, so that a replay can tell which answer belongs to which.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::events::{ReferenceEvent, Stamped};
use crate::formats::gpsdo::{Family, Query};
use crate::formats::receiver::ReceiverDecoder;
use crate::rig::port::{Port, PortError};
use crate::rig::watch::Deadline;

/// A status screen takes two seconds, and a time code waits for its second.
const ANSWER_ALLOWED: Duration = Duration::from_secs(4);
/// How long the thread may take to notice that it shall end.
const LOOK: Duration = Duration::from_millis(20);

/// A reference that is asked.
#[derive(Debug)]
pub(super) struct Asked {
    events: Receiver<Result<Stamped<ReferenceEvent>, PortError>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    closing: AtomicBool,
    bytes: AtomicU64,
    /// The last question that was not answered in time.
    unanswered: Mutex<Option<&'static str>>,
}

impl Asked {
    pub(super) fn new(port: Port, family: Family, decoder: ReceiverDecoder) -> Self {
        let (to, events) = channel();
        let shared = Arc::new(Shared::default());
        let asking = Asking {
            port,
            family,
            decoder,
            shared: Arc::clone(&shared),
            round: 0,
            next_round: Instant::now(),
            queue: VecDeque::new(),
            open: None,
        };
        let thread = std::thread::spawn(move || asking.run(&to));
        Self { events, shared, thread: Some(thread) }
    }

    /// The next event, or none within `wait`.
    pub(super) fn next(&self, wait: Duration) -> Result<Option<Stamped<ReferenceEvent>>, PortError> {
        match self.events.recv_timeout(wait) {
            Ok(event) => event.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            // It ended with an error that was told before.
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// The last question that was not answered in time, and the time that it had.
    pub(super) fn unanswered(&self) -> Option<(&'static str, Duration)> {
        let unanswered = self.shared.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        unanswered.map(|question| (question, ANSWER_ALLOWED))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It looks at the flag at least every LOOK.
            let _panicked = thread.join();
        }
    }
}

/// What the thread has.
struct Asking {
    port: Port,
    family: Family,
    decoder: ReceiverDecoder,
    shared: Arc<Shared>,
    round: u32,
    next_round: Instant,
    /// What is left of this round.
    queue: VecDeque<Query>,
    open: Option<(Query, Deadline)>,
}

impl Asking {
    fn run(mut self, to: &Sender<Result<Stamped<ReferenceEvent>, PortError>>) {
        if let Err(error) = self.ask_until_closed(to) {
            // Nobody may be left to be told.
            let _gone = to.send(Err(error));
        }
    }

    fn ask_until_closed(
        &mut self,
        to: &Sender<Result<Stamped<ReferenceEvent>, PortError>>,
    ) -> Result<(), PortError> {
        for command in self.family.greeting() {
            self.send(command)?;
        }
        while !self.shared.closing.load(Ordering::Relaxed) {
            self.ask()?;
            let Some((at, bytes)) = self.port.read(LOOK)? else { continue };
            self.shared.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            for event in self.decoder.push(&bytes, at) {
                if to.send(Ok(event)).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, command: &str) -> Result<(), PortError> {
        let line = format!("{command}{}", self.family.line_end());
        self.port.write(line.as_bytes())?;
        self.decoder.sent(line.as_bytes());
        Ok(())
    }

    /// Asks the next question, if none is open.
    fn ask(&mut self) -> Result<(), PortError> {
        if let Some((query, deadline)) = &self.open {
            if self.decoder.awaits_answer() && !deadline.passed() {
                return Ok(());
            }
            let missing = self.decoder.awaits_answer().then_some(query.text);
            if let Some(question) = missing {
                let address = self.port.address();
                let seconds = ANSWER_ALLOWED.as_secs();
                log::warn!("reference {address}: `{question}` was not answered within {seconds} s");
            }
            *self.shared.unanswered.lock().unwrap_or_else(PoisonError::into_inner) = missing;
            self.open = None;
        }
        if self.queue.is_empty() {
            let now = Instant::now();
            if now < self.next_round {
                return Ok(());
            }
            let due = |query: &&Query| self.round.is_multiple_of(query.every);
            self.queue = self.family.queries().iter().filter(due).copied().collect();
            self.round = self.round.wrapping_add(1);
            self.next_round = now.max(self.next_round + Duration::from_millis(self.family.round_ms()));
        }
        if let Some(query) = self.queue.pop_front() {
            self.send(query.text)?;
            self.open = Some((query, Deadline::after(ANSWER_ALLOWED)));
        }
        Ok(())
    }
}
