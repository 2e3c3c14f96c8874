//! Whether more rounds could change what a measure comes to.

use super::super::plan::Measure;
use super::super::result::{LimitResult, MeasureResult};
use super::limits::is_of_one_session;
use crate::analysis::compare::Verdict;
use crate::analysis::verdict::Outcome;
use crate::names::Clock;

/// Where a measure stands after a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Every comparison has a verdict, and every limit is clear.
    Decided,
    /// More sessions may tell.
    Open,
    /// More sessions would tell nothing more: why.
    Cannot(String),
    /// There is nothing to decide: neither a comparison nor a limit.
    Nothing,
}

/// Where a measure stands.
#[must_use]
pub fn standing(measure: &Measure, result: &MeasureResult) -> Standing {
    if result.comparisons.is_empty() && result.limits.is_empty() {
        return Standing::Nothing;
    }
    let open = result.comparisons.iter().any(|one| one.verdict == Verdict::NotResolvable);
    if open || result.limits.iter().any(|limit| is_open(measure, limit)) {
        return Standing::Open;
    }
    let comparison = result.comparisons.iter().find_map(|one| match one.verdict {
        Verdict::Invalid | Verdict::NoVerdict => Some(one.reason.clone()),
        _ => None,
    });
    let limit = result.limits.iter().find_map(|limit| match limit.outcome {
        Outcome::Passed | Outcome::Failed => None,
        _ => Some(limit.reason.clone()),
    });
    comparison.or(limit).map_or(Standing::Decided, Standing::Cannot)
}

/// Whether the limit lies within what the mean may be. In exact mode a session says it; else it takes three to know. What one
/// session decides was exceeded or was not.
fn is_open(measure: &Measure, limit: &LimitResult) -> bool {
    if !matches!(limit.outcome, Outcome::Passed | Outcome::Failed)
        || is_of_one_session(&limit.metric, limit.at_most, limit.at_least)
    {
        return false;
    }
    match limit.interval {
        None => measure.clock == Clock::Live,
        Some((low, high)) => {
            let within =
                |edge: Option<f64>| edge.is_some_and(|edge| low.to_f64() <= edge && edge < high.to_f64());
            within(limit.at_most) || within(limit.at_least)
        }
    }
}

/// Whether a measure goes on no further after so many rounds, and why.
#[must_use]
pub fn ended(measure: &Measure, rounds: u32, result: &MeasureResult) -> Option<String> {
    if rounds < measure.sessions {
        return None;
    }
    let after = if rounds == 1 { "after 1 round".to_owned() } else { format!("after {rounds} rounds") };
    match standing(measure, result) {
        Standing::Decided if result.comparisons.is_empty() => Some(format!("done {after}")),
        Standing::Decided => Some(format!("decided {after}")),
        Standing::Nothing => Some(format!("nothing to decide; sessions done: {}", measure.sessions)),
        Standing::Cannot(why) => Some(format!("cannot be decided, {after}: {why}")),
        Standing::Open if rounds >= measure.most_sessions => {
            Some(format!("not decided {after}, which are the most that the plan allows"))
        }
        Standing::Open => None,
    }
}
