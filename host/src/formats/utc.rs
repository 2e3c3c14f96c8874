//! From UTC, which receivers print, to the GPS time scale, which everything here is kept in.
//!
//! The table of leap seconds is that of the IERS (Bulletin C, as published in leap-seconds.list, which says of itself
//! that it is complete up to [`LEAP_TABLE_END`]). Behind its end the last difference is used on: a leap second that it
//! does not know would show as a step of the reference by a second.

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

/// The second on the GPS time scale of a week number and time of week that count UTC, as a u-blox pulse does whose time
/// base is UTC. Second 60 has no number of its own there: it has that of the second behind it.
#[must_use]
pub fn gps_second_of_utc_week(week: u16, second_of_week: i64) -> GpsSecond {
    let seconds = i64::from(week) * DAYS_A_WEEK * SECONDS_A_DAY + second_of_week;
    GpsSecond(seconds + gps_minus_utc(seconds.div_euclid(SECONDS_A_DAY)))
}

/// GPST - UTC in seconds on a day, given in days since 1980-01-06.
fn gps_minus_utc(days: i64) -> i64 {
    let started =
        LEAP_MONTHS.iter().filter(|&&(year, month)| days_since_epoch(Date::constant(year, month, 1)) <= days);
    // At most 18.
    started.count() as i64
}

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
