//! Sums of squares of first, second and third differences at a distance of m points: the whole of the overlapping Allan
//! family, and of the modified one over prefix sums.
//!
//! All averaging times of a block of starts are done before the next block, while its points are in the cache; averaging
//! times that double share their points. How the terms are added depends on their place alone, so a sum is the same to
//! the bit whatever else is asked for with it.

use std::ops::Range;

use super::simd::{Instructions, LANES, Machine, Point, Work};

/// Steps of a whole block.
const STEPS: usize = 128;
/// Starts that are done at once for all averaging times.
const BLOCK: usize = STEPS * LANES;
/// Averaging times that share their points.
const GROUP: usize = 4;

/// Which difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// x(i+m) - x(i).
    First,
    /// x(i+2m) - 2 x(i+m) + x(i).
    Second,
    /// x(i+3m) - 3 x(i+2m) + 3 x(i+m) - x(i).
    Third,
}

impl Order {
    /// Distances of m points between the first and the last point of a term.
    pub(super) const fn reach(self) -> usize {
        match self {
            Self::First => 1,
            Self::Second => 2,
            Self::Third => 3,
        }
    }
}

/// The sum of the squares of all differences, for every `m` of a rising list; 0 where there is none.
pub(super) fn sums_of_squares<P: Point>(
    points: &[P],
    order: Order,
    factors: &[usize],
    instructions: Instructions,
) -> Vec<f64> {
    instructions.run(Sums { points, order, factors })
}

/// All of [`sums_of_squares`].
struct Sums<'a, P> {
    points: &'a [P],
    order: Order,
    factors: &'a [usize],
}

impl<P: Point> Work for Sums<'_, P> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) -> Vec<f64> {
        let mut totals = vec![0.0; self.factors.len()];
        let most = self.factors.first().map_or(0, |m| self.starts(*m));
        for block in (0..most).step_by(BLOCK) {
            let mut next = 0;
            while let Some(&m) = self.factors.get(next) {
                let starts = block..self.starts(m).min(block + BLOCK);
                if starts.is_empty() {
                    break;
                }
                next += if self.group_is_whole(next, block) {
                    self.group(machine, block, m, &mut totals[next..])
                } else {
                    totals[next] += self.one(machine, starts, m);
                    1
                };
            }
        }
        totals
    }
}

impl<P: Point> Sums<'_, P> {
    /// How many terms there are.
    #[inline(always)]
    fn starts(&self, m: usize) -> usize {
        self.points.len().saturating_sub(self.order.reach().saturating_mul(m))
    }

    /// Whether the next averaging times double, and all have this block whole.
    #[inline(always)]
    fn group_is_whole(&self, next: usize, block: usize) -> bool {
        self.factors.get(next..next + GROUP).is_some_and(|factors| {
            factors.windows(2).all(|pair| pair[1] == 2 * pair[0])
                && self.starts(factors[GROUP - 1]) >= block + BLOCK
        })
    }

    /// Adds the squares of a whole block at m, 2m, 4m and 8m, and says how many averaging times that were.
    #[inline(always)]
    fn group<M: Machine>(&self, machine: M, block: usize, m: usize, totals: &mut [f64]) -> usize {
        let sums = match self.order {
            Order::First => [first(machine, self.points, block..block + BLOCK, m), 0.0, 0.0, 0.0],
            Order::Second => seconds(machine, self.points, block, m),
            Order::Third => thirds(machine, self.points, block, m),
        };
        let count = if self.order == Order::First { 1 } else { GROUP };
        for (total, sum) in totals.iter_mut().zip(&sums[..count]) {
            *total += sum;
        }
        count
    }

    /// The squares of one averaging time.
    #[inline(always)]
    fn one<M: Machine>(&self, machine: M, starts: Range<usize>, m: usize) -> f64 {
        match self.order {
            Order::First => first(machine, self.points, starts, m),
            Order::Second => second(machine, self.points, starts, m),
            Order::Third => third(machine, self.points, starts, m),
        }
    }
}

/// What eight lanes and the terms left over come to.
#[inline(always)]
fn total(lanes: [f64; LANES], rest: f64) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    (((a + e) + (c + g)) + ((b + f) + (d + h))) + rest
}

