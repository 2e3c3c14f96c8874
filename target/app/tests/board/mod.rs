//! A board without a machine: both sides of the app around one ring, driven as the firmware drives them.

use ppsrig_app::{
    Action, CaptureRing, Capturer, Controller, Edge, Measuring, Turn, Work,
    path::{PairSource, PathMemory, Reading},
};
use ppsrig_wire::{
    AckOutcome, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, CtimeDone,
    EdgeDirection, EdgeMode, FromBoard, Heartbeat, Identity, JumpsDone, Snapshot, ToBoard,
    frame::{Accumulator, MAX_FRAME, decode, encode},
};

/// The board's counter rate, in hertz.
pub(crate) const HZ: u64 = 1_000_000;
/// Cores of the board.
pub(crate) const CORES: u8 = 2;
/// A quarter of a second, in ticks.
pub(crate) const BEAT: u64 = HZ / 4;

/// The board and the far end of its link.
pub(crate) struct Board {
    controller: Controller<'static>,
    capturer: Capturer<'static>,
    link: Accumulator,
    next_sequence: u16,
    next_command: u16,
    /// The counter.
    pub(crate) now: u64,
    /// What came over the link.
    pub(crate) received: Vec<FromBoard>,
}

impl Board {
    pub(crate) fn new(capabilities: Capabilities) -> Self {
        // Leaked: a board's ring lives for ever. A test process ends soon.
        let (writer, reader) = Box::leak(Box::new(CaptureRing::new())).split();
        let identity = Identity {
            protocol: ppsrig_wire::PROTOCOL_VERSION,
            command: 0,
            declared_counter_hz: HZ,
            midr: 0x410f_d034,
            exception_level: 1,
            capabilities,
            git_hash: "unknown".try_into().unwrap(),
            board: "none".try_into().unwrap(),
        };
        Self {
            controller: Controller::new(
                identity,
                reader,
                Measuring::new(Box::leak(Box::new(PathMemory::new())), CORES),
            ),
            capturer: Capturer::new(writer),
            link: Accumulator::new(),
            next_sequence: 0,
            next_command: 1,
            now: 1_000_000,
            received: Vec::new(),
        }
    }

    /// One that can do everything.
    pub(crate) fn able() -> Self {
        let edges = Capabilities::EDGE_IRQ.with(Capabilities::EDGE_POLL);
        Self::new(edges.with(Capabilities::PATH).with(Capabilities::CTIME))
    }

