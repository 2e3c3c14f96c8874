//! Decimal numbers as they stand in a file: their digits, so that whole picoseconds stay whole.
//!
//! [`Decimal::picoseconds`] is exact or nothing; [`Decimal::seconds`] is the nearest f64. A number of up to 19 digits is
//! kept in integers; up to 15 digits and 22 powers of ten one f64 operation on exact operands rounds correctly (Clinger,
//! "How to read floating point numbers accurately", 1990), and the standard library does the rest.

/// 10^0 to 10^22 are exact in f64.
const EXACT_TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
/// Powers of ten in a second's picoseconds.
const PICO: i32 = 12;
/// Exponents beyond this make any number 0 or infinite.
const EXPONENT_MAX: i32 = 100_000;
/// Whole picoseconds stay below this, so that the difference of any two is far from overflowing.
const PICOSECONDS_MAX: i64 = 1 << 60;

/// `mantissa * 10^exponent`, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decimal<'a> {
    negative: bool,
    mantissa: u64,
    exponent: i32,
    /// Digits behind the point, less the written exponent: how fine the number is.
    decimals: i32,
    /// There are more digits than `mantissa` holds: the text has them.
    long: bool,
    text: &'a [u8],
}

impl<'a> Decimal<'a> {
    /// Reads the longest number that `bytes` begins with, and says how many bytes it has: an optional sign, digits with
    /// an optional point among or around them, and an optional exponent.
    #[inline]
    pub(super) fn prefix(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let mut at = 0;
        let negative = match bytes.first() {
            Some(b'-') => {
                at = 1;
                true
            }
            Some(b'+') => {
                at = 1;
                false
            }
            _ => false,
        };
        let start = at;
        let mut mantissa = 0_u64;
        while let Some(digit) = digit(bytes, at) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        let mut digits = at - start;
        let mut exponent = 0_i32;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            let point = at;
            while let Some(digit) = digit(bytes, at) {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
                at += 1;
            }
            digits += at - point;
            exponent = -i32::try_from(at - point).ok()?;
        }
        if digits == 0 {
            return None;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E'))
            && let Some((written, length)) = written_exponent(&bytes[at + 1..])
        {
            at += 1 + length;
            exponent = exponent.saturating_add(written);
        }
        // 19 digits fit into u64. Zeros in front are digits that do not count, but such numbers are rare.
        let long = digits > 19;
        Some((Self { negative, mantissa, exponent, decimals: -exponent, long, text: &bytes[..at] }, at))
    }

    /// How many digits stand behind the point when it is written without an exponent; negative for 1e3.
    pub(super) const fn decimals(&self) -> i32 {
        self.decimals
    }

