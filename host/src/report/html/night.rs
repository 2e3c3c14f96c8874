//! `report.html` of a night: what to act on first, then what shows why.

use maud::{Markup, html};

use super::page::{Cell, facts, link, page, shown, table};
use super::plot;
use super::run::{emulated_label, exit_words, outcome_class};
use crate::analysis::compare::Verdict;
use crate::analysis::picture::margin::against_margin;
use crate::analysis::picture::sessions::{Given, sessions};
use crate::analysis::verdict::Outcome;
use crate::night::result::{
    ComparisonResult, HealthResult, LimitResult, MeasureResult, NightFigure, StepResult,
};
use crate::night::{Night, NightRecord};
use crate::report::REPORT;

/// The page of a night.
#[must_use]
pub fn night(record: &NightRecord, night: &Night) -> String {
    let body = html! {
        (verdict(night))
        (act(night))
        h2 { "Health of the bench" }
        (health(night.health.as_ref()))
        @for measure in &night.measures { (of_measure(measure, night.emulated)) }
        h2 { "Provenance" }
        (provenance(record, night))
    };
    page(&format!("ppsrig night: {} on {}", night.name, night.bench), body)
}

fn verdict(night: &Night) -> Markup {
    html! {
        section class={ "verdict " (outcome_class(night.outcome)) } aria-label="verdict" {
            p { "Verdict: " (night.outcome) }
            @if !night.reasons.is_empty() { ul { @for reason in &night.reasons { li { (shown(reason)) } } } }
            p class="quiet" { "Exit status " (night.exit) ": " (exit_words(night.exit)) "." }
            @if night.emulated { (emulated_label()) }
        }
        p class="quiet" {
            "From " (shown(&night.started_utc)) " to "
            @if night.ended_utc.is_empty() { "an end that was never reached: the night was cut" } @else { (shown(&night.ended_utc)) }
            @match night.resumed { 0 => ".", 1 => "; it was cut and went on once.", times => { "; it was cut and went on " (times) " times." } }
        }
    }
}

/// A bundle's own page.
fn of_bundle(bundle: &str, text: &str) -> Markup {
    match bundle {
        "" => html! { (shown(text)) },
        bundle => link(&format!("{bundle}/{REPORT}"), text),
    }
}

/// What to act on, the gravest first: a sick bench before anything that it measured.
fn act(night: &Night) -> Markup {
    let sick = night.health.iter().filter(|health| !health.well);
    let measures = || night.measures.iter();
    let worse = measures().flat_map(|measure| {
        let worse = measure.comparisons.iter().filter(|one| one.verdict == Verdict::Worse);
        worse.map(move |one| worse_sentence(measure, one))
    });
    let limits = measures().flat_map(|measure| {
        let exceeded = measure.limits.iter().filter(|limit| limit.outcome == Outcome::Failed);
        exceeded.map(move |limit| limit_sentence(measure, limit))
    });
    let steps = measures().flat_map(|measure| {
        let failed =
            measure.steps.iter().filter(|step| matches!(step.outcome, Outcome::NotDone | Outcome::Failed));
        failed.map(|step| step_sentence(measure, step))
    });
    let sick = sick.map(|health| html! {
        "The bench is sick: " (shown(&health.reasons.join("; "))) ". What it measured says nothing about the images. "
        (of_bundle(&health.bundle, "Look at the health check"))
    });
    let all: Vec<Markup> = sick.chain(worse).chain(limits).chain(steps.take(STEPS)).collect();
    html! {
        h2 { "What to act on" }
        @if all.is_empty() { p { "Nothing: no comparison says worse, no limit was exceeded, no step failed." } }
        @else { ol { @for one in all { li { (one) } } } }
    }
}

/// Failed steps that are told first; all are in the tables.
const STEPS: usize = 10;

fn worse_sentence(measure: &MeasureResult, one: &ComparisonResult) -> Markup {
    let known = |value: Option<crate::analysis::fixed::Fixed>| {
        value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
    };
    let step = measure.steps.iter().rev().find(|step| step.step.image == one.new && !step.bundle.is_empty());
    html! {
        (shown(&measure.name)) ": " (shown(&one.metric)) " of " (shown(&one.new)) " " (shown(&one.variant)) " is worse than of "
        (shown(&one.base)) " by " (known(one.change)) " " (shown(&one.unit)) "; the margin is " (known(one.margin)) ". "
        @if let Some(step) = step { (of_bundle(&step.bundle, "Look at its last run")) }
    }
}

fn limit_sentence(measure: &MeasureResult, limit: &LimitResult) -> Markup {
    html! { (shown(&measure.name)) ", " (shown(&limit.image)) ": " (shown(&limit.reason)) ". " (of_bundle(&limit.bundle, "Look at its worst run")) }
}

