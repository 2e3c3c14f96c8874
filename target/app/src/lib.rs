//! The board's command state machine, without any I/O: bytes and ticks come in, bytes and actions go out.
//!
//! Two sides share one ring. The capturing side ([`Capturer`]) runs where an edge is seen, in the interrupt handler or
//! in the polling loop, and does no more than number the capture and put its record into the [`CaptureRing`]. The idle
//! loop's side ([`Controller`]) takes commands, drains the ring into frames, and beats the heart. Nothing in the timed
//! path ever waits for the link.
//!
//! The measurements of `path` and `ctime` need no input and end by themselves: the controller says what to [`Work`]
//! at, the firmware does it, and the controller sends what was counted.
//!
//! The firmware and the tests drive the same code; it must stay in step with `ppsrig-wire`, whose documentation says
//! what each command promises.
#![no_std]

#[cfg(test)]
extern crate std;

mod capturer;
mod controller;
pub mod ctime;
mod edge_watch;
mod heartbeat;
pub mod jumps;
mod measuring;
mod output;
pub mod path;
mod random;
mod ring;
#[cfg(test)]
mod testing;
mod turn;

pub use capturer::{Capturer, Edge, clock_id};
pub use controller::{Action, Controller};
pub use edge_watch::EdgeWatch;
pub use measuring::{Measuring, Work};
pub use output::OUTPUT_BYTES;
pub use random::{SplitMix64, UniformDraw};
pub use ring::{CaptureReader, CaptureRing, CaptureWriter, RING_RECORDS};
pub use turn::Turn;
