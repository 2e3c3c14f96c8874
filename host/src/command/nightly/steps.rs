//! One run of a night: its bundle recorded and replayed, tried once more where it failed; and the golden image's.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::evidence::measured;
use super::folder::{sync_bundle, utc_now};
use super::plan::of_run;
use super::runner::{End, GOLDEN, Runner, TRIES};
use crate::analysis::verdict::Outcome;
use crate::command::replay;
use crate::command::run::{self, Recorded, RunOf, record_run};
use crate::names::Measurement;
use crate::night::judge::{DoneStep, Measured, limits};
use crate::night::plan::{Measure, NamedImage};
use crate::night::{Entry, Step, names};
use crate::rig::image::Image;

impl Runner<'_> {
    /// Tries a step until it is done. Says whether it is.
    pub(super) fn step(
        &mut self,
        measure: &Measure,
        image: &NamedImage,
        step: &Step,
    ) -> anyhow::Result<bool> {
        for attempt in 1..=TRIES {
            self.tell_step(measure, step);
            let file = image.file.as_deref();
            let trace = step.round == 1 && measure.measurement == Measurement::Path;
            let seed = step_seed(self.folder.record.seed, step);
            let words = [("PPSRIG_MEASURE", step.measure.as_str()), ("PPSRIG_IMAGE_NAME", &step.image)];
            let tried = match self.power_cycle(&words)? {
                Some(problem) => Tried { bundle: None, result: Err(format!("hook power-cycle: {problem}")) },
                None => self.record(measure, (file, &step.image), (seed, trace), names::RUNS)?,
            };
            let bundle = tried.bundle.as_deref().map(|dir| self.folder.relative(dir)).unwrap_or_default();
            let reason = match tried.result {
                Ok(measured) => {
                    sync_bundle(tried.bundle.as_deref().unwrap_or(Path::new("")))?;
                    self.evidence.bundles.insert(bundle.clone(), measured);
                    self.folder.write(Entry::Done { utc: utc_now(), step: step.clone(), bundle })?;
                    return Ok(true);
                }
                Err(reason) => reason,
            };
            let halted = self.watch.check().is_err();
            let again = halted || attempt < TRIES;
            let next = if again && !halted { "; it is tried once more" } else { "" };
            self.progress.line(&format!("{step} failed: {reason}{next}"));
            self.folder.write(Entry::Failed { utc: utc_now(), step: step.clone(), bundle, reason, again })?;
            if halted {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn power_cycle(&mut self, words: &[(&str, &str)]) -> anyhow::Result<Option<String>> {
        self.hook("power-cycle", self.plan.hooks.power_cycle.as_ref(), self.watch, words)
    }

    /// Records and replays one run. An inner error is one of this run; an outer one ends the night.
    fn record(
        &mut self,
        measure: &Measure,
        (file, image): (Option<&Path>, &str),
        (seed, trace): (u64, bool),
        folder: &str,
    ) -> anyhow::Result<Tried> {
        let failed = |error: anyhow::Error| format!("{error:#}");
        let (plan, bench) = match of_run(measure, seed, self.bench) {
            Ok(made) => made,
            Err(error) => return Ok(Tried { bundle: None, result: Err(failed(error)) }),
        };
        if let Err(error) = self.unchanged(file, image) {
            return Ok(Tried { bundle: None, result: Err(failed(error)) });
        }
        let out = self.folder.dir.join(folder);
        let what = RunOf { bench: &bench, image: file, plan: &plan, trace, out: &out };
        let Recorded { dir, ended } = record_run(&what, &mut self.progress, self.watch)?;
        let result = self.replayed(&dir, ended).map_err(failed);
        Ok(Tried { bundle: Some(dir), result })
    }

    fn replayed(&self, dir: &Path, ended: anyhow::Result<()>) -> anyhow::Result<Measured> {
        let replayed = replay::finish(dir, None, false);
        ended?;
        replayed?;
        let measured = measured(dir)?;
        ensure!(measured.outcome != Outcome::NotDone, "{}", measured.reasons.join("; "));
        Ok(measured)
    }

    /// Refuses an image that is another one than when the night began: its figures would be compared with those of the first.
    fn unchanged(&self, file: Option<&Path>, name: &str) -> anyhow::Result<()> {
        let known = self.folder.record.images.iter().find(|image| image.name == name);
        let path = file.unwrap_or(&self.bench.declared.board.image);
        let Some(known) = known.filter(|known| !known.sha256.is_empty()) else { return Ok(()) };
        let now = Image::read(path)?.sha256;
        ensure!(
            now == known.sha256,
            "image {name}, {}, is another one than when the night began; build it elsewhere, or begin a new night",
            path.display()
        );
        Ok(())
    }

    /// Measures the golden image. What it says ends the night if the bench is sick.
    pub(super) fn health(&mut self) -> anyhow::Result<Option<End>> {
        let Some(health) = &self.plan.health else { return Ok(None) };
        self.progress.line("health: the golden image");
        let golden = Step { measure: "health".to_owned(), image: GOLDEN.to_owned(), round: 1 };
        let seed = step_seed(self.folder.record.seed, &golden);
        let tried = match self.power_cycle(&[("PPSRIG_MEASURE", "health"), ("PPSRIG_IMAGE_NAME", GOLDEN)])? {
            Some(problem) => Tried { bundle: None, result: Err(format!("hook power-cycle: {problem}")) },
            None => {
                self.record(&health.measure, (health.image.as_deref(), GOLDEN), (seed, false), names::HEALTH)?
            }
        };
        if let Some(cut) = self.cut() {
            return Ok(Some(cut));
        }
        let bundle = tried.bundle.as_deref().map(|dir| self.folder.relative(dir)).unwrap_or_default();
        let reasons = match tried.result {
            Ok(measured) => {
                let reasons = sick(&health.measure, &bundle, &measured);
                sync_bundle(tried.bundle.as_deref().unwrap_or(Path::new("")))?;
                self.evidence.bundles.insert(bundle.clone(), measured);
                reasons
            }
            Err(reason) => vec![reason],
        };
        let told = reasons.join("; ");
        self.folder.write(Entry::Health { utc: utc_now(), bundle, reasons })?;
        if told.is_empty() {
            self.progress.line("health: the bench is well");
            return Ok(None);
        }
        self.progress.line(&format!("health: the bench is sick: {told}"));
        self.bench
            .set_offline(&format!("the golden image: {told}"), &self.folder.dir.display().to_string())?;
        let back = format!("ppsrig check {} --back-online", self.bench.file.display());
        self.progress.line(&format!("the bench is offline from now on; once it is mended: {back}"));
        Ok(Some(End::Finished(format!("the bench is sick: {told}; once it is mended: {back}"))))
    }
}

/// One try of a step.
struct Tried {
    bundle: Option<PathBuf>,
    result: Result<Measured, String>,
}

/// Why the bench is sick, by what its golden image gave; empty if it is well.
fn sick(measure: &Measure, bundle: &str, measured: &Measured) -> Vec<String> {
    let mut reasons = Vec::new();
    if matches!(measured.outcome, Outcome::Failed | Outcome::Invalid) {
        reasons.extend(measured.reasons.iter().cloned());
    }
    let golden = NamedImage { name: GOLDEN.to_owned(), file: None };
    let step = Step { measure: measure.name.clone(), image: golden.name.clone(), round: 1 };
    let done = [DoneStep { step: &step, bundle, measured }];
    let results = limits::all(measure, &[golden], &done);
    let broken = results.into_iter().filter(|one| matches!(one.outcome, Outcome::Failed | Outcome::Invalid));
    reasons.extend(broken.map(|one| format!("{} {}", one.variant, one.reason).trim().to_owned()));
    reasons
}

/// The run seed of a step: SplitMix64 of the night's seed, the round, the measure and the image, so that sessions differ, and a
/// step that is repeated is the same again. Below 2^63, which is what TOML holds.
fn step_seed(night: u64, step: &Step) -> u64 {
    run::session_seed(night, step.round, &format!("{}/{}", step.measure, step.image)) >> 1
}
