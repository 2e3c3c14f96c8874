//! chrony's logs: refclocks.log, statistics.log and tracking.log.
//!
//! Columns: chrony.conf(5), directive `log` (chrony-project.org; doc/chrony.conf.adoc), and what refclock.c, sourcestats.c
//! and reference.c write. Date and time are UTC. A banner of column names between lines of `=` comes every 32 entries.
//!
//! | file | columns | phase | frequency |
//! |---|---|---|---|
//! | refclocks | date time refid poll leap pps raw cooked [dispersion] | raw; filtered samples have none and are passed over | |
//! | statistics | date time source sd offset sd-of-offset frequency skew stress Ns Bs Nr [asymmetry] | offset, s | frequency, s/s |
//! | tracking | date time source stratum frequency skew offset [leap ...] | offset, s | frequency, ppm |
//!
//! chrony counts an offset positive where the clock is slow (refclocks) or fast (tracking): no measure of stability sees
//! the sign.

use super::kind::Kind;
use super::row::{Line, Row, Tag};
use super::trouble::{Class, Trouble, number, shown, words};
use crate::units::PS_PER_S;

type Word<'a> = (usize, &'a [u8]);

/// Reads a line of the log of this kind.
pub(super) fn line(line: &[u8], kind: Kind, frequency: bool) -> Result<Line<'_>, Trouble> {
    let found: Vec<Word<'_>> = words(line).collect();
    match found.first() {
        None => return Ok(Line::Blank),
        Some((_, word)) if word.starts_with(b"==") || *word == b"Date" || word.starts_with(b"#") => {
            return Ok(Line::Nothing);
        }
        Some(_) => {}
    }
    let columns = || {
        let what = format!("{} columns, which chrony's {kind}.log has not", found.len());
        Trouble::new(found[0].0, Class::Columns, what)
    };
    let [date, time, source, rest @ ..] = &found[..] else { return Err(columns()) };
    let tag = moment(*date, *time)?;
    let value = match (kind, rest) {
        (Kind::Refclocks, [(_, b"-"), ..]) if rest.len() == 5 || rest.len() == 6 => {
            return Ok(Line::PassedOver("filtered samples"));
        }
        (Kind::Refclocks, [_, _, _, raw, ..]) if rest.len() == 5 || rest.len() == 6 => raw,
        (Kind::Statistics, [_, offset, _, rate, ..]) if rest.len() == 9 || rest.len() == 10 => {
            if frequency {
                rate
            } else {
                offset
            }
        }
        (Kind::Tracking, [_, rate, _, offset, ..]) if (4..=11).contains(&rest.len()) => {
            if frequency {
                rate
            } else {
                offset
            }
        }
        _ => return Err(columns()),
    };
    Ok(Line::Row(Row {
        source: (source.1, b""),
        tag: Some(tag),
        value: Some(number(value.1, value.0)?),
        at: value.0,
    }))
}

/// The kind of log that has this line.
pub(super) fn kind_of(text: &[u8]) -> Option<Kind> {
    [Kind::Refclocks, Kind::Statistics, Kind::Tracking].into_iter().find(|kind| {
        let leap = |word: Option<&Word<'_>>| {
            word.is_some_and(|(_, word)| matches!(*word, b"N" | b"+" | b"-" | b"?"))
        };
        let found: Vec<_> = words(text).collect();
        let fits = match kind {
            Kind::Refclocks => leap(found.get(4)),
            Kind::Tracking => {
                leap(found.get(7)) || found.len() == 7 && found[3].1.iter().all(u8::is_ascii_digit)
            }
            _ => !leap(found.get(4)) && !leap(found.get(7)),
        };
        fits && matches!(line(text, *kind, false), Ok(Line::Row(_) | Line::PassedOver(_)))
    })
}

/// `2009-11-30` and `14:33:27.000000`, in picoseconds since 1970.
fn moment(date: Word<'_>, time: Word<'_>) -> Result<Tag, Trouble> {
    let day = parsed_date(date.1)
        .ok_or_else(|| Trouble::new(date.0, Class::NoNumber, format!("{} is no date", shown(date.1))))?;
    let (at, resolution) = parsed_time(time.1).ok_or_else(|| {
        Trouble::new(time.0, Class::NoNumber, format!("{} is no time of day", shown(time.1)))
    })?;
    Ok(Tag { at: i128::from(day) * 86_400 * PS_PER_S + at, resolution })
}

/// Days since 1970.
fn parsed_date(word: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = word else { return None };
    let year = digits(&[*y1, *y2, *y3, *y4])?;
    let (month, day) = (digits(&[*m1, *m2])?, digits(&[*d1, *d2])?);
    let date = jiff::civil::Date::new(year as i16, month as i8, day as i8).ok()?;
    let since = jiff::civil::date(1970, 1, 1);
    Some(date.duration_since(since).as_secs() / 86_400)
}

