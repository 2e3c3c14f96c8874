//! Lanes of AVX-512 (F and DQ): one register.

use std::arch::x86_64::{__m512d, __m512i};

use pulp::cast;
use pulp::x86::V4;

use super::{LANES, Machine};

impl Machine for V4 {
    type Floats = __m512d;
    type Integers = __m512i;

    #[inline(always)]
    fn floats(self, values: [f64; LANES]) -> __m512d {
        cast(values)
    }

    #[inline(always)]
    fn to_array(self, values: __m512d) -> [f64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add(self, left: __m512d, right: __m512d) -> __m512d {
        self.avx512f._mm512_add_pd(left, right)
    }

    #[inline(always)]
    fn subtract(self, left: __m512d, right: __m512d) -> __m512d {
        self.avx512f._mm512_sub_pd(left, right)
    }

    #[inline(always)]
    fn multiply(self, left: __m512d, right: __m512d) -> __m512d {
        self.avx512f._mm512_mul_pd(left, right)
    }

    #[inline(always)]
    fn greater(self, left: __m512d, right: __m512d) -> __m512d {
        self.avx512f._mm512_max_pd(left, right)
    }

    #[inline(always)]
    fn less(self, left: __m512d, right: __m512d) -> __m512d {
        self.avx512f._mm512_min_pd(left, right)
    }

    #[inline(always)]
    fn integers(self, values: [i64; LANES]) -> __m512i {
        cast(values)
    }

    #[inline(always)]
    fn to_integer_array(self, values: __m512i) -> [i64; LANES] {
        cast(values)
    }

    #[inline(always)]
    fn add_integers(self, left: __m512i, right: __m512i) -> __m512i {
        self.avx512f._mm512_add_epi64(left, right)
    }

    #[inline(always)]
    fn subtract_integers(self, left: __m512i, right: __m512i) -> __m512i {
        self.avx512f._mm512_sub_epi64(left, right)
    }

    #[inline(always)]
    fn greater_integers(self, left: __m512i, right: __m512i) -> __m512i {
        self.avx512f._mm512_max_epi64(left, right)
    }

    #[inline(always)]
    fn less_integers(self, left: __m512i, right: __m512i) -> __m512i {
        self.avx512f._mm512_min_epi64(left, right)
    }

    #[inline(always)]
    fn convert(self, values: __m512i) -> __m512d {
        self.avx512dq._mm512_cvtepi64_pd(values)
    }

    #[inline(always)]
    fn bits(self, values: __m512d) -> __m512i {
        cast(values)
    }
}
