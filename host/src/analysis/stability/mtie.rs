//! Maximum time interval error: the widest range of the phase within any window of m + 1 points.
//!
//! Exact, and in a time that grows with points times averaging times whatever the phase does:
//! * short windows (`short`): maxima and minima over powers of two, of a block of points that stays in the cache;
//! * long windows (`long`): those over leaves of 64 points. All windows that start in one leaf share the leaves between
//!   their ends, so only the ends are looked at point by point, and not even these where the range of all the leaves that
//!   they touch is no wider than the widest window so far.
//!
//! A window that is widened is never narrower, so the value at one averaging time bounds the next one from below.

mod long;
mod short;

use std::ops::Range;

use self::long::Leaves;
use super::Estimate;
use super::prepared::{Prepared, View};
use super::simd::{Instructions, Machine, Point, Work};

/// Factors from which windows are long: they reach over a whole leaf wherever they start.
const LONG: usize = 128;

/// MTIE at each of a rising list of averaging factors.
pub(super) fn estimates(phase: &Prepared<'_>, factors: &[usize]) -> Vec<Option<Estimate>> {
    let widest = match phase.view() {
        View::Seconds(points) => widest(points, phase.present(), factors, phase.instructions()),
        View::Picoseconds(points) => widest(points, phase.present(), factors, phase.instructions()),
    };
    let windows = |m: usize| phase.present().iter().map(|run| run.len().saturating_sub(m) as u64).sum();
    widest
        .into_iter()
        .zip(factors)
        .map(|(widest, m)| widest.map(|value| Estimate { n: windows(*m), value: value * phase.unit_s() }))
        .collect()
}

/// The widest range at each factor over all runs of present points.
fn widest<P: Point>(
    points: &[P],
    present: &[Range<usize>],
    factors: &[usize],
    instructions: Instructions,
) -> Vec<Option<f64>> {
    let mut widest = vec![None; factors.len()];
    for run in present {
        // Factors rise: those that fit the run come first.
        let count = factors.partition_point(|m| *m < run.len());
        if count > 0 {
            let run = Run { points: &points[run.clone()], factors: &factors[..count] };
            instructions.run(Widest { run, widest: &mut widest[..count] });
        }
    }
    widest.into_iter().map(|range| range.map(Point::to_f64)).collect()
}

/// Points that are all there, and factors that have a window in them.
#[derive(Clone, Copy)]
struct Run<'a, P> {
    points: &'a [P],
    factors: &'a [usize],
}

/// Widens what is known by the windows of a run.
struct Widest<'a, P> {
    run: Run<'a, P>,
    widest: &'a mut [Option<P>],
}

impl<P: Point> Work for Widest<'_, P> {
    type Output = ();

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) {
        let Run { points, factors } = self.run;
        let nothing = points[0].minus(points[0]);
        let short = factors.partition_point(|m| *m < LONG);
        let mut found = vec![nothing; short];
        short::widen(machine, points, &factors[..short], &mut found);
        let mut least = found.last().copied().unwrap_or(nothing);
        for (widest, found) in self.widest.iter_mut().zip(found) {
            *widest = Some(widest.map_or(found, |known| known.greater(found)));
        }
        if short == factors.len() {
            return;
        }
        let mut leaves = Leaves::new(machine, points);
        for (m, widest) in factors.iter().zip(self.widest).skip(short) {
            // What other runs have at this factor spares looking, and what this one had before bounds it.
            let known = widest.map_or(least, |known| known.greater(least));
            let range = leaves.widen(machine, *m, known);
            // Only what this run has itself bounds its longer windows.
            if range > known {
                least = range;
            }
            *widest = Some(range);
        }
    }
}
