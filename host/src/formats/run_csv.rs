//! Reads back edges.csv and summary.csv of a run bundle, whose columns results/README.md describes. Columns are found by
//! name, so that a file with more of them, or in another order, is read as well.

use std::collections::BTreeMap;
use std::io::Read;

use thiserror::Error;

use super::foreign_text::csv_text;

/// Why a file is refused. The caller knows its name and puts it in front.
#[derive(Debug, Error)]
pub enum RunCsvError {
    /// no line
    #[error("the file is empty; its first line must name the columns")]
    Empty,
    /// a column
    #[error("line 1: no column `{0}`")]
    NoColumn(&'static str),
    /// a field
    #[error("line {line}, column {column}: `{shown}` is {fault}")]
    Field {
        /// Counts from 1, the header included.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What stands there.
        shown: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// a line
    #[error("line {line}: {have} fields where the header has {need}; was the file cut?")]
    Length {
        /// Counts from 1, the header included.
        line: u64,
        /// Fields that it has.
        have: u64,
        /// Fields that it should have.
        need: u64,
    },
    /// anything else that the CSV reader says
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// A latency of edges.csv.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeLatency {
    /// The session.
    pub session: u32,
    /// `irq` or `poll`.
    pub mode: String,
    /// `echo` or `bracket`.
    pub tie: String,
    /// In picoseconds.
    pub ps: i128,
}

/// A figure of summary.csv, as far as a comparison needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// By column: measurement, variant, clock_id, cores, mode, tie, rate_hz, emulated, metric, verdict.
    pub names: BTreeMap<&'static str, String>,
    /// Reads, edges or operations.
    pub n: u64,
    /// Sessions behind it.
    pub sessions: u64,
    /// The value.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Its systematic uncertainty.
    pub uncertainty: Option<f64>,
}

/// What was read, and the numbers of lines that were left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<T> {
    /// In the order of the file.
    pub rows: Vec<T>,
    /// Lines with faults, with `lenient`.
    pub left_out: Vec<u64>,
}

/// Columns of summary.csv that are names.
const NAMES: [&str; 10] = [
    "measurement",
    "variant",
    "clock_id",
    "cores",
    "mode",
    "tie",
    "rate_hz",
    "emulated",
    "metric",
    "verdict",
];

/// Reads the latencies of edges.csv; edges without one are passed over.
///
/// # Errors
/// [`RunCsvError`], naming line and column.
pub fn edges(from: impl Read, lenient: bool) -> Result<Rows<EdgeLatency>, RunCsvError> {
    read(from, lenient, ["session", "mode", "tie", "latency_ns"], |line| {
        let [session, mode, tie, latency] = line.fields;
        if latency.is_empty() {
            return Ok(None);
        }
        let known = |column, text: &str, names: [&str; 2]| match names.contains(&text) {
            true => Ok(text.to_owned()),
            false => Err(line.fault(column, text, "no name that it can have")),
        };
        Ok(Some(EdgeLatency {
            session: session.parse().map_err(|_| line.fault("session", session, "no session number"))?,
            mode: known("mode", mode, ["irq", "poll"])?,
            tie: known("tie", tie, ["echo", "bracket"])?,
            ps: picoseconds(latency).ok_or_else(|| {
                line.fault("latency_ns", latency, "no time in nanoseconds with three places")
            })?,
        }))
    })
}

/// Reads summary.csv.
///
/// # Errors
/// [`RunCsvError`], naming line and column.
pub fn summary(from: impl Read, lenient: bool) -> Result<Rows<SummaryRow>, RunCsvError> {
    let columns = [
        NAMES[0],
        NAMES[1],
        NAMES[2],
        NAMES[3],
        NAMES[4],
        NAMES[5],
        NAMES[6],
        NAMES[7],
        NAMES[8],
        NAMES[9],
        "n",
        "sessions",
        "value",
        "ci95_low",
        "ci95_high",
        "u_systematic",
    ];
    read(from, lenient, columns, |line| {
        let whole =
            |column, text: &str| text.parse::<u64>().map_err(|_| line.fault(column, text, "no whole number"));
        let number = |column, text: &str| match text.parse::<f64>() {
            _ if text.is_empty() => Ok(None),
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(line.fault(column, text, "no finite number with a decimal point")),
        };
        let [.., n, sessions, value, low, high, uncertainty] = line.fields;
        let (low, high) = (number("ci95_low", low)?, number("ci95_high", high)?);
        Ok(Some(SummaryRow {
            names: NAMES.into_iter().zip(line.fields.map(csv_text)).map(owned).collect(),
            n: whole("n", n)?,
            sessions: whole("sessions", sessions)?,
            value: number("value", value)?,
            interval: low.zip(high),
            uncertainty: number("u_systematic", uncertainty)?,
        }))
    })
}

