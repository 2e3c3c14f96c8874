//! One session: its windows paired, its rate measured, its latencies tied.

use std::collections::BTreeMap;

use super::anchor::anchor;
use super::captures::WindowCaptures;
use super::class::Class;
use super::disturbance::{BoardFacts, disturbances, reversal};
use super::half_ticks::HalfTicks;
use super::pairing::{Case, pair};
use super::rate::faults::{self, CounterFault, FaultKind};
use super::rate::{CounterRate, Reading, measure, steps};
use super::row::{EdgeRow, Mode};
use super::seconds::{Reference, Unaligned};
use super::stamps::{Echo, EdgeStamps, find, forget_foreign_echoes, have_times, pulse_offset_ps, trusted};
use super::tie::{EdgeTime, by_bracket, by_echo, echo_uncertainty, edge_time};
use super::uncertainty::Component;
use super::window::Window;
use crate::events::absence::absences;
use crate::events::{Burst, Recording};
use crate::names::EdgeTiming;
use crate::plan::RunRecord;
use crate::units::HostNanos;

/// What all sessions of a run share.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The plan and the bench.
    pub record: &'a RunRecord,
    /// Everything that was recorded.
    pub recording: &'a Recording,
    /// The reference.
    pub reference: &'a dyn Reference,
    /// Whether the board is emulated.
    pub emulated: bool,
    /// End of the recording.
    pub end: HostNanos,
}

/// One session, judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// Counts from 1.
    pub number: u32,
    /// The ledger's lines: preamble first.
    pub rows: Vec<EdgeRow>,
    /// When the measurement's burst started, GPST in nanoseconds.
    pub start_ns: Option<i64>,
    /// Edges that were due in each window.
    pub due: Vec<(Burst, u32)>,
    /// The counter's rate.
    pub rate: Option<CounterRate>,
    /// What is wrong with the counter.
    pub counter_faults: Vec<CounterFault>,
    /// How steps of the counter were looked for; empty without a rate.
    pub step_rule: String,
    /// Why no second could be labelled.
    pub unlabelled: Option<String>,
    /// Where the counter ran backwards.
    pub reversal: Option<String>,
    /// What disturbed its windows.
    pub disturbed: Vec<String>,
    /// Heartbeats that were heard in its windows.
    pub heartbeats: u64,
    /// Paired edges of the measurement that have no latency by their echo although it is wired, by reason.
    pub without_echo: BTreeMap<&'static str, u64>,
    /// The longest time for which the board's idle loop stood still, in ticks, by its heartbeats.
    pub longest_gap_ticks: u64,
    /// The measurement's paired edges whose time is known, for the spread about a straight line.
    pub spread_points: Vec<SpreadPoint>,
}

impl Session {
    /// Why its rate is not known, where it is not.
    #[must_use]
    pub fn without_rate(&self) -> Option<&str> {
        let still = self.counter_faults.iter().find(|fault| fault.kind == FaultKind::Standstill);
        still.map(|fault| fault.text.as_str()).or(self.unlabelled.as_deref())
    }

    /// Ticks by which the counter advances at once.
    #[must_use]
    pub fn granularity(&self) -> i128 {
        faults::granularity(&self.counter_faults)
    }
}

/// A paired edge, as the spread needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadPoint {
    /// Number of the commanded edge.
    pub edge: u32,
    /// How it was captured.
    pub mode: Mode,
    /// The edge's time after the first one, in picoseconds.
    pub edge_ps: f64,
    /// The counter after the first one's, in picoseconds at the measured rate, minus the same of the edge.
    pub late_ps: f64,
    /// What is known of the edge's time.
    pub half_width_ps: Option<f64>,
}

/// A window with what belongs to it.
struct Burstful<'a> {
    window: &'a Window,
    captures: &'a WindowCaptures,
    rows: Vec<EdgeRow>,
    stamps: EdgeStamps,
}

