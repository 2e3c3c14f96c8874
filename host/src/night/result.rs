//! What a night came to: the tables that every report of a night shows, each in its own way.

use serde::Serialize;

use super::Step;
use crate::analysis::compare::Verdict;
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::names::Measurement;

/// A night.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Night {
    /// The plan's name.
    pub name: String,
    /// The bench's name.
    pub bench: String,
    /// File name of the plan.
    pub plan_file: String,
    /// Start, UTC, ISO 8601.
    pub started_utc: String,
    /// End, UTC; empty where it was cut.
    pub ended_utc: String,
    /// How often it went on after it was cut.
    pub resumed: u32,
    /// The night's seed.
    pub seed: u64,
    /// ppsrig's version and commit.
    pub ppsrig: String,
    /// Whether a board was emulated: every figure is then labelled.
    pub emulated: bool,
    /// What it comes to.
    pub outcome: Outcome,
    /// 0, 1, 2 or 3.
    pub exit: u8,
    /// Why, the decisive reasons first.
    pub reasons: Vec<String>,
    /// The images by name, with their hashes.
    pub images: Vec<(String, String)>,
    /// The health check, if there was one.
    pub health: Option<HealthResult>,
    /// What the plan measures, in its order.
    pub measures: Vec<MeasureResult>,
}

/// What became of the golden image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HealthResult {
    /// Whether the bench is well.
    pub well: bool,
    /// Why not.
    pub reasons: Vec<String>,
    /// Its bundle, relative to the night's folder.
    pub bundle: String,
    /// What it gave.
    pub figures: Vec<NightFigure>,
}

/// What became of one measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureResult {
    /// The plan's name for it.
    pub name: String,
    /// What was measured.
    pub measurement: Measurement,
    /// How time passed on the board: live or exact.
    pub clock: &'static str,
    /// Its runs, in the order in which they were done.
    pub steps: Vec<StepResult>,
    /// Its comparisons.
    pub comparisons: Vec<ComparisonResult>,
    /// Its limits.
    pub limits: Vec<LimitResult>,
    /// Why it went on no further; empty where the night was cut before.
    pub ended: String,
}

/// What became of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepResult {
    /// Which.
    pub step: Step,
    /// Its end, UTC.
    pub utc: String,
    /// Its bundle, relative to the night's folder; empty where none was made.
    pub bundle: String,
    /// What it comes to by itself.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<String>,
    /// Its figures.
    pub figures: Vec<NightFigure>,
}

/// One figure of a run, as in its summary.csv.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NightFigure {
    /// The build; else empty.
    pub variant: String,
    /// irq, poll; else empty.
    pub mode: String,
    /// How the latency is tied; else empty.
    pub tie: String,
    /// What it is.
    pub metric: String,
    /// The unit of all that follows.
    pub unit: String,
    /// What it was computed from.
    pub n: u64,
    /// The value.
    pub value: Option<Fixed>,
    /// Its 95 % interval.
    pub interval: Option<(Fixed, Fixed)>,
    /// Its systematic uncertainty.
    pub uncertainty: Option<Fixed>,
}

/// So many of something, in English.
#[must_use]
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The unit of a change that is new over base.
pub const FACTOR: &str = "factor";

/// One compared metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonResult {
    /// The base: an image, an image's build, or a baseline's name.
    pub base: String,
    /// What it is compared with.
    pub new: String,
    /// The build, or way of capture, that both are of; empty where each side picks its own.
    pub variant: String,
    /// As in summary.csv.
    pub metric: String,
    /// The unit of both values.
    pub unit: String,
    /// That of change, interval, margin and what can be found: the same, or [`FACTOR`] of a tail.
    pub change_unit: String,
    /// Sessions of the base and of the new side.
    pub sessions: (u64, u64),
    /// The base's value.
    pub base_value: Option<Fixed>,
    /// The new side's.
    pub new_value: Option<Fixed>,
    /// New less base, or new over base.
    pub change: Option<Fixed>,
    /// Its interval.
    pub interval: Option<(Fixed, Fixed)>,
    /// What a difference has to exceed.
    pub margin: Option<Fixed>,
    /// The smallest difference that so many sessions find nine times in ten.
    pub resolvable: Option<Fixed>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why there is no other verdict; empty where the figures say it.
    pub reason: String,
}

impl ComparisonResult {
    /// Whether change, interval, margin and what can be found are factors.
    #[must_use]
    pub fn is_factor(&self) -> bool {
        self.change_unit == FACTOR
    }

    /// How far apart both sides are, whichever way.
    #[must_use]
    pub fn distance(&self) -> Option<Fixed> {
        self.change.map(|change| Fixed { scaled: change.scaled.abs(), ..change })
    }
}

/// One limit, for one image and build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitResult {
    /// The image.
    pub image: String,
    /// The build; else empty.
    pub variant: String,
    /// As in summary.csv.
    pub metric: String,
    /// The unit of all that follows.
    pub unit: String,
    /// The limits.
    pub at_most: Option<f64>,
    /// The limits.
    pub at_least: Option<f64>,
    /// The mean over the sessions; of `max`, `bias_bound` and counts of what must not happen the largest session's, of `min`
    /// the smallest's.
    pub value: Option<Fixed>,
    /// The mean's interval.
    pub interval: Option<(Fixed, Fixed)>,
    /// Passed, failed, or no verdict.
    pub outcome: Outcome,
    /// Why, as a sentence with figures.
    pub reason: String,
    /// Where to look: the bundle, relative to the night's folder, whose value is worst.
    pub bundle: String,
}
