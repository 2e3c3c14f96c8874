//! summary.json: the figures of summary.csv with status, verdict, ledger and measured rate, for machines.

use serde::Serialize;

use super::csv_files::clock_name;
use super::measured_json::{CtimeJson, PathJson, ctime_json, path_json};
use crate::analysis::Analysis;
use crate::analysis::Session;
use crate::analysis::class::{Class, Ledger, Side};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::figure::Figure;
use crate::analysis::figures::mode_name;
use crate::analysis::fixed::Fixed;
use crate::analysis::rate::faults::{CounterFault, FaultKind};
use crate::analysis::rate::stability::Stability;
use crate::analysis::uncertainty::Component;
use crate::names::{Clock, Measurement};
use crate::plan::{Provenance, RunRecord};

#[derive(Serialize)]
struct Summary<'a> {
    bundle_version: u32,
    status: &'static str,
    partial_because: Option<&'a str>,
    outcome: crate::analysis::verdict::Outcome,
    exit: u8,
    reasons: &'a [String],
    emulated: bool,
    measurement: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    clock_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_hz: Option<Fixed>,
    /// How time passed; edges are always measured live.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<Clock>,
    provenance: ProvenanceJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_rule: Option<&'a str>,
    /// Where the run is past the end of the table of leap seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    leap_table: Option<&'a str>,
    bring_up: &'a str,
    probe_transactions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter_rate: Option<Vec<Rate<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter_faults: Option<Vec<CounterFaultJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter_steps: Option<Vec<StepSearchJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preamble_ledger: Option<LedgerJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Vec<LatencyJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_echo: Option<Vec<WithoutEcho>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<PathJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime: Option<Vec<CtimeJson<'a>>>,
    figures: Vec<FigureJson<'a>>,
}

#[derive(Serialize)]
struct ProvenanceJson<'a> {
    ppsrig_version: &'a str,
    ppsrig_commit: &'a str,
    started_utc: &'a str,
    bench_file: &'a str,
    image: &'a str,
    image_sha256: &'a str,
    image_bytes: u64,
}

#[derive(Serialize)]
struct Rate<'a> {
    session: u32,
    hz: Fixed,
    ratio: Option<Fixed>,
    u_ppm: Option<Fixed>,
    readings: usize,
    span_ps: i64,
    time_base: &'a str,
    components: Vec<ComponentJson>,
    /// What the readings say of the rate's stability; null over a span that is too short.
    stability: Option<Stability>,
}

/// What is wrong with the counter.
#[derive(Serialize)]
struct CounterFaultJson<'a> {
    session: u32,
    kind: FaultKind,
    edge: Option<u32>,
    window: Option<u32>,
    capture: Option<u32>,
    size: Fixed,
    unit: &'a str,
    cause: &'a str,
    text: &'a str,
}

/// How steps of the counter were looked for.
#[derive(Serialize)]
struct StepSearchJson<'a> {
    session: u32,
    rule: &'a str,
}

#[derive(Serialize)]
struct LedgerJson {
    commanded_count: u64,
    captured_count: u64,
    counted_by_board: bool,
    balanced: bool,
    problems: Vec<String>,
    commanded: serde_json::Map<String, serde_json::Value>,
    captured: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct LatencyJson<'a> {
    mode: &'a str,
    tie: &'a str,
    n: u64,
    interval_between_sessions: bool,
    components: Vec<ComponentJson>,
}

#[derive(Serialize)]
pub(super) struct ComponentJson {
    name: &'static str,
    mean_ns: Option<Fixed>,
    kind: crate::analysis::uncertainty::Kind,
}

/// Paired edges that are left out of the latency by echo.
#[derive(Serialize)]
struct WithoutEcho {
    session: u32,
    edges: u64,
    reason: &'static str,
}

#[derive(Serialize)]
struct FigureJson<'a> {
    /// Left out where it is that of edges, as in bundles that have nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    measurement: Option<Measurement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<u8>,
    variant: &'a str,
    mode: &'a str,
    tie: &'a str,
    metric: &'a str,
    unit: &'a str,
    n: u64,
    sessions: u64,
    value: Option<Fixed>,
    ci95_low: Option<Fixed>,
    ci95_high: Option<Fixed>,
    u_systematic: Option<Fixed>,
    verdict: &'a str,
}

/// The whole object, indented, with a line end.
#[must_use]
pub fn summary_json(record: &RunRecord, analysis: &Analysis) -> String {
    let edge = analysis.edge.as_ref();
    let measured: Vec<_> = record.plan.measure.iter().map(|one| one.name()).collect();
    let summary = Summary {
        bundle_version: record.bundle_version,
        status: if analysis.partial.is_some() { "partial" } else { "complete" },
        partial_because: analysis.partial.as_deref(),
        outcome: analysis.verdict.outcome,
        exit: analysis.verdict.outcome.exit(),
        reasons: &analysis.verdict.reasons,
        emulated: analysis.emulated,
        measurement: measured.join(","),
        mode: edge.map(|_| mode_name(record.plan.mode)),
        clock_id: clock_name(record),
        rate_hz: edge.map(|_| Fixed { scaled: i128::from(record.plan.rate_millihertz), places: 3 }),
        clock: Some(record.plan.clock).filter(|_| analysis.path.is_some() || analysis.ctime.is_some()),
        provenance: provenance(&record.provenance),
        second_rule: edge.map(|edge| edge.second_rule.as_str()),
        leap_table: edge.and_then(|edge| edge.leap_table.as_deref()),
        bring_up: &record.conditions.bring_up,
        probe_transactions: analysis.probe_operations(),
        counter_rate: edge.map(|edge| rates(record, edge)),
        counter_faults: edge.map(counter_faults),
        counter_steps: edge.map(step_searches),
        ledger: edge.map(|edge| ledger(&edge.edges)),
        preamble_ledger: edge.map(|edge| ledger(&edge.preamble)),
        latency: edge.map(latency),
        without_echo: edge.map(without_echo),
        path: analysis.path.as_ref().map(path_json),
        ctime: analysis.ctime.as_ref().map(ctime_json),
        figures: analysis.figures().map(figure).collect(),
    };
    let mut text =
        serde_json::to_string_pretty(&summary).expect("names are strings and no number is out of range");
    text.push('\n');
    text
}

