//! Estimates over latencies, each with its 95 % interval; `results/README.md` says which one. In picoseconds.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::rate::student_975;

/// Sessions from which on the session is the unit.
pub(crate) const SESSIONS: usize = 3;
/// Edges from which on batches are formed.
const BATCHED: usize = 100;
/// Most batches.
const BATCHES: usize = 32;

/// A 95 % interval, in the unit of its estimate.
pub type Interval = (f64, f64);

/// The values of one figure, by session, each in the order of the edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Values in picoseconds, one list a session.
    pub sessions: Vec<Vec<i128>>,
}

impl Sample {
    /// Every value, in order.
    #[must_use]
    pub fn values(&self) -> Vec<i128> {
        self.sessions.iter().flatten().copied().collect()
    }

    /// How many values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.iter().map(Vec::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sessions with at least one value.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.iter().filter(|session| !session.is_empty()).count()
    }

    /// Whether the interval of the mean is one between sessions, or within.
    #[must_use]
    pub fn is_between_sessions(&self) -> bool {
        self.session_count() >= SESSIONS
    }

    /// The interval of the mean: Student's t over session means; with fewer than three sessions, over batch means; under
    /// 100 edges, over single edges. None with fewer than two units.
    #[must_use]
    pub fn mean_interval(&self) -> Option<Interval> {
        if self.is_between_sessions() {
            let means: Vec<f64> = self
                .sessions
                .iter()
                .filter(|session| !session.is_empty())
                .map(|session| mean(session))
                .collect();
            return student(&means, average(&means));
        }
        let values = self.values();
        let centre = mean(&values);
        match batch_means(&values) {
            Some(means) => student(&means, centre),
            None => student(&values.iter().map(|&value| value as f64).collect::<Vec<_>>(), centre),
        }
    }

    /// How many independent edges the batch means amount to. None without batches, or when they do not differ.
    #[must_use]
    pub fn effective_count(&self) -> Option<f64> {
        let values = self.values();
        let means = batch_means(&values)?;
        let (of_one, of_means) = (deviation(&values)?, spread(&means)?);
        (of_means > 0.0).then(|| of_one * of_one * means.len() as f64 / (of_means * of_means))
    }
}

/// Arithmetic mean; 0 of nothing. Taken from the first value, so that large offsets cost no digits.
#[must_use]
pub fn mean(values: &[i128]) -> f64 {
    let Some(&first) = values.first() else { return 0.0 };
    let sum: f64 = values.iter().map(|&value| (value - first) as f64).sum();
    first as f64 + sum / values.len() as f64
}

/// The mean rounded to a picosecond, halves away from zero. None of nothing.
#[must_use]
pub fn mean_ps(values: &[i128]) -> Option<i128> {
    let count = i128::try_from(values.len()).ok().filter(|&count| count > 0)?;
    let sum: i128 = values.iter().sum();
    Some((2 * sum + sum.signum() * count) / (2 * count))
}

/// Sample standard deviation. None with fewer than two.
#[must_use]
pub fn deviation(values: &[i128]) -> Option<f64> {
    let first = *values.first()?;
    spread(&values.iter().map(|&value| (value - first) as f64).collect::<Vec<_>>())
}

/// Sample standard deviation of f64.
#[must_use]
pub fn spread(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(2)? + 1;
    let centre = average(values);
    Some((values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / freedom as f64).sqrt())
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Student's t interval of the mean of units. None with fewer than two.
pub(crate) fn student(units: &[f64], centre: f64) -> Option<Interval> {
    let sd = spread(units)?;
    let half = student_975(units.len() as f64 - 1.0) * sd / (units.len() as f64).sqrt();
    Some((centre - half, centre + half))
}

/// Means of min(32, n/10) batches whose sizes differ by at most one. None under 100 edges.
fn batch_means(values: &[i128]) -> Option<Vec<f64>> {
    if values.len() < BATCHED {
        return None;
    }
    let count = BATCHES.min(values.len() / 10);
    let bound = |batch: usize| batch * values.len() / count;
    Some((0..count).map(|batch| mean(&values[bound(batch)..bound(batch + 1)])).collect())
}

/// Which of the sorted values say where a percentile is: ranks, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// The nearest rank.
    pub value: u64,
    /// Those of its 95 % interval. None where n is too small for it.
    pub interval: Option<(u64, u64)>,
}

