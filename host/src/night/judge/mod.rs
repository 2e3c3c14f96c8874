//! What a night came to: a pure function of night.toml, the journal and the bundles, so that `ppsrig replay` says the same
//! again. `comparisons` and `limits` judge what there is, `standing` says whether more rounds could change it, `outcome` what it
//! all comes to; who reads bundles is `command/nightly`.
//!
//! The runner asks the same functions after each round: nothing can end a night early that its report does not show.

pub mod comparisons;
pub mod limits;
mod outcome;
#[cfg(test)]
mod simulation;
pub mod standing;
#[cfg(test)]
mod tests;

pub use self::outcome::sentence;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::plan::Measure;
use super::result::{HealthResult, MeasureResult, StepResult};
use super::{Entry, Night, NightFigure, NightRecord, Step};
use crate::analysis::compare::group::Group;
use crate::analysis::verdict::Outcome;

/// What a bundle holds, as far as a night needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What the run comes to by itself.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<String>,
    /// Its figures.
    pub figures: Vec<NightFigure>,
    /// Its sessions, for comparisons.
    pub groups: Vec<Group>,
    /// Whether its board was emulated.
    pub emulated: bool,
    /// Why its edges have no verdict though they could be counted: the reference could not be trusted all the time.
    pub outage: Option<String>,
}

/// What was read of a night's bundles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Whole bundles by their names in the night's folder, those of health checks too.
    pub bundles: BTreeMap<String, Measured>,
    /// Why others cannot be read.
    pub damaged: BTreeMap<String, String>,
    /// What was measured before the night, by the path that the plan names.
    pub baselines: BTreeMap<PathBuf, Vec<Measured>>,
}

/// A step that is done.
#[derive(Clone, Copy, Debug)]
pub struct DoneStep<'a> {
    /// Which.
    pub step: &'a Step,
    /// Its bundle, relative to the night's folder.
    pub bundle: &'a str,
    /// What it holds.
    pub measured: &'a Measured,
}

/// The night, as far as it went.
#[must_use]
pub fn judge(record: &NightRecord, entries: &[Entry], evidence: &Evidence) -> Night {
    let measures: Vec<MeasureResult> =
        record.plan.measures.iter().map(|one| measure(record, one, entries, evidence)).collect();
    let ended_utc = entries.iter().rev().find_map(|entry| match entry {
        Entry::Finished { utc, .. } => Some(utc.clone()),
        _ => None,
    });
    let resumed = entries.iter().filter(|entry| matches!(entry, Entry::Began { resumed: true, .. })).count();
    let emulated = evidence.bundles.values().any(|one| one.emulated) || record.bench.board.emulated;
    let mut night = Night {
        name: record.plan.name.clone(),
        bench: record.plan.bench.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        plan_file: record.plan_file.clone(),
        started_utc: record.started_utc.clone(),
        ended_utc: ended_utc.unwrap_or_default(),
        resumed: u32::try_from(resumed).unwrap_or(u32::MAX),
        seed: record.seed,
        ppsrig: format!("{} ({})", record.ppsrig_version, record.ppsrig_commit),
        emulated,
        outcome: Outcome::NotDone,
        exit: Outcome::NotDone.exit(),
        reasons: Vec::new(),
        images: record.images.iter().map(|image| (image.name.clone(), image.sha256.clone())).collect(),
        health: health(entries, evidence),
        measures,
    };
    let verdict = outcome::outcome(record, entries, &night);
    night.outcome = verdict.outcome;
    night.exit = verdict.outcome.exit();
    night.reasons = verdict.reasons;
    // A night that ended before its measures did, ended them.
    let why = entries.iter().find_map(|entry| match entry {
        Entry::Finished { why, .. } => why.split([';', '\n']).next(),
        _ => None,
    });
    for measure in night.measures.iter_mut().filter(|measure| measure.ended.is_empty()) {
        measure.ended = why.unwrap_or_default().to_owned();
    }
    night
}

/// The last health check.
fn health(entries: &[Entry], evidence: &Evidence) -> Option<HealthResult> {
    entries.iter().rev().find_map(|entry| match entry {
        Entry::Health { bundle, reasons, .. } => Some(HealthResult {
            well: reasons.is_empty(),
            reasons: reasons.clone(),
            bundle: bundle.clone(),
            figures: evidence.bundles.get(bundle).map(|one| one.figures.clone()).unwrap_or_default(),
        }),
        _ => None,
    })
}

/// One measure, as far as it went.
#[must_use]
pub fn measure(
    record: &NightRecord,
    measure: &Measure,
    entries: &[Entry],
    evidence: &Evidence,
) -> MeasureResult {
    let done = done_steps(measure, entries, evidence);
    let ended = entries.iter().find_map(|entry| match entry {
        Entry::Ended { measure: name, why } if *name == measure.name => Some(why.clone()),
        _ => None,
    });
    MeasureResult {
        name: measure.name.clone(),
        measurement: measure.measurement,
        clock: measure.clock.name(),
        steps: entries.iter().filter_map(|entry| step(measure, entry, evidence)).collect(),
        comparisons: comparisons::all(record.plan.alpha, measure, &done, &evidence.baselines),
        limits: limits::all(measure, &record.plan.images, &done),
        ended: ended.unwrap_or_default(),
    }
}

/// The steps of a measure whose bundles are whole, in the order in which they were done.
#[must_use]
pub fn done_steps<'a>(measure: &Measure, entries: &'a [Entry], evidence: &'a Evidence) -> Vec<DoneStep<'a>> {
    let of = |entry: &'a Entry| match entry {
        Entry::Done { step, bundle, .. } if step.measure == measure.name => {
            Some(DoneStep { step, bundle, measured: evidence.bundles.get(bundle)? })
        }
        _ => None,
    };
    entries.iter().filter_map(of).collect()
}

fn step(measure: &Measure, entry: &Entry, evidence: &Evidence) -> Option<StepResult> {
    match entry {
        Entry::Done { utc, step, bundle } if step.measure == measure.name => {
            let measured = evidence.bundles.get(bundle);
            let why = || format!("{bundle} is not there any more");
            let gone = || vec![evidence.damaged.get(bundle).cloned().unwrap_or_else(why)];
            Some(StepResult {
                step: step.clone(),
                utc: utc.clone(),
                bundle: bundle.clone(),
                outcome: measured.map_or(Outcome::NotDone, |one| one.outcome),
                reasons: measured.map_or_else(gone, |one| one.reasons.clone()),
                figures: measured.map(|one| one.figures.clone()).unwrap_or_default(),
            })
        }
        Entry::Failed { utc, step, bundle, reason, .. } if step.measure == measure.name => Some(StepResult {
            step: step.clone(),
            utc: utc.clone(),
            bundle: bundle.clone(),
            outcome: Outcome::NotDone,
            reasons: vec![reason.clone()],
            figures: Vec::new(),
        }),
        _ => None,
    }
}
