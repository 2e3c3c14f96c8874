//! An instrument that is told and asked in lines of text: commands, and queries of which each is answered by one line.
//!
//! Every query has a deadline. What an earlier program left in the instrument's output is read away first, so that from
//! then on an answer belongs to its query.

use std::time::Duration;

use thiserror::Error;

use super::port::{Port, PortError};
use super::watch::Deadline;
use crate::formats::scpi;

/// What an instrument is given for an answer.
pub const REPLY_ALLOWED: Duration = Duration::from_secs(2);
/// How long a port is silent before what an earlier program asked for counts as read.
const QUIET: Duration = Duration::from_millis(300);
/// No instrument's error queue is longer; a queue that never empties is a wrong instrument.
const MOST_ERRORS: usize = 32;

/// Why an instrument cannot be used.
#[derive(Debug, Error)]
pub enum DialogueError {
    /// the port
    #[error("{instrument}: {fault}")]
    Port {
        /// Which.
        instrument: &'static str,
        /// What is wrong with it.
        fault: PortError,
    },
    /// no answer
    #[error(
        "{instrument} {address}: no answer to `{query}` within {seconds} s; is it switched on, and are port and baud \
         rate right?",
        seconds = allowed.as_secs()
    )]
    Silent {
        /// Which.
        instrument: &'static str,
        /// The port.
        address: String,
        /// What it was asked.
        query: String,
        /// What it was given.
        allowed: Duration,
    },
    /// an answer that is none
    #[error(
        "{instrument} {address}: `{answer}` is no answer to `{query}`; is this the instrument that `driver` says?"
    )]
    BadAnswer {
        /// Which.
        instrument: &'static str,
        /// The port.
        address: String,
        /// What it was asked.
        query: String,
        /// What it said.
        answer: String,
    },
    /// its error queue was not empty
    #[error("{instrument} {address}: it reports {errors} after {after}; can it do what was asked for?")]
    Reported {
        /// Which.
        instrument: &'static str,
        /// The port.
        address: String,
        /// What was being done.
        after: &'static str,
        /// Its errors, joined.
        errors: String,
    },
}

/// An open instrument.
#[derive(Debug)]
pub struct Dialogue {
    instrument: &'static str,
    port: Port,
    received: Vec<u8>,
}

impl Dialogue {
    /// Over an open port. `instrument` is its name in messages.
    #[must_use]
    pub const fn new(instrument: &'static str, port: Port) -> Self {
        Self { instrument, port, received: Vec::new() }
    }

    /// As the bench file names its port.
    #[must_use]
    pub fn address(&self) -> &str {
        self.port.address()
    }

    /// Sends a command.
    ///
    /// # Errors
    /// [`DialogueError::Port`]
    pub fn send(&mut self, command: &str) -> Result<(), DialogueError> {
        let sent = self.port.write(format!("{command}\n").as_bytes());
        sent.map(drop).map_err(|fault| self.port_error(fault))
    }

    /// Reads and forgets until nothing has come for a moment: the rest of what an earlier program asked.
    pub fn drain(&mut self) {
        let deadline = Deadline::after(REPLY_ALLOWED);
        while !deadline.passed() && matches!(self.port.read(QUIET), Ok(Some(_))) {}
        self.received.clear();
    }

    /// Forgets what has arrived.
    pub fn forget(&mut self) {
        while let Ok(Some(_)) = self.port.read(Duration::ZERO) {}
        self.received.clear();
    }

    /// How often the port came back so far. An answer that was due before is not to be waited for.
    #[must_use]
    pub fn returns(&self) -> u64 {
        self.port.returns()
    }

    /// Asks, and waits for the answer; what came before is forgotten.
    ///
    /// # Errors
    /// [`DialogueError::Port`], [`DialogueError::Silent`]
    pub fn query(&mut self, query: &str) -> Result<String, DialogueError> {
        self.query_within(query, REPLY_ALLOWED)
    }

    /// As [`Dialogue::query`], with another deadline.
    ///
    /// # Errors
    /// [`DialogueError::Port`], [`DialogueError::Silent`]
    pub fn query_within(&mut self, query: &str, allowed: Duration) -> Result<String, DialogueError> {
        self.forget();
        self.send(query)?;
        self.answer(allowed)?.ok_or_else(|| self.silent(query, allowed))
    }

    /// The next line, or none within `wait`.
    ///
    /// # Errors
    /// [`DialogueError::Port`]
    pub fn answer(&mut self, wait: Duration) -> Result<Option<String>, DialogueError> {
        let deadline = Deadline::after(wait);
        loop {
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
            match self.port.read(deadline.left()).map_err(|fault| self.port_error(fault))? {
                Some((_, bytes)) => self.received.extend(bytes),
                None => return Ok(None),
            }
        }
    }

    /// Whatever arrives next, or none within `wait`.
    ///
    /// # Errors
    /// [`DialogueError::Port`]
    pub fn bytes(&mut self, wait: Duration) -> Result<Option<Vec<u8>>, DialogueError> {
        let read = self.port.read(wait).map_err(|fault| self.port_error(fault))?;
        Ok(read.map(|(_, bytes)| bytes))
    }

    /// Asks who it is and passes over what comes before that, such as a late answer to an earlier query.
    ///
    /// # Errors
    /// [`DialogueError`]
    pub fn identify(&mut self) -> Result<String, DialogueError> {
        const QUERY: &str = "*IDN?";
        let deadline = Deadline::after(REPLY_ALLOWED);
        let mut answer = self.query(QUERY)?;
        while scpi::identity(&answer).is_err() {
            log::info!("{} {}: `{answer}` is no identity", self.instrument, self.port.address());
            match self.answer(deadline.left())? {
                Some(next) if !deadline.passed() => answer = next,
                _ => return Err(self.bad_answer(QUERY, answer)),
            }
        }
        Ok(answer)
    }

    /// Empties the error queue, which `query` reads one by one.
    ///
    /// # Errors
    /// [`DialogueError::Reported`] if it was not empty.
    pub fn no_errors(&mut self, query: &str, after: &'static str) -> Result<(), DialogueError> {
        let mut errors = Vec::new();
        while errors.len() < MOST_ERRORS {
            let answer = self.query(query)?;
            match scpi::queue_entry(&answer) {
                Ok(entry) if entry.code == 0 => break,
                Ok(_) => errors.push(answer),
                Err(_) => return Err(self.bad_answer(query, answer)),
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        let (instrument, address) = (self.instrument, self.port.address().to_owned());
        Err(DialogueError::Reported { instrument, address, after, errors: errors.join(", ") })
    }

    /// That an answer is none.
    #[must_use]
    pub fn bad_answer(&self, query: &str, answer: String) -> DialogueError {
        let (instrument, address) = (self.instrument, self.port.address().to_owned());
        DialogueError::BadAnswer { instrument, address, query: query.to_owned(), answer }
    }

    /// That there was no answer within `allowed`.
    #[must_use]
    pub fn silent(&self, query: &str, allowed: Duration) -> DialogueError {
        let (instrument, address) = (self.instrument, self.port.address().to_owned());
        DialogueError::Silent { instrument, address, query: query.to_owned(), allowed }
    }

    const fn port_error(&self, fault: PortError) -> DialogueError {
        DialogueError::Port { instrument: self.instrument, fault }
    }
}
