//! The kinds of files that hold a series, and how a file's content tells which it is.

use std::fmt;
use std::str::FromStr;

use super::trouble::{is_blank, words};
use super::{chrony, columns, edges, ntp, ppstest, ticc_log};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One column of values, or two: time tag and value.
    Columns,
    /// TAPR TICC, a time stamp a pulse.
    TiccTimestamp,
    /// TAPR TICC, the interval from A to B.
    TiccInterval,
    /// TAPR TICC, from one pulse to the next.
    TiccPeriod,
    /// What `ppstest` of pps-tools prints.
    Ppstest,
    /// chrony's refclocks.log.
    Refclocks,
    /// chrony's statistics.log.
    Statistics,
    /// chrony's tracking.log.
    Tracking,
    /// peerstats of ntpd and NTPsec.
    Peerstats,
    /// loopstats of ntpd and NTPsec.
    Loopstats,
    /// Our own edges.csv.
    Edges,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Columns,
        Self::TiccTimestamp,
        Self::TiccInterval,
        Self::TiccPeriod,
        Self::Ppstest,
        Self::Refclocks,
        Self::Statistics,
        Self::Tracking,
        Self::Peerstats,
        Self::Loopstats,
        Self::Edges,
    ];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::TiccTimestamp => "ticc-timestamp",
            Self::TiccInterval => "ticc-interval",
            Self::TiccPeriod => "ticc-period",
            Self::Ppstest => "ppstest",
            Self::Refclocks => "refclocks",
            Self::Statistics => "statistics",
            Self::Tracking => "tracking",
            Self::Peerstats => "peerstats",
            Self::Loopstats => "loopstats",
            Self::Edges => "edges",
        }
    }

    /// What is read of it as phase.
    #[must_use]
    pub const fn phase_of(self) -> &'static str {
        match self {
            Self::Columns => "the values",
            Self::TiccTimestamp | Self::Ppstest => "the time stamps, less a whole number of tau0",
            Self::TiccInterval => "the intervals",
            Self::TiccPeriod => "the sum of the periods, less a whole number of tau0",
            Self::Refclocks => "the raw offsets",
            Self::Statistics => "the estimated offsets",
            Self::Tracking | Self::Peerstats | Self::Loopstats => "the offsets",
            Self::Edges => "latency_ns",
        }
    }

    /// What is read of it as frequency, if it has any.
    #[must_use]
    pub const fn frequency_of(self) -> Option<&'static str> {
        match self {
            Self::Columns => Some("the values"),
            Self::Statistics => Some("the estimated frequency differences"),
            Self::Tracking | Self::Loopstats => Some("the frequencies, written in ppm"),
            _ => None,
        }
    }

    /// Whether each line has the time stamp of a pulse and nothing else.
    pub(super) const fn is_stamps(self) -> bool {
        matches!(self, Self::TiccTimestamp | Self::TiccPeriod | Self::Ppstest)
    }

    /// Whether its lines come when a daemon polls, which is not to the second.
    pub(super) const fn is_polled(self) -> bool {
        matches!(
            self,
            Self::Refclocks | Self::Statistics | Self::Tracking | Self::Peerstats | Self::Loopstats
        )
    }

    /// What one value is in seconds as a power of ten, and none where --unit says it.
    #[must_use]
    pub const fn scale(self, frequency: bool) -> Option<i32> {
        match self {
            Self::Columns => None,
            Self::Edges => Some(-9),
            Self::Tracking | Self::Loopstats if frequency => Some(-6),
            _ => Some(0),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("give one of {}", known.join(", "))
        })
    }
}

/// Lines that are looked at for what they are.
const LOOKED_AT: usize = 200;

/// The kind of a file that begins with `head`, and what of it says so. A file that nothing else fits is a file of columns.
pub(super) fn recognise(head: &[u8]) -> (Kind, String) {
    for (index, line) in head.split(|byte| *byte == b'\n').take(LOOKED_AT).enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.iter().all(|byte| is_blank(*byte)) {
            continue;
        }
        let number = index + 1;
        if edges::is_heading(line) {
            return (Kind::Edges, format!("the heading in line {number} names gpst_ns and latency_ns"));
        }
        if ppstest::is_reading(line) {
            return (Kind::Ppstest, format!("line {number} is `source N - assert ...`"));
        }
        if let Some(kind) = ticc_log::kind_of(line, head) {
            let last = words(line).last().map_or(&b""[..], |(_, word)| word);
            let why = match kind {
                Kind::TiccPeriod => ", and the numbers of its channel do not rise like a time",
                Kind::TiccTimestamp => ", and the numbers of its channel rise like a time",
                _ => "",
            };
            return (kind, format!("line {number} ends in {}{why}", String::from_utf8_lossy(last)));
        }
        if let Some(kind) = chrony::kind_of(line) {
            return (kind, format!("line {number} has the columns of chrony's {kind}.log"));
        }
        if let Some(kind) = ntp::kind_of(line) {
            return (kind, format!("line {number} has the columns of ntpd's {kind}"));
        }
    }
    let count = columns::first_count(head);
    let evidence = match count {
        2 => "two columns of numbers",
        1 => "one column of numbers",
        _ => "nothing else fits",
    };
    (Kind::Columns, evidence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_content() {
        for (head, kind) in [
            ("1.5e-9\n2.5e-9\n", Kind::Columns),
            ("# PHASE.DAT\n0.0\n", Kind::Columns),
            ("59000.00001 1e-9\n", Kind::Columns),
            ("", Kind::Columns),
            ("59000.5 x 1 2 3 4 5\n", Kind::Columns),
            (
                "# TICC\r\n12.345678901234 chA\r\n13.345678901234 chA\r\n14.345678901235 chA\r\n",
                Kind::TiccTimestamp,
            ),
            ("1.000000000012 chA\n0.999999999988 chA\n1.000000000003 chA\n", Kind::TiccPeriod),
            ("  0.000000012345 TI(A->B)\n", Kind::TiccInterval),
            (
                "trying PPS source \"/dev/pps0\"\nsource 0 - assert 1186592699.388832443, sequence: 364 - clear  0.000000000, sequence: 0\n",
                Kind::Ppstest,
            ),
            (
                "2009-11-30 14:33:27.000000 PPS2    7 N 1  4.900000e-07 -6.741777e-07  1.000e-06\n",
                Kind::Refclocks,
            ),
            (
                "2015-07-22 05:40:50 203.0.113.15     6.261e-03 -3.247e-03  2.220e-03  1.874e-06  1.080e-06 7.8e-02  16   0   8  0.00\n",
                Kind::Statistics,
            ),
            (
                "2017-08-22 13:22:36 203.0.113.15     2     -3.541      0.075 -8.621e-06 N            2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n",
                Kind::Tracking,
            ),
            (
                "48773 10847.650 127.127.4.1 9714 -0.001605376 0.000000000 0.001424877 0.000958674\n",
                Kind::Peerstats,
            ),
            ("49213 525.624 PPS(0) 93 0.000000226 0.0 0.000008 0.000001\n", Kind::Peerstats),
            ("50935 75440.031 0.000006019 13.778190 0.000351733 0.0133806 6\n", Kind::Loopstats),
            ("session,mode,class,gpst_ns,latency_ns\n", Kind::Edges),
        ] {
            assert_eq!(recognise(head.as_bytes()).0, kind, "{head}");
        }
    }
}
