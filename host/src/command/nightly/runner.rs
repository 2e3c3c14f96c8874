//! The night itself: what is done, in which order, and what the journal says of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::evidence::measured;
use super::folder::{NightFolder, sync_bundle, utc_now};
use super::plan::of_run;
use super::{outlook, require};
use crate::analysis::verdict::Outcome;
use crate::command::bench::Bench;
use crate::command::replay;
use crate::command::run::{self, Progress, Recorded, RunOf, record_run};
use crate::names::Measurement;
use crate::night::expected::{self, Taken};
use crate::night::journal::ImageHash;
use crate::night::judge::standing::ended;
use crate::night::judge::{self, DoneStep, Evidence, Measured, limits};
use crate::night::plan::{Hook, Measure, NamedImage};
use crate::night::{Entry, NightPlan, Step, names};
use crate::rig::hook::{self, HookError};
use crate::rig::image::Image;
use crate::rig::watch::Watch;

/// How often a step is tried.
const TRIES: u32 = 2;
/// What the golden image is called in a plan's hashes.
pub(super) const GOLDEN: &str = "golden";
/// What hooks wrote.
const HOOKS_LOG: &str = "hooks.log";

/// How a night ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All of its plan was done, or it ended before for this reason.
    Finished(String),
    /// It was interrupted, and can be resumed.
    Cut(String),
}

/// A night that goes on.
pub(super) struct Runner<'a> {
    pub(super) plan: &'a NightPlan,
    pub(super) bench: &'a Bench,
    pub(super) folder: NightFolder,
    pub(super) evidence: Evidence,
    pub(super) watch: &'a Watch,
    pub(super) progress: Progress,
    pub(super) began: Instant,
    /// What steps took in earlier nights.
    pub(super) taken: Taken,
}