    /// The number times 10^`scale` seconds, in whole picoseconds, if it is a whole number of them and fits.
    #[inline]
    pub(super) fn picoseconds(&self, scale: i32) -> Option<i64> {
        if self.long {
            return None;
        }
        if self.mantissa == 0 {
            return Some(0);
        }
        let tens = self.exponent.checked_add(scale + PICO)?;
        let magnitude = if tens >= 0 {
            self.mantissa.checked_mul(10_u64.checked_pow(tens.unsigned_abs())?)?
        } else {
            let divisor = 10_u64.checked_pow(tens.unsigned_abs())?;
            if !self.mantissa.is_multiple_of(divisor) {
                return None;
            }
            self.mantissa / divisor
        };
        let magnitude = i64::try_from(magnitude).ok().filter(|magnitude| *magnitude < PICOSECONDS_MAX)?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The number times 10^`scale` seconds, in picoseconds, rounded half away from zero; none beyond some 10^26 s.
    pub(super) fn rounded_picoseconds(&self, scale: i32, per_unit: i128) -> Option<i128> {
        if self.long {
            // A time tag of more than 19 digits: its first ones will do.
            let value = self.seconds(scale) * per_unit as f64 * 1e12;
            return (value.abs() < 1e37).then_some(value.round() as i128);
        }
        let tens = self.exponent.checked_add(scale + PICO)?;
        let mantissa = i128::from(self.mantissa).checked_mul(per_unit)?;
        let magnitude = if (0..=19).contains(&tens) {
            // Tags of up to twelve decimals; powers of 64 bits are quick.
            mantissa.checked_mul(10_u64.pow(tens.unsigned_abs()).into())?
        } else if tens >= 0 {
            mantissa.checked_mul(10_i128.checked_pow(tens.unsigned_abs())?)?
        } else {
            match 10_i128.checked_pow(tens.unsigned_abs()) {
                Some(divisor) => (mantissa + divisor / 2) / divisor,
                None => 0,
            }
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The number times 10^`scale`, as the nearest f64; infinite where it is too large.
    #[inline]
    pub(super) fn seconds(&self, scale: i32) -> f64 {
        let exponent = self.exponent.saturating_add(scale);
        if !self.long && self.mantissa <= 1 << 53 && exponent.unsigned_abs() <= 22 {
            let mantissa = self.mantissa as f64;
            let tens = EXACT_TENS[exponent.unsigned_abs() as usize];
            let magnitude = if exponent < 0 { mantissa / tens } else { mantissa * tens };
            return if self.negative { -magnitude } else { magnitude };
        }
        self.slowly(exponent)
    }

    #[cold]
    fn slowly(&self, exponent: i32) -> f64 {
        let magnitude = if self.long {
            let end =
                self.text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(self.text.len());
            let digits = self.text[..end].iter().filter(|byte| byte.is_ascii_digit());
            digits.map(|&byte| char::from(byte)).collect::<String>()
        } else {
            self.mantissa.to_string()
        };
        let magnitude: f64 = format!("{magnitude}e{exponent}").parse().unwrap_or(f64::INFINITY);
        if self.negative { -magnitude } else { magnitude }
    }
}

#[inline]
fn digit(bytes: &[u8], at: usize) -> Option<u64> {
    let digit = bytes.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(u64::from(digit))
}

/// The exponent behind an `e`, and how many bytes it has.
#[inline]
fn written_exponent(bytes: &[u8]) -> Option<(i32, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut at = start;
    let mut exponent = 0_i32;
    while let Some(digit) = digit(bytes, at) {
        exponent = (exponent * 10 + i32::try_from(digit).unwrap_or(0)).min(EXPONENT_MAX);
        at += 1;
    }
    (at > start).then_some((if negative { -exponent } else { exponent }, at))
}

/// Whole picoseconds as the nearest f64 of seconds.
pub(super) fn seconds_of(picoseconds: i64) -> f64 {
    if picoseconds.unsigned_abs() <= 1 << 53 {
        return picoseconds as f64 / 1e12;
    }
    format!("{picoseconds}e-12").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Decimal<'_> {
        let (decimal, length) = Decimal::prefix(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(length, text.len(), "{text}");
        decimal
    }

    #[test]
    fn whole_picoseconds_stay_whole_and_finer_ones_do_not_pretend() {
        for (text, scale, expected) in [
            ("0.000000000001", 0, Some(1)),
            ("-1.000000000000000", 0, Some(-1_000_000_000_000)),
            ("+2.76845904e-7", 0, None),
            ("2.76845e-7", 0, Some(276_845)),
            ("1.5", -9, Some(1500)),
            ("0.0001", -9, None),
            ("-7", -12, Some(-7)),
            ("0e-300", 0, Some(0)),
            ("1000000", 0, Some(1_000_000_000_000_000_000)),
            ("2000000", 0, None),
            ("1e300", 0, None),
            ("1234567890123456789012", -12, None),
        ] {
            assert_eq!(whole(text).picoseconds(scale), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none_and_what_follows_one_is_left() {
        for text in ["", "-", ".", "+.", "e5", "nan", "-inf", ",5"] {
            assert_eq!(Decimal::prefix(text.as_bytes()), None, "{text}");
        }
        for (text, length) in
            [("1,5", 1), ("1.2.3", 3), ("1e", 1), ("1e+", 1), ("5ns", 1), ("1e5e5", 3), ("7.", 2), (".5x", 2)]
        {
            assert_eq!(Decimal::prefix(text.as_bytes()).map(|(_, length)| length), Some(length), "{text}");
        }
    }

    #[test]
    fn tags_are_rounded_to_picoseconds() {
        assert_eq!(
            whole("1700000000.123456789").rounded_picoseconds(0, 1),
            Some(1_700_000_000_123_456_789_000)
        );
        assert_eq!(
            whole("59000.000011574").rounded_picoseconds(0, 86_400),
            Some(5_097_600_000_999_993_600_000)
        );
        assert_eq!(whole("0.00000000000049").rounded_picoseconds(0, 1), Some(0));
        assert_eq!(whole("-0.0000000000005").rounded_picoseconds(0, 1), Some(-1));
        assert_eq!(whole("1e60").rounded_picoseconds(0, 1), None);
        assert_eq!(whole("1e-99999").rounded_picoseconds(0, 1), Some(0));
    }

    proptest! {
        #[test]
        fn every_number_is_rounded_as_the_standard_library_rounds_it(
            text in r"[-+]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][-+]?[0-9]{1,3})?", scale in -12..=0_i32,
        ) {
            let decimal = whole(&text);
            let split = text.find(['e', 'E']);
            let (digits, exponent) = split.map_or((&text[..], 0), |at| (&text[..at], text[at + 1..].parse::<i32>().unwrap()));
            let expected: f64 = format!("{digits}e{}", exponent + scale).parse().unwrap();
            prop_assert_eq!(decimal.seconds(scale), expected);
        }

        #[test]
        fn picoseconds_and_seconds_agree(picoseconds in -PICOSECONDS_MAX + 1..PICOSECONDS_MAX) {
            let sign = if picoseconds < 0 { "-" } else { "" };
            let (whole_part, rest) = (picoseconds.unsigned_abs() / 1_000_000_000_000, picoseconds.unsigned_abs() % 1_000_000_000_000);
            let text = format!("{sign}{whole_part}.{rest:012}");
            let decimal = whole(&text);
            prop_assert_eq!(decimal.picoseconds(0), Some(picoseconds));
            prop_assert_eq!(decimal.seconds(0), seconds_of(picoseconds));
            prop_assert_eq!(decimal.rounded_picoseconds(0, 1), Some(i128::from(picoseconds)));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), scale in -12..=0_i32) {
            if let Some((decimal, length)) = Decimal::prefix(&bytes) {
                prop_assert!(length <= bytes.len());
                let _ = (decimal.seconds(scale), decimal.picoseconds(scale), decimal.rounded_picoseconds(scale, 86_400));
            }
        }
    }
}