fn provenance(from: &Provenance) -> ProvenanceJson<'_> {
    ProvenanceJson {
        ppsrig_version: &from.ppsrig_version,
        ppsrig_commit: &from.ppsrig_commit,
        started_utc: &from.started_utc,
        bench_file: &from.bench_file,
        image: &from.image,
        image_sha256: &from.image_sha256,
        image_bytes: from.image_bytes,
    }
}

fn rates<'a>(record: &RunRecord, analysis: &'a EdgeAnalysis) -> Vec<Rate<'a>> {
    analysis
        .sessions
        .iter()
        .filter_map(|session| {
            let rate = session.rate.as_ref()?;
            Some(Rate {
                session: session.number,
                hz: rate.hertz(),
                ratio: rate.ratio_of(record.bench.board.counter_hz, 9),
                u_ppm: rate.u_ppm(3),
                readings: rate.readings,
                span_ps: i64::try_from(rate.span_ps).unwrap_or(i64::MAX),
                time_base: rate.time_base,
                components: components(&rate.components),
                stability: rate.stability,
            })
        })
        .collect()
}

fn counter_faults(analysis: &EdgeAnalysis) -> Vec<CounterFaultJson<'_>> {
    let faults = analysis
        .sessions
        .iter()
        .flat_map(|session| session.counter_faults.iter().map(|fault| (session.number, fault)));
    faults.map(|(session, fault)| counter_fault(session, fault)).collect()
}

fn counter_fault(session: u32, fault: &CounterFault) -> CounterFaultJson<'_> {
    CounterFaultJson {
        session,
        kind: fault.kind,
        edge: fault.edge,
        window: fault.capture.map(|(window, _)| window),
        capture: fault.capture.map(|(_, capture)| capture),
        size: fault.size,
        unit: fault.unit,
        cause: fault.cause,
        text: &fault.text,
    }
}

fn step_searches(analysis: &EdgeAnalysis) -> Vec<StepSearchJson<'_>> {
    let searched = analysis.sessions.iter().filter(|session| session.rate.is_some());
    searched.map(|session| StepSearchJson { session: session.number, rule: &session.step_rule }).collect()
}

fn ledger(ledger: &Ledger) -> LedgerJson {
    let problems = ledger.imbalances();
    let side = |side: &Side, belongs: fn(Class) -> bool| {
        Class::ALL
            .into_iter()
            .filter(|class| belongs(*class))
            .map(|class| (class.name().to_owned(), side.count(class).into()))
            .collect()
    };
    LedgerJson {
        commanded_count: ledger.commanded_count,
        captured_count: ledger.captured_count,
        counted_by_board: ledger.counted_by_board,
        balanced: problems.is_empty(),
        problems,
        commanded: side(&ledger.commanded, Class::on_commanded_side),
        captured: side(&ledger.captured, Class::on_captured_side),
    }
}

fn latency(analysis: &EdgeAnalysis) -> Vec<LatencyJson<'_>> {
    analysis
        .latencies
        .iter()
        .map(|latencies| LatencyJson {
            mode: latencies.mode.name(),
            tie: latencies.tie.name(),
            n: latencies.n,
            interval_between_sessions: latencies.sample.is_between_sessions(),
            components: components(&latencies.components),
        })
        .collect()
}

/// The components of an uncertainty.
pub(super) fn components(parts: &[Component]) -> Vec<ComponentJson> {
    parts
        .iter()
        .map(|part| ComponentJson { name: part.name, mean_ns: part.nanoseconds(), kind: part.kind })
        .collect()
}

fn without_echo(analysis: &EdgeAnalysis) -> Vec<WithoutEcho> {
    let of_session = |session: &Session| {
        let session_number = session.number;
        let entry = move |(reason, edges): (&&'static str, &u64)| WithoutEcho {
            session: session_number,
            edges: *edges,
            reason,
        };
        session.without_echo.iter().map(entry).collect::<Vec<_>>()
    };
    analysis.sessions.iter().flat_map(of_session).collect()
}

fn figure(figure: &Figure) -> FigureJson<'_> {
    let own = figure.measurement != Measurement::Edge;
    FigureJson {
        measurement: own.then_some(figure.measurement),
        clock_id: own.then_some(figure.clock_id),
        cores: own.then_some(figure.cores),
        variant: figure.variant,
        mode: figure.mode,
        tie: figure.tie,
        metric: &figure.metric,
        unit: &figure.unit,
        n: figure.n,
        sessions: figure.sessions,
        value: figure.value,
        ci95_low: figure.interval.map(|(low, _)| low),
        ci95_high: figure.interval.map(|(_, high)| high),
        u_systematic: figure.uncertainty,
        verdict: figure.verdict,
    }
}
