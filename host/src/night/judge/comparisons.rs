//! A night's comparisons: each side's sessions from as many runs, compared as `ppsrig compare` does, with a share of alpha.
//!
//! After each round from `sessions` on the runner looks, and ends the measure once all is decided: with up to
//! `most-sessions - sessions + 1` looks and several comparisons, one of them would be wrong by chance more often than alpha says.
//! So each look at each comparison gets alpha divided by looks and by comparisons (Bonferroni): whatever the looks have in
//! common, and whichever of them ends the measure, the chance of any false alarm of a measure in a night stays below alpha.
//! Within one comparison Holm shares it among the metrics.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{DoneStep, Measured};
use crate::analysis::compare::group::{Group, Quantity, Values};
use crate::analysis::compare::row::Row;
use crate::analysis::compare::{Options, Side, Source, Verdict, compare};
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::night::plan::{Arm, Compare, Measure};
use crate::night::result::{ComparisonResult, FACTOR};

/// Rounds after which a measure is looked at.
#[must_use]
pub fn looks(measure: &Measure) -> u32 {
    measure.most_sessions.saturating_sub(measure.sessions) + 1
}

/// The share of alpha of one look at one comparison.
#[must_use]
pub fn share(alpha: f64, measure: &Measure) -> f64 {
    alpha / f64::from(looks(measure)) / measure.compare.len().max(1) as f64
}

