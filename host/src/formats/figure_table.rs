//! Plain tables of figures without spread, as published ones come: a name and a value a line, CSV or Markdown.
//!
//! CSV: `name,value`, and a unit where a header line names that column. Markdown: the same between bars. Lines that
//! begin with `#` are comments. A value is a number with a decimal point, and may have its unit behind a space. What
//! could be a decimal comma is refused, never guessed at; so is a number in place of a name, as in a series of readings.

use std::collections::BTreeSet;

use thiserror::Error;

/// The largest figure: beyond it not every digit that is printed would be one of the value.
pub const LARGEST: f64 = 1e15;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// Its name.
    pub name: String,
    /// Its value, [`LARGEST`] at most.
    pub value: f64,
    /// Its unit; empty if none is given.
    pub unit: String,
}

/// Why a table is refused. The caller knows the file's name and puts it in front.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// no text
    #[error("byte {0}: this is no text")]
    NotText(usize),
    /// no figure
    #[error(
        "no figure in it; a table has a name and a value a line: `indirect,49.9`, or `| indirect | 49.9 |`"
    )]
    Empty,
    /// a line
    #[error("line {line}: {fault}")]
    Line {
        /// Counts from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
}

/// What a table holds, and how many lines with faults were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureTable {
    /// In its order.
    pub figures: Vec<NamedFigure>,
    /// Lines that were left out, by number.
    pub left_out: Vec<usize>,
}

/// Where name, value and unit stand.
#[derive(Clone, Copy, Debug)]
struct Columns {
    name: usize,
    value: usize,
    unit: Option<usize>,
    count: usize,
}