fn step_sentence(measure: &MeasureResult, step: &StepResult) -> Markup {
    html! {
        (shown(&measure.name)) ", " (shown(&step.step.image)) ", round " (step.step.round) " " (step.outcome) ": "
        (shown(&step.reasons.join("; "))) ". " (of_bundle(&step.bundle, "Look at the run"))
    }
}

fn health(health: Option<&HealthResult>) -> Markup {
    let Some(health) = health else {
        return html! { p { "Not checked: the plan has no [health]. A sick bench cannot be told from a slower image." } };
    };
    let (class, word) = if health.well { ("good", "well") } else { ("bad", "sick") };
    html! {
        p { "The bench is " span class={ "word " (class) } { (word) } ", by its golden image. " (of_bundle(&health.bundle, "Its run")) "." }
        @if !health.reasons.is_empty() { ul { @for reason in &health.reasons { li { (shown(reason)) } } } }
        @if !health.figures.is_empty() { (figures("What the golden image gave", &health.figures)) }
    }
}

fn figures(label: &str, figures: &[NightFigure]) -> Markup {
    let row = |figure: &NightFigure| {
        vec![
            Cell::text(named(&[&figure.variant, &figure.mode, &figure.tie])),
            Cell::text(&figure.metric),
            Cell::number(figure.value),
            Cell::number(figure.interval.map(|(low, _)| low)),
            Cell::number(figure.interval.map(|(_, high)| high)),
            Cell::number(figure.uncertainty),
            Cell::text(&figure.unit),
            Cell::number(Some(figure.n)),
        ]
    };
    let header = ["of", "figure", ">value", ">95 % from", ">to", ">U", "unit", ">n"];
    table(label, &header, figures.iter().map(row).collect())
}

fn named(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

fn of_measure(measure: &MeasureResult, emulated: bool) -> Markup {
    html! {
        h2 { (shown(&measure.name)) @if emulated { " " span class="label" { "emulated" } } }
        p { (measure.measurement) ", " (measure.clock) " clock, " (measure.steps.len()) " steps. "
            @if !measure.ended.is_empty() { "It ended: " (shown(&measure.ended)) "." } }
        h3 { "Comparisons" }
        @if measure.comparisons.is_empty() { p { "The plan compares nothing here." } } @else { (comparisons(measure)) }
        h3 { "Limits" }
        @if measure.limits.is_empty() { p { "The plan limits nothing here." } } @else { (limits(measure)) }
        h3 { "Sessions" }
        (courses(measure))
        (steps(measure))
    }
}

const fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better | Verdict::Equivalent => "good",
        Verdict::Worse => "bad",
        Verdict::NotResolvable | Verdict::Invalid | Verdict::NoVerdict => "open",
    }
}

fn word(class: &str, word: &str) -> Cell {
    Cell::markup(html! { span class={ "word " (class) } { (shown(word)) } })
}

fn comparisons(measure: &MeasureResult) -> Markup {
    let row = |one: &ComparisonResult| {
        vec![
            Cell::text(named(&[&one.new, &one.variant, "against", &one.base])),
            Cell::text(&one.metric),
            word(verdict_class(one.verdict), one.verdict.name()),
            drawn(one),
            Cell::number(one.base_value),
            Cell::number(one.new_value),
            Cell::number(one.change),
            Cell::number(one.interval.map(|(low, high)| format!("{low} to {high}"))),
            Cell::number(one.margin),
            Cell::number(one.resolvable),
            Cell::text(&one.unit),
            Cell::number(Some(format!("{} + {}", one.sessions.0, one.sessions.1))),
            Cell::wide(&one.reason),
        ]
    };
    let header = [
        "new against base",
        "figure",
        "verdict",
        "interval on the margin",
        ">base",
        ">new",
        ">change",
        ">interval",
        ">margin",
        ">resolves",
        "unit",
        ">sessions",
        "why",
    ];
    html! {
        (table(&format!("{}: comparisons", measure.name), &header, measure.comparisons.iter().map(row).collect()))
        p class="good-one" { "A good one: the bar, which is the interval of the difference, lies wholly within the shaded margin around the line of no difference. Wholly outside is better or worse; across its end the sessions do not tell." }
    }
}

/// A tail is compared by a factor.
fn drawn(one: &ComparisonResult) -> Cell {
    let factor = one.metric.starts_with("tail");
    let picture =
        one.interval.zip(one.margin).and_then(|(interval, margin)| against_margin(interval, margin, factor));
    let says = match one.interval {
        Some((low, high)) => format!("interval {low} to {high} against the margin"),
        None => String::new(),
    };
    Cell::markup(picture.map_or_else(|| html! {}, |picture| plot::night::against_margin(&picture, &says)))
}

