//! One session: the board is loaded and started, then two bursts of edges are fired at it and captured, the preamble
//! that labels the seconds and the edges of the measurement. Nothing talks to the probe after loading.
//!
//! Only what happened is recorded here; what it means is found by replaying the recording.

pub mod preflight;

use std::path::PathBuf;
use std::time::Duration;

use ppsrig_wire::{CapturePlan, EdgeDirection, EdgeMode, FromBoard, Identity};
use thiserror::Error;

use crate::bench_file::EdgeName;
use crate::events::{BoardEvent, Burst, RigEvent};
use crate::plan::{PREAMBLE_PERIOD_NS, Plan};
use crate::rig::dialogue::DialogueError;
use crate::rig::generator::{Generator, GeneratorError, PulseTrain};
use crate::rig::interval_counter::IntervalCounter;
use crate::rig::link::{Link, LinkError, Needs, check_identity};
use crate::rig::probe::{self, Load, ProbeError, Progress, Report, Target, Task};
use crate::rig::recorder::Log;
use crate::rig::reference::{Reference, ReferenceError};
use crate::rig::watch::{Deadline, Halt, Watch};

/// How often the instruments are looked at during a burst.
const LOOK: Duration = Duration::from_millis(20);
/// How much longer than its own length a burst may take: the wait for the reference's next pulse, and slow answers.
const BURST_MARGIN: Duration = Duration::from_secs(8);
/// For readings of a burst's last edge that are still under way on a slow port.
const LINGER: Duration = Duration::from_millis(250);

