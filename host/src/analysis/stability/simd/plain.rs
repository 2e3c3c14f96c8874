//! Lanes for every machine: arrays.

use std::array;

use super::{LANES, Machine, Point};

/// No instructions beyond what the compiler may use everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

/// Lane by lane.
#[inline(always)]
fn zip<P: Copy>(left: [P; LANES], right: [P; LANES], with: impl Fn(P, P) -> P) -> [P; LANES] {
    array::from_fn(|lane| with(left[lane], right[lane]))
}

impl Machine for Plain {
    type Floats = [f64; LANES];
    type Integers = [i64; LANES];

    #[inline(always)]
    fn floats(self, values: [f64; LANES]) -> [f64; LANES] {
        values
    }

    #[inline(always)]
    fn to_array(self, values: [f64; LANES]) -> [f64; LANES] {
        values
    }

    #[inline(always)]
    fn add(self, left: [f64; LANES], right: [f64; LANES]) -> [f64; LANES] {
        zip(left, right, |left, right| left + right)
    }

    #[inline(always)]
    fn subtract(self, left: [f64; LANES], right: [f64; LANES]) -> [f64; LANES] {
        zip(left, right, |left, right| left - right)
    }

    #[inline(always)]
    fn multiply(self, left: [f64; LANES], right: [f64; LANES]) -> [f64; LANES] {
        zip(left, right, |left, right| left * right)
    }

    #[inline(always)]
    fn greater(self, left: [f64; LANES], right: [f64; LANES]) -> [f64; LANES] {
        zip(left, right, Point::greater)
    }

    #[inline(always)]
    fn less(self, left: [f64; LANES], right: [f64; LANES]) -> [f64; LANES] {
        zip(left, right, Point::less)
    }

    #[inline(always)]
    fn integers(self, values: [i64; LANES]) -> [i64; LANES] {
        values
    }

    #[inline(always)]
    fn to_integer_array(self, values: [i64; LANES]) -> [i64; LANES] {
        values
    }

    #[inline(always)]
    fn add_integers(self, left: [i64; LANES], right: [i64; LANES]) -> [i64; LANES] {
        zip(left, right, i64::wrapping_add)
    }

    #[inline(always)]
    fn subtract_integers(self, left: [i64; LANES], right: [i64; LANES]) -> [i64; LANES] {
        zip(left, right, i64::wrapping_sub)
    }

    #[inline(always)]
    fn greater_integers(self, left: [i64; LANES], right: [i64; LANES]) -> [i64; LANES] {
        zip(left, right, Point::greater)
    }

    #[inline(always)]
    fn less_integers(self, left: [i64; LANES], right: [i64; LANES]) -> [i64; LANES] {
        zip(left, right, Point::less)
    }

    #[inline(always)]
    fn convert(self, values: [i64; LANES]) -> [f64; LANES] {
        values.map(|value| value as f64)
    }

    #[inline(always)]
    fn bits(self, values: [f64; LANES]) -> [i64; LANES] {
        values.map(|value| value.to_bits().cast_signed())
    }
}
