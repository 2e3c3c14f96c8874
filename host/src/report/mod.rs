//! What comes out of an analysis as text: the terminal table, the CSV files and the JSON object.

pub mod compare;
pub mod csv_files;
pub mod json;
pub mod listing;
mod measured_json;
pub mod no_record;
pub mod samples;
pub mod stability;
pub mod terminal;

use crate::analysis::Analysis;
use crate::plan::RunRecord;

/// One line an edge.
pub const EDGES: &str = "edges.csv";
/// One line for each difference that a batch of `path` saw.
pub const SAMPLES: &str = "samples.csv";
/// One line a pair of `path`.
pub const PAIRS: &str = "pairs.csv";
/// One line a figure.
pub const SUMMARY: &str = "summary.csv";
/// The same for machines.
pub const SUMMARY_JSON: &str = "summary.json";

/// The files that follow from a recording, by name and content; summary.json is the last one.
#[must_use]
pub fn files(record: &RunRecord, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let content = |name| match name {
        EDGES => analysis.edge.as_ref().map(csv_files::edges_csv),
        SAMPLES => analysis.path.as_ref().map(samples::samples_csv),
        PAIRS => analysis.path.as_ref().map(samples::pairs_csv),
        SUMMARY => Some(csv_files::summary_csv(record, analysis)),
        _ => Some(json::summary_json(record, analysis)),
    };
    names(record, analysis).into_iter().filter_map(|name| Some((name, content(name)?))).collect()
}

/// Their names.
#[must_use]
pub fn names(record: &RunRecord, analysis: &Analysis) -> Vec<&'static str> {
    let pairs = record.plan.path.as_ref().is_some_and(|path| path.raw_pairs);
    let wanted = [
        (EDGES, analysis.edge.is_some()),
        (SAMPLES, analysis.path.is_some()),
        (PAIRS, analysis.path.is_some() && pairs),
        (SUMMARY, true),
        (SUMMARY_JSON, true),
    ];
    wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Sources that make the reports of `run` and `replay`.
    const OF_A_RUN: [&str; 11] = [
        "mod.rs",
        "csv_files.rs",
        "json.rs",
        "measured_json.rs",
        "no_record.rs",
        "samples.rs",
        "listing.rs",
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
            let unquoted = |line: &str| line.split('"').step_by(2).collect::<String>();
            let computing =
                lines.filter(|(_, line)| COMPUTES.iter().any(|what| unquoted(line).contains(what)));
            found.extend(computing.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
        }
        assert_eq!(found, Vec::<String>::new());
    }
}
