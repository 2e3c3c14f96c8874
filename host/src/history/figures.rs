//! Reads summary.csv as the history keeps it: ten thousand of them in a moment, so no row owns a map.

use std::io::Read;

use crate::formats::foreign_text::csv_text;

/// Columns that are names, in the order of the table `figures`.
pub(super) const NAMES: [&str; 9] =
    ["measurement", "variant", "clock_id", "cores", "mode", "tie", "rate_hz", "metric", "unit"];
const NUMBERS: [&str; 6] = ["n", "sessions", "value", "ci95_low", "ci95_high", "u_systematic"];

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FigureRow {
    pub(super) names: [String; NAMES.len()],
    pub(super) n: i64,
    pub(super) sessions: i64,
    /// Value, interval, uncertainty.
    pub(super) numbers: [Option<f64>; 4],
    pub(super) verdict: String,
}

/// Reads it; columns are found by name.
pub(super) fn read(from: impl Read) -> Result<Vec<FigureRow>, String> {
    let mut reader = csv::Reader::from_reader(from);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let find = |name: &str| {
        header.iter().position(|column| column == name).ok_or_else(|| format!("no column `{name}`"))
    };
    let mut names = [0; NAMES.len()];
    for (place, name) in names.iter_mut().zip(NAMES) {
        *place = find(name)?;
    }
    let mut numbers = [0; NUMBERS.len()];
    for (place, name) in numbers.iter_mut().zip(NUMBERS) {
        *place = find(name)?;
    }
    let verdict = find("verdict")?;
    let (mut rows, mut record) = (Vec::new(), csv::StringRecord::new());
    while reader.read_record(&mut record).map_err(|error| error.to_string())? {
        let line = record.position().map_or(0, csv::Position::line);
        let field = |index: usize| record.get(index).unwrap_or_default();
        let fault = |index: usize| format!("line {line}, column {}: no number", &header[index]);
        let count = |index: usize| field(index).parse::<i64>().map_err(|_| fault(index));
        let number = |index: usize| match field(index) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(fault(index)),
            },
        };
        let [n, sessions, value, low, high, u] = numbers;
        rows.push(FigureRow {
            names: names.map(|index| csv_text(field(index)).to_owned()),
            n: count(n)?,
            sessions: count(sessions)?,
            numbers: [number(value)?, number(low)?, number(high)?, number(u)?],
            verdict: csv_text(field(verdict)).to_owned(),
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "measurement,variant,clock_id,cores,mode,tie,rate_hz,emulated,metric,unit,n,sessions,\
                          value,ci95_low,ci95_high,u_systematic,verdict\n";

    #[test]
    fn unknown_stays_unknown() {
        let rows =
            read(format!("{HEADER}path,inline,realtime,1,,,,true,mean,ns,5,1,7.5,,,0.1,passed\n").as_bytes());
        let rows = rows.expect("it is one");
        assert_eq!(rows[0].numbers, [Some(7.5), None, None, Some(0.1)]);
        assert_eq!((rows[0].names[8].as_str(), rows[0].n), ("ns", 5));
    }

    #[test]
    fn faults_name_line_and_column() {
        let bad = format!("{HEADER}path,inline,realtime,1,,,,true,mean,ns,x,1,7.5,,,0.1,passed\n");
        assert_eq!(read(bad.as_bytes()), Err("line 2, column n: no number".to_owned()));
        let infinite = bad.replace(",x,1,7.5", ",1,1,inf");
        assert_eq!(read(infinite.as_bytes()), Err("line 2, column value: no number".to_owned()));
        assert!(read(&b""[..]).expect_err("no header").contains("measurement"));
    }
}
