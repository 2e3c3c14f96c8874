//! junit.xml of a night: a suite for the night itself (whether it could be done, and whether the bench is well), then one a
//! measure with a case for each image and build, each limit, and each comparison.

use std::time::Duration;

use super::{Case, Finding, Suite, command, report};
use crate::analysis::compare::Verdict;
use crate::analysis::verdict::Outcome;
use crate::night::judge::comparisons::share;
use crate::night::result::{
    ComparisonResult, HealthResult, LimitResult, MeasureResult, NightFigure, StepResult,
};
use crate::night::sums::{SessionMean, seconds_between, session_means, step_seconds, total};
use crate::night::{Night, NightRecord};
use crate::report::night::words::{
    back_online, comparison, figure_line, joined, limit_name, steps_of, was_repeated,
};

/// The file.
#[must_use]
pub fn night(record: &NightRecord, night: &Night) -> String {
    let mut suites = vec![itself(record, night)];
    suites.extend(night.measures.iter().map(|measure| Of { record, night, measure }.suite()));
    let took = seconds_between(&night.started_utc, &night.ended_utc).map(Duration::from_secs);
    report(&format!("ppsrig {}", night.name), took, suites)
}

fn itself(record: &NightRecord, night: &Night) -> Suite {
    let mut cases = vec![done(night)];
    cases.extend(night.health.as_ref().map(|one| health(record, night, one)));
    if night.health.is_none() && record.plan.health.is_some() {
        cases.push(Case::new("health", Finding::Skipped("the golden image was not measured".to_owned())));
    }
    Suite {
        name: night.name.clone(),
        started_utc: night.started_utc.clone(),
        properties: properties(night),
        cases,
    }
}

fn properties(night: &Night) -> Vec<(&'static str, String)> {
    let images = night.images.iter().map(|(name, sha256)| ("image_sha256", format!("{name}: {sha256}")));
    let own = [
        ("bench", night.bench.clone()),
        ("plan", night.plan_file.clone()),
        ("emulated", night.emulated.to_string()),
        ("seed", night.seed.to_string()),
        ("ppsrig", night.ppsrig.clone()),
        ("outcome", night.outcome.name().to_owned()),
    ];
    own.into_iter().chain(images).collect()
}

/// Whether the night could be done: an error with every reason where not.
fn done(night: &Night) -> Case {
    let told = night.reasons.join("\n");
    let finding = match night.outcome {
        Outcome::NotDone => {
            let first = night.reasons.first().cloned();
            let message = first.unwrap_or_else(|| "the night could not be done".to_owned());
            let look = "where to look: journal.log beside this file";
            Finding::Error("not-done", message, format!("{told}\n{look}"))
        }
        _ => Finding::Passed(told),
    };
    Case::new("night done", finding)
}

fn health(record: &NightRecord, night: &Night, health: &HealthResult) -> Case {
    let figures: Vec<String> = health.figures.iter().map(|one| figure_line(one, night.emulated)).collect();
    let text = [health.reasons.join("\n"), figures.join("\n"), look(&health.bundle)].join("\n");
    let finding = match health.well {
        true => Finding::Passed(text),
        false => {
            let message = format!("the bench is sick: {}", health.reasons.join("; "));
            let back = format!("after repair: {}", back_online(record));
            Finding::Error("sick-bench", message, format!("{text}\n{back}"))
        }
    };
    Case::new("health", finding)
}

/// One measure of a night.
struct Of<'a> {
    record: &'a NightRecord,
    night: &'a Night,
    measure: &'a MeasureResult,
}

