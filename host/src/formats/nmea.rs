//! NMEA 0183 sentences that name a second: RMC, which says whether it can be trusted, and ZDA, which does not; and GGA,
//! which tells when there is no fix.
//!
//! Stricter than most parsers where a rig must be (a checksum is mandatory, dates must exist, nothing may follow the
//! checksum) and laxer where real receivers are (second 60, a zone of `+00`, a mode field that older ones lack).

use crate::events::{ReferenceEvent, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource, Trust};

use super::utc::UtcTime;

/// What is wrong with a sentence.
type Fault = String;

/// More fields than any sentence that is read here has; those beyond are not looked at.
const FIELDS_MAX: usize = 20;

/// What a sentence says, from its `$` up to and without its line end.
///
/// None for a sentence that is intact and names no second that begins at a pulse: another kind, or a fix between pulses.
#[must_use]
pub fn decode(sentence: &[u8]) -> Option<ReferenceEvent> {
    let refused = |reason| Some(ReferenceEvent::Refused { reason });
    let body = match checked_body(sentence) {
        Ok(body) => body,
        Err(fault) => return refused(format!("{}: {fault}", kind(sentence))),
    };
    let (address, rest) = body.split_once(',').unwrap_or((body, ""));
    // Two letters of the talker, three of the kind; proprietary sentences are `P` and a maker's code.
    let kind = address.get(2..).filter(|_| address.len() == 5 && !address.starts_with('P'))?;
    let decode: fn(&[&str]) -> Result<Option<ReferenceEvent>, Fault> = match kind {
        "RMC" => rmc,
        "ZDA" => zda,
        "GGA" => gga,
        _ => return None,
    };
    let (mut fields, mut count) = ([""; FIELDS_MAX], 0);
    for (slot, field) in fields.iter_mut().zip(rest.split(',')) {
        *slot = field;
        count += 1;
    }
    let event = decode(&fields[..count]);
    event.unwrap_or_else(|fault| refused(format!("{address}: {fault}")))
}

/// The sentence's address, or `sentence` if it has none, for messages.
fn kind(sentence: &[u8]) -> String {
    let address: String = sentence.iter().skip(1).take(5).map(|&byte| char::from(byte)).collect();
    let good =
        !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    if good { address } else { "sentence".to_owned() }
}

/// What stands between `$` and `*`, if the checksum is there, is right, and ends the sentence.
pub(super) fn checked_body(sentence: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(sentence).map_err(|_| "not ASCII")?;
    let inner = text.strip_prefix('$').ok_or("does not begin with $")?;
    let (body, stated) = inner.rsplit_once('*').ok_or("no checksum")?;
    let hexadecimal = stated.len() == 2 && stated.bytes().all(|byte| byte.is_ascii_hexdigit());
    let stated =
        u8::from_str_radix(stated, 16).ok().filter(|_| hexadecimal).ok_or("no checksum at its end")?;
    let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
    if sum == stated { Ok(body) } else { Err(format!("checksum {stated:02X} does not match {sum:02X}")) }
}

/// `time,status,lat,N,lon,E,speed,course,date,variation,E[,mode[,navigational status]]`
fn rmc(fields: &[&str]) -> Result<Option<ReferenceEvent>, Fault> {
    let field = |index: usize| fields.get(index).copied().unwrap_or_default();
    if fields.len() < 9 {
        return Err("fields are missing".to_owned());
    }
    let source = TimeSource::NmeaRmc;
    let trust = match (field(1), field(11)) {
        ("V", _) | (_, "N") => Trust::Unlocked,
        // Of the modes only these rest on satellites in view; E is dead reckoning on the receiver's own clock.
        ("A", "" | "A" | "D" | "F" | "P" | "R") => Trust::Locked,
        ("A", "E") => Trust::Holdover,
        ("A", _) => Trust::Unlocked,
        (status, _) => return Err(format!("status `{status}` is neither A nor V")),
    };
    if field(0).is_empty() || field(8).is_empty() {
        return match trust {
            Trust::Unlocked => Ok(Some(ReferenceEvent::Void { source })),
            _ => Err("is marked valid and carries no time or no date".to_owned()),
        };
    }
    let [day, month, year] = pairs(field(8)).ok_or_else(|| format!("date `{}` is not ddmmyy", field(8)))?;
    // GPS time begins in 1980.
    let century = if year >= 80 { 1900 } else { 2000 };
    message(source, trust, field(0), (i16::from(year) + century, month, day))
}