/// Why a session ended early.
#[derive(Debug, Error)]
pub enum SessionError {
    /// the probe
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// the link
    #[error(transparent)]
    Link(#[from] LinkError),
    /// the generator
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// the reference
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// the interval counter
    #[error(transparent)]
    IntervalCounter(DialogueError),
    /// a burst takes too long
    #[error(
        "the generator has not completed {cycles} edges after {seconds} s, {captured} were captured; {advice}",
        seconds = allowed.as_secs(),
        advice = late_advice(*captured)
    )]
    Late {
        /// Edges commanded.
        cycles: u32,
        /// Edges captured.
        captured: u32,
        /// What was allowed.
        allowed: Duration,
    },
    /// what the preamble showed
    #[error("{0}")]
    Refused(String),
    /// the board measures and says nothing more
    #[error(
        "the board says nothing for {seconds} s while it measures {what}; what it said last is in raw/link.log",
        seconds = allowed.as_secs()
    )]
    Silent {
        /// What it measures.
        what: String,
        /// What was allowed.
        allowed: Duration,
    },
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// What a session tells while it goes on, for people.
#[derive(Debug)]
pub enum Step<'a> {
    /// The image is being loaded.
    Loading(Progress),
    /// It is loaded.
    Loaded(&'a Report),
    /// The board has said who it is.
    Identified(&'a Identity),
    /// A burst is under way.
    Firing {
        /// Which.
        burst: Burst,
        /// Edges commanded.
        commanded: u32,
        /// From edge to edge.
        period: Duration,
        /// Edges captured so far, as the board's records arrive.
        captured: u32,
    },
    /// A burst is complete.
    Fired(Burst),
    /// The board measures by itself.
    Measuring {
        /// What, for people.
        what: &'a str,
        /// Parts done, as the board's messages arrive.
        done: u64,
        /// Parts to do.
        total: u64,
    },
    /// It has measured that.
    Measured(&'a str),
    /// Something happened that whoever watches should hear: a port vanished, or is back.
    Notice(&'a str),
}

/// Gets the steps.
pub type OnStep<'a> = &'a mut dyn FnMut(Step<'_>);
/// Judges the preamble by what is recorded so far; an error ends the run.
pub type Judge<'a> = &'a mut dyn FnMut() -> Result<(), String>;

/// The opened instruments, and what is done with them.
pub struct Rig {
    /// The board's link.
    pub link: Link,
    /// The generator.
    pub generator: Box<dyn Generator>,
    /// The reference.
    pub reference: Reference,
    /// The interval counter, if there is one.
    pub interval_counter: Option<IntervalCounter>,
    /// The board behind its probe.
    pub target: Target,
    /// What is loaded.
    pub image: PathBuf,
    /// What is needed of the board.
    pub needs: Needs,
    /// Which transition is the edge.
    pub edge: EdgeName,
    /// `rig.log`.
    pub log: Log,
    /// What every wait looks at.
    pub watch: Watch,
}

impl Rig {
    /// Runs one session; the generator is safe afterwards, however it ended.
    ///
    /// # Errors
    /// What ended it early. What happened up to then is recorded.
    pub fn session(
        &mut self,
        plan: &Plan,
        (session, seed): (u32, u64),
        judge: Judge<'_>,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        let result = self.load_and_fire(plan, (session, seed), judge, step);
        self.end_safely(result)
    }

    /// Switches the generator off, however it went: that it cannot be done is the error, unless there was one before.
    fn end_safely(&mut self, result: Result<(), SessionError>) -> Result<(), SessionError> {
        match self.generator.make_safe() {
            Err(error) if result.is_ok() => Err(error.into()),
            Err(error) => {
                log::warn!("{error}; is its output off?");
                result
            }
            Ok(()) => result,
        }
    }

    fn load_and_fire(
        &mut self,
        plan: &Plan,
        (session, seed): (u32, u64),
        judge: Judge<'_>,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        self.log.did(&RigEvent::SessionStarted { session, seed });
        self.load(step)?;
        let identity = self.link.identify(&self.watch)?;
        check_identity(&identity, self.needs)?;
        step(Step::Identified(&identity));
        let preamble = PulseTrain {
            cycles: plan.preamble_edges,
            period_ns: PREAMBLE_PERIOD_NS,
            width_ns: plan.width_ns,
            edge: self.edge,
        };
        self.burst(plan, (2 * session - 1, Burst::Preamble, session), &preamble, step)?;
        judge().map_err(SessionError::Refused)?;
        let edges = PulseTrain { cycles: plan.edges, period_ns: plan.period_ns, ..preamble };
        self.burst(plan, (2 * session, Burst::Edges, session), &edges, step)
    }

    fn load(&mut self, step: OnStep<'_>) -> Result<(), SessionError> {
        load_board(&self.target, Load::plain(self.image.clone()), (&self.log, &self.watch), step)
    }

    fn burst(
        &mut self,
        plan: &Plan,
        (window, burst, session): (u32, Burst, u32),
        train: &PulseTrain,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        self.generator.prepare(train)?;
        let direction = match train.edge {
            EdgeName::Rising => EdgeDirection::Rising,
            EdgeName::Falling => EdgeDirection::Falling,
        };
        // The preamble is the same in every mode.
        let mode = if burst == Burst::Preamble { EdgeMode::Irq } else { plan.mode };
        let capture = CapturePlan { window, mode, direction, clock_id: plan.clock_id };
        self.link.start_capture(capture, &self.watch)?;
        self.log.did(&RigEvent::WindowOpened { window, burst, session });
        let fired = self.fire(window, burst, train, step);
        if let Err(error) = &fired {
            // The train may still be running: first it is ended, then the window is closed.
            log::info!("burst ended early: {error}");
            let _told_later = self.generator.make_safe();
            self.record_host_edges(window);
        }
        let closed = self.close(window, fired.is_ok());
        notices(&self.watch, step);
        fired.and(closed)?;
        step(Step::Fired(burst));
        Ok(())
    }

    fn fire(
        &mut self,
        window: u32,
        burst: Burst,
        train: &PulseTrain,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        let sent = self.log.clock().now();
        self.generator.arm()?;
        self.log.did(&RigEvent::GeneratorArmed {
            window,
            cycles: train.cycles,
            period_ns: train.period_ns,
            width_ns: train.width_ns,
            sent,
        });
        match self.await_train(window, burst, train, step) {
            Ok(()) => {
                self.log.did(&RigEvent::GeneratorDone { window });
                Ok(())
            }
            Err(error) => {
                if matches!(error, SessionError::Generator(_) | SessionError::Late { .. }) {
                    self.log.did(&RigEvent::GeneratorFailed { window, reason: error.to_string() });
                }
                Err(error)
            }
        }
    }

    fn await_train(
        &mut self,
        window: u32,
        burst: Burst,
        train: &PulseTrain,
        step: OnStep<'_>,
    ) -> Result<(), SessionError> {
        let allowed = train.duration() + BURST_MARGIN;
        let deadline = Deadline::after(allowed);
        let mut captured = 0;
        loop {
            self.watch.check()?;
            notices(&self.watch, step);
            self.generator.captured(captured)?;
            let complete = self.generator.complete(Duration::ZERO);
            self.record_host_edges(window);
            if complete? {
                return Ok(());
            }
            if deadline.passed() {
                return Err(SessionError::Late { cycles: train.cycles, captured, allowed });
            }
            self.look_at_instruments()?;
            // One wait an iteration, then everything that has arrived.
            let mut wait = LOOK;
            while let Some(event) = self.link.next(wait)? {
                captured = captured.max(captured_of(&event, window));
                wait = Duration::ZERO;
            }
            let period = Duration::from_nanos(train.period_ns);
            step(Step::Firing { burst, commanded: train.cycles, period, captured });
        }
    }

    /// Edges that the host itself commanded, of which nobody else has a record.
    fn record_host_edges(&mut self, window: u32) {
        let edges = self.generator.host_edges();
        if let Some(first) = edges.first() {
            let sent = edges.iter().map(|edge| edge.sent).collect();
            self.log.did(&RigEvent::EdgesCommanded { window, first: first.edge, sent });
        }
    }

    /// The readers record by themselves; this is how a port that stays away is noticed.
    fn look_at_instruments(&mut self) -> Result<(), SessionError> {
        self.reference.poll()?;
        if let Some(counter) = &mut self.interval_counter {
            counter.poll().map_err(SessionError::IntervalCounter)?;
        }
        Ok(())
    }

    /// Closes the window, also while everything is being ended: the board's own count is worth the few seconds.
    fn close(&mut self, window: u32, in_order: bool) -> Result<(), SessionError> {
        let watch = if in_order { self.watch.clone() } else { Watch::new() };
        self.link.stop_capture(window, &watch, &mut |_| {})?;
        self.log.did(&RigEvent::WindowClosed { window });
        if in_order {
            std::thread::sleep(LINGER);
        }
        Ok(())
    }
}

/// Loads the board and lets it run; the probe's work is recorded, however it ended.
pub(super) fn load_board(
    target: &Target,
    load: Load,
    (log, watch): (&Log, &Watch),
    step: OnStep<'_>,
) -> Result<(), SessionError> {
    let began = log.clock().now();
    let task = Task::Load { target: target.clone(), load };
    let result = probe::perform(&task, watch, &mut |progress| step(Step::Loading(progress)));
    let operations = match &result {
        Ok(performed) => performed.report.operations,
        Err(error) => error.operations(),
    };
    log.did(&RigEvent::ProbeUsed { purpose: "load".to_owned(), began, operations });
    step(Step::Loaded(&result?.report));
    Ok(())
}

/// Passes on what the ports have to say.
pub(super) fn notices(watch: &Watch, step: OnStep<'_>) {
    watch.take_notices().iter().for_each(|notice| step(Step::Notice(notice)));
}

const fn late_advice(captured: u32) -> &'static str {
    match captured {
        0 => "does the reference's PPS reach its trigger input, and its output the board?",
        _ => "was it switched off, or is its remote control hung?",
    }
}

/// How many captures of the window the board has made by this event.
fn captured_of(event: &BoardEvent, window: u32) -> u32 {
    match event {
        BoardEvent::Frame { message: FromBoard::Capture(capture), .. } if capture.window == window => {
            capture.number.saturating_add(1)
        }
        BoardEvent::Frame { message: FromBoard::Heartbeat(beat), .. } if beat.window == window => {
            beat.captured
        }
        _ => 0,
    }
}