impl Runner<'_> {
    /// Does what is left of the night, and runs the hook `after` however it ended.
    pub(super) fn run(&mut self) -> anyhow::Result<End> {
        let end = self.body();
        // It is needed most when the rest was interrupted: it has a deadline, and a second signal ends everything.
        let after = self.hook("after", self.plan.hooks.after.as_ref(), &Watch::new(), &[]);
        let end = end?;
        after?;
        if let End::Finished(why) = &end {
            self.folder.write(Entry::Finished { utc: utc_now(), why: why.clone() })?;
        }
        Ok(end)
    }

    fn body(&mut self) -> anyhow::Result<End> {
        let unmet = require::unmet(&self.plan.require, &self.folder.dir);
        if !unmet.is_empty() {
            return Ok(End::Finished(unmet.join("; ")));
        }
        if let Some(problem) = self.hook("before", self.plan.hooks.before.as_ref(), self.watch, &[])? {
            return Ok(self.cut().unwrap_or(End::Finished(format!("hook before: {problem}"))));
        }
        if let Some(end) = self.health()? {
            return Ok(end);
        }
        let most = self.plan.measures.iter().map(|measure| measure.most_sessions).max().unwrap_or(0);
        for round in 1..=most {
            for measure in &self.plan.measures {
                if let Some(end) = self.round(measure, round)? {
                    return Ok(end);
                }
            }
        }
        Ok(End::Finished(String::new()))
    }

    /// The reason to end before anything else is done, if there is one.
    fn cut(&self) -> Option<End> {
        self.watch.check().err().map(|halt| End::Cut(halt.to_string()))
    }

    /// One step of each image, then a look at what they came to.
    fn round(&mut self, measure: &Measure, round: u32) -> anyhow::Result<Option<End>> {
        if self.folder.journal.ended(&measure.name).is_some() {
            return Ok(None);
        }
        for image in &self.plan.images {
            let step = Step { measure: measure.name.clone(), image: image.name.clone(), round };
            if self.folder.journal.done(&step).is_some() {
                continue;
            }
            if let Some(why) = self.out_of_time() {
                return self.end_all(&why).map(Some);
            }
            if !self.folder.journal.given_up(&step) && self.step(measure, image, &step)? {
                continue;
            }
            if let Some(cut) = self.cut() {
                return Ok(Some(cut));
            }
            let why = format!("{step} failed {TRIES} times");
            self.end_measure(measure, why)?;
            return Ok(None);
        }
        self.look(measure, round)?;
        Ok(None)
    }

    fn look(&mut self, measure: &Measure, round: u32) -> anyhow::Result<()> {
        // A resumed night passes rounds that were looked at before it was cut.
        let later = self.folder.journal.entries.iter().any(|entry| {
            matches!(entry, Entry::Done { step, .. } if step.measure == measure.name && step.round > round)
        });
        if later || round < measure.sessions {
            return Ok(());
        }
        let entries = &self.folder.journal.entries;
        let result = judge::measure(&self.folder.record, measure, entries, &self.evidence);
        for one in &result.comparisons {
            let (new, base, verdict) = (&one.new, &one.base, one.verdict.name());
            let what = [one.variant.as_str(), &one.metric].join(" ");
            self.progress.line(&format!("{}: {new} with {base}: {} {verdict}", measure.name, what.trim()));
        }
        match ended(measure, round, &result) {
            Some(why) => self.end_measure(measure, why),
            None => Ok(()),
        }
    }

    fn end_measure(&mut self, measure: &Measure, why: String) -> anyhow::Result<()> {
        self.progress.line(&format!("{}: {why}", measure.name));
        self.folder.write(Entry::Ended { measure: measure.name.clone(), why })
    }

    /// The time is over for every measure that is not ended.
    fn end_all(&mut self, why: &str) -> anyhow::Result<End> {
        for measure in &self.plan.measures {
            if self.folder.journal.ended(&measure.name).is_none() {
                self.end_measure(measure, why.to_owned())?;
            }
        }
        Ok(End::Finished(why.to_owned()))
    }

    fn out_of_time(&self) -> Option<String> {
        let budget = self.plan.time_budget_s?;
        let over = self.began.elapsed() >= Duration::from_secs(budget);
        over.then(|| format!("the time budget of {} min is over", budget / 60))
    }

    /// Tries a step until it is done. Says whether it is.
    fn step(&mut self, measure: &Measure, image: &NamedImage, step: &Step) -> anyhow::Result<bool> {
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

    fn tell_step(&self, measure: &Measure, step: &Step) {
        let plan = self.plan;
        let mut taken = self.taken.clone();
        taken.extend(outlook::taken(&self.folder.journal));
        let left: Duration = plan
            .measures
            .iter()
            .filter(|one| self.folder.journal.ended(&one.name).is_none())
            .map(|one| {
                let done = self.folder.journal.entries.iter();
                let is_done =
                    |entry: &&Entry| matches!(entry, Entry::Done { step, .. } if step.measure == one.name);
                let done = done.filter(is_done).count() as u32;
                let planned = one.sessions.max(step.round) * plan.images.len() as u32;
                expected::step(one, &taken) * planned.saturating_sub(done)
            })
            .sum();
        let (round, sessions) = (step.round, measure.sessions.max(step.round));
        self.progress.line(&format!(
            "{}, {}: round {round} of {sessions}; {} left",
            step.measure,
            step.image,
            expected::about(left)
        ));
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
    fn health(&mut self) -> anyhow::Result<Option<End>> {
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

    /// Runs a hook, if there is one. Returns why it failed.
    fn hook(
        &mut self,
        name: &str,
        hook: Option<&Hook>,
        watch: &Watch,
        words: &[(&str, &str)],
    ) -> anyhow::Result<Option<String>> {
        let Some(hook) = hook else { return Ok(None) };
        self.progress.line(&format!("hook {name}: {}", hook.command.join(" ")));
        let log = self.folder.dir.join(HOOKS_LOG);
        let night = self.folder.dir.display().to_string();
        let mut surroundings = vec![("PPSRIG_HOOK", name), ("PPSRIG_NIGHT", &night)];
        surroundings.extend_from_slice(words);
        let allowed = Duration::from_secs(hook.deadline_s);
        let problem = match hook::run(&hook.command, allowed, &surroundings, &log, watch) {
            Ok(()) => String::new(),
            Err(HookError::Halt(halt)) => return Ok(Some(halt.to_string())),
            Err(error) => error.to_string(),
        };
        self.folder.write(Entry::Hook { name: name.to_owned(), problem: problem.clone() })?;
        if !problem.is_empty() {
            self.progress.line(&format!("hook {name} failed: {problem}"));
        }
        Ok(Some(problem).filter(|problem| !problem.is_empty()))
    }

    /// Names what a night that was cut left behind: the bundles of the step that it was at.
    pub(super) fn name_what_was_cut(&mut self) -> anyhow::Result<()> {
        for bundle in self.folder.unnamed() {
            let Some(step) = self.next_step() else { return Ok(()) };
            let reason = "it was cut with the night".to_owned();
            self.progress.line(&format!("{step}: {reason}; what it recorded stays in {bundle}"));
            self.folder.write(Entry::Failed { utc: utc_now(), step, bundle, reason, again: true })?;
        }
        Ok(())
    }

    /// The first step that is not done.
    fn next_step(&self) -> Option<Step> {
        let most = self.plan.measures.iter().map(|measure| measure.most_sessions).max()?;
        let journal = &self.folder.journal;
        (1..=most)
            .flat_map(|round| {
                let open = self
                    .plan
                    .measures
                    .iter()
                    .filter(move |one| journal.ended(&one.name).is_none() && round <= one.most_sessions);
                open.flat_map(move |measure| {
                    let step = move |image: &NamedImage| Step {
                        measure: measure.name.clone(),
                        image: image.name.clone(),
                        round,
                    };
                    self.plan.images.iter().map(step)
                })
            })
            .find(|step| journal.done(step).is_none())
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

/// Hashes of the images of a plan, in its order. Empty for one that the bench's bring-up makes.
pub(super) fn hashes(plan: &NightPlan, bench: &Bench) -> anyhow::Result<Vec<ImageHash>> {
    let mut files: Vec<(&str, Option<&Path>)> =
        plan.images.iter().map(|image| (image.name.as_str(), image.file.as_deref())).collect();
    files.extend(plan.health.iter().map(|health| (GOLDEN, health.image.as_deref())));
    let hash = |(name, file): (&str, Option<&Path>)| {
        let path = file.unwrap_or(&bench.declared.board.image);
        let sha256 = match path.starts_with("@run") {
            true => String::new(),
            false => Image::read(path).with_context(|| format!("image {name}"))?.sha256,
        };
        Ok(ImageHash { name: name.to_owned(), sha256 })
    };
    files.into_iter().map(hash).collect()
}
