//! The link to the board: commands go out in frames and are waited for, everything else that comes in is handed on.

use std::collections::VecDeque;
use std::time::Duration;

use ppsrig_wire::frame::{self, MAX_FRAME};
use ppsrig_wire::{
    AckOutcome, Capabilities, CapturePlan, CaptureTotals, EdgeMode, FromBoard, Identity, PROTOCOL_VERSION,
    ToBoard,
};
use thiserror::Error;

use crate::events::BoardEvent;
use crate::formats::link::LinkDecoder;
use crate::rig::port::{Port, PortError};
use crate::rig::watch::{Deadline, Halt, Watch};

/// How long each of the three tries of a command may take. The first is short: a board that has just been started may
/// not listen yet.
const TRIES: [Duration; 3] =
    [Duration::from_millis(400), Duration::from_millis(1200), Duration::from_millis(2400)];
const LOOK: Duration = Duration::from_millis(50);
/// Tries of one command that may be repeated because the port was away: a plug that wobbles is not waited for for ever.
const MOST_REPEATED: u32 = 5;

/// Why the board does not do what it is told.
#[derive(Debug, Error)]
pub enum LinkError {
    /// the port
    #[error("link to the board: {0}")]
    Port(#[from] PortError),
    /// no answer
    #[error(
        "link {address}: the board does not answer {command} ({tries} tries, {heard}); is the image for this board \
         running, and are `link` and `link-baud` right?",
        tries = TRIES.len()
    )]
    Silent {
        /// The port.
        address: String,
        /// What it was asked.
        command: &'static str,
        /// What came in meanwhile.
        heard: String,
    },
    /// another protocol version
    #[error(
        "the board speaks protocol version {board} (firmware {firmware}), this ppsrig version {ours}; build the image \
         from the same source as ppsrig"
    )]
    Version {
        /// The board's.
        board: u16,
        /// Commit of the board's firmware.
        firmware: String,
        /// Ours.
        ours: u16,
    },
    /// what the bench file says of the board is not what it says of itself
    #[error(
        "the bench file says that the board is {declared}, the board `{board}` says that it is {itself}; correct `emulated`"
    )]
    Emulated {
        /// By the bench file.
        declared: &'static str,
        /// Its name.
        board: String,
        /// By the board.
        itself: &'static str,
    },
    /// the board lacks what the run needs
    #[error("the board `{board}` cannot {needed}; load an image that can, or run without")]
    Incapable {
        /// Its name.
        board: String,
        /// What is needed.
        needed: &'static str,
    },
    /// the board refuses a command
    #[error("the board refuses {command}: {why}")]
    Refused {
        /// What it was asked.
        command: &'static str,
        /// Its reason.
        why: &'static str,
    },
    /// interrupted, or the recording failed
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// An open link.
#[derive(Debug)]
pub struct Link {
    port: Port,
    decoder: LinkDecoder,
    events: VecDeque<BoardEvent>,
    sequence: u16,
    frames: u64,
    damaged: u64,
}

impl Link {
    /// Speaks over an open port.
    #[must_use]
    pub const fn new(port: Port) -> Self {
        Self {
            port,
            decoder: LinkDecoder::new(),
            events: VecDeque::new(),
            sequence: 0,
            frames: 0,
            damaged: 0,
        }
    }

    /// The next event from the board, or none within `wait`.
    ///
    /// # Errors
    /// [`LinkError::Port`]
    pub fn next(&mut self, wait: Duration) -> Result<Option<BoardEvent>, LinkError> {
        let deadline = Deadline::after(wait);
        while self.events.is_empty() {
            match self.port.read(deadline.left())? {
                Some((at, bytes)) => {
                    self.events
                        .extend(self.decoder.push(&bytes, at).into_iter().map(|stamped| stamped.event));
                }
                None => return Ok(None),
            }
        }
        let event = self.events.pop_front();
        match event {
            Some(BoardEvent::Frame { .. }) => self.frames += 1,
            Some(BoardEvent::Damaged { .. }) => self.damaged += 1,
            None => {}
        }
        Ok(event)
    }

    /// Asks the board who it is, and refuses one of another protocol version.
    ///
    /// # Errors
    /// [`LinkError`]
    pub fn identify(&mut self, watch: &Watch) -> Result<Identity, LinkError> {
        let identity = self.command(
            &ToBoard::Identify,
            "Identify",
            watch,
            &mut |_| {},
            |message, sequence| match message {
                FromBoard::Identity(identity) if identity.command == sequence => Some(Ok(identity.clone())),
                _ => None,
            },
        )?;
        if identity.protocol == PROTOCOL_VERSION {
            return Ok(identity);
        }
        Err(LinkError::Version {
            board: identity.protocol,
            firmware: identity.git_hash.to_string(),
            ours: PROTOCOL_VERSION,
        })
    }

    /// Starts what ends by itself: [`ToBoard::StartPath`], [`ToBoard::StartCtime`]. Returns when the board has taken it.
    ///
    /// # Errors
    /// [`LinkError`]
    pub fn start(&mut self, command: &ToBoard, name: &'static str, watch: &Watch) -> Result<(), LinkError> {
        self.command(command, name, watch, &mut |_| {}, |message, sequence| match message {
            FromBoard::Ack { command, outcome } if *command == sequence => Some(accepted(*outcome, name)),
            _ => None,
        })
    }

    /// Opens a capture window.
    ///
    /// # Errors
    /// [`LinkError`]
    pub fn start_capture(&mut self, plan: CapturePlan, watch: &Watch) -> Result<(), LinkError> {
        self.start(&ToBoard::StartCapture(plan), "StartCapture", watch)
    }

