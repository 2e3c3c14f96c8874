//! The history as three tables, for whoever wants to compute with it.

use crate::history::query::{FigureOfRun, NightRow, Run};
use crate::report::csv_files::table;

const NIGHT_COLUMNS: [&str; 9] =
    ["folder", "plan", "bench", "started_utc", "outcome", "exit", "reasons", "health", "problem"];
const RUN_COLUMNS: [&str; 16] = [
    "folder",
    "night",
    "measure",
    "image",
    "image_sha256",
    "bench",
    "measurements",
    "started_utc",
    "status",
    "outcome",
    "exit",
    "reason",
    "emulated",
    "clock",
    "seed",
    "problem",
];
const FIGURE_COLUMNS: [&str; 27] = [
    "run",
    "night",
    "plan",
    "bench",
    "measure",
    "image",
    "image_sha256",
    "started_utc",
    "emulated",
    "clock",
    "trusted",
    "measurement",
    "variant",
    "clock_id",
    "cores",
    "mode",
    "tie",
    "rate_hz",
    "metric",
    "unit",
    "n",
    "sessions",
    "value",
    "ci95_low",
    "ci95_high",
    "u_systematic",
    "verdict",
];

/// Nights, runs and figures, each with the name of its file.
#[must_use]
pub fn tables(nights: &[NightRow], runs: &[Run], figures: &[FigureOfRun]) -> [(&'static str, String); 3] {
    [
        ("nights.csv", table(&NIGHT_COLUMNS, nights.iter().map(night))),
        ("runs.csv", table(&RUN_COLUMNS, runs.iter().map(run))),
        ("figures.csv", table(&FIGURE_COLUMNS, figures.iter().map(figure))),
    ]
}

fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn night(of: &NightRow) -> [String; NIGHT_COLUMNS.len()] {
    let one = of.clone();
    [
        one.folder,
        one.plan,
        one.bench,
        one.started_utc,
        one.outcome,
        known(one.exit),
        one.reasons.join("; "),
        one.health,
        one.problem,
    ]
}

fn run(of: &Run) -> [String; RUN_COLUMNS.len()] {
    let one = of.clone();
    [
        one.folder,
        one.night,
        one.measure,
        one.image,
        one.image_sha256,
        one.bench,
        one.measurements,
        one.started_utc,
        one.status,
        one.outcome,
        known(one.exit),
        one.reason,
        known(one.emulated),
        one.clock,
        one.seed,
        one.problem,
    ]
}

fn figure(of: &FigureOfRun) -> [String; FIGURE_COLUMNS.len()] {
    let one = of.clone();
    [
        one.run,
        one.night,
        one.plan,
        one.bench,
        one.measure,
        one.image,
        one.image_sha256,
        one.started_utc,
        known(one.emulated),
        one.clock,
        one.trusted.to_string(),
        one.measurement,
        one.variant,
        one.clock_id,
        one.cores,
        one.mode,
        one.tie,
        one.rate_hz,
        one.metric,
        one.unit,
        one.n.to_string(),
        one.sessions.to_string(),
        known(one.value),
        known(one.ci95_low),
        known(one.ci95_high),
        known(one.u_systematic),
        one.verdict,
    ]
}
