//! What only dates can tell of a reference: a week number that rolled over, GPS time in place of UTC, and leap seconds.
//!
//! A GPS week number has ten bits on the air. A receiver whose firmware guesses the rest wrong is off by 1024 weeks, with
//! the right time of day. The host's clock, or the day on which this was written where that clock is even older, tells.
//! Nothing is corrected unless the bench file asks for it.

use crate::events::{LeapMessage, ReferenceEvent, Stamped, TimeMessage, TimeSource, Trust, WrongEpoch};
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

use super::utc;

const WEEK_S: i64 = 604_800;
const ROLLOVER_S: i64 = 1024 * WEEK_S;
/// A host's clock that is right to two days tells a rollover from another error.
const NEAR_S: u64 = 2 * 86_400;
/// 2026-11-30T00:00:00 UTC as Unix time: no recording is older than the program that made it.
const WRITTEN_UNIX_S: i64 = 1_795_996_800;
/// A host's clock is this near where it may tell GPS time from UTC, which are 18 s apart.
const SCALE_NEAR_S: u64 = 4;
/// A leap second so near to a message is told.
const LEAP_NEAR_S: i64 = 3600;

/// What the host's clock showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostClock {
    /// When.
    pub at: HostNanos,
    /// Seconds since 1970-01-01T00:00:00 UTC.
    pub unix_s: i64,
}

impl HostClock {
    /// The second on the GPS scale that it shows at a host time.
    fn second(self, at: HostNanos) -> i64 {
        let since = (i128::from(at.0) - i128::from(self.at.0)).div_euclid(i128::from(NS_PER_S));
        let unix = self.unix_s.saturating_add(i64::try_from(since).unwrap_or(0));
        utc::gps_second_of_unix(unix).0
    }

    const fn is_believable(self) -> bool {
        self.unix_s >= WRITTEN_UNIX_S
    }
}

/// Looks at the dates of a recording, and puts what they tell in front of the messages that show it. With `correct`, a
/// week number that rolled over is set right.
pub fn examine(events: &mut Vec<Stamped<ReferenceEvent>>, host: Option<HostClock>, correct: bool) {
    let mut told: Vec<(TimeSource, i64)> = Vec::new();
    let mut leaps: Vec<GpsSecond> = Vec::new();
    let mut examined = Vec::with_capacity(events.len());
    for mut event in events.drain(..) {
        if let ReferenceEvent::Time(message) = &mut event.event
            && message.trust != Trust::Unlocked
        {
            let at = event.at;
            let mut tell = |event| examined.push(Stamped { at, event });
            if let Some(wrong) = host.and_then(|host| wrong_epoch(message, host, at)) {
                let corrected = correct && wrong.right.is_some();
                if !told.contains(&(message.source, wrong.off)) {
                    told.push((message.source, wrong.off));
                    let (source, words) = (message.source, wrong.words(message, corrected));
                    tell(ReferenceEvent::WrongEpoch(WrongEpoch { source, words, corrected }));
                }
                if let Some(right) = wrong.right.filter(|_| corrected) {
                    message.second = right;
                }
            }
            let near = (message.second.plus(-LEAP_NEAR_S), message.second.plus(LEAP_NEAR_S));
            for leap in utc::inserted_between(near.0, near.1) {
                if !leaps.contains(&leap) {
                    leaps.push(leap);
                    tell(ReferenceEvent::Leap(LeapMessage {
                        source: "table",
                        gps_minus_utc: None,
                        change: Some(1),
                        at: Some(leap),
                    }));
                }
            }
        }
        examined.push(event);
    }
    *events = examined;
}

/// A message whose date cannot be.
struct Wrong {
    /// Weeks that are missing, or 0 where it counts GPS time for UTC.
    off: i64,
    /// What it names if the weeks are added.
    right: Option<GpsSecond>,
}

