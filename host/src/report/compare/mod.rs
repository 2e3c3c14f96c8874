//! What a comparison says: the table that one would paste into a patch mail, 72 columns wide, and the evidence below it.

mod holdings;
pub mod json;

use std::fmt::Write;

pub use self::holdings::holdings;

use crate::analysis::compare::difference::Design;
use crate::analysis::compare::group::Quantity;
use crate::analysis::compare::row::Row;
use crate::analysis::compare::{Comparison, Side, Source};
use crate::analysis::fixed::Fixed;
use crate::names::Measurement;

/// Columns, as mail wants it.
const WIDTH: usize = 72;
/// Above the rows of a metric.
const HEADER: &str = "                     base        new      change  ratio  verdict\n";
/// Lines of a difference of traces that are shown.
const TRACE_LINES: usize = 24;

/// Two sides compared. `traces` is the difference of their instruction traces: empty if they do the same.
#[must_use]
pub fn comparison(base: &Side, new: &Side, comparison: &Comparison, traces: Option<&str>) -> String {
    let mut text = wrapped("", &verdict(comparison));
    text += &sources("base", base);
    text += &sources("new", new);
    let mut block = String::new();
    for row in &comparison.rows {
        let heading = heading(row);
        if heading != block {
            let _ = write!(text, "\n{heading}{HEADER}");
            block = heading;
        }
        text += &lines(row);
    }
    text += &basis(comparison);
    text += &evidence(base, new, comparison);
    text += &trace_lines(traces);
    text
}

