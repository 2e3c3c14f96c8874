//! `report.html` of a night: what to act on first, then what shows why.

use maud::{Markup, html};

use super::page::{Cell, facts, link, page, shown, table, table_of_filled};
use super::plot;
use super::run::{emulated_label, exit_words, outcome_class};
use crate::analysis::compare::Verdict;
use crate::analysis::picture::margin::against_margin;
use crate::analysis::picture::sessions::{Given, sessions};
use crate::analysis::verdict::Outcome;
use crate::night::result::{ComparisonResult, LimitResult, MeasureResult, NightFigure, StepResult, counted};
use crate::night::{Night, NightRecord};
use crate::report::REPORT;
use crate::report::night::words::{
    amount, amounts, back_online, factors, first_line, of_whole_night, steps_of, was_repeated,
};

/// The page of a night.
#[must_use]
pub fn night(record: &NightRecord, night: &Night) -> String {
    let body = html! {
        (verdict(night))
        (act(record, night))
        h2 { "Health of the bench" }
        (health(record, night))
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
            @if night.outcome == Outcome::NotDone {
                // In full below, with what to do.
                @if let Some(reason) = night.reasons.first() { p { (shown(first_line(reason))) } }
            } @else if !night.reasons.is_empty() { ul { @for reason in &night.reasons { li { (shown(reason)) } } } }
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

/// A bundle's own page; nothing where there is no bundle.
fn of_bundle(bundle: &str, text: &str) -> Markup {
    match bundle {
        "" => html! {},
        bundle => link(&format!("{bundle}/{REPORT}"), text),
    }
}

/// A text that ends as a sentence does.
fn full_stop(text: &str) -> String {
    let text = shown(text.trim_end());
    if text.ends_with(['.', '?', '!']) { text } else { format!("{text}.") }
}

/// What to act on, the gravest first: a sick bench before anything that it measured, then what kept the night from being done.
fn act(record: &NightRecord, night: &Night) -> Markup {
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
        let failed = measure.steps.iter().filter(|step| {
            matches!(step.outcome, Outcome::NotDone | Outcome::Failed) && !was_repeated(measure, step)
        });
        failed.map(|step| step_sentence(measure, step))
    });
    let sick = sick.map(|health| html! {
        (full_stop(&format!("The bench is sick: {}", health.reasons.join("; "))))
        " What it measured says nothing about the images. Once it is mended: " code { (shown(&back_online(record))) } " "
        (of_bundle(&health.bundle, "Look at the health check"))
    });
    // Its last word may be a command's.
    let whole = of_whole_night(night).map(|reason| html! { (shown(reason)) });
    let all: Vec<Markup> = sick.chain(whole).chain(worse).chain(limits).chain(steps.take(STEPS)).collect();
    html! {
        h2 { "What to act on" }
        @if all.is_empty() { p { "Nothing: no comparison says worse, no limit was exceeded, no step failed." } }
        @else { ol { @for one in all { li { (one) } } } }
    }
}

/// Failed steps that are told first; all are in the tables.
const STEPS: usize = 10;

fn worse_sentence(measure: &MeasureResult, one: &ComparisonResult) -> Markup {
    let known = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    let factor = if one.is_factor() { "a factor of " } else { "" };
    // How far apart, whichever way is worse.
    let change = one.distance().map(|distance| distance.to_string());
    let unit =
        if one.is_factor() || one.unit == one.metric { String::new() } else { format!(" {}", one.unit) };
    let margin = known(one.margin.map(|margin| margin.to_string()));
    // The side names the build that it picks.
    let of = |side: &str| match side.ends_with(&format!(":{}", one.variant)) {
        true => side.to_owned(),
        false => named(&[side, &one.variant]),
    };
    let (is, than) = if one.metric.ends_with('s') { ("are", "than those of") } else { ("is", "than of") };
    let sentence = format!(
        "{}: {} of {} {is} worse {than} {} by {factor}{}{unit}; the margin is {factor}{margin}. ",
        measure.name,
        one.metric,
        of(&one.new),
        one.base,
        known(change)
    );
    html! {
        (shown(&sentence))
        @if let Some(step) = steps_of(measure, &one.new).last() { (of_bundle(&step.bundle, "Look at its last run")) }
    }
}