/// `time,lat,N,lon,E,quality,satellites,...`. It names no date, so no second: only that there is no fix counts.
fn gga(fields: &[&str]) -> Result<Option<ReferenceEvent>, Fault> {
    let quality = fields.get(5).ok_or("fields are missing")?;
    let (trust, words) = match *quality {
        "" | "0" => (Trust::Unlocked, "there is no fix"),
        "6" => (Trust::Holdover, "the fix is dead reckoning"),
        "7" | "8" => (Trust::Unlocked, "the position is set by hand or simulated"),
        "1" | "2" | "3" | "4" | "5" | "9" => return Ok(None),
        other => return Err(format!("quality `{other}`")),
    };
    let (source, words) = (StateSource::NmeaGga, words.to_owned());
    Ok(Some(ReferenceEvent::State(StateMessage { source, trust, offset_ps: None, words })))
}

/// `time,day,month,year,zone hours,zone minutes`
fn zda(fields: &[&str]) -> Result<Option<ReferenceEvent>, Fault> {
    let field = |index: usize| fields.get(index).copied().unwrap_or_default();
    let source = TimeSource::NmeaZda;
    if fields.len() < 4 {
        return Err("fields are missing".to_owned());
    }
    if fields[..4].iter().any(|field| field.is_empty()) {
        return Ok(Some(ReferenceEvent::Void { source }));
    }
    let year =
        digits(field(3)).filter(|_| field(3).len() == 4).ok_or_else(|| format!("year `{}`", field(3)))?;
    let small = |index| digits(field(index)).and_then(|number| u8::try_from(number).ok());
    let month = small(2).ok_or_else(|| format!("month `{}`", field(2)))?;
    let day = small(1).ok_or_else(|| format!("day `{}`", field(1)))?;
    // The zone is information: the time is UTC whatever it says. It must be one, or the sentence is something else.
    for (zone, limit) in [(field(4), 13), (field(5), 59)] {
        let number = zone.strip_prefix(['+', '-']).unwrap_or(zone);
        if !zone.is_empty() && digits(number).is_none_or(|number| number > limit) {
            return Err(format!("zone `{zone}`"));
        }
    }
    message(source, Trust::NotStated, field(0), (year, month, day))
}

fn message(
    source: TimeSource,
    trust: Trust,
    time: &str,
    (year, month, day): (i16, u8, u8),
) -> Result<Option<ReferenceEvent>, Fault> {
    let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = pairs(whole).ok_or_else(|| format!("time `{time}` is not hhmmss"))?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("time `{time}` is not hhmmss"));
    }
    let (month_i8, day_i8) = (i8::try_from(month).unwrap_or(0), i8::try_from(day).unwrap_or(0));
    let utc = UtcTime { year, month: month_i8, day: day_i8, hour, minute, second };
    let gps = utc.gps_second().map_err(|fault| format!("{year:04}-{month:02}-{day:02} {time}: {fault}"))?;
    if fraction.bytes().any(|byte| byte != b'0') {
        return Ok(None);
    }
    Ok(Some(ReferenceEvent::Time(TimeMessage {
        source,
        second: gps,
        trust,
        qerr_ps: None,
        scale: TimeScale::Utc,
    })))
}

/// Three numbers of two digits each.
fn pairs(text: &str) -> Option<[u8; 3]> {
    let bytes: &[u8; 6] = text.as_bytes().try_into().ok()?;
    if !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let pair = |index: usize| (bytes[index] - b'0') * 10 + (bytes[index + 1] - b'0');
    Some([pair(0), pair(2), pair(4)])
}

