//! What a phase is made of: f64, or integers that are subtracted exactly.

/// A value of a phase series, or of its sums.
pub(super) trait Point: Copy + PartialOrd + Default {
    /// The difference; integers wrap, and are exact wherever the result of a whole expression fits.
    fn minus(self, other: Self) -> Self;
    /// The sum, likewise.
    fn plus(self, other: Self) -> Self;
    /// As f64, rounded once.
    fn to_f64(self) -> f64;
}

impl Point for f64 {
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
}

impl Point for i64 {
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
}

/// The greater; a NaN on the left is passed over, one on the right stays.
#[inline(always)]
pub(super) fn greater<P: Point>(left: P, right: P) -> P {
    if left > right { left } else { right }
}

/// The less, likewise.
#[inline(always)]
pub(super) fn less<P: Point>(left: P, right: P) -> P {
    if left < right { left } else { right }
}
