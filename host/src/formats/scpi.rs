//! What a SCPI instrument answers: lines, numbers, entries of its error queue, and its identity.
//!
//! Writing commands is the driver's; this reads. Numbers are kept as decimal text until they become integers of the
//! unit that the caller wants, so that `+1.00000000000000E-01` seconds are 100,000,000 ns and nothing else.

use thiserror::Error;

use crate::events::Stamped;
use crate::units::HostNanos;

/// Longest answer in bytes. A long one is an error message of 255.
const LINE_MAX: usize = 4096;

/// Collects an instrument's bytes into answers.
#[derive(Debug, Default)]
pub struct LineDecoder {
    line: Vec<u8>,
    length: usize,
}

impl LineDecoder {
    /// One that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes that arrived together, and returns the answers that they completed, each with the time of its line
    /// feed; without line end and surrounding space. Bytes that are no ASCII stand as `?`, and an answer is cut at
    /// 4096 bytes: neither is then any of the things below.
    pub fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<String>> {
        let mut lines = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.length += 1;
                if self.length <= LINE_MAX {
                    self.line.push(byte);
                }
                continue;
            }
            self.length = 0;
            let line = std::mem::take(&mut self.line);
            let text: String =
                line.into_iter().map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect();
            lines.push(Stamped { at, event: text.trim().to_owned() });
        }
        lines
    }

    /// Whether an answer has begun and not ended.
    #[must_use]
    pub const fn is_inside_line(&self) -> bool {
        self.length > 0
    }
}

/// Why an answer is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScpiError {
    /// not a number
    #[error("`{0}` is no number")]
    Number(String),
    /// the instrument's way of saying so
    #[error("`{0}` is the instrument's code for no value")]
    NoValue(String),
    /// finer or larger than what is asked for
    #[error("`{0}` does not fit a whole number of the unit")]
    Unit(String),
    /// not of the error queue
    #[error("`{0}` is no entry of an error queue, which has the form -113,\"Undefined header\"")]
    Error(String),
    /// not an identity
    #[error("`{0}` is no identity, which has the form maker,model,serial number,version")]
    Identity(String),
    /// neither 0 nor 1
    #[error("`{0}` is neither 0 nor 1")]
    Flag(String),
}

/// An entry of the error queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    /// 0: the queue is empty.
    pub code: i32,
    /// The instrument's words.
    pub message: String,
}

/// What the instrument says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Maker.
    pub maker: String,
    /// Model.
    pub model: String,
    /// Serial number, or `0`.
    pub serial: String,
    /// Firmware version.
    pub version: String,
}

/// Reads an entry of the error queue, `+0,"No error"`.
///
/// # Errors
/// [`ScpiError::Error`] for anything else.
pub fn queue_entry(answer: &str) -> Result<QueueEntry, ScpiError> {
    let fault = || ScpiError::Error(answer.to_owned());
    let (code, message) = answer.split_once(',').ok_or_else(fault)?;
    let quoted =
        message.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or_else(fault)?;
    let code = code.trim().parse().map_err(|_| fault())?;
    Ok(QueueEntry { code, message: quoted.replace("\"\"", "\"") })
}

/// Reads an answer to `*IDN?`. The version may hold commas.
///
/// # Errors
/// [`ScpiError::Identity`] for anything else.
pub fn identity(answer: &str) -> Result<Identity, ScpiError> {
    let mut fields = answer.splitn(4, ',').map(|field| field.trim().to_owned());
    let mut next = || fields.next();
    match (next(), next(), next(), next()) {
        (Some(maker), Some(model), Some(serial), Some(version)) if !maker.is_empty() && !model.is_empty() => {
            Ok(Identity { maker, model, serial, version })
        }
        _ => Err(ScpiError::Identity(answer.to_owned())),
    }
}

