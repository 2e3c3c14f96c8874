//! The generator driver for SCPI, in the dialect of the Keysight 33500 family.
//!
//! The order of settings avoids the conflicts that this family answers by changing a setting silently: output off,
//! function, period, width, levels, burst and trigger; then the error queue is drained, and what matters is read back.

use std::time::Duration;

use super::generator::{Generator, GeneratorError, PulseTrain};
use super::port::Port;
use super::watch::Deadline;
use crate::bench_file::EdgeName;
use crate::formats::scpi;

const REPLY_ALLOWED: Duration = Duration::from_secs(2);
/// How long a port is silent before what an earlier program asked for counts as read.
const QUIET: Duration = Duration::from_millis(300);
/// No instrument's error queue is longer; a queue that never empties is a wrong instrument.
const MOST_ERRORS: usize = 32;
/// Instruments answer with seven significant digits at least.
const READ_BACK_TOLERANCE: f64 = 1e-6;
/// Output levels in volts. Boards that take 1.8 V need a divider or another level shifter between.
const LEVELS: (&str, &str) = ("3.3", "0");

/// A generator that speaks SCPI.
#[derive(Debug)]
pub struct ScpiGenerator {
    port: Port,
    received: Vec<u8>,
    identity: String,
    /// `*OPC?` was sent and has not been answered.
    completion_asked: bool,
    /// How often the port had come back when it was sent last.
    asked_after: u64,
    /// It was sent more than once for this train, and may be answered as often.
    answered_twice: bool,
}

impl ScpiGenerator {
    /// Switches the output off, clears the instrument and asks who it is.
    ///
    /// # Errors
    /// [`GeneratorError`]
    pub fn open(port: Port) -> Result<Self, GeneratorError> {
        let mut generator = Self {
            port,
            received: Vec::new(),
            identity: String::new(),
            completion_asked: false,
            asked_after: 0,
            answered_twice: false,
        };
        // Ends whatever half a line a terminal program may have left in its input.
        generator.send("")?;
        generator.send("ABOR")?;
        generator.send("OUTP OFF")?;
        generator.send("*RST")?;
        generator.send("*CLS")?;
        generator.drain();
        generator.identity = generator.identify()?;
        generator.no_errors("*RST")?;
        Ok(generator)
    }

    /// What it answered to `*IDN?`.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    fn send(&mut self, command: &str) -> Result<(), GeneratorError> {
        self.port.write(format!("{command}\n").as_bytes())?;
        Ok(())
    }

    fn discard_input(&mut self) {
        while let Ok(Some(_)) = self.port.read(Duration::ZERO) {}
        self.received.clear();
    }

    /// Reads and forgets until nothing has come for a moment: the rest of what an earlier program asked.
    fn drain(&mut self) {
        let deadline = Deadline::after(REPLY_ALLOWED);
        while !deadline.passed() && matches!(self.port.read(QUIET), Ok(Some(_))) {}
        self.received.clear();
    }

    /// Asks who it is and passes over what comes before that, such as a late answer to `*OPC?`: from here on an answer
    /// belongs to its query.
    fn identify(&mut self) -> Result<String, GeneratorError> {
        let deadline = Deadline::after(REPLY_ALLOWED);
        let mut reply = self.query("*IDN?")?;
        while scpi::identity(&reply).is_err() {
            log::info!("generator {}: `{reply}` is no identity", self.port.address());
            match self.reply(deadline.left())? {
                Some(next) if !deadline.passed() => reply = next,
                _ => return Err(self.bad_reply("*IDN?", reply)),
            }
        }
        Ok(reply)
    }

    fn query(&mut self, query: &str) -> Result<String, GeneratorError> {
        self.discard_input();
        self.send(query)?;
        self.reply(REPLY_ALLOWED)?.ok_or_else(|| self.silent(query))
    }

    /// The next line, or none within `wait`.
    fn reply(&mut self, wait: Duration) -> Result<Option<String>, GeneratorError> {
        let deadline = Deadline::after(wait);
        loop {
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
            match self.port.read(deadline.left())? {
                Some((_, bytes)) => self.received.extend(bytes),
                None => return Ok(None),
            }
        }
    }

    /// Drains the error queue.
    ///
    /// # Errors
    /// [`GeneratorError`] if it cannot be read.
    pub fn errors(&mut self) -> Result<Vec<String>, GeneratorError> {
        let query = "SYST:ERR?";
        let mut errors = Vec::new();
        while errors.len() < MOST_ERRORS {
            let reply = self.query(query)?;
            match scpi::queue_entry(&reply) {
                Ok(entry) if entry.code == 0 => break,
                Ok(_) => errors.push(reply),
                Err(_) => return Err(self.bad_reply(query, reply)),
            }
        }
        Ok(errors)
    }

    fn ask_completion(&mut self) -> Result<(), GeneratorError> {
        self.asked_after = self.port.returns();
        self.send("*OPC?")?;
        self.completion_asked = true;
        Ok(())
    }

    fn no_errors(&mut self, after: &'static str) -> Result<(), GeneratorError> {
        let errors = self.errors()?;
        if errors.is_empty() {
            return Ok(());
        }
        let address = self.port.address().to_owned();
        Err(GeneratorError::Reported { address, after, errors: errors.join(", ") })
    }

    fn silent(&self, query: &str) -> GeneratorError {
        let (address, query) = (self.port.address().to_owned(), query.to_owned());
        GeneratorError::Silent { address, query, allowed: REPLY_ALLOWED }
    }

    fn bad_reply(&self, query: &str, reply: String) -> GeneratorError {
        GeneratorError::BadReply { address: self.port.address().to_owned(), query: query.to_owned(), reply }
    }

    fn reads_back(&mut self, setting: &'static str, wanted: &str) -> Result<(), GeneratorError> {
        let reply = self.query(setting)?;
        let Some(found) = number(&reply) else { return Err(self.bad_reply(setting, reply)) };
        let expected: f64 = wanted.parse().expect("we wrote it");
        if (found - expected).abs() <= expected.abs() * READ_BACK_TOLERANCE {
            return Ok(());
        }
        let address = self.port.address().to_owned();
        Err(GeneratorError::NotSet { address, setting, wanted: wanted.to_owned(), found: reply })
    }
}

