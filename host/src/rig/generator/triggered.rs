//! The driver of the instruments that start a train on the reference's pulse; what they are told and asked is in
//! `families`.
//!
//! The order makes no false edge: everything is set while the output is off, with a trigger that nothing pulls, and read
//! back; then the output is switched on, at its idle level; arming is the last thing.

use std::time::{Duration, Instant};

use super::families::{Completion, Delay, External, Family, ReadBack, Wanted};
use super::{Generator, GeneratorError, PulseTrain, seconds, volts};
use crate::bench_file::{self, EdgeName};
use crate::formats::scpi;
use crate::rig::dialogue::{Dialogue, DialogueError};
use crate::rig::watch::Deadline;

/// After arming, the pulse comes within a second; and the host may be late.
const START_ALLOWED: Duration = Duration::from_millis(1500);
/// How long an instrument may think about a query that it may not know.
const PERHAPS_ALLOWED: Duration = Duration::from_millis(700);

/// An instrument that starts a train on the reference's pulse.
#[derive(Debug)]
pub(super) struct Triggered {
    family: &'static Family,
    dialogue: Dialogue,
    identity: String,
    high_mv: i32,
    low_mv: i32,
    offset_ns: u32,
    train: Option<PulseTrain>,
    /// The train is over by then, if it was armed and does not say so itself.
    over: Option<Deadline>,
    /// When the first capture of it was heard of.
    first: Option<Instant>,
    /// The completion was asked for and has not been answered.
    completion_asked: bool,
    /// How often the port had come back when it was asked for last.
    asked_after: u64,
    /// It was asked for more than once for this train, and may be answered as often.
    answered_twice: bool,
}

impl Triggered {
    /// Switches the output off, clears the instrument and asks who it is.
    pub(super) fn open(
        family: &'static Family,
        declared: &bench_file::Generator,
        dialogue: Dialogue,
    ) -> Result<Self, GeneratorError> {
        let mut generator = Self {
            family,
            dialogue,
            identity: String::new(),
            high_mv: declared.high_mv,
            low_mv: declared.low_mv,
            offset_ns: declared.offset_ns,
            train: None,
            over: None,
            first: None,
            completion_asked: false,
            asked_after: 0,
            answered_twice: false,
        };
        // Ends whatever half a line a terminal program may have left in its input.
        generator.dialogue.send("")?;
        for command in family.quiet {
            generator.dialogue.send(command)?;
        }
        generator.dialogue.drain();
        generator.identity = generator.dialogue.identify()?;
        if generator.family.errors.is_some() {
            // What an earlier program did wrong is none of ours.
            generator.forget_errors()?;
        }
        generator.expect_off()?;
        generator.choose_reference()?;
        Ok(generator)
    }

    fn forget_errors(&mut self) -> Result<Vec<String>, GeneratorError> {
        let Some(query) = self.family.errors else { return Ok(Vec::new()) };
        match self.dialogue.no_errors(query, "an earlier program") {
            Ok(()) => Ok(Vec::new()),
            Err(DialogueError::Reported { errors, .. }) => Ok(vec![errors]),
            Err(error) => Err(error.into()),
        }
    }

    fn no_errors(&mut self, after: &'static str) -> Result<(), GeneratorError> {
        match self.family.errors {
            Some(query) => Ok(self.dialogue.no_errors(query, after)?),
            None => Ok(()),
        }
    }

    fn choose_reference(&mut self) -> Result<(), GeneratorError> {
        match self.family.external {
            External::Set(command, query, wanted) => {
                self.dialogue.send(command)?;
                let reply = self.dialogue.query(query)?;
                self.no_errors(command)?;
                if is_word(last_word(&reply), wanted) {
                    Ok(())
                } else {
                    Err(self.not_set(query, wanted, &reply, &reply))
                }
            }
            External::Perhaps(command, query, wanted) => {
                self.dialogue.send(command)?;
                let reply = self.dialogue.query_within(query, PERHAPS_ALLOWED);
                self.forget_errors()?;
                match reply {
                    Ok(reply) if is_word(last_word(&reply), wanted) => {}
                    Ok(reply) => return Err(self.not_set(query, wanted, &reply, &reply)),
                    Err(DialogueError::Silent { .. }) => {
                        self.identity += "; its reference input cannot be chosen over the port: choose the external \
                             10 MHz on its front panel";
                    }
                    Err(error) => return Err(error.into()),
                }
                Ok(())
            }
        }
    }

