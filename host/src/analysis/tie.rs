//! Latency by its tie: how the counter is tied to the edge without passing through the captured path.
//!
//! * echo: the board raises a pin between two counter reads, and the interval counter measures from edge to echo.
//!   Latency = interval - (C_echo - C_capture) * tick, cables taken off.
//! * bracket: poll and interrupt edges take turns. What the counter stood at when an interrupt edge came is interpolated
//!   between the brackets of its poll neighbours. Latency = (C_capture - C_edge) * tick.
//!
//! Both take the edge's own time from the interval counter's channel A where there is one, with the half-width that it
//! states, else from the generator's nominal grid with the uncertainty that the bench file states. Where neither states
//! one, there is no absolute figure. The receiver's quantisation error shifts all edges of a burst alike and cancels in
//! both ties, so it is never applied.

use ppsrig_wire::{Capture, CaptureCounters};

use super::half_ticks::HalfTicks;
use super::rate::CounterRate;
use super::row::{EdgeRow, Mode};
use super::stamps::{Echo, EdgeStamp, EdgeStamps};
use super::uncertainty::{Component, total};
use crate::bench_file::{BenchFile, Wiring};
use crate::events::IntervalStamp;

/// Poll neighbours further away than this many edges do not bracket.
const NEAR_EDGES: u32 = 4;

/// The tie of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tie {
    /// By the echo pin.
    Echo,
    /// By poll edges in turns.
    Bracket,
    /// None: the spread only.
    None,
}

impl Tie {
    /// The name in the CSV files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Bracket => "bracket",
            Self::None => "none",
        }
    }
}

/// A latency with its systematic uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct TiedLatency {
    /// Capture minus edge, in picoseconds; positive is late.
    pub ps: i128,
    /// The components of its uncertainty.
    pub components: Vec<Component>,
}

impl TiedLatency {
    /// The systematic uncertainty in picoseconds, rounded up.
    #[must_use]
    pub fn u_ps(&self) -> i128 {
        total(&self.components).ceil() as i128
    }
}

/// When an edge left the generator, in picoseconds on a scale that all edges of the session share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeTime {
    /// The time.
    pub ps: i128,
    /// What is known of it, as an uncertainty of one edge against another.
    pub uncertainty: Option<Component>,
}

/// Name of the component that says how well an edge's own time is known.
const EDGE: Named = Named { stated: "edge half-width", counter: "interval counter, edge" };
const ECHO: Named = Named { stated: "echo half-width", counter: "interval counter, echo" };
/// Of a counter without timestamps: the interval as a whole.
const INTERVAL: &str = "interval counter, interval";
/// The same of a poll edge that brackets.
const POLL_EDGE: &str = "poll edges' times";

/// The two names of a component: where the interval counter states it for each reading, and where the bench file does.
struct Named {
    stated: &'static str,
    counter: &'static str,
}

/// The edge's time from the interval counter, else from the nominal grid.
#[must_use]
pub fn edge_time(
    row: &EdgeRow,
    stamps: &EdgeStamps,
    any_stamps: bool,
    bench: &BenchFile,
) -> Option<EdgeTime> {
    if any_stamps {
        let stamp = stamps.get(&row.commanded?)?.edge?;
        return Some(EdgeTime { ps: stamp.time.0, uncertainty: stamp_uncertainty(&stamp, &EDGE, bench) });
    }
    let uncertainty = bench.generator.edge_uncertainty_ps.map(|ps| Component::bound(EDGE.stated, ps as f64));
    Some(EdgeTime { ps: i128::from(row.gpst_ns?) * 1000, uncertainty })
}

/// What is known of one reading of the interval counter: its own half-width, else the bench file's figure.
fn stamp_uncertainty(stamp: &IntervalStamp, named: &Named, bench: &BenchFile) -> Option<Component> {
    let counter = bench.interval_counter.as_ref()?;
    if counter.states_half_width {
        // A reading without the half-width that the instrument should state is of no use.
        return stamp.half_width.map(|width| Component::bound(named.stated, width.0 as f64));
    }
    Some(Component::expanded(named.counter, counter.uncertainty_ps as f64))
}

