//! FeelTech FY6900: a train that runs by itself. It has no trigger that the reference's pulse could pull, and no error queue:
//! each command is answered by an empty line, and every setting is read back.
//!
//! Never run on hardware. Syntax: FeelTech's serial protocol 1.8; the scales of what is read back are those of a public
//! driver (labdevices' `FY6900Serial`): duty in 1/1000 %, amplitude in 1/10,000 V, offset in 1/1000 V modulo 2^32.

use std::time::Duration;

use super::running::Running;
use super::{Generator, GeneratorError, PulseTrain, decimal};
use crate::bench_file::{self, EdgeName, GeneratorDriver};
use crate::rig::dialogue::{Dialogue, DialogueError, REPLY_ALLOWED};
use crate::rig::watch::Deadline;

/// The waveform whose duty can be set.
const RECTANGLE: &str = "2";
/// So finely a duty is set, in percent.
const DUTY_STEP: f64 = 1e-3;
/// Frequencies are set in microhertz.
const MICROHERTZ: i128 = 1_000_000_000_000_000;

/// An FY6900.
#[derive(Debug)]
pub(super) struct Feeltech {
    dialogue: Dialogue,
    identity: String,
    high_mv: i32,
    low_mv: i32,
    running: Running,
}

/// A setting: how it is told, how it is asked for, and what must be read back.
struct Setting {
    command: String,
    query: &'static str,
    wanted: f64,
    scale: f64,
    allowed: f64,
}

impl Feeltech {
    /// Switches the output off and asks who it is.
    pub(super) fn open(declared: &bench_file::Generator, dialogue: Dialogue) -> Result<Self, GeneratorError> {
        let mut generator = Self {
            dialogue,
            identity: String::new(),
            high_mv: declared.high_mv,
            low_mv: declared.low_mv,
            running: Running::default(),
        };
        // Ends whatever half a line a terminal program may have left in its input.
        generator.dialogue.send("")?;
        generator.dialogue.send("WMN0")?;
        generator.dialogue.drain();
        let identity = generator.dialogue.query("UMO")?;
        if !identity.starts_with("FY") {
            return Err(generator.dialogue.bad_answer("UMO", identity).into());
        }
        generator.identity = format!("{identity}; it runs by itself");
        generator.expect_off()?;
        Ok(generator)
    }

    /// Tells it something; it answers with an empty line.
    fn tell(&mut self, command: &str) -> Result<(), GeneratorError> {
        let answer = self.dialogue.query(command)?;
        if answer.is_empty() { Ok(()) } else { Err(self.dialogue.bad_answer(command, answer).into()) }
    }

    /// Asks for a number, passing over empty lines: one may belong to a command that was answered late.
    fn ask(&mut self, query: &str) -> Result<(f64, String), GeneratorError> {
        let deadline = Deadline::after(REPLY_ALLOWED);
        let mut answer = self.dialogue.query(query)?;
        while answer.is_empty() {
            match self.dialogue.answer(deadline.left())? {
                Some(next) => answer = next,
                None => return Err(self.dialogue.silent(query, REPLY_ALLOWED).into()),
            }
        }
        match answer.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok((number, answer)),
            _ => Err(self.dialogue.bad_answer(query, answer).into()),
        }
    }

    fn set(&mut self, setting: &Setting) -> Result<(), GeneratorError> {
        self.tell(&setting.command)?;
        let (number, reply) = self.ask(setting.query)?;
        // Below zero it counts down from 2^32.
        let number = if number > 2_147_483_648.0 { number - 4_294_967_296.0 } else { number };
        let found = number / setting.scale;
        if (found - setting.wanted).abs() <= setting.allowed {
            return Ok(());
        }
        Err(GeneratorError::NotSet {
            address: self.dialogue.address().to_owned(),
            setting: setting.query.to_owned(),
            wanted: setting.command.clone(),
            found: found.to_string(),
            reply,
        })
    }

    fn settings(&self, train: &PulseTrain) -> Result<Vec<Setting>, GeneratorError> {
        let cannot =
            |reason| Err(GeneratorError::Cannot { driver: GeneratorDriver::FeeltechFy6900.name(), reason });
        let active = 100.0 * train.width_ns as f64 / train.period_ns as f64;
        // A falling edge begins a pulse that is low.
        let duty = if train.edge == EdgeName::Rising { active } else { 100.0 - active };
        if ((duty / DUTY_STEP).round() * DUTY_STEP - duty).abs() > duty * 1e-3 {
            let (width, period) = (train.width_ns, train.period_ns);
            return cannot(format!(
                "a width of {width} ns in {period} ns is finer than its duty of {DUTY_STEP} %"
            ));
        }
        let microhertz = (MICROHERTZ + i128::from(train.period_ns) / 2) / i128::from(train.period_ns);
        let hertz = microhertz as f64 / 1e6;
        let swing = self.high_mv - self.low_mv;
        let middle = f64::from(self.high_mv + self.low_mv) / 2000.0;
        let setting = |command: String, query, wanted, scale, allowed| Setting {
            command,
            query,
            wanted,
            scale,
            allowed,
        };
        Ok(vec![
            setting(format!("WMW{RECTANGLE}"), "RMW", 2.0, 1.0, 0.0),
            setting(format!("WMF{}", padded(microhertz)), "RMF", hertz, 1.0, hertz * 1e-6),
            setting(format!("WMD{duty:.3}"), "RMD", duty, 1000.0, DUTY_STEP),
            setting(
                format!("WMA{}", decimal(i128::from(swing), 3)),
                "RMA",
                f64::from(swing) / 1000.0,
                10_000.0,
                1e-3,
            ),
            setting(format!("WMO{middle:.4}"), "RMO", middle, 1000.0, 2e-3),
        ])
    }

    fn expect_off(&mut self) -> Result<(), GeneratorError> {
        let (state, reply) = self.ask("RMN")?;
        if state == 0.0 {
            return Ok(());
        }
        Err(GeneratorError::NotSet {
            address: self.dialogue.address().to_owned(),
            setting: "RMN".to_owned(),
            wanted: "0".to_owned(),
            found: reply.clone(),
            reply,
        })
    }
}

impl Generator for Feeltech {
    fn identity(&self) -> &str {
        &self.identity
    }

    /// Switches the output on as well: the train must run before a window is open, since it begins anywhere in a period.
    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        self.tell("WMN0")?;
        for setting in self.settings(train)? {
            self.set(&setting)?;
        }
        self.tell("WMN1")?;
        let (state, reply) = self.ask("RMN")?;
        if state == 0.0 {
            return Err(GeneratorError::NotSet {
                address: self.dialogue.address().to_owned(),
                setting: "RMN".to_owned(),
                wanted: "WMN1".to_owned(),
                found: state.to_string(),
                reply,
            });
        }
        self.running.prepare(train);
        Ok(())
    }

    fn arm(&mut self) -> Result<(), GeneratorError> {
        self.running.begin();
        Ok(())
    }

    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError> {
        Ok(self.running.complete(wait))
    }

    fn make_safe(&mut self) -> Result<(), GeneratorError> {
        // An answer to an interrupted command may still be under way.
        match self.tell("WMN0") {
            Ok(()) | Err(GeneratorError::Dialogue(DialogueError::BadAnswer { .. })) => {}
            Err(error) => return Err(error),
        }
        self.expect_off()
    }
}

/// Microhertz as hertz, eight digits before the point and six behind it.
fn padded(microhertz: i128) -> String {
    format!("{:08}.{:06}", microhertz / 1_000_000, microhertz % 1_000_000)
}

#[cfg(test)]
mod tests;
