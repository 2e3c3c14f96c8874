//! Our own edges.csv (results/README.md): `latency_ns` against `gpst_ns`. Columns may stand in any order; those that are not
//! read may be there or not. A row without a latency was not paired, and is passed over: its time tag shows the gap. Each
//! session and mode is a source of its own, since a board that booted anew has another clock.

use super::row::{Line, Row, Tag};
use super::trouble::{Class, Trouble, number, shown};

/// Columns beyond this are not looked for.
const COLUMNS_MAX: usize = 64;

/// Where the columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    count: usize,
    gpst: usize,
    latency: usize,
    session: Option<usize>,
    mode: Option<usize>,
}

/// Reads the lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    places: Option<Places>,
}

/// Whether a line is the heading of such a file.
pub(super) fn is_heading(line: &[u8]) -> bool {
    places(line).is_some()
}

fn places(line: &[u8]) -> Option<Places> {
    let (cells, count) = cells(line).ok()?;
    let cells = &cells[..count];
    let place = |name: &[u8]| cells.iter().position(|(_, cell)| *cell == name);
    let (gpst, latency) = (place(b"gpst_ns")?, place(b"latency_ns")?);
    Some(Places { count, gpst, latency, session: place(b"session"), mode: place(b"mode") })
}

impl Edges {
    pub(super) fn line<'a>(&mut self, line: &'a [u8]) -> Result<Line<'a>, Trouble> {
        if line.is_empty() {
            return Ok(Line::Blank);
        }
        let Some(places) = self.places else {
            self.places = places(line);
            return match self.places {
                Some(_) => Ok(Line::Nothing),
                None => Err(Trouble::new(0, Class::Columns, "no heading with gpst_ns and latency_ns")),
            };
        };
        let (cells, count) = cells(line)?;
        if count != places.count {
            let what = format!("{count} columns where the heading has {}", places.count);
            return Err(Trouble::new(0, Class::Columns, what));
        }
        let (at, latency) = cells[places.latency];
        if latency.is_empty() {
            return Ok(Line::PassedOver("edges without a latency"));
        }
        let (tag_at, gpst) = cells[places.gpst];
        let nanoseconds: i64 =
            std::str::from_utf8(gpst).ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
                Trouble::new(
                    tag_at,
                    Class::NoNumber,
                    format!("{} is no whole number of nanoseconds", shown(gpst)),
                )
            })?;
        let tag = Tag { at: i128::from(nanoseconds) * 1000, resolution: 1000 };
        let part = |place: Option<usize>| place.map_or(&b""[..], |place| cells[place].1);
        let source = (part(places.session), part(places.mode));
        Ok(Line::Row(Row { source, tag: Some(tag), value: Some(number(latency, at)?), at }))
    }
}

type Cells<'a> = ([(usize, &'a [u8]); COLUMNS_MAX], usize);

/// The cells of a line. Quotes around a cell are taken off; a quote inside one stays doubled, since no such cell is read.
fn cells(line: &[u8]) -> Result<Cells<'_>, Trouble> {
    let mut found: [(usize, &[u8]); COLUMNS_MAX] = [(0, b""); COLUMNS_MAX];
    let (mut count, mut at) = (0, 0);
    loop {
        let mut quoted = line.get(at) == Some(&b'"');
        let start = at + usize::from(quoted);
        at = start;
        let mut end = None;
        while let Some(byte) = line.get(at) {
            match byte {
                b'"' if quoted && line.get(at + 1) == Some(&b'"') => at += 1,
                b'"' if quoted => {
                    end = Some(at);
                    quoted = false;
                }
                b',' if !quoted => break,
                _ => {}
            }
            at += 1;
        }
        if quoted {
            return Err(Trouble::new(start - 1, Class::Columns, "a quote that is not closed"));
        }
        if count == COLUMNS_MAX {
            return Err(Trouble::new(start, Class::Columns, format!("more than {COLUMNS_MAX} columns")));
        }
        found[count] = (start, &line[start..end.unwrap_or(at).min(line.len())]);
        count += 1;
        if at >= line.len() {
            return Ok((found, count));
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_found_by_their_heading() {
        let mut edges = Edges::default();
        assert_eq!(edges.line(b"mode,reason,latency_ns,gpst_ns"), Ok(Line::Nothing));
        let Ok(Line::Row(row)) =
            edges.line(b"irq,\"nearest, within a \"\"quarter\"\"\",479412.335,1480100591000000000")
        else {
            panic!("no row")
        };
        assert_eq!(row.tag, Some(Tag { at: 1_480_100_591_000_000_000_000, resolution: 1000 }));
        assert_eq!(row.value.unwrap().picoseconds(-9), Some(479_412_335));
        assert_eq!(
            edges.line(b"irq,missed,,1480100591000000000"),
            Ok(Line::PassedOver("edges without a latency"))
        );
        for (line, class) in [
            (&b"irq,x,1.5"[..], Class::Columns),
            (b"irq,\"x,1.5,1", Class::Columns),
            (b"irq,x,1.5,1.5", Class::NoNumber),
            (b"irq,x,nan,1", Class::NotFinite),
        ] {
            assert_eq!(edges.line(line).map_err(|trouble| trouble.class), Err(class));
        }
    }

    #[test]
    fn a_file_without_the_heading_is_refused() {
        assert!(Edges::default().line(b"1,2,3").is_err());
    }
}
