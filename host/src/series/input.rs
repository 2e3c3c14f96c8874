//! Where a series comes from, and what its reader noticed: plain data, which the report shows.

use std::fmt;

/// Where tau0 comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tau0From {
    /// It was given.
    Given,
    /// The commonest distance of the time tags.
    Tags,
    /// Nothing says it: one second.
    Assumed,
}

impl Tau0From {
    /// As it is written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Tags => "tags",
            Self::Assumed => "assumed",
        }
    }
}

/// What a file held besides its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The format that it was read as.
    pub format: &'static str,
    /// What says so; `--format` if it was given.
    pub evidence: String,
    /// What of it was read.
    pub what: &'static str,
    /// Whether that is frequency, from which the phase was added up.
    pub frequency: bool,
    /// How many lines.
    pub lines: u64,
    /// How many readings.
    pub readings: u64,
    /// Where tau0 comes from.
    pub tau0_from: Tau0From,
    /// Whether there are time tags, so that gaps can be seen.
    pub tagged: bool,
    /// How far a tag may lie from the grid, in seconds.
    pub tolerance_s: Option<f64>,
    /// The mean distance of two points in seconds, where it differs from tau0 by more than a thousandth.
    pub mean_distance_s: Option<f64>,
    /// In how many gaps points are missing.
    pub gaps: u64,
    /// The line after the first gap.
    pub first_gap_line: Option<u64>,
    /// The source that was read, if the file names any.
    pub source: Option<String>,
    /// Other sources, with their readings.
    pub others: Vec<(String, u64)>,
    /// Lines that were left out.
    pub left_out: LeftOut,
    /// Records of another kind: what, and how many.
    pub passed_over: Vec<(&'static str, u64)>,
    /// Whether all values are whole picoseconds.
    pub whole_picoseconds: bool,
}

/// Lines that were left out because the reader was told to be lenient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many of each class, in the order of their first lines.
    pub classes: Vec<(&'static str, u64)>,
    /// The first of these lines, from 1.
    pub first_line: u64,
}

impl LeftOut {
    /// How many in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|(_, count)| count).sum()
    }

    /// Counts a line.
    pub fn add(&mut self, class: &'static str, line: u64) {
        if self.classes.is_empty() || line < self.first_line {
            self.first_line = line;
        }
        match self.classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, count)) => *count += 1,
            None => self.classes.push((class, 1)),
        }
    }
}

/// "3 lines left out: 2 decimal comma, 1 torn, first at line 17".
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        let classes: Vec<_> = self.classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
        let lines = if count == 1 { "line" } else { "lines" };
        write!(f, "{count} {lines} left out: {}, first at line {}", classes.join(", "), self.first_line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_by_class() {
        let mut left_out = LeftOut::default();
        left_out.add("decimal comma", 17);
        left_out.add("decimal comma", 19);
        left_out.add("torn", 400);
        assert_eq!(left_out.to_string(), "3 lines left out: 2 decimal comma, 1 torn, first at line 17");
    }
}
