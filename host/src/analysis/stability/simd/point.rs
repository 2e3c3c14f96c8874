//! What a phase is made of: f64, or integers that are subtracted exactly.

use super::{LANES, Machine};

/// A value of a phase series, or of its sums.
pub(in crate::analysis::stability) trait Point: Copy + PartialOrd {
    /// Eight of them.
    type Lanes<M: Machine>: Copy;

    /// The difference. Integers wrap, so a whole expression is exact wherever its result fits.
    fn minus(self, other: Self) -> Self;
    /// The sum, likewise.
    fn plus(self, other: Self) -> Self;
    /// As f64, rounded once.
    fn to_f64(self) -> f64;

    /// Eight in a row.
    fn load<M: Machine>(machine: M, values: &[Self; LANES]) -> Self::Lanes<M>;
    /// Eight in a row.
    fn store<M: Machine>(machine: M, lanes: Self::Lanes<M>) -> [Self; LANES];
    /// [`Self::minus`], lane by lane.
    fn minus_lanes<M: Machine>(machine: M, left: Self::Lanes<M>, right: Self::Lanes<M>) -> Self::Lanes<M>;
    /// [`Self::plus`], lane by lane.
    fn plus_lanes<M: Machine>(machine: M, left: Self::Lanes<M>, right: Self::Lanes<M>) -> Self::Lanes<M>;
    /// [`Self::greater`], lane by lane.
    fn greater_lanes<M: Machine>(machine: M, left: Self::Lanes<M>, right: Self::Lanes<M>) -> Self::Lanes<M>;
    /// [`Self::less`], lane by lane.
    fn less_lanes<M: Machine>(machine: M, left: Self::Lanes<M>, right: Self::Lanes<M>) -> Self::Lanes<M>;
    /// [`Self::to_f64`], lane by lane.
    fn lanes_to_f64<M: Machine>(machine: M, lanes: Self::Lanes<M>) -> M::Floats;

    /// The greater; the right one, where neither is.
    #[inline(always)]
    fn greater(self, right: Self) -> Self {
        if self > right { self } else { right }
    }

    /// The less; the right one, where neither is.
    #[inline(always)]
    fn less(self, right: Self) -> Self {
        if self < right { self } else { right }
    }
}

impl Point for f64 {
    type Lanes<M: Machine> = M::Floats;

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn load<M: Machine>(machine: M, values: &[Self; LANES]) -> M::Floats {
        machine.floats(*values)
    }

    #[inline(always)]
    fn store<M: Machine>(machine: M, lanes: M::Floats) -> [Self; LANES] {
        machine.to_array(lanes)
    }

    #[inline(always)]
    fn minus_lanes<M: Machine>(machine: M, left: M::Floats, right: M::Floats) -> M::Floats {
        machine.subtract(left, right)
    }

    #[inline(always)]
    fn plus_lanes<M: Machine>(machine: M, left: M::Floats, right: M::Floats) -> M::Floats {
        machine.add(left, right)
    }

    #[inline(always)]
    fn greater_lanes<M: Machine>(machine: M, left: M::Floats, right: M::Floats) -> M::Floats {
        machine.greater(left, right)
    }

    #[inline(always)]
    fn less_lanes<M: Machine>(machine: M, left: M::Floats, right: M::Floats) -> M::Floats {
        machine.less(left, right)
    }

    #[inline(always)]
    fn lanes_to_f64<M: Machine>(_: M, lanes: M::Floats) -> M::Floats {
        lanes
    }
}

impl Point for i64 {
    type Lanes<M: Machine> = M::Integers;

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn load<M: Machine>(machine: M, values: &[Self; LANES]) -> M::Integers {
        machine.integers(*values)
    }

    #[inline(always)]
    fn store<M: Machine>(machine: M, lanes: M::Integers) -> [Self; LANES] {
        machine.to_integer_array(lanes)
    }

    #[inline(always)]
    fn minus_lanes<M: Machine>(machine: M, left: M::Integers, right: M::Integers) -> M::Integers {
        machine.subtract_integers(left, right)
    }

    #[inline(always)]
    fn plus_lanes<M: Machine>(machine: M, left: M::Integers, right: M::Integers) -> M::Integers {
        machine.add_integers(left, right)
    }

    #[inline(always)]
    fn greater_lanes<M: Machine>(machine: M, left: M::Integers, right: M::Integers) -> M::Integers {
        machine.greater_integers(left, right)
    }

    #[inline(always)]
    fn less_lanes<M: Machine>(machine: M, left: M::Integers, right: M::Integers) -> M::Integers {
        machine.less_integers(left, right)
    }

    #[inline(always)]
    fn lanes_to_f64<M: Machine>(machine: M, lanes: M::Integers) -> M::Floats {
        machine.convert(lanes)
    }
}