/// Reads a number as a whole count of a unit of `10^-decimals`: `"+1.0E-01"` with 9 decimals is 100,000,000.
///
/// # Errors
/// [`ScpiError::Number`], [`ScpiError::NoValue`] for 9.9E37 and 9.91E37, and [`ScpiError::Unit`] for what is no whole
/// count of the unit or beyond i64.
pub fn scaled(answer: &str, decimals: i32) -> Result<i64, ScpiError> {
    let fault = || ScpiError::Number(answer.to_owned());
    let unit = || ScpiError::Unit(answer.to_owned());
    let (mantissa, exponent) = answer.split_once(['e', 'E']).unwrap_or((answer, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| fault())?;
    let (negative, number) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, &mantissa[1..]),
        Some(b'+') => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault());
    }
    if exponent == 37 && ["991", "99"].contains(&digits.trim_end_matches('0')) && whole.len() == 1 {
        return Err(ScpiError::NoValue(answer.to_owned()));
    }
    let significant = digits.trim_end_matches('0');
    if significant.trim_start_matches('0').is_empty() {
        return Ok(0);
    }
    let dropped = (digits.len() - significant.len()) as i64;
    let zeros = i64::from(exponent) + i64::from(decimals) - fraction.len() as i64 + dropped;
    let zeros = u32::try_from(zeros).map_err(|_| unit())?;
    let count: i64 = significant.parse().map_err(|_| unit())?;
    let count = 10_i64.checked_pow(zeros).and_then(|scale| count.checked_mul(scale)).ok_or_else(unit)?;
    Ok(if negative { -count } else { count })
}

/// Reads `0` or `1`, as `OUTP?` and `*OPC?` answer, with a sign or without.
///
/// # Errors
/// [`ScpiError::Flag`] for anything else.
pub fn flag(answer: &str) -> Result<bool, ScpiError> {
    match answer.strip_prefix('+').unwrap_or(answer) {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(ScpiError::Flag(answer.to_owned())),
    }
}

/// The value of a key in a list of keys and values, as Siglent instruments answer: `C1:BSWV WVTP,PULSE,PERI,0.1S`. The
/// header is none of the keys.
#[must_use]
pub fn value_of<'a>(answer: &'a str, key: &str) -> Option<&'a str> {
    let list = answer.split_once(' ').map_or(answer, |(_, list)| list);
    let mut words = list.split(',').map(str::trim);
    // A key can be a value as well, as `NCYC` is one of `GATE_NCYC`: only every other word is a key. A carrier's list
    // begins behind a word that has no value of its own.
    while let Some(word) = words.next() {
        if word == "CARR" {
            return None;
        }
        let value = words.next()?;
        if word.eq_ignore_ascii_case(key) {
            return Some(value);
        }
    }
    None
}