/// The ranks of a percentile among so many values. None where fewer than one value is to be expected beyond it.
#[must_use]
pub fn percentile_ranks(count: u64, per_mille: u32) -> Option<Ranks> {
    let beyond = u128::from(count) * u128::from(1000_u32.checked_sub(per_mille)?);
    if beyond < 1000 {
        return None;
    }
    let rank = (u128::from(count) * u128::from(per_mille)).div_ceil(1000).max(1);
    Some(Ranks { value: u64::try_from(rank).ok()?, interval: interval_ranks(count, per_mille) })
}

fn interval_ranks(count: u64, per_mille: u32) -> Option<(u64, u64)> {
    let below = Binomial::new(f64::from(per_mille) / 1000.0, count).ok()?;
    // At most 2.5 % of the time are fewer than `low`, or `high` and more, values below the percentile.
    let (low, high) = (below.inverse_cdf(0.025), below.inverse_cdf(0.975) + 1);
    (low >= 1 && high <= count).then_some((low, high))
}

/// The percentile by nearest rank of sorted values. None where fewer than one value is to be expected beyond it.
#[must_use]
pub fn percentile(sorted: &[i128], per_mille: u32) -> Option<i128> {
    let ranks = percentile_ranks(sorted.len() as u64, per_mille)?;
    sorted.get(usize::try_from(ranks.value).ok()? - 1).copied()
}

/// The order-statistic interval of a percentile. None where n is too small for it.
#[must_use]
pub fn percentile_interval(sorted: &[i128], per_mille: u32) -> Option<(i128, i128)> {
    let (low, high) = interval_ranks(sorted.len() as u64, per_mille)?;
    let at = |rank: u64| sorted.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied();
    Some((at(low)?, at(high)?))
}

