//! The reader once it knows what it reads: lines to rows, rows to points.

use super::columns;
use super::decimal::Decimal;
use super::decoder::Decoder;
use super::error::SeriesError;
use super::grid::{Grid, Reading, Strictness, Told, in_seconds};
use super::kind::{Kind, recognise};
use super::lines::{LINE_MAX, Lines, Next};
use super::points::{Points, Value};
use super::reader::{Read, ReadOptions};
use super::row::{Line, Row, Tag};
use super::sources::Sources;
use super::trouble::{Class, Trouble};
use crate::series::{Input, LeftOut, Phase, Series, Tau0From};
use crate::units::PS_PER_S;

/// Values beyond this are no clock's, and their squares would leave f64.
const LARGEST: f64 = 1e100;

/// The reader once it knows what it reads.
#[derive(Debug)]
pub(super) struct Body {
    kind: Kind,
    evidence: String,
    options: ReadOptions,
    scale: i32,
    decoder: Decoder,
    lines: Lines,
    points: Points,
    grid: Option<Grid>,
    count: Count,
    sources: Sources,
    /// The sum of the periods so far.
    elapsed: i128,
}

/// What was counted.
#[derive(Debug, Default)]
struct Count {
    lines: u64,
    readings: u64,
    first_reading: u64,
    left_out: LeftOut,
    passed_over: Vec<(&'static str, u64)>,
    /// Empty lines since the last point: the first, and how many.
    blank: (u64, u64),
    /// Points without time tags that were left out.
    holes: u64,
}

impl Body {
    pub(super) fn new(options: ReadOptions, head: &[u8]) -> Result<Self, SeriesError> {
        let (kind, mut evidence) = match options.kind {
            Some(kind) => (kind, "--format".to_owned()),
            None => recognise(head),
        };
        if options.frequency && kind.frequency_of().is_none() {
            return Err(SeriesError::NoFrequency { kind });
        }
        let known = kind.scale(options.frequency);
        if known.is_some() && options.scale != 0 {
            return Err(SeriesError::UnitIsKnown { kind });
        }
        let (decoder, more) = Decoder::new(kind, &options, head)?;
        evidence.push_str(&more);
        Ok(Self {
            kind,
            evidence,
            scale: known.unwrap_or(options.scale),
            decoder,
            lines: Lines::default(),
            points: Points::new(options.frequency),
            grid: None,
            count: Count::default(),
            sources: Sources::new(options.source.clone()),
            elapsed: 0,
            options,
        })
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), SeriesError> {
        if self.count.lines == 0 && self.lines.is_between() {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        while !bytes.is_empty() {
            bytes = self.only_numbers(bytes)?;
            let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            let mut lines = std::mem::take(&mut self.lines);
            let pushed = lines.push(&bytes[..end], |next| self.next(next));
            self.lines = lines;
            pushed?;
            bytes = &bytes[end..];
        }
        Ok(())
    }

    /// Takes as many lines as are one number each, which is nearly all of most files, and returns the rest.
    fn only_numbers<'a>(&mut self, mut bytes: &'a [u8]) -> Result<&'a [u8], SeriesError> {
        let Decoder::Columns(columns) = &self.decoder else { return Ok(bytes) };
        if !columns.is_one() || !self.lines.is_between() || self.count.blank.1 > 0 {
            return Ok(bytes);
        }
        let before = self.points.len();
        while self.points.len() < self.options.most_points
            && let Some((value, length)) = columns::only_number(bytes)
        {
            // The line end is not of the line, and a number beyond any clock is refused elsewhere.
            if length > LINE_MAX || value.seconds(self.scale).abs() > LARGEST {
                break;
            }
            self.points.push_decimal(&value, self.scale);
            bytes = &bytes[length..];
        }
        let taken = (self.points.len() - before) as u64;
        self.count.lines += taken;
        self.count.readings += taken;
        Ok(bytes)
    }

