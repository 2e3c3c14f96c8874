//! Decimal numbers with a fixed number of places, kept as integers so that every machine prints the same digits.

use std::fmt;

use serde::{Serialize, Serializer};

/// `scaled / 10^places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The number times ten to the power of `places`.
    pub scaled: i128,
    /// Digits behind the point.
    pub places: u8,
}

impl Fixed {
    /// A whole number.
    #[must_use]
    pub const fn whole(value: i128) -> Self {
        Self { scaled: value, places: 0 }
    }

    /// Picoseconds, to be printed as nanoseconds with three places.
    #[must_use]
    pub const fn nanoseconds(picoseconds: i128) -> Self {
        Self { scaled: picoseconds, places: 3 }
    }

    /// A computed number, rounded to `places`. None if it is not finite or too large for any use here.
    #[must_use]
    pub fn rounded(value: f64, places: u8) -> Option<Self> {
        let scaled = (value * 10f64.powi(i32::from(places))).round();
        (scaled.is_finite() && scaled.abs() < 1e30).then_some(Self { scaled: scaled as i128, places })
    }

    /// Computed picoseconds, rounded to the nearest, to be printed as nanoseconds with three places.
    #[must_use]
    pub fn rounded_nanoseconds(picoseconds: f64) -> Option<Self> {
        Self::rounded(picoseconds, 0).map(|ps| Self::nanoseconds(ps.scaled))
    }

    /// The nearest f64, for JSON.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.scaled < 0 { "-" } else { "" };
        let unit = 10u128.pow(u32::from(self.places));
        let (whole, part) = (self.scaled.unsigned_abs() / unit, self.scaled.unsigned_abs() % unit);
        let text = match self.places {
            0 => format!("{sign}{whole}"),
            places => format!("{sign}{whole}.{part:0width$}", width = usize::from(places)),
        };
        f.pad(&text)
    }
}

impl Serialize for Fixed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.places, i64::try_from(self.scaled)) {
            (0, Ok(whole)) => serializer.serialize_i64(whole),
            _ => serializer.serialize_f64(self.to_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_keep_their_picoseconds() {
        assert_eq!(Fixed::nanoseconds(1_234_567).to_string(), "1234.567");
        assert_eq!(Fixed::nanoseconds(-5).to_string(), "-0.005");
        assert_eq!(Fixed::nanoseconds(80_000).to_string(), "80.000");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(Fixed::rounded(-0.0001, 3).unwrap().to_string(), "0.000");
        assert_eq!(Fixed::nanoseconds(0).to_string(), "0.000");
    }

    #[test]
    fn what_is_not_a_number_is_nothing() {
        assert_eq!(Fixed::rounded(f64::NAN, 3), None);
        assert_eq!(Fixed::rounded(f64::INFINITY, 3), None);
        assert_eq!(Fixed::rounded(1e40, 3), None);
    }

    #[test]
    fn json_has_the_same_digits() {
        assert_eq!(serde_json::to_string(&Fixed::nanoseconds(1_234_500)).unwrap(), "1234.5");
        assert_eq!(serde_json::to_string(&Fixed::whole(7)).unwrap(), "7");
    }
}
