//! samples.csv, pairs.csv and pairs.spool: what `path` counted, batch by batch, and pair by pair.

use std::io::{self, Write};

use super::csv_files::table;
use crate::analysis::path::PathAnalysis;
use crate::analysis::path::collect::{PathWindow, counter_snapshot};
use crate::formats::spool::{Header, SpoolWriter};
use crate::names::{self, PathPart};
use crate::samples::SampleKey;

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
///
/// # Errors
/// Those of what is written to.
pub fn pairs_csv(analysis: &PathAnalysis, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(b"session,variant,clock_id,seq,counter_pre,counter_snapshot\n")?;
    for window in paths(analysis) {
        let SampleKey { session, variant, clock_id } = key(window);
        for (seq, pre, snapshot) in pairs(window) {
            writeln!(to, "{session},{variant},{clock_id},{seq},{pre},{snapshot}")?;
        }
    }
    Ok(())
}

/// The same pairs as a spool.
///
/// # Errors
/// Those of what is written to.
pub fn pairs_spool(analysis: &PathAnalysis, header: Header, to: &mut dyn Write) -> io::Result<()> {
    let mut spool = SpoolWriter::new(to, header)?;
    for window in paths(analysis) {
        spool.session(&key(window))?;
        for (_, pre, snapshot) in pairs(window) {
            spool.pair(pre, snapshot)?;
        }
    }
    spool.finish()?;
    Ok(())
}

fn paths(analysis: &PathAnalysis) -> impl Iterator<Item = &PathWindow> {
    analysis.windows.iter().filter(|window| window.part == PathPart::Path)
}

fn key(window: &PathWindow) -> SampleKey {
    SampleKey {
        session: window.session,
        variant: window.variant.name().to_owned(),
        clock_id: names::of_clock(window.clock_id).to_owned(),
    }
}

/// Number, counter at the caller's read and inside the snapshot function. A counter has 64 bits.
fn pairs(window: &PathWindow) -> impl Iterator<Item = (u32, u64, u64)> {
    window.pairs.iter().map(|(seq, pair)| (*seq, pair.pre, counter_snapshot(pair)))
}

/// The variant; what else its session measured has a name of its own, so that nobody takes it for the variant.
fn variant(window: &PathWindow) -> String {
    match window.part {
        PathPart::Path => window.variant.to_string(),
        PathPart::Overhead => format!("{}:overhead", window.variant),
        PathPart::Ladder => format!("{}:ladder+{}", window.variant, window.added_delay),
    }
}
