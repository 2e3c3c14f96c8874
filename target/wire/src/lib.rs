//! What a ppsrig host and a board under test say to each other.
//!
//! Both ends import this crate and nothing else is shared. A frame is COBS of
//! (sequence u16 LE, postcard body, CRC-32/ISO-HDLC LE), then a zero byte: see [`frame`].
//! The bodies are [`ToBoard`] and [`FromBoard`]. `fixtures/wire` pins their bytes.
//!
//! Evolution rules, for every type here:
//! 1. Enums are append-only: a variant is never removed, reordered or reused.
//! 2. A struct's fields never change order or type; [`Identity`] may grow at its end, since a decoder ignores what follows.
//! 3. Anything else is a new [`PROTOCOL_VERSION`], and one line in its history.
#![no_std]

pub mod frame;
mod message;
mod size;

pub use message::{
    AckOutcome, BoardName, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId,
    EdgeDirection, EdgeMode, FromBoard, GitHash, Heartbeat, Identity, Snapshot, ToBoard,
};

/// Version of the messages that this crate describes.
///
/// History: 1, the first.
pub const PROTOCOL_VERSION: u16 = 1;
