//! Latency figures: one group for each mode and tie, over the paired edges of all sessions.

use super::estimate::{
    Sample, deviation, mean, mean_ps, percentile, percentile_interval, root_mean_square, spread_about_line,
};
use super::figure::Figure;
use super::fixed::Fixed;
use super::row::{EdgeRow, Mode};
use super::session::Session;
use super::tie::{Tie, TiedLatency};
use super::uncertainty::{Component, mean_components, total};
use crate::events::Burst;

/// The latencies of one mode by one tie.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// How the edges were captured.
    pub mode: Mode,
    /// How they are tied.
    pub tie: Tie,
    /// The latencies, or for [`Tie::None`] nothing.
    pub sample: Sample,
    /// Edges that the figures rest on.
    pub n: u64,
    /// Mean of each component of the systematic uncertainty.
    pub components: Vec<Component>,
    /// The rows of summary.csv.
    pub figures: Vec<Figure>,
}

/// The tail begins where a latency exceeds the median by so many times what the 90th percentile does.
const TAIL: i128 = 10;

const PERCENTILES: [(&str, u32); 4] = [("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999)];

/// Every mode and tie that has an edge. A mode without any tie gets its spread.
#[must_use]
pub fn latencies(sessions: &[Session]) -> Vec<Latencies> {
    let mut found = Vec::new();
    for mode in [Mode::Irq, Mode::Poll] {
        let tied: Vec<Latencies> =
            [Tie::Echo, Tie::Bracket].into_iter().filter_map(|tie| tied(sessions, mode, tie)).collect();
        if tied.is_empty() {
            found.extend(spread_only(sessions, mode));
        }
        found.extend(tied);
    }
    found
}

fn of_tie(row: &EdgeRow, tie: Tie) -> Option<&TiedLatency> {
    match tie {
        Tie::Echo => row.echo.as_ref(),
        Tie::Bracket => row.bracket.as_ref(),
        Tie::None => None,
    }
}

fn tied(sessions: &[Session], mode: Mode, tie: Tie) -> Option<Latencies> {
    let mut sample = Sample::default();
    let mut latencies = Vec::new();
    for session in sessions {
        let rows = session.rows.iter().filter(|row| row.burst == Burst::Edges && row.mode == Some(mode));
        let of_session: Vec<&TiedLatency> = rows.filter_map(|row| of_tie(row, tie)).collect();
        sample.sessions.push(of_session.iter().map(|latency| latency.ps).collect());
        latencies.extend(of_session);
    }
    if sample.is_empty() {
        return None;
    }
    let widths: Vec<f64> = latencies.iter().map(|latency| total(&latency.components)).collect();
    let components = mean_components(latencies.iter().map(|latency| latency.components.as_slice()));
    let figures = Figures { mode, tie, sample: &sample, widths: &widths }.all(tick_ps(sessions));
    Some(Latencies { mode, tie, n: sample.len() as u64, components, figures, sample })
}

fn tick_ps(sessions: &[Session]) -> Option<f64> {
    sessions.iter().find_map(|session| Some(session.granularity() as f64 * session.rate.as_ref()?.tick_ps()))
}

fn nanoseconds(ps: f64) -> Option<Fixed> {
    Fixed::rounded(ps, 0).map(|fixed| Fixed::nanoseconds(fixed.scaled))
}

struct Figures<'a> {
    mode: Mode,
    tie: Tie,
    sample: &'a Sample,
    /// The systematic uncertainty of each edge.
    widths: &'a [f64],
}

impl Figures<'_> {
    fn figure(&self, metric: &str, unit: &'static str) -> Figure {
        Figure {
            n: self.sample.len() as u64,
            sessions: self.sample.session_count() as u64,
            ..Figure::new(self.mode.name(), self.tie.name(), metric, unit)
        }
    }

    fn all(&self, tick_ps: Option<f64>) -> Vec<Figure> {
        let values = self.sample.values();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let ranks = Ranks { sorted: &sorted, shifted: Shifted::new(&values, self.widths) };
        let mut figures = vec![self.mean(&values), self.deviation(&values)];
        figures.push(self.ranked("min", None, &ranks, |sorted| sorted.first().copied()));
        for (name, per_mille) in PERCENTILES {
            let interval = percentile_interval(&sorted, per_mille);
            figures.push(self.ranked(name, interval, &ranks, |sorted| percentile(sorted, per_mille)));
        }
        figures.push(self.ranked("max", None, &ranks, |sorted| sorted.last().copied()));
        figures.extend(self.tail(&sorted));
        figures.push(Figure { value: tick_ps.and_then(nanoseconds), ..self.figure("resolution", "ns") });
        let effective = self.sample.effective_count().and_then(|count| Fixed::rounded(count, 1));
        figures.push(Figure { value: effective, ..self.figure("n_eff", "edges") });
        figures
    }

    /// Each edge is off by its own U at most, so their mean is off by the mean U at most.
    fn mean(&self, values: &[i128]) -> Figure {
        let interval = self.sample.mean_interval();
        Figure {
            value: mean_ps(values).map(Fixed::nanoseconds),
            interval: interval.and_then(|(low, high)| Some((nanoseconds(low)?, nanoseconds(high)?))),
            uncertainty: nanoseconds(self.widths.iter().sum::<f64>() / self.widths.len() as f64),
            ..self.figure("mean", "ns")
        }
    }

    /// Two samples that differ edge by edge by no more than U have deviations that differ by its rms at most.
    fn deviation(&self, values: &[i128]) -> Figure {
        Figure {
            value: deviation(values).and_then(nanoseconds),
            uncertainty: root_mean_square(self.widths).and_then(nanoseconds),
            ..self.figure("sd", "ns")
        }
    }

    /// Edges that are later than the median by ten times what the 90th percentile is.
    fn tail(&self, sorted: &[i128]) -> Option<Figure> {
        let (median, most) = (percentile(sorted, 500)?, percentile(sorted, 900)?);
        let beyond = median + TAIL * (most - median);
        let of_session =
            |session: &Vec<i128>| session.iter().filter(|latency| **latency > beyond).count() as u64;
        let sessions = self.sample.sessions.iter().filter(|session| !session.is_empty());
        let counts: Vec<u64> = sessions.map(of_session).collect();
        let unit = format!("edges of >{} ns a session", Fixed::nanoseconds(beyond));
        Some(self.figure("tail_count", "edges").of_tail(unit, &counts))
    }

    /// A figure that is one of the values, by its rank.
    fn ranked(
        &self,
        name: &str,
        interval: Option<(i128, i128)>,
        ranks: &Ranks<'_>,
        pick: impl Fn(&[i128]) -> Option<i128>,
    ) -> Figure {
        let value = pick(ranks.sorted);
        Figure {
            value: value.map(Fixed::nanoseconds),
            interval: interval.map(|(low, high)| (Fixed::nanoseconds(low), Fixed::nanoseconds(high))),
            uncertainty: value
                .and_then(|value| ranks.shifted.uncertainty(value, pick))
                .map(Fixed::nanoseconds),
            ..self.figure(name, "ns")
        }
    }
}

