//! One session of what the board measures by itself: it is loaded and started, told what to measure, and sends what it
//! counted. There is no edge in it, so neither generator nor reference nor interval counter is needed.
//!
//! It is told over the link, or by commands that are loaded with the image, into its mailbox: then nothing is sent to
//! it while it runs, and an emulated board that counts instructions does the same to the last of them each time.

use std::path::PathBuf;
use std::time::Duration;

use ppsrig_wire::frame::{self, MAX_FRAME};
use ppsrig_wire::{self as wire, FromBoard, ToBoard};

use crate::bench_file::CommandBy;
use crate::events::{BoardEvent, RigEvent};
use crate::names::PathVariant;
use crate::plan::whole_tick_steps;
use crate::rig::link::{Link, Needs, accepted, check_identity};
use crate::rig::probe::{Load, Target};
use crate::rig::recorder::Log;
use crate::rig::session::{OnStep, SessionError, Step, load_board, notices};
use crate::rig::watch::{Deadline, Watch};
use crate::units::Hertz;

const LOOK: Duration = Duration::from_millis(50);
/// How long a board that was loaded with its commands may take to say who it is.
const IDENTITY_ALLOWED: Duration = Duration::from_secs(30);

/// One thing that the board is told to measure; it ends by itself.
#[derive(Clone, Debug)]
pub struct Job {
    /// What it is, for people.
    pub what: String,
    /// Its window.
    pub window: u32,
    /// [`ToBoard::StartPath`] or [`ToBoard::StartCtime`].
    pub command: ToBoard,
    /// What is recorded when it starts.
    pub started: RigEvent,
    /// How long the board may say nothing meanwhile.
    pub silence: Duration,
}

/// A board behind its link and probe.
pub struct MeasuringBoard {
    /// Its link.
    pub link: Link,
    /// The board behind its probe.
    pub target: Target,
    /// What is loaded.
    pub image: PathBuf,
    /// What is needed of the board.
    pub needs: Needs,
    /// How it is told.
    pub command_by: CommandBy,
    /// `rig.log`.
    pub log: Log,
    /// What every wait looks at.
    pub watch: Watch,
}

impl MeasuringBoard {
    /// Runs one session: the jobs in their order.
    ///
    /// # Errors
    /// What ended it early. What happened up to then is recorded.
    pub fn session(
        &mut self,
        (session, seed): (u32, u64),
        jobs: &[Job],
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        self.log.did(&RigEvent::SessionStarted { session, seed });
        match self.command_by {
            CommandBy::Link => self.told_over_the_link(jobs, step),
            CommandBy::Memory => self.told_by_mailbox(jobs, step),
        }
    }

    fn told_over_the_link(&mut self, jobs: &[Job], step: OnStep<'_>) -> Result<(), SessionError> {
        self.load(Vec::new(), step)?;
        let identity = self.link.identify(&self.watch)?;
        check_identity(&identity, self.needs)?;
        step(Step::Identified(&identity));
        for job in jobs {
            self.link.start(&job.command, name_of(&job.command), &self.watch)?;
            self.log.did(&job.started);
            self.await_end(job, None, step)?;
        }
        Ok(())
    }

    fn told_by_mailbox(&mut self, jobs: &[Job], step: OnStep<'_>) -> Result<(), SessionError> {
        for job in jobs {
            self.log.did(&job.started);
        }
        self.load(mailbox(jobs.iter().map(|job| &job.command)), step)?;
        self.await_identity(step)?;
        for (job, sequence) in jobs.iter().zip(FIRST_JOB..) {
            self.await_end(job, Some(sequence), step)?;
        }
        Ok(())
    }

    fn load(&self, mailbox: Vec<u8>, step: OnStep<'_>) -> Result<(), SessionError> {
        let load = Load { image: self.image.clone(), mailbox };
        load_board(&self.target, load, (&self.log, &self.watch), step)
    }

