//! Reads a night's bundles, and copies what its baselines were recorded from into its folder, so that a night can be
//! computed again whatever becomes of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;

use super::folder::NightFolder;
use crate::analysis::compare::from_run::Run;
use crate::analysis::figure::Figure;
use crate::analysis::verdict::{Outcome, not_trusted};
use crate::analysis::{analyse, seconds};
use crate::bundle::{self, Contents};
use crate::night::journal::Journal;
use crate::night::judge::{Evidence, Measured};
use crate::night::plan::{Arm, Compare};
use crate::night::{Entry, NightFigure, NightPlan, names};

/// What was measured before a night, by the path that its plan names.
pub(super) type Baselines = BTreeMap<PathBuf, Vec<Measured>>;

/// Reads one run bundle.
pub(super) fn measured(dir: &Path) -> anyhow::Result<Measured> {
    let Contents { record, recording } = bundle::read(dir)?;
    let record =
        record.with_context(|| format!("{} has no run.toml, so it is no finished run", dir.display()))?;
    let analysis = analyse(&record, &recording, &seconds::recorded(&record, &recording));
    let started = record.provenance.started_utc.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond);
    let run = Run { record: &record, recording: &recording, analysis: &analysis, started, source: 0 };
    Ok(Measured {
        groups: run.groups(),
        outcome: analysis.verdict.outcome,
        reasons: analysis.verdict.reasons.clone(),
        figures: analysis.figures().map(figure).collect(),
        emulated: analysis.emulated,
        outage: analysis.edge.as_ref().and_then(|edge| not_trusted(&edge.edges)),
    })
}

fn figure(figure: &Figure) -> NightFigure {
    NightFigure {
        variant: figure.variant.to_owned(),
        mode: figure.mode.to_owned(),
        tie: figure.tie.to_owned(),
        metric: figure.metric.clone(),
        unit: figure.unit.to_string(),
        n: figure.n,
        value: figure.value,
        interval: figure.interval,
        uncertainty: figure.uncertainty,
    }
}

/// Reads everything that a night's result follows from. A bundle that cannot be read is none, and is named with its reason.
pub(super) fn evidence(dir: &Path, plan: &NightPlan, journal: &Journal) -> anyhow::Result<Evidence> {
    let mut evidence = Evidence { baselines: baselines(dir, plan)?, ..Evidence::default() };
    for entry in &journal.entries {
        let (Entry::Done { bundle, .. } | Entry::Health { bundle, .. }) = entry else { continue };
        if bundle.is_empty() || !dir.join(bundle).is_dir() {
            continue;
        }
        match measured(&dir.join(bundle)) {
            Ok(measured) => {
                evidence.bundles.insert(bundle.clone(), measured);
            }
            // A check that failed may have left no more than a beginning.
            Err(_) if matches!(entry, Entry::Health { .. }) => {}
            Err(error) => {
                // The same wherever the night's folder lies.
                let why = format!("{error:#}").replace(&format!("{}/", dir.display()), "");
                evidence.damaged.insert(bundle.clone(), why);
            }
        }
    }
    Ok(evidence)
}

/// The baselines of a plan, each once, in its order.
fn baseline_paths(plan: &NightPlan) -> Vec<&PathBuf> {
    let mut paths = Vec::new();
    let arms =
        plan.measures.iter().flat_map(|one| &one.compare).flat_map(|Compare { base, new }| [base, new]);
    for arm in arms {
        if let Arm::Baseline(path) = arm
            && !paths.contains(&path)
        {
            paths.push(path);
        }
    }
    paths
}

fn baselines(dir: &Path, plan: &NightPlan) -> anyhow::Result<Baselines> {
    let read = |(index, path): (usize, &PathBuf)| {
        let copied = dir.join(names::BASELINES).join((index + 1).to_string());
        let all = bundles_in(&copied).iter().map(|bundle| measured(bundle)).collect::<anyhow::Result<_>>()?;
        Ok((path.clone(), all))
    };
    baseline_paths(plan).into_iter().enumerate().map(read).collect()
}

/// Baselines where they lie, before a night has copies of them.
pub(super) fn original_baselines(plan: &NightPlan) -> anyhow::Result<Baselines> {
    let mut baselines = Baselines::new();
    for path in baseline_paths(plan) {
        let found = bundles_in(path);
        ensure!(
            !found.is_empty(),
            "baseline {}: no run bundle in it; give a bundle's folder, a folder of them, or a night's",
            path.display()
        );
        let all = found.iter().map(|bundle| {
            let read = measured(bundle).with_context(|| format!("baseline {}", bundle.display()))?;
            if read.outcome == Outcome::NotDone {
                let why = read.reasons.first().cloned().unwrap_or_default();
                bail!("baseline {}: {why}; keep only finished runs there", bundle.display());
            }
            Ok(read)
        });
        baselines.insert(path.clone(), all.collect::<anyhow::Result<_>>()?);
    }
    Ok(baselines)
}

