//! The same for machines. Unknown is null; numbers are rounded to six places, so that every machine prints the same.

use serde::Serialize;

use crate::analysis::compare::difference::Design;
use crate::analysis::compare::outlook::Holding;
use crate::analysis::compare::row::{Figure, Row};
use crate::analysis::compare::{Comparison, Side, Source, Verdict};
use crate::analysis::fixed::Fixed;

#[derive(Serialize)]
struct ComparisonJson<'a> {
    verdict: Verdict,
    exit: u8,
    alpha: f64,
    base: Vec<SourceJson<'a>>,
    new: Vec<SourceJson<'a>>,
    rows: Vec<RowJson<'a>>,
    left_out: &'a [String],
    warnings: &'a [String],
    trace_differs: Option<bool>,
    trace_diff: Option<&'a str>,
}

#[derive(Serialize)]
struct HoldingsJson<'a> {
    alpha: f64,
    base: Vec<SourceJson<'a>>,
    rows: Vec<HoldingJson<'a>>,
}

#[derive(Serialize)]
struct SourceJson<'a> {
    name: &'a str,
    kind: &'a str,
    emulated: Option<bool>,
    provenance: serde_json::Map<String, serde_json::Value>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct FigureJson {
    value: Option<Fixed>,
    sd: Option<Fixed>,
    u_systematic: Option<Fixed>,
    sessions: Option<u64>,
    n: Option<u64>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    measurement: Option<&'static str>,
    variant: &'a str,
    against: Option<&'a str>,
    clock_id: Option<&'a str>,
    cores: Option<&'a str>,
    tie: &'a str,
    emulated: Option<bool>,
    metric: &'a str,
    unit: &'a str,
    counted: Option<&'a str>,
    higher_is_better: bool,
    base: FigureJson,
    new: FigureJson,
    change: Option<Fixed>,
    ratio: Option<Fixed>,
    interval_of: Option<&'static str>,
    low: Option<Fixed>,
    high: Option<Fixed>,
    level: Option<f64>,
    p_value: Option<f64>,
    margin: Option<Fixed>,
    design: Option<&'static str>,
    resolvable_power_90: Option<Fixed>,
    resolvable_power_50: Option<Fixed>,
    base_over_first: Option<Fixed>,
    new_over_first: Option<Fixed>,
    verdict: Verdict,
    reason: &'a str,
}

#[derive(Serialize)]
struct HoldingJson<'a> {
    measurement: Option<&'static str>,
    variant: &'a str,
    clock_id: Option<&'a str>,
    cores: Option<&'a str>,
    tie: &'a str,
    emulated: Option<bool>,
    metric: &'a str,
    unit: &'a str,
    value: Option<Fixed>,
    n: Option<u64>,
    sd: Option<Fixed>,
    margin: Option<Fixed>,
    tail: Option<String>,
    sessions: Vec<SessionJson>,
    plans: Vec<PlanJson>,
    doubts: &'a [String],
}

#[derive(Serialize)]
struct SessionJson {
    session: u32,
    n: u64,
    value: Option<Fixed>,
    tail_count: Option<u64>,
}

#[derive(Serialize)]
struct PlanJson {
    sessions: u64,
    resolvable_power_90: Option<Fixed>,
    tail_factor_power_90: Option<Fixed>,
}

fn six(value: f64) -> Option<Fixed> {
    Fixed::rounded(value, 6)
}

fn known(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

fn figure(figure: &Figure) -> FigureJson {
    FigureJson {
        value: six(figure.value),
        sd: figure.sd.and_then(six),
        u_systematic: figure.uncertainty.and_then(six),
        sessions: known(figure.sessions),
        n: if figure.sessions > 0 { Some(figure.n) } else { None },
    }
}

fn sources(side: &Side) -> Vec<SourceJson<'_>> {
    let of = |source: &'_ Source| -> serde_json::Map<String, serde_json::Value> {
        source.provenance.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect()
    };
    side.sources
        .iter()
        .map(|source| SourceJson {
            name: &source.name,
            kind: source.kind,
            emulated: source.emulated,
            provenance: of(source),
            remarks: &source.remarks,
        })
        .collect()
}

