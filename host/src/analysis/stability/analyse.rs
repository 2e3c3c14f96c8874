//! All that a user asks for of one series: every deviation at every averaging time, with noise and interval.

use super::{Deviation, Prepared, Row, StabilityError, Taus, estimate, taus};
use crate::series::Series;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which deviations, in the order of the rows.
    pub deviations: Vec<Deviation>,
    /// At which averaging times.
    pub taus: Taus,
    /// The power law of the noise, if it is not to be identified.
    pub alpha: Option<i32>,
    /// Probability that an interval covers the true value.
    pub confidence: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { deviations: Deviation::usual().to_vec(), taus: Taus::Octave, alpha: None, confidence: 0.683 }
    }
}

/// A deviation without rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which one.
    pub deviation: Deviation,
    /// Why.
    pub reason: String,
}

/// Something that a reader of the rows should know. Nothing was dropped for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Frequencies far from their median.
    Outliers {
        /// How many.
        count: usize,
        /// The interval of the first, from 0: it lies between points `first` and `first + 1`.
        first: usize,
        /// The largest distance from the median, in scaled median absolute deviations.
        largest: f64,
    },
}

/// What a series comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// By deviation in the order asked for, then by averaging time.
    pub rows: Vec<Row>,
    /// What was asked for and cannot be said of this series.
    pub left_out: Vec<LeftOut>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Phase points, missing ones included.
    pub points: usize,
    /// Points that are missing.
    pub missing: usize,
    /// Distance of two points, in seconds.
    pub tau0_s: f64,
}

/// All deviations asked for, at all averaging times.
///
/// # Errors
/// If the series cannot be computed with, or is too short for every deviation asked for.
pub fn analyse(series: &Series, options: &Options) -> Result<Report, StabilityError> {
    let phase = Prepared::new(series)?;
    let mut rows = Vec::new();
    for deviation in &options.deviations {
        for m in taus(options.taus, *deviation, phase.len()) {
            if let Some(estimate) = estimate(*deviation, &phase, m) {
                let tau_s = m as f64 * phase.tau0_s();
                rows.push(Row {
                    deviation: *deviation,
                    m: m as u64,
                    tau_s,
                    estimate,
                    alpha: options.alpha,
                    interval: None,
                });
            }
        }
    }
    let present: usize = phase.present().iter().map(ExactSizeIterator::len).sum();
    Ok(Report {
        rows,
        left_out: Vec::new(),
        findings: Vec::new(),
        points: phase.len(),
        missing: phase.len() - present,
        tau0_s: phase.tau0_s(),
    })
}
