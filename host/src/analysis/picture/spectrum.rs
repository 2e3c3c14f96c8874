//! TDEV and MTIE of the captured edges: how far the board's counter, as it captures, moves against the reference over time.

use super::{Axis, Unit};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::row::Mode;
use crate::analysis::session::{Session, SpreadPoint};
use crate::analysis::stability::{self, Deviation, Options, Row, Taus};
use crate::plan::RunRecord;
use crate::series::{MISSING_PS, Phase, Series};

/// Fewer points tell nothing about longer times.
const LEAST_POINTS: usize = 32;
/// Grid points, present or not.
const MOST_POINTS: usize = 4_000_000;

/// Averaging time in seconds, value in the axis's unit, and its interval.
pub type CurvePoint = (f64, f64, Option<(f64, f64)>);

/// One deviation over averaging time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Which.
    pub deviation: Deviation,
    /// What there is to draw.
    pub points: Vec<CurvePoint>,
    /// The rows behind it.
    pub rows: Vec<Row>,
}

/// Both curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Averaging time, or the window's length.
    pub x: Axis,
    /// Time.
    pub y: Axis,
    /// TDEV, MTIE.
    pub curves: Vec<Curve>,
    /// Whose edges.
    pub session: u32,
    /// How they were captured.
    pub mode: Mode,
    /// Edges, those that are missing not counted.
    pub edges: usize,
    /// Points of the grid without an edge.
    pub missing: usize,
}

/// Of the session and mode with the most edges.
///
/// # Errors
/// Why there is none, as a sentence.
pub fn spectrum(record: &RunRecord, edge: &EdgeAnalysis) -> Result<Spectrum, String> {
    let sets = edge
        .sessions
        .iter()
        .flat_map(|session| [Mode::Irq, Mode::Poll].map(|mode| (session, mode, of_mode(session, mode))));
    let Some((session, mode, points)) = sets.rev().max_by_key(|(_, _, points)| points.len()) else {
        return Err("no session was measured".to_owned());
    };
    if points.len() < LEAST_POINTS {
        return Err(format!(
            "{} paired edges of one session and mode have a known time, {LEAST_POINTS} are needed",
            points.len()
        ));
    }
    let series = series(&points, record.plan.period_ns)?;
    let options = Options {
        deviations: vec![Deviation::Tdev, Deviation::Mtie],
        taus: Taus::Octave,
        ..Options::default()
    };
    let report = stability::analyse(&series, &options).map_err(|error| error.to_string())?;
    drawn(&report.rows, session.number, mode, (points.len(), report.missing))
        .ok_or_else(|| "the edges do not move at all against the reference".to_owned())
}

fn of_mode(session: &Session, mode: Mode) -> Vec<SpreadPoint> {
    session.spread_points.iter().filter(|point| point.mode == mode).copied().collect()
}

/// On the grid of the commanded edges; those that take turns with others have a wider one.
fn series(points: &[SpreadPoint], period_ns: u64) -> Result<Series, String> {
    let step = points.windows(2).map(|two| two[1].edge.saturating_sub(two[0].edge)).min().unwrap_or(1).max(1);
    let first = points.first().map_or(0, |point| point.edge);
    let place = |point: &SpreadPoint| ((point.edge - first) / step) as usize;
    let length = points.iter().map(place).max().unwrap_or(0) + 1;
    if length > MOST_POINTS {
        return Err(format!(
            "{length} edges are too many for a page; `ppsrig stability edges.csv` takes them"
        ));
    }
    let mut phase = vec![MISSING_PS; length];
    for point in points {
        phase[place(point)] = point.late_ps.round() as i64;
    }
    let missing = phase.iter().filter(|ps| **ps == MISSING_PS).count();
    Ok(Series {
        phase: Phase::Picoseconds(phase),
        tau0_s: f64::from(step) * period_ns as f64 * 1e-9,
        missing,
    })
}

fn drawn(rows: &[Row], session: u32, mode: Mode, (edges, missing): (usize, usize)) -> Option<Spectrum> {
    let shown: Vec<&Row> = rows.iter().filter(|row| row.estimate.value > 0.0).collect();
    let ps = |seconds: f64| (seconds * 1e12) as i128;
    let values = || shown.iter().map(|row| row.estimate.value);
    let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let unit = Unit::of(ps(most));
    let scaled = |seconds: f64| unit.of_ps(1_000_000_000_000) * seconds;
    let taus = || shown.iter().map(|row| row.tau_s);
    let curve = |deviation: Deviation| {
        let rows: Vec<Row> = shown.iter().filter(|row| row.deviation == deviation).map(|row| **row).collect();
        let point = |row: &Row| {
            let interval = row.interval.filter(|(low, _)| *low > 0.0);
            let interval =
                interval.map(|(low, high)| (scaled(low).max(scaled(least)), scaled(high).min(scaled(most))));
            (row.tau_s, scaled(row.estimate.value), interval)
        };
        Curve { deviation, points: rows.iter().map(point).collect(), rows }
    };
    Some(Spectrum {
        x: Axis::decades("averaging time, s", taus().reduce(f64::min)?, taus().reduce(f64::max)?),
        y: Axis::decades(format!("TDEV and MTIE, {}", unit.name), scaled(least), scaled(most)),
        curves: [Deviation::Tdev, Deviation::Mtie].map(curve).into(),
        session,
        mode,
        edges,
        missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(edge: u32, late_ps: f64) -> SpreadPoint {
        SpreadPoint { edge, mode: Mode::Irq, edge_ps: f64::from(edge) * 1e11, late_ps, half_width_ps: None }
    }

    #[test]
    fn edges_that_take_turns_and_missing_ones_lie_on_their_grid() {
        let points: Vec<_> = [1, 3, 7, 9].iter().map(|edge| point(*edge, f64::from(*edge))).collect();
        let series = series(&points, 100_000_000).unwrap();
        assert_eq!(series.phase, Phase::Picoseconds(vec![1, 3, MISSING_PS, 7, 9]));
        assert!((series.tau0_s - 0.2).abs() < 1e-12 && series.missing == 1);
    }
}