fn owned((name, text): (&'static str, &str)) -> (&'static str, String) {
    (name, text.to_owned())
}

struct Line<'a, const N: usize> {
    number: u64,
    fields: [&'a str; N],
}

impl<const N: usize> Line<'_, N> {
    fn fault(&self, column: &'static str, shown: &str, fault: &'static str) -> RunCsvError {
        let shown = shown.chars().take(40).collect();
        RunCsvError::Field { line: self.number, column, shown, fault }
    }
}

fn read<T, const N: usize>(
    from: impl Read,
    lenient: bool,
    columns: [&'static str; N],
    row: impl Fn(&Line<'_, N>) -> Result<Option<T>, RunCsvError>,
) -> Result<Rows<T>, RunCsvError> {
    let mut reader = csv::Reader::from_reader(from);
    let header = reader.headers()?.clone();
    if header.is_empty() {
        return Err(RunCsvError::Empty);
    }
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        let found = header.iter().position(|name| name == column);
        *place = found.ok_or(RunCsvError::NoColumn(column))?;
    }
    let mut rows = Rows { rows: Vec::new(), left_out: Vec::new() };
    for record in reader.records() {
        let one = record.map_err(cut).and_then(|record| {
            let number = record.position().map_or(0, csv::Position::line);
            row(&Line { number, fields: places.map(|place| record.get(place).unwrap_or_default()) })
        });
        match one {
            Ok(one) => rows.rows.extend(one),
            Err(RunCsvError::Field { line, .. } | RunCsvError::Length { line, .. }) if lenient => {
                rows.left_out.push(line);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(rows)
}

fn cut(error: csv::Error) -> RunCsvError {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => RunCsvError::Length {
            line: pos.as_ref().map_or(0, csv::Position::line),
            have: *len,
            need: *expected_len,
        },
        _ => RunCsvError::Csv(error),
    }
}

/// Nanoseconds with three places, as picoseconds.
fn picoseconds(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let good = is_number(whole) && is_number(part) && part.len() == 3 && whole.len() <= 24;
    let digits = good.then(|| format!("{whole}{part}"))?;
    Some(sign * digits.parse::<i128>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: &str = "session,mode,class,tie,latency_ns\n";

    #[test]
    fn latencies_are_whole_picoseconds() {
        let text =
            format!("{EDGES}1,poll,paired,echo,-14994.091\n1,irq,missed,,\n2,irq,paired,bracket,0.005\n");
        let rows = edges(text.as_bytes(), false).unwrap().rows;
        let short: Vec<_> = rows.iter().map(|row| (row.session, row.mode.as_str(), row.ps)).collect();
        assert_eq!(short, [(1, "poll", -14_994_091), (2, "irq", 5)]);
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        let fault = |row: &str| edges(format!("{EDGES}{row}\n").as_bytes(), false).unwrap_err().to_string();
        for latency in ["NaN", "1", "1.5", "1,5", "1.0000", "+1.000", "1e3", ".123", "1.٠٠٠"] {
            let told = fault(&format!("1,irq,paired,echo,\"{latency}\""));
            assert!(told.starts_with("line 2, column latency_ns: "), "{latency}: {told}");
        }
        assert!(fault("x,irq,paired,echo,1.000").contains("column session"));
        assert!(fault("1,both,paired,echo,1.000").contains("column mode"));
        assert_eq!(fault("1,irq,paired"), "line 2: 3 fields where the header has 5; was the file cut?");
        assert!(
            edges("a,b\n1,2\n".as_bytes(), false).unwrap_err().to_string().contains("no column `session`")
        );
        assert!(matches!(edges("".as_bytes(), false), Err(RunCsvError::Empty)));
        let lenient =
            edges(format!("{EDGES}1,irq,paired,echo,x\n1,irq,paired,echo,1.000\n").as_bytes(), true).unwrap();
        assert_eq!((lenient.rows.len(), lenient.left_out), (1, vec![2]));
    }

    proptest::proptest! {
        #[test]
        fn whatever_follows_the_header_ends_in_rows_or_an_error(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let file = [EDGES.as_bytes(), &bytes].concat();
            for lenient in [false, true] {
                let _either = edges(file.as_slice(), lenient);
                let _either = summary(file.as_slice(), lenient);
            }
        }
    }
}
