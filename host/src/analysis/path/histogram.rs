//! The exact histogram of the tick differences of one batch, and what follows from it without loss.

use std::collections::BTreeMap;

/// How often each difference was seen, in ticks of the counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: BTreeMap<u32, u64>,
}

impl Histogram {
    /// Counts a difference so many times more.
    pub fn add(&mut self, ticks: u32, count: u64) {
        if count > 0 {
            *self.counts.entry(ticks).or_default() += count;
        }
    }

    /// Counts everything that another one counted.
    pub fn merge(&mut self, other: &Self) {
        for (ticks, count) in other.iter() {
            self.add(ticks, count);
        }
    }

    /// Everything that several counted.
    #[must_use]
    pub fn of_all(parts: &[Self]) -> Self {
        let mut all = Self::default();
        parts.iter().for_each(|part| all.merge(part));
        all
    }

    /// How many different differences were seen.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Differences with their counts, rising.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.counts.iter().map(|(ticks, count)| (*ticks, *count))
    }

    /// How many were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Their sum, in ticks.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.iter().map(|(ticks, count)| u128::from(ticks) * u128::from(count)).sum()
    }

    /// Their mean, in ticks. None of nothing.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.sum() as f64 / total as f64)
    }

    /// Their sample standard deviation, in ticks. None of fewer than two.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let freedom = self.total().checked_sub(2)? + 1;
        let mean = self.mean()?;
        let squares: f64 =
            self.iter().map(|(ticks, count)| count as f64 * (f64::from(ticks) - mean).powi(2)).sum();
        Some((squares / freedom as f64).sqrt())
    }

    /// The smallest difference.
    #[must_use]
    pub fn least(&self) -> Option<u32> {
        self.counts.keys().next().copied()
    }

    /// The largest difference.
    #[must_use]
    pub fn most(&self) -> Option<u32> {
        self.counts.keys().next_back().copied()
    }

    /// The one difference that all pairs have, if there is one.
    #[must_use]
    pub fn only(&self) -> Option<u32> {
        if self.counts.len() == 1 { self.least() } else { None }
    }

    /// How many are this large or larger.
    #[must_use]
    pub fn at_least(&self, ticks: u32) -> u64 {
        self.counts.range(ticks..).map(|(_, count)| count).sum()
    }

    /// The difference of this rank, counted from 1 for the smallest.
    #[must_use]
    pub fn of_rank(&self, rank: u64) -> Option<u32> {
        let mut below = 0;
        let reaches = |(_, count): &(u32, u64)| {
            below += count;
            below >= rank
        };
        self.iter().find(reaches).map(|(ticks, _)| ticks).filter(|_| rank > 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u32]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|&ticks| histogram.add(ticks, 1));
        histogram
    }

    proptest! {
        #[test]
        fn it_says_of_the_values_what_they_say_of_themselves(mut values in prop::collection::vec(0..9_u32, 2..60)) {
            let histogram = of(&values);
            values.sort_unstable();
            let count = values.len() as f64;
            let mean = values.iter().copied().map(f64::from).sum::<f64>() / count;
            let squares: f64 = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum();
            prop_assert_eq!(histogram.total(), values.len() as u64);
            prop_assert!((histogram.mean().unwrap() - mean).abs() < 1e-9);
            prop_assert!((histogram.deviation().unwrap() - (squares / (count - 1.0)).sqrt()).abs() < 1e-9);
            prop_assert_eq!(histogram.least(), values.first().copied());
            prop_assert_eq!(histogram.most(), values.last().copied());
            prop_assert_eq!(histogram.at_least(4), values.iter().filter(|&&v| v >= 4).count() as u64);
            for (index, value) in values.iter().enumerate() {
                prop_assert_eq!(histogram.of_rank(index as u64 + 1), Some(*value));
            }
            prop_assert_eq!(histogram.of_rank(values.len() as u64 + 1), None);
            prop_assert_eq!(histogram.of_rank(0), None);
        }
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        let none = Histogram::default();
        assert_eq!((none.mean(), none.deviation(), none.only(), none.of_rank(1)), (None, None, None, None));
        assert_eq!(of(&[3, 3]).only(), Some(3));
        assert_eq!(of(&[3, 4]).only(), None);
    }
}
