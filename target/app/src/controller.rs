//! The idle loop's side: commands in, answers, records and heartbeats out.

use heapless::Deque;
use ppsrig_wire::{
    AckOutcome, Capabilities, CapturePlan, CaptureTotals, EdgeMode, FromBoard, Heartbeat, Identity, ToBoard,
    frame::{Accumulator, FrameError, decode},
};

use crate::{
    CaptureReader, Measuring, Turn, Work, heartbeat::HeartbeatClock, measuring::Plan, output::Output,
    path::PairSource,
};

/// What the firmware must do at once, before it hands in the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open the window on the capturing side, then arm the pin.
    Open(CapturePlan),
    /// Disarm the pin, then close the window on the capturing side.
    Close,
}

/// The capture window.
#[derive(Debug)]
enum Window {
    /// None is open. Remembers what the last one counted, for a host that asks again.
    Closed(Option<CaptureTotals>),
    /// Edges are captured.
    Open(CapturePlan, HeartbeatClock),
    /// No edge is captured any more; the totals go out after the last record. Their counts are not final yet.
    Closing(CaptureTotals),
}

/// Answers that can wait for room in the output. A host waits for each answer before it sends the next command.
const ANSWERS: usize = 8;

/// Takes commands and drains the ring.
pub struct Controller<'a> {
    identity: Identity,
    input: Accumulator,
    output: Output,
    answers: Deque<FromBoard, ANSWERS>,
    reader: CaptureReader<'a>,
    window: Window,
    measuring: Measuring<'a>,
}

impl<'a> Controller<'a> {
    /// One without a window. `identity` is what [`ToBoard::Identify`] is answered with; its `command` is filled in.
    #[must_use]
    pub const fn new(identity: Identity, reader: CaptureReader<'a>, measuring: Measuring<'a>) -> Self {
        Self {
            identity,
            input: Accumulator::new(),
            output: Output::new(),
            answers: Deque::new(),
            reader,
            window: Window::Closed(None),
            measuring,
        }
    }

