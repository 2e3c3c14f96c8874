//! Windows that reach over leaves of 64 points.

use super::super::simd::{LANES, Machine, Point};

/// Points of a leaf.
const LEAF: usize = 64;

/// Points with the extremes of their leaves, the last of which may be short, and of windows of leaves.
pub(super) struct Leaves<'a, P> {
    points: &'a [P],
    /// Maximum and minimum of each leaf.
    extremes: Vec<(P, P)>,
    /// Those of `window` leaves from each on.
    windows: Vec<(P, P)>,
    window: usize,
    /// The range of all that the windows that start in a leaf can touch.
    bounds: Vec<P>,
}

/// Both together.
#[inline(always)]
fn both<P: Point>(left: (P, P), right: (P, P)) -> (P, P) {
    (left.0.greater(right.0), left.1.less(right.1))
}

/// Maximum and minimum of at least one point.
#[inline(always)]
fn extremes<M: Machine, P: Point>(machine: M, points: &[P]) -> (P, P) {
    let (lanes, rest) = points.as_chunks::<LANES>();
    let one = (points[0], points[0]);
    let mut high = P::load(machine, &[one.0; LANES]);
    let mut low = high;
    for values in lanes {
        let values = P::load(machine, values);
        high = P::greater_lanes(machine, values, high);
        low = P::less_lanes(machine, values, low);
    }
    let (high, low) = (P::store(machine, high), P::store(machine, low));
    let lanes = high.into_iter().zip(low).fold(one, both);
    rest.iter().fold(lanes, |known, point| both(known, (*point, *point)))
}

/// What windows from each start of eight leaves span of their leaf and up to the leaf of their end.
type Suffixes<M, P> = [(<P as Point>::Lanes<M>, <P as Point>::Lanes<M>); LEAF];

impl<'a, P: Point> Leaves<'a, P> {
    /// Of a run.
    #[inline(always)]
    pub(super) fn new<M: Machine>(machine: M, points: &'a [P]) -> Self {
        let extremes: Vec<(P, P)> = points.chunks(LEAF).map(|leaf| extremes(machine, leaf)).collect();
        let bounds = Vec::with_capacity(extremes.len());
        Self { points, windows: extremes.clone(), extremes, window: 1, bounds }
    }

    /// The widest range of all windows of `m + 1` points, or `known` where none is wider. `m` must not fall from call to
    /// call.
    #[inline(always)]
    pub(super) fn widen<M: Machine>(&mut self, machine: M, m: usize, known: P) -> P {
        self.bound(m);
        let some = P::load(machine, &[known; LANES]);
        let mut suffixes: Suffixes<M, P> = [(some, some); LEAF];
        let mut batch = Batch { leaves: [0; LANES], count: 0 };
        let mut widest = known;
        // The most promising leaf first, since what it has spares looking into others.
        let mut first = 0;
        for (leaf, bound) in self.bounds.iter().enumerate() {
            if *bound > self.bounds[first] {
                first = leaf;
            }
        }
        if self.bounds[first] > widest {
            batch.push(first);
            widest = self.look(machine, m, &mut batch, &mut suffixes, widest);
        }
        for leaf in 0..self.bounds.len() {
            if self.bounds[leaf] > widest {
                batch.push(leaf);
                if batch.count == LANES {
                    widest = self.look(machine, m, &mut batch, &mut suffixes, widest);
                }
            }
        }
        if batch.count > 0 {
            widest = self.look(machine, m, &mut batch, &mut suffixes, widest);
        }
        widest
    }

    /// Leaves that all windows from a leaf on span whole, but for the last: those between the leaf and that of its first
    /// window's end.
    #[inline(always)]
    fn between(&self, leaf: usize, m: usize) -> (P, P) {
        let count = m / LEAF - 1;
        both(self.windows[leaf + 1], self.windows[leaf + 1 + count - self.window])
    }