/// What the verdicts rest on, where anything was tested.
fn basis(comparison: &Comparison) -> String {
    let mut text = String::new();
    if comparison.rows.iter().any(|row| row.interval.is_some()) {
        let alpha = comparison.alpha * 100.0;
        let told = format!(
            "The unit is the session (one boot). Student's t, two-sided; levels by Holm, {alpha} % over all tests. A \
             verdict needs an interval wholly beyond the margin, or wholly within."
        );
        text += &wrapped("", &told);
    }
    if comparison.rows.iter().any(|row| row.base.uncertainty.is_some_and(|u| u > 0.0)) {
        let told = "U (systematic) is in no interval: it cancels as far as both sides have the same.";
        text += &wrapped("", told);
    }
    if comparison.unpaired {
        let told = "Sessions that did not take turns are compared side by side: what drifted from one side to the \
                    other is in the difference.";
        text += &wrapped("", told);
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn verdict(comparison: &Comparison) -> String {
    let (verdict, exit) = (comparison.verdict(), comparison.exit());
    let decisive = comparison.rows.iter().filter(|row| row.verdict == verdict);
    let names: Vec<String> = decisive.map(name).collect();
    let why = comparison.rows.iter().find(|row| row.verdict == verdict).map_or("", |row| row.reason.as_str());
    let colon = if why.is_empty() { "" } else { ": " };
    format!("verdict {} (exit {exit}): {}{colon}{why}", verdict.name(), names.join(", "))
}

fn name(row: &Row) -> String {
    match (&row.against, row.is_tail()) {
        (None, false) => row.key.to_string(),
        (None, true) => format!("tail of {}", row.key),
        (Some(new), tail) => format!("{new} against {}{}", row.key, if tail { " (tail)" } else { "" }),
    }
}

fn sources(name: &str, side: &Side) -> String {
    let mut text = String::new();
    for (index, source) in side.sources.iter().enumerate() {
        let label = if index == 0 { name } else { "" };
        // Paths are not wrapped, so that they can be copied.
        let _ = writeln!(text, "{label:<5} {}", source.name);
    }
    text
}

fn label(emulated: Option<bool>) -> &'static str {
    match emulated {
        Some(true) => "emulated",
        Some(false) => "",
        None => "board not known",
    }
}

fn heading(row: &Row) -> String {
    let conditions = &row.key.conditions;
    let what = match row.key.measurement {
        Some(Measurement::Edge) => format!("edge, tie {}", row.key.tie),
        Some(Measurement::Path) => match &conditions.clock_id {
            Some(clock) => format!("path, {clock}"),
            None => "path".to_owned(),
        },
        Some(Measurement::Ctime) => match conditions.cores.as_deref() {
            Some("1") | None => "ctime, 1 core".to_owned(),
            Some(cores) => format!("ctime, {cores} cores"),
        },
        None => "figures".to_owned(),
    };
    let metric = match (row.is_tail(), row.key.quantity) {
        (true, _) => "tail",
        (false, Quantity::Mean) => "mean",
        (false, Quantity::Operations) => "operations",
        (false, Quantity::Instructions) => "instructions",
        (false, Quantity::InstructionsPerOperation) => "instructions an operation",
        (false, Quantity::Violations) => "ordering violations",
        (false, Quantity::Published) => "",
    };
    let unit = if row.unit == row.key.quantity.metric() { String::new() } else { row.unit.clone() };
    let judged = row.key.measurement.is_some() && row.margin.is_some();
    let direction = match (judged, row.higher_is_better) {
        (false, _) => "",
        (true, true) => "more is better",
        (true, false) => "less is better",
    };
    let parts: Vec<&str> = [what.as_str(), metric, unit.as_str(), direction]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let left = parts.join(", ");
    let right = label(row.emulated);
    let space = WIDTH.saturating_sub(left.chars().count() + right.len()).max(2);
    let mut text = format!("{left}{:space$}{right}", "").trim_end().to_owned() + "\n";
    if let Some(about) = &row.about {
        let _ = writeln!(text, "  {about}");
    }
    text
}

/// Digits behind the point that are worth printing.
fn places(unit: &str, scale: f64, whole: bool) -> u8 {
    match unit {
        "1/s" | "stamps" => 0,
        "per million" => 1,
        _ if whole || scale >= 1e6 => 0,
        _ => 3,
    }
}

struct Digits(u8);

impl Digits {
    fn of(row: &Row) -> Self {
        let (base, new) = (row.base.value, row.new.value);
        let counts = row.margin.is_none() || row.unit == "instructions";
        let whole = counts && base.fract() == 0.0 && new.fract() == 0.0;
        Self(places(&row.unit, base.abs().max(new.abs()), whole))
    }

    fn text(&self, value: f64) -> String {
        Fixed::rounded(value, self.0).map_or_else(String::new, |value| value.to_string())
    }

    fn signed(&self, value: f64) -> String {
        let text = self.text(value);
        if value > 0.0 && text.chars().any(|c| matches!(c, '1'..='9')) { format!("+{text}") } else { text }
    }
}

/// A factor, with more digits where it is small.
fn factor(value: f64) -> String {
    let places = if value.abs() >= 100.0 { 1 } else { 3 };
    Fixed::rounded(value, places).map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn lines(row: &Row) -> String {
    let digits = Digits::of(row);
    let title = match &row.against {
        Some(new) => format!("{new}/{}", row.key.variant),
        None => row.key.variant.clone(),
    };
    let change = row.change.map_or_else(String::new, |change| digits.signed(change));
    let ratio = row.ratio.map_or_else(String::new, factor);
    let (base, new) = (digits.text(row.base.value), digits.text(row.new.value));
    let verdict = row.verdict.name();
    let mut text = String::new();
    // A long name has a line of its own.
    let short = title.chars().count() <= 14;
    if !short {
        let _ = writeln!(text, "{title}");
    }
    let first = if short { title.as_str() } else { "" };
    let line = format!("{first:<14} {base:>10} {new:>10} {change:>11} {ratio:>6}  {verdict}");
    let _ = writeln!(text, "{}", line.trim_end());
    text += &interval(row, &digits);
    text += &tested(row, &digits);
    if let Some((base, new)) = row.within {
        let _ = writeln!(text, "  over the first of its side: base {}, new {}", factor(base), factor(new));
    }
    // A table's reason is the same for all its figures, and stands at the top.
    if !row.reason.is_empty() && row.margin.is_some() {
        text += &wrapped("  ", &row.reason);
    }
    text
}

fn interval(row: &Row, digits: &Digits) -> String {
    let (Some((low, high)), Some(level), Some(margin)) = (row.interval, row.level, row.margin) else {
        let exact = if row.is_sampled() { "" } else { ", counted exactly" };
        let margin = row.margin.filter(|_| row.key.quantity != Quantity::Violations);
        return match (margin, row.is_tail()) {
            (None, _) => String::new(),
            (Some(margin), true) => format!("  margin a factor of {}\n", factor(margin)),
            (Some(margin), false) => format!("  margin {}{exact}\n", Digits(1).text(margin)),
        };
    };
    let share = Fixed::rounded((1.0 - level) * 100.0, 2).map_or_else(String::new, |share| share.to_string());
    let share = share.trim_end_matches('0').trim_end_matches('.').to_owned();
    if row.is_tail() {
        let (low, high, margin) = (factor(low), factor(high), factor(margin));
        return wrapped(
            "  ",
            &format!("ratio from {low} to {high} ({share} %); margin a factor of {margin}"),
        );
    }
    let (low, high) = (digits.signed(low), digits.signed(high));
    wrapped("  ", &format!("change from {low} to {high} ({share} %); margin {}", digits.text(margin)))
}

fn tested(row: &Row, digits: &Digits) -> String {
    let (base, new) = (row.base.sessions, row.new.sessions);
    let mut parts = Vec::new();
    if base > 0 && new > 0 {
        parts.push(match row.design {
            Some(Design::Paired(pairs)) => format!("{pairs} interleaved pairs"),
            _ => format!("{base} and {}", sessions(new)),
        });
    }
    if row.is_tail() {
        parts.push(format!("{} and {} counted", row.base.n, row.new.n));
    } else if let (Some(base), Some(new)) = (row.base.sd, row.new.sd) {
        parts.push(format!("sd {} and {}", digits.text(base), digits.text(new)));
    }
    if let (Some(base), Some(new)) = (row.base.uncertainty, row.new.uncertainty) {
        parts.push(format!("U {} and {}", digits.text(base), digits.text(new)));
    }
    let mut text = if parts.is_empty() { String::new() } else { wrapped("  ", &parts.join("; ")) };
    if let Some(found) = row.resolvable {
        let told = |value: f64| if row.is_tail() { factor(value) } else { digits.text(value) };
        let what = if row.is_tail() { "a factor of" } else { "a change of" };
        let (nine, half) = (told(found.nine_in_ten), told(found.every_other));
        text += &wrapped("  ", &format!("finds {what} {nine} (9 in 10), {half} (1 in 2)"));
    }
    text
}

fn sessions(count: u64) -> String {
    if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") }
}

/// What else has to be known: what is left out, what makes it doubtful, and what the sides were made of.
fn evidence(base: &Side, new: &Side, comparison: &Comparison) -> String {
    let mut text = String::new();
    for what in &comparison.left_out {
        text += &wrapped("", &format!("left out: {what}"));
    }
    for what in &comparison.warnings {
        text += &wrapped("", &format!("warning: {what}"));
    }
    for (name, side) in [("base", base), ("new", new)] {
        for source in &side.sources {
            for remark in &source.remarks {
                text += &wrapped("", &format!("{name}, {}: {remark}", source.name));
            }
        }
    }
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    let (of_base, of_new) = (facts(&base.sources), facts(&new.sources));
    let mut names: Vec<&'static str> = of_base.iter().chain(&of_new).map(|(name, _)| *name).collect();
    names.dedup();
    let mut told = Vec::new();
    for name in names {
        if told.contains(&name) {
            continue;
        }
        told.push(name);
        let of = |facts: &[(&'static str, String)]| {
            facts.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        let line = match (of(&of_base), of(&of_new)) {
            (Some(base), Some(new)) if base == new => format!("{base} (both)"),
            (Some(base), Some(new)) => format!("base {base}; new {new}"),
            (Some(base), None) => format!("base {base}"),
            (None, new) => format!("new {}", new.unwrap_or_default()),
        };
        if told.len() == 1 {
            text.push('\n');
        }
        text += &wrapped("", &format!("{name}: {line}"));
    }
    text
}

/// What the sources of a side are made of, each different value once.
fn facts(sources: &[Source]) -> Vec<(&'static str, String)> {
    let mut facts: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for (name, value) in sources.iter().flat_map(|source| &source.provenance) {
        match facts.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => facts.push((name, vec![value])),
        }
    }
    facts.into_iter().map(|(name, values)| (name, values.join(", "))).collect()
}

fn trace_lines(traces: Option<&str>) -> String {
    match traces {
        None => String::new(),
        Some("") => "trace: the same functions and instructions\n".to_owned(),
        Some(diff) => {
            let changed = |line: &&str| {
                line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
            };
            let lines: Vec<&str> = diff.lines().filter(changed).collect();
            let mut text = "\ntrace, what differs (ppsrig trace --diff has it all):\n".to_owned();
            for line in lines.iter().take(TRACE_LINES) {
                let _ = writeln!(text, "  {}", line.chars().take(WIDTH - 2).collect::<String>());
            }
            if lines.len() > TRACE_LINES {
                let _ = writeln!(text, "  and {} more", lines.len() - TRACE_LINES);
            }
            text
        }
    }
}

/// Text in lines of [`WIDTH`] columns, the first one after `indent`, the others two further in.
fn wrapped(indent: &str, text: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one");
        let begun = line.trim().is_empty();
        if !begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}  {word}"));
            continue;
        }
        if !begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n") + "\n"
}
