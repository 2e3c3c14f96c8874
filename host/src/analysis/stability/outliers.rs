//! Frequencies far from their median: flagged, and left where they are.
//!
//! The scale is 1.4826 times the median absolute deviation or 1.2533 times the mean one, whichever is greater: of normal
//! noise both are the standard deviation, and where a counter's resolution leaves but two frequencies the median is 0. A frequency is far beyond five of these (what
//! Stable32 takes), or, in long series, beyond what normal noise exceeds once in twenty series. Median and deviation are
//! those of at most 65,536 frequencies spread over the series, since it may be as long as memory.

use statrs::distribution::{ContinuousCDF, Normal};

use super::analyse::Finding;
use super::{Prepared, View};
use crate::series::MISSING_PS;

/// Frequencies of which the median is taken.
const SAMPLE: usize = 1 << 16;
/// Distances from the median that are no outliers in a short series.
const FAR: f64 = 5.0;

/// What lies far out, if anything does.
pub(super) fn find(phase: &Prepared<'_>) -> Option<Finding> {
    match phase.view() {
        View::Seconds(points) => among(points.len(), |i| points[i + 1] - points[i]),
        View::Picoseconds(points) => among(points.len(), |i| {
            let there = points[i] != MISSING_PS && points[i + 1] != MISSING_PS;
            if there { points[i + 1].wrapping_sub(points[i]) as f64 } else { f64::NAN }
        }),
    }
}

/// Of the steps between points, in any unit; NaN where one is missing.
fn among(points: usize, step: impl Fn(usize) -> f64) -> Option<Finding> {
    let steps = points.checked_sub(1)?;
    let stride = steps.div_ceil(SAMPLE).max(1);
    let mut sample: Vec<f64> = (0..steps).step_by(stride).map(&step).filter(|step| !step.is_nan()).collect();
    let middle = median(&mut sample)?;
    sample.iter_mut().for_each(|step| *step = (*step - middle).abs());
    let distances = (0..steps).map(|i| (step(i) - middle).abs()).filter(|distance| !distance.is_nan());
    let (count, sum) = distances.fold((0_u64, 0.0), |(count, sum), distance| (count + 1, sum + distance));
    let scale = f64::max(1.4826 * median(&mut sample)?, 1.2533 * sum / count as f64);
    let chance = 0.05 / 2.0 / steps as f64;
    let limit = -scale * Normal::standard().inverse_cdf(chance).min(-FAR);
    let (mut count, mut first, mut largest) = (0, 0, 0.0);
    for i in 0..steps {
        let distance = (step(i) - middle).abs();
        if distance > limit {
            if count == 0 {
                first = i;
            }
            count += 1;
            largest = distance.max(largest);
        }
    }
    (count > 0).then(|| Finding::Outliers { count, first, largest: largest / scale })
}

/// The upper median.
fn median(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(half, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Phase, Series};

    fn found(values: Vec<f64>) -> Option<Finding> {
        let series = Series { phase: Phase::Seconds(values), tau0_s: 1.0, missing: 0 };
        find(&Prepared::new(&series).expect("a series"))
    }

    /// Nearly white noise that needs no generator.
    fn noise(len: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * i) as f64 * 0.414_213_562_373_095).fract() * 1e-9).collect()
    }

    #[test]
    fn a_step_of_phase_is_one_outlier() {
        let mut values = noise(1000);
        values[600..].iter_mut().for_each(|value| *value += 1e-6);
        let Some(Finding::Outliers { count: 1, first: 599, largest }) = found(values) else { panic!() };
        assert!(largest > 100.0);
    }

    #[test]
    fn a_wrong_reading_is_two_outliers() {
        let mut values = noise(1000);
        values[17] -= 1e-3;
        assert!(matches!(found(values), Some(Finding::Outliers { count: 2, first: 16, .. })));
    }

    #[test]
    fn noise_and_drift_have_none() {
        assert_eq!(found(noise(100_000)), None);
        assert_eq!(found((0..5000).map(|i| f64::from(i) * 0.25).collect()), None);
        let ticks = |i: i32| (f64::from(i) * 1.38).floor() * 80e-9;
        assert_eq!(found((0..5000).map(ticks).collect()), None);
        assert_eq!(found(vec![0.0; 100]), None);
        for few in 0..3 {
            assert_eq!(found(noise(few)), None);
        }
    }

    #[test]
    fn one_step_of_an_otherwise_constant_phase_is_an_outlier() {
        let values = (0..100_000).map(|i| if i < 70_001 { 0.0 } else { 1.0 }).collect();
        assert!(matches!(found(values), Some(Finding::Outliers { count: 1, first: 70_000, .. })));
    }

    #[test]
    fn a_gap_is_no_outlier() {
        let mut values = noise(1000);
        values[500] = f64::NAN;
        assert_eq!(found(values), None);
    }
}
