//! The answer of `ppsrig stability`: a table for people, one object for machines.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::terminal::{pairs, plain};
use crate::analysis::stability::{Finding, NoInterval, Report, Row};
use crate::series::{Input, Tau0From};

/// More averaging factors than this are not written out.
const MOST_LISTED: usize = 12;

/// What was asked for, as far as the answer shows it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Name of the file.
    pub file: String,
    /// It was compressed.
    pub gzip: bool,
    /// The compressed data ended early.
    pub cut: bool,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The unit that a file without one was read in, and whether it was asked for.
    pub unit: Option<(&'static str, bool)>,
}

/// The table, and what has to be known to read it.
#[must_use]
pub fn table(asked: &Asked, input: &Input, found: &Report) -> String {
    let mut text = format!("{}\n", heading(asked, input, found));
    text.push_str(&rows(found));
    text.push('\n');
    text.push_str(&pairs(&facts(asked, input, found)));
    text
}

fn heading(asked: &Asked, input: &Input, found: &Report) -> String {
    let gzip = if asked.gzip { ", gzip" } else { "" };
    let channel = input.source.as_ref().map(|source| format!(", channel {source}")).unwrap_or_default();
    format!(
        "{}: {}{gzip}{channel}, {} phase points, tau0 {} s\n",
        asked.file,
        input.format,
        found.points,
        short(found.tau0_s)
    )
}

/// Grouped by deviation.
fn rows(found: &Report) -> String {
    let mut table: Table = plain();
    let mut header = vec![Cell::new("dev")];
    header.extend(["tau, s", "N", "alpha", "low", "value", "high"].map(right));
    table.set_header(header);
    let mut before = None;
    for row in &found.rows {
        if before.is_some_and(|before| before != row.deviation) {
            table.add_row(vec![Cell::new(""); 7]);
        }
        before = Some(row.deviation);
        let (low, high) = row.interval.unzip();
        table.add_row(vec![
            Cell::new(row.deviation),
            right(short(row.tau_s)),
            right(row.estimate.n),
            right(row.alpha.map_or_else(String::new, |alpha| alpha.to_string())),
            right(low.map_or_else(String::new, five)),
            right(five(row.estimate.value)),
            right(high.map_or_else(String::new, five)),
        ]);
    }
    table.trim_fmt() + "\n"
}

fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Five significant digits.
fn five(value: f64) -> String {
    format!("{value:.4e}")
}