/// Judges one session. `windows` are its windows in order of opening, each with what the board said.
#[must_use]
pub fn judge(context: Context<'_>, number: u32, windows: &[(&Window, &WindowCaptures)]) -> Session {
    let bench = &context.record.bench;
    let mut session = Session { number, ..Session::default() };
    let preamble = windows.iter().find(|(window, _)| window.burst == Burst::Preamble);
    let timing = bench.generator.driver.timing();
    let arrived = preamble.and_then(|(_, captures)| captures.arrived.first());
    let unaligned = Unaligned { first: arrived.map_or(HostNanos(0), |first| first.arrival) };
    let reference = if timing.on_gps_grid() { context.reference } else { &unaligned };
    let line = preamble.map_or_else(
        || Err("the session has no preamble".to_owned()),
        |(_, captures)| anchor(&captures.arrived, reference, bench.board.counter_hz.0),
    );
    let line = line.map(|line| line.behind_the_pulse(bench.generator.offset_ns));
    session.unlabelled = line.as_ref().err().cloned();
    let board = BoardFacts { emulated: context.emulated, counter_hz: bench.board.counter_hz.0 };
    let mut offset = None;
    let mut bursts = Vec::new();
    for &(window, captures) in windows {
        let mut disturbed = disturbances(context.recording, window, captures, board, context.end);
        let case = Case {
            window,
            captures,
            anchor: line.as_ref().map_err(String::as_str),
            timing: (timing, bench.generator.offset_ns),
            reference,
            readings: trusted(context.recording),
            mode: fixed_mode(context.record, window.burst),
            emulated: context.emulated,
            end: context.end,
        };
        let (rows, due) = pair(&case, &mut disturbed);
        let planned = window.arming.map_or(0, |arming| arming.cycles);
        session.due.push((window.burst, due.map_or(planned, |due| due.cycles)));
        session.disturbed.extend(disturbed.sentences().map(str::to_owned));
        session.counter_faults.extend(disturbed.into_step());
        let close = window.closed.unwrap_or(context.end);
        let away = absences(context.recording).into_iter();
        let away = away.filter(|absence| absence.overlaps(window.opened, close));
        session.disturbed.extend(away.map(|absence| absence.sentence()));
        session.heartbeats += captures.heartbeats.len() as u64;
        let gaps = captures.heartbeats.iter().map(|(_, heartbeat)| heartbeat.longest_gap_ticks);
        session.longest_gap_ticks = gaps.fold(session.longest_gap_ticks, u64::max);
        session.reversal = session.reversal.or_else(|| reversal(&captures.arrived));
        let mut stamps = EdgeStamps::new();
        if let (Some(due), Ok(line)) = (due, &line) {
            stamps = find(trusted(context.recording), window, due, line, bench.wiring.echo, &mut offset);
            forget_foreign_echoes(&mut stamps, &rows, line);
        }
        if window.burst == Burst::Edges {
            session.start_ns = due.filter(|_| timing.on_gps_grid()).map(|due| due.start_ns);
        }
        bursts.push(Burstful { window, captures, rows, stamps });
    }
    session.counter_faults.extend(faults::of_readings(windows, bench.board.counter_hz.0));
    let wrap = session.counter_faults.iter().find(|fault| fault.kind == FaultKind::Wrap32);
    session.reversal = session.reversal.map(|reversal| wrap.map_or(reversal, |wrap| wrap.text.clone()));
    if let Some((rate, search)) = session_rate(context, &bursts, session.granularity()) {
        session.step_rule = faults::rule(&search, &rate, context.emulated);
        session.counter_faults.extend(faults::of_steps(&search));
        session.rate = Some(rate);
    }
    tie(context, &mut session, bursts);
    session
}

/// How the edges of a burst are captured that left no capture to tell it. The preamble is always captured by interrupt.
fn fixed_mode(record: &RunRecord, burst: Burst) -> Option<Mode> {
    match (burst, record.plan.mode) {
        (Burst::Preamble, _) | (_, ppsrig_wire::EdgeMode::Irq) => Some(Mode::Irq),
        (_, ppsrig_wire::EdgeMode::Poll) => Some(Mode::Poll),
        (_, ppsrig_wire::EdgeMode::Alternate) => None,
    }
}

