//! Sentences that several reports of a night share.

use crate::night::result::{ComparisonResult, LimitResult, MeasureResult, NightFigure, StepResult};

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
    let change = one.change.map(|change| format!(", change {change}")).unwrap_or_default();
    let interval = one.interval.map(|(low, high)| format!(" ({low} to {high})")).unwrap_or_default();
    let margin = one.margin.map(|margin| format!(", margin {margin}")).unwrap_or_default();
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
