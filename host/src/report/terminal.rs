//! The terminal report: plain text that can go into a mail, as wide as the terminal or 80 columns.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table};

use super::csv_files::{clock_name, rate_hz};
use crate::analysis::class::{Class, Ledger};
use crate::analysis::figures::mode_name;
use crate::analysis::fixed::Fixed;
use crate::analysis::label::SECOND_RULE_NAME;
use crate::analysis::latency::Latencies;
use crate::analysis::tie::Tie;
use crate::analysis::{Analysis, Session};
use crate::plan::RunRecord;
use crate::units::Hertz;

/// Disturbances of a session that are told one by one.
const SHOWN: usize = 5;
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
/// are. It is as wide as [`width`] says.
#[must_use]
pub fn table(record: &RunRecord, analysis: &Analysis, incomplete: &[String], to: &Path) -> String {
    let mut text = verdict(analysis);
    text.push_str(&heading(record, analysis));
    text.push_str(&ledger(analysis));
    for latencies in &analysis.latencies {
        text.push_str(&latency(latencies, analysis.emulated));
    }
    text.push_str(&facts(record, analysis, incomplete));
    // Paths are not wrapped, so that they can be copied.
    let _ = writeln!(
        text,
        "\nfiles in {}:\n  {}, {}, {}",
        to.display(),
        super::EDGES,
        super::SUMMARY,
        super::SUMMARY_JSON
    );
    text
}

fn heading(record: &RunRecord, analysis: &Analysis) -> String {
    let plan = &record.plan;
    let sessions =
        if plan.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", plan.sessions) };
    let label = if analysis.emulated { ", emulated" } else { "" };
    let mut text = format!(
        "edge: {} mode, {} edges at {} Hz, {}, {sessions}{label}\n",
        mode_name(plan.mode),
        plan.edges,
        rate_hz(record),
        clock_name(record)
    );
    if analysis.partial.is_some() {
        text.push_str("PARTIAL: the recording is not whole\n");
    }
    text
}

fn verdict(analysis: &Analysis) -> String {
    let outcome = analysis.verdict.outcome;
    let reasons = analysis.verdict.reasons.iter().enumerate().map(|(index, reason)| match index {
        0 => ("verdict", format!("{outcome} (exit {}): {reason}", outcome.exit())),
        _ => ("", reason.clone()),
    });
    pairs(&reasons.collect::<Vec<_>>())
}

/// A borderless table that fits the width.
fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width());
    table
}

fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Rows of a name and a text that is wrapped.
pub(super) fn pairs(rows: &[(&str, String)]) -> String {
    let mut table = plain();
    for (name, value) in rows {
        table.add_row(vec![Cell::new(name), Cell::new(value)]);
    }
    table.trim_fmt() + "\n"
}

fn ledger(analysis: &Analysis) -> String {
    let mut table = plain();
    table.set_header(vec![
        Cell::new("ledger"),
        right("commanded"),
        right("captured"),
        right("preamble commanded"),
        right("captured"),
    ]);
    let (edges, preamble) = (&analysis.edges, &analysis.preamble);
    for class in Class::ALL {
        let counts = [
            class.on_commanded_side().then(|| edges.commanded.count(class)),
            class.on_captured_side().then(|| edges.captured.count(class)),
            class.on_commanded_side().then(|| preamble.commanded.count(class)),
            class.on_captured_side().then(|| preamble.captured.count(class)),
        ];
        let always = matches!(class, Class::Paired | Class::Missed | Class::Lost | Class::Spurious);
        if always || counts.iter().flatten().any(|count| *count > 0) {
            let mut row = vec![Cell::new(format!("  {class}"))];
            row.extend(
                counts.map(|count| right(count.map_or_else(|| "-".to_owned(), |count| count.to_string()))),
            );
            table.add_row(row);
        }
    }
    let totals = [
        edges.commanded.total(),
        edges.captured.total(),
        preamble.commanded.total(),
        preamble.captured.total(),
    ];
    let mut row = vec![Cell::new("  total")];
    row.extend(totals.map(right));
    table.add_row(row);
    let balances = format!("edges: {}; preamble: {}", balance(edges), balance(preamble));
    format!("\n{}\n{}", table.trim_fmt(), pairs(&[("  balance", balances)]))
}

fn balance(ledger: &Ledger) -> String {
    let problems = ledger.imbalances();
    if !problems.is_empty() {
        return format!("DOES NOT BALANCE: {}", problems.join("; "));
    }
    let by = if ledger.counted_by_board { "the board's own totals" } else { "what was heard (no totals)" };
    format!("even, {} commanded and {} captured, by {by}", ledger.commanded_count, ledger.captured_count)
}