/// Copies what every baseline was recorded from: run.toml and raw/ of its bundles.
pub(super) fn copy_baselines(dir: &Path, plan: &NightPlan) -> anyhow::Result<()> {
    for (index, path) in baseline_paths(plan).into_iter().enumerate() {
        let to = dir.join(names::BASELINES).join((index + 1).to_string());
        for bundle in bundles_in(path) {
            let name = bundle.file_name().unwrap_or_default();
            let (from, to) = (bundle.clone(), to.join(name));
            let copied = copy(&from, &to);
            copied.with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let raw = to.join(bundle::names::RAW);
    fs::create_dir_all(&raw)?;
    fs::copy(from.join(bundle::names::RUN), to.join(bundle::names::RUN))?;
    for file in fs::read_dir(from.join(bundle::names::RAW))? {
        let file = file?;
        fs::copy(file.path(), raw.join(file.file_name()))?;
    }
    Ok(())
}

/// Run bundles: the folder itself, those in it, or those of the night that it is.
fn bundles_in(path: &Path) -> Vec<PathBuf> {
    let is_bundle =
        |dir: &Path| dir.join(bundle::names::RAW).is_dir() && dir.join(bundle::names::RUN).is_file();
    if is_bundle(path) {
        return vec![path.to_owned()];
    }
    let night = path.join(names::RUNS);
    let folder = if night.is_dir() { &night } else { path };
    let mut found: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|dir| is_bundle(dir));
    found.sort();
    found
}

impl NightFolder {
    /// Everything that it holds.
    pub(super) fn evidence(&self) -> anyhow::Result<Evidence> {
        evidence(&self.dir, &self.record.plan, &self.journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/captures").join(name)
    }

    #[test]
    fn a_run_in_which_the_reference_was_lost_says_so() {
        let read = measured(&capture("synthetic-faults")).expect("it is a bundle");
        let told = "the reference could not be trusted all the time: 8 edges unlocked, 4 edges settling";
        assert_eq!(read.outage.as_deref(), Some(told));
        assert_eq!(measured(&capture("virtual-alternate")).expect("it is a bundle").outage, None);
    }

    #[test]
    fn what_a_bundle_gives_is_what_its_summary_says() {
        let read = measured(&capture("virtual-path-counted")).expect("it is a bundle");
        let summary = std::fs::read_to_string(capture("virtual-path-counted").join("summary.csv"));
        assert_eq!(read.figures.len(), summary.expect("it is there").lines().count() - 1);
        assert!(read.emulated && !read.groups.is_empty());
    }

    #[test]
    fn a_baseline_is_copied_with_what_it_was_recorded_from() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut plan = crate::night::testing::plan();
        let base = capture("virtual-path-counted");
        let new = Arm::Image("image".to_owned());
        plan.measures[0].compare = vec![Compare { base: Arm::Baseline(base.clone()), new }];
        let original = original_baselines(&plan).expect("it is a bundle");
        copy_baselines(folder.path(), &plan).expect("it fits");
        assert_eq!(baselines(folder.path(), &plan).expect("it was just copied"), original);
        plan.measures[0].compare[0].base = Arm::Baseline(folder.path().join("baselines"));
        let none = original_baselines(&plan).expect_err("there are folders of bundles, no bundles");
        assert!(none.to_string().contains("no run bundle in it"), "{none}");
    }

    #[test]
    fn a_bundle_without_its_record_is_named_with_its_reason() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bundle = folder.path().join("runs/1");
        std::fs::create_dir_all(&bundle).expect("it fits");
        copy(&capture("virtual-path-counted"), &bundle).expect("it fits");
        let step = crate::night::Step { measure: "path".to_owned(), image: "image".to_owned(), round: 1 };
        let done = Entry::Done { utc: String::new(), step, bundle: "runs/1".to_owned() };
        let journal = Journal { entries: vec![done], ..Journal::default() };
        let read =
            || evidence(folder.path(), &crate::night::testing::plan(), &journal).expect("it can be judged");
        assert!(read().bundles.contains_key("runs/1") && read().damaged.is_empty());
        std::fs::remove_file(bundle.join("run.toml")).expect("it is there");
        let why = read().damaged.get("runs/1").cloned();
        assert_eq!(why.as_deref(), Some("runs/1 has no run.toml, so it is no finished run"));
        assert!(read().bundles.is_empty());
    }
}
