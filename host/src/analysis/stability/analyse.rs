//! All that a user asks for of one series: every deviation at every averaging time, with noise and interval.

use std::collections::BTreeMap;

use super::taus::{averaging_time_s, fewest_points};
use super::{
    Deviation, Estimate, Prepared, Row, StabilityError, Taus, allan, estimates, gapless_points, identify,
    interval, noise, outliers, taus,
};
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
    /// The deviation at tau0 is no clock's.
    Large {
        /// Its value.
        value: f64,
    },
    /// Rows without an interval, MTIE and TIErms aside.
    NoInterval {
        /// Why.
        why: NoInterval,
        /// The averaging factors of these rows, rising.
        factors: Vec<u64>,
    },
}

/// Why a row has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoInterval {
    /// Fewer than five points at that distance: their noise is not identified.
    FewPoints,
    /// Points are missing, and there are fewer than 30 at that distance: their noise is not identified.
    FewBesideGaps,
    /// The deviation is 0, or nothing but rounding.
    NoNoise,
    /// No degrees of freedom are known for that noise.
    NoFreedom,
}

impl NoInterval {
    /// As the report says it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::FewPoints => "fewer than 5 averaged points",
            Self::FewBesideGaps => "fewer than 30 averaged points beside gaps",
            Self::NoNoise => "a straight line but for rounding",
            Self::NoFreedom => "no degrees of freedom are known there",
        }
    }
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

/// A clock's Allan deviation at tau0 stays below.
const LARGE: f64 = 1e-2;

/// Terms that are computed at most for all averaging times of one deviation: minutes of work.
const MOST_TERMS: f64 = 1e12;

/// All deviations asked for, at all averaging times.
///
/// # Errors
/// If the series cannot be computed with, or is too short for every deviation asked for.
pub fn analyse(series: &Series, options: &Options) -> Result<Report, StabilityError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        return Err(StabilityError::Confidence { confidence: options.confidence });
    }
    let phase = Prepared::new(series)?;
    let easiest = options.deviations.iter().min_by_key(|deviation| fewest_points(**deviation));
    if let Some(easiest) = easiest.filter(|deviation| fewest_points(**deviation) > phase.len()) {
        let (needed, points) = (fewest_points(*easiest), phase.len());
        return Err(StabilityError::TooFew { deviation: easiest.name(), needed, points });
    }
    let mut whole = Whole::new(&phase, options);
    let mut left_out = Vec::new();
    let mut rows = Vec::new();
    for (index, &deviation) in options.deviations.iter().enumerate() {
        if options.deviations[..index].contains(&deviation) {
            continue;
        }
        match whole.rows(deviation) {
            Ok(more) => rows.extend(more),
            Err(reason) => left_out.push(LeftOut { deviation, reason }),
        }
    }
    if rows.is_empty() {
        return Err(StabilityError::Nothing { left_out });
    }
    let mut findings: Vec<Finding> = outliers::find(&phase).into_iter().collect();
    findings.extend(large(&rows));
    findings.extend(whole.without.into_iter().map(|(why, factors)| Finding::NoInterval { why, factors }));
    Ok(Report {
        rows,
        left_out,
        findings,
        points: phase.len(),
        missing: phase.len() - whole.present,
        tau0_s: phase.tau0_s(),
    })
}

/// One analysis, and what several deviations of it share.
struct Whole<'a> {
    phase: &'a Prepared<'a>,
    options: &'a Options,
    /// Points that are there.
    present: usize,
    /// What was computed and others follow from.
    known: BTreeMap<Deviation, Vec<Option<Estimate>>>,
    /// Identified noise by averaging factor, as the Hadamard family has it.
    noise: BTreeMap<usize, Option<i32>>,
    /// Averaging factors of rows without an interval.
    without: BTreeMap<NoInterval, Vec<u64>>,
}

impl<'a> Whole<'a> {
    fn new(phase: &'a Prepared<'a>, options: &'a Options) -> Self {
        let present = phase.present().iter().map(ExactSizeIterator::len).sum();
        Self {
            phase,
            options,
            present,
            known: BTreeMap::new(),
            noise: BTreeMap::new(),
            without: BTreeMap::new(),
        }
    }

    /// All rows of a deviation, or why there are none.
    fn rows(&mut self, deviation: Deviation) -> Result<Vec<Row>, String> {
        let factors = taus(self.options.taus, deviation, self.phase.len());
        if factors.is_empty() {
            let (needed, points) = (fewest_points(deviation), self.phase.len());
            return Err(format!("it needs at least {needed} points, and there are {points}"));
        }
        if self.phase.has_gaps() && !allows_gaps(deviation) {
            return Err("it is not defined where points are missing".to_owned());
        }
        let terms = terms(deviation, self.phase.len(), &factors);
        if terms > MOST_TERMS {
            return Err(format!("so many averaging times have {terms:.0e} terms: ask for octave or decade"));
        }
        let estimates = self.estimates(deviation, &factors);
        let found = factors.into_iter().zip(estimates);
        let rows: Vec<Row> = found.filter_map(|(m, one)| Some(self.row(deviation, m, one?))).collect();
        if rows.is_empty() {
            return Err("every term touches a missing point".to_owned());
        }
        Ok(rows)
    }

