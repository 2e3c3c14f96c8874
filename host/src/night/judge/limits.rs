//! A night's limits: the mean over the sessions against what the plan allows, for each image and build; of what is itself the
//! largest or the smallest of a session, or must not happen at all, the session that is furthest out.
//!
//! A limit is no test: it is kept or exceeded by the value as it was measured. The mean's interval (Student's t, 95 %, over the
//! sessions) says whether more sessions could change that, and is shown.

use std::collections::BTreeSet;

use super::DoneStep;
use crate::analysis::compare::from_run::EMULATED_LIVE;
use crate::analysis::estimate::{SESSIONS, student};
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::names::{Clock, Measurement};
use crate::night::plan::{Limit, Measure, NamedImage};
use crate::night::result::{LimitResult, NightFigure};

/// What one limit is asked of.
struct Asked<'a> {
    measure: &'a Measure,
    limit: &'a Limit,
    image: &'a str,
    /// Of the image.
    done: &'a [DoneStep<'a>],
}

/// All limits of a measure, of what was done of it.
#[must_use]
pub fn all(measure: &Measure, images: &[NamedImage], done: &[DoneStep<'_>]) -> Vec<LimitResult> {
    let mut results = Vec::new();
    for limit in &measure.limits {
        for image in images.iter().filter(|image| limit.image.is_empty() || limit.image == image.name) {
            let of_image: Vec<_> = done.iter().filter(|one| one.step.image == image.name).copied().collect();
            results.extend(Asked { measure, limit, image: &image.name, done: &of_image }.results());
        }
    }
    results
}

impl Asked<'_> {
    fn results(&self) -> Vec<LimitResult> {
        let builds: BTreeSet<String> =
            self.done.iter().flat_map(|one| self.figures(one)).map(build).collect();
        if builds.is_empty() {
            let why = match self.done.first() {
                None => format!("{}: no run of it was done", self.limit.metric),
                Some(one) => format!("{}: {} has no such figure", self.limit.metric, one.bundle),
            };
            return vec![LimitResult { reason: why, ..self.empty(self.limit.variant.clone()) }];
        }
        builds.into_iter().map(|build| self.result(build)).collect()
    }

    fn figures<'f>(&'f self, one: &DoneStep<'f>) -> impl Iterator<Item = &'f NightFigure> {
        let wanted = self.limit.variant.as_str();
        one.measured.figures.iter().filter(move |figure| {
            let of = |name: &str| name == wanted;
            figure.metric == self.limit.metric
                && (wanted.is_empty() || of(&figure.variant) || of(&figure.mode))
        })
    }

    fn empty(&self, variant: String) -> LimitResult {
        LimitResult {
            image: self.image.to_owned(),
            variant,
            metric: self.limit.metric.clone(),
            unit: String::new(),
            at_most: self.limit.at_most,
            at_least: self.limit.at_least,
            value: None,
            interval: None,
            outcome: Outcome::Invalid,
            reason: String::new(),
            bundle: String::new(),
        }
    }

    fn result(&self, variant: String) -> LimitResult {
        let mut found: Vec<(&str, &NightFigure, Fixed)> = Vec::new();
        let mut unknown = None;
        for one in self.done {
            for figure in self.figures(one).filter(|figure| build(figure) == variant) {
                match figure.value {
                    Some(value) => found.push((one.bundle, figure, value)),
                    None => unknown = Some(one.bundle),
                }
            }
        }
        let mut result = self.empty(variant);
        let Some((_, figure, first)) = found.first() else {
            let metric = &self.limit.metric;
            result.reason = format!("{metric}: no value in {}", unknown.unwrap_or_default());
            return result;
        };
        let values: Vec<f64> = found.iter().map(|(_, _, value)| value.to_f64()).collect();
        let same = found.iter().all(|(_, _, value)| value == first);
        let places = if same { first.places } else { first.places.max(3) };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let fixed = |value: f64| Fixed::rounded(value, places);
        let all_alike = if same { Some(*first) } else { fixed(mean) };
        let session = |wanted: f64| found.iter().map(|(.., one)| *one).find(|one| one.to_f64() == wanted);
        let judged = Judged {
            most: match at_most_is_of_the_largest(&self.limit.metric) {
                true => session(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                false => all_alike,
            },
            least: match at_least_is_of_the_smallest(&self.limit.metric) {
                true => session(values.iter().copied().fold(f64::INFINITY, f64::min)),
                false => all_alike,
            },
        };
        result.unit.clone_from(&figure.unit);
        if !is_of_one_session(&self.limit.metric, self.limit.at_most, self.limit.at_least) {
            let interval =
                Some(&values).filter(|values| values.len() >= SESSIONS).and_then(|all| student(all, mean));
            result.interval = interval.and_then(|(low, high)| Some((fixed(low)?, fixed(high)?)));
        }
        result.bundle = self.worst(&found).to_owned();
        (result.value, result.outcome, result.reason) = self.outcome(&judged, figure);
        result
    }

    /// The bundle that is furthest beyond the limit, or nearest to it.
    fn worst<'b>(&self, found: &[(&'b str, &NightFigure, Fixed)]) -> &'b str {
        let beyond = |value: Fixed| {
            let value = value.to_f64();
            let above = self.limit.at_most.map(|most| value - most);
            let below = self.limit.at_least.map(|least| least - value);
            above.into_iter().chain(below).fold(f64::NEG_INFINITY, f64::max)
        };
        let worst = found.iter().max_by(|(_, _, a), (_, _, b)| beyond(*a).total_cmp(&beyond(*b)));
        worst.map_or("", |(bundle, ..)| bundle)
    }

    /// The value that decides, what it comes to, and why.
    fn outcome(&self, judged: &Judged, figure: &NightFigure) -> (Option<Fixed>, Outcome, String) {
        let metric = &self.limit.metric;
        let (Some(most), Some(least)) = (judged.most, judged.least) else {
            return (None, Outcome::Invalid, format!("{metric}: its mean is not known"));
        };
        let above = self.limit.at_most.filter(|limit| most.to_f64() > *limit);
        let below = self.limit.at_least.filter(|limit| least.to_f64() < *limit);
        let of_most = above.is_some() || below.is_none() && self.limit.at_most.is_some();
        let (value, extreme) = match of_most {
            true => (most, at_most_is_of_the_largest(metric).then_some("largest")),
            false => (least, at_least_is_of_the_smallest(metric).then_some("smallest")),
        };
        if let Some(why) = self.doubt() {
            return (Some(value), Outcome::Invalid, format!("{metric}: {why}"));
        }
        let sessions = match (self.done.len(), extreme) {
            (1, _) => " in 1 session".to_owned(),
            (sessions, None) => format!(" in {sessions} sessions"),
            (sessions, Some(extreme)) => format!(", the {extreme} of {sessions} sessions"),
        };
        let unit = if figure.unit == *metric { String::new() } else { format!(" {}", figure.unit) };
        let told = format!("{metric} {value}{unit}{sessions}");
        let (outcome, why) = match (above, below) {
            _ if self.is_unjudged() => (Outcome::Unjudged, EMULATED_LIVE.to_owned()),
            (Some(most), _) => (Outcome::Failed, format!("{told}: above the limit of {most}")),
            (_, Some(least)) => (Outcome::Failed, format!("{told}: below the limit of {least}")),
            _ => (Outcome::Passed, format!("{told}: within the limit")),
        };
        (Some(value), outcome, why)
    }

    /// Whether the figure is the speed of an emulated board that ran live.
    fn is_unjudged(&self) -> bool {
        let timed = !is_counted(&self.limit.metric);
        let live = self.measure.clock == Clock::Live && self.measure.measurement != Measurement::Edge;
        timed && live && self.done.iter().any(|one| one.measured.emulated)
    }

    /// Why a figure of these runs says nothing. What is counted stands all the same.
    fn doubt(&self) -> Option<String> {
        if is_counted(&self.limit.metric) {
            return None;
        }
        self.done.iter().find_map(|one| {
            let invalid = one.measured.outcome == Outcome::Invalid;
            let why = invalid.then(|| one.measured.reasons.first().cloned().unwrap_or_default());
            one.measured.outage.clone().or(why).map(|why| format!("{}: {why}", one.bundle))
        })
    }
}