fn paired<'a>(burst: &'a Burstful<'_>) -> impl Iterator<Item = &'a EdgeRow> {
    burst.rows.iter().filter(|row| row.class == Class::Paired)
}

/// The rate, from what tells it best: interrupt captures, poll captures, or echoes. Each for itself, since unlike ones
/// have unlike latencies.
fn session_rate(
    context: Context<'_>,
    bursts: &[Burstful<'_>],
    granularity: i128,
) -> Option<(CounterRate, steps::Search)> {
    let stamped = bursts.iter().any(|burst| have_times(&burst.stamps));
    let base = match context.record.bench.generator.driver.timing() {
        _ if stamped => "interval counter, edges",
        EdgeTiming::OnPulse => "the generator's nominal times",
        EdgeTiming::EachPulse => "the reference's pulses",
        EdgeTiming::FreeRunning => "the generator's own clock, not the reference",
        EdgeTiming::HostTimed => "the host's clock, not the reference",
    };
    let period_ns =
        bursts.iter().filter_map(|burst| burst.window.arming).map(|arming| arming.period_ns).max()?;
    let by_mode = |mode: Mode| {
        let rows = bursts.iter().flat_map(|burst| paired(burst).map(move |row| (burst, row)));
        let rows = rows.filter(|(_, row)| row.mode == Some(mode));
        rows.filter_map(|(burst, row)| reading(context, burst, stamped, row)).collect()
    };
    let echoes = || {
        let rows = bursts.iter().flat_map(|burst| paired(burst).map(move |row| (burst, row)));
        rows.filter_map(|(burst, row)| echo_reading(context, burst, row)).collect()
    };
    let candidates: [(Vec<Reading>, &'static str); 3] =
        [(by_mode(Mode::Irq), base), (by_mode(Mode::Poll), base), (echoes(), "interval counter, echoes")];
    candidates
        .into_iter()
        .filter_map(|(readings, base)| {
            let mut rate = measure(&readings, base, i128::from(period_ns) * 1000, granularity)?;
            let edges = readings.partition_point(|reading| reading.burst != Burst::Edges);
            let search = steps::find(&readings[edges..], &rate, context.emulated);
            rate.allow_for(&search.steps);
            Some((rate, search))
        })
        .min_by(|(one, _), (other, _)| one.u_relative.total_cmp(&other.u_relative))
}

fn reading(context: Context<'_>, burst: &Burstful<'_>, stamped: bool, row: &EdgeRow) -> Option<Reading> {
    let time = edge_time(row, &burst.stamps, stamped, &context.record.bench)?;
    let capture = row.capture?;
    Some(Reading {
        edge: row.commanded?,
        burst: row.burst,
        half_ticks: capture.half_ticks(),
        half_width: capture.half_width_half_ticks(),
        time_ps: time.ps,
        time_uncertainty: time.uncertainty,
    })
}

/// The echo is seen by the counter and by the interval counter both, whatever the capture's latency.
fn echo_reading(context: Context<'_>, burst: &Burstful<'_>, row: &EdgeRow) -> Option<Reading> {
    let Echo::Stamp(echo) = burst.stamps.get(&row.commanded?)?.echo.ok()? else { return None };
    let (half_ticks, half_width) = row.capture?.echo_half_ticks()?;
    let uncertainty = echo_uncertainty(&echo, &context.record.bench)?;
    Some(Reading {
        edge: row.commanded?,
        burst: row.burst,
        half_ticks,
        half_width,
        time_ps: echo.time.0,
        time_uncertainty: Some(uncertainty),
    })
}

/// Ties the paired edges of the measurement, and moves all lines into the session.
fn tie(context: Context<'_>, session: &mut Session, bursts: Vec<Burstful<'_>>) {
    let bench = &context.record.bench;
    for mut burst in bursts {
        if let (Burst::Edges, Some(rate)) = (burst.window.burst, &session.rate) {
            let stamped = have_times(&burst.stamps);
            let coarse = coarse_component(session.granularity(), rate);
            let indices: Vec<usize> =
                (0..burst.rows.len()).filter(|&index| burst.rows[index].class == Class::Paired).collect();
            for &index in &indices {
                if let Some((interval, mut latency)) =
                    by_echo(&burst.rows[index], &burst.stamps, rate, bench).filter(|_| bench.wiring.echo)
                {
                    latency.components.extend(coarse);
                    burst.rows[index].interval_ps = Some(interval);
                    burst.rows[index].echo = Some(latency);
                } else if bench.wiring.echo {
                    let why = why_without_echo(&burst.rows[index], &burst.stamps);
                    *session.without_echo.entry(why).or_default() += 1;
                }
            }
            let rows: Vec<&EdgeRow> = indices.iter().map(|&index| &burst.rows[index]).collect();
            let times: Vec<Option<EdgeTime>> =
                rows.iter().map(|row| edge_time(row, &burst.stamps, stamped, bench)).collect();
            session.spread_points = spread_points(&rows, &times, rate);
            for (position, mut latency) in by_bracket(&rows, &times, rate) {
                latency.components.extend(coarse);
                burst.rows[indices[position]].bracket = Some(latency);
            }
        }
        debug_assert!(burst.captures.arrived.len() <= burst.rows.len(), "every capture has a line");
        if !bench.generator.driver.timing().on_gps_grid() {
            measured_times(context, &mut burst);
        }
        session.rows.append(&mut burst.rows);
    }
}

/// What a reading of a counter is off by that advances by more than a tick at once.
fn coarse_component(granularity: i128, rate: &CounterRate) -> Option<Component> {
    (granularity > 1).then(|| Component::bound("coarse counter", (granularity - 1) as f64 * rate.tick_ps()))
}

fn why_without_echo(row: &EdgeRow, stamps: &EdgeStamps) -> &'static str {
    match row.commanded.and_then(|edge| stamps.get(&edge)).map(|stamp| stamp.echo) {
        None => "the interval counter has no reading of the edge",
        Some(Err(why)) => why.reason(),
        Some(Ok(_)) if row.capture.is_none_or(|capture| capture.echo.is_none()) => "the board raised no echo",
        Some(Ok(_)) => "the interval counter states no half-width with its reading",
    }
}

/// Edges that are on no grid of GPS time have the time that the interval counter saw against the reference's pulses, or
/// none.
fn measured_times(context: Context<'_>, burst: &mut Burstful<'_>) {
    let pulses = !context.record.bench.wiring.echo;
    let offset = pulses.then(|| pulse_offset_ps(trusted(context.recording), context.reference)).flatten();
    for row in &mut burst.rows {
        let stamp = row.commanded.and_then(|edge| burst.stamps.get(&edge)?.edge);
        row.gpst_ns = stamp
            .zip(offset)
            .and_then(|(stamp, offset)| i64::try_from((stamp.time.0 - offset + 500).div_euclid(1000)).ok());
    }
}

fn spread_points(rows: &[&EdgeRow], times: &[Option<EdgeTime>], rate: &CounterRate) -> Vec<SpreadPoint> {
    let mut origin = None;
    rows.iter()
        .zip(times)
        .filter_map(|(row, time)| {
            let (time, capture) = ((*time)?, row.capture?);
            let half_ticks = capture.half_ticks();
            let (first_ps, first_ticks) = *origin.get_or_insert((time.ps, half_ticks));
            let edge_ps = time.ps - first_ps;
            Some(SpreadPoint {
                edge: row.commanded?,
                mode: row.mode?,
                edge_ps: edge_ps as f64,
                late_ps: (rate.picoseconds(half_ticks - first_ticks) - edge_ps) as f64,
                half_width_ps: time.uncertainty.map(|part| part.ps),
            })
        })
        .collect()
}
