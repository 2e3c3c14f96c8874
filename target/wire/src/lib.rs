//! What a ppsrig host and a board under test say to each other.
//!
//! Both ends import this crate and nothing else is shared. A frame is COBS of
//! (sequence u16 LE, postcard body, CRC-32/ISO-HDLC LE), then a zero byte: see [`frame`].
//! The bodies are [`ToBoard`] and [`FromBoard`]. `fixtures/wire` pins their bytes. A board that is not to be disturbed
//! takes its commands from the [`mailbox`].
//!
//! Evolution rules, for every type here:
//! 1. Enums are append-only: a variant is never removed, reordered or reused.
//! 2. A struct's fields never change order or type; [`Identity`] may grow at its end, since a decoder ignores what follows.
//! 3. Anything else is a new [`PROTOCOL_VERSION`], and one line in its history.
#![no_std]

mod ctime;
pub mod frame;
mod jumps;
pub mod mailbox;
mod message;
mod path;
mod size;

pub use ctime::{CORES, CtimeCore, CtimeDone, CtimePlan, CtimeVariant};
pub use jumps::{JumpsCore, JumpsDone, JumpsPlan};
pub use message::{
    AckOutcome, BoardName, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId,
    EdgeDirection, EdgeMode, FromBoard, GitHash, Heartbeat, Identity, Snapshot, ToBoard,
};
pub use path::{
    PAIRS, PHASE_BINS, Pair, Pairs, PathDone, PathPlan, PathVariant, PhaseCounts, TICK_ENTRIES, TickCount,
    TickCounts,
};

/// Version of the messages that this crate describes.
///
/// History: 1, the first.
pub const PROTOCOL_VERSION: u16 = 1;
