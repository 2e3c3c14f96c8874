//! From UTC, which receivers print, to the GPS time scale, which everything here is kept in.
//!
//! The table of leap seconds is that of the IERS (Bulletin C, as published in leap-seconds.list, which says of itself
//! that it is complete up to [`LEAP_TABLE_END`]). Behind its end the last difference is used on: a leap second that it
//! does not know would show as a step of the reference by a second.

use std::sync::LazyLock;

use jiff::civil::Date;
use thiserror::Error;

use crate::units::{GpsSecond, LEAP_TABLE_END};

/// First months of UTC in which GPST - UTC is one second more than before; it was 0 on 1980-01-06.
const LEAP_MONTHS: [(i16, i8); 18] = [
    (1981, 7),
    (1982, 7),
    (1983, 7),
    (1985, 7),
    (1988, 1),
    (1990, 1),
    (1991, 1),
    (1992, 7),
    (1993, 7),
    (1994, 7),
    (1996, 1),
    (1997, 7),
    (1999, 1),
    (2006, 1),
    (2009, 1),
    (2012, 7),
    (2015, 7),
    (2017, 1),
];

const SECONDS_A_DAY: i64 = 86_400;
const DAYS_A_WEEK: i64 = 7;
/// 1980-01-06T00:00:00 UTC as Unix time.
const GPS_EPOCH_UNIX_S: i64 = 315_964_800;
const GPS_EPOCH: Date = Date::constant(1980, 1, 6);

/// A date and time of day in UTC. Nothing is checked before [`UtcTime::gps_second`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcTime {
    /// With its century.
    pub year: i16,
    /// 1 to 12.
    pub month: i8,
    /// Day of the month.
    pub day: i8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 60; 60 only in a leap second.
    pub second: u8,
}

/// Why there is no such UTC time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UtcFault {
    /// no such day
    #[error("there is no such date")]
    Date,
    /// no such time of day
    #[error("there is no such time of day")]
    TimeOfDay,
    /// second 60 where there is none
    #[error("the table of leap seconds (complete to {LEAP_TABLE_END}) has no second 60 there")]
    LeapSecond,
}

impl UtcTime {
    /// The second on the GPS time scale.
    ///
    /// # Errors
    /// [`UtcFault`] for a date or time that does not exist.
    pub fn gps_second(self) -> Result<GpsSecond, UtcFault> {
        let date = Date::new(self.year, self.month, self.day).map_err(|_| UtcFault::Date)?;
        if self.hour > 23 || self.minute > 59 || self.second > 60 {
            return Err(UtcFault::TimeOfDay);
        }
        let days = days_since_epoch(date);
        if self.second == 60 {
            let last_minute = (self.hour, self.minute) == (23, 59);
            if !last_minute || gps_minus_utc(days + 1) == gps_minus_utc(days) {
                return Err(UtcFault::LeapSecond);
            }
        }
        let of_day = i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        Ok(GpsSecond(days * SECONDS_A_DAY + of_day + gps_minus_utc(days)))
    }
}

/// Seconds from 1980-01-06 on a scale of plain days of 86,400 s; none for a date or time that does not exist. Second 60 is
/// taken as the one behind 59.
#[must_use]
pub fn plain_second(time: UtcTime) -> Option<i64> {
    let date = Date::new(time.year, time.month, time.day).ok()?;
    if time.hour > 23 || time.minute > 59 || time.second > 60 {
        return None;
    }
    let of_day = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second);
    Some(days_since_epoch(date) * SECONDS_A_DAY + of_day)
}

/// The second on the GPS time scale of a week number and time of week that count UTC, as a u-blox pulse does whose time
/// base is UTC. Second 60 has no number of its own there: it has that of the second behind it.
#[must_use]
pub fn gps_second_of_utc_week(week: u16, second_of_week: i64) -> GpsSecond {
    let seconds = i64::from(week) * DAYS_A_WEEK * SECONDS_A_DAY + second_of_week;
    GpsSecond(seconds + gps_minus_utc(seconds.div_euclid(SECONDS_A_DAY)))
}

/// The UTC time at which a second on the GPS time scale begins; none where no calendar of ours reaches.
#[must_use]
pub fn of_gps_second(second: GpsSecond) -> Option<UtcTime> {
    // An inserted second belongs to the day before it, although the difference is the new one from then on.
    let by = |difference: i64| second.0.checked_sub(difference);
    let guess = by(gps_minus_utc(second.0.div_euclid(SECONDS_A_DAY)))?.div_euclid(SECONDS_A_DAY);
    let mut day = guess - 1;
    while day_start(day + 1)? <= second.0 {
        day += 1;
    }
    let of_day = second.0 - day_start(day)?;
    let date = GPS_EPOCH.checked_add(jiff::Span::new().try_days(day).ok()?).ok()?;
    let inserted = of_day >= SECONDS_A_DAY;
    let of_day = of_day.min(SECONDS_A_DAY - 1);
    Some(UtcTime {
        year: date.year(),
        month: date.month(),
        day: date.day(),
        hour: (of_day / 3600) as u8,
        minute: (of_day / 60 % 60) as u8,
        second: (of_day % 60) as u8 + u8::from(inserted),
    })
}

