//! Latency over time, with what the reference was worth and how warm it was on the same axis.
//!
//! More edges than a plot has columns are reduced to the least and the most of each column, so that nothing late is hidden.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Axis, Unit};
use crate::analysis::Analysis;
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::reference::ReferenceState;
use crate::analysis::row::{EdgeRow, Mode};
use crate::analysis::tie::Tie;
use crate::events::Burst;
use crate::units::NS_PER_S;

/// Columns of a plot.
const COLUMNS: usize = 700;
/// 1980-01-06T00:00:00 as Unix time.
const GPS_EPOCH_UNIX: i64 = 315_964_800;

/// What a column of pixels shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Where it is, in seconds.
    pub at: f64,
    /// The least latency in it.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// The latencies of one mode by one tie.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Mode.
    pub mode: Mode,
    /// Tie.
    pub tie: Tie,
    /// In order of time.
    pub columns: Vec<Column>,
}

/// A stretch of time with one state of the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Seconds from the beginning.
    pub from: f64,
    /// Seconds from the beginning.
    pub to: f64,
    /// The state.
    pub state: ReferenceState,
    /// Why; empty when it was locked.
    pub reason: String,
}

/// Degrees over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Temperature {
    /// As the bench file names it.
    pub name: String,
    /// Seconds from the beginning, and degrees Celsius.
    pub points: Vec<(f64, f64)>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Time.
    pub x: Axis,
    /// Latency.
    pub y: Axis,
    /// When it begins, for people.
    pub begins: String,
    /// Edges that are shown.
    pub edges: usize,
    /// Whether they are more than columns.
    pub reduced: bool,
    /// Latencies.
    pub traces: Vec<Trace>,
    /// What the reference was worth.
    pub bands: Vec<Band>,
    /// How warm it was.
    pub temperatures: Vec<Temperature>,
    /// Degrees; none where nothing was recorded.
    pub warmth: Option<Axis>,
}

/// One latency at its place.
#[derive(Clone, Copy)]
struct Point {
    at: f64,
    ps: i128,
}

/// Where time begins: by GPS time where edges have it, else by when their records arrived.
#[derive(Clone, Copy)]
struct Clock {
    gps: bool,
    first_ns: i64,
    /// Host time less the time on the axis, both in nanoseconds.
    host_offset_ns: i64,
}

impl Clock {
    fn of(edge: &EdgeAnalysis) -> Option<Self> {
        let gps = measured(edge).any(|row| row.gpst_ns.is_some());
        let time = |row: &EdgeRow| if gps { row.gpst_ns } else { arrival(row) };
        let first_ns = measured(edge).filter_map(time).min()?;
        let offset = measured(edge).filter_map(|row| Some(arrival(row)? - time(row)?)).min();
        Some(Self { gps, first_ns, host_offset_ns: offset.unwrap_or(0) })
    }

    fn seconds(self, ns: i64) -> f64 {
        (ns - self.first_ns) as f64 / NS_PER_S as f64
    }

    fn of_row(self, row: &EdgeRow) -> Option<f64> {
        Some(self.seconds(if self.gps { row.gpst_ns? } else { arrival(row)? }))
    }
}

/// Without the preamble.
fn measured(edge: &EdgeAnalysis) -> impl Iterator<Item = &EdgeRow> {
    edge.rows().filter(|row| row.burst == Burst::Edges)
}

fn arrival(row: &EdgeRow) -> Option<i64> {
    i64::try_from(row.arrival?.0).ok()
}