/// A number of seconds with at most nine significant digits.
fn short(seconds: f64) -> String {
    let rounded: f64 = format!("{seconds:.8e}").parse().unwrap_or(seconds);
    if rounded != 0.0 && !(1e-5..1e9).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

fn facts(asked: &Asked, input: &Input, found: &Report) -> Vec<(&'static str, String)> {
    let unit = match asked.unit {
        None => String::new(),
        Some((unit, true)) => format!(" in {unit}"),
        Some((unit, false)) => format!(" in {unit}, unless --unit says another"),
    };
    let what = format!("{}{unit}", input.what);
    let mut facts = vec![
        ("read as", format!("{} ({}): {what}", input.format, input.evidence)),
        ("tau0", tau0(input, found)),
        ("points", points(input, found)),
    ];
    if !input.others.is_empty() {
        let others: Vec<_> = input.others.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        facts.push(("not read", format!("readings of {}", others.join(", "))));
    }
    for (what, count) in &input.passed_over {
        facts.push(("passed over", format!("{count} {what}")));
    }
    if input.left_out.count() > 0 {
        facts.push(("left out", input.left_out.to_string()));
    }
    if asked.cut {
        facts.push(("cut", "the gzip data end early; this is what they hold".to_owned()));
    }
    facts.extend(found.left_out.iter().map(|one| ("no rows", format!("{}: {}", one.deviation, one.reason))));
    facts.extend(found.findings.iter().map(|finding| ("note", told(finding))));
    if found.rows.iter().any(|row| row.interval.is_some()) {
        let percent = short(asked.confidence * 100.0);
        facts.push((
            "interval",
            format!("low to high hold the true value with {percent} % probability (chi-squared)"),
        ));
    }
    facts
}

fn tau0(input: &Input, found: &Report) -> String {
    let tau0 = short(found.tau0_s);
    let mut text = match input.tau0_from {
        Tau0From::Given => format!("{tau0} s, as given"),
        Tau0From::Tags => format!("{tau0} s, the commonest distance of the time tags"),
        Tau0From::Assumed => format!("{tau0} s, assumed: there are no time tags; --tau0 gives another"),
    };
    if let (true, Some(tolerance)) = (input.tagged, input.tolerance_s) {
        let _ = write!(text, "; tags may lie {} s off the grid", short(tolerance));
    }
    if let Some(mean) = input.mean_distance_s {
        let _ = write!(text, "; their mean distance is {} s", short(mean));
    }
    text
}

fn points(input: &Input, found: &Report) -> String {
    let exact = if input.whole_picoseconds { "whole picoseconds, exact" } else { "f64" };
    let mut text = format!("{} readings, {exact}", input.readings);
    let missing = found.missing;
    match (missing, input.gaps) {
        (0, _) if input.tagged => text.push_str("; none is missing"),
        (0, _) => {}
        (missing, 0) => {
            let _ = write!(text, "; {missing} missing, for lines that were left out");
        }
        (missing, gaps) => {
            let gaps = if gaps == 1 { "one gap".to_owned() } else { format!("{gaps} gaps") };
            let line = input.first_gap_line.unwrap_or(0);
            let _ = write!(text, "; {missing} missing in {gaps}, the first before line {line}");
        }
    }
    if missing > 0 {
        text.push_str(": terms that touch one are left out, N counts the others");
    }
    if !input.tagged {
        text.push_str("; without time tags a gap cannot be seen");
    }
    text
}

fn told(finding: &Finding) -> String {
    match finding {
        Finding::Outliers { count, first, largest } => format!(
            "{count} frequencies far from their median, by up to {} scaled median absolute deviations, the first \
             between points {first} and {}; none was dropped",
            five(*largest),
            first + 1
        ),
        Finding::Large { value } => format!(
            "the deviation at tau0 is {}, more than any clock's: are the values in another unit? --unit",
            five(*value)
        ),
        Finding::NoInterval { why, factors } => match why {
            NoInterval::FewPoints | NoInterval::FewBesideGaps => {
                format!("noise not identified at m = {}: {}; --alpha N gives it", listed(factors), why.text())
            }
            NoInterval::NoNoise | NoInterval::NoFreedom => {
                format!("no interval at m = {}: {}", listed(factors), why.text())
            }
        },
    }
}

/// A rising list of numbers, shortened where it is long.
fn listed(factors: &[u64]) -> String {
    match factors {
        [first, .., last] if factors.len() > MOST_LISTED => {
            format!("{first} to {last} ({} of them)", factors.len())
        }
        _ => factors.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[derive(Serialize)]
struct JsonRow {
    dev: &'static str,
    m: u64,
    tau_s: f64,
    n: u64,
    alpha: Option<i32>,
    low: Option<f64>,
    value: f64,
    high: Option<f64>,
}

impl From<&Row> for JsonRow {
    fn from(row: &Row) -> Self {
        let (low, high) = row.interval.unzip();
        Self {
            dev: row.deviation.name(),
            m: row.m,
            tau_s: row.tau_s,
            n: row.estimate.n,
            alpha: row.alpha,
            low,
            value: row.estimate.value,
            high,
        }
    }
}

#[derive(Serialize)]
struct JsonAnswer {
    rows: Vec<JsonRow>,
    left_out: Vec<Value>,
    findings: Vec<Value>,
    input: Value,
}

/// One object: `rows`, and what else there is to know.
#[must_use]
pub fn json(asked: &Asked, input: &Input, found: &Report) -> String {
    let answer = JsonAnswer {
        rows: found.rows.iter().map(JsonRow::from).collect(),
        left_out: found
            .left_out
            .iter()
            .map(|one| json!({"dev": one.deviation.name(), "reason": one.reason}))
            .collect(),
        findings: found.findings.iter().map(finding).collect(),
        input: about(asked, input, found),
    };
    serde_json::to_string_pretty(&answer).expect("it has only names and numbers") + "\n"
}

fn finding(finding: &Finding) -> Value {
    match finding {
        Finding::Outliers { count, first, largest } => {
            json!({"finding": "outliers", "count": count, "first": first, "largest": largest})
        }
        Finding::Large { value } => json!({"finding": "large", "value": value, "try": "--unit"}),
        Finding::NoInterval { why, factors } => {
            json!({"finding": "no interval", "m": factors, "reason": why.text()})
        }
    }
}

fn about(asked: &Asked, input: &Input, found: &Report) -> Value {
    let mut about = facts_of(input);
    about.insert("file".to_owned(), json!(asked.file));
    about.insert("gzip".to_owned(), json!(asked.gzip));
    about.insert("cut".to_owned(), json!(asked.cut));
    about.insert("type".to_owned(), json!(if input.frequency { "frequency" } else { "phase" }));
    about.insert("confidence".to_owned(), json!(asked.confidence));
    about.insert("unit".to_owned(), json!(asked.unit.map(|(unit, _)| unit)));
    about.insert("tau0_s".to_owned(), json!(found.tau0_s));
    about.insert("points".to_owned(), json!(found.points));
    about.insert("missing".to_owned(), json!(found.missing));
    Value::Object(about)
}

/// What the reader says of a file; also what stands beside recorded ones.
#[must_use]
pub fn facts_of(input: &Input) -> Map<String, Value> {
    let counted = |sources: &[(String, u64)]| -> Map<String, Value> {
        sources.iter().map(|(name, count)| (name.clone(), json!(count))).collect()
    };
    let classes: Map<String, Value> =
        input.left_out.classes.iter().map(|(class, count)| ((*class).to_owned(), json!(count))).collect();
    let passed_over: Map<String, Value> =
        input.passed_over.iter().map(|(what, count)| ((*what).to_owned(), json!(count))).collect();
    let first_line = Some(input.left_out.first_line).filter(|line| *line > 0);
    let object = json!({
        "format": input.format,
        "evidence": input.evidence,
        "lines": input.lines,
        "readings": input.readings,
        "tau0_from": input.tau0_from.name(),
        "time_tags": input.tagged,
        "tolerance_s": input.tolerance_s,
        "mean_distance_s": input.mean_distance_s,
        "gaps": input.gaps,
        "first_gap_line": input.first_gap_line,
        "channel": input.source,
        "other_channels": counted(&input.others),
        "whole_picoseconds": input.whole_picoseconds,
        "passed_over": passed_over,
        "lines_left_out": {"count": input.left_out.count(), "first_line": first_line, "classes": classes},
    });
    match object {
        Value::Object(object) => object,
        _ => unreachable!("it was written as an object"),
    }
}