fn latency(latencies: &Latencies, emulated: bool) -> String {
    let label = if emulated { " (emulated: not the A53's)" } else { "" };
    let what = match latencies.tie {
        Tie::None => "spread only, no tie".to_owned(),
        tie => format!("tie {}", tie.name()),
    };
    let mut table = plain();
    table.set_header(vec![
        Cell::new("  ns"),
        right("value"),
        right("95 % from"),
        right("to"),
        right("U"),
        right("n"),
    ]);
    // A number is never torn apart, however narrow the terminal.
    table.set_constraints([ColumnConstraint::ContentWidth; 6]);
    let shown = latencies.figures.iter().filter(|figure| figure.unit == "ns" && figure.value.is_some());
    for figure in shown {
        let empty = |value: Option<Fixed>| right(value.map_or_else(String::new, |value| value.to_string()));
        table.add_row(vec![
            Cell::new(format!("  {}", figure.metric)),
            empty(figure.value),
            empty(figure.interval.map(|(low, _)| low)),
            empty(figure.interval.map(|(_, high)| high)),
            empty(figure.uncertainty),
            right(figure.n),
        ]);
    }
    let mut rows = vec![("  U of", components(latencies))];
    if latencies.tie != Tie::None {
        let units = if latencies.sample.is_between_sessions() { "session means" } else { "within-session" };
        rows.push(("  95 %", format!("mean: Student's t, {units}; percentiles: order statistics")));
    }
    format!("\nlatency {}, {what}{label}\n{}\n{}", latencies.mode.name(), table.trim_fmt(), pairs(&rows))
}

fn components(latencies: &Latencies) -> String {
    if latencies.components.is_empty() {
        return "not known: neither an interval counter nor the bench file states how well an edge's time is known"
            .to_owned();
    }
    let parts = latencies.components.iter().map(|part| {
        let ns = Fixed::rounded(part.ps, 0)
            .map_or_else(String::new, |ps| Fixed::nanoseconds(ps.scaled).to_string());
        format!("{} {ns} ({})", part.name, part.kind.name())
    });
    format!("{}; mean over edges", parts.collect::<Vec<_>>().join(", "))
}

fn facts(record: &RunRecord, analysis: &Analysis, incomplete: &[String]) -> String {
    let declared = record.bench.board.counter_hz;
    let mut rows: Vec<(&str, String)> =
        analysis.sessions.iter().flat_map(|session| session_facts(session, declared)).collect();
    rows.push(("seconds", SECOND_RULE_NAME.to_owned()));
    let operations = analysis.probe_operations;
    rows.push(("probe", format!("{operations} transactions while a capture window was open")));
    let beats: u64 = analysis.sessions.iter().map(|session| session.heartbeats).sum();
    let gap = analysis.sessions.iter().map(|session| session.longest_gap_ticks).max().unwrap_or(0);
    let gap_ms = gap as f64 / declared.0.max(1) as f64 * 1e3;
    rows.push(("core", format!("{beats} heartbeats; its idle loop stood still for {gap_ms:.3} ms at most")));
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

/// The counter of one session, and what disturbed it.
fn session_facts(session: &Session, declared: Hertz) -> Vec<(&'static str, String)> {
    let number = session.number;
    let mut rows = vec![(
        "counter",
        match &session.rate {
            None => format!("session {number}: rate not measured"),
            Some(rate) => format!(
                "session {number}: {} Hz, ratio {:.6} to the declared {declared}, U {:.1} ppm (k=2; {}, over {:.3} s), \
                 {} edges, times by {}",
                rate.hertz(),
                rate.ratio(declared),
                rate.u_relative * 1e6,
                rate.components.iter().map(|part| part.name).collect::<Vec<_>>().join(", "),
                rate.span_ps as f64 / 1e12,
                rate.readings,
                rate.time_base
            ),
        },
    )];
    rows.extend(
        session.disturbed.iter().take(SHOWN).map(|what| ("disturbed", format!("session {number}: {what}"))),
    );
    let more = session.disturbed.len().saturating_sub(SHOWN);
    if more > 0 {
        rows.push(("", format!("session {number}: and {more} more")));
    }
    rows.extend(session.without_echo.iter().map(|(why, edges)| {
        (
            "no echo",
            format!("session {number}: {edges} paired edges are left out of the echo's latency: {why}"),
        )
    }));
    rows
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
