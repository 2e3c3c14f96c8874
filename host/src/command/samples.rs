//! Samples from a file into the analysis, for the subcommands that take such files.

use std::path::Path;

use anyhow::Context;

use crate::analysis::samples::{Collector, SampleSet};
use crate::bundle;

/// Reads a file of samples, `-` for stdin, into exact histograms by session.
///
/// # Errors
/// When it cannot be read, is damaged (without `lenient`), or holds no sample.
pub fn read_samples(path: &Path, lenient: bool) -> anyhow::Result<SampleSet> {
    let mut collector = Collector::default();
    let read = bundle::read_samples(path, lenient, &mut collector)?;
    let sessions = collector.finish().with_context(|| format!("samples of {}", path.display()))?;
    anyhow::ensure!(!sessions.is_empty(), "{} holds no sample", path.display());
    Ok(SampleSet {
        sessions,
        counter_hz: read.header.and_then(|header| header.counter_hz),
        emulated: read.header.map(|header| header.emulated),
        left_out: read.left_out,
    })
}