    fn next(&mut self, next: Next<'_>) -> Result<(), SeriesError> {
        match next {
            Next::Skipped => Ok(()),
            Next::TooLong => {
                self.count.lines += 1;
                let what = format!("a line of more than {LINE_MAX} bytes");
                self.refuse(self.count.lines, Trouble::new(LINE_MAX, Class::TooLong, what))
            }
            Next::Line(line) => {
                self.count.lines += 1;
                self.line(line)
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), SeriesError> {
        let number = self.count.lines;
        let read = self.decoder.line(line, self.kind, self.options.frequency);
        match read {
            Ok(Line::Nothing) => Ok(()),
            Ok(Line::Blank) => {
                if self.count.blank.1 == 0 {
                    self.count.blank.0 = number;
                }
                self.count.blank.1 += 1;
                Ok(())
            }
            Ok(Line::PassedOver(what)) => {
                match self.count.passed_over.iter_mut().find(|(known, _)| *known == what) {
                    Some((_, count)) => *count += 1,
                    None => self.count.passed_over.push((what, 1)),
                }
                Ok(())
            }
            Ok(Line::Row(row)) => self.row(row),
            Err(trouble) => {
                self.blanks()?;
                self.refuse(number, trouble)
            }
        }
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), SeriesError> {
        let line = self.count.lines;
        self.blanks()?;
        let value = row.value.map(|value| Value::of(&value, self.scale));
        if let Some(value) = value.filter(|value| value.seconds.abs() > LARGEST) {
            let what = format!("{:e} is beyond any clock", value.seconds);
            return self.refuse(line, Trouble::new(row.at, Class::OutOfRange, what));
        }
        if !self.sources.is_read(row.source) {
            return Ok(());
        }
        self.count.readings += 1;
        if self.count.readings == 1 {
            self.count.first_reading = line;
        }
        match (row.tag, row.value) {
            (Some(tag), _) => self.place(line, row.at, tag, value),
            (None, Some(period)) if self.kind == Kind::TiccPeriod => self.period(line, row.at, &period),
            (None, Some(_)) => {
                self.check_room(line)?;
                self.points.push(value.unwrap_or(Value { picoseconds: None, seconds: f64::NAN }));
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// A period ends where the next begins: times from their sum.
    fn period(&mut self, line: u64, at: usize, period: &Decimal<'_>) -> Result<(), SeriesError> {
        let resolution = 1;
        if self.count.readings == 1 {
            self.place(line, at, Tag { at: 0, resolution }, None)?;
        }
        let written =
            period.rounded_picoseconds(0, 1).filter(|written| written.abs() < i128::MAX / 1_000_000_000_000);
        let Some(written) = written else {
            return self
                .refuse(line, Trouble::new(at, Class::OutOfRange, "no period that a counter measures"));
        };
        self.elapsed = self.elapsed.saturating_add(written);
        self.place(line, at, Tag { at: self.elapsed, resolution }, None)
    }

    fn place(&mut self, line: u64, at: usize, tag: Tag, value: Option<Value>) -> Result<(), SeriesError> {
        self.check_room(line)?;
        let strictness = match self.kind {
            kind if kind.is_stamps() => Strictness::Nominal,
            kind if kind.is_polled() => Strictness::Polls,
            _ => Strictness::Tags,
        };
        let tau0 = self.options.tau0.map(|tau0| tau0.0);
        let most = self.options.most_points;
        let grid = self.grid.get_or_insert_with(|| Grid::new(strictness, tau0, most));
        let (lenient, left_out) = (self.options.lenient, &mut self.count.left_out);
        let reading = Reading { line, at, tag, value };
        grid.take(reading, &mut self.points, &mut |line, trouble| forgive(lenient, left_out, line, trouble))
    }

    fn check_room(&self, line: u64) -> Result<(), SeriesError> {
        let most = self.options.most_points;
        if self.points.len() >= most { Err(SeriesError::TooMany { most, line }) } else { Ok(()) }
    }

    /// Empty lines between points, where each line should be a point.
    fn blanks(&mut self) -> Result<(), SeriesError> {
        let (first, count) = std::mem::take(&mut self.count.blank);
        if count == 0 || self.points.len() == 0 || !self.decoder.is_untagged(self.kind) {
            return Ok(());
        }
        for line in first..first + count {
            let what = "an empty line between points, where one may be missing";
            self.refuse(line, Trouble::new(0, Class::Blank, what))?;
        }
        Ok(())
    }

    /// A line that is wrong: an error, or left out and counted.
    fn refuse(&mut self, line: u64, trouble: Trouble) -> Result<(), SeriesError> {
        let untagged = self.decoder.is_untagged(self.kind);
        let unknowable = trouble.class == Class::NotFinite
            || self.kind == Kind::TiccPeriod && self.options.lenient && trouble.class != Class::Torn;
        if untagged && unknowable {
            return Err(SeriesError::Hole { line, column: trouble.column, what: trouble.what });
        }
        let torn = trouble.class == Class::Torn;
        forgive(self.options.lenient, &mut self.count.left_out, line, trouble)?;
        // The line was a point: those behind it keep their places.
        if untagged && !torn && self.points.len() > 0 {
            self.check_room(line)?;
            self.points.push_missing(1);
            self.count.holes += 1;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Read, SeriesError> {
        if let Some(torn) = self.lines.torn() {
            let column = torn.len();
            self.count.lines += 1;
            let what = "the last line has no line end: a log that is still written, or one that was cut";
            self.refuse(self.count.lines, Trouble::new(column, Class::Torn, what))?;
        }
        let (lenient, left_out) = (self.options.lenient, &mut self.count.left_out);
        let told = match self.grid.take() {
            Some(grid) => {
                let mut refuse = |line, trouble| forgive(lenient, left_out, line, trouble);
                Some(grid.finish(&mut self.points, &mut refuse)?)
            }
            None => None,
        };
        if let Some(Told { tau0, coarse: Some(digit), .. }) = told {
            return Err(SeriesError::CoarseTags { tau0_s: in_seconds(tau0), digit_s: in_seconds(digit) });
        }
        self.sources.check()?;
        let evidence = self.evidence.clone();
        let left_out = self.count.left_out.clone();
        if left_out.count() > self.count.readings {
            let points = self.count.readings;
            return Err(SeriesError::MostlyWrong { left_out, points, kind: self.kind, evidence });
        }
        match self.points.len() {
            0 => return Err(SeriesError::Empty { lines: self.count.lines, kind: self.kind, evidence }),
            1 if !self.options.frequency => {
                return Err(SeriesError::One { line: self.count.first_reading.max(1) });
            }
            points if points > self.options.most_points => {
                return Err(SeriesError::TooMany { most: self.options.most_points, line: self.count.lines });
            }
            _ => {}
        }
        self.series(told)
    }

    fn series(self, told: Option<Told>) -> Result<Read, SeriesError> {
        let tau0_from = match (self.options.tau0, told) {
            (Some(_), _) => Tau0From::Given,
            (None, Some(_)) => Tau0From::Tags,
            (None, None) => Tau0From::Assumed,
        };
        let tau0 = told.map_or(self.options.tau0.map_or(PS_PER_S, |tau0| tau0.0), |told| told.tau0);
        let tau0_s: f64 = in_seconds(tau0).parse().unwrap_or(f64::NAN);
        let missing = told.map_or(0, |told| told.missing) + self.count.holes;
        let first_gap_line = told.filter(|told| told.gaps > 0).map(|told| told.first_gap);
        if self.options.frequency && missing > 0 {
            let line = first_gap_line.unwrap_or(self.count.left_out.first_line);
            return Err(SeriesError::FrequencyGap { missing, line });
        }
        let whole_picoseconds = matches!(self.points, Points::Whole(_));
        let mut series = Series {
            phase: self.points.into_phase(),
            tau0_s,
            missing: usize::try_from(missing).unwrap_or(usize::MAX),
        };
        if self.options.frequency
            && let Phase::Seconds(frequencies) = &series.phase
        {
            series = Series::from_frequency(frequencies, tau0_s);
        }
        let read = self.sources.read;
        let mut others = self.sources.counted;
        let source = read.map(|read| others.remove(read).0).filter(|name| !name.is_empty());
        let mean =
            told.filter(|told| told.span.1 > 0).map(|told| told.span.0 as f64 / told.span.1 as f64 / 1e12);
        Ok(Read {
            series,
            input: Input {
                format: self.kind.name(),
                evidence: self.evidence,
                what: self
                    .kind
                    .frequency_of()
                    .filter(|_| self.options.frequency)
                    .unwrap_or(self.kind.phase_of()),
                frequency: self.options.frequency,
                lines: self.count.lines,
                readings: self.count.readings,
                tau0_from,
                tagged: told.is_some() && self.kind != Kind::TiccPeriod,
                tolerance_s: told.map(|told| told.tolerance as f64 / 1e12),
                mean_distance_s: mean.filter(|mean| (mean / tau0_s - 1.0).abs() > 1e-3),
                gaps: told.map_or(0, |told| told.gaps),
                first_gap_line,
                source,
                others,
                left_out: self.count.left_out,
                passed_over: self.count.passed_over,
                whole_picoseconds,
            },
        })
    }
}

fn forgive(lenient: bool, left_out: &mut LeftOut, line: u64, trouble: Trouble) -> Result<(), SeriesError> {
    let Trouble { column, class, what } = trouble;
    if !lenient {
        return Err(SeriesError::Line { line, column, class, what });
    }
    left_out.add(class.name(), line);
    Ok(())
}