/// What is known of the time of an echo that has a timestamp.
#[must_use]
pub fn echo_uncertainty(echo: &IntervalStamp, bench: &BenchFile) -> Option<Component> {
    stamp_uncertainty(echo, &ECHO, bench)
}

/// From edge to echo in picoseconds, with what is known of it.
fn edge_to_echo(stamp: &EdgeStamp, bench: &BenchFile) -> Option<(i128, Vec<Component>)> {
    match stamp.echo.ok()? {
        Echo::Stamp(echo) => {
            let edge = stamp.edge?;
            let components = [stamp_uncertainty(&edge, &EDGE, bench)?, echo_uncertainty(&echo, bench)?];
            Some((echo.time.0 - edge.time.0, components.to_vec()))
        }
        Echo::Interval(reading) => {
            let counter = bench.interval_counter.as_ref()?;
            Some((reading.time.0, vec![Component::expanded(INTERVAL, counter.uncertainty_ps as f64)]))
        }
    }
}

/// Latency of one paired edge by its echo, and the interval that was measured.
#[must_use]
pub fn by_echo(
    row: &EdgeRow,
    stamps: &EdgeStamps,
    rate: &CounterRate,
    bench: &BenchFile,
) -> Option<(i128, TiedLatency)> {
    let (interval, known) = edge_to_echo(stamps.get(&row.commanded?)?, bench)?;
    let capture = row.capture?;
    let (echo_half_ticks, bracket) = capture.echo_half_ticks()?;
    let wiring = &bench.wiring;
    let cables = i128::from(wiring.cable_generator_to_counter_ps)
        - i128::from(wiring.cable_generator_to_board_ps)
        - i128::from(wiring.cable_board_to_counter_ps);
    let since_capture = echo_half_ticks - capture.half_ticks();
    let mut components = vec![Component::bound("half echo bracket", rate.picoseconds(bracket) as f64)];
    components.extend(known);
    if matches!(capture.counters, CaptureCounters::Poll { .. }) {
        components.push(poll_bracket(&capture, rate));
    }
    components.extend(cable_components(wiring));
    components.push(rate_component(since_capture, rate));
    let ps = interval + cables - rate.picoseconds(since_capture);
    Some((interval, TiedLatency { ps, components }))
}

fn poll_bracket(capture: &Capture, rate: &CounterRate) -> Component {
    Component::bound("half poll bracket", rate.picoseconds(capture.half_width_half_ticks()) as f64)
}

fn rate_component(half_ticks: i128, rate: &CounterRate) -> Component {
    Component::expanded("counter rate", rate.picoseconds(half_ticks.abs()) as f64 * rate.u_relative)
}

fn cable_components(wiring: &Wiring) -> impl Iterator<Item = Component> {
    [
        ("cable generator to board", wiring.cable_generator_to_board_uncertainty_ps),
        ("cable generator to counter", wiring.cable_generator_to_counter_uncertainty_ps),
        ("cable board to counter", wiring.cable_board_to_counter_uncertainty_ps),
    ]
    .into_iter()
    .filter(|(_, ps)| *ps > 0)
    .map(|(name, ps)| Component::expanded(name, ps as f64))
}

/// A poll edge: which one, when it came, where the counter stood, and how well that is known.
#[derive(Clone, Copy, Debug)]
struct Rung {
    edge: u32,
    ps: i128,
    half_ticks: i128,
    /// Half the bracket, in picoseconds.
    bracket_ps: f64,
    uncertainty: Component,
}

