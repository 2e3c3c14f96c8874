//! The figures of summary.csv: one row each, with n, interval and uncertainty. Unknown is empty, never 0.

use std::borrow::Cow;

use super::estimate::{SESSIONS, student};
use super::fixed::Fixed;
use crate::names::Measurement;

/// One row of summary.csv.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it belongs to.
    pub measurement: Measurement,
    /// The clock that was asked for; empty for edges, whose clock is the plan's, and where it concerns none.
    pub clock_id: &'static str,
    /// Cores that it was measured on.
    pub cores: u8,
    /// How edges were captured: irq, poll or, where it concerns all, the plan's mode; else empty.
    pub mode: &'static str,
    /// The build that was measured; for ledger rows, the side and the burst; else empty.
    pub variant: &'static str,
    /// How the latency is tied; empty where there is none.
    pub tie: &'static str,
    /// What it is.
    pub metric: String,
    /// The unit of value, interval and uncertainty.
    pub unit: Cow<'static, str>,
    /// What it was computed from.
    pub n: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// The value.
    pub value: Option<Fixed>,
    /// Its 95 % interval.
    pub interval: Option<(Fixed, Fixed)>,
    /// Its systematic uncertainty, expanded or a bound.
    pub uncertainty: Option<Fixed>,
    /// What it means for the verdict: passed, exceeded, refused, invalid; else empty.
    pub verdict: &'static str,
}

impl Figure {
    /// A figure of edges, without value.
    #[must_use]
    pub fn new(mode: &'static str, tie: &'static str, metric: &str, unit: &'static str) -> Self {
        Self {
            measurement: Measurement::Edge,
            clock_id: "",
            cores: 1,
            mode,
            variant: "",
            tie,
            metric: metric.to_owned(),
            unit: Cow::Borrowed(unit),
            n: 0,
            sessions: 0,
            value: None,
            interval: None,
            uncertainty: None,
            verdict: "",
        }
    }

    /// How many values of each session lie in the tail; the mean of the sessions, and from three of them on its interval.
    /// The unit says where the tail begins.
    #[must_use]
    pub fn of_tail(self, unit: String, sessions: &[u64]) -> Self {
        let counts: Vec<f64> = sessions.iter().map(|count| *count as f64).collect();
        let places = if sessions.len() > 1 { 3 } else { 0 };
        let fixed = |value: f64| Fixed::rounded(value.max(0.0), places);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let interval = Some(()).filter(|()| counts.len() >= SESSIONS).and_then(|()| student(&counts, mean));
        Self {
            unit: Cow::Owned(unit),
            value: fixed(mean).filter(|_| !counts.is_empty()),
            interval: interval.and_then(|(low, high)| Some((fixed(low)?, fixed(high)?))),
            ..self
        }
    }

    /// A figure of another measurement, without value.
    #[must_use]
    pub fn of(measurement: Measurement, variant: &'static str, metric: &str, unit: &'static str) -> Self {
        Self { measurement, variant, ..Self::new("", "", metric, unit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_counted_by_session_and_has_an_interval_from_three_on() {
        let tail = |sessions: &[u64]| {
            Figure::new("irq", "echo", "tail_count", "edges").of_tail(String::new(), sessions)
        };
        let text = |value: Option<Fixed>| value.map(|value| value.to_string());
        assert_eq!((text(tail(&[7]).value), tail(&[7]).interval), (Some("7".to_owned()), None));
        assert_eq!((text(tail(&[7, 8]).value), tail(&[7, 8]).interval), (Some("7.500".to_owned()), None));
        let three = tail(&[10, 20, 30]);
        // Student's t with 2 degrees of freedom: 4.3027 times 10 / sqrt(3); a count is never negative.
        let (low, high) = three.interval.unwrap();
        assert_eq!([low, high].map(|end| end.to_string()), ["0.000", "44.841"]);
        assert_eq!(text(tail(&[]).value), None);
    }
}
