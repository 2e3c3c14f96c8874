//! What reports of a night show beside its verdicts: how long its parts took, and the mean of each figure over its sessions.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::result::{MeasureResult, Night, NightFigure, StepResult};
use crate::analysis::estimate::{SESSIONS, student};
use crate::analysis::fixed::Fixed;

/// A figure over all sessions of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionMean {
    /// The image.
    pub image: String,
    /// Build, mode, tie, metric and unit are those of the sessions; value, interval (Student's t, 95 %, from three sessions on)
    /// and n are over all of them, the uncertainty is the largest of theirs. A ledger's figure is the sum.
    pub figure: NightFigure,
    /// Sessions that have the figure.
    pub sessions: u64,
}

/// Seconds since 1970, UTC. None if it is no time.
#[must_use]
pub fn unix_seconds(utc: &str) -> Option<i64> {
    utc.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

/// Whole seconds from one time to another. None if one is unknown, or the clock was set back.
#[must_use]
pub fn seconds_between(from: &str, to: &str) -> Option<u64> {
    u64::try_from(unix_seconds(to)?.checked_sub(unix_seconds(from)?)?).ok()
}

/// Durations one after the other.
pub fn total(durations: impl Iterator<Item = Duration>) -> Duration {
    durations.fold(Duration::ZERO, Duration::saturating_add)
}

/// How long a step took: from the end of what was done before it, or from the night's start. The first step's time has the health
/// check in it, and that of the first step after the night was cut has the gap in it.
#[must_use]
pub fn step_seconds(night: &Night, step: &StepResult) -> Option<u64> {
    let ends = night.measures.iter().flat_map(|measure| &measure.steps).map(|one| one.utc.as_str());
    let before =
        ends.filter(|end| unix_seconds(end) < unix_seconds(&step.utc)).max_by_key(|end| unix_seconds(end));
    seconds_between(before.unwrap_or(&night.started_utc), &step.utc)
}

/// Every figure of a measure that has a value, over its sessions; in the order of images and builds.
#[must_use]
pub fn session_means(measure: &MeasureResult) -> Vec<SessionMean> {
    type Key<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str);
    let mut groups: BTreeMap<Key<'_>, Vec<&NightFigure>> = BTreeMap::new();
    for step in &measure.steps {
        for figure in step.figures.iter().filter(|figure| figure.value.is_some()) {
            let NightFigure { variant, mode, tie, metric, unit, .. } = figure;
            groups.entry((&step.step.image, variant, mode, tie, metric, unit)).or_default().push(figure);
        }
    }
    let mean = |((image, ..), figures): (Key<'_>, Vec<&NightFigure>)| SessionMean {
        image: image.to_owned(),
        sessions: figures.len() as u64,
        figure: over(&figures),
    };
    groups.into_iter().map(mean).collect()
}

fn over(figures: &[&NightFigure]) -> NightFigure {
    let first = figures[0];
    let values: Vec<Fixed> = figures.iter().filter_map(|figure| figure.value).collect();
    let floats: Vec<f64> = values.iter().map(|value| value.to_f64()).collect();
    let summed = first.metric.starts_with("ledger_");
    let same = values.iter().all(|value| *value == values[0]);
    let places = if same { values[0].places } else { values[0].places.max(3) };
    let mean = floats.iter().sum::<f64>() / floats.len() as f64;
    let fixed = |value: f64| Fixed::rounded(value, places);
    let value = match (summed, same) {
        (true, _) => Some(Fixed::whole(values.iter().map(|value| value.scaled).sum())),
        (false, true) => Some(values[0]),
        (false, false) => fixed(mean),
    };
    let interval = match (figures, summed) {
        (_, true) => None,
        ([only], _) => only.interval,
        (several, _) if several.len() < SESSIONS => None,
        _ => student(&floats, mean).and_then(|(low, high)| Some((fixed(low)?, fixed(high)?))),
    };
    let uncertainties = figures.iter().filter_map(|figure| figure.uncertainty);
    NightFigure {
        n: figures.iter().map(|figure| figure.n).sum(),
        value,
        interval,
        uncertainty: uncertainties.max_by(|a, b| a.to_f64().total_cmp(&b.to_f64())),
        ..first.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(metric: &str, value: i128) -> NightFigure {
        NightFigure {
            variant: "inline".into(),
            mode: String::new(),
            tie: String::new(),
            metric: metric.into(),
            unit: "ns".into(),
            n: 100,
            value: Some(Fixed::nanoseconds(value)),
            interval: Some((Fixed::nanoseconds(value - 1), Fixed::nanoseconds(value + 1))),
            uncertainty: Some(Fixed::nanoseconds(value / 100)),
        }
    }

    #[test]
    fn the_mean_is_over_sessions_and_has_an_interval_from_three_on() {
        let all = [figure("mean", 10_000), figure("mean", 20_000), figure("mean", 30_000)];
        let of = |count: usize| over(&all.iter().take(count).collect::<Vec<_>>());
        assert_eq!(of(1), all[0]);
        assert_eq!((of(2).value, of(2).interval), (Some(Fixed::nanoseconds(15_000)), None));
        // Student's t with 2 degrees of freedom: 4.3027 times 10 / sqrt(3).
        let (low, high) = of(3).interval.unwrap();
        assert_eq!([low, high].map(|end| end.to_string()), ["-4.841", "44.841"]);
        assert_eq!((of(3).n, of(3).uncertainty), (300, Some(Fixed::nanoseconds(300))));
    }

    #[test]
    fn counts_of_the_ledger_are_added() {
        let count = |value| NightFigure { value: Some(Fixed::whole(value)), ..figure("ledger_missed", 0) };
        let (a, b) = (count(2), count(3));
        let sum = over(&[&a, &b]);
        assert_eq!((sum.value, sum.interval), (Some(Fixed::whole(5)), None));
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_duration() {
        assert_eq!(seconds_between("2026-12-01T01:00:00Z", "2026-12-01T01:02:03Z"), Some(123));
        assert_eq!(seconds_between("2026-12-01T01:00:00Z", "2026-12-01T00:59:59Z"), None);
        assert_eq!(seconds_between("", "2026-12-01T00:59:59Z"), None);
    }
}
