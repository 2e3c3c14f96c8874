//! What a night comes to: what could not be done outweighs what is worse or beyond a limit, and that outweighs what has no verdict.

use super::super::result::{ComparisonResult, LimitResult, StepResult};
use super::super::{Entry, Night, NightRecord};
use crate::analysis::compare::Verdict as Compared;
use crate::analysis::verdict::{Outcome, Verdict};
use crate::night::result::counted;

pub(super) fn outcome(record: &NightRecord, entries: &[Entry], night: &Night) -> Verdict {
    let steps = || night.measures.iter().flat_map(|measure| &measure.steps);
    let all_unjudged = steps().next().is_some() && steps().all(|step| step.outcome == Outcome::Unjudged);
    let judged = night.measures.iter().any(|one| !one.comparisons.is_empty() || !one.limits.is_empty());
    let otherwise = if all_unjudged && !judged { Outcome::Unjudged } else { Outcome::Passed };
    let grades = [
        (Outcome::NotDone, not_done(entries, night)),
        (Outcome::Failed, failed(night)),
        (Outcome::Invalid, invalid(record, night)),
    ];
    let mut verdict = Verdict::graded(grades, otherwise, passed(night));
    verdict.reasons.extend(repeated(entries));
    verdict
}

fn passed(night: &Night) -> String {
    let runs: usize = night.measures.iter().map(|measure| measure.steps.len()).sum();
    let comparisons = || night.measures.iter().flat_map(|measure| &measure.comparisons);
    let limits: usize = night.measures.iter().map(|measure| measure.limits.len()).sum();
    let better = comparisons().filter(|one| one.verdict == Compared::Better).count();
    let compared = comparisons().count();
    let (runs, compared, limits) =
        (counted(runs, "run"), counted(compared, "comparison"), counted(limits, "limit"));
    format!("{runs}; {compared}, none worse and {better} better; {limits}, all kept")
}

fn not_done(entries: &[Entry], night: &Night) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(health) = night.health.as_ref().filter(|health| !health.well) {
        reasons.push(format!("the bench is sick: {}", health.reasons.join("; ")));
    }
    let finished = entries.iter().find_map(|entry| match entry {
        Entry::Finished { why, .. } => Some(why),
        _ => None,
    });
    // One that ended in order says so of each measure.
    let in_order = night.measures.iter().all(|measure| !measure.ended.is_empty());
    match finished {
        None => reasons.push("the night was cut; `ppsrig nightly PLAN --resume` goes on with it".to_owned()),
        Some(why) if !why.is_empty() && !in_order && reasons.is_empty() => reasons.push(why.clone()),
        Some(_) => {}
    }
    let began = entries.iter().rposition(|entry| matches!(entry, Entry::Began { .. })).unwrap_or(0);
    for (index, entry) in entries.iter().enumerate() {
        match entry {
            // What failed before a night was cut was done again when it went on.
            Entry::Hook { .. } if index < began => {}
            Entry::Hook { name, problem } if !problem.is_empty() && name != POWER_CYCLE => {
                let reason = format!("hook {name}: {problem}");
                if !reasons.iter().any(|told| told.contains(problem)) {
                    reasons.push(reason);
                }
            }
            Entry::Failed { step, reason, again: false, .. } => reasons.push(format!("{step}: {reason}")),
            _ => {}
        }
    }
    // A run that was taken for whole, and whose bundle is not.
    for step in night.measures.iter().flat_map(|measure| &measure.steps) {
        let is_it = |entry: &Entry| matches!(entry, Entry::Done { step: done, bundle, .. } if *done == step.step && *bundle == step.bundle);
        if step.outcome == Outcome::NotDone && entries.iter().any(is_it) {
            reasons.push(format!("{}: {}", step.step, step.reasons.join("; ")));
        }
    }
    reasons
}

/// The hook whose failure is a step's.
const POWER_CYCLE: &str = "power-cycle";

