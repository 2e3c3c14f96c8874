//! The rows of summary.csv, in their order: latency, rate, probe, ledger.

use ppsrig_wire::EdgeMode;

use super::Whole;
use super::class::{Class, Side};
use super::edge::EdgeAnalysis;
use super::figure::Figure;
use super::fixed::Fixed;
use super::rate::CounterRate;
use super::session::Session;
use super::verdict::limited;
use crate::names::{Clock, Measurement};
use crate::plan::{EDGE_MODES, RunRecord};

/// Every figure of a run.
#[must_use]
pub fn figures(analysis: &EdgeAnalysis, record: &RunRecord) -> Vec<Figure> {
    let mode = mode_name(record.plan.mode);
    let mut figures: Vec<Figure> =
        analysis.latencies.iter().flat_map(|latencies| latencies.figures.iter().cloned()).collect();
    figures.push(counter_rate(analysis, record, mode));
    figures.push(Figure {
        n: analysis.sessions.len() as u64,
        sessions: analysis.sessions.len() as u64,
        value: Some(Fixed::whole(i128::from(analysis.probe_operations))),
        verdict: if analysis.probe_operations == 0 { "passed" } else { "" },
        ..Figure::new(mode, "", "probe_transactions", "operations")
    });
    let ledgers = [
        ("commanded", &analysis.edges.commanded, true),
        ("captured", &analysis.edges.captured, false),
        ("preamble-commanded", &analysis.preamble.commanded, true),
        ("preamble-captured", &analysis.preamble.captured, false),
    ];
    for (variant, side, commanded) in ledgers {
        figures.extend(ledger(analysis, record, variant, side, commanded));
    }
    figures
}

/// The counter's rate where the run does not measure it.
#[must_use]
pub fn declared_rate(measurement: Measurement, whole: Whole<'_>) -> Figure {
    let exact = whole.record.plan.clock == Clock::Exact;
    Figure {
        sessions: u64::from(whole.record.plan.sessions),
        value: Some(Fixed::whole(whole.record.bench.board.counter_hz.0.into())),
        verdict: if exact { "declared (exact)" } else { "declared" },
        cores: cores(measurement, whole),
        ..Figure::of(measurement, "", "counter_rate", "Hz")
    }
}

/// Probe operations while the board measured.
#[must_use]
pub fn probe_transactions(measurement: Measurement, operations: u64, whole: Whole<'_>) -> Figure {
    let sessions = u64::from(whole.record.plan.sessions);
    Figure {
        n: sessions,
        sessions,
        value: Some(Fixed::whole(operations.into())),
        verdict: if operations == 0 { "passed" } else { "" },
        cores: cores(measurement, whole),
        ..Figure::of(measurement, "", "probe_transactions", "operations")
    }
}

/// The cores of a figure that concerns all variants: those of the plan.
fn cores(measurement: Measurement, whole: Whole<'_>) -> u8 {
    let of_ctime = whole.record.plan.ctime.as_ref().filter(|_| measurement == Measurement::Ctime);
    of_ctime.map_or(1, |plan| plan.cores)
}

/// The plan's mode by name.
#[must_use]
pub fn mode_name(mode: EdgeMode) -> &'static str {
    EDGE_MODES.iter().find(|(known, _)| *known == mode).map_or("", |(_, name)| name)
}

fn ledger(
    analysis: &EdgeAnalysis,
    record: &RunRecord,
    variant: &'static str,
    side: &Side,
    commanded: bool,
) -> Vec<Figure> {
    let belongs =
        |class: &Class| if commanded { class.on_commanded_side() } else { class.on_captured_side() };
    let limits = limited(&record.bench.limits);
    let limit = |class: Class| {
        limits.iter().find(|(known, _)| *known == class).filter(|_| !variant.starts_with("preamble"))
    };
    Class::ALL
        .into_iter()
        .filter(belongs)
        .map(|class| Figure {
            variant,
            n: side.total(),
            sessions: analysis.sessions.len() as u64,
            value: Some(Fixed::whole(i128::from(side.count(class)))),
            verdict: match limit(class) {
                Some((_, limit)) if side.count(class) > *limit => "exceeded",
                Some(_) => "passed",
                None => "",
            },
            ..Figure::new(mode_name(record.plan.mode), "", &format!("ledger_{class}"), "edges")
        })
        .collect()
}

/// The mean of the sessions' rates; its uncertainty is the largest of theirs.
fn counter_rate(analysis: &EdgeAnalysis, record: &RunRecord, mode: &'static str) -> Figure {
    let declared = record.bench.board.counter_hz;
    let rates: Vec<&CounterRate> =
        analysis.sessions.iter().filter_map(|session: &Session| session.rate.as_ref()).collect();
    let count = rates.len() as i128;
    let sum: i128 = rates.iter().map(|rate| rate.hertz().scaled).sum();
    let largest = rates.iter().map(|rate| rate.u_relative * rate.hertz().to_f64()).fold(0.0, f64::max);
    let refused = rates.iter().any(|rate| rate.refusal(declared).is_some());
    let value = (count > 0).then(|| Fixed { scaled: sum / count.max(1), places: 6 });
    Figure {
        n: rates.iter().map(|rate| rate.readings as u64).sum(),
        sessions: rates.len() as u64,
        uncertainty: value.and_then(|_| Fixed::rounded(largest, 6)),
        verdict: match (value, refused) {
            (None, _) => "",
            (Some(_), true) => "refused",
            (Some(_), false) => "passed",
        },
        value,
        ..Figure::new(mode, "", "counter_rate", "Hz")
    }
}