/// What either side of a limit is asked of.
struct Judged {
    most: Option<Fixed>,
    least: Option<Fixed>,
}

/// Whether a session that is beyond the limit is not made good by others: what is itself the most of a session, a bound, or a
/// count of what must not happen.
fn at_most_is_of_the_largest(metric: &str) -> bool {
    ["max", "bias_bound", "ordering_violations"].contains(&metric) || metric.starts_with("ledger_")
}

fn at_least_is_of_the_smallest(metric: &str) -> bool {
    metric == "min"
}

/// Whether one session decides a limit, so that the mean's interval says nothing of it.
pub(super) fn is_of_one_session(metric: &str, at_most: Option<f64>, at_least: Option<f64>) -> bool {
    at_most.is_some() && at_most_is_of_the_largest(metric)
        || at_least.is_some() && at_least_is_of_the_smallest(metric)
}

/// The build, or the way of capture with its tie, that a figure is of.
fn build(figure: &NightFigure) -> String {
    let parts = [figure.variant.as_str(), &figure.mode, &figure.tie];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Figures that are counts, or bounds, whatever may be said of the speed.
fn is_counted(metric: &str) -> bool {
    const COUNTED: [&str; 5] = [
        "bias_bound",
        "instructions",
        "instructions_per_operation",
        "ordering_violations",
        "probe_transactions",
    ];
    COUNTED.contains(&metric) || metric.starts_with("ledger_")
}
