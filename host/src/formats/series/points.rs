//! The points of a series as they come in: whole picoseconds as long as all are, else f64 seconds.

use super::decimal::{Decimal, seconds_of};
use crate::series::{MISSING_PS, Phase};

/// One value, both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    /// Whole picoseconds; none where it is not whole, or does not fit.
    pub(super) picoseconds: Option<i64>,
    /// The nearest f64.
    pub(super) seconds: f64,
}

impl Value {
    pub(super) fn of(decimal: &Decimal<'_>, scale: i32) -> Self {
        Self { picoseconds: decimal.picoseconds(scale), seconds: decimal.seconds(scale) }
    }

    /// Of a difference of time stamps.
    pub(super) fn of_picoseconds(picoseconds: i128) -> Self {
        let whole = i64::try_from(picoseconds).ok().filter(|whole| whole.abs() < 1 << 60);
        Self { picoseconds: whole, seconds: whole.map_or(picoseconds as f64 / 1e12, seconds_of) }
    }
}

/// All points so far, 8 bytes each.
#[derive(Debug)]
pub(super) enum Points {
    Whole(Vec<i64>),
    Fine(Vec<f64>),
}

impl Points {
    /// Frequencies are not counted in picoseconds: `fine` from the beginning.
    pub(super) const fn new(fine: bool) -> Self {
        if fine { Self::Fine(Vec::new()) } else { Self::Whole(Vec::new()) }
    }

    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Fine(values) => values.len(),
        }
    }

    /// Adds a number times 10^`scale`, and returns it as f64 if it is not whole.
    #[inline]
    pub(super) fn push_decimal(&mut self, decimal: &Decimal<'_>, scale: i32) -> f64 {
        if let Self::Fine(values) = self {
            let seconds = decimal.seconds(scale);
            values.push(seconds);
            return seconds;
        }
        let value = Value::of(decimal, scale);
        self.push(value);
        value.seconds
    }

    pub(super) fn push(&mut self, value: Value) {
        match (&mut *self, value.picoseconds) {
            (Self::Fine(values), _) => values.push(value.seconds),
            (Self::Whole(values), Some(picoseconds)) => values.push(picoseconds),
            (Self::Whole(_), None) => self.refine().push(value.seconds),
        }
    }

    pub(super) fn push_missing(&mut self, count: usize) {
        match self {
            Self::Whole(values) => values.resize(values.len() + count, MISSING_PS),
            Self::Fine(values) => values.resize(values.len() + count, f64::NAN),
        }
    }

    /// From here on in f64; what is there is turned in place.
    #[cold]
    fn refine(&mut self) -> &mut Vec<f64> {
        if let Self::Whole(values) = self {
            let seconds = |value| if value == MISSING_PS { f64::NAN } else { seconds_of(value) };
            *self = Self::Fine(std::mem::take(values).into_iter().map(seconds).collect());
        }
        match self {
            Self::Fine(values) => values,
            Self::Whole(_) => unreachable!("it was just turned"),
        }
    }

    pub(super) fn into_phase(self) -> Phase {
        match self {
            Self::Whole(values) => Phase::Picoseconds(values),
            Self::Fine(values) => Phase::Seconds(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_finer_value_makes_all_of_them_seconds() {
        let mut points = Points::new(false);
        points.push(Value { picoseconds: Some(1500), seconds: 1.5e-9 });
        points.push_missing(1);
        points.push(Value { picoseconds: None, seconds: 1e-13 });
        let Phase::Seconds(values) = points.into_phase() else { panic!("still whole") };
        assert_eq!((values[0], values[1].is_nan(), values[2]), (1.5e-9, true, 1e-13));
    }
}