/// A number of one to four digits.
fn digits(text: &str) -> Option<i16> {
    let good = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| good)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::GpsSecond;

    fn said(sentence: &str) -> Option<ReferenceEvent> {
        decode(sentence.as_bytes())
    }

    /// With the right checksum.
    fn closed(body: &str) -> String {
        let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
        format!("${body}*{sum:02X}")
    }

    fn time(source: TimeSource, trust: Trust, second: i64) -> Option<ReferenceEvent> {
        let (second, scale) = (GpsSecond(second), TimeScale::Utc);
        Some(ReferenceEvent::Time(TimeMessage { source, second, trust, qerr_ps: None, scale }))
    }

    fn refusal(sentence: &str) -> String {
        match said(sentence) {
            Some(ReferenceEvent::Refused { reason }) => reason,
            other => panic!("{sentence}: {other:?}"),
        }
    }

    /// GPS second of 2010-07-08 00:59:47 UTC: 11141 days since the epoch, 15 leap seconds.
    const FIREFLY: i64 = 11_141 * 86_400 + 59 * 60 + 47 + 15;

    #[test]
    fn sentences_of_real_receivers() {
        let rmc = "$GPRMC,005947.00,A,3715.6616,N,12157.6709,W,0.0,0.0,080710,,*2F";
        assert_eq!(said(rmc), time(TimeSource::NmeaRmc, Trust::Locked, FIREFLY));
        let zda = "$GPZDA,005947.00,08,07,2010,+00,00*4E";
        assert_eq!(said(zda), time(TimeSource::NmeaZda, Trust::NotStated, FIREFLY));
        assert!(
            refusal("$GPGGA,005947.00,3715.6616,N,12157.6709,W,,11,0.8,86.0,M,-30.1,M,,*54")
                .starts_with("GPGGA: checksum")
        );
        assert_eq!(said("$GNGSA,A,3,,,,,,,,,,,,,1.12,0.62,0.94,5*0E"), None);
        assert_eq!(
            said("$GPRMC,220952.00,A,4742.21,N,01200.75,E,0.0,0.0,181223,0.0,E*5A").map(|_| ()),
            Some(())
        );
        assert_eq!(refusal("$GPZDA,222449,25,10,2010,+00,00"), "GPZDA: no checksum");
    }

    #[test]
    fn validity_comes_from_status_and_mode() {
        let rows = [
            ("A", Some("A"), Trust::Locked),
            ("A", Some("D"), Trust::Locked),
            ("A", None, Trust::Locked),
            ("A", Some("E"), Trust::Holdover),
            ("A", Some("N"), Trust::Unlocked),
            ("A", Some("S"), Trust::Unlocked),
            ("A", Some("M"), Trust::Unlocked),
            ("A", Some("?"), Trust::Unlocked),
            ("V", Some("N"), Trust::Unlocked),
            ("V", Some("A"), Trust::Unlocked),
            ("V", None, Trust::Unlocked),
        ];
        for (status, mode, trust) in rows {
            let mode = mode.map_or(String::new(), |mode| format!(",{mode},V"));
            let sentence = closed(&format!("GNRMC,005947,{status},,,,,,,080710,,{mode}"));
            assert_eq!(said(&sentence), time(TimeSource::NmeaRmc, trust, FIREFLY), "{sentence}");
        }
    }

    #[test]
    fn a_void_sentence_with_a_wrong_time_is_unlocked_and_one_without_is_void() {
        // What a receiver sends at power-on.
        let sentence = closed("GNRMC,000000.00,V,,,,,,,050180,,,N,V");
        assert_eq!(said(&sentence), time(TimeSource::NmeaRmc, Trust::Unlocked, -86_400));
        let void = |source| Some(ReferenceEvent::Void { source });
        assert_eq!(said("$GPRMC,,V,,,,,,,,,,N*53"), void(TimeSource::NmeaRmc));
        assert_eq!(said(&closed("GPRMC,000000,V,,,,,,,,,,N")), void(TimeSource::NmeaRmc));
        assert_eq!(said("$GPZDA,,,,,,*48"), void(TimeSource::NmeaZda));
        assert!(refusal(&closed("GPRMC,,A,,,,,,,,,,A")).contains("marked valid"));
        assert!(refusal(&closed("GPRMC,005947,A,,,,,,,,,,A")).contains("marked valid"));
    }

    #[test]
    fn a_leap_second_is_legal_where_there_was_one() {
        let last = 13_509 * 86_400 + 86_399 + 17;
        let leap = closed("GPZDA,235960.000,31,12,2016,-00,00");
        assert_eq!(said(&leap), time(TimeSource::NmeaZda, Trust::NotStated, last + 1));
        assert!(refusal(&closed("GPZDA,235960,31,12,2017,,")).contains("leap seconds"));
    }

    #[test]
    fn gga_tells_when_there_is_no_fix_and_else_nothing() {
        let gga =
            |quality: &str| said(&closed(&format!("GPGGA,005947.00,3715.66,N,12157.67,W,{quality},11,0.8")));
        let trust = |quality: &str| match gga(quality) {
            Some(ReferenceEvent::State(state)) => Some(state.trust),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            ["", "0", "6", "8"].map(trust).map(Option::unwrap),
            [Trust::Unlocked, Trust::Unlocked, Trust::Holdover, Trust::Unlocked]
        );
        assert_eq!(["1", "2", "4", "9"].map(trust), [None; 4]);
        assert!(matches!(gga("x"), Some(ReferenceEvent::Refused { .. })));
        assert!(refusal(&closed("GPGGA,005947.00,3715.66")).contains("missing"));
    }

    #[test]
    fn impossible_dates_and_times_are_refused() {
        for body in [
            "GPZDA,005947,31,02,2026,00,00",
            "GPZDA,005947,00,07,2026,00,00",
            "GPZDA,005947,08,13,2026,00,00",
            "GPZDA,245947,08,07,2026,00,00",
            "GPZDA,0059,08,07,2026,00,00",
            "GPZDA,+05947,08,07,2026,00,00",
            "GPZDA,005947.x,08,07,2026,00,00",
            "GPZDA,005947,08,07,26,00,00",
            "GPZDA,005947,08,07,2026,+14,00",
            "GPZDA,005947,08,07,2026,++1,00",
            "GPZDA,005947,08,07,2026,00,60",
            "GPZDA,005947,999,07,2026",
            "GPZDA,005947",
            "GPRMC,005947,A,,,,,,,310226,,,A",
            "GPRMC,005947,A,,,,,,,0807,,,A",
            "GPRMC,005947,X,,,,,,,080710,,,A",
            "GPRMC,005947,A",
        ] {
            assert!(matches!(said(&closed(body)), Some(ReferenceEvent::Refused { .. })), "{body}");
        }
        assert!(
            said(&closed("GPZDA,005947,08,07,2026"))
                .is_some_and(|event| matches!(event, ReferenceEvent::Time(_)))
        );
    }

    #[test]
    fn a_fix_between_pulses_names_none() {
        assert_eq!(said(&closed("GNRMC,005947.20,A,,,,,,,080710,,,A")), None);
    }

    #[test]
    fn only_the_checksum_may_end_a_sentence() {
        let good = closed("GPZDA,005947.00,08,07,2010,+00,00");
        for bad in
            [format!("{good}x"), format!("{good} "), good[..good.len() - 1].to_owned(), format!("{good}4E")]
        {
            assert!(matches!(said(&bad), Some(ReferenceEvent::Refused { .. })), "{bad}");
        }
        assert!(
            said(&good.to_lowercase().replace("gpzda", "GPZDA")).is_some(),
            "lower-case hex digits are legal"
        );
        for bad in ["", "$", "*", "$*", "$*0", "GPZDA", "\u{e9}"] {
            assert!(matches!(said(bad), Some(ReferenceEvent::Refused { .. })), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn one_changed_byte_never_names_another_second(index in 0..70_usize, byte in any::<u8>()) {
            let mut sentence = b"$GPRMC,005947.00,A,3715.6616,N,12157.6709,W,0.0,0.0,080710,,*2F".to_vec();
            let index = index % sentence.len();
            sentence[index] = byte;
            if let Some(ReferenceEvent::Time(message)) = decode(&sentence) {
                prop_assert_eq!(message.second, GpsSecond(FIREFLY));
            }
        }

        #[test]
        fn any_fields_are_read_without_a_panic(fields in "[0-9A-Z.,+*-]{0,60}", kind in "RMC|ZDA|GGA") {
            let _any = said(&closed(&format!("GP{kind},{fields}")));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _any = decode(&bytes);
        }
    }
}
