//! The edges worth a look, each with its circumstances.

use maud::{Markup, html};
use ppsrig_wire::CaptureCounters;

use crate::analysis::Analysis;
use crate::analysis::picture::worst::{Circumstances, SHOWN, latest, unpaired};
use crate::report::html::page::{Cell, table};

const HEADER: [&str; 15] = [
    "edge",
    "class and reason",
    ">latency, ns",
    ">U, ns",
    ">latency before, ns",
    ">and behind",
    ">gap before, ms",
    "mode",
    "GPS time",
    "reference then",
    "temperature, °C",
    "counter",
    ">interval, ps",
    ">capture",
    "in raw/",
];

/// The latest edges, and those that did not pair.
pub(super) fn sections(analysis: &Analysis) -> Markup {
    let late = latest(analysis);
    let (odd, count) = unpaired(analysis);
    html! {
        h3 { "The latest edges" }
        @if late.is_empty() { p { "No edge has an absolute latency, so none is the latest." } }
        @else { (rows(&format!("The {SHOWN} latest edges with their circumstances, the latest first"), &late)) }
        h3 { "Edges that did not pair" }
        @if odd.is_empty() { p { "Every edge paired." } }
        @else { (rows(&format!("The first {} of {count} edges that did not pair", odd.len()), &odd)) }
        p class="quiet" { "Gap before: from the arrival of the record before it. In raw/: the file, and the host time in nanoseconds that begins its line." }
    }
}

fn rows(label: &str, edges: &[Circumstances<'_>]) -> Markup {
    table(label, &HEADER, edges.iter().map(row).collect())
}

fn row(edge: &Circumstances<'_>) -> Vec<Cell> {
    let row = edge.row;
    let which = match row.commanded {
        Some(number) => format!("session {}, edge {number}", row.session),
        None => format!("session {}, not commanded", row.session),
    };
    let temperatures: Vec<_> =
        edge.temperatures.iter().map(|(name, degrees)| format!("{name} {degrees}")).collect();
    let place = row.arrival.map(|at| format!("link.log {}", at.0)).unwrap_or_default();
    vec![
        Cell::text(which),
        Cell::wide(format!("{}: {}", row.class, row.reason)),
        Cell::number(edge.latency_ns),
        Cell::number(edge.u_ns),
        Cell::number(edge.neighbours_ns.0),
        Cell::number(edge.neighbours_ns.1),
        Cell::number(edge.gap_ms),
        Cell::text(row.mode.map_or("", |mode| mode.name())),
        Cell::text(&edge.time),
        Cell::wide(&edge.reference),
        Cell::text(temperatures.join(", ")),
        Cell::wide(counters(edge)),
        Cell::number(row.interval_ps),
        Cell::number(row.captured),
        Cell::text(place),
    ]
}

/// What the board read.
fn counters(edge: &Circumstances<'_>) -> String {
    let Some(capture) = edge.row.capture else { return String::new() };
    let mut parts = match capture.counters {
        CaptureCounters::Irq { capture } => vec![format!("capture {capture}")],
        CaptureCounters::Poll { before, after } => vec![format!("before {before}"), format!("after {after}")],
    };
    parts.extend(capture.snapshot.map(|snapshot| format!("snapshot {}", snapshot.counter)));
    parts.extend(capture.echo.map(|(before, after)| format!("echo {before} to {after}")));
    parts.join(", ")
}