impl Wrong {
    fn words(&self, message: &TimeMessage, corrected: bool) -> String {
        let name = message.source.name();
        if self.off == 0 {
            return format!(
                "{name} is as far ahead of the host's clock as GPS time is ahead of UTC: the receiver is set to GPS \
                 time, or the host's clock is wrong; set the receiver to UTC"
            );
        }
        let date = |second: GpsSecond| {
            utc::of_gps_second(second).map_or_else(
                || format!("GPS second {}", second.0),
                |utc| format!("{:04}-{:02}-{:02}", utc.year, utc.month, utc.day),
            )
        };
        let likely = self.right.map_or_else(|| "unknown".to_owned(), date);
        let what = if corrected {
            "it was corrected, as the bench file asks"
        } else {
            "set week-rollover = \"correct\" under [reference] to have it corrected"
        };
        format!(
            "{name} names {}, {} weeks from {likely}, which it likely is: its week number rolled over; {what}",
            date(message.second),
            self.off.abs()
        )
    }
}

fn wrong_epoch(message: &TimeMessage, host: HostClock, at: HostNanos) -> Option<Wrong> {
    let shown = host.second(at);
    let named = message.second.0;
    let (off, near) = if host.is_believable() {
        let rollovers = shown.checked_sub(named)?.checked_add(ROLLOVER_S / 2)?.div_euclid(ROLLOVER_S);
        let rest = shown.checked_sub(named.checked_add(rollovers.checked_mul(ROLLOVER_S)?)?)?;
        (rollovers * 1024, rest.unsigned_abs() <= NEAR_S)
    } else {
        // The host's clock was never set: the earliest date that is not before this was written.
        let written = utc::gps_second_of_unix(WRITTEN_UNIX_S).0;
        let missing = written.checked_sub(named)?.max(0);
        (missing.checked_add(ROLLOVER_S - 1)? / ROLLOVER_S * 1024, true)
    };
    if off != 0 && near {
        let right = match message.scale {
            crate::events::TimeScale::Gps => named.checked_add(off.checked_mul(WEEK_S)?).map(GpsSecond),
            crate::events::TimeScale::Utc => utc::weeks_later(message.second, off),
        };
        return Some(Wrong { off, right });
    }
    // Only receivers that are told the scale of their time code can have the wrong one.
    let ahead = named.checked_sub(shown)?.checked_sub(utc::gps_minus_utc_at(message.second))?;
    let scale = message.source == TimeSource::HpTimeCode
        && host.is_believable()
        && ahead.unsigned_abs() <= SCALE_NEAR_S;
    scale.then_some(Wrong { off: 0, right: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::TimeScale;
    use crate::formats::utc::UtcTime;

    const NOON: UtcTime = UtcTime { year: 2026, month: 12, day: 1, hour: 12, minute: 0, second: 0 };
    const CLOCK: HostClock =
        HostClock { at: HostNanos(5_000_000_000), unix_s: WRITTEN_UNIX_S + 86_400 + 43_200 };

    fn message(source: TimeSource, scale: TimeScale, second: i64) -> Stamped<ReferenceEvent> {
        let (second, trust) = (GpsSecond(second), Trust::Locked);
        let message = TimeMessage { source, second, trust, qerr_ps: None, scale };
        Stamped { at: CLOCK.at, event: ReferenceEvent::Time(message) }
    }

    fn examined(event: Stamped<ReferenceEvent>, host: HostClock, correct: bool) -> (Option<WrongEpoch>, i64) {
        let mut events = vec![event];
        examine(&mut events, Some(host), correct);
        let wrong = events.iter().find_map(|event| match &event.event {
            ReferenceEvent::WrongEpoch(wrong) => Some(wrong.clone()),
            _ => None,
        });
        let Some(ReferenceEvent::Time(message)) = events.last().map(|event| event.event.clone()) else {
            panic!("{events:?}")
        };
        (wrong, message.second.0)
    }

    fn noon() -> i64 {
        NOON.gps_second().unwrap().0
    }

    #[test]
    fn a_rollover_is_named_with_the_likely_date_and_left_alone() {
        let wrong = UtcTime { year: 2007, month: 4, day: 17, ..NOON }.gps_second().unwrap().0;
        let (told, second) = examined(message(TimeSource::NmeaRmc, TimeScale::Utc, wrong), CLOCK, false);
        let told = told.unwrap();
        assert!(told.words.contains("RMC names 2007-04-17, 1024 weeks from 2026-12-01"), "{}", told.words);
        assert!(!told.corrected);
        assert_eq!(second, wrong);
    }

    #[test]
    fn a_rollover_is_corrected_where_the_bench_file_asks_for_it_on_either_scale() {
        let utc = UtcTime { year: 2007, month: 4, day: 17, ..NOON }.gps_second().unwrap().0;
        let gps = noon() - ROLLOVER_S;
        for (scale, wrong) in [(TimeScale::Utc, utc), (TimeScale::Gps, gps)] {
            let (told, second) = examined(message(TimeSource::UbxTimTp, scale, wrong), CLOCK, true);
            assert!(told.unwrap().corrected);
            assert_eq!(second, noon(), "{scale:?}");
        }
        let (told, second) =
            examined(message(TimeSource::UbxTimTp, TimeScale::Gps, noon() + 2 * ROLLOVER_S), CLOCK, true);
        assert!(told.unwrap().words.contains("2048 weeks"));
        assert_eq!(second, noon());
    }

    #[test]
    fn another_date_is_no_rollover() {
        for off in [0, 1, -3600, 86_400, -ROLLOVER_S / 3, ROLLOVER_S / 2, ROLLOVER_S - 10 * 86_400] {
            let event = message(TimeSource::NmeaRmc, TimeScale::Utc, noon() + off);
            assert_eq!(examined(event, CLOCK, true), (None, noon() + off), "{off}");
        }
    }

    #[test]
    fn where_the_hosts_clock_was_never_set_the_day_of_writing_tells() {
        let clock = HostClock { unix_s: 1000, ..CLOCK };
        let event = message(TimeSource::UbxTimTp, TimeScale::Gps, noon() - ROLLOVER_S);
        assert_eq!(examined(event, clock, true).1, noon());
        let later = noon() + 300 * 86_400;
        assert_eq!(
            examined(message(TimeSource::UbxTimTp, TimeScale::Gps, later), clock, true),
            (None, later)
        );
    }

    #[test]
    fn gps_time_in_place_of_utc_is_told() {
        let event = message(TimeSource::HpTimeCode, TimeScale::Utc, noon() + 18);
        assert!(examined(event, CLOCK, true).0.unwrap().words.contains("GPS time"));
        assert_eq!(examined(message(TimeSource::HpTimeCode, TimeScale::Utc, noon()), CLOCK, true).0, None);
    }

    #[test]
    fn a_leap_second_of_the_table_is_told_once() {
        let leap = UtcTime { year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60 };
        let leap = leap.gps_second().unwrap();
        let mut events: Vec<_> =
            (-3..3).map(|after| message(TimeSource::NmeaRmc, TimeScale::Utc, leap.0 + after)).collect();
        examine(&mut events, None, false);
        assert_eq!(events.len(), 7);
        assert!(matches!(
            events[0].event,
            ReferenceEvent::Leap(LeapMessage { source: "table", change: Some(1), at, .. }) if at == Some(leap)
        ));
    }

    #[test]
    fn nonsense_is_examined_without_a_panic() {
        for second in [i64::MIN, i64::MAX, 0, -1] {
            for unix_s in [i64::MIN, i64::MAX, 0] {
                for scale in [TimeScale::Gps, TimeScale::Utc] {
                    let clock = HostClock { unix_s, ..CLOCK };
                    let _any = examined(message(TimeSource::HpTimeCode, scale, second), clock, true);
                }
            }
        }
    }
}