/// As many points from `start` on as there are starts, in lanes, and those left over.
#[inline(always)]
fn lanes<P>(points: &[P], start: usize, count: usize) -> (&[[P; LANES]], &[P]) {
    points[start..start + count].as_chunks()
}

/// The points of a whole block from `start` on.
#[inline(always)]
fn whole<P>(points: &[P], start: usize) -> &[[P; LANES]; STEPS] {
    let (lanes, _) = points[start..start + BLOCK].as_chunks::<LANES>();
    lanes.first_chunk().expect("a block has that many points")
}

/// Squares of first differences.
#[inline(always)]
fn first<M: Machine, P: Point>(machine: M, points: &[P], starts: Range<usize>, m: usize) -> f64 {
    let (start, count) = (starts.start, starts.len());
    let (a, a_rest) = lanes(points, start, count);
    let (b, b_rest) = lanes(points, start + m, count);
    let mut sums = machine.floats([0.0; LANES]);
    for (a, b) in a.iter().zip(b) {
        let difference = P::minus_lanes(machine, P::load(machine, b), P::load(machine, a));
        sums = with_squares::<M, P>(machine, sums, difference);
    }
    let mut rest = 0.0;
    for (a, b) in a_rest.iter().zip(b_rest) {
        let d = b.minus(*a).to_f64();
        rest += d * d;
    }
    total(machine.to_array(sums), rest)
}

/// A second difference of three points in a row: by differences from the first, which are small beside the phase.
#[inline(always)]
fn second_difference<P: Point>(a: P, b: P, c: P) -> f64 {
    let near = b.minus(a);
    c.minus(a).minus(near.plus(near)).to_f64()
}

/// A third difference of four points in a row.
#[inline(always)]
fn third_difference<P: Point>(a: P, b: P, c: P, d: P) -> f64 {
    let inner = c.minus(b);
    d.minus(a).minus(inner.plus(inner).plus(inner)).to_f64()
}

/// The sums with the squares of these added.
#[inline(always)]
fn with_squares<M: Machine, P: Point>(machine: M, sums: M::Floats, differences: P::Lanes<M>) -> M::Floats {
    let differences = P::lanes_to_f64(machine, differences);
    machine.add(sums, machine.multiply(differences, differences))
}

/// [`second_difference`] of eight starts.
#[inline(always)]
fn second_differences<M: Machine, P: Point>(
    machine: M,
    a: P::Lanes<M>,
    b: &[P; LANES],
    c: &[P; LANES],
) -> P::Lanes<M> {
    let near = P::minus_lanes(machine, P::load(machine, b), a);
    let far = P::minus_lanes(machine, P::load(machine, c), a);
    P::minus_lanes(machine, far, P::plus_lanes(machine, near, near))
}

/// [`third_difference`] of eight starts.
#[inline(always)]
fn third_differences<M: Machine, P: Point>(
    machine: M,
    a: P::Lanes<M>,
    b: &[P; LANES],
    c: &[P; LANES],
    d: &[P; LANES],
) -> P::Lanes<M> {
    let inner = P::minus_lanes(machine, P::load(machine, c), P::load(machine, b));
    let outer = P::minus_lanes(machine, P::load(machine, d), a);
    P::minus_lanes(machine, outer, P::plus_lanes(machine, P::plus_lanes(machine, inner, inner), inner))
}

/// Squares of second differences.
#[inline(always)]
fn second<M: Machine, P: Point>(machine: M, points: &[P], starts: Range<usize>, m: usize) -> f64 {
    let (start, count) = (starts.start, starts.len());
    let (a, a_rest) = lanes(points, start, count);
    let (b, b_rest) = lanes(points, start + m, count);
    let (c, c_rest) = lanes(points, start + 2 * m, count);
    let mut sums = machine.floats([0.0; LANES]);
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        sums = with_squares::<M, P>(machine, sums, second_differences(machine, P::load(machine, a), b, c));
    }
    let mut rest = 0.0;
    for ((a, b), c) in a_rest.iter().zip(b_rest).zip(c_rest) {
        let d = second_difference(*a, *b, *c);
        rest += d * d;
    }
    total(machine.to_array(sums), rest)
}