    fn filled(&self, template: &str, train: &PulseTrain) -> String {
        let polarity = self.family.polarities[usize::from(train.edge == EdgeName::Falling)];
        template
            .replace("{period}", &seconds(train.period_ns))
            .replace("{width}", &seconds(train.width_ns))
            .replace("{cycles}", &train.cycles.to_string())
            .replace("{high}", &volts(self.high_mv))
            .replace("{low}", &volts(self.low_mv))
            .replace("{offset}", &seconds(u64::from(self.offset_ns)))
            .replace("{polarity}", polarity)
    }

    fn not_set(&self, setting: &str, wanted: &str, found: &str, reply: &str) -> GeneratorError {
        GeneratorError::NotSet {
            address: self.dialogue.address().to_owned(),
            setting: setting.to_owned(),
            wanted: wanted.to_owned(),
            found: found.to_owned(),
            reply: reply.to_owned(),
        }
    }

    fn reads_back(&mut self, back: &ReadBack, train: &PulseTrain) -> Result<(), GeneratorError> {
        let reply = self.dialogue.query(back.query)?;
        self.is_as_wanted(back, train, &reply)
    }

    fn is_as_wanted(&self, back: &ReadBack, train: &PulseTrain, reply: &str) -> Result<(), GeneratorError> {
        let found = match back.key {
            Some(key) => scpi::value_of(reply, key),
            None => Some(last_word(reply)),
        };
        let Some(found) = found else {
            return Err(self.dialogue.bad_answer(back.query, reply.to_owned()).into());
        };
        let setting =
            back.key.map_or_else(|| back.query.to_owned(), |key| format!("{key} of {}", back.query));
        let (wanted, good) = match back.wanted {
            Wanted::Word(wanted) => {
                let wanted = self.filled(wanted, train);
                let good = is_word(found, &wanted);
                (wanted, good)
            }
            Wanted::Number(wanted, floor) => {
                let wanted = self.filled(wanted, train);
                let Some(number) = scpi::quantity(found) else {
                    return Err(self.dialogue.bad_answer(back.query, reply.to_owned()).into());
                };
                let expected: f64 = wanted.parse().expect("we wrote it");
                let allowed = expected.abs() * self.family.tolerance + floor;
                (wanted, (number - expected).abs() <= allowed)
            }
        };
        if good { Ok(()) } else { Err(self.not_set(&setting, &wanted, found, reply)) }
    }

    fn put_off(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        if self.offset_ns == 0 {
            return Ok(());
        }
        match self.family.delay {
            Delay::Command(command, back) => {
                self.dialogue.send(&self.filled(command, train))?;
                self.reads_back(&back, train)
            }
            Delay::Key { command, query, keys } => {
                let reply = self.dialogue.query(query)?;
                let Some(key) = keys.iter().find(|key| scpi::value_of(&reply, key).is_some()) else {
                    return Err(self.dialogue.bad_answer(query, reply).into());
                };
                self.dialogue.send(&self.filled(command, train).replace("{key}", key))?;
                let back = ReadBack { query, key: Some(key), wanted: Wanted::Number("{offset}", 1e-9) };
                self.reads_back(&back, train)
            }
        }
    }

    fn ask_completion(&mut self, query: &str) -> Result<(), GeneratorError> {
        self.asked_after = self.dialogue.returns();
        self.dialogue.send(query)?;
        self.completion_asked = true;
        Ok(())
    }

    fn answered(&mut self, query: &'static str, wait: Duration) -> Result<bool, GeneratorError> {
        let asked_again = self.dialogue.returns() != self.asked_after;
        if asked_again {
            // The answer may have come while the port was away, or half of it before.
            self.dialogue.forget();
            self.ask_completion(query)?;
        }
        self.answered_twice |= asked_again;
        match self.dialogue.answer(wait)? {
            None => Ok(false),
            Some(reply) if scpi::flag(&reply) == Ok(true) => {
                self.completion_asked = false;
                if std::mem::take(&mut self.answered_twice) {
                    self.dialogue.drain();
                }
                Ok(true)
            }
            Some(reply) => Err(self.dialogue.bad_answer(query, reply).into()),
        }
    }