/// A number with a unit behind it, in that unit's base: `0.1S`, `100MS`, `3.3V`, `1KHZ`, `+1.0E-01`.
#[must_use]
pub fn quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 13] = [
        ("", 1.0),
        ("S", 1.0),
        ("MS", 1e-3),
        ("US", 1e-6),
        ("NS", 1e-9),
        ("V", 1.0),
        ("MV", 1e-3),
        ("VPP", 1.0),
        ("HZ", 1.0),
        ("KHZ", 1e3),
        ("MHZ", 1e6),
        ("UHZ", 1e-6),
        ("%", 1e-2),
    ];
    let text = text.trim();
    let is_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let end = text.bytes().position(|byte| !is_number(byte)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, scale) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some(number * scale)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_end_at_the_line_feed_and_have_its_time() {
        let mut decoder = LineDecoder::new();
        assert!(decoder.push(b"+0,\"No er", HostNanos(1)).is_empty());
        assert!(decoder.is_inside_line());
        let lines = decoder.push(b"ror\"\r\n1\n \xff\nx", HostNanos(2));
        let texts: Vec<_> = lines.iter().map(|line| line.event.as_str()).collect();
        assert_eq!(texts, ["+0,\"No error\"", "1", "?"]);
        assert!(lines.iter().all(|line| line.at == HostNanos(2)));
        assert!(decoder.is_inside_line());
    }

    #[test]
    fn keys_have_values_and_values_have_units() {
        let answer = "C1:BTWV STATE,ON,GATE_NCYC,NCYC,TIME,6,DLAY,2.4e-07S,CARR,WVTP,PULSE,TIME,7";
        assert_eq!(value_of(answer, "TIME"), Some("6"));
        assert_eq!(value_of(answer, "GATE_NCYC"), Some("NCYC"));
        assert_eq!(value_of(answer, "DLAY").and_then(quantity), Some(2.4e-7));
        for absent in ["NCYC", "DLY", "WVTP", "C1:BTWV", ""] {
            assert_eq!(value_of(answer, absent), None, "{absent}");
        }
        for (text, value) in [("0.1S", 0.1), ("100MS", 0.1), ("3.3V", 3.3), ("1KHZ", 1e3), ("+1.0E-01", 0.1)]
        {
            let found = quantity(text).unwrap();
            assert!((found - value).abs() < 1e-12, "{text}: {found}");
        }
        for bad in ["", "S", "1X", "E", "--1", "nan", "1e999"] {
            assert_eq!(quantity(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_endless_answer_is_cut() {
        let mut decoder = LineDecoder::new();
        decoder.push(&[b'9'; 1 << 20], HostNanos(0));
        assert_eq!(decoder.push(b"\n", HostNanos(0))[0].event.len(), LINE_MAX);
    }

    #[test]
    fn entries_of_the_error_queue() {
        let entry = |code, message: &str| Ok(QueueEntry { code, message: message.to_owned() });
        assert_eq!(queue_entry("+0,\"No error\""), entry(0, "No error"));
        assert_eq!(queue_entry("0,\"No error\""), entry(0, "No error"));
        let conflict = "-221,\"Settings conflict; pulse width decreased, \"\"due to period\"\"\"";
        assert_eq!(
            queue_entry(conflict),
            entry(-221, "Settings conflict; pulse width decreased, \"due to period\"")
        );
        for bad in ["", "1", "+0", "+0,No error", "x,\"No error\"", "+0,\"", "99999999999,\"x\""] {
            assert!(queue_entry(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn identities() {
        let read = identity("Agilent Technologies,33522A,MY50000123, 2.03-1.19-2.00-52,00").unwrap();
        assert_eq!((read.maker.as_str(), read.model.as_str()), ("Agilent Technologies", "33522A"));
        assert_eq!((read.serial.as_str(), read.version.as_str()), ("MY50000123", "2.03-1.19-2.00-52,00"));
        for bad in ["", "1", "a,b,c", ",,,"] {
            assert!(identity(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_become_whole_counts_of_a_unit() {
        let ns = |text| scaled(text, 9);
        assert_eq!(ns("+1.00000000000000E+00"), Ok(1_000_000_000));
        assert_eq!(ns("+1.000000E-01"), Ok(100_000_000));
        assert_eq!(ns("5.0e-3"), Ok(5_000_000));
        assert_eq!(ns("-0.25"), Ok(-250_000_000));
        assert_eq!(ns("0.000000000"), Ok(0));
        assert_eq!(ns("+0.00000000000000E+00"), Ok(0));
        assert_eq!(ns("12"), Ok(12_000_000_000));
        assert_eq!(ns("1.E0"), Ok(1_000_000_000));
        assert_eq!(scaled("+3.30000000000000E+00", 3), Ok(3300));
        assert_eq!(ns("1E-10"), Err(ScpiError::Unit("1E-10".to_owned())));
        assert_eq!(ns("1E30"), Err(ScpiError::Unit("1E30".to_owned())));
        assert_eq!(ns("9.91E37"), Err(ScpiError::NoValue("9.91E37".to_owned())));
        assert_eq!(ns("+9.90000000000000E+37"), Err(ScpiError::NoValue("+9.90000000000000E+37".to_owned())));
        for bad in
            ["", "+", ".", "E1", "1E", "1E1.5", "0x1", "1S", "1,5", "--1", "1 ", "nan", "1E99999999999"]
        {
            assert_eq!(ns(bad), Err(ScpiError::Number(bad.to_owned())), "{bad}");
        }
    }

    #[test]
    fn flags() {
        assert_eq!((flag("1"), flag("0"), flag("+1")), (Ok(true), Ok(false), Ok(true)));
        assert!(flag("2").is_err() && flag("").is_err() && flag("ON").is_err());
    }

    proptest! {
        #[test]
        fn what_an_instrument_prints_is_read_back(nanos in 0..1_000_000_000_000_000_i64) {
            let seconds = nanos as f64 / 1e9;
            // 15 significant digits, as the 33500 family answers.
            prop_assert_eq!(scaled(&format!("{seconds:+.14E}"), 9), Ok(nanos));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}", decimals in -20..20_i32) {
            let _any = (scaled(&text, decimals), queue_entry(&text), identity(&text), flag(&text));
            let _any = (value_of(&text, &text), quantity(&text));
        }
    }
}
