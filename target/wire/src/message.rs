//! The messages. Every counter value is a raw CNTVCT_EL0 reading in ticks of the board's counter.

use heapless::String;
use serde::{Deserialize, Serialize};

use crate::{CtimeDone, CtimePlan, JumpsDone, JumpsPlan, Pairs, PathDone, PathPlan, PhaseCounts, TickCounts};

/// Short commit of the firmware's source, or `unknown`.
pub type GitHash = String<16>;
/// What the board calls itself, for instance `virt`.
pub type BoardName = String<24>;

/// A command from the host. Each is idempotent: sent again with the same content it changes nothing and is
/// acknowledged again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToBoard {
    /// Who are you? Answered with [`FromBoard::Identity`].
    Identify,
    /// Open a capture window. Capture numbers start at 0, unless the window of the same number is open already.
    StartCapture(CapturePlan),
    /// Close the capture window and say what was counted: answered with [`FromBoard::Totals`] after every record has
    /// been sent.
    StopCapture {
        /// The window to close.
        window: u32,
    },
    /// Measure a path. Acknowledged at once; ends by itself with [`FromBoard::PathDone`]. The same plan again, while
    /// it runs or just after, is acknowledged and starts nothing.
    StartPath(PathPlan),
    /// Run the inode stamping workload. Acknowledged at once; ends by itself with [`FromBoard::CtimeDone`]; said again
    /// as above.
    StartCtime(CtimePlan),
    /// Change the clocks in every way while all cores read them: a trial of the board, no measurement. Acknowledged at
    /// once; ends by itself with [`FromBoard::JumpsDone`]; said again as above.
    StartJumps(JumpsPlan),
}

/// What to capture, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturePlan {
    /// Number of the window, chosen by the host, different for each window of a run.
    pub window: u32,
    /// How edges are captured.
    pub mode: EdgeMode,
    /// Which transition counts as an edge.
    pub direction: EdgeDirection,
    /// The clock whose time is snapshot with each interrupt capture.
    pub clock_id: ClockId,
}

/// How edges are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeMode {
    /// The GPIO interrupt handler takes the pair.
    Irq,
    /// The pin is read in a loop; only counters are taken around each read.
    Poll,
    /// Interrupt and poll by turns, beginning with poll, so that poll edges bracket each interrupt edge.
    Alternate,
}

/// Which transition of the pin counts as an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeDirection {
    /// Low to high.
    Rising,
    /// High to low.
    Falling,
}

/// The kernel's clock ids that a snapshot can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockId {
    /// CLOCK_REALTIME
    Realtime,
    /// CLOCK_MONOTONIC
    Monotonic,
    /// CLOCK_MONOTONIC_RAW
    MonotonicRaw,
    /// CLOCK_BOOTTIME
    Boottime,
}

/// A message from the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromBoard {
    /// The answer to [`ToBoard::Identify`].
    Identity(Identity),
    /// The command with this sequence number was taken, or why it was not.
    Ack {
        /// Sequence number of the command's frame.
        command: u16,
        /// What became of it.
        outcome: AckOutcome,
    },
    /// One captured edge.
    Capture(Capture),
    /// Sent several times a second while a window is open: proves that the core runs and was not halted.
    Heartbeat(Heartbeat),
    /// The answer to [`ToBoard::StopCapture`].
    Totals(CaptureTotals),
    /// A piece of a batch's histogram.
    TickCounts(TickCounts),
    /// A piece of the phase histogram.
    PhaseCounts(PhaseCounts),
    /// Raw pairs.
    Pairs(Pairs),
    /// A path measurement is complete.
    PathDone(PathDone),
    /// A `ctime` run is complete.
    CtimeDone(CtimeDone),
    /// A trial of changing clocks is complete.
    JumpsDone(JumpsDone),
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckOutcome {
    /// Done.
    Done,
    /// The board lacks the capability, or cannot measure with these figures.
    Unsupported,
    /// No window of that number is open, or another one is, or another measurement runs.
    WrongWindow,
}

/// Who the board is. `protocol` comes first and fields are only ever appended, so that any host can read the version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The board's [`crate::PROTOCOL_VERSION`].
    pub protocol: u16,
    /// Sequence number of the command that this answers.
    pub command: u16,
    /// CNTFRQ_EL0 in hertz: a claim, not evidence.
    pub declared_counter_hz: u64,
    /// MIDR_EL1.
    pub midr: u64,
    /// Exception level that the firmware runs at.
    pub exception_level: u8,
    /// What the board can do.
    pub capabilities: Capabilities,
    /// Commit of the firmware's source.
    pub git_hash: GitHash,
    /// What the board calls itself.
    pub board: BoardName,
}

/// A set of capabilities, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities(pub u32);

impl Capabilities {
    /// Can capture edges by interrupt.
    pub const EDGE_IRQ: Self = Self(1 << 0);
    /// Can capture edges by polling.
    pub const EDGE_POLL: Self = Self(1 << 1);
    /// Raises an echo pin after each capture, between two counter reads.
    pub const ECHO: Self = Self(1 << 2);
    /// Runs on an emulator: times are not the A53's.
    pub const EMULATED: Self = Self(1 << 3);
    /// Measures the path to the counter read inside the snapshot.
    pub const PATH: Self = Self(1 << 4);
    /// Runs the inode stamping workload.
    pub const CTIME: Self = Self(1 << 5);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every capability of `other` is present.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One captured edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The window that it was captured in.
    pub window: u32,
    /// Counts the window's captures from 0, those included that the board had to drop.
    pub number: u32,
    /// The counter values that hold the edge.
    pub counters: CaptureCounters,
    /// The snapshot taken with it; none in poll mode, where conversion comes afterwards.
    pub snapshot: Option<Snapshot>,
    /// Counter just before and just after the echo pin was raised; none if the board has no echo pin.
    pub echo: Option<(u64, u64)>,
}

/// The counter values that hold an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaptureCounters {
    /// Read first thing in the interrupt handler.
    Irq {
        /// The caller's counter read.
        capture: u64,
    },
    /// The edge lies between these two reads.
    Poll {
        /// Read before the last GPIO read that showed the old level.
        before: u64,
        /// Read after the first GPIO read that showed the new level.
        after: u64,
    },
}

/// What `ktime_get_snapshot_id()` returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The counter read inside the function.
    pub counter: u64,
    /// The named clock's time, in nanoseconds.
    pub time_ns: i64,
}

/// Proof of life from the firmware's idle loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The open window.
    pub window: u32,
    /// Counts the window's heartbeats from 0.
    pub number: u32,
    /// The counter now.
    pub counter: u64,
    /// Captures so far, dropped ones included.
    pub captured: u32,
    /// Captures whose record found the ring full.
    pub dropped: u32,
    /// Longest time between two passes of the idle loop since the last heartbeat, in ticks: a halted core shows here.
    pub longest_gap_ticks: u64,
}

/// What a closed window counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureTotals {
    /// Sequence number of the command that this answers.
    pub command: u16,
    /// The window.
    pub window: u32,
    /// Captures, dropped ones included.
    pub captured: u32,
    /// Captures whose record found the ring full.
    pub dropped: u32,
    /// The counter at the end of the window.
    pub counter: u64,
}