/// Reads a table. With `lenient`, lines with faults are left out.
///
/// # Errors
/// [`TableError`], naming the line.
pub fn parse(bytes: &[u8], lenient: bool) -> Result<FigureTable, TableError> {
    let text = std::str::from_utf8(bytes).map_err(|error| TableError::NotText(error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut columns = None;
    let (mut table, mut seen) = (FigureTable::default(), BTreeSet::new());
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let cells = cells(content);
        if cells.iter().all(|cell| is_rule(cell)) {
            continue;
        }
        if columns.is_none() {
            let header = header(&cells);
            columns = Some(header.unwrap_or(Columns { name: 0, value: 1, unit: None, count: 2 }));
            if header.is_some() {
                continue;
            }
        }
        let Some(columns) = columns else { continue };
        let figure = figure(&cells, columns).and_then(|figure| match seen.insert(figure.name.clone()) {
            true => Ok(figure),
            false => Err(format!("`{}` is there twice", figure.name)),
        });
        match figure {
            Ok(figure) => table.figures.push(figure),
            Err(_) if lenient => table.left_out.push(line),
            Err(fault) => return Err(TableError::Line { line, fault }),
        }
    }
    if table.figures.is_empty() { Err(TableError::Empty) } else { Ok(table) }
}

fn cells(line: &str) -> Vec<String> {
    let bare = |cell: &str| cell.trim().trim_matches('`').trim().to_owned();
    match line.strip_prefix('|') {
        Some(row) => row.strip_suffix('|').unwrap_or(row).split('|').map(bare).collect(),
        None => {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
            record.iter().map(bare).collect()
        }
    }
}

/// A cell of the line between a Markdown table's head and its body.
fn is_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

/// The columns, if this is a header: a line of words whose second one is no value.
fn header(cells: &[String]) -> Option<Columns> {
    let is_word = |cell: &String| !cell.is_empty() && !cell.chars().any(|c| c.is_ascii_digit());
    let unnamed = ["nan", "inf", "infinity", "-inf", "-nan"];
    let no_value = |cell: &String| !unnamed.contains(&cell.to_lowercase().as_str());
    if cells.len() < 2 || !cells.iter().all(|cell| is_word(cell) && no_value(cell)) {
        return None;
    }
    let place = |wanted: &str| cells.iter().position(|cell| cell.eq_ignore_ascii_case(wanted));
    let (name, unit) = (place("name").unwrap_or(0), place("unit"));
    let value = place("value").unwrap_or(if name == 0 { 1 } else { 0 });
    Some(Columns { name, value, unit, count: cells.len() })
}

fn figure(cells: &[String], columns: Columns) -> Result<NamedFigure, String> {
    if cells.len() != columns.count {
        return Err(format!(
            "{} fields where there should be {}; decimals are written with a point, thousands are not separated",
            cells.len(),
            columns.count
        ));
    }
    let (name, value) = (&cells[columns.name], &cells[columns.value]);
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    if name.parse::<f64>().is_ok() {
        return Err(format!(
            "`{name}` (column {}) is a number where a name belongs; `ppsrig stability` reads series",
            columns.name + 1
        ));
    }
    let (number, behind) = value.split_once(' ').unwrap_or((value, ""));
    let unit = columns.unit.map_or(behind, |unit| &cells[unit]).trim().to_owned();
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    let parsed = number.parse::<f64>().ok().filter(|value| plain && value.is_finite());
    match parsed {
        Some(value) if value.abs() > LARGEST => Err(format!(
            "`{value:e}` (column {}) is too large; the largest is {LARGEST:e}",
            columns.value + 1
        )),
        Some(value) => Ok(NamedFigure { name: name.clone(), value, unit }),
        None => Err(format!(
            "`{value}` is no number (column {}); decimals are written with a point, thousands are not separated",
            columns.value + 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(text: &str) -> Vec<(String, f64, String)> {
        let table = parse(text.as_bytes(), false).unwrap();
        table.figures.into_iter().map(|one| (one.name, one.value, one.unit)).collect()
    }

    fn fault(text: &str) -> String {
        parse(text.as_bytes(), false).unwrap_err().to_string()
    }

    #[test]
    fn csv_and_markdown_say_the_same() {
        let wanted = vec![
            ("path indirect".to_owned(), 49.9, "ns".to_owned()),
            ("path inline".to_owned(), 41.2, "ns".to_owned()),
        ];
        assert_eq!(
            figures("# source\nname,value,unit\npath indirect,49.9,ns\npath inline,41.2,ns\n"),
            wanted
        );
        assert_eq!(
            figures("| build | mean |\n|---|---:|\n| path indirect | 49.9 ns |\n| `path inline` | 41.2 ns |"),
            wanted
        );
        assert_eq!(figures("\u{feff}\"path indirect\",49.9 ns\r\npath inline,4.12e1 ns\r\n"), wanted);
    }

    #[test]
    fn a_decimal_comma_and_what_is_no_number_are_refused_with_their_line() {
        assert!(fault("a,1\nb,49,9\n").starts_with("line 2: 3 fields where there should be 2"));
        assert!(fault("| a | 49,9 |\n").contains("`49,9` is no number"));
        for value in ["NaN", "inf", "1e999", "0x10", "", "- 1", "١"] {
            assert!(fault(&format!("a,1\nb,{value}\n")).starts_with("line 2: "), "{value}");
        }
        assert!(fault("a,nan\n").starts_with("line 1: `nan` is no number"), "{}", fault("a,nan\n"));
        assert!(fault("a,1\na,2\n").contains("`a` is there twice"));
        assert!(fault(",1\n").contains("the name is empty"));
    }

    #[test]
    fn nothing_is_no_table() {
        for text in ["", "\n\n", "# only this\n", "name,value\n", "|---|---|\n"] {
            assert_eq!(parse(text.as_bytes(), false), Err(TableError::Empty), "{text:?}");
        }
        assert_eq!(parse(b"a,\xff", false), Err(TableError::NotText(2)));
    }

    #[test]
    fn leniently_lines_with_faults_are_counted() {
        let table = parse(b"a,1\nb,x1\nc,3\n", true).unwrap();
        assert_eq!((table.figures.len(), table.left_out), (2, vec![2]));
    }

    proptest::proptest! {
        #[test]
        fn whatever_it_is_it_ends_in_figures_or_an_error(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            if let Ok(table) = parse(&bytes, true) {
                proptest::prop_assert!(table.figures.iter().all(|one| one.value.is_finite() && !one.name.is_empty()));
            }
        }
    }
}