fn failed(night: &Night) -> Vec<String> {
    let mut reasons = Vec::new();
    for measure in &night.measures {
        let worse = measure.comparisons.iter().filter(|one| one.verdict == Compared::Worse);
        reasons.extend(worse.map(|one| format!("{}: {}", measure.name, told(one))));
        let limits = measure.limits.iter().filter(|one| one.outcome == Outcome::Failed);
        let told = |one: &LimitResult| {
            format!("{}: {}: {}; see {}", measure.name, limited(one), one.reason, one.bundle)
        };
        reasons.extend(limits.map(told));
        let steps = measure.steps.iter().filter(|step| step.outcome == Outcome::Failed);
        reasons.extend(
            steps.map(|step| format!("{}: {}; see {}", step.step, step.reasons.join("; "), step.bundle)),
        );
    }
    reasons
}

fn invalid(record: &NightRecord, night: &Night) -> Vec<String> {
    let mut reasons = Vec::new();
    for (measure, plan) in night.measures.iter().zip(&record.plan.measures) {
        let without = [Compared::NotResolvable, Compared::Invalid, Compared::NoVerdict];
        let open = measure.comparisons.iter().filter(|one| without.contains(&one.verdict));
        reasons.extend(open.map(|one| format!("{}: {}", measure.name, told(one))));
        let limits = measure.limits.iter().filter(|one| one.outcome == Outcome::Invalid);
        reasons.extend(limits.map(|one| format!("{}: {}: {}", measure.name, limited(one), one.reason)));
        let steps = measure.steps.iter().filter(|step| step.outcome == Outcome::Invalid);
        reasons.extend(steps.map(|step| format!("{}: {}", step.step, step.reasons.join("; "))));
        let rounds = record.plan.images.iter().map(|image| {
            let of = |step: &&StepResult| step.step.image == image.name && step.outcome != Outcome::NotDone;
            measure.steps.iter().filter(of).count()
        });
        let rounds = rounds.min().unwrap_or(0);
        if !measure.ended.is_empty() && rounds < plan.sessions as usize {
            let planned = plan.sessions;
            reasons.push(format!("{}: {rounds} of {planned} sessions: {}", measure.name, measure.ended));
        }
    }
    reasons
}

/// What a limit is asked of: the image and its build.
fn limited(one: &LimitResult) -> String {
    [one.image.as_str(), &one.variant].join(" ").trim().to_owned()
}

/// One comparison as a sentence with figures, its verdict among it.
fn told(one: &ComparisonResult) -> String {
    format!("{}: {}", one.verdict.name(), sentence(one))
}

/// One comparison as a sentence with figures.
#[must_use]
pub fn sentence(one: &ComparisonResult) -> String {
    let what: Vec<&str> =
        [one.variant.as_str(), &one.metric].into_iter().filter(|text| !text.is_empty()).collect();
    let what = if what.is_empty() { String::new() } else { format!(": {}", what.join(" ")) };
    let head = format!("{} with {}{what}", one.new, one.base);
    if !one.reason.is_empty() {
        return format!("{head}: {}", one.reason);
    }
    let unit = &one.unit;
    let change = match (&one.change, &one.base_value, &one.new_value) {
        (Some(change), Some(base), Some(new)) => {
            let factor = if one.is_factor() { "a factor of" } else { "a change of" };
            format!(": {base} to {new} {unit}, {factor} {change}")
        }
        _ => String::new(),
    };
    let interval = one.interval.as_ref().map(|(low, high)| format!(" ({low} to {high})")).unwrap_or_default();
    let factor = if one.is_factor() { "a factor of " } else { "" };
    let margin = one.margin.as_ref().map(|margin| format!(", margin {factor}{margin}")).unwrap_or_default();
    format!("{head}{change}{interval}{margin}")
}

/// Steps that went well the second time.
fn repeated(entries: &[Entry]) -> Vec<String> {
    let again = entries.iter().enumerate().filter_map(|(index, entry)| match entry {
        Entry::Failed { step, reason, again: true, .. } => {
            let is_it = |later: &Entry| matches!(later, Entry::Done { step: done, .. } if done == step);
            entries[index..].iter().any(is_it).then(|| format!("{step} was repeated: {reason}"))
        }
        _ => None,
    });
    again.collect()
}