/// Latencies of a burst's interrupt edges by their poll neighbours: index into `rows`, and latency.
#[must_use]
pub fn by_bracket(
    rows: &[&EdgeRow],
    times: &[Option<EdgeTime>],
    rate: &CounterRate,
) -> Vec<(usize, TiedLatency)> {
    let rungs = rungs(rows, times, rate);
    let residual = excess(&rungs, rate);
    let mut found = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.mode == Some(Mode::Irq)) {
        let (Some(edge), Some(time), Some(capture)) = (row.commanded, times[index], row.capture) else {
            continue;
        };
        let Some(uncertainty) = time.uncertainty else { continue };
        let right = rungs.partition_point(|rung| rung.edge < edge);
        let Some((left, right)) =
            right.checked_sub(1).and_then(|left| Some((rungs.get(left)?, rungs.get(right)?)))
        else {
            continue;
        };
        if edge - left.edge > NEAR_EDGES || right.edge - edge > NEAR_EDGES {
            continue;
        }
        let Some(between) = Between::new(left, right, time.ps) else { continue };
        let mut components = between.components();
        components.push(uncertainty);
        components.push(Component::expanded("poll prediction residual", residual));
        let ps = rate.picoseconds(2 * capture.half_ticks() - between.quarter_ticks()) / 2;
        found.push((index, TiedLatency { ps, components }));
    }
    found
}

fn rungs(rows: &[&EdgeRow], times: &[Option<EdgeTime>], rate: &CounterRate) -> Vec<Rung> {
    let mut rungs: Vec<Rung> = rows
        .iter()
        .zip(times)
        .filter(|(row, _)| row.mode == Some(Mode::Poll))
        .filter_map(|(row, time)| {
            let (time, capture) = ((*time)?, row.capture?);
            Some(Rung {
                edge: row.commanded?,
                ps: time.ps,
                half_ticks: capture.half_ticks(),
                bracket_ps: poll_bracket(&capture, rate).ps,
                uncertainty: time.uncertainty?,
            })
        })
        .collect();
    rungs.sort_by_key(|rung| rung.edge);
    rungs
}

/// A time between two poll edges.
struct Between<'a> {
    left: &'a Rung,
    right: &'a Rung,
    after_ps: i128,
    span_ps: i128,
}

impl<'a> Between<'a> {
    fn new(left: &'a Rung, right: &'a Rung, ps: i128) -> Option<Self> {
        let (after_ps, span_ps) = (ps - left.ps, right.ps - left.ps);
        (span_ps > 0 && (0..=span_ps).contains(&after_ps)).then_some(Self { left, right, after_ps, span_ps })
    }

    fn weight(&self) -> f64 {
        self.after_ps as f64 / self.span_ps as f64
    }

    /// Where the counter stood, in quarter ticks.
    fn quarter_ticks(&self) -> i128 {
        let step = self.right.half_ticks - self.left.half_ticks;
        2 * self.left.half_ticks + 2 * step.saturating_mul(self.after_ps) / self.span_ps
    }

    fn components(&self) -> Vec<Component> {
        let mean = |left: f64, right: f64| (1.0 - self.weight()) * left + self.weight() * right;
        vec![
            Component::bound("half poll bracket", mean(self.left.bracket_ps, self.right.bracket_ps)),
            Component {
                name: POLL_EDGE,
                ps: mean(self.left.uncertainty.ps, self.right.uncertainty.ps),
                kind: self.left.uncertainty.kind,
            },
        ]
    }
}

/// How far poll edges are off what their poll neighbours predict, beyond what brackets and edge times already allow:
/// twice the root mean square of that excess, in picoseconds. Adding the whole residual would count those twice.
fn excess(rungs: &[Rung], rate: &CounterRate) -> f64 {
    let squares: Vec<f64> = rungs
        .windows(3)
        .filter_map(|three| {
            let [left, middle, right] = three else { return None };
            let between = Between::new(left, right, middle.ps)?;
            let residual = rate.picoseconds(2 * middle.half_ticks - between.quarter_ticks()) as f64 / 2.0;
            let allowed = between.components().iter().map(|part| part.ps).sum::<f64>()
                + middle.bracket_ps
                + middle.uncertainty.ps;
            Some((residual.abs() - allowed).max(0.0).powi(2))
        })
        .collect();
    if squares.is_empty() { 0.0 } else { 2.0 * (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() }
}
