//! Sentences that several reports of a night share.

use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::night::result::{ComparisonResult, LimitResult, MeasureResult, NightFigure, StepResult};
use crate::night::{Night, NightRecord};
use crate::report::junit::command;

/// What brings the bench back once it is mended.
pub(in crate::report) fn back_online(record: &NightRecord) -> String {
    command(["ppsrig", "check", &record.plan.bench.to_string_lossy(), "--back-online"])
}

/// The first line of a text; a quoted error may have several.
pub(in crate::report) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A change, an end of its interval or a margin; a factor is seen to be one.
pub(in crate::report) fn amount(one: &ComparisonResult, value: Option<Fixed>) -> Option<String> {
    let sign = if one.is_factor() { "×" } else { "" };
    value.map(|value| format!("{sign}{value}"))
}

/// An interval of a change.
pub(in crate::report) fn amounts(one: &ComparisonResult) -> Option<String> {
    let (low, high) = one.interval?;
    Some(format!("{} to {}", amount(one, Some(low))?, amount(one, Some(high))?))
}

/// What explains `×`, where there is one.
pub(in crate::report) fn factors<'a>(
    mut all: impl Iterator<Item = &'a ComparisonResult>,
) -> Option<&'static str> {
    all.any(ComparisonResult::is_factor).then_some(
        "× is a factor, new over base: a tail is compared by it, and so are its interval and margin.",
    )
}

/// The steps of one side of a comparison, `image` or `image:build`, that were done.
pub(in crate::report) fn steps_of<'a>(
    measure: &'a MeasureResult,
    side: &str,
) -> impl Iterator<Item = &'a StepResult> {
    measure.steps.iter().filter(move |step| {
        let rest = side.strip_prefix(step.step.image.as_str());
        let is_it = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        is_it && step.outcome != Outcome::NotDone && !step.bundle.is_empty()
    })
}

/// What kept the whole night from being done, the decisive reason first; what a measure's comparisons, limits and steps say is not
/// among it.
pub(in crate::report) fn of_whole_night(night: &Night) -> impl Iterator<Item = &String> {
    let sick = night.health.as_ref().is_some_and(|health| !health.well);
    let of_measure = |reason: &str| {
        let rests = night.measures.iter().filter_map(|measure| reason.strip_prefix(measure.name.as_str()));
        rests.into_iter().any(|rest| rest.starts_with([':', ',']))
    };
    let not_done = night.outcome == Outcome::NotDone;
    night.reasons.iter().filter(move |reason| {
        not_done && !of_measure(reason) && !(sick && reason.starts_with("the bench is sick"))
    })
}

/// Parts that are not empty, with a space between.
pub(in crate::report) fn joined<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a step that gave nothing was done after all: nights that were cut give the same table as others.
pub(in crate::report) fn was_repeated(measure: &MeasureResult, step: &StepResult) -> bool {
    let done = |other: &StepResult| other.step == step.step && !other.figures.is_empty();
    step.figures.is_empty() && measure.steps.iter().any(done)
}

/// A figure with its interval, uncertainty and n.
pub(in crate::report) fn figure_line(figure: &NightFigure, emulated: bool) -> String {
    let value = figure.value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
    let interval = figure.interval.map(|(low, high)| format!(", 95 % {low} to {high}")).unwrap_or_default();
    let uncertainty = figure.uncertainty.map(|u| format!(", U {u}")).unwrap_or_default();
    let of = joined([&figure.variant, &figure.mode, &figure.tie]);
    let of = if of.is_empty() { of } else { format!(" ({of})") };
    let emulated = if emulated { ", emulated" } else { "" };
    format!(
        "{}{of}: {value}{}{interval}{uncertainty}, n {}{emulated}",
        figure.metric,
        unit(&figure.unit),
        figure.n
    )
}

/// A comparison as a sentence with figures.
pub(in crate::report) fn comparison(one: &ComparisonResult, emulated: bool) -> String {
    let head = format!("{}: {}", joined([&one.variant, &one.metric]), one.verdict.name());
    let values = one.base_value.zip(one.new_value);
    let unit = unit(&one.unit);
    let values = values.map(|(base, new)| format!(", {base} to {new}{unit}")).unwrap_or_default();
    // A tail is compared by a factor.
    let (what, factor) = if one.is_factor() { ("a factor of", "a factor of ") } else { ("change", "") };
    let change = one.change.map(|change| format!(", {what} {change}")).unwrap_or_default();
    let interval = one.interval.map(|(low, high)| format!(" ({low} to {high})")).unwrap_or_default();
    let margin = one.margin.map(|margin| format!(", margin {factor}{margin}")).unwrap_or_default();
    let (base, new) = one.sessions;
    let reason = if one.reason.is_empty() { String::new() } else { format!(": {}", one.reason) };
    let emulated = if emulated { ", emulated" } else { "" };
    format!("{head}{values}{change}{interval}{margin}, {base} and {new} sessions{emulated}{reason}")
}

/// What a limit is called, whatever its value.
pub(in crate::report) fn limit_name(limit: &LimitResult) -> String {
    let least = limit.at_least.map(|least| format!("at least {least}")).unwrap_or_default();
    let most = limit.at_most.map(|most| format!("at most {most}")).unwrap_or_default();
    joined(["limit", &limit.image, &limit.variant, &limit.metric, &least, &most])
}

/// A unit behind its value; a pure number has none.
fn unit(unit: &str) -> String {
    if unit == "1" || unit.is_empty() { String::new() } else { format!(" {unit}") }
}