    fn await_identity(&mut self, step: OnStep<'_>) -> Result<(), SessionError> {
        let deadline = Deadline::after(IDENTITY_ALLOWED);
        while !deadline.passed() {
            self.watch.check()?;
            if let Some(BoardEvent::Frame { message: FromBoard::Identity(identity), .. }) =
                self.link.next(LOOK)?
            {
                check_identity(&identity, self.needs)?;
                step(Step::Identified(&identity));
                return Ok(());
            }
        }
        Err(SessionError::Silent { what: "who it is".to_owned(), allowed: IDENTITY_ALLOWED })
    }

    /// Waits for the job's last message. `sequence` is its command's where its acknowledgement was not seen yet.
    fn await_end(&mut self, job: &Job, sequence: Option<u16>, step: OnStep<'_>) -> Result<(), SessionError> {
        let mut deadline = Deadline::after(job.silence);
        step(Step::Measuring { what: &job.what, done: 0, total: parts(&job.command) });
        while !deadline.passed() {
            self.watch.check()?;
            notices(&self.watch, step);
            let Some(event) = self.link.next(LOOK)? else { continue };
            deadline = Deadline::after(job.silence);
            let BoardEvent::Frame { message, .. } = event else { continue };
            match message {
                FromBoard::Ack { command, outcome } if Some(command) == sequence => {
                    accepted(outcome, name_of(&job.command))?;
                }
                FromBoard::TickCounts(counts) if counts.window == job.window => {
                    let done = u64::from(counts.batch) + 1;
                    step(Step::Measuring { what: &job.what, done, total: parts(&job.command) });
                }
                FromBoard::PathDone(done) if done.window == job.window => return self.ended(job, step),
                FromBoard::CtimeDone(done) if done.window == job.window => return self.ended(job, step),
                _ => {}
            }
        }
        Err(SessionError::Silent { what: job.what.clone(), allowed: job.silence })
    }

    fn ended(&self, job: &Job, step: OnStep<'_>) -> Result<(), SessionError> {
        step(Step::Measured(&job.what));
        Ok(())
    }
}

/// Sequence numbers of the mailbox's frames: who it is, then the jobs.
const IDENTIFY: u16 = 1;
const FIRST_JOB: u16 = 2;

/// The frames of the commands, for a mailbox: first the board says who it is.
#[must_use]
pub fn mailbox<'a>(commands: impl IntoIterator<Item = &'a ToBoard>) -> Vec<u8> {
    let mut frames = encoded(IDENTIFY, &ToBoard::Identify);
    for (command, sequence) in commands.into_iter().zip(FIRST_JOB..) {
        frames.extend(encoded(sequence, command));
    }
    frames
}

fn encoded(sequence: u16, command: &ToBoard) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let length = frame::encode(sequence, command, &mut buffer).expect("every command fits a frame");
    buffer[..length].to_vec()
}

/// Parts in which the board tells how far it is.
fn parts(command: &ToBoard) -> u64 {
    if let ToBoard::StartPath(plan) = command { plan.batches.into() } else { 1 }
}

const fn name_of(command: &ToBoard) -> &'static str {
    match command {
        ToBoard::StartPath(_) => "StartPath",
        ToBoard::StartCtime(_) => "StartCtime",
        _ => "a command that measures nothing",
    }
}

/// The wire's name for a build of the snapshot function.
#[must_use]
pub const fn path_variant(variant: PathVariant) -> wire::PathVariant {
    match variant {
        PathVariant::Indirect => wire::PathVariant::Indirect,
        PathVariant::Inline => wire::PathVariant::Inline,
        PathVariant::InlineBiased => wire::PathVariant::InlineBiased,
    }
}

/// CPU cycles and counter ticks that last equally long, in lowest terms; what a word cannot hold is as much as it can.
#[must_use]
pub fn ratio(cpu: Hertz, counter: Hertz) -> (u32, u32) {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    // Both rates are divided by their greatest common divisor.
    (narrow(whole_tick_steps(cpu, counter)), narrow(whole_tick_steps(counter, cpu)))
}

#[cfg(test)]
mod tests;