/// The GPS second at which a UTC day begins, given in days since 1980-01-06.
fn day_start(day: i64) -> Option<i64> {
    day.checked_mul(SECONDS_A_DAY)?.checked_add(gps_minus_utc(day))
}

/// The same calendar time so many weeks later: what a receiver would have said with the right week number, since it adds
/// today's leap seconds whatever date it believes in.
#[must_use]
pub fn weeks_later(second: GpsSecond, weeks: i64) -> Option<GpsSecond> {
    let day = of_gps_second(second)?;
    let whole =
        second.0.checked_sub(UtcTime { hour: 0, minute: 0, second: 0, ..day }.gps_second().ok()?.0)?;
    let date = Date::new(day.year, day.month, day.day).ok()?;
    let days = days_since_epoch(date).checked_add(weeks.checked_mul(DAYS_A_WEEK)?)?;
    day_start(days)?.checked_add(whole).map(GpsSecond)
}

/// The GPS second of a Unix time.
#[must_use]
pub fn gps_second_of_unix(unix_s: i64) -> GpsSecond {
    let utc = unix_s.saturating_sub(GPS_EPOCH_UNIX_S);
    GpsSecond(utc.saturating_add(gps_minus_utc(utc.div_euclid(SECONDS_A_DAY))))
}

/// GPST - UTC at a GPS second, in seconds; within a minute of a change it may be that of the other side.
#[must_use]
pub fn gps_minus_utc_at(second: GpsSecond) -> i64 {
    gps_minus_utc(second.0.div_euclid(SECONDS_A_DAY))
}

/// The leap seconds of the table that were inserted between two seconds, each as the second 23:59:60 itself.
pub fn inserted_between(from: GpsSecond, to: GpsSecond) -> impl Iterator<Item = GpsSecond> {
    let starts = LEAP_DAYS.iter().filter_map(|&day| day_start(day)).map(|start| GpsSecond(start - 1));
    starts.filter(move |inserted| (from..=to).contains(inserted))
}

/// GPST - UTC in seconds on a day, given in days since 1980-01-06.
fn gps_minus_utc(days: i64) -> i64 {
    // At most 18.
    LEAP_DAYS.partition_point(|&started| started <= days) as i64
}

/// The first days of [`LEAP_MONTHS`], in days since 1980-01-06.
static LEAP_DAYS: LazyLock<[i64; LEAP_MONTHS.len()]> =
    LazyLock::new(|| LEAP_MONTHS.map(|(year, month)| days_since_epoch(Date::constant(year, month, 1))));