    /// Fills `bounds`.
    #[inline(always)]
    fn bound(&mut self, m: usize) {
        while self.window * 2 < m / LEAF {
            let shifted = self.window;
            for leaf in 0..self.windows.len().saturating_sub(shifted) {
                self.windows[leaf] = both(self.windows[leaf], self.windows[leaf + shifted]);
            }
            self.window *= 2;
        }
        let starts = self.points.len() - m;
        self.bounds.clear();
        for leaf in 0..starts.div_ceil(LEAF) {
            let end = leaf + m / LEAF;
            let last = self.extremes[(end + 1).min(self.extremes.len() - 1)];
            let ends = both(both(self.extremes[leaf], self.extremes[end]), last);
            let (high, low) = both(self.between(leaf, m), ends);
            self.bounds.push(high.minus(low));
        }
    }

    /// Looks at all windows that start in the leaves of a batch.
    #[inline(always)]
    fn look<M: Machine>(
        &self,
        machine: M,
        m: usize,
        batch: &mut Batch,
        suffixes: &mut Suffixes<M, P>,
        known: P,
    ) -> P {
        batch.fill();
        let leaves = batch.leaves;
        batch.count = 0;
        let between = leaves.map(|leaf| self.between(leaf, m));
        let mut high = P::load(machine, &between.map(|(high, _)| high));
        let mut low = P::load(machine, &between.map(|(_, low)| low));
        let mut widest = P::load(machine, &[known; LANES]);
        // From the last point of each leaf back: what windows from there on span up to the leaf of their end.
        let starts = leaves.map(|leaf| self.leaf(leaf * LEAF));
        for offset in (0..LEAF).rev() {
            let values = P::load(machine, &starts.map(|points| points[offset]));
            high = P::greater_lanes(machine, values, high);
            low = P::less_lanes(machine, values, low);
            suffixes[offset] = (high, low);
        }
        // From the leaf of the first window's end on: first up to that end, then one window after the other.
        let ends = leaves.map(|leaf| leaf * LEAF + m);
        let [origin, ..] = self.points else { return known };
        high = P::load(machine, &leaves.map(|leaf| self.points[leaf * LEAF + m]));
        low = high;
        for before in 1..=m % LEAF {
            let values = P::load(machine, &ends.map(|end| self.points[end - before]));
            high = P::greater_lanes(machine, values, high);
            low = P::less_lanes(machine, values, low);
        }
        let mut copies = [[*origin; LEAF]; LANES];
        let ends = self.ends(ends, &mut copies);
        for (offset, (suffix_high, suffix_low)) in suffixes.iter().copied().enumerate() {
            let values = P::load(machine, &ends.map(|points| points[offset]));
            high = P::greater_lanes(machine, values, high);
            low = P::less_lanes(machine, values, low);
            let top = P::greater_lanes(machine, high, suffix_high);
            let bottom = P::less_lanes(machine, low, suffix_low);
            widest = P::greater_lanes(machine, P::minus_lanes(machine, top, bottom), widest);
        }
        P::store(machine, widest).into_iter().fold(known, P::greater)
    }

    /// The 64 points from `start` on.
    #[inline(always)]
    fn leaf(&self, start: usize) -> &[P; LEAF] {
        self.points[start..start + LEAF].first_chunk().expect("a leaf has that many points")
    }

    /// The 64 points from each of these on. After the end the last point goes on: that widens no window beyond what ends
    /// there.
    #[inline(always)]
    fn ends<'b>(
        &'b self,
        starts: [usize; LANES],
        copies: &'b mut [[P; LEAF]; LANES],
    ) -> [&'b [P; LEAF]; LANES] {
        let mut ends = [self.leaf(0); LANES];
        for ((end, start), copy) in ends.iter_mut().zip(starts).zip(copies) {
            *end = match self.points[start..].first_chunk() {
                Some(points) => points,
                None => {
                    let rest = &self.points[start..];
                    copy[..rest.len()].copy_from_slice(rest);
                    copy[rest.len()..].fill(rest[rest.len() - 1]);
                    copy
                }
            };
        }
        ends
    }
}

/// Leaves that are looked at together.
struct Batch {
    leaves: [usize; LANES],
    count: usize,
}

impl Batch {
    /// One more.
    #[inline(always)]
    fn push(&mut self, leaf: usize) {
        self.leaves[self.count] = leaf;
        self.count += 1;
    }

    /// Repeats the first in the lanes that are left over.
    #[inline(always)]
    fn fill(&mut self) {
        for lane in self.count..LANES {
            self.leaves[lane] = self.leaves[0];
        }
    }
}
