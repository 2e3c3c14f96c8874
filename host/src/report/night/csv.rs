//! summary.csv of a night: one line a figure of each step, then one a comparison and one a limit. No times, no paths and
//! no names of bundles, which carry times: nights that measured the same give the same bytes.

use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::night::Night;
use crate::night::result::{ComparisonResult, LimitResult, MeasureResult, NightFigure, StepResult};
use crate::report::csv_files::table;
use crate::report::night::words::was_repeated;

const COLUMNS: [&str; 28] = [
    "what",
    "measure",
    "measurement",
    "clock",
    "emulated",
    "image",
    "round",
    "base",
    "new",
    "variant",
    "mode",
    "tie",
    "metric",
    "unit",
    "n",
    "value",
    "ci95_low",
    "ci95_high",
    "u_systematic",
    "base_value",
    "change",
    "change_unit",
    "margin",
    "resolvable",
    "at_least",
    "at_most",
    "verdict",
    "reason",
];

type Row = [String; COLUMNS.len()];

/// The table.
pub(super) fn summary(night: &Night) -> String {
    let health = night.health.iter().flat_map(|health| &health.figures).map(|figure| {
        let own = row(night, None, "health");
        figure_row(set(own, &[("image", "golden")]), figure)
    });
    let steps = night.measures.iter().flat_map(|measure| {
        let of_step = move |step: &StepResult| -> Vec<Row> { step_rows(night, measure, step) };
        measure.steps.iter().filter(|step| !was_repeated(measure, step)).flat_map(of_step)
    });
    let comparisons = night.measures.iter().flat_map(|measure| {
        measure
            .comparisons
            .iter()
            .map(move |one| comparison_row(row(night, Some(measure), "comparison"), one))
    });
    let limits = night.measures.iter().flat_map(|measure| {
        measure.limits.iter().map(move |one| limit_row(row(night, Some(measure), "limit"), one))
    });
    table(&COLUMNS, health.chain(steps).chain(comparisons).chain(limits))
}

/// The columns that every line of a measure has.
fn row(night: &Night, measure: Option<&MeasureResult>, what: &str) -> Row {
    let emulated = night.emulated.to_string();
    let own = set(Default::default(), &[("what", what), ("emulated", &emulated)]);
    let Some(measure) = measure else { return own };
    let measurement = measure.measurement.to_string();
    set(own, &[("measure", &measure.name), ("measurement", &measurement), ("clock", measure.clock)])
}

fn step_rows(night: &Night, measure: &MeasureResult, step: &StepResult) -> Vec<Row> {
    let round = step.step.round.to_string();
    let own = || set(row(night, Some(measure), "step"), &[("image", &step.step.image), ("round", &round)]);
    let verdict = step.outcome.name();
    if step.figures.is_empty() {
        // Reasons of what failed may name a port, a time or a folder; they are in the journal.
        return vec![set(own(), &[("verdict", verdict)])];
    }
    let figure = |figure| set(figure_row(own(), figure), &[("verdict", verdict)]);
    step.figures.iter().map(figure).collect()
}

fn figure_row(row: Row, figure: &NightFigure) -> Row {
    let n = figure.n.to_string();
    let row = set(row, &[("variant", &figure.variant), ("mode", &figure.mode), ("tie", &figure.tie)]);
    let row = set(row, &[("metric", &figure.metric), ("unit", &figure.unit), ("n", &n)]);
    let row = with_interval(row, figure.value, figure.interval);
    set(row, &[("u_systematic", &text(figure.uncertainty))])
}

fn comparison_row(row: Row, one: &ComparisonResult) -> Row {
    let (base, new) = one.sessions;
    let sessions = format!("{base}/{new}");
    let row = set(row, &[("base", &one.base), ("new", &one.new), ("variant", &one.variant)]);
    let row = set(row, &[("metric", &one.metric), ("unit", &one.unit), ("n", &sessions)]);
    let row = with_interval(row, one.new_value, one.interval);
    let row = set(row, &[("base_value", &text(one.base_value)), ("change", &text(one.change))]);
    let row = set(row, &[("change_unit", &one.change_unit)]);
    let row = set(row, &[("margin", &text(one.margin)), ("resolvable", &text(one.resolvable))]);
    set(row, &[("verdict", one.verdict.name()), ("reason", &told(&one.reason))])
}

fn limit_row(row: Row, limit: &LimitResult) -> Row {
    let row = set(row, &[("image", &limit.image), ("variant", &limit.variant)]);
    let row = set(row, &[("metric", &limit.metric), ("unit", &limit.unit)]);
    let row = with_interval(row, limit.value, limit.interval);
    let row = set(row, &[("at_least", &text(limit.at_least)), ("at_most", &text(limit.at_most))]);
    let reason = if limit.outcome == Outcome::Invalid { String::new() } else { told(&limit.reason) };
    set(row, &[("verdict", limit.outcome.name()), ("reason", &reason)])
}

/// A reason, unless it names a bundle.
fn told(reason: &str) -> String {
    let names_a_bundle = ["runs/", "health/"].iter().any(|folder| reason.contains(folder));
    if names_a_bundle { String::new() } else { reason.to_owned() }
}

fn with_interval(row: Row, value: Option<Fixed>, interval: Option<(Fixed, Fixed)>) -> Row {
    let (low, high) = interval.unzip();
    set(row, &[("value", &text(value)), ("ci95_low", &text(low)), ("ci95_high", &text(high))])
}

fn set(mut row: Row, fields: &[(&str, &str)]) -> Row {
    for (column, text) in fields {
        let place = COLUMNS.iter().position(|name| name == column).expect("the column is one of the table's");
        (*text).clone_into(&mut row[place]);
    }
    row
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