fn limits(measure: &MeasureResult) -> Markup {
    let row = |limit: &LimitResult| {
        vec![
            Cell::text(named(&[&limit.image, &limit.variant])),
            Cell::text(&limit.metric),
            word(outcome_class(limit.outcome), &limit.outcome.to_string()),
            Cell::number(limit.value),
            Cell::number(limit.interval.map(|(low, high)| format!("{low} to {high}"))),
            Cell::number(limit.at_least),
            Cell::number(limit.at_most),
            Cell::text(&limit.unit),
            Cell::wide(&limit.reason),
            Cell::markup(of_bundle(&limit.bundle, if limit.bundle.is_empty() { "" } else { "worst run" })),
        ]
    };
    let header = [
        "image",
        "figure",
        "outcome",
        ">value",
        ">interval",
        ">at least",
        ">at most",
        "unit",
        "why",
        "look at",
    ];
    table(&format!("{}: limits", measure.name), &header, measure.limits.iter().map(row).collect())
}

/// Figures that are drawn over the night, by which a measurement is compared.
const DRAWN: [&str; 3] = ["mean", "instructions", "operations"];

fn courses(measure: &MeasureResult) -> Markup {
    let failed: Vec<usize> =
        numbered(measure).filter(|(_, step)| step.outcome == Outcome::NotDone).map(|(at, _)| at).collect();
    let picture = |metric: &&'static str| {
        let figures = numbered(measure).flat_map(|(at, step)| {
            let of_metric = step.figures.iter().filter(|figure| figure.metric == *metric);
            of_metric.filter_map(move |figure| given(at, step, figure))
        });
        let unit = unit(measure, metric);
        let title = format!("{metric}, {unit}");
        let picture = sessions(&title, &figures.collect::<Vec<_>>(), measure.steps.len(), &failed)?;
        let title = format!("{}: {metric} of each session", measure.name);
        Some(plot::night::sessions(&title, &picture, SESSIONS))
    };
    let pictures: Vec<Markup> = DRAWN.iter().filter_map(picture).collect();
    html! { @if pictures.is_empty() { p { "No session gave a figure that could be drawn." } } @for picture in pictures { (picture) } }
}

const SESSIONS: &str = "each image's points lie on a level line, as far apart as their intervals. All images moving \
    together is the bench; one image apart from the others is the image.";

/// Steps with their places, from 1.
fn numbered(measure: &MeasureResult) -> impl Iterator<Item = (usize, &StepResult)> {
    measure.steps.iter().enumerate().map(|(index, step)| (index + 1, step))
}

fn given(at: usize, step: &StepResult, figure: &NightFigure) -> Option<Given> {
    let name = named(&[&step.step.image, &figure.variant, &figure.mode, &figure.tie]);
    Some((at, name, figure.value?, figure.interval))
}

fn unit<'a>(measure: &'a MeasureResult, metric: &str) -> &'a str {
    let mut figures = measure.steps.iter().flat_map(|step| &step.figures);
    figures.find(|figure| figure.metric == metric).map_or("", |figure| figure.unit.as_str())
}

fn steps(measure: &MeasureResult) -> Markup {
    let row = |(at, step): (usize, &StepResult)| {
        vec![
            Cell::text(at.to_string()),
            Cell::text(&step.step.image),
            Cell::number(Some(step.step.round)),
            word(outcome_class(step.outcome), &step.outcome.to_string()),
            Cell::text(&step.utc),
            Cell::wide(step.reasons.join("; ")),
            Cell::markup(of_bundle(
                &step.bundle,
                &if step.bundle.is_empty() { String::new() } else { format!("run of step {at}") },
            )),
        ]
    };
    let header = ["step", "image", ">round", "outcome", "ended", "why", "look at"];
    table(
        &format!("{}: steps in order; one that stands twice was repeated", measure.name),
        &header,
        numbered(measure).map(row).collect(),
    )
}

fn provenance(record: &NightRecord, night: &Night) -> Markup {
    let images = night.images.iter().map(|(name, sha256)| format!("{name} sha256 {sha256}"));
    let mut rows = vec![
        ("plan", format!("{}, sha256 {}", record.plan_file, record.plan_sha256)),
        ("bench", night.bench.clone()),
        ("ppsrig", night.ppsrig.clone()),
        ("seed", night.seed.to_string()),
        ("alpha", record.plan.alpha.to_string()),
    ];
    rows.extend(images.map(|image| ("image", image)));
    rows.extend(record.plan.time_budget_s.map(|budget| ("time budget", format!("{budget} s"))));
    rows.push(("made from", "night.toml, journal.log and the run bundles of this folder; `ppsrig replay` makes the same page again".to_owned()));
    facts(&rows)
}

#[cfg(test)]
mod tests;
