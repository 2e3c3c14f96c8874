//! A night: the plan of unattended runs, the journal that it leaves while it goes on, and what it came to.
//!
//! Plain data beside [`plan`](crate::plan): `plan_file` reads the first, `command/nightly` writes the second, `report` shows
//! the third. A night is a folder `<UTC time>-<name>/`: `night.toml` ([`NightRecord`]) is written once, before anything is
//! done; `journal.log` ([`Entry`], one JSON object a line) grows as the night goes on; `runs/` holds a run bundle for each
//! step. Everything else there ([`outputs`]) follows from these three and can be computed again.

pub mod expected;
pub mod journal;
pub mod judge;
pub mod plan;
pub mod result;
pub mod sums;
#[cfg(test)]
pub(crate) mod testing;

pub use self::journal::{Entry, NightRecord, Step};
pub use self::plan::NightPlan;
pub use self::result::{Night, NightFigure};

/// Names in a night's folder.
pub mod names {
    /// The plan, the bench, versions and hashes, as they were when the night began.
    pub const NIGHT: &str = "night.toml";
    /// What was done, in order.
    pub const JOURNAL: &str = "journal.log";
    /// The run bundles of its steps.
    pub const RUNS: &str = "runs";
    /// Copies of what baselines were recorded from, a numbered folder for each.
    pub const BASELINES: &str = "baselines";
    /// The run bundles of its health checks.
    pub const HEALTH: &str = "health";
}

/// Files that follow from a night.
pub mod outputs {
    /// One line a figure of each step, then one a comparison and a limit.
    pub const SUMMARY: &str = "summary.csv";
    /// All of it for machines.
    pub const SUMMARY_JSON: &str = "summary.json";
    /// For a job's page.
    pub const MARKDOWN: &str = "summary.md";
    /// One case a measurement, build and limit.
    pub const JUNIT: &str = "junit.xml";
    /// For node_exporter's textfile collector and others.
    pub const METRICS: &str = "metrics.prom";
    /// For people.
    pub const HTML: &str = "report.html";
}
