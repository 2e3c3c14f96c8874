//! The figures of summary.csv: one row each, with n, interval and uncertainty. Unknown is empty, never 0.

use super::fixed::Fixed;
use crate::names::Measurement;

/// One row of summary.csv.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it belongs to.
    pub measurement: Measurement,
    /// The clock that was asked for; empty for edges, whose clock is the plan's, and where it concerns none.
    pub clock_id: &'static str,
    /// Cores that it was measured on.
    pub cores: u8,
    /// How edges were captured: irq, poll or, where it concerns all, the plan's mode; else empty.
    pub mode: &'static str,
    /// The build that was measured; for ledger rows, the side and the burst; else empty.
    pub variant: &'static str,
    /// How the latency is tied; empty where there is none.
    pub tie: &'static str,
    /// What it is.
    pub metric: String,
    /// The unit of value, interval and uncertainty.
    pub unit: &'static str,
    /// What it was computed from.
    pub n: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// The value.
    pub value: Option<Fixed>,
    /// Its 95 % interval.
    pub interval: Option<(Fixed, Fixed)>,
    /// Its systematic uncertainty, expanded or a bound.
    pub uncertainty: Option<Fixed>,
    /// What it means for the verdict: passed, exceeded, refused, invalid; else empty.
    pub verdict: &'static str,
}

impl Figure {
    /// A figure of edges, without value.
    #[must_use]
    pub fn new(mode: &'static str, tie: &'static str, metric: &str, unit: &'static str) -> Self {
        Self {
            measurement: Measurement::Edge,
            clock_id: "",
            cores: 1,
            mode,
            variant: "",
            tie,
            metric: metric.to_owned(),
            unit,
            n: 0,
            sessions: 0,
            value: None,
            interval: None,
            uncertainty: None,
            verdict: "",
        }
    }

    /// A figure of another measurement, without value.
    #[must_use]
    pub fn of(measurement: Measurement, variant: &'static str, metric: &str, unit: &'static str) -> Self {
        Self { measurement, variant, ..Self::new("", "", metric, unit) }
    }
}