    /// Hands in bytes, and does at once what the controller asks for.
    pub(crate) fn hand_in(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match self.controller.receive(byte, self.now) {
                Some(Action::Open(plan)) => self.capturer.open(plan),
                Some(Action::Close) => self.capturer.close(),
                None => {}
            }
        }
    }

    /// Sends a command with a sequence number of its own, which it returns. Does not read the answer.
    pub(crate) fn send(&mut self, command: &ToBoard) -> u16 {
        let sequence = self.next_command;
        self.next_command += 1;
        self.send_as(sequence, command);
        sequence
    }

    pub(crate) fn send_as(&mut self, sequence: u16, command: &ToBoard) {
        let mut frame = [0; MAX_FRAME];
        let length = encode(sequence, command, &mut frame).unwrap();
        self.hand_in(&frame[..length]);
    }

    /// One pass of the idle loop, with a link that takes at most `bytes`; returns how many it took.
    /// Frames are checked for their numbering.
    pub(crate) fn pass(&mut self, bytes: usize) -> usize {
        self.controller.idle(self.now);
        for taken in 0..bytes {
            let Some(byte) = self.controller.next_byte() else { return taken };
            if let Some(piece) = self.link.push(byte, decode::<FromBoard>) {
                let (sequence, message) = piece.expect("the board sends whole frames");
                assert_eq!(sequence, self.next_sequence, "frames are numbered in the order of the link");
                self.next_sequence = self.next_sequence.wrapping_add(1);
                self.received.push(message);
            }
        }
        bytes
    }

    /// Passes until nothing is left to be sent.
    pub(crate) fn settle(&mut self) {
        while self.pass(usize::MAX) > 0 {}
    }

    /// What the controller wants done.
    pub(crate) fn work(&self) -> Option<Work> {
        self.controller.work()
    }

    /// Whether commands in a row must wait.
    pub(crate) fn busy(&self) -> bool {
        self.controller.busy()
    }

    /// Works until nothing is left to be done and sent.
    pub(crate) fn work_off(&mut self) {
        loop {
            self.settle();
            match self.controller.work() {
                Some(Work::Path(_)) => self.controller.measure_path(&mut FivesSource),
                Some(Work::Ctime(plan)) => {
                    let cores = heapless::Vec::new();
                    self.controller.work_done(FromBoard::CtimeDone(CtimeDone { window: plan.window, cores }));
                }
                Some(Work::Jumps(plan)) => {
                    let (window, cores) = (plan.window, heapless::Vec::new());
                    let done = JumpsDone { window, sets: 1, suspends: 2, switches: 3, cores };
                    self.controller.work_done(FromBoard::JumpsDone(done));
                }
                None => return,
            }
        }
    }

    /// Sends a command, and returns what came until the link was quiet.
    pub(crate) fn ask(&mut self, command: &ToBoard) -> Vec<FromBoard> {
        self.send(command);
        self.answers()
    }

    /// What came since the last call.
    pub(crate) fn answers(&mut self) -> Vec<FromBoard> {
        self.settle();
        std::mem::take(&mut self.received)
    }

    /// An edge, captured by whose turn it is on the capturing side; nothing without a window.
    pub(crate) fn edge(&mut self) -> Option<Turn> {
        let turn = self.capturer.turn()?;
        let counter = self.now;
        let edge = match turn {
            Turn::Irq => Edge {
                counters: CaptureCounters::Irq { capture: counter },
                snapshot: Some(Snapshot { counter: counter + 1, time_ns: 7 }),
                echo: Some((counter + 2, counter + 3)),
            },
            Turn::Poll => Edge {
                counters: CaptureCounters::Poll { before: counter - 1, after: counter },
                snapshot: None,
                echo: None,
            },
        };
        let next = self.capturer.capture(edge);
        assert_eq!(next, self.capturer.turn());
        Some(turn)
    }

    /// Whose turn the idle loop takes it to be.
    pub(crate) fn turn(&self) -> Option<Turn> {
        self.controller.turn()
    }
}

/// Pairs that are five ticks apart.
struct FivesSource;

impl PairSource for FivesSource {
    fn pair(&mut self, dither: u32) -> Reading {
        Reading {
            cycles: u64::from(dither),
            pre: u64::from(dither),
            inner: u64::from(dither) + 5,
            valid: true,
        }
    }

    fn instructions(&self) -> Option<u32> {
        None
    }

    fn dither_cycles(&mut self, steps: u32) -> u32 {
        steps
    }
}

/// A plan for a window.
pub(crate) fn plan(window: u32, mode: EdgeMode) -> CapturePlan {
    CapturePlan { window, mode, direction: EdgeDirection::Rising, clock_id: ClockId::Realtime }
}

pub(crate) fn start(window: u32, mode: EdgeMode) -> ToBoard {
    ToBoard::StartCapture(plan(window, mode))
}

pub(crate) fn stop(window: u32) -> ToBoard {
    ToBoard::StopCapture { window }
}

pub(crate) fn ack(command: u16, outcome: AckOutcome) -> FromBoard {
    FromBoard::Ack { command, outcome }
}

/// The capture records among `messages`.
pub(crate) fn captures(messages: &[FromBoard]) -> Vec<Capture> {
    let capture =
        |message: &FromBoard| if let FromBoard::Capture(capture) = message { Some(*capture) } else { None };
    messages.iter().filter_map(capture).collect()
}

/// The heartbeats among `messages`.
pub(crate) fn heartbeats(messages: &[FromBoard]) -> Vec<Heartbeat> {
    let beat =
        |message: &FromBoard| if let FromBoard::Heartbeat(beat) = message { Some(*beat) } else { None };
    messages.iter().filter_map(beat).collect()
}

/// The totals among `messages`.
pub(crate) fn totals(messages: &[FromBoard]) -> Vec<CaptureTotals> {
    let totals =
        |message: &FromBoard| if let FromBoard::Totals(totals) = message { Some(*totals) } else { None };
    messages.iter().filter_map(totals).collect()
}
