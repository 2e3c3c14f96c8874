//! samples.csv and pairs.csv: what `path` counted, batch by batch, and pair by pair.

use super::csv_files::table;
use crate::analysis::path::PathAnalysis;
use crate::analysis::path::collect::{PathWindow, counter_snapshot};
use crate::names::{self, PathPart};

/// The exact tick histograms: one line for each difference that was seen in a batch.
#[must_use]
pub fn samples_csv(analysis: &PathAnalysis) -> String {
    let header = ["session", "variant", "clock_id", "cores", "batch", "ticks", "count"];
    let rows = analysis.windows.iter().flat_map(|window| {
        let (variant, clock) = (variant(window), names::of_clock(window.clock_id));
        window.batches.iter().enumerate().flat_map(move |(batch, histogram)| {
            let variant = variant.clone();
            histogram.iter().map(move |(ticks, count)| {
                [
                    window.session.to_string(),
                    variant.clone(),
                    clock.to_owned(),
                    "1".to_owned(),
                    batch.to_string(),
                    ticks.to_string(),
                    count.to_string(),
                ]
            })
        })
    });
    table(&header, rows)
}

/// Every pair of the variants themselves, in the order in which they were taken.
#[must_use]
pub fn pairs_csv(analysis: &PathAnalysis) -> String {
    let header = ["session", "variant", "clock_id", "seq", "counter_pre", "counter_snapshot"];
    let paths = analysis.windows.iter().filter(|window| window.part == PathPart::Path);
    let rows = paths.flat_map(|window| {
        window.pairs.iter().map(|(seq, pair)| {
            [
                window.session.to_string(),
                window.variant.to_string(),
                names::of_clock(window.clock_id).to_owned(),
                seq.to_string(),
                pair.pre.to_string(),
                counter_snapshot(pair).to_string(),
            ]
        })
    });
    table(&header, rows)
}

/// The variant; what else its session measured has a name of its own, so that nobody takes it for the variant.
fn variant(window: &PathWindow) -> String {
    match window.part {
        PathPart::Path => window.variant.to_string(),
        PathPart::Overhead => format!("{}:overhead", window.variant),
        PathPart::Ladder => format!("{}:ladder+{}", window.variant, window.added_delay),
    }
}
