//! Decimal text to integer picoseconds, exactly: f64 loses them above some thousand seconds.
//!
//! What instruments print: a sign, digits, a point, an exponent, as `7324.017700023026` or `+5.10520000000000E-006`.
//! Digits finer than a picosecond are rounded, halves away from zero; no comma, no unit, no space.

use crate::units::Picos;

/// Most digits that are looked at; no instrument prints so many.
const DIGITS_MAX: usize = 60;
/// Larger exponents, either way, are no time.
const EXPONENT_MAX: i32 = 40;

/// A number in units of `10^unit` seconds (0: seconds, -6: microseconds), as picoseconds.
#[must_use]
pub fn parse(text: &str, unit: i32) -> Option<Picos> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|exponent: &i32| exponent.abs() <= EXPONENT_MAX)?;
    let (negative, number) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = whole.len() + fraction.len();
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if digits == 0 || digits > DIGITS_MAX || !all_digits {
        return None;
    }
    // Digits up to the picosecond stand before this place.
    let place = whole.len() as i32 + exponent + unit + 12;
    let mut magnitude: i128 = 0;
    let mut rounds_up = false;
    for (position, byte) in (0..).zip(whole.bytes().chain(fraction.bytes())) {
        let digit = byte - b'0';
        if position < place {
            magnitude = magnitude.checked_mul(10)?.checked_add(i128::from(digit))?;
        } else {
            rounds_up = position == place && digit >= 5;
            break;
        }
    }
    for _ in digits as i32..place {
        magnitude = magnitude.checked_mul(10)?;
    }
    magnitude = magnitude.checked_add(i128::from(rounds_up))?;
    Some(Picos(if negative { -magnitude } else { magnitude }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(text: &str) -> Option<i128> {
        parse(text, 0).map(|picos| picos.0)
    }

    #[test]
    fn what_instruments_print() {
        assert_eq!(seconds("7324.017700023026"), Some(7_324_017_700_023_026));
        assert_eq!(seconds("+5.10520000000000E-006"), Some(5_105_200));
        assert_eq!(seconds("-0.000000000001"), Some(-1));
        assert_eq!(seconds("1"), Some(1_000_000_000_000));
        assert_eq!(seconds(".5"), Some(500_000_000_000));
        assert_eq!(seconds("2."), Some(2_000_000_000_000));
        assert_eq!(seconds("9.91E37"), None, "no time, and beyond i128 in picoseconds");
        assert_eq!(parse("12.345678", -6).map(|picos| picos.0), Some(12_345_678));
        assert_eq!(parse("1.5", -9).map(|picos| picos.0), Some(1_500));
    }

    #[test]
    fn digits_below_a_picosecond_are_rounded() {
        let table =
            [("0.0000000000004", 0), ("0.0000000000005", 1), ("-0.00000000000051", -1), ("4.9E-13", 0)];
        for (text, expected) in table {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        assert_eq!(seconds("1E-40"), Some(0));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "", "+", "-", ".", "E1", "1E", "1E1.5", "1,5", "1 ", " 1", "--1", "nan", "inf", "0x1", "1E999",
            "1_0",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds(&"1".repeat(61)), None);
    }

    proptest! {
        #[test]
        fn every_count_of_picoseconds_is_read_back(picos in any::<i64>(), decimals in 12..16_usize) {
            let magnitude = picos.unsigned_abs();
            let sign = if picos < 0 { "-" } else { "" };
            let (whole, fraction) = (magnitude / 1_000_000_000_000, magnitude % 1_000_000_000_000);
            let zeros = "0".repeat(decimals - 12);
            prop_assert_eq!(seconds(&format!("{sign}{whole}.{fraction:012}{zeros}")), Some(i128::from(picos)));
        }

        #[test]
        fn an_exponent_moves_the_point(digits in 1..1_000_000_000_u64, exponent in -12..6_i32) {
            let expected = i128::from(digits) * 10_i128.pow((exponent + 12) as u32);
            prop_assert_eq!(seconds(&format!("{digits}E{exponent:+04}")), Some(expected));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,80}", unit in -30..30_i32) {
            let _any = parse(&text, unit);
        }
    }
}
