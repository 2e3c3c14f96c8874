//! The estimator below one tick: the mean of the differences, with the interval that results/README.md describes.
//!
//! The unit of the interval is the session from three sessions on. With fewer it is the batch, within its session: that
//! says nothing about how the next boot will differ, and is labelled so.

use super::collect::PathWindow;
use super::histogram::Histogram;
use crate::analysis::estimate::Interval;
use crate::analysis::rate::student_975;

/// Sessions from which on the session is the unit.
pub const SESSIONS: usize = 3;

/// What one session says: its value, and that of each of its batches, in the same unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionValue {
    /// Of the whole session.
    pub value: f64,
    /// Of its batches.
    pub batches: Vec<f64>,
}

impl SessionValue {
    /// The mean difference of a window, in ticks. None of a window without pairs.
    #[must_use]
    pub fn mean_ticks(window: &PathWindow) -> Option<Self> {
        Self::mean_of(&window.batches)
    }

    /// The mean difference of batches, in ticks. None without pairs.
    #[must_use]
    pub fn mean_of(batches: &[Histogram]) -> Option<Self> {
        Self::of(batches, |histogram| histogram.mean().unwrap_or(0.0))
    }

    /// The share of pairs between which the counter advanced.
    #[must_use]
    pub fn advanced(window: &PathWindow) -> Option<Self> {
        Self::advanced_of(&window.batches)
    }

    /// The same of batches.
    #[must_use]
    pub fn advanced_of(batches: &[Histogram]) -> Option<Self> {
        Self::of(batches, |histogram| histogram.at_least(1) as f64 / histogram.total().max(1) as f64)
    }

    fn of(batches: &[Histogram], value: impl Fn(&Histogram) -> f64) -> Option<Self> {
        let all = Histogram::of_all(batches);
        let batches = batches.iter().filter(|batch| batch.total() > 0).map(&value).collect();
        (all.total() > 0).then(|| Self { value: value(&all), batches })
    }

    /// The same in another unit, with an offset taken off first.
    #[must_use]
    pub fn scaled(mut self, offset: f64, unit: f64) -> Self {
        self.value = (self.value - offset) * unit;
        self.batches.iter_mut().for_each(|batch| *batch = (*batch - offset) * unit);
        self
    }

    /// Variance of a batch's value within its session, and its degrees of freedom. None with fewer than two batches.
    fn within(&self) -> Option<(f64, f64)> {
        let freedom = self.batches.len().checked_sub(2)? as f64 + 1.0;
        let centre = average(&self.batches);
        Some((self.batches.iter().map(|batch| (batch - centre).powi(2)).sum::<f64>() / freedom, freedom))
    }

    /// Standard deviation of the session's value, by its batches. None with fewer than two.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        self.within().map(|(variance, _)| (variance / self.batches.len() as f64).sqrt())
    }
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the sessions.
    pub value: f64,
    /// None where neither sessions nor batches are enough.
    pub interval: Option<Interval>,
    /// Whether the interval is one between sessions, or within them.
    pub between_sessions: bool,
}

/// The mean of the sessions. None of none.
#[must_use]
pub fn estimate(sessions: &[SessionValue]) -> Option<Estimate> {
    if sessions.is_empty() {
        return None;
    }
    let values: Vec<f64> = sessions.iter().map(|session| session.value).collect();
    let value = average(&values);
    let between_sessions = sessions.len() >= SESSIONS;
    let half = if between_sessions { between(&values) } else { within(sessions) };
    Some(Estimate { value, interval: half.map(|half| (value - half, value + half)), between_sessions })
}

/// Half the interval of the mean of values, by Student's t. None of fewer than two.
#[must_use]
pub fn between(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(2)? as f64 + 1.0;
    let centre = average(values);
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / freedom;
    Some(student_975(freedom) * (variance / values.len() as f64).sqrt())
}

/// The same from the batches: each session's batches about their own mean, so that sessions may differ.
fn within(sessions: &[SessionValue]) -> Option<f64> {
    let (mut variance, mut freedom) = (0.0, 0.0);
    for session in sessions {
        let (of_batch, of_freedom) = session.within()?;
        variance += of_batch / session.batches.len() as f64;
        freedom += of_freedom;
    }
    let count = sessions.len() as f64;
    Some(student_975(freedom) * (variance / (count * count)).sqrt())
}

/// How many independent pairs the batches of one session amount to. None where they do not differ.
#[must_use]
pub fn effective_count(batches: &[Histogram]) -> Option<f64> {
    let (of_batch, _) = SessionValue::mean_of(batches)?.within()?;
    let of_pair = Histogram::of_all(batches).deviation()?;
    let count = batches.iter().filter(|batch| batch.total() > 0).count();
    (of_batch > 0.0).then(|| of_pair * of_pair * count as f64 / of_batch)
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(value: f64, batches: &[f64]) -> SessionValue {
        SessionValue { value, batches: batches.to_vec() }
    }

    #[test]
    fn from_three_sessions_on_the_session_is_the_unit() {
        let sessions = [10.0, 20.0, 30.0].map(|value| session(value, &[value; 32]));
        let all = estimate(&sessions).unwrap();
        let half = 4.302_652_729_7 * 10.0 / 3f64.sqrt();
        let (low, high) = all.interval.unwrap();
        assert!(all.between_sessions && (all.value - 20.0).abs() < 1e-12);
        assert!((low - (20.0 - half)).abs() < 1e-6 && (high - (20.0 + half)).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn two_sessions_that_differ_have_the_interval_of_their_batches() {
        let batches = |centre: f64| (0..32).map(|b| centre + if b % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let sessions = [10.0, 50.0].map(|centre| SessionValue { value: centre, batches: batches(centre) });
        let all = estimate(&sessions).unwrap();
        let (low, high) = all.interval.unwrap();
        // Student's t with 62 degrees of freedom, and 64 batches.
        let half = 1.998_971_5 * (32.0_f64 / 31.0).sqrt() / 8.0;
        assert!(!all.between_sessions && ((high - low) / 2.0 - half).abs() < 1e-6, "{low} {high} {half}");
    }

    #[test]
    fn one_batch_has_no_interval_and_no_session_no_value() {
        assert_eq!(estimate(&[session(3.0, &[3.0])]).unwrap().interval, None);
        assert_eq!(estimate(&[]), None);
    }
}
