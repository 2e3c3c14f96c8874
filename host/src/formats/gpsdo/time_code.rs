//! The T2 time code of HP's GPSDOs: which second the next pulse begins, and two figures of merit.

use crate::events::{
    LeapMessage, ReferenceEvent, StateMessage, StateSource, TimeMessage, TimeScale, TimeSource, Trust,
};
use crate::formats::utc::UtcTime;

/// Length of a T2 time code, and of what its checksum sums up.
const TIME_CODE: usize = 23;
const SUMMED: usize = 21;

/// The time code in a line: `T2yyyymmddhhmmssMFLRVcc`.
pub(super) fn time_code(text: &[u8]) -> Option<Result<&[u8], String>> {
    let mut wrong = None;
    for code in text.windows(TIME_CODE) {
        let fields_fit = code.starts_with(b"T2")
            && code[2..18].iter().all(u8::is_ascii_digit)
            && b"0+-".contains(&code[18])
            && code[19..21].iter().all(u8::is_ascii_digit);
        if !fields_fit {
            continue;
        }
        let sum = code[..SUMMED].iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        let stated = std::str::from_utf8(&code[SUMMED..]).ok();
        let stated = stated.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match stated.and_then(|text| u8::from_str_radix(text, 16).ok()) {
            Some(stated) if stated == sum => return Some(Ok(code)),
            Some(stated) => wrong = Some(format!("T2: checksum {stated:02X} does not match {sum:02X}")),
            None => wrong = Some("T2: no checksum".to_owned()),
        }
    }
    wrong.map(Err)
}

/// Tells what a time code says.
pub(super) fn hp_time(code: &[u8], say: &mut dyn FnMut(ReferenceEvent)) {
    let number = |range: std::ops::Range<usize>| {
        code[range].iter().fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let small = |from: usize| number(from..from + 2);
    let utc = UtcTime {
        year: number(2..6),
        month: small(6) as i8,
        day: small(8) as i8,
        hour: small(10) as u8,
        minute: small(12) as u8,
        second: small(14) as u8,
    };
    let (tfom, ffom, valid) = (code[16] - b'0', code[17] - b'0', code[20] == b'0');
    let (trust, words) = match (valid, ffom) {
        (false, _) => (Trust::Unlocked, "its time is not valid"),
        (true, 0) => (Trust::Locked, ""),
        (true, 1) => (Trust::Unlocked, "its loop has not settled (FFOM 1)"),
        (true, 2) => (Trust::Holdover, "it is in holdover (FFOM 2)"),
        (true, _) => (Trust::Unlocked, "its oscillator does not follow the satellites (FFOM 3)"),
    };
    let source = TimeSource::HpTimeCode;
    match utc.gps_second() {
        Ok(second) => {
            let scale = TimeScale::Utc;
            say(ReferenceEvent::Time(TimeMessage { source, second, trust, qerr_ps: None, scale }));
        }
        Err(_) if trust == Trust::Unlocked => say(ReferenceEvent::Void { source }),
        Err(fault) => return say(ReferenceEvent::Refused { reason: format!("T2: {utc:?}: {fault}") }),
    }
    // TFOM n: its time is off by 10^n ns at most.
    let bound_ps = 1000 * 10_i64.pow(tfom.into());
    say(ReferenceEvent::State(StateMessage {
        source: StateSource::HpTimeCode,
        trust,
        offset_ps: Some(bound_ps),
        words: words.to_owned(),
    }));
    let change = match code[18] {
        b'+' => 1,
        b'-' => -1,
        _ => return,
    };
    say(ReferenceEvent::Leap(LeapMessage {
        source: "T2",
        gps_minus_utc: None,
        change: Some(change),
        at: None,
    }));
}