impl Of<'_> {
    fn suite(&self) -> Suite {
        let mut cases = self.measured();
        cases.extend(self.measure.limits.iter().map(|one| self.limit(one)));
        cases.extend(self.measure.comparisons.iter().map(|one| self.comparison(one)));
        let mut properties = properties(self.night);
        properties.push(("clock", self.measure.clock.to_owned()));
        properties.push(("measurement", self.measure.measurement.to_string()));
        properties.push(("ended", self.measure.ended.clone()));
        Suite {
            name: format!("{}.{}", self.night.name, self.measure.name),
            started_utc: self.night.started_utc.clone(),
            properties,
            cases,
        }
    }

    /// A case an image; where there are figures of several builds, one a build.
    fn measured(&self) -> Vec<Case> {
        let means = session_means(self.measure);
        let images = self.record.plan.images.iter().map(|image| image.name.as_str());
        images.flat_map(|image| self.of_image(image, &means)).collect()
    }

    fn of_image(&self, image: &str, means: &[SessionMean]) -> Vec<Case> {
        let steps: Vec<&StepResult> =
            self.measure.steps.iter().filter(|step| step.step.image == image).collect();
        let mut builds: Vec<(String, Vec<String>)> = Vec::new();
        for mean in means.iter().filter(|mean| mean.image == image && !is_of_ledger(&mean.figure)) {
            let build = joined([&mean.figure.variant, &mean.figure.mode, &mean.figure.tie]);
            let line = figure_line(&mean.figure, self.night.emulated);
            match builds.iter_mut().find(|(known, _)| *known == build) {
                Some((_, lines)) => lines.push(line),
                None if build.is_empty() => {}
                None => builds.push((build, vec![line])),
            }
        }
        if builds.is_empty() {
            builds.push(Default::default());
        }
        let took = steps.iter().filter_map(|step| step_seconds(self.night, step)).map(Duration::from_secs);
        let mut seconds = Some(total(took));
        let case = |(build, lines): (String, Vec<String>)| {
            let case = Case::new(joined(["measured", image, &build]), self.judged(&steps, &lines));
            // One run measures all builds, so its time is told once.
            Case { seconds: seconds.take(), ..case }
        };
        builds.into_iter().map(case).collect()
    }

    fn judged(&self, steps: &[&StepResult], lines: &[String]) -> Finding {
        let of = |outcome: Outcome| steps.iter().find(move |step| step.outcome == outcome);
        let worst = [Outcome::Failed, Outcome::NotDone, Outcome::Invalid, Outcome::Unjudged];
        let Some(step) = worst.into_iter().find_map(of).or(steps.last()) else {
            let why =
                if self.measure.ended.is_empty() { "no run of it was done" } else { &self.measure.ended };
            return Finding::Skipped(why.to_owned());
        };
        let message = format!("{}: round {}", step.reasons.join("; "), step.step.round);
        let text = [step.reasons.join("\n"), lines.join("\n"), look(&step.bundle)].join("\n");
        match step.outcome {
            Outcome::Passed => Finding::Passed(text),
            Outcome::Failed => Finding::Failed("limit-of-the-bench", message, text),
            Outcome::NotDone if was_repeated(self.measure, step) => Finding::Passed(text),
            Outcome::NotDone => Finding::Error("not-done", message, text),
            Outcome::Invalid | Outcome::Unjudged => Finding::Skipped(step.reasons.join("; ")),
        }
    }

    fn limit(&self, limit: &LimitResult) -> Case {
        let value = limit.value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
        let interval =
            limit.interval.map(|(low, high)| format!(", 95 % {low} to {high}")).unwrap_or_default();
        let emulated = if self.night.emulated { ", emulated" } else { "" };
        let figures = format!("{}: {value} {}{interval}{emulated}", limit.metric, limit.unit);
        let text = [limit.reason.clone(), figures, look(&limit.bundle)].join("\n");
        let finding = match limit.outcome {
            Outcome::Passed => Finding::Passed(text),
            Outcome::Failed => Finding::Failed("limit", limit.reason.clone(), text),
            Outcome::NotDone => Finding::Error("not-done", limit.reason.clone(), text),
            Outcome::Invalid | Outcome::Unjudged => Finding::Skipped(limit.reason.clone()),
        };
        Case::new(limit_name(limit), finding)
    }

    fn comparison(&self, one: &ComparisonResult) -> Case {
        let told = comparison(one, self.night.emulated);
        let text = format!("{told}\n{}", self.look_at_both(one));
        let finding = match one.verdict {
            Verdict::Better | Verdict::Equivalent => Finding::Passed(text),
            Verdict::Worse => Finding::Failed("worse", told, text),
            Verdict::NotResolvable | Verdict::Invalid | Verdict::NoVerdict => Finding::Skipped(told),
        };
        let what = joined([&one.variant, &one.metric]);
        let name = format!("compare {what}: {} with {}", one.new, one.base);
        Case::new(name, finding)
    }

    /// The bundles of both sides, and the command that compares them again: the same builds, at the same level, by the same margin.
    fn look_at_both(&self, one: &ComparisonResult) -> String {
        let (base, new) = (inputs(self.measure, &one.base), inputs(self.measure, &one.new));
        let last = |side: &str| {
            let step = steps_of(self.measure, side).last();
            step.map_or_else(|| side.to_owned(), |step| step.bundle.clone())
        };
        let look = format!("where to look: {} and {}", last(&one.base), last(&one.new));
        let plan = self.record.plan.measures.iter().find(|plan| plan.name == self.measure.name);
        let Some(plan) = plan.filter(|_| !base.is_empty() && !new.is_empty() && base != new) else {
            return look;
        };
        let mut options = vec!["--alpha".to_owned(), share(self.record.plan.alpha, plan).to_string()];
        options
            .extend(plan.margin.into_iter().flat_map(|margin| ["--margin".to_owned(), margin.to_string()]));
        let with = ["--with".to_owned()];
        let parts = base.iter().chain(&with).chain(&new).chain(&options).map(String::as_str);
        format!(
            "{look}\nagain, in the night's folder: {}",
            command(["ppsrig", "compare"].into_iter().chain(parts))
        )
    }
}

/// What `ppsrig compare` takes for one side: its bundles, with the build that it picks.
fn inputs(measure: &MeasureResult, side: &str) -> Vec<String> {
    let input = |step: &StepResult| {
        let build = side.strip_prefix(step.step.image.as_str()).unwrap_or_default();
        format!("{}{build}", step.bundle)
    };
    steps_of(measure, side).map(input).collect()
}

fn is_of_ledger(figure: &NightFigure) -> bool {
    ["ledger_", "counter_rate", "probe_transactions"].iter().any(|name| figure.metric.starts_with(name))
}

/// Where to look, and how to compute it again.
fn look(bundle: &str) -> String {
    match bundle {
        "" => "where to look: journal.log beside this file".to_owned(),
        bundle => format!(
            "where to look: {bundle} (report.html, summary.csv)\nagain, in the night's folder: {}",
            command(["ppsrig", "replay", bundle])
        ),
    }
}
