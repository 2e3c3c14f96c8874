//! What comes out of an analysis as text: the terminal table, the CSV files and the JSON object.

pub mod compare;
pub mod csv_files;
pub mod history;
pub mod html;
pub mod json;
pub mod junit;
pub mod listing;
pub mod markdown;
mod measured_json;
pub mod metrics;
pub mod night;
pub mod no_record;
pub mod samples;
pub mod stability;
pub mod terminal;

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::formats::spool::Header;
use crate::plan::RunRecord;

/// One line an edge.
pub const EDGES: &str = "edges.csv";
/// One line for each difference that a batch of `path` saw.
pub const SAMPLES: &str = "samples.csv";
/// One line a pair of `path`.
pub const PAIRS: &str = "pairs.csv";
/// The same pairs, binary.
pub const PAIRS_SPOOL: &str = "pairs.spool";
/// One line a figure.
pub const SUMMARY: &str = "summary.csv";
/// A case for each measurement, build and limit, for CI.
pub const JUNIT: &str = "junit.xml";
/// The same for machines.
pub const SUMMARY_JSON: &str = "summary.json";
/// The same for people.
pub const REPORT: &str = "report.html";

/// Writes the content of a file.
type Content<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// One file that follows from a recording. It is made while it is written, so that a large one is never in memory.
pub struct Output<'a> {
    /// Its name.
    pub name: &'static str,
    content: Box<Content<'a>>,
}

impl<'a> Output<'a> {
    fn new(name: &'static str, content: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Self {
        Self { name, content: Box::new(content) }
    }

    pub(crate) fn text(name: &'static str, text: impl Fn() -> String + 'a) -> Self {
        Self::new(name, move |to| to.write_all(text().as_bytes()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        (self.content)(to)
    }
}

/// The files that follow from a recording; summary.json is the last one.
#[must_use]
pub fn files<'a>(record: &'a RunRecord, analysis: &'a Analysis) -> Vec<Output<'a>> {
    let mut files = Vec::new();
    files.extend(analysis.edge.as_ref().map(|edge| Output::text(EDGES, || csv_files::edges_csv(edge))));
    if let Some(path) = &analysis.path {
        files.push(Output::text(SAMPLES, || samples::samples_csv(path)));
        if record.plan.path.as_ref().is_some_and(|plan| plan.raw_pairs) {
            let header =
                Header { counter_hz: Some(record.bench.board.counter_hz), emulated: analysis.emulated };
            files.push(Output::new(PAIRS, |to| samples::pairs_csv(path, to)));
            files.push(Output::new(PAIRS_SPOOL, move |to| samples::pairs_spool(path, header, to)));
        }
    }
    files.push(Output::text(SUMMARY, || csv_files::summary_csv(record, analysis)));
    files.push(Output::text(JUNIT, || junit::run(record, analysis)));
    files.push(Output::text(REPORT, || html::run(record, analysis)));
    files.push(Output::text(SUMMARY_JSON, || json::summary_json(record, analysis)));
    files
}

/// Their names.
#[must_use]
pub fn names(record: &RunRecord, analysis: &Analysis) -> Vec<&'static str> {
    files(record, analysis).iter().map(|file| file.name).collect()
}

/// The files that are text, for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Output, PAIRS_SPOOL, files};
    use crate::analysis::Analysis;
    use crate::plan::RunRecord;

    /// By name and content.
    pub(crate) fn texts(record: &RunRecord, analysis: &Analysis) -> Vec<(&'static str, String)> {
        let text = |file: &Output<'_>| {
            let mut bytes = Vec::new();
            file.write(&mut bytes).expect("memory takes everything");
            (file.name, String::from_utf8(bytes).expect("it is text"))
        };
        files(record, analysis).iter().filter(|file| file.name != PAIRS_SPOOL).map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Sources that make the reports of `run`, `replay` and nights.
    const OF_A_RUN: [&str; 27] = [
        "mod.rs",
        "csv_files.rs",
        "json.rs",
        "measured_json.rs",
        "no_record.rs",
        "samples.rs",
        "listing.rs",
        "junit/mod.rs",
        "junit/run.rs",
        "junit/night.rs",
        "markdown.rs",
        "metrics.rs",
        "night/mod.rs",
        "night/csv.rs",
        "night/json.rs",
        "night/words.rs",
        "html/page.rs",
        "html/night.rs",
        "html/run/mod.rs",
        "html/run/edge.rs",
        "html/run/figures.rs",
        "html/run/path.rs",
        "html/run/worst.rs",
        "terminal/mod.rs",
        "terminal/edge.rs",
        "terminal/path.rs",
        "terminal/ctime.rs",
    ];
    /// What computes: numbers that are not whole, and operators between numbers. `+` and `-` also join texts and count
    /// columns, so they are not among it.
    const COMPUTES: [&str; 12] = [
        "f64",
        "f32",
        " / ",
        " * ",
        " % ",
        ".sqrt(",
        ".powi(",
        ".abs()",
        ".sum(",
        ".sum::<",
        " as i128",
        "u128::from(",
    ];

    /// The rule: a report formats and rounds what `analysis` computed.
    #[test]
    fn reports_have_no_arithmetic_of_their_own() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report");
        let mut found = Vec::new();
        for name in OF_A_RUN {
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            // A number that a library wants as f64 is not computed with.
            let unquoted =
                |line: &str| line.replace(".to_f64()", "").split('"').step_by(2).collect::<String>();
            let computing =
                lines.filter(|(_, line)| COMPUTES.iter().any(|what| unquoted(line).contains(what)));
            found.extend(computing.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
        }
        assert_eq!(found, Vec::<String>::new());
    }
}
