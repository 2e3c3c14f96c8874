//! edges.csv and summary.csv: comma, point, LF, no locale; unknown is empty.

use ppsrig_wire::CaptureCounters;

use crate::analysis::Analysis;
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::figure::Figure;
use crate::analysis::fixed::Fixed;
use crate::analysis::row::EdgeRow;
use crate::analysis::tie::Tie;
use crate::events::Burst;
use crate::formats::foreign_text::csv_field;
use crate::names::{self, Measurement};
use crate::plan::{PREAMBLE_PERIOD_NS, RunRecord};

const EDGE_COLUMNS: [&str; 19] = [
    "session",
    "commanded_seq",
    "captured_seq",
    "gpst_ns",
    "qerr_ps",
    "mode",
    "counter_before",
    "counter_capture",
    "counter_after",
    "counter_snapshot",
    "counter_echo_before",
    "counter_echo_after",
    "interval_ps",
    "realtime_ns",
    "class",
    "reason",
    "tie",
    "latency_ns",
    "u_ns",
];

const SUMMARY_COLUMNS: [&str; 17] = [
    "measurement",
    "variant",
    "clock_id",
    "cores",
    "mode",
    "tie",
    "rate_hz",
    "emulated",
    "metric",
    "unit",
    "n",
    "sessions",
    "value",
    "ci95_low",
    "ci95_high",
    "u_systematic",
    "verdict",
];

/// Edges a second of every preamble.
const PREAMBLE_RATE_HZ: &str = "1";
const _: () = assert!(PREAMBLE_PERIOD_NS == 1_000_000_000, "the rate above is that of the preamble");

/// The measurement's edges, one line each. The preamble's are in summary.csv by class, and in raw/ in full.
#[must_use]
pub fn edges_csv(analysis: &EdgeAnalysis) -> String {
    let rows = analysis.rows().filter(|row| row.burst == Burst::Edges).map(edge_fields);
    table(&EDGE_COLUMNS, rows)
}

/// One line a figure.
#[must_use]
pub fn summary_csv(record: &RunRecord, analysis: &Analysis) -> String {
    table(&SUMMARY_COLUMNS, analysis.figures().map(|figure| figure_fields(figure, record, analysis.emulated)))
}

/// The plan's rate in hertz, as short as it can be: `10`, `0.5`.
#[must_use]
pub fn rate_hz(record: &RunRecord) -> String {
    let text = Fixed { scaled: i128::from(record.plan.rate_millihertz), places: 3 }.to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The plan's clock by name.
#[must_use]
pub fn clock_name(record: &RunRecord) -> &'static str {
    names::of_clock(record.plan.clock_id)
}

/// Header and rows. Text that a spreadsheet would compute, or that would not be seen, is made harmless.
pub(super) fn table<const N: usize>(header: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let infallible = "a record of the right length goes into memory";
    writer.write_record(header).expect(infallible);
    for row in rows {
        writer
            .write_record(row.iter().map(|field| csv_field(field).into_owned().into_bytes()))
            .expect(infallible);
    }
    let bytes = writer.into_inner().expect("memory has no I/O errors");
    String::from_utf8(bytes).expect("strings went in, and the csv crate adds ASCII")
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn edge_fields(row: &EdgeRow) -> [String; EDGE_COLUMNS.len()] {
    let (mut before, mut capture, mut after) = (None, None, None);
    match row.capture.map(|capture| capture.counters) {
        Some(CaptureCounters::Irq { capture: counter }) => capture = Some(counter),
        Some(CaptureCounters::Poll { before: low, after: high }) => (before, after) = (Some(low), Some(high)),
        None => {}
    }
    let snapshot = row.capture.and_then(|capture| capture.snapshot);
    let echo = row.capture.and_then(|capture| capture.echo);
    let (tie, latency) = row.latency().unzip();
    [
        row.session.to_string(),
        text(row.commanded),
        text(row.captured),
        text(row.gpst_ns),
        text(row.qerr_ps),
        text(row.mode.map(crate::analysis::row::Mode::name)),
        text(before),
        text(capture),
        text(after),
        text(snapshot.map(|snapshot| snapshot.counter)),
        text(echo.map(|(before, _)| before)),
        text(echo.map(|(_, after)| after)),
        text(row.interval_ps),
        text(snapshot.map(|snapshot| snapshot.time_ns)),
        row.class.to_string(),
        row.reason.to_string(),
        text(tie.map(Tie::name)),
        text(latency.map(|latency| Fixed::nanoseconds(latency.ps))),
        text(latency.map(|latency| Fixed::nanoseconds(latency.u_ps()))),
    ]
}

fn figure_fields(figure: &Figure, record: &RunRecord, emulated: bool) -> [String; SUMMARY_COLUMNS.len()] {
    let (clock_id, rate_hz) = match figure.measurement {
        Measurement::Edge => (clock_name(record), rate_hz(record)),
        Measurement::Path | Measurement::Ctime => (figure.clock_id, String::new()),
    };
    [
        figure.measurement.to_string(),
        figure.variant.to_owned(),
        clock_id.to_owned(),
        figure.cores.to_string(),
        figure.mode.to_owned(),
        figure.tie.to_owned(),
        if figure.variant.starts_with("preamble") { PREAMBLE_RATE_HZ.to_owned() } else { rate_hz },
        emulated.to_string(),
        figure.metric.clone(),
        figure.unit.clone().into_owned(),
        figure.n.to_string(),
        figure.sessions.to_string(),
        text(figure.value),
        text(figure.interval.map(|(low, _)| low)),
        text(figure.interval.map(|(_, high)| high)),
        text(figure.uncertainty),
        figure.verdict.to_owned(),
    ]
}
