//! Lanes of AVX2: two registers.

use std::arch::x86_64::{__m256d, __m256i};

use pulp::cast;
use pulp::x86::V3;

use super::{LANES, Machine};

/// The bits of f64 2^84 + 2^63, 2^84 + 2^63 + 2^52 and 2^52: see [`convert`].
const TWO_84_63: i64 = 0x4530_0000_8000_0000;
const TWO_84_63_52: i64 = 0x4530_0000_8010_0000;
const TWO_52: i64 = 0x4330_0000_0000_0000;

/// AVX2 has no such instruction: the upper half becomes the mantissa of a number from 2^84 on, with its sign turned, the
/// lower one that of a number from 2^52 on; taking both offsets off is exact, and the sum is rounded once.
#[inline(always)]
fn convert(machine: V3, values: __m256i) -> __m256d {
    let avx2 = machine.avx2;
    let high = avx2._mm256_srli_epi64::<32>(values);
    let high = avx2._mm256_xor_si256(high, cast([TWO_84_63; 4]));
    let low = avx2._mm256_blend_epi32::<0b1010_1010>(values, cast([TWO_52; 4]));
    let high = machine.avx._mm256_sub_pd(cast(high), cast([TWO_84_63_52; 4]));
    machine.avx._mm256_add_pd(high, cast(low))
}

/// Whole registers, pair by pair.
#[inline(always)]
fn zip<R: Copy>(left: [R; 2], right: [R; 2], with: impl Fn(R, R) -> R) -> [R; 2] {
    [with(left[0], right[0]), with(left[1], right[1])]
}

/// Where `left` is greater than `right`, `yes`, else `no`.
#[inline(always)]
fn select(machine: V3, left: __m256i, right: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    machine.avx2._mm256_blendv_epi8(no, yes, machine.avx2._mm256_cmpgt_epi64(left, right))
}

impl Machine for V3 {
    type Floats = [__m256d; 2];
    type Integers = [__m256i; 2];

    #[inline(always)]
    fn floats(self, values: [f64; LANES]) -> [__m256d; 2] {
        cast(values)
    }

    #[inline(always)]
    fn to_array(self, values: [__m256d; 2]) -> [f64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add(self, left: [__m256d; 2], right: [__m256d; 2]) -> [__m256d; 2] {
        zip(left, right, |left, right| self.avx._mm256_add_pd(left, right))
    }

    #[inline(always)]
    fn subtract(self, left: [__m256d; 2], right: [__m256d; 2]) -> [__m256d; 2] {
        zip(left, right, |left, right| self.avx._mm256_sub_pd(left, right))
    }

    #[inline(always)]
    fn multiply(self, left: [__m256d; 2], right: [__m256d; 2]) -> [__m256d; 2] {
        zip(left, right, |left, right| self.avx._mm256_mul_pd(left, right))
    }

    #[inline(always)]
    fn greater(self, left: [__m256d; 2], right: [__m256d; 2]) -> [__m256d; 2] {
        zip(left, right, |left, right| self.avx._mm256_max_pd(left, right))
    }

    #[inline(always)]
    fn less(self, left: [__m256d; 2], right: [__m256d; 2]) -> [__m256d; 2] {
        zip(left, right, |left, right| self.avx._mm256_min_pd(left, right))
    }

    #[inline(always)]
    fn integers(self, values: [i64; LANES]) -> [__m256i; 2] {
        cast(values)
    }

    #[inline(always)]
    fn to_integer_array(self, values: [__m256i; 2]) -> [i64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add_integers(self, left: [__m256i; 2], right: [__m256i; 2]) -> [__m256i; 2] {
        zip(left, right, |left, right| self.avx2._mm256_add_epi64(left, right))
    }

    #[inline(always)]
    fn subtract_integers(self, left: [__m256i; 2], right: [__m256i; 2]) -> [__m256i; 2] {
        zip(left, right, |left, right| self.avx2._mm256_sub_epi64(left, right))
    }

    #[inline(always)]
    fn greater_integers(self, left: [__m256i; 2], right: [__m256i; 2]) -> [__m256i; 2] {
        zip(left, right, |left, right| select(self, left, right, left, right))
    }

    #[inline(always)]
    fn less_integers(self, left: [__m256i; 2], right: [__m256i; 2]) -> [__m256i; 2] {
        zip(left, right, |left, right| select(self, left, right, right, left))
    }

    #[inline(always)]
    fn convert(self, values: [__m256i; 2]) -> [__m256d; 2] {
        [convert(self, values[0]), convert(self, values[1])]
    }

    #[inline(always)]
    fn bits(self, values: [__m256d; 2]) -> [__m256i; 2] {
        cast(values)
    }
}