struct Ranks<'a> {
    sorted: &'a [i128],
    shifted: Shifted,
}

/// The same values, each moved by its whole U down, and up: what a percentile can be off by.
struct Shifted {
    down: Vec<i128>,
    up: Vec<i128>,
}

impl Shifted {
    fn new(values: &[i128], widths: &[f64]) -> Self {
        let moved = |sign: i128| {
            let mut moved: Vec<i128> =
                values.iter().zip(widths).map(|(value, width)| value + sign * width.ceil() as i128).collect();
            moved.sort_unstable();
            moved
        };
        Self { down: moved(-1), up: moved(1) }
    }

    fn uncertainty(&self, value: i128, pick: impl Fn(&[i128]) -> Option<i128>) -> Option<i128> {
        Some((value - pick(&self.down)?).max(pick(&self.up)? - value))
    }
}

/// Without a tie only the spread is left: the standard deviation about a line through the edges' own times, which
/// swallows the mean latency and the rate.
fn spread_only(sessions: &[Session], mode: Mode) -> Option<Latencies> {
    let mut deviations = Vec::new();
    let (mut n, mut of_sessions, mut widths) = (0, 0, Vec::new());
    for session in sessions {
        let points: Vec<_> = session.spread_points.iter().filter(|point| point.mode == mode).collect();
        let line: Vec<(f64, f64)> = points.iter().map(|point| (point.edge_ps, point.late_ps)).collect();
        n += points.len() as u64;
        of_sessions += u64::from(!points.is_empty());
        widths.extend(points.iter().filter_map(|point| point.half_width_ps));
        deviations.extend(spread_about_line(&line));
    }
    if n == 0 {
        return None;
    }
    let known = widths.len() as u64 == n;
    let figures =
        Figure { n, sessions: of_sessions, ..Figure::new(mode.name(), Tie::None.name(), "sd", "ns") };
    let figures = vec![
        Figure {
            value: root_mean_square(&deviations).and_then(nanoseconds),
            uncertainty: root_mean_square(&widths).filter(|_| known).and_then(nanoseconds),
            ..figures.clone()
        },
        Figure { value: tick_ps(sessions).and_then(nanoseconds), metric: "resolution".to_owned(), ..figures },
    ];
    let edge = mean(&widths.iter().map(|width| width.ceil() as i128).collect::<Vec<_>>());
    let components = if known { vec![Component::bound("edge half-width", edge)] } else { Vec::new() };
    Some(Latencies { mode, tie: Tie::None, sample: Sample::default(), n, components, figures })
}