fn row(row: &Row) -> RowJson<'_> {
    let conditions = &row.key.conditions;
    RowJson {
        measurement: row.key.measurement.map(|one| one.name()),
        variant: &row.key.variant,
        against: row.against.as_deref(),
        clock_id: conditions.clock_id.as_deref(),
        cores: conditions.cores.as_deref(),
        tie: &row.key.tie,
        emulated: row.emulated,
        metric: row.metric,
        unit: &row.unit,
        counted: row.about.as_deref(),
        higher_is_better: row.higher_is_better,
        base: figure(&row.base),
        new: figure(&row.new),
        change: row.change.and_then(six),
        ratio: row.ratio.and_then(six),
        interval_of: row.interval.map(|_| if row.is_tail() { "ratio" } else { "change" }),
        low: row.interval.and_then(|(low, _)| six(low)),
        high: row.interval.and_then(|(_, high)| six(high)),
        level: row.level,
        p_value: row.p_value,
        margin: row.margin.and_then(six),
        design: row.design.map(|design| match design {
            Design::Paired(_) => "paired",
            Design::Welch => "welch",
        }),
        resolvable_power_90: row.resolvable.and_then(|found| six(found.nine_in_ten)),
        resolvable_power_50: row.resolvable.and_then(|found| six(found.every_other)),
        base_over_first: row.within.and_then(|(base, _)| six(base)),
        new_over_first: row.within.and_then(|(_, new)| six(new)),
        verdict: row.verdict,
        reason: &row.reason,
    }
}

/// Two sides compared.
#[must_use]
pub fn comparison(base: &Side, new: &Side, comparison: &Comparison, traces: Option<&str>) -> String {
    text(&ComparisonJson {
        verdict: comparison.verdict(),
        exit: comparison.exit(),
        alpha: comparison.alpha,
        base: sources(base),
        new: sources(new),
        rows: comparison.rows.iter().map(row).collect(),
        left_out: &comparison.left_out,
        warnings: &comparison.warnings,
        trace_differs: traces.map(|diff| !diff.is_empty()),
        trace_diff: traces.filter(|diff| !diff.is_empty()),
    })
}

/// What one side holds.
#[must_use]
pub fn holdings(side: &Side, holdings: &[Holding], alpha: f64) -> String {
    text(&HoldingsJson { alpha, base: sources(side), rows: holdings.iter().map(holding).collect() })
}

fn holding(one: &Holding) -> HoldingJson<'_> {
    let conditions = &one.key.conditions;
    let (value, _, n) = one.figure;
    HoldingJson {
        measurement: one.key.measurement.map(|measurement| measurement.name()),
        variant: &one.key.variant,
        clock_id: conditions.clock_id.as_deref(),
        cores: conditions.cores.as_deref(),
        tie: &one.key.tie,
        emulated: conditions.emulated,
        metric: one.key.quantity.metric(),
        unit: &one.unit,
        value: six(value),
        n: known(n),
        sd: one.sd.and_then(six),
        margin: one.margin.and_then(six),
        tail: one.threshold.map(|threshold| threshold.told()),
        sessions: one
            .sessions
            .iter()
            .map(|(number, n, value, beyond)| SessionJson {
                session: *number,
                n: *n,
                value: six(*value),
                tail_count: *beyond,
            })
            .collect(),
        plans: one
            .plans
            .iter()
            .map(|plan| PlanJson {
                sessions: plan.sessions,
                resolvable_power_90: plan.difference.and_then(six),
                tail_factor_power_90: plan.factor.and_then(six),
            })
            .collect(),
        doubts: &one.doubts,
    }
}

fn text<T: Serialize>(object: &T) -> String {
    serde_json::to_string_pretty(object).expect("numbers, texts and lists are JSON") + "\n"
}