impl Generator for ScpiGenerator {
    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        let (period, width) = (seconds(train.period_ns), seconds(train.width_ns));
        let cycles = train.cycles.to_string();
        let polarity = match train.edge {
            EdgeName::Rising => "NORM",
            EdgeName::Falling => "INV",
        };
        let settings = [
            "OUTP OFF".to_owned(),
            "BURS:STAT OFF".to_owned(),
            "FUNC PULS".to_owned(),
            format!("FUNC:PULS:PER {period}"),
            format!("FUNC:PULS:WIDT {width}"),
            "OUTP:LOAD INF".to_owned(),
            format!("VOLT:HIGH {}", LEVELS.0),
            format!("VOLT:LOW {}", LEVELS.1),
            format!("OUTP:POL {polarity}"),
            "ROSC:SOUR EXT".to_owned(),
            "INIT:CONT OFF".to_owned(),
            "BURS:MODE TRIG".to_owned(),
            format!("BURS:NCYC {cycles}"),
            "TRIG:SOUR EXT".to_owned(),
            "TRIG:SLOP POS".to_owned(),
            "TRIG:COUN 1".to_owned(),
            "BURS:STAT ON".to_owned(),
        ];
        for setting in &settings {
            self.send(setting)?;
        }
        self.no_errors("the settings of the pulse train")?;
        self.reads_back("FUNC:PULS:PER?", &period)?;
        self.reads_back("FUNC:PULS:WIDT?", &width)?;
        self.reads_back("BURS:NCYC?", &cycles)?;
        self.send("OUTP ON")?;
        self.no_errors("OUTP ON")
    }

    fn arm(&mut self) -> Result<(), GeneratorError> {
        self.send("INIT")?;
        self.no_errors("INIT")?;
        self.ask_completion()
    }

    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError> {
        let asked_again = self.port.returns() != self.asked_after;
        if asked_again {
            // The answer may have come while the port was away, or half of it before.
            self.received.clear();
            self.ask_completion()?;
        }
        self.answered_twice |= asked_again;
        match self.reply(wait)? {
            None => Ok(false),
            Some(reply) if scpi::flag(&reply) == Ok(true) => {
                self.completion_asked = false;
                if std::mem::take(&mut self.answered_twice) {
                    self.drain();
                }
                Ok(true)
            }
            Some(reply) => Err(self.bad_reply("*OPC?", reply)),
        }
    }

    fn make_safe(&mut self) -> Result<(), GeneratorError> {
        self.send("ABOR")?;
        self.send("OUTP OFF")?;
        if std::mem::take(&mut self.completion_asked) {
            // The train's completion may be answered at any time from now on.
            self.identify()?;
        }
        let reply = self.query("OUTP?")?;
        if scpi::flag(&reply) != Ok(false) {
            let address = self.port.address().to_owned();
            return Err(GeneratorError::NotSet {
                address,
                setting: "OUTP?",
                wanted: "0".to_owned(),
                found: reply,
            });
        }
        for error in self.errors()? {
            log::warn!("generator: {error} while the output was switched off");
        }
        Ok(())
    }
}

/// Nanoseconds as decimal seconds, exactly.
fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Some instruments answer with more digits than a whole count of any unit has.
fn number(reply: &str) -> Option<f64> {
    reply.parse().ok()
}

#[cfg(test)]
mod tests;
