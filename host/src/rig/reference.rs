//! Reads the reference while a run goes on. Its bytes are recorded by the port; what is decoded here only tells whether
//! there is a reference at all, and what state it claims to be in right now. One that speaks only when it is asked is
//! asked here.

mod asking;

use std::time::Duration;

use thiserror::Error;

use self::asking::Asked;
use crate::bench_file::ReferenceDriver;
use crate::events::{ReferenceEvent, TimeMessage, TimeSource, Trust};
use crate::formats::gpsdo::Family;
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
    address: String,
    line: Line,
    bytes: u64,
    messages: u64,
    void: Option<TimeSource>,
    refused: Option<String>,
    last: Option<TimeMessage>,
    last_trust: Option<Trust>,
}

/// How its events come.
#[derive(Debug)]
enum Line {
    /// It speaks by itself.
    Heard { port: Box<Port>, decoder: Box<ReceiverDecoder> },
    /// It answers.
    Asked(Asked),
}

impl Reference {
    /// Listens to an open port, and asks where the reference wants to be asked.
    #[must_use]
    pub fn new(port: Port, driver: ReferenceDriver) -> Self {
        let address = port.address().to_owned();
        let heard = |port, decoder| Line::Heard { port: Box::new(port), decoder: Box::new(decoder) };
        let line = match driver {
            ReferenceDriver::Nmea => heard(port, ReceiverDecoder::nmea()),
            ReferenceDriver::Ubx => heard(port, ReceiverDecoder::ubx()),
            ReferenceDriver::Tsip => heard(port, ReceiverDecoder::tsip()),
            ReferenceDriver::HpScpi => Line::Asked(Asked::new(port, Family::Hp, ReceiverDecoder::hp_scpi())),
            ReferenceDriver::Jackson => {
                Line::Asked(Asked::new(port, Family::Jackson, ReceiverDecoder::jackson()))
            }
        };
        let (void, refused, last, last_trust) = (None, None, None, None);
        Self { address, line, bytes: 0, messages: 0, void, refused, last, last_trust }
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
                let address = self.address.clone();
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
        let events = match &mut self.line {
            Line::Heard { port, decoder } => {
                let Some((at, bytes)) = port.read(wait)? else { return Ok(false) };
                self.bytes += bytes.len() as u64;
                decoder.push(&bytes, at)
            }
            Line::Asked(asked) => {
                let event = asked.next(wait)?;
                self.bytes = asked.bytes();
                let Some(event) = event else { return Ok(false) };
                vec![event]
            }
        };
        events.into_iter().for_each(|event| self.note(event.event));
        Ok(true)
    }

    fn note(&mut self, event: ReferenceEvent) {
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

    fn heard(&self) -> String {
        if let Some(source) = self.void {
            let name = source.name();
            return format!("{name} without a time; the receiver has no fix: does its antenna see the sky?");
        }
        if let Line::Asked(asked) = &self.line
            && let Some((question, allowed)) = asked.unanswered()
        {
            let seconds = allowed.as_secs();
            let bytes = self.bytes;
            return format!(
                "`{question}` was not answered within {seconds} s, {bytes} bytes were heard; are `baud` and `driver` right?"
            );
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

    /// An HP GPSDO that answers its time code and refuses one question, with its prompt in front of the next answer.
    fn play_hp(mut port: std::fs::File) {
        use std::io::{Read as _, Write as _};
        let (mut line, mut byte) = (Vec::new(), [0]);
        while port.read(&mut byte).is_ok_and(|count| count == 1) {
            if byte[0] != b'\n' {
                line.push(byte[0]);
                continue;
            }
            let answer: &[u8] = match &line[..] {
                b":PTIM:TCOD?" => b"T220060105075143300003B\r\nscpi > ",
                b":ROSC:HOLD:DUR?" => b"+1.0E+02,0\r\nscpi > ",
                b":PTIM:TINT?" => b"E-230> ",
                b":PTIM:LEAP:ACC?" => b"+18\r\nscpi > ",
                _ => b"scpi > ",
            };
            line.clear();
            if port.write_all(answer).is_err() {
                return;
            }
        }
    }

    #[test]
    fn a_reference_that_only_answers_is_asked_again_and_again() {
        let pty = Pty::open();
        let player = pty.file();
        std::thread::spawn(move || play_hp(player));
        let port = Port::open(pty.path(), 9600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let mut reference = Reference::new(port, ReferenceDriver::HpScpi);
        let first = reference.first_message(Duration::from_secs(20), &Watch::new()).expect("it answers");
        assert_eq!((first.source, first.trust), (TimeSource::HpTimeCode, Trust::Locked));
        let deadline = Deadline::after(Duration::from_secs(20));
        while reference.messages() < 2 && !deadline.passed() {
            reference.take(LOOK).expect("the port is there");
        }
        assert!(reference.messages() >= 2, "a second round");
        drop(pty);
    }

    #[test]
    fn a_question_without_an_answer_is_named() {
        let pty = Pty::open();
        let port = Port::open(pty.path(), 9600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let mut reference = Reference::new(port, ReferenceDriver::Jackson);
        let error = reference
            .first_message(Duration::from_secs(6), &Watch::new())
            .expect_err("it is silent")
            .to_string();
        assert!(error.contains("`SYNC:LOCK?` was not answered within 4 s"), "{error}");
    }
}