fn days_since_epoch(date: Date) -> i64 {
    let elapsed = date.duration_since(GPS_EPOCH);
    elapsed.as_secs() / SECONDS_A_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gps(year: i16, month: i8, day: i8, hour: u8, minute: u8, second: u8) -> Result<i64, UtcFault> {
        UtcTime { year, month, day, hour, minute, second }.gps_second().map(|second| second.0)
    }

    fn week(week: i64, second: i64) -> i64 {
        week * 604_800 + second
    }

    #[test]
    fn known_pairs_of_utc_and_gps_time() {
        assert_eq!(gps(1980, 1, 6, 0, 0, 0), Ok(0));
        assert_eq!(gps(1980, 1, 5, 23, 59, 59), Ok(-1));
        // A recorded u-blox M8T: week 2146, GPS second of week 237888.
        assert_eq!(gps(2021, 2, 23, 18, 4, 30), Ok(week(2146, 237_888)));
        // The second rollover of the ten-bit week, 2019-04-07 on the GPS scale.
        assert_eq!(gps(2019, 4, 6, 23, 59, 42), Ok(week(2048, 0)));
        // Unix time 1_000_000_000 is 2001-09-09 01:46:40, and 13 leap seconds had passed.
        assert_eq!(gps(2001, 9, 9, 1, 46, 40), Ok(1_000_000_000 - 315_964_800 + 13));
    }

    #[test]
    fn a_leap_second_is_a_second_of_its_own() {
        let before = gps(2016, 12, 31, 23, 59, 59).unwrap();
        assert_eq!(gps(2016, 12, 31, 23, 59, 60), Ok(before + 1));
        assert_eq!(gps(2017, 1, 1, 0, 0, 0), Ok(before + 2));
    }

    #[test]
    fn second_sixty_elsewhere_is_refused() {
        assert_eq!(gps(2016, 12, 31, 12, 59, 60), Err(UtcFault::LeapSecond));
        assert_eq!(gps(2017, 12, 31, 23, 59, 60), Err(UtcFault::LeapSecond));
        assert_eq!(gps(2016, 12, 30, 23, 59, 60), Err(UtcFault::LeapSecond));
    }

    #[test]
    fn what_no_calendar_has_is_refused() {
        for (year, month, day) in
            [(2026, 2, 29), (2026, 2, 31), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0), (2026, 4, 31)]
        {
            assert_eq!(gps(year, month, day, 0, 0, 0), Err(UtcFault::Date), "{year}-{month}-{day}");
        }
        assert!(gps(2028, 2, 29, 0, 0, 0).is_ok());
        assert_eq!(gps(2026, 1, 1, 24, 0, 0), Err(UtcFault::TimeOfDay));
        assert_eq!(gps(2026, 1, 1, 0, 60, 0), Err(UtcFault::TimeOfDay));
        assert_eq!(gps(2026, 1, 1, 23, 59, 61), Err(UtcFault::TimeOfDay));
    }

    #[test]
    fn a_utc_week_and_second_is_the_same_time() {
        assert_eq!(gps_second_of_utc_week(2146, 237_870).0, week(2146, 237_888));
        assert_eq!(gps_second_of_utc_week(0, 0), GpsSecond(0));
        let before = gps(2016, 12, 31, 23, 59, 59).unwrap();
        // 2017-01-01 was the first day of week 1930.
        assert_eq!(gps_second_of_utc_week(1930, -1).0, before);
        assert_eq!(gps_second_of_utc_week(1930, 0).0, before + 2);
        let _the_last = gps_second_of_utc_week(u16::MAX, 604_800);
    }

    #[test]
    fn gps_seconds_are_printed_as_utc_leap_seconds_included() {
        for (year, month, day, hour, minute, second) in [
            (2016, 12, 31, 23, 59, 59),
            (2016, 12, 31, 23, 59, 60),
            (2017, 1, 1, 0, 0, 0),
            (1980, 1, 6, 0, 0, 0),
            (1980, 1, 5, 23, 59, 59),
            (2026, 11, 30, 12, 0, 1),
        ] {
            let utc = UtcTime { year, month, day, hour, minute, second };
            assert_eq!(of_gps_second(utc.gps_second().unwrap()), Some(utc));
        }
        assert_eq!((of_gps_second(GpsSecond(i64::MAX)), of_gps_second(GpsSecond(i64::MIN))), (None, None));
    }

    #[test]
    fn a_rollover_keeps_the_calendar_time_of_day() {
        let wrong = UtcTime { year: 2007, month: 4, day: 16, hour: 1, minute: 2, second: 3 };
        let right = UtcTime { year: 2026, month: 11, day: 30, hour: 1, minute: 2, second: 3 };
        let (wrong, right) = (wrong.gps_second().unwrap(), right.gps_second().unwrap());
        assert_eq!(weeks_later(wrong, 1024), Some(right));
        assert_ne!(right.0 - wrong.0, 1024 * 604_800, "leap seconds lie between");
        assert_eq!(weeks_later(GpsSecond(i64::MAX), 1024), None);
    }

    #[test]
    fn the_leap_seconds_of_a_span_are_found() {
        let last = gps(2016, 12, 31, 23, 59, 60).map(GpsSecond).unwrap();
        let found: Vec<_> = inserted_between(last.plus(-5), last.plus(5)).collect();
        assert_eq!(found, [last]);
        assert_eq!(inserted_between(last.plus(1), last.plus(5)).count(), 0);
    }

    #[test]
    fn every_leap_second_of_the_systems_table_is_in_ours() {
        // Another source than ours; the file is not on every system.
        let Ok(text) = std::fs::read_to_string("/usr/share/zoneinfo/leap-seconds.list") else {
            eprintln!("skipped: no /usr/share/zoneinfo/leap-seconds.list");
            return;
        };
        let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse::<i64>().ok()?, words.next()?.parse::<i64>().ok()?))
        });
        let ntp_of_gps_epoch = 2_524_953_600;
        for (ntp, tai_minus_utc) in rows {
            let days = (ntp - ntp_of_gps_epoch).div_euclid(SECONDS_A_DAY);
            if days >= 0 {
                assert_eq!(gps_minus_utc(days), tai_minus_utc - 19, "from NTP second {ntp}");
                assert_eq!(gps_minus_utc(days - 1), tai_minus_utc - 20, "before NTP second {ntp}");
            }
        }
    }
}