    /// The values; those of a time deviation follow from its frequency deviation.
    fn estimates(&mut self, deviation: Deviation, factors: &[usize]) -> Vec<Option<Estimate>> {
        let base = match deviation {
            Deviation::Tdev => Deviation::Mdev,
            Deviation::Ttotdev => Deviation::Mtotdev,
            other => return self.base(other, factors),
        };
        let base = self.base(base, factors);
        allan::time(self.phase, factors, base)
    }

    /// The values, kept where another deviation is asked for that follows from them.
    fn base(&mut self, deviation: Deviation, factors: &[usize]) -> Vec<Option<Estimate>> {
        if let Some(known) = self.known.get(&deviation) {
            return known.clone();
        }
        let found = estimates(deviation, self.phase, factors);
        if matches!(deviation, Deviation::Mdev | Deviation::Mtotdev) {
            self.known.insert(deviation, found.clone());
        }
        found
    }

    /// A line of the answer.
    fn row(&mut self, deviation: Deviation, m: usize, estimate: Estimate) -> Row {
        let has_interval = !matches!(deviation, Deviation::Mtie | Deviation::Tierms);
        let noisy = has_interval && estimate.value > 0.0;
        let alpha = noisy.then(|| self.alpha(deviation, m)).flatten();
        let interval = alpha.and_then(|alpha| {
            let m = m as u64;
            let points = gapless_points(deviation, m, estimate.n).unwrap_or(self.present as u64);
            interval::around((deviation, estimate), alpha, m, points, self.options.confidence)
        });
        if has_interval && interval.is_none() {
            let why = self.why_not(deviation, m, alpha);
            let factors = self.without.entry(why).or_default();
            if let Err(place) = factors.binary_search(&(m as u64)) {
                factors.insert(place, m as u64);
            }
        }
        let tau_s = averaging_time_s(deviation, m, self.phase.tau0_s());
        Row { deviation, m: m as u64, tau_s, estimate, alpha, interval }
    }

    /// Why a row has no interval.
    fn why_not(&self, deviation: Deviation, m: usize, alpha: Option<i32>) -> NoInterval {
        if alpha.is_some() {
            return NoInterval::NoFreedom;
        }
        let points = self.phase.len().div_ceil(noise_factor(deviation, m));
        match () {
            () if points < noise::RATIO_LEAST => NoInterval::FewPoints,
            () if points < noise::LAG1_LEAST && self.phase.has_gaps() => NoInterval::FewBesideGaps,
            () => NoInterval::NoNoise,
        }
    }

    /// The noise there, as given or as identified.
    fn alpha(&mut self, deviation: Deviation, m: usize) -> Option<i32> {
        if self.options.alpha.is_some() {
            return self.options.alpha;
        }
        let m = noise_factor(deviation, m);
        let identified = self.noise.entry(m).or_insert_with(|| identify(self.phase, m, Deviation::Ohdev));
        // The same sums go one difference further for the Hadamard family; for the others that is all random walk.
        let hadamard = matches!(deviation, Deviation::Hdev | Deviation::Ohdev | Deviation::Htotdev);
        identified.map(|alpha| if hadamard { alpha } else { alpha.max(-2) })
    }
}

/// The averaging factor at which the noise of a row is identified.
const fn noise_factor(deviation: Deviation, m: usize) -> usize {
    if matches!(deviation, Deviation::Theo1) { m * 3 / 4 } else { m }
}

/// A deviation at tau0 that no clock has, if there is one among the rows.
fn large(rows: &[Row]) -> Option<Finding> {
    let allan = |row: &&Row| matches!(row.deviation, Deviation::Oadev | Deviation::Adev | Deviation::Mdev);
    let value = rows.iter().find(|row| row.m == 1 && allan(row))?.estimate.value;
    (value > LARGE).then_some(Finding::Large { value })
}

/// Whether terms that touch a missing point can be left out. The total deviations and THEO1 need all points.
const fn allows_gaps(deviation: Deviation) -> bool {
    !matches!(
        deviation,
        Deviation::Totdev | Deviation::Mtotdev | Deviation::Ttotdev | Deviation::Htotdev | Deviation::Theo1
    )
}

/// About how many terms there are to compute. The slow deviations have m for each point, up to a bound.
fn terms(deviation: Deviation, points: usize, factors: &[usize]) -> f64 {
    let points = points as f64;
    match deviation {
        Deviation::Mtotdev | Deviation::Ttotdev | Deviation::Htotdev | Deviation::Theo1 => {
            factors.iter().map(|m| (*m as f64 * points).min(MOST_OF_ONE)).sum()
        }
        _ => factors.len() as f64 * points,
    }
}

/// What the slow deviations compute at most at one averaging time.
const MOST_OF_ONE: f64 = (1_u64 << 26) as f64;

#[cfg(test)]
mod tests;
