//! The tail: how many single values of a session lie beyond a threshold that the base sets. The mean is blind to it.
//!
//! Compared are the logarithms of the rates. What a session adds to its side's rate is linear in its own count (the
//! pseudo-values of a ratio estimator), so sessions of unequal length and sessions that counted nothing need no special
//! case, and the spread between sessions is that of the pseudo-values; it is never taken for less than that of counts
//! by chance alone (Poisson).

use super::difference::{Difference, Moments};
use super::group::{Session, Singles};
use crate::analysis::estimate::percentile;
use crate::analysis::path::histogram::Histogram;

/// Ticks above the median from which on a read is of the tail, and the fewest in any case: below one tick of latency a
/// read has no more than one.
const ABOVE_MEDIAN_TICKS: u32 = 2;
const FEWEST_TICKS: u32 = 3;
/// Edges a session from which on there are enough beyond the 99th percentile.
const MANY_EDGES: usize = 1000;

/// Beyond what a value is of the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// So many ticks or more.
    Ticks(u32),
    /// More picoseconds than this, which is the base's percentile in thousandths.
    Picoseconds(i128, u32),
}

impl Threshold {
    /// The threshold that the base's sessions set, all taken together. None where single values are not known, or too few.
    #[must_use]
    pub fn of(base: &[Session]) -> Option<Self> {
        let (mut histogram, mut latencies, mut fewest) = (Histogram::default(), Vec::new(), usize::MAX);
        for session in base {
            match &session.singles {
                Singles::Unknown => return None,
                Singles::Ticks(ticks) => histogram.merge(ticks),
                Singles::Picoseconds(values) => {
                    fewest = fewest.min(values.len());
                    latencies.extend_from_slice(values);
                }
            }
        }
        if let Some(median) = histogram.of_rank(histogram.total().div_ceil(2)) {
            return Some(Self::Ticks(median.saturating_add(ABOVE_MEDIAN_TICKS).max(FEWEST_TICKS)));
        }
        let per_mille = if fewest >= MANY_EDGES { 990 } else { 900 };
        latencies.sort_unstable();
        percentile(&latencies, per_mille).map(|ps| Self::Picoseconds(ps, per_mille))
    }

    /// How many of a session's values are beyond, and of how many. None where they are not known.
    fn count(self, session: &Session) -> Option<(u64, u64)> {
        match (self, &session.singles) {
            (Self::Ticks(ticks), Singles::Ticks(histogram)) => {
                Some((histogram.at_least(ticks), histogram.total()))
            }
            (Self::Picoseconds(ps, _), Singles::Picoseconds(values)) => {
                let beyond = values.iter().filter(|value| **value > ps).count();
                Some((beyond as u64, values.len() as u64))
            }
            _ => None,
        }
    }

    /// What counts, for people.
    #[must_use]
    pub fn told(self) -> String {
        match self {
            Self::Ticks(ticks) => format!("reads of {ticks} ticks or more"),
            Self::Picoseconds(ps, per_mille) => {
                format!("edges later than {:.3} ns, p{} of the base", ps as f64 / 1e3, per_mille / 10)
            }
        }
    }
}

/// What a side counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Beyond the threshold, and of how many, session by session.
    pub sessions: Vec<(u64, u64)>,
}

impl Counts {
    /// Of a side's sessions. None where single values are not known.
    #[must_use]
    pub fn of(sessions: &[Session], threshold: Threshold) -> Option<Self> {
        let sessions = sessions.iter().map(|session| threshold.count(session)).collect::<Option<_>>()?;
        Some(Self { sessions })
    }