/// Root mean square. None of nothing.
#[must_use]
pub fn root_mean_square(values: &[f64]) -> Option<f64> {
    (!values.is_empty())
        .then(|| (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt())
}

/// Standard deviation of `y` about its own straight line over `x`: the spread that is left when the mean and the slope
/// are fitted away. None with fewer than three points.
#[must_use]
pub fn spread_about_line(points: &[(f64, f64)]) -> Option<f64> {
    let freedom = points.len().checked_sub(3)? + 1;
    let count = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let sxx: f64 = points.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
    let squares: f64 = points.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    Some((squares / freedom as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_session(values: Vec<i128>) -> Sample {
        Sample { sessions: vec![values] }
    }

    /// SplitMix64, and from it a value that is uniform over 0..1,000,000.
    fn noise(seed: u64, count: usize) -> Vec<i128> {
        let mut state = seed;
        (0..count).map(|_| i128::from(crate::random::next(&mut state) % 1_000_000)).collect()
    }

    fn coverage(runs: u64, count: usize, covers: impl Fn(&[i128]) -> bool) -> f64 {
        let hits = (0..runs).filter(|&run| covers(&noise(run * 7919 + 1, count))).count();
        hits as f64 / runs as f64
    }

    #[test]
    fn the_mean_interval_covers_at_its_nominal_rate() {
        let covers = |values: &[i128]| {
            let (low, high) = one_session(values.to_vec()).mean_interval().unwrap();
            (low..=high).contains(&499_999.5)
        };
        for count in [30, 320] {
            let rate = coverage(1000, count, covers);
            assert!((0.93..=0.97).contains(&rate), "{count} edges: {rate}");
        }
    }

    #[test]
    fn the_percentile_interval_covers_at_least_at_its_nominal_rate() {
        for (per_mille, truth) in [(500, 500_000), (900, 900_000)] {
            let rate = coverage(1000, 120, |values| {
                let mut sorted = values.to_vec();
                sorted.sort_unstable();
                let (low, high) = percentile_interval(&sorted, per_mille).unwrap();
                (low..=high).contains(&truth)
            });
            assert!((0.94..=0.99).contains(&rate), "p{per_mille}: {rate}");
        }
    }

    #[test]
    fn session_means_are_the_unit_from_three_sessions_on() {
        let three = Sample { sessions: vec![vec![10; 200], vec![20; 200], vec![30; 200]] };
        let (low, high) = three.mean_interval().unwrap();
        let half = 4.302_652_729_7 * 10.0 / 3f64.sqrt();
        assert!((low - (20.0 - half)).abs() < 1e-3 && (high - (20.0 + half)).abs() < 1e-3, "{low} {high}");
        assert!(three.is_between_sessions());
        assert!(!one_session(vec![1; 5]).is_between_sessions());
    }

    #[test]
    fn batches_differ_in_size_by_at_most_one() {
        let values: Vec<i128> = (0..333).collect();
        assert_eq!(batch_means(&values).unwrap().len(), 32);
        assert_eq!(batch_means(&values[..105]).unwrap().len(), 10);
        assert_eq!(batch_means(&values[..99]), None);
    }

    #[test]
    fn a_percentile_needs_an_edge_beyond_it() {
        let sorted: Vec<i128> = (1..=100).collect();
        assert_eq!(percentile(&sorted, 500), Some(50));
        assert_eq!(percentile(&sorted, 990), Some(99));
        assert_eq!(percentile(&sorted, 999), None);
        assert_eq!(percentile(&sorted[..99], 990), None);
        assert_eq!(percentile(&[], 500), None);
    }

    #[test]
    fn a_percentile_interval_is_empty_where_n_is_too_small() {
        let sorted: Vec<i128> = (1..=100).collect();
        assert_eq!(percentile_interval(&sorted, 500), Some((40, 61)));
        assert_eq!(percentile_interval(&sorted, 990), None);
        assert_eq!(percentile_interval(&sorted[..3], 500), None);
    }

    #[test]
    fn the_ranks_of_a_medians_interval_are_those_of_the_sign_tests_table() {
        // Two-sided 5 % of the sign test, as in any textbook's table: n, and the lower rank; the upper one mirrors it.
        for (count, low) in
            [(6, 1), (10, 2), (15, 4), (20, 6), (25, 8), (30, 10), (40, 14), (50, 18), (100, 40)]
        {
            assert_eq!(interval_ranks(count, 500), Some((low, count + 1 - low)), "{count}");
        }
        assert_eq!(interval_ranks(5, 500), None);
    }

    #[test]
    fn the_ranks_of_an_interval_are_the_narrowest_that_hold_by_brute_force() {
        for per_mille in [500, 900, 990, 999] {
            let p = f64::from(per_mille) / 1000.0;
            for count in [7_u64, 30, 64, 250, 999] {
                // Of how many values below the percentile the chance is at most 2.5 %, term by term.
                // Logarithms, since the first terms are smaller than any f64.
                let mut term = count as f64 * (1.0 - p).ln();
                let mut below = vec![term.exp()];
                for k in 1..=count {
                    term += ((count - k + 1) as f64 / k as f64 * p / (1.0 - p)).ln();
                    below.push(below[k as usize - 1] + term.exp());
                }
                let low = (0..=count).find(|k| below[*k as usize] > 0.025).unwrap();
                let high = (0..=count).find(|k| below[*k as usize] >= 0.975).unwrap() + 1;
                let expected = (low >= 1 && high <= count).then_some((low, high));
                assert_eq!(interval_ranks(count, per_mille), expected, "{count} values, {per_mille}");
            }
        }
    }

    #[test]
    fn the_mean_is_rounded_to_a_picosecond() {
        assert_eq!(mean_ps(&[1, 2]), Some(2));
        assert_eq!(mean_ps(&[-1, -2]), Some(-2));
        assert_eq!(mean_ps(&[1, 1, 2]), Some(1));
        assert_eq!(mean_ps(&[]), None);
    }

    #[test]
    fn the_spread_about_a_line_ignores_offset_and_slope() {
        let points: Vec<(f64, f64)> = (0..100)
            .map(|x| (f64::from(x), 7.0 + 3.0 * f64::from(x) + if x % 2 == 0 { 1.0 } else { -1.0 }))
            .collect();
        assert!((spread_about_line(&points).unwrap() - 1.0).abs() < 0.02);
        assert_eq!(spread_about_line(&points[..2]), None);
    }

    #[test]
    fn independent_edges_are_worth_themselves() {
        let effective = one_session(noise(5, 3200)).effective_count().unwrap();
        assert!((1600.0..6400.0).contains(&effective), "{effective}");
        assert_eq!(one_session(vec![5; 200]).effective_count(), None);
    }
}