    /// Closes a capture window; every record of it has arrived before this returns. `also` sees what else comes in.
    ///
    /// # Errors
    /// [`LinkError`]
    pub fn stop_capture(
        &mut self,
        window: u32,
        watch: &Watch,
        also: &mut dyn FnMut(&BoardEvent),
    ) -> Result<CaptureTotals, LinkError> {
        let name = "StopCapture";
        self.command(&ToBoard::StopCapture { window }, name, watch, also, |message, sequence| match message {
            FromBoard::Totals(totals) if totals.command == sequence => Some(Ok(*totals)),
            FromBoard::Ack { command, outcome } if *command == sequence => {
                // "Done" only says that it was taken: the totals follow.
                accepted(*outcome, name).err().map(Err)
            }
            _ => None,
        })
    }

    /// Sends a command up to three times, always under the same sequence number: it is idempotent, so that a late
    /// answer to the first try is as good as any.
    fn command<T>(
        &mut self,
        command: &ToBoard,
        name: &'static str,
        watch: &Watch,
        also: &mut dyn FnMut(&BoardEvent),
        answer: impl Fn(&FromBoard, u16) -> Option<Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        let sequence = self.sequence;
        let mut frame = [0; MAX_FRAME];
        let length = frame::encode(sequence, command, &mut frame).expect("every command fits a frame");
        let (frames, damaged) = (self.frames, self.damaged);
        let (mut index, mut repeated) = (0, 0);
        while let Some(&allowed) = TRIES.get(index) {
            if index > 0 {
                log::warn!("{name}: no answer, trying again ({} of {})", index + 1, TRIES.len());
            }
            let returns = self.port.returns();
            // The leading zero ends whatever half a frame the board may have received before.
            self.port.write(&[0])?;
            self.port.write(&frame[..length])?;
            let mut deadline = Deadline::after(allowed);
            while !deadline.passed() {
                watch.check()?;
                if self.port.is_away() {
                    deadline = Deadline::after(allowed);
                }
                let Some(event) = self.next(deadline.left().min(LOOK))? else { continue };
                also(&event);
                if let BoardEvent::Frame { message, .. } = &event
                    && let Some(result) = answer(message, sequence)
                {
                    return result;
                }
            }
            // A try in which the port was away may have lost its command or its answer, and does not count.
            if self.port.returns() == returns || repeated == MOST_REPEATED {
                index += 1;
            } else {
                repeated += 1;
            }
        }
        let heard = match (self.frames - frames, self.damaged - damaged) {
            (0, 0) => "nothing was heard".to_owned(),
            (frames, damaged) => format!("{frames} other frames and {damaged} damaged ones were heard"),
        };
        Err(LinkError::Silent { address: self.port.address().to_owned(), command: name, heard })
    }
}

/// What the board's acknowledgement of a command comes to.
pub(super) fn accepted(outcome: AckOutcome, command: &'static str) -> Result<(), LinkError> {
    let why = match outcome {
        AckOutcome::Done => return Ok(()),
        AckOutcome::Unsupported => "it lacks the capability, or cannot work with these figures",
        AckOutcome::WrongWindow => "another capture window is open or none, or it measures something already",
    };
    Err(LinkError::Refused { command, why })
}

/// What a run needs of a board.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// What the bench file says of it.
    pub emulated: bool,
    /// What it is to do.
    pub work: Work,
}

/// What a board is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Capture edges.
    Edges {
        /// How.
        mode: EdgeMode,
        /// Whether its echo pin is wired.
        echo: bool,
    },
    /// Measure the path to the counter read inside the snapshot.
    Path,
    /// Run the inode timestamp workload.
    Ctime,
}

impl Work {
    /// The capabilities that it takes, each as a phrase that continues "cannot".
    fn capabilities(self) -> Vec<(Capabilities, &'static str)> {
        let irq = (Capabilities::EDGE_IRQ, "capture edges by interrupt");
        let poll = (Capabilities::EDGE_POLL, "capture edges by polling");
        match self {
            Self::Edges { mode, echo } => {
                let mut needed = match mode {
                    EdgeMode::Irq => vec![irq],
                    // The preamble is captured by interrupt in every mode.
                    EdgeMode::Poll | EdgeMode::Alternate => vec![irq, poll],
                };
                if echo {
                    let pin = "raise an echo pin, which the bench file says is wired";
                    needed.push((Capabilities::ECHO, pin));
                }
                needed
            }
            Self::Path => vec![(Capabilities::PATH, "measure the path to the counter read of a snapshot")],
            Self::Ctime => vec![(Capabilities::CTIME, "run the inode timestamp workload")],
        }
    }
}

/// Cross-checks what a board says of itself with what is needed of it.
///
/// # Errors
/// [`LinkError::Version`], [`LinkError::Emulated`], [`LinkError::Incapable`]
pub fn check_identity(identity: &Identity, needs: Needs) -> Result<(), LinkError> {
    if identity.protocol != PROTOCOL_VERSION {
        return Err(LinkError::Version {
            board: identity.protocol,
            firmware: identity.git_hash.to_string(),
            ours: PROTOCOL_VERSION,
        });
    }
    let name = |emulated| if emulated { "emulated" } else { "real hardware" };
    let emulated = identity.capabilities.has(Capabilities::EMULATED);
    if emulated != needs.emulated {
        return Err(LinkError::Emulated {
            declared: name(needs.emulated),
            board: identity.board.to_string(),
            itself: name(emulated),
        });
    }
    let needed = needs.work.capabilities();
    match needed.iter().find(|(capability, _)| !identity.capabilities.has(*capability)) {
        Some((_, needed)) => Err(LinkError::Incapable { board: identity.board.to_string(), needed }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
