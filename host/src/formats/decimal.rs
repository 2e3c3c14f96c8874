//! Decimal numbers of the command line and of plans, read exactly, as integers of a thousandth of their unit.

/// A rate in millihertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub u64);

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A time in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picoseconds(pub u64);

/// Reads a decimal number of hertz, exactly, to the millihertz.
///
/// # Errors
/// What to give instead.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    match thousandths(text, "edges a second", "such as 10 or 0.5", "a millihertz")? {
        0 => Err("no edges would ever come; give more than 0".to_owned()),
        1_000_000_001.. => Err("too fast: a million edges a second is the most".to_owned()),
        millihertz => Ok(Rate(millihertz)),
    }
}

/// Reads a decimal number of nanoseconds, exactly, to the picosecond.
///
/// # Errors
/// What to give instead.
pub fn parse_picoseconds(text: &str) -> Result<Picoseconds, String> {
    thousandths(text, "nanoseconds", "such as 1 or 0.5", "a picosecond").map(Picoseconds)
}

fn thousandths(text: &str, what: &str, such_as: &str, finest: &str) -> Result<u64, String> {
    let wanted = format!("give {what} as a decimal number with at most three decimals, {such_as}");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(wanted);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 {
        return Err(format!("finer than {finest}; {wanted}"));
    }
    let parts: u64 = format!("{fraction:0<3}").parse().map_err(|_| wanted.clone())?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| "too large")? };
    Ok(whole.checked_mul(1000).and_then(|whole| whole.checked_add(parts)).ok_or("too large")?)
}

/// `on` or `off`.
///
/// # Errors
/// What to give instead.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("give on or off".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact_to_the_millihertz() {
        for (text, millihertz) in
            [("10", 10_000), ("0.5", 500), (".25", 250), ("3.", 3000), ("1.500000", 1500)]
        {
            assert_eq!(parse_rate(text), Ok(Rate(millihertz)), "{text}");
        }
        for text in ["0", "0.000", "", ".", "-1", "1e3", "0.0001", "ten", "9999999", "99999999999999999999"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        assert_eq!(Rate(10_000).to_string(), "10");
        assert_eq!(Rate(1).to_string(), "0.001");
    }

    #[test]
    fn a_bias_is_read_to_the_picosecond() {
        assert_eq!(parse_picoseconds("0.5"), Ok(Picoseconds(500)));
        assert_eq!(parse_picoseconds("12"), Ok(Picoseconds(12_000)));
        assert!(parse_picoseconds("0.0005").is_err());
    }
}
