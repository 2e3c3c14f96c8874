//! The terminal report: plain text that can go into a mail, as wide as the terminal or 80 columns.

mod ctime;
mod edge;
mod path;

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use crate::analysis::Analysis;
use crate::analysis::fixed::Fixed;
use crate::analysis::uncertainty::Component;
use crate::formats::foreign_text::visible_lines;
use crate::names::{Clock, Measurement};
use crate::plan::RunRecord;

/// Disturbances of a session that are told one by one.
const SHOWN: usize = 5;
/// Reasons of the verdict that are told.
const REASONS: usize = 8;
/// Columns of the report where stdout is no terminal.
const WIDTH: u16 = 80;
/// Columns that the report takes of a terminal, at least and at most: longer lines are hard to read.
const WIDTHS: (u16, u16) = (60, 120);

/// Columns that the report takes: it goes to stdout.
#[must_use]
pub fn width() -> u16 {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return WIDTH;
    }
    width_of_terminal(rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| size.ws_col))
}

/// A terminal that does not know its width says 0.
fn width_of_terminal(columns: u16) -> u16 {
    if columns == 0 { WIDTH } else { columns.clamp(WIDTHS.0, WIDTHS.1) }
}

/// The whole report, the verdict first. `incomplete` names what of the bundle was torn or missing; `to` is where the files
/// are, with those that stand there already. It is as wide as [`width`] says.
#[must_use]
pub fn table(
    record: &RunRecord,
    analysis: &Analysis,
    incomplete: &[String],
    (to, others): (&Path, &[&str]),
) -> String {
    let emulated = analysis.emulated;
    let mut text = verdict(analysis);
    text.push_str(&heading(record, analysis));
    text.extend(analysis.edge.iter().map(|edge| edge::tables(edge, emulated)));
    text.extend(analysis.path.iter().map(|path| path::tables(path, emulated)));
    text.extend(analysis.ctime.iter().map(|ctime| ctime::tables(ctime, emulated)));
    text.push_str(&facts(record, analysis, incomplete));
    // Paths are not wrapped, so that they can be copied.
    let names = [super::names(record, analysis).as_slice(), others].concat();
    let _ = writeln!(text, "\nfiles in {}:{}", to.display(), listed(&names, usize::from(width())));
    // What an instrument or a board says of itself must not drive the terminal.
    visible_lines(&text).into_owned()
}

/// Names with commas between, in lines of so many columns, each behind a line end.
fn listed(names: &[&str], columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        match lines.last_mut().filter(|line| line.len() + name.len() + 2 <= columns) {
            Some(line) => {
                let _ = write!(line, " {name}{comma}");
            }
            None => lines.push(format!("  {name}{comma}")),
        }
    }
    lines.iter().map(|line| format!("\n{line}")).collect()
}

/// What was measured, a line each.
fn heading(record: &RunRecord, analysis: &Analysis) -> String {
    let label = if analysis.emulated { ", emulated" } else { "" };
    let mut text = String::new();
    for measurement in &record.plan.measure {
        text.push_str(&match measurement {
            Measurement::Edge => edge::heading(record, label),
            Measurement::Path => path::heading(record, label),
            Measurement::Ctime => ctime::heading(record, label),
        });
    }
    if analysis.partial.is_some() {
        text.push_str("PARTIAL: the recording is not whole\n");
    }
    text
}

fn verdict(analysis: &Analysis) -> String {
    let (outcome, reasons) = (analysis.verdict.outcome, &analysis.verdict.reasons);
    let told = reasons.iter().take(REASONS).enumerate().map(|(index, reason)| match index {
        0 => ("verdict", format!("{outcome} (exit {}): {reason}", outcome.exit())),
        _ => ("", reason.clone()),
    });
    let mut rows: Vec<_> = told.collect();
    let more = reasons.len().saturating_sub(REASONS);
    if more > 0 {
        rows.push(("", format!("and {more} more reasons, in {}", super::SUMMARY_JSON)));
    }
    pairs(&rows)
}

/// A borderless table that fits the width.
pub(crate) fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width());
    table
}

fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Rows of a name and a text that is wrapped. What an instrument says must not drive the terminal.
pub(crate) fn pairs(rows: &[(&str, String)]) -> String {
    let mut table = plain();
    for (name, value) in rows {
        table.add_row(vec![Cell::new(name), Cell::new(visible_lines(value))]);
    }
    table.trim_fmt() + "\n"
}

/// How it all came about.
fn facts(record: &RunRecord, analysis: &Analysis, incomplete: &[String]) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    match &analysis.edge {
        Some(edge) => rows.extend(edge::facts(record, edge)),
        None => rows.push(("counter", declared(record))),
    }
    let operations = analysis.probe_operations();
    let during = if analysis.edge.is_some() { "a capture window was open" } else { "the board measured" };
    rows.push(("probe", format!("{operations} transactions while {during}")));
    rows.extend(analysis.edge.iter().map(|edge| ("core", edge::core(record, edge))));
    if let Some(identity) = &analysis.identity {
        let (board, git, level) = (&identity.board, &identity.git_hash, identity.exception_level);
        rows.push(("board", format!("{board}, firmware {git}, EL{level}")));
    }
    rows.push(("generator", record.conditions.generator.clone()));
    rows.push(("conditions", record.conditions.bring_up.clone()));
    let from = &record.provenance;
    let (version, commit) = (&from.ppsrig_version, &from.ppsrig_commit);
    rows.push((
        "versions",
        format!("ppsrig {version} ({commit}), image {} sha256 {}", from.image, from.image_sha256),
    ));
    rows.extend(incomplete.iter().map(|what| ("incomplete", what.clone())));
    rows.retain(|(_, value)| !value.is_empty());
    format!("\n{}", pairs(&rows))
}

/// The counter's rate where the run does not measure it.
fn declared(record: &RunRecord) -> String {
    let board = &record.bench.board;
    let how = match record.plan.clock {
        Clock::Exact => "exact: the emulator's own",
        Clock::Live => "not measured in this run",
    };
    format!("declared {} at a core clock of {} ({how})", board.counter_hz, board.cpu_hz)
}

/// "1 session", "3 sessions".
fn counted(count: impl Into<u64>, what: &str) -> String {
    match count.into() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Empty where there is no value.
fn optional(value: Option<Fixed>) -> Cell {
    right(or_nothing(value))
}

fn or_nothing(value: Option<Fixed>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Components of an uncertainty by name, in nanoseconds.
fn components(parts: &[Component]) -> String {
    let parts = parts
        .iter()
        .map(|part| format!("{} {} ({})", part.name, or_nothing(part.nanoseconds()), part.kind.name()));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_takes_the_terminals_width_within_reason() {
        let asked = [0, 20, 60, 79, 100, 120, 300];
        assert_eq!(asked.map(width_of_terminal), [80, 60, 60, 79, 100, 120, 120]);
    }
}
