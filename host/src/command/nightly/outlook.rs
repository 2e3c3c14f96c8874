//! What a plan can resolve, and how long it takes, by what was measured before: a baseline, or the last night of the plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::evidence::measured;
use crate::analysis::compare::difference::Moments;
use crate::analysis::compare::outlook::{Holding, outlook, resolvable};
use crate::analysis::compare::{Side, Source};
use crate::names::{Clock, Measurement};
use crate::night::expected::Taken;
use crate::night::journal::Journal;
use crate::night::judge::Measured;
use crate::night::judge::comparisons::share;
use crate::night::plan::{Arm, Compare, Measure};
use crate::night::{Entry, NightPlan, NightRecord};

/// An earlier night of the plan.
pub(super) type Earlier = (PathBuf, NightRecord, Journal);

/// How long a step of each measure took on average: from one line of the journal that has a time to the next.
pub(super) fn taken(journal: &Journal) -> Taken {
    let mut sums: BTreeMap<String, (Duration, u32)> = BTreeMap::new();
    let mut before: Option<Timestamp> = None;
    for entry in &journal.entries {
        let (utc, of) = match entry {
            Entry::Began { utc, .. } | Entry::Failed { utc, .. } | Entry::Finished { utc, .. } => (utc, None),
            Entry::Health { utc, .. } => (utc, Some(HEALTH)),
            Entry::Done { utc, step, .. } => (utc, Some(step.measure.as_str())),
            Entry::Hook { .. } | Entry::Ended { .. } => continue,
        };
        let at = utc.parse::<Timestamp>().ok();
        if let (Some(name), Some(from), Some(to)) = (of, before, at) {
            let sum = sums.entry(name.to_owned()).or_default();
            sum.0 += Duration::try_from(to.duration_since(from)).unwrap_or_default();
            sum.1 += 1;
        }
        before = at;
    }
    sums.into_iter().map(|(name, (sum, count))| (name, sum / count)).collect()
}

/// The name of the health check's measure.
const HEALTH: &str = "health";

/// The smallest difference that each comparison finds nine times in ten: a line each.
pub(super) fn resolvable_lines(
    plan: &NightPlan,
    baselines: &BTreeMap<PathBuf, Vec<Measured>>,
    earlier: Option<&Earlier>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for measure in &plan.measures {
        for compared in &measure.compare {
            let head = format!("{}: {} with {}", measure.name, compared.new.label(), compared.base.label());
            let told = told(plan, measure, compared, (baselines, earlier));
            lines.extend(told.into_iter().map(|told| format!("{head}: {told}")));
        }
    }
    lines
}

type Known<'a> = (&'a BTreeMap<PathBuf, Vec<Measured>>, Option<&'a Earlier>);

fn told(plan: &NightPlan, measure: &Measure, compared: &Compare, known: Known<'_>) -> Vec<String> {
    let counts_instructions = measure.clock == Clock::Exact && measure.measurement == Measurement::Path;
    if counts_instructions && measure.counter_hz == Some(1_000_000_000) {
        return vec!["one instruction, since counts are exact".to_owned()];
    }
    let side = side(measure, compared, known);
    let level = share(plan.alpha, measure);
    let holdings = outlook(&side.groups, level, measure.margin);
    let sessions = u64::from(measure.most_sessions);
    let of = |one: &Holding| {
        let moments = Moments { count: one.figure.1, mean: one.figure.0, variance: one.sd?.powi(2) };
        let least = resolvable(&moments, sessions, level / holdings.len().max(1) as f64, one.margin?)?;
        Some(format!("{}: {least:.3} {} with {sessions} sessions", one.key, one.unit))
    };
    let found: Vec<_> = holdings.iter().filter_map(of).collect();
    if found.is_empty() { vec!["unknown until three sessions".to_owned()] } else { found }
}

/// What is known of how sessions of the base differ: the baseline's, or those of the last night.
fn side(measure: &Measure, compared: &Compare, (baselines, earlier): Known<'_>) -> Side {
    let mut side = Side::default();
    let mut add = |measured: &Measured| side.add(Source::default(), measured.groups.clone());
    let image = match &compared.base {
        Arm::Baseline(path) => {
            baselines.get(path).into_iter().flatten().for_each(&mut add);
            None
        }
        Arm::Image(image) | Arm::Variant { image, .. } => Some(image),
    };
    if let (Some(image), Some((dir, _, journal))) = (image, earlier) {
        for entry in &journal.entries {
            let Entry::Done { step, bundle, .. } = entry else { continue };
            let of_base = step.measure == measure.name && step.image == *image;
            if of_base && let Ok(measured) = measured(&Path::new(dir).join(bundle)) {
                add(&measured);
            }
        }
    }
    let picked = compared.base.variant().or_else(|| compared.new.variant());
    side.groups.retain(|group| picked.is_none_or(|picked| group.key.variant == picked));
    side
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::night::Step;

    #[test]
    fn a_step_takes_from_the_line_before_to_its_own() {
        let at = |second: u32| format!("2026-12-01T01:00:{second:02}Z");
        let done = |second, measure: &str, round| Entry::Done {
            utc: at(second),
            step: Step { measure: measure.to_owned(), image: "image".to_owned(), round },
            bundle: String::new(),
        };
        let journal = Journal {
            entries: vec![
                Entry::Began { utc: at(0), resumed: false },
                Entry::Health { utc: at(4), bundle: String::new(), reasons: Vec::new() },
                Entry::Hook { name: "power-cycle".to_owned(), problem: String::new() },
                done(10, "path", 1),
                done(20, "path", 2),
                done(50, "edge", 2),
            ],
            ..Journal::default()
        };
        let taken: Vec<_> = taken(&journal).into_iter().map(|(name, time)| (name, time.as_secs())).collect();
        assert_eq!(taken, [("edge".to_owned(), 30), ("health".to_owned(), 4), ("path".to_owned(), 8)]);
    }
}
