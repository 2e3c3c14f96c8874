//! Reads the reference while a run goes on. Its bytes are recorded by the port; what is decoded here only tells whether
//! there is a reference at all, and what state it claims to be in right now.

use std::time::Duration;

use thiserror::Error;

use crate::bench_file::ReferenceDriver;
use crate::events::{ReferenceEvent, Stamped, TimeMessage, TimeSource, Trust};
use crate::formats::receiver::ReceiverDecoder;
use crate::rig::port::{Port, PortError};
use crate::rig::watch::{Deadline, Halt, Watch};

const LOOK: Duration = Duration::from_millis(50);

/// Why the reference cannot be used.
#[derive(Debug, Error)]
pub enum ReferenceError {
    /// the port
    #[error("reference: {0}")]
    Port(#[from] PortError),
    /// no time message
    #[error("reference {address}: no time message within {seconds} s: {heard}", seconds = allowed.as_secs())]
    Silent {
        /// The port.
        address: String,
        /// What it was given.
        allowed: Duration,
        /// What came in meanwhile, and what to try.
        heard: String,
    },
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// An open reference.
#[derive(Debug)]
pub struct Reference {
    port: Port,
    decoder: ReceiverDecoder,
    bytes: u64,
    messages: u64,
    void: Option<TimeSource>,
    refused: Option<String>,
    last: Option<TimeMessage>,
    last_trust: Option<Trust>,
}

impl Reference {
    /// Listens to an open port.
    #[must_use]
    pub fn new(port: Port, driver: ReferenceDriver) -> Self {
        let decoder = match driver {
            ReferenceDriver::Nmea => ReceiverDecoder::nmea(),
            ReferenceDriver::Ubx => ReceiverDecoder::ubx(),
            ReferenceDriver::Tsip => ReceiverDecoder::tsip(),
            ReferenceDriver::HpScpi => ReceiverDecoder::hp_scpi(),
            ReferenceDriver::Jackson => ReceiverDecoder::jackson(),
        };
        Self { port, decoder, bytes: 0, messages: 0, void: None, refused: None, last: None, last_trust: None }
    }

    /// Takes everything that has arrived.
    ///
    /// # Errors
    /// [`ReferenceError::Port`]
    pub fn poll(&mut self) -> Result<(), ReferenceError> {
        while self.take(Duration::ZERO)? {}
        Ok(())
    }

    /// Waits for a message that names a second.
    ///
    /// # Errors
    /// [`ReferenceError`], with what was heard in its place.
    pub fn first_message(&mut self, allowed: Duration, watch: &Watch) -> Result<TimeMessage, ReferenceError> {
        let deadline = Deadline::after(allowed);
        loop {
            watch.check()?;
            self.take(LOOK)?;
            if let Some(message) = self.last {
                return Ok(message);
            }
            if deadline.passed() {
                let address = self.port.address().to_owned();
                return Err(ReferenceError::Silent { address, allowed, heard: self.heard() });
            }
        }
    }

    /// Waits for a message that says whether its time can be trusted; [`Reference::trust`] then tells.
    ///
    /// # Errors
    /// [`ReferenceError::Port`], [`ReferenceError::Halt`]; that none comes is no error.
    pub fn await_trust(&mut self, allowed: Duration, watch: &Watch) -> Result<(), ReferenceError> {
        let deadline = Deadline::after(allowed);
        while self.last_trust.is_none() && !deadline.passed() {
            watch.check()?;
            self.take(LOOK)?;
        }
        Ok(())
    }

    /// The last message that names a second.
    #[must_use]
    pub const fn last(&self) -> Option<TimeMessage> {
        self.last
    }

    /// What the last message that says anything about it claims; none until then.
    #[must_use]
    pub const fn trust(&self) -> Option<Trust> {
        self.last_trust
    }

    /// Time messages so far.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.messages
    }

    fn take(&mut self, wait: Duration) -> Result<bool, ReferenceError> {
        let Some((at, bytes)) = self.port.read(wait)? else { return Ok(false) };
        self.bytes += bytes.len() as u64;
        for Stamped { event, .. } in self.decoder.push(&bytes, at) {
            match event {
                ReferenceEvent::Time(message) => {
                    self.messages += 1;
                    self.last = Some(message);
                    if message.trust != Trust::NotStated {
                        self.last_trust = Some(message.trust);
                    }
                }
                ReferenceEvent::Void { source } => self.void = Some(source),
                ReferenceEvent::Refused { reason } => self.refused = Some(reason),
                ReferenceEvent::State(state) if state.trust != Trust::NotStated => {
                    self.last_trust = Some(state.trust);
                }
                ReferenceEvent::State(_) | ReferenceEvent::Leap(_) | ReferenceEvent::WrongEpoch(_) => {}
            }
        }
        Ok(true)
    }

    fn heard(&self) -> String {
        if let Some(source) = self.void {
            let name = source.name();
            return format!("{name} without a time; the receiver has no fix: does its antenna see the sky?");
        }
        match (&self.refused, self.bytes) {
            (_, 0) => "nothing was heard; is it switched on, and is this its port?".to_owned(),
            (Some(reason), bytes) => format!("{bytes} bytes were heard, the last of them refused: {reason}"),
            (None, bytes) => {
                format!(
                    "{bytes} bytes were heard, none of them a time message; are `baud` and `driver` right?"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::recorder::Recorder;
    use crate::rig::testing::Pty;

    const ALLOWED: Duration = Duration::from_millis(300);

    fn listening(pty: &Pty) -> Reference {
        let port = Port::open(pty.path(), 9600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        Reference::new(port, ReferenceDriver::Nmea)
    }

    #[test]
    fn the_first_time_message_ends_the_wait() {
        let mut pty = Pty::open();
        let mut reference = listening(&pty);
        pty.write(b"$GPRMC,123519.00,A,4807.038,N,01131.000,E,022.4,084.4,230326,,,A*5B\r\n");
        let message = reference.first_message(Duration::from_secs(20), &Watch::new()).expect("it is whole");
        assert_eq!(message.trust, Trust::Locked);
        assert_eq!((reference.messages(), reference.trust()), (1, Some(Trust::Locked)));
    }

    #[test]
    fn a_silent_reference_and_a_babbling_one_are_different_errors() {
        let mut pty = Pty::open();
        let mut reference = listening(&pty);
        let error = reference.first_message(ALLOWED, &Watch::new()).expect_err("it is silent").to_string();
        assert!(error.contains("nothing was heard"), "{error}");
        pty.write(b"garbage without end");
        let error = reference.first_message(ALLOWED, &Watch::new()).expect_err("it babbles").to_string();
        assert!(error.contains("19 bytes"), "{error}");
    }
}