/// A GPS time as people write it. It has no leap seconds.
#[must_use]
pub fn gpst(ns: i64) -> String {
    let (second, rest) = (ns.div_euclid(NS_PER_S), ns.rem_euclid(NS_PER_S));
    let Ok(day) = Timestamp::from_second(second.saturating_add(GPS_EPOCH_UNIX)) else { return String::new() };
    format!("{}.{rest:09} GPST", day.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Of a run's edges. None without a latency.
#[must_use]
pub fn timeline(analysis: &Analysis) -> Option<Timeline> {
    let edge = analysis.edge.as_ref()?;
    let clock = Clock::of(edge)?;
    let points = points(edge, clock);
    let all = || points.values().flatten();
    let (least, most) = (all().map(|point| point.ps).min()?, all().map(|point| point.ps).max()?);
    let unit = Unit::of(least.abs().max(most.abs()));
    let end = measured(edge).filter_map(|row| clock.of_row(row)).fold(0.0, f64::max);
    let room = (end * 0.01).max(0.01);
    let since = if clock.gps { "seconds since the first edge" } else { "seconds since the first record" };
    let x = Axis { title: since.to_owned(), from: -room, to: end + room, log: false };
    let absolute = points.keys().any(|(_, tie)| *tie != Tie::None);
    let what = if absolute { "latency" } else { "later than the first" };
    let y = Axis::fitting(format!("{what}, {}", unit.name), unit.of_ps(least), unit.of_ps(most));
    let edges = all().count();
    let reduced = points.values().any(|points| points.len() > COLUMNS);
    let traces = points.into_iter().map(|((mode, tie), points)| Trace {
        mode,
        tie,
        columns: columns(&points, (x.from, x.to), unit),
    });
    let traces = traces.collect();
    let temperatures = temperatures(analysis, clock, (x.from, x.to));
    Some(Timeline {
        begins: if clock.gps { gpst(clock.first_ns) } else { String::new() },
        edges,
        reduced,
        traces,
        bands: bands(edge, clock, (x.from, x.to)),
        warmth: warmth(&temperatures),
        temperatures,
        x,
        y,
    })
}

type Points = BTreeMap<(Mode, Tie), Vec<Point>>;

/// The latencies; where no edge has one, how late each is against the first one of its session.
fn points(edge: &EdgeAnalysis, clock: Clock) -> Points {
    let tied = tied(edge, clock);
    if tied.is_empty() { untied(edge, clock) } else { tied }
}

fn tied(edge: &EdgeAnalysis, clock: Clock) -> Points {
    let mut points = Points::new();
    for row in measured(edge) {
        let (Some(mode), Some((tie, latency)), Some(at)) = (row.mode, row.latency(), clock.of_row(row))
        else {
            continue;
        };
        points.entry((mode, tie)).or_default().push(Point { at, ps: latency.ps });
    }
    points
}

fn untied(edge: &EdgeAnalysis, clock: Clock) -> Points {
    let mut points = Points::new();
    for session in &edge.sessions {
        let late: BTreeMap<u32, f64> =
            session.spread_points.iter().map(|point| (point.edge, point.late_ps)).collect();
        for row in session.rows.iter().filter(|row| row.burst == Burst::Edges) {
            let late = row.commanded.and_then(|edge| late.get(&edge));
            let (Some(mode), Some(late), Some(at)) = (row.mode, late, clock.of_row(row)) else { continue };
            points.entry((mode, Tie::None)).or_default().push(Point { at, ps: late.round() as i128 });
        }
    }
    points
}

fn columns(points: &[Point], (from, to): (f64, f64), unit: Unit) -> Vec<Column> {
    if points.len() <= COLUMNS {
        let single = |point: &Point| {
            let value = unit.of_ps(point.ps);
            Column { at: point.at, least: value, most: value }
        };
        return points.iter().map(single).collect();
    }
    let width = (to - from) / COLUMNS as f64;
    let mut columns: BTreeMap<i64, Column> = BTreeMap::new();
    for point in points {
        let place = ((point.at - from) / width).floor();
        let value = unit.of_ps(point.ps);
        let at = from + (place + 0.5) * width;
        let column = columns.entry(place as i64).or_insert(Column { at, least: value, most: value });
        column.least = column.least.min(value);
        column.most = column.most.max(value);
    }
    columns.into_values().collect()
}

fn bands(edge: &EdgeAnalysis, clock: Clock, (from, to): (f64, f64)) -> Vec<Band> {
    let place = |second: i64| clock.seconds(second.saturating_mul(NS_PER_S)).clamp(from, to);
    let band = |span: &crate::analysis::reference::StateSpan| Band {
        from: place(span.from.0),
        to: place(span.to.0),
        state: span.state,
        reason: span.reason.clone(),
    };
    edge.reference_states.iter().map(band).filter(|band| band.to > band.from).collect()
}

fn temperatures(analysis: &Analysis, clock: Clock, (from, to): (f64, f64)) -> Vec<Temperature> {
    let point = |(at, millicelsius): &(crate::units::HostNanos, i32)| {
        let host = i64::try_from(at.0).ok()?;
        Some((clock.seconds(host - clock.host_offset_ns), f64::from(*millicelsius) / 1000.0))
    };
    let named = analysis.environment.temperatures.iter().map(|(name, readings)| Temperature {
        name: name.clone(),
        points: thinned(
            readings.iter().filter_map(point).filter(|(at, _)| (from..=to).contains(at)).collect(),
        ),
    });
    named.filter(|temperature| !temperature.points.is_empty()).collect()
}

/// Temperatures move slowly: of more than columns, every so many is shown.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(COLUMNS).max(1);
    points.into_iter().step_by(step).collect()
}

fn warmth(temperatures: &[Temperature]) -> Option<Axis> {
    let degrees =
        || temperatures.iter().flat_map(|temperature| &temperature.points).map(|(_, degrees)| *degrees);
    let (least, most) = (degrees().reduce(f64::min)?, degrees().reduce(f64::max)?);
    let axis = Axis { log: false, ..Axis::fitting("°C", least, most) };
    // Half a degree is no weather.
    let (from, to) = (axis.from.min(least - 0.5), axis.to.max(most + 0.5));
    Some(Axis { from, to, ..axis })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_edges_become_columns_that_keep_the_least_and_the_most() {
        let mut points: Vec<Point> =
            (0..100_000).map(|k| Point { at: f64::from(k) / 10.0, ps: 90_000_000 }).collect();
        points[54_321].ps = 7_000_000_000;
        points[54_322].ps = 1_000_000;
        let columns = columns(&points, (0.0, 10_000.0), Unit::of(90_000_000));
        assert_eq!(columns.len(), COLUMNS);
        let late: Vec<&Column> = columns.iter().filter(|column| column.most > 6000.0).collect();
        assert_eq!(late.len(), 1);
        assert!((late[0].at - 5432.1).abs() < 15.0 && late[0].least < 1.5);
    }

    #[test]
    fn gps_time_has_no_leap_seconds() {
        assert_eq!(gpst(0), "1980-01-06 00:00:00.000000000 GPST");
        assert_eq!(gpst(1_480_000_000_500_000_000), "2026-11-29 15:06:40.500000000 GPST");
    }
}
