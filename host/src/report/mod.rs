//! What comes out of an analysis as text: the terminal table, the CSV files and the JSON object.

pub mod csv_files;
pub mod json;
pub mod listing;
pub mod terminal;

use crate::analysis::Analysis;
use crate::plan::RunRecord;

/// One line an edge.
pub const EDGES: &str = "edges.csv";
/// One line a figure.
pub const SUMMARY: &str = "summary.csv";
/// The same for machines.
pub const SUMMARY_JSON: &str = "summary.json";

/// The files that follow from a recording, by name and content.
#[must_use]
pub fn files(record: &RunRecord, analysis: &Analysis) -> [(&'static str, String); 3] {
    [
        (EDGES, csv_files::edges_csv(analysis)),
        (SUMMARY, csv_files::summary_csv(record, analysis)),
        (SUMMARY_JSON, json::summary_json(record, analysis)),
    ]
}
