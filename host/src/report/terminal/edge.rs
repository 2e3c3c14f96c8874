//! What the terminal report says about edges: the ledger, the latencies, and how they came about.

use comfy_table::{Cell, ColumnConstraint};

use super::{SHOWN, optional, or_nothing, pairs, plain, right};
use crate::analysis::Session;
use crate::analysis::class::{Class, Ledger};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::figures::mode_name;
use crate::analysis::label::SECOND_RULE_NAME;
use crate::analysis::latency::Latencies;
use crate::analysis::tie::Tie;
use crate::plan::RunRecord;
use crate::report::csv_files::{clock_name, rate_hz};
use crate::units::Hertz;

/// What was measured, in a line.
pub(super) fn heading(record: &RunRecord, label: &str) -> String {
    let plan = &record.plan;
    let sessions =
        if plan.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", plan.sessions) };
    format!(
        "edge: {} mode, {} edges at {} Hz, {}, {sessions}{label}\n",
        mode_name(plan.mode),
        plan.edges,
        rate_hz(record),
        clock_name(record)
    )
}

/// The ledger and the latencies.
pub(super) fn tables(analysis: &EdgeAnalysis, emulated: bool) -> String {
    let latencies = analysis.latencies.iter().map(|latencies| latency(latencies, emulated));
    ledger(analysis) + &latencies.collect::<String>()
}

/// The counter of each session, what disturbed it, and the seconds' rule.
pub(super) fn facts(record: &RunRecord, analysis: &EdgeAnalysis) -> Vec<(&'static str, String)> {
    let declared = record.bench.board.counter_hz;
    let mut rows: Vec<(&str, String)> =
        analysis.sessions.iter().flat_map(|session| session_facts(session, declared)).collect();
    rows.push(("seconds", SECOND_RULE_NAME.to_owned()));
    rows.extend(analysis.leap_table.iter().map(|what| ("leap s", what.clone())));
    rows
}

/// What the board's heartbeats say.
pub(super) fn core(record: &RunRecord, analysis: &EdgeAnalysis) -> String {
    let beats = analysis.heartbeats();
    let gap = or_nothing(analysis.longest_gap_ms(record.bench.board.counter_hz));
    format!("{beats} heartbeats; its idle loop stood still for {gap} ms at most")
}

fn ledger(analysis: &EdgeAnalysis) -> String {
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
        table.add_row(vec![
            Cell::new(format!("  {}", figure.metric)),
            optional(figure.value),
            optional(figure.interval.map(|(low, _)| low)),
            optional(figure.interval.map(|(_, high)| high)),
            optional(figure.uncertainty),
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
    format!("{}; mean over edges", super::components(&latencies.components))
}

/// The counter of one session, and what disturbed it.
fn session_facts(session: &Session, declared: Hertz) -> Vec<(&'static str, String)> {
    let number = session.number;
    let mut rows = vec![(
        "counter",
        match &session.rate {
            None => format!("session {number}: rate not measured"),
            Some(rate) => format!(
                "session {number}: {} Hz, ratio {} to the declared {declared}, U {} ppm (k=2; {}, over {} s), {} edges, \
                 times by {}",
                rate.hertz(),
                or_nothing(rate.ratio_of(declared, 6)),
                or_nothing(rate.u_ppm(1)),
                rate.components.iter().map(|part| part.name).collect::<Vec<_>>().join(", "),
                rate.span_s(),
                rate.readings,
                rate.time_base
            ),
        },
    )];
    rows.extend(
        session.counter_faults.iter().map(|fault| ("fault", format!("session {number}: {}", fault.text))),
    );
    rows.extend(session.rate.iter().filter_map(|rate| {
        let stability = rate.stability?;
        Some(("stability", format!("session {number}: {}", stability.text())))
    }));
    rows.extend(session.rate.iter().map(|_| ("steps", format!("session {number}: {}", session.step_rule))));
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
