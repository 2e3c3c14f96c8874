//! Lanes of NEON: four registers.

use std::arch::aarch64::{float64x2_t, int64x2_t};

use pulp::aarch64::Neon;
use pulp::cast;

use super::{LANES, Machine};

/// Eight f64.
type Floats = [float64x2_t; 4];
/// Eight i64.
type Integers = [int64x2_t; 4];

/// Whole registers, pair by pair.
#[inline(always)]
fn zip<R: Copy>(left: [R; 4], right: [R; 4], with: impl Fn(R, R) -> R) -> [R; 4] {
    [with(left[0], right[0]), with(left[1], right[1]), with(left[2], right[2]), with(left[3], right[3])]
}

impl Machine for Neon {
    type Floats = Floats;
    type Integers = Integers;

    #[inline(always)]
    fn floats(self, values: [f64; LANES]) -> Floats {
        cast(values)
    }

    #[inline(always)]
    fn to_array(self, values: Floats) -> [f64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add(self, left: Floats, right: Floats) -> Floats {
        zip(left, right, |left, right| self.neon.vaddq_f64(left, right))
    }

    #[inline(always)]
    fn subtract(self, left: Floats, right: Floats) -> Floats {
        zip(left, right, |left, right| self.neon.vsubq_f64(left, right))
    }

    #[inline(always)]
    fn multiply(self, left: Floats, right: Floats) -> Floats {
        zip(left, right, |left, right| self.neon.vmulq_f64(left, right))
    }

    #[inline(always)]
    fn greater(self, left: Floats, right: Floats) -> Floats {
        zip(left, right, |left, right| self.neon.vbslq_f64(self.neon.vcgtq_f64(left, right), left, right))
    }

    #[inline(always)]
    fn less(self, left: Floats, right: Floats) -> Floats {
        zip(left, right, |left, right| self.neon.vbslq_f64(self.neon.vcltq_f64(left, right), left, right))
    }

    #[inline(always)]
    fn integers(self, values: [i64; LANES]) -> Integers {
        cast(values)
    }

    #[inline(always)]
    fn to_integer_array(self, values: Integers) -> [i64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add_integers(self, left: Integers, right: Integers) -> Integers {
        zip(left, right, |left, right| self.neon.vaddq_s64(left, right))
    }

    #[inline(always)]
    fn subtract_integers(self, left: Integers, right: Integers) -> Integers {
        zip(left, right, |left, right| self.neon.vsubq_s64(left, right))
    }

    #[inline(always)]
    fn greater_integers(self, left: Integers, right: Integers) -> Integers {
        zip(left, right, |left, right| self.neon.vbslq_s64(self.neon.vcgtq_s64(left, right), left, right))
    }

    #[inline(always)]
    fn less_integers(self, left: Integers, right: Integers) -> Integers {
        zip(left, right, |left, right| self.neon.vbslq_s64(self.neon.vcltq_s64(left, right), left, right))
    }

    #[inline(always)]
    fn convert(self, values: Integers) -> Floats {
        let convert = |values| self.neon.vcvtq_f64_s64(values);
        [convert(values[0]), convert(values[1]), convert(values[2]), convert(values[3])]
    }

    #[inline(always)]
    fn bits(self, values: Floats) -> Integers {
        cast(values)
    }
}
