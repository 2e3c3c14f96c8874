//! What comes out of an analysis as text: the terminal table, the CSV files and the JSON object.

pub mod csv_files;
pub mod json;
pub mod terminal;

use crate::analysis::Analysis;
use crate::bundle::names;
use crate::plan::RunRecord;

/// The files that follow from a recording, by name and content.
#[must_use]
pub fn files(record: &RunRecord, analysis: &Analysis) -> [(&'static str, String); 3] {
    [
        (names::EDGES, csv_files::edges_csv(analysis)),
        (names::SUMMARY, csv_files::summary_csv(record, analysis)),
        (names::SUMMARY_JSON, json::summary_json(record, analysis)),
    ]
}