/// Picoseconds since midnight, and what the last digit is worth.
fn parsed_time(word: &[u8]) -> Option<(i128, i128)> {
    let (whole, fraction) = match word.iter().position(|byte| *byte == b'.') {
        Some(point) => (&word[..point], &word[point + 1..]),
        None => (word, &b""[..]),
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2] = whole else { return None };
    let (hours, minutes, seconds) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?, digits(&[*s1, *s2])?);
    if hours > 23
        || minutes > 59
        || seconds > 60
        || fraction.len() > 12
        || (fraction.is_empty() && whole != word)
    {
        return None;
    }
    let digit = PS_PER_S / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = if fraction.is_empty() { 0 } else { digits(fraction)? };
    let seconds = i128::from(hours) * 3600 + i128::from(minutes) * 60 + i128::from(seconds);
    Some((seconds * PS_PER_S + i128::from(fraction) * digit, digit))
}

/// Up to twelve digits.
fn digits(word: &[u8]) -> Option<i64> {
    word.iter().try_fold(0_i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_manual_are_read() {
        let read = |text: &'static str, kind, frequency| match line(text.as_bytes(), kind, frequency) {
            Ok(Line::Row(row)) => {
                (row.source.0, row.tag.unwrap().at / 1_000_000, row.value.unwrap().seconds(0))
            }
            other => panic!("{text}: {other:?}"),
        };
        let refclocks = "2009-11-30 14:33:27.000000 PPS2    7 N 1  4.900000e-07 -6.741777e-07  1.000e-06";
        assert_eq!(read(refclocks, Kind::Refclocks, false), (&b"PPS2"[..], 1_259_591_607_000_000, 4.9e-7));
        let statistics = "2015-07-22 05:40:50 203.0.113.15     6.261e-03 -3.247e-03  2.220e-03  1.874e-06  1.080e-06 7.8e-02  16   0   8  0.00";
        assert_eq!(read(statistics, Kind::Statistics, false).2, -3.247e-3);
        assert_eq!(read(statistics, Kind::Statistics, true).2, 1.874e-6);
        let tracking = "2017-08-22 13:22:36 203.0.113.15     2     -3.541      0.075 -8.621e-06 N 2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03";
        assert_eq!(
            read(tracking, Kind::Tracking, false),
            (&b"203.0.113.15"[..], 1_503_408_156_000_000, -8.621e-6)
        );
        assert_eq!(read(tracking, Kind::Tracking, true).2, -3.541);
    }

    #[test]
    fn banners_are_no_readings_and_filtered_samples_are_passed_over() {
        for text in [
            "====================",
            "   Date (UTC) Time         Refid  DP L P  Raw offset   Cooked offset      Disp.",
        ] {
            assert_eq!(line(text.as_bytes(), Kind::Refclocks, false), Ok(Line::Nothing));
        }
        let filtered = "2023-06-29 18:49:55.595742 PHCK    - N -       -        8.717931e-10  5.500e-08";
        assert_eq!(
            line(filtered.as_bytes(), Kind::Refclocks, false),
            Ok(Line::PassedOver("filtered samples"))
        );
    }

    #[test]
    fn wrong_dates_times_and_columns_are_refused() {
        for (text, class) in [
            ("2009-02-30 14:33:27.000000 PPS2    7 N 1  4.9e-07 -6.7e-07  1.0e-06", Class::NoNumber),
            ("2009-11-30 24:33:27.000000 PPS2    7 N 1  4.9e-07 -6.7e-07  1.0e-06", Class::NoNumber),
            ("2009-11-30 14:33:27,000000 PPS2    7 N 1  4.9e-07 -6.7e-07  1.0e-06", Class::NoNumber),
            ("2009-11-30 14:33:27. PPS2    7 N 1  4.9e-07 -6.7e-07  1.0e-06", Class::NoNumber),
            ("2009-11-30 14:33:27.000000 PPS2    7 N 1  4,9e-07 -6.7e-07  1.0e-06", Class::DecimalComma),
            ("2009-11-30 14:33:27.000000 PPS2    7 N 1  nan -6.7e-07  1.0e-06", Class::NotFinite),
            ("2009-11-30 14:33:27.000000 PPS2    7 N 1  4.9e-07", Class::Columns),
            ("2009-11-30", Class::Columns),
        ] {
            assert_eq!(
                line(text.as_bytes(), Kind::Refclocks, false).map_err(|trouble| trouble.class),
                Err(class),
                "{text}"
            );
        }
    }
}