/// Squares of third differences.
#[inline(always)]
fn third<M: Machine, P: Point>(machine: M, points: &[P], starts: Range<usize>, m: usize) -> f64 {
    let (start, count) = (starts.start, starts.len());
    let (a, a_rest) = lanes(points, start, count);
    let (b, b_rest) = lanes(points, start + m, count);
    let (c, c_rest) = lanes(points, start + 2 * m, count);
    let (d, d_rest) = lanes(points, start + 3 * m, count);
    let mut sums = machine.floats([0.0; LANES]);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        sums = with_squares::<M, P>(machine, sums, third_differences(machine, P::load(machine, a), b, c, d));
    }
    let mut rest = 0.0;
    for (((a, b), c), d) in a_rest.iter().zip(b_rest).zip(c_rest).zip(d_rest) {
        let d = third_difference(*a, *b, *c, *d);
        rest += d * d;
    }
    total(machine.to_array(sums), rest)
}

/// Squares of second differences at m, 2m, 4m and 8m points, of a whole block.
#[inline(always)]
fn seconds<M: Machine, P: Point>(machine: M, points: &[P], block: usize, m: usize) -> [f64; GROUP] {
    let origins = whole(points, block);
    let x1 = whole(points, block + m);
    let x2 = whole(points, block + 2 * m);
    let x4 = whole(points, block + 4 * m);
    let x8 = whole(points, block + 8 * m);
    let x16 = whole(points, block + 16 * m);
    let [mut sum1, mut sum2, mut sum4, mut sum8] = [machine.floats([0.0; LANES]); GROUP];
    for step in 0..STEPS {
        let a = P::load(machine, &origins[step]);
        sum1 = with_squares::<M, P>(machine, sum1, second_differences(machine, a, &x1[step], &x2[step]));
        sum2 = with_squares::<M, P>(machine, sum2, second_differences(machine, a, &x2[step], &x4[step]));
        sum4 = with_squares::<M, P>(machine, sum4, second_differences(machine, a, &x4[step], &x8[step]));
        sum8 = with_squares::<M, P>(machine, sum8, second_differences(machine, a, &x8[step], &x16[step]));
    }
    [sum1, sum2, sum4, sum8].map(|sums| total(machine.to_array(sums), 0.0))
}

/// Squares of third differences at m, 2m, 4m and 8m points, of a whole block.
#[inline(always)]
fn thirds<M: Machine, P: Point>(machine: M, points: &[P], block: usize, m: usize) -> [f64; GROUP] {
    let origins = whole(points, block);
    let x1 = whole(points, block + m);
    let x2 = whole(points, block + 2 * m);
    let x3 = whole(points, block + 3 * m);
    let x4 = whole(points, block + 4 * m);
    let x6 = whole(points, block + 6 * m);
    let x8 = whole(points, block + 8 * m);
    let x12 = whole(points, block + 12 * m);
    let x16 = whole(points, block + 16 * m);
    let x24 = whole(points, block + 24 * m);
    let [mut sum1, mut sum2, mut sum4, mut sum8] = [machine.floats([0.0; LANES]); GROUP];
    for step in 0..STEPS {
        let a = P::load(machine, &origins[step]);
        sum1 = with_squares::<M, P>(
            machine,
            sum1,
            third_differences(machine, a, &x1[step], &x2[step], &x3[step]),
        );
        sum2 = with_squares::<M, P>(
            machine,
            sum2,
            third_differences(machine, a, &x2[step], &x4[step], &x6[step]),
        );
        sum4 = with_squares::<M, P>(
            machine,
            sum4,
            third_differences(machine, a, &x4[step], &x8[step], &x12[step]),
        );
        sum8 = with_squares::<M, P>(
            machine,
            sum8,
            third_differences(machine, a, &x8[step], &x16[step], &x24[step]),
        );
    }
    [sum1, sum2, sum4, sum8].map(|sums| total(machine.to_array(sums), 0.0))
}
