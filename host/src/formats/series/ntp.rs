//! peerstats and loopstats of ntpd and NTPsec.
//!
//! Columns: ntp_mon(5), "Monitoring Options" of ntpd (ntp.org, monopt.html), docs/statfiles.txt of NTPsec, and what
//! `record_peer_stats` and `record_loop_stats` of ntp_util.c write. Day is the modified Julian date, time is seconds past
//! midnight UTC. NTPsec names a clock `PPS(0)` where ntpd has its pseudo address.
//!
//! | file | columns | phase | frequency |
//! |---|---|---|---|
//! | peerstats | day time peer status(hex) offset delay dispersion [jitter] | offset, s | |
//! | loopstats | day time offset frequency [jitter wander] constant | offset, s | frequency, ppm |

use super::kind::Kind;
use super::row::{DAY, Line, Row, Tag};
use super::trouble::{Class, Trouble, number, shown, words};
use crate::units::PS_PER_S;

type Word<'a> = (usize, &'a [u8]);

/// Reads a line of a file of this kind.
pub(super) fn line(line: &[u8], kind: Kind, frequency: bool) -> Result<Line<'_>, Trouble> {
    let found: Vec<Word<'_>> = words(line).collect();
    match found.first() {
        None => return Ok(Line::Blank),
        Some((_, word)) if word.starts_with(b"#") => return Ok(Line::Nothing),
        Some(_) => {}
    }
    let (source, value) = match (kind, &found[..]) {
        (Kind::Peerstats, [_, _, peer, _, offset, ..]) if (7..=8).contains(&found.len()) => (peer.1, offset),
        (Kind::Loopstats, [_, _, offset, rate, ..]) if matches!(found.len(), 5 | 7) => {
            (&b""[..], if frequency { rate } else { offset })
        }
        _ => {
            let what = format!("{} columns, which {kind} has not", found.len());
            return Err(Trouble::new(found[0].0, Class::Columns, what));
        }
    };
    let tag = moment(found[0], found[1])?;
    Ok(Line::Row(Row {
        source: (source, b""),
        tag: Some(tag),
        value: Some(number(value.1, value.0)?),
        at: value.0,
    }))
}

fn moment(day: Word<'_>, time: Word<'_>) -> Result<Tag, Trouble> {
    let days: i128 = std::str::from_utf8(day.1)
        .ok()
        .and_then(|text| text.parse::<u32>().ok())
        .ok_or_else(|| {
            Trouble::new(day.0, Class::NoNumber, format!("{} is no modified Julian day", shown(day.1)))
        })?
        .into();
    let seconds = number(time.1, time.0)?;
    // A leap second is the 86,401st of its day.
    let at = seconds
        .rounded_picoseconds(0, 1)
        .filter(|at| (0..(DAY + 1) * PS_PER_S).contains(at))
        .ok_or_else(|| {
            Trouble::new(time.0, Class::OutOfRange, format!("{} seconds are no time of day", shown(time.1)))
        })?;
    let digits = u32::try_from(seconds.decimals().clamp(0, 12)).unwrap_or(0);
    Ok(Tag { at: days * DAY * PS_PER_S + at, resolution: PS_PER_S / 10_i128.pow(digits) })
}

/// The kind of file that has this line. All columns of loopstats are numbers; peerstats has a name and a status.
pub(super) fn kind_of(text: &[u8]) -> Option<Kind> {
    let found: Vec<_> = words(text).map(|(_, word)| word).collect();
    let is_number = |word: &&[u8]| number(word, 0).is_ok();
    let is_day = found.first().is_some_and(|word| word.len() == 5 && word.iter().all(u8::is_ascii_digit));
    if !is_day {
        return None;
    }
    match found[..] {
        [_, _, peer, status, ..]
            if number(peer, 0).is_err()
                && status.iter().all(u8::is_ascii_hexdigit)
                && matches!(line(text, Kind::Peerstats, false), Ok(Line::Row(_))) =>
        {
            Some(Kind::Peerstats)
        }
        _ if found.iter().all(is_number)
            && matches!(line(text, Kind::Loopstats, false), Ok(Line::Row(_))) =>
        {
            Some(Kind::Loopstats)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ntpd_and_of_ntpsec_are_read() {
        let read = |text: &'static str, kind, frequency| match line(text.as_bytes(), kind, frequency) {
            Ok(Line::Row(row)) => {
                (row.source.0, row.tag.unwrap().at / 1_000_000_000, row.value.unwrap().seconds(0))
            }
            other => panic!("{text}: {other:?}"),
        };
        let ntpd = "48773 10847.650 127.127.4.1 9714 -0.001605376 0.000000000 0.001424877 0.000958674";
        assert_eq!(
            read(ntpd, Kind::Peerstats, false),
            (&b"127.127.4.1"[..], 4_213_998_047_650, -0.001605376)
        );
        let ntpsec = "58441 3.532 PPS(0) 961a 0.000000226 0.000000000 0.000008021 0.000001120";
        assert_eq!(read(ntpsec, Kind::Peerstats, false).0, b"PPS(0)");
        let loops = "50935 75440.031 0.000006019 13.778190 0.000351733 0.0133806 6";
        assert_eq!(read(loops, Kind::Loopstats, false), (&b""[..], 4_400_859_440_031, 0.000006019));
        assert_eq!(read(loops, Kind::Loopstats, true).2, 13.77819);
    }

    #[test]
    fn wrong_lines_are_refused() {
        for (text, class) in [
            ("50935 86401.5 0.0 13.7 0.0 0.0 6", Class::OutOfRange),
            ("50935 -1 0.0 13.7 0.0 0.0 6", Class::OutOfRange),
            ("5x935 1 0.0 13.7 0.0 0.0 6", Class::NoNumber),
            ("50935 1 0,0 13.7 0.0 0.0 6", Class::DecimalComma),
            ("50935 1 0.0 13.7", Class::Columns),
        ] {
            assert_eq!(
                line(text.as_bytes(), Kind::Loopstats, false).map_err(|trouble| trouble.class),
                Err(class),
                "{text}"
            );
        }
    }
}