    /// Values beyond the threshold.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.sessions.iter().map(|(beyond, _)| beyond).sum()
    }

    /// All values.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.sessions.iter().map(|(_, all)| all).sum()
    }

    /// The share beyond.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.beyond() as f64 / self.all().max(1) as f64
    }

    /// What the share's logarithm is taken of: where nothing was seen, half a count.
    fn seen(&self) -> f64 {
        (self.beyond() as f64).max(0.5)
    }

    /// The logarithm of the rate and, around it, what each session adds.
    fn logarithms(&self) -> Vec<f64> {
        let (rate, count) = (self.rate(), self.sessions.len() as f64);
        let centre = (self.seen() / self.all().max(1) as f64).ln();
        let add =
            |&(beyond, all): &(u64, u64)| centre + count * (beyond as f64 - rate * all as f64) / self.seen();
        self.sessions.iter().map(add).collect()
    }

    /// The logarithm of how many times the rate of `new` is that of this one, paired where there are pairs. None of fewer
    /// than two sessions.
    #[must_use]
    pub fn log_ratio(&self, new: &Self, pairs: Option<&[(usize, usize)]>) -> Option<Difference> {
        let (a, b) = (self.logarithms(), new.logarithms());
        let difference = match pairs {
            Some(pairs) => {
                let differences: Vec<f64> = pairs.iter().map(|(base, new)| b[*new] - a[*base]).collect();
                Difference::paired(&differences)?
            }
            None => Difference::welch(&Moments::of(&a)?, &Moments::of(&b)?),
        };
        Some(difference.at_least((1.0 / self.seen() + 1.0 / new.seen()).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(singles: Singles) -> Session {
        Session { source: 0, number: 1, when: None, seed: None, n: 0, value: 0.0, singles }
    }

    fn ticks(counts: &[(u32, u64)]) -> Session {
        let mut histogram = Histogram::default();
        counts.iter().for_each(|(ticks, count)| histogram.add(*ticks, *count));
        session(Singles::Ticks(histogram))
    }

    #[test]
    fn the_base_sets_the_threshold_from_all_its_sessions() {
        let below_a_tick = [ticks(&[(0, 90), (1, 10)]), ticks(&[(0, 10), (1, 20), (3, 1)])];
        assert_eq!(Threshold::of(&below_a_tick), Some(Threshold::Ticks(3)));
        assert_eq!(Threshold::of(&[ticks(&[(1, 9), (2, 1)])]), Some(Threshold::Ticks(3)));
        assert_eq!(Threshold::of(&[ticks(&[(6, 5), (7, 4)])]), Some(Threshold::Ticks(8)));
        let edges = |n: i128| session(Singles::Picoseconds((1..=n).rev().collect()));
        assert_eq!(Threshold::of(&[edges(100)]), Some(Threshold::Picoseconds(90, 900)));
        assert_eq!(Threshold::of(&[edges(1000), edges(1000)]), Some(Threshold::Picoseconds(990, 990)));
        assert_eq!(
            Threshold::of(&[edges(1000), edges(999)]).map(Threshold::told).unwrap(),
            "edges later than 0.900 ns, p90 of the base"
        );
        assert_eq!(Threshold::of(&[edges(9)]), None);
        assert_eq!(Threshold::of(&[session(Singles::Unknown)]), None);
        assert_eq!(Threshold::of(&[]), None);
    }

    #[test]
    fn sessions_of_unequal_length_and_empty_ones_give_the_ratio_of_the_rates() {
        let base = Counts { sessions: vec![(10, 1000), (0, 500), (35, 3000)] };
        let new = Counts { sessions: vec![(20, 1000), (22, 1000), (18, 1000)] };
        let ratio = base.log_ratio(&new, None).unwrap();
        assert!((ratio.value - f64::ln((60.0 / 3000.0) / (45.0 / 4500.0))).abs() < 1e-12, "{ratio:?}");
    }

    #[test]
    fn counts_that_agree_too_well_are_as_uncertain_as_chance_makes_them() {
        let even = Counts { sessions: vec![(25, 1000); 4] };
        let error = even.log_ratio(&even, None).unwrap().error;
        assert!((error - f64::sqrt(2.0 / 100.0)).abs() < 1e-12, "{error}");
        let none = Counts { sessions: vec![(0, 1000); 4] };
        let some = none.log_ratio(&even, None).unwrap();
        assert!(some.value.is_finite() && (some.error - f64::sqrt(2.0 + 0.01)).abs() < 1e-12, "{some:?}");
    }

    #[test]
    fn neighbours_share_what_their_time_did_to_both() {
        let base = Counts { sessions: vec![(100, 1000), (400, 1000), (200, 1000), (700, 1000)] };
        let new = Counts { sessions: vec![(202, 1000), (798, 1000), (404, 1000), (1396, 1000)] };
        let pairs: Vec<(usize, usize)> = (0..4).map(|one| (one, one)).collect();
        let (paired, not) =
            (base.log_ratio(&new, Some(&pairs)).unwrap(), base.log_ratio(&new, None).unwrap());
        assert!(
            (paired.value - f64::ln(2.0)).abs() < 1e-12 && paired.error < not.error / 4.0,
            "{paired:?} {not:?}"
        );
    }
}