    /// Whether a measurement runs, or answers wait that leave no room for another. Commands that are to run one after
    /// the other are handed in while it does not.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.measuring.running() || self.answers.is_full()
    }

    /// What to work at now; none while bytes wait for the link, so that nothing is sent late because of it.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        if self.output.is_empty() && self.answers.is_empty() { self.measuring.work() } else { None }
    }

    /// Measures a chunk of [`Work::Path`].
    pub fn measure_path(&mut self, source: &mut impl PairSource) {
        self.measuring.measure_path(source);
    }

    /// Takes what [`Work::Ctime`] or [`Work::Jumps`] counted: its last message.
    pub fn work_done(&mut self, done: FromBoard) {
        self.measuring.work_done(done);
    }

    /// Takes one byte from the link. Damaged frames are passed over in silence: the host tries again.
    pub fn receive(&mut self, byte: u8, now: u64) -> Option<Action> {
        match self.input.push(byte, decode::<ToBoard>)? {
            Ok((sequence, command)) => self.command(sequence, command, now),
            Err(FrameError::Unknown { sequence }) => self.acknowledge(sequence, AckOutcome::Unsupported),
            Err(FrameError::Damaged) => None,
        }
    }

    /// One pass of the idle loop: notes how long ago the last one was, and moves into the output what has room there:
    /// answers first, then records, a heartbeat if due, and the totals after the last record.
    /// Returns how many records it took out of the ring.
    pub fn idle(&mut self, now: u64) -> usize {
        let due = match &mut self.window {
            Window::Open(_, clock) => clock.pass(now),
            Window::Closed(_) | Window::Closing(_) => false,
        };
        while self.output.has_room() {
            let Some(answer) = self.answers.pop_front() else { break };
            self.output.send(&answer);
        }
        let mut records = 0;
        while self.output.has_room() {
            let Some(record) = self.reader.take() else { break };
            self.output.send(&FromBoard::Capture(record));
            records += 1;
        }
        if due && self.output.has_room() {
            self.beat(now);
        }
        // Room is left only if the ring is empty; and no capture is added to it while the window is closing.
        if self.output.has_room() {
            self.finish();
        }
        while self.output.has_room() {
            let Some(message) = self.measuring.message() else { break };
            self.output.send(&message);
        }
        records
    }

    /// The next byte for the link.
    pub fn next_byte(&mut self) -> Option<u8> {
        self.output.next_byte()
    }

    /// Who captures the next edge; none without an open window.
    #[must_use]
    pub fn turn(&self) -> Option<Turn> {
        match self.window {
            Window::Open(plan, _) => Some(Turn::after(plan.mode, self.reader.counts().0)),
            Window::Closed(_) | Window::Closing(_) => None,
        }
    }

    fn command(&mut self, sequence: u16, command: ToBoard, now: u64) -> Option<Action> {
        match command {
            ToBoard::Identify => {
                let identity = Identity { command: sequence, ..self.identity.clone() };
                self.answer(FromBoard::Identity(identity));
                None
            }
            ToBoard::StartCapture(plan) => self.start(sequence, plan, now),
            ToBoard::StopCapture { window } => self.stop(sequence, window, now),
            ToBoard::StartPath(plan) => self.measure(sequence, Plan::Path(plan)),
            ToBoard::StartCtime(plan) => self.measure(sequence, Plan::Ctime(plan)),
            ToBoard::StartJumps(plan) => self.measure(sequence, Plan::Jumps(plan)),
        }
    }

    fn measure(&mut self, sequence: u16, plan: Plan) -> Option<Action> {
        let idle = matches!(self.window, Window::Closed(_));
        let outcome = self.measuring.start(plan, self.identity.capabilities, idle);
        self.acknowledge(sequence, outcome)
    }

    fn start(&mut self, sequence: u16, plan: CapturePlan, now: u64) -> Option<Action> {
        match &self.window {
            Window::Open(open, _) if *open == plan => self.acknowledge(sequence, AckOutcome::Done),
            Window::Open(..) | Window::Closing(_) => self.acknowledge(sequence, AckOutcome::WrongWindow),
            Window::Closed(_) if self.measuring.running() => {
                self.acknowledge(sequence, AckOutcome::WrongWindow)
            }
            Window::Closed(_) if !self.identity.capabilities.has(needed(plan.mode)) => {
                self.acknowledge(sequence, AckOutcome::Unsupported)
            }
            Window::Closed(_) => {
                let clock = HeartbeatClock::start(self.identity.declared_counter_hz, now);
                self.window = Window::Open(plan, clock);
                self.acknowledge(sequence, AckOutcome::Done);
                Some(Action::Open(plan))
            }
        }
    }

    fn stop(&mut self, sequence: u16, window: u32, now: u64) -> Option<Action> {
        match &mut self.window {
            Window::Open(plan, _) if plan.window == window => {
                let totals =
                    CaptureTotals { command: sequence, window, captured: 0, dropped: 0, counter: now };
                self.window = Window::Closing(totals);
                Some(Action::Close)
            }
            Window::Closing(totals) if totals.window == window => {
                totals.command = sequence;
                None
            }
            Window::Closed(Some(last)) if last.window == window => {
                let totals = CaptureTotals { command: sequence, ..*last };
                self.answer(FromBoard::Totals(totals));
                None
            }
            _ => self.acknowledge(sequence, AckOutcome::WrongWindow),
        }
    }

    fn acknowledge(&mut self, command: u16, outcome: AckOutcome) -> Option<Action> {
        self.answer(FromBoard::Ack { command, outcome });
        None
    }

    /// Queues an answer. If a host floods the board with commands the surplus goes unanswered, and it tries again.
    fn answer(&mut self, message: FromBoard) {
        let _full = self.answers.push_back(message);
    }

    fn beat(&mut self, counter: u64) {
        let (captured, dropped) = self.reader.counts();
        if let Window::Open(plan, clock) = &mut self.window {
            let (number, longest_gap_ticks) = clock.beat(counter);
            let window = plan.window;
            let beat = Heartbeat { window, number, counter, captured, dropped, longest_gap_ticks };
            self.output.send(&FromBoard::Heartbeat(beat));
        }
    }

    fn finish(&mut self) {
        if let Window::Closing(totals) = self.window {
            let (captured, dropped) = self.reader.counts();
            let totals = CaptureTotals { captured, dropped, ..totals };
            self.output.send(&FromBoard::Totals(totals));
            self.window = Window::Closed(Some(totals));
        }
    }
}

const fn needed(mode: EdgeMode) -> Capabilities {
    match mode {
        EdgeMode::Irq => Capabilities::EDGE_IRQ,
        EdgeMode::Poll => Capabilities::EDGE_POLL,
        EdgeMode::Alternate => Capabilities::EDGE_IRQ.with(Capabilities::EDGE_POLL),
    }
}
