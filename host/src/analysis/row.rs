//! One line of the ledger: a commanded edge, a captured edge, or both.

use std::borrow::Cow;

use ppsrig_wire::Capture;

use super::class::{Class, Ledger, Side};
use super::tie::{Tie, TiedLatency};
use crate::events::Burst;
use crate::units::HostNanos;

/// How an edge was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// By interrupt.
    Irq,
    /// By polling.
    Poll,
}

impl Mode {
    /// The name in the CSV files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Irq => "irq",
            Self::Poll => "poll",
        }
    }
}

/// One line of the ledger. With both sides it stands for one edge on each of them, in the same class.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeRow {
    /// The session, from 1.
    pub session: u32,
    /// Preamble or measurement.
    pub burst: Burst,
    /// Number of the commanded edge in its burst, from 0.
    pub commanded: Option<u32>,
    /// The board's capture number in the window, from 0.
    pub captured: Option<u32>,
    /// Nominal time of the commanded edge: the burst's second plus its number times the period.
    pub gpst_ns: Option<i64>,
    /// What the receiver said of the pulse on which the burst started. It shifts all of the burst's edges alike, and
    /// no latency: echo and bracket compare readings of one edge, or of neighbours in one burst.
    pub qerr_ps: Option<i32>,
    /// How it was captured.
    pub mode: Option<Mode>,
    /// What the board sent.
    pub capture: Option<Capture>,
    /// When its record arrived.
    pub arrival: Option<HostNanos>,
    /// The class.
    pub class: Class,
    /// Why.
    pub reason: Cow<'static, str>,
    /// Channel B minus channel A, where channel B is the echo.
    pub interval_ps: Option<i128>,
    /// Latency by the echo.
    pub echo: Option<TiedLatency>,
    /// Latency by the neighbouring poll edges.
    pub bracket: Option<TiedLatency>,
}

impl EdgeRow {
    /// A line without capture, tie or time.
    #[must_use]
    pub const fn new(session: u32, burst: Burst, class: Class, reason: Cow<'static, str>) -> Self {
        Self {
            session,
            burst,
            commanded: None,
            captured: None,
            gpst_ns: None,
            qerr_ps: None,
            mode: None,
            capture: None,
            arrival: None,
            class,
            reason,
            interval_ps: None,
            echo: None,
            bracket: None,
        }
    }

    /// The latency that edges.csv carries, with its tie: the echo's where both are possible.
    #[must_use]
    pub const fn latency(&self) -> Option<(Tie, &TiedLatency)> {
        match (&self.echo, &self.bracket) {
            (Some(latency), _) => Some((Tie::Echo, latency)),
            (None, Some(latency)) => Some((Tie::Bracket, latency)),
            (None, None) => None,
        }
    }
}

/// Adds up both sides of the lines of one kind of burst.
#[must_use]
pub fn add_up<'a>(rows: impl Iterator<Item = &'a EdgeRow>, burst: Burst) -> Ledger {
    let (mut commanded, mut captured) = (Side::default(), Side::default());
    for row in rows.filter(|row| row.burst == burst) {
        if row.commanded.is_some() {
            commanded.add(row.class);
        }
        if row.captured.is_some() {
            captured.add(row.class);
        }
    }
    Ledger { commanded, captured, ..Ledger::default() }
}
