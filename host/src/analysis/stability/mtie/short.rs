//! Windows of up to 128 points.

use super::super::simd::{LANES, Machine, Point};
use super::LONG;

/// Starts that are done at once.
const BLOCK: usize = 2048;
/// A block, the points that its last windows reach, and whole lanes after them.
const ROOM: usize = BLOCK + 2 * LONG + LANES;

/// Maxima and minima of a window of a power of two at each start.
struct Extremes<P> {
    maxima: [P; ROOM],
    minima: [P; ROOM],
    /// The window's length.
    window: usize,
}

/// Widens each factor's range by all windows.
#[inline(always)]
pub(super) fn widen<M: Machine, P: Point>(machine: M, points: &[P], factors: &[usize], widest: &mut [P]) {
    let Some(&longest) = factors.last() else { return };
    let last = points[points.len() - 1];
    let mut extremes = Extremes { maxima: [last; ROOM], minima: [last; ROOM], window: 1 };
    for block in (0..points.len() - factors[0]).step_by(BLOCK) {
        let here = &points[block..points.len().min(block + BLOCK + longest)];
        // After the end the last point goes on: that widens no window beyond what ends there.
        let filled = (here.len() + LONG + LANES).min(ROOM);
        extremes.maxima[..here.len()].copy_from_slice(here);
        extremes.maxima[here.len()..filled].fill(here[here.len() - 1]);
        extremes.minima[..filled].copy_from_slice(&extremes.maxima[..filled]);
        extremes.window = 1;
        let steps = here.len().div_ceil(LANES);
        for (m, widest) in factors.iter().zip(&mut *widest) {
            if block + m >= points.len() {
                break;
            }
            while extremes.window * 2 <= m + 1 {
                double(machine, &mut extremes, steps);
            }
            let starts = here.len().saturating_sub(*m).min(BLOCK);
            *widest = range(machine, &extremes, m + 1, starts.div_ceil(LANES)).greater(*widest);
        }
    }
}

/// Eight values from `start` on.
#[inline(always)]
fn load<M: Machine, P: Point>(machine: M, values: &[P; ROOM], start: usize) -> P::Lanes<M> {
    P::load(machine, values[start..start + LANES].first_chunk().expect("as many as there are lanes"))
}

/// Doubles the window.
#[inline(always)]
fn double<M: Machine, P: Point>(machine: M, extremes: &mut Extremes<P>, steps: usize) {
    let Extremes { maxima, minima, window } = extremes;
    for start in (0..steps * LANES).step_by(LANES) {
        let (near, far) = (load(machine, maxima, start), load(machine, maxima, start + *window));
        let greater = P::greater_lanes(machine, near, far);
        maxima[start..start + LANES].copy_from_slice(&P::store(machine, greater));
        let (near, far) = (load(machine, minima, start), load(machine, minima, start + *window));
        let less = P::less_lanes(machine, near, far);
        minima[start..start + LANES].copy_from_slice(&P::store(machine, less));
    }
    *window *= 2;
}

/// The widest range of windows of `len` points, each two overlapping ones of the power of two below.
#[inline(always)]
fn range<M: Machine, P: Point>(machine: M, extremes: &Extremes<P>, len: usize, steps: usize) -> P {
    let apart = len - extremes.window;
    let Extremes { maxima, minima, .. } = extremes;
    let nothing = maxima[0].minus(maxima[0]);
    let mut widest = P::load(machine, &[nothing; LANES]);
    for start in (0..steps * LANES).step_by(LANES) {
        let high = P::greater_lanes(
            machine,
            load::<M, P>(machine, maxima, start),
            load::<M, P>(machine, maxima, start + apart),
        );
        let low = P::less_lanes(
            machine,
            load::<M, P>(machine, minima, start),
            load::<M, P>(machine, minima, start + apart),
        );
        widest = P::greater_lanes(machine, P::minus_lanes(machine, high, low), widest);
    }
    P::store(machine, widest).into_iter().fold(nothing, P::greater)
}
