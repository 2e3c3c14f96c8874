//! Small plans for tests.

use ppsrig_wire::{ClockId, EdgeMode};

use super::NightPlan;
use super::plan::{Hooks, Measure, NamedImage, Require};
use crate::names::{Clock, Measurement};

/// One image, one measure of `path`, three sessions.
pub(crate) fn plan() -> NightPlan {
    NightPlan {
        name: "small".to_owned(),
        bench: "/lab/bench.toml".into(),
        seed: Some(1),
        time_budget_s: None,
        alpha: 0.01,
        images: vec![NamedImage { name: "image".to_owned(), file: None }],
        require: Require::default(),
        health: None,
        hooks: Hooks::default(),
        measures: vec![measure(Measurement::Path)],
    }
}

/// A measure named as what it measures.
pub(crate) fn measure(measurement: Measurement) -> Measure {
    Measure {
        name: measurement.name().to_owned(),
        measurement,
        clock: Clock::Live,
        counter_hz: None,
        clock_id: ClockId::Realtime,
        variants: Vec::new(),
        edges: 100,
        rate_millihertz: 10_000,
        mode: EdgeMode::Irq,
        width_ms: None,
        iterations: 1_000_000,
        dither: true,
        cores: 1,
        operations: 10_000_000,
        scenario: None,
        sessions: 3,
        most_sessions: 3,
        margin: None,
        compare: Vec::new(),
        limits: Vec::new(),
    }
}