    fn stop(&mut self) -> Result<(), GeneratorError> {
        self.over = None;
        for command in self.family.off {
            self.dialogue.send(command)?;
        }
        Ok(())
    }

    fn expect_off(&mut self) -> Result<(), GeneratorError> {
        let (query, words) = self.family.is_off;
        let reply = self.dialogue.query(query)?;
        let state = first_value(&reply);
        if words.iter().any(|word| state.eq_ignore_ascii_case(word)) {
            return Ok(());
        }
        Err(self.not_set(query, words[0], state, &reply))
    }
}

impl Generator for Triggered {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        for setting in self.family.settings {
            self.dialogue.send(&self.filled(setting, train))?;
        }
        self.no_errors("the settings of the pulse train")?;
        // One answer may tell several settings.
        let mut last: Option<(&str, String)> = None;
        for back in self.family.read_back {
            let reply = match last.take() {
                Some((query, reply)) if query == back.query => reply,
                _ => self.dialogue.query(back.query)?,
            };
            self.is_as_wanted(back, train, &reply)?;
            last = Some((back.query, reply));
        }
        self.put_off(train)?;
        self.dialogue.send(self.family.on)?;
        self.no_errors(self.family.on)?;
        self.train = Some(*train);
        Ok(())
    }

    fn arm(&mut self) -> Result<(), GeneratorError> {
        self.dialogue.send(self.family.arm)?;
        self.no_errors(self.family.arm)?;
        if let (Some(back), Some(train)) = (self.family.armed, self.train) {
            self.reads_back(&back, &train)?;
        }
        match self.family.completion {
            Completion::Answered(query) => self.ask_completion(query),
            Completion::Stopped => {
                let length = self.train.map_or(Duration::ZERO, |train| train.duration());
                self.over = Some(Deadline::after(length + START_ALLOWED));
                self.first = None;
                Ok(())
            }
        }
    }

    /// The first capture tells when the last pulse is over: then, before the next pulse at its trigger input, it is
    /// stopped. The count alone does not tell, since a bounce counts as well.
    fn captured(&mut self, count: u32) -> Result<(), GeneratorError> {
        let (Some(_), Some(train), true) = (self.over, self.train, count > 0) else { return Ok(()) };
        let first = *self.first.get_or_insert_with(Instant::now);
        let (period, width) = (Duration::from_nanos(train.period_ns), Duration::from_nanos(train.width_ns));
        let fall = first + period * train.cycles.saturating_sub(1) + width;
        // The first one may not have been captured: then its last one is still to come.
        let rest = if count < train.cycles { period.saturating_sub(width) / 2 } else { Duration::ZERO };
        if Instant::now() >= fall + rest { self.stop() } else { Ok(()) }
    }

    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError> {
        match self.family.completion {
            Completion::Answered(query) => self.answered(query, wait),
            Completion::Stopped => match self.over {
                None => Ok(true),
                Some(deadline) if deadline.passed() => {
                    self.stop()?;
                    Ok(true)
                }
                Some(deadline) => {
                    std::thread::sleep(wait.min(deadline.left()));
                    Ok(false)
                }
            },
        }
    }

    fn make_safe(&mut self) -> Result<(), GeneratorError> {
        self.stop()?;
        if std::mem::take(&mut self.completion_asked) {
            // The train's completion may be answered at any time from now on.
            self.dialogue.identify()?;
        }
        self.expect_off()?;
        for error in self.forget_errors()? {
            log::warn!("generator: {error} while the output was switched off");
        }
        Ok(())
    }
}

/// `NORM` is read back as `NORM` or as `NORMAL`.
fn is_word(found: &str, wanted: &str) -> bool {
    found.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted))
}

/// Behind the header that some instruments repeat: `C1:INVT OFF`.
fn last_word(reply: &str) -> &str {
    reply.rsplit(' ').next().unwrap_or(reply)
}

/// `C1:OUTP OFF,LOAD,HZ,PLRT,NOR` is `OFF`.
fn first_value(reply: &str) -> &str {
    last_word(reply).split(',').next().unwrap_or(reply)
}

#[cfg(test)]
mod tests;
