//! The night itself: what is done, in which order, and what the journal says of it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::folder::{NightFolder, utc_now};
use super::{outlook, require};
use crate::command::bench::Bench;
use crate::command::run::Progress;
use crate::night::expected::{self, Taken};
use crate::night::journal::ImageHash;
use crate::night::judge::standing::ended;
use crate::night::judge::{self, Evidence};
use crate::night::plan::{Hook, Measure, NamedImage};
use crate::night::{Entry, NightPlan, Step};
use crate::rig::hook::{self, HookError};
use crate::rig::image::Image;
use crate::rig::watch::Watch;

/// How often a step is tried.
pub(super) const TRIES: u32 = 2;
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

    /// Ends it before anything is done.
    pub(super) fn refuse(&mut self, why: String) -> anyhow::Result<End> {
        self.folder.write(Entry::Finished { utc: utc_now(), why: why.clone() })?;
        Ok(End::Finished(why))
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
    pub(super) fn cut(&self) -> Option<End> {
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

    pub(super) fn tell_step(&self, measure: &Measure, step: &Step) {
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

    /// Runs a hook, if there is one. Returns why it failed.
    pub(super) fn hook(
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