fn limit_sentence(measure: &MeasureResult, limit: &LimitResult) -> Markup {
    html! {
        (full_stop(&format!("{}, {}: {}", measure.name, named(&[&limit.image, &limit.variant]), limit.reason))) " "
        (of_bundle(&limit.bundle, "Look at its worst run"))
    }
}

fn step_sentence(measure: &MeasureResult, step: &StepResult) -> Markup {
    let (name, image, round) = (&measure.name, &step.step.image, step.step.round);
    html! {
        (full_stop(&format!("{name}, {image}, round {round} {}: {}", step.outcome, step.reasons.join("; ")))) " "
        (of_bundle(&step.bundle, "Look at the run"))
    }
}

fn health(record: &NightRecord, night: &Night) -> Markup {
    let Some(health) = &night.health else {
        return match record.plan.health {
            Some(_) => html! { p { "Not checked: the night ended before the golden image was measured." } },
            None => {
                html! { p { "Not checked: the plan has no [health]. A sick bench cannot be told from a slower image." } }
            }
        };
    };
    let (class, word) = if health.well { ("good", "well") } else { ("bad", "sick") };
    let given: Vec<NightFigure> =
        health.figures.iter().filter(|figure| figure.value.is_some()).cloned().collect();
    html! {
        p {
            "The bench is " span class={ "word " (class) } { (word) } ", by its golden image. "
            @if !health.bundle.is_empty() { (of_bundle(&health.bundle, "Its run")) ". " }
            @if !health.well { "Why stands above, first of what to act on." }
        }
        @if !given.is_empty() { (figures("What the golden image gave", &given)) }
        @else if !health.well { p { "The golden image gave no figure." } }
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
        p { (measure.measurement) ", " (measure.clock) " clock, " (counted(measure.steps.len(), "step")) ". "
            @if !measure.ended.is_empty() { (full_stop(&format!("It ended: {}", first_line(&measure.ended)))) } }
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
            Cell::number(amount(one, one.change)),
            Cell::number(amounts(one)),
            Cell::number(amount(one, one.margin)),
            Cell::number(amount(one, one.resolvable)),
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
        (table_of_filled(&format!("{}: comparisons", measure.name), &header, measure.comparisons.iter().map(row).collect()))
        @if let Some(note) = factors(measure.comparisons.iter()) { p class="quiet" { (note) } }
        p class="good-one" { "A good one: the bar, which is the interval of the difference, lies wholly within the shaded margin around the line of no difference. Wholly outside is better or worse; across its end the sessions do not tell." }
    }
}

/// A tail is compared by a factor.
fn drawn(one: &ComparisonResult) -> Cell {
    let factor = one.is_factor();
    let picture =
        one.interval.zip(one.margin).and_then(|(interval, margin)| against_margin(interval, margin, factor));
    let says = match one.interval {
        Some((low, high)) => format!("interval {low} to {high} against the margin"),
        None => String::new(),
    };
    Cell::markup(picture.map_or_else(|| html! {}, |picture| plot::night::against_margin(&picture, &says)))
}

/// What is said of a limit beyond its value and what is allowed, which have their own columns.
fn says_more(limit: &LimitResult) -> &str {
    let ends = ["within the limit", "above the limit of", "below the limit of"];
    let last = limit.reason.rsplit(": ").next().unwrap_or_default();
    let plain = limit.value.is_some()
        && limit.reason.starts_with(&format!("{} ", limit.metric))
        && limit.reason.matches(": ").count() == 1
        && ends.iter().any(|end| last.starts_with(end));
    if plain { "" } else { &limit.reason }
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
            Cell::wide(says_more(limit)),
            Cell::markup(of_bundle(&limit.bundle, "worst run")),
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
    table_of_filled(&format!("{}: limits", measure.name), &header, measure.limits.iter().map(row).collect())
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
        let title = super::axis(metric, unit);
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
            Cell::markup(of_bundle(&step.bundle, &format!("run of step {at}"))),
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