/// All comparisons of a measure, of what was done of it.
#[must_use]
pub fn all(
    alpha: f64,
    measure: &Measure,
    done: &[DoneStep<'_>],
    baselines: &BTreeMap<PathBuf, Vec<Measured>>,
) -> Vec<ComparisonResult> {
    let options = Options { alpha: share(alpha, measure), margin_ns: measure.margin };
    measure.compare.iter().flat_map(|one| results(one, &options, done, baselines)).collect()
}

fn results(
    compared: &Compare,
    options: &Options,
    done: &[DoneStep<'_>],
    baselines: &BTreeMap<PathBuf, Vec<Measured>>,
) -> Vec<ComparisonResult> {
    let side = |arm: &Arm| side(arm, compared, done, baselines);
    let (base, new) = (side(&compared.base), side(&compared.new));
    let doubt = doubt(compared, done);
    let found = compare(&base, &new, options);
    if found.rows.is_empty() {
        let why = match (base.groups.is_empty(), new.groups.is_empty()) {
            (true, _) => format!("no session of {}", compared.base.label()),
            (_, true) => format!("no session of {}", compared.new.label()),
            _ => found.left_out.join("; "),
        };
        return vec![nothing(compared, doubt.unwrap_or(why))];
    }
    found.rows.iter().map(|row| result(compared, row, doubt.as_deref())).collect()
}

/// Why nothing of a side's runs can be judged, however its figures look: the reference was not trusted all the time.
fn doubt(compared: &Compare, done: &[DoneStep<'_>]) -> Option<String> {
    let images = [compared.base.image(), compared.new.image()];
    done.iter().filter(|one| images.contains(&Some(&one.step.image))).find_map(|one| {
        let outage = one.measured.outage.as_ref()?;
        Some(format!("{}: {outage}", one.bundle))
    })
}

/// What one arm holds; a build that the other side picks is picked of a baseline too.
fn side(
    arm: &Arm,
    compared: &Compare,
    done: &[DoneStep<'_>],
    baselines: &BTreeMap<PathBuf, Vec<Measured>>,
) -> Side {
    let picked = arm.variant();
    let kept = picked.or_else(|| arm.image().is_none().then(|| compared.new.variant()).flatten());
    let mut side = Side::default();
    let mut add = |name: &str, number: u32, measured: &Measured| {
        // A run that was not done holds sessions of which nobody knows whether they are whole.
        if measured.outcome == Outcome::NotDone {
            return;
        }
        let index = side.sources.len();
        let groups = measured.groups.iter().filter(|group| kept.is_none_or(|kept| group.key.variant == kept));
        let groups = groups.map(|group| numbered(group, index, number)).collect();
        let emulated = Some(measured.emulated);
        let source = Source {
            name: name.to_owned(),
            kind: "bundle",
            fingerprint: name.to_owned(),
            emulated,
            ..Source::default()
        };
        side.add(source, groups);
    };
    match arm {
        Arm::Baseline(path) => {
            for (index, measured) in baselines.get(path).into_iter().flatten().enumerate() {
                add(&format!("{} {}", path.display(), index + 1), index as u32 + 1, measured);
            }
        }
        Arm::Image(image) | Arm::Variant { image, .. } => {
            for one in done.iter().filter(|one| one.step.image == *image) {
                add(one.bundle, one.step.round, one.measured);
            }
        }
    }
    side.picked = picked.map(str::to_owned);
    side
}

/// The group as the part of a side: each run has one session, which is called by its round.
fn numbered(group: &Group, source: usize, round: u32) -> Group {
    let mut group = group.clone();
    if let Values::Sessions(sessions) = &mut group.values {
        let several = sessions.len() > 1;
        for session in sessions {
            session.source = source;
            session.number = if several { session.number } else { round };
        }
    }
    group
}

fn nothing(compared: &Compare, reason: String) -> ComparisonResult {
    ComparisonResult {
        base: compared.base.label(),
        new: compared.new.label(),
        variant: String::new(),
        metric: String::new(),
        unit: String::new(),
        change_unit: String::new(),
        sessions: (0, 0),
        base_value: None,
        new_value: None,
        change: None,
        interval: None,
        margin: None,
        resolvable: None,
        verdict: Verdict::NoVerdict,
        reason,
    }
}

fn result(compared: &Compare, row: &Row, doubt: Option<&str>) -> ComparisonResult {
    let counted = matches!(row.key.quantity, Quantity::Instructions | Quantity::Violations);
    let fixed = |value: f64| Fixed::rounded(value, if counted && value.fract() == 0.0 { 0 } else { 3 });
    let of_build = [row.key.variant.as_str(), &row.key.tie];
    let of_build: Vec<&str> = of_build.into_iter().filter(|part| !part.is_empty()).collect();
    let (verdict, reason) = match doubt {
        Some(doubt) => (Verdict::Invalid, doubt.to_owned()),
        None => (row.verdict, row.reason.clone()),
    };
    ComparisonResult {
        base: compared.base.label(),
        new: compared.new.label(),
        variant: if row.against.is_some() { String::new() } else { of_build.join(" ") },
        metric: row.metric.to_owned(),
        unit: row.unit.clone(),
        change_unit: if row.is_tail() { FACTOR.to_owned() } else { row.unit.clone() },
        sessions: (row.base.sessions, row.new.sessions),
        base_value: fixed(row.base.value),
        new_value: fixed(row.new.value),
        change: if row.is_tail() { row.ratio } else { row.change }.and_then(fixed),
        interval: row.interval.and_then(|(low, high)| Some((fixed(low)?, fixed(high)?))),
        margin: row.margin.and_then(fixed),
        resolvable: row.resolvable.and_then(|found| fixed(found.nine_in_ten)),
        verdict,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::compare::row::{Figure, Resolvable};
    use crate::analysis::compare::testing::key;

    #[test]
    fn a_tails_change_is_a_factor_as_its_interval_and_margin_are() {
        let side = |value| Figure { value, sd: None, uncertainty: None, sessions: 3, n: 1_000 };
        let row = |metric| Row {
            key: key(),
            against: None,
            metric,
            unit: "per million".to_owned(),
            about: None,
            higher_is_better: false,
            emulated: Some(false),
            base: side(2.0),
            new: side(5.0),
            change: Some(3.0),
            ratio: Some(2.5),
            interval: Some((2.0, 3.1)),
            level: Some(0.01),
            margin: Some(1.25),
            p_value: None,
            design: None,
            resolvable: Some(Resolvable { nine_in_ten: 1.5, every_other: 1.4 }),
            within: None,
            verdict: Verdict::Worse,
            reason: String::new(),
        };
        let arm = |name: &str| Arm::Image(name.to_owned());
        let compared = Compare { base: arm("before"), new: arm("after") };
        let of = |metric| {
            let one = result(&compared, &row(metric), None);
            (one.change.unwrap().to_string(), one.change_unit.clone(), one.unit)
        };
        let per_million = || "per million".to_owned();
        assert_eq!(of("tail_share"), ("2.500".to_owned(), FACTOR.to_owned(), per_million()));
        assert_eq!(of("mean"), ("3.000".to_owned(), per_million(), per_million()));
    }
}
