//! The edges that are worth a look, each with its circumstances: the latest ones, and those that did not pair.

use super::timeline::gpst;
use crate::analysis::Analysis;
use crate::analysis::class::Class;
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::fixed::Fixed;
use crate::analysis::row::EdgeRow;
use crate::events::Burst;
use crate::units::{GpsSecond, Nanos};

/// How many of them.
pub const SHOWN: usize = 10;

/// One edge, and what was the case around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Circumstances<'a> {
    /// Its line of the ledger.
    pub row: &'a EdgeRow,
    /// Its time on the GPS scale, for people; empty where it has none.
    pub time: String,
    /// Its latency in nanoseconds.
    pub latency_ns: Option<Fixed>,
    /// Its systematic uncertainty.
    pub u_ns: Option<Fixed>,
    /// What the reference was worth then, and why; empty where that is not known.
    pub reference: String,
    /// Milliseconds since the record before it in the session arrived.
    pub gap_ms: Option<Fixed>,
    /// The latency of the edge before it, and of the one behind it.
    pub neighbours_ns: (Option<Fixed>, Option<Fixed>),
    /// Temperatures by name, in degrees Celsius.
    pub temperatures: Vec<(&'a str, Fixed)>,
}

/// The latest edges, the latest one first. Of equals, the earlier one.
#[must_use]
pub fn latest(analysis: &Analysis) -> Vec<Circumstances<'_>> {
    let Some(edge) = &analysis.edge else { return Vec::new() };
    let rows = measured(edge);
    let late = |index: &usize| rows[*index].latency().map(|(_, latency)| latency.ps);
    let mut order: Vec<usize> = (0..rows.len()).filter(|index| late(index).is_some()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(late(index)), *index));
    order.truncate(SHOWN);
    order.into_iter().map(|index| circumstances(analysis, edge, &rows, index)).collect()
}

/// The first edges that did not pair, and how many there are.
#[must_use]
pub fn unpaired(analysis: &Analysis) -> (Vec<Circumstances<'_>>, usize) {
    let Some(edge) = &analysis.edge else { return (Vec::new(), 0) };
    let rows = measured(edge);
    let odd: Vec<usize> = (0..rows.len()).filter(|index| rows[*index].class != Class::Paired).collect();
    let shown = odd.iter().take(SHOWN).map(|index| circumstances(analysis, edge, &rows, *index));
    (shown.collect(), odd.len())
}

fn measured(edge: &EdgeAnalysis) -> Vec<&EdgeRow> {
    edge.rows().filter(|row| row.burst == Burst::Edges).collect()
}

fn circumstances<'a>(
    analysis: &'a Analysis,
    edge: &EdgeAnalysis,
    rows: &[&'a EdgeRow],
    index: usize,
) -> Circumstances<'a> {
    let row = rows[index];
    let beside = |index: Option<usize>| {
        index.and_then(|index| rows.get(index)).filter(|one| one.session == row.session)
    };
    let before = beside(index.checked_sub(1));
    let latency = |row: &EdgeRow| row.latency().map(|(_, latency)| Fixed::nanoseconds(latency.ps));
    let gap = before.and_then(|before| row.arrival?.0.checked_sub(before.arrival?.0));
    Circumstances {
        row,
        time: row.gpst_ns.map(gpst).unwrap_or_default(),
        latency_ns: latency(row),
        u_ns: row.latency().map(|(_, latency)| Fixed::nanoseconds(latency.u_ps())),
        reference: row.gpst_ns.map(|ns| reference(edge, Nanos(ns).second())).unwrap_or_default(),
        gap_ms: gap.map(|ns| Fixed { scaled: i128::from(ns / 1000), places: 3 }),
        neighbours_ns: (
            before.and_then(|row| latency(row)),
            beside(index.checked_add(1)).and_then(|row| latency(row)),
        ),
        temperatures: row.arrival.map(|at| analysis.environment.near(at)).unwrap_or_default(),
    }
}

fn reference(edge: &EdgeAnalysis, at: GpsSecond) -> String {
    let span = edge.reference_states.iter().find(|span| span.from <= at && at < span.to);
    span.map_or_else(String::new, |span| match span.reason.as_str() {
        "" => span.state.name().to_owned(),
        reason => format!("{}: {reason}", span.state.name()),
    })
}
