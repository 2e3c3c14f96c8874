//! metrics.prom: a night as OpenMetrics text, for node_exporter's textfile collector and whatever scrapes OpenMetrics.
//!
//! Only gauges, since older readers of the format know no other type that would fit. Units are base units and end the name,
//! as OpenMetrics asks: what is in nanoseconds elsewhere is in seconds here. What is not known has no sample.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::analysis::compare::Verdict;
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::formats::foreign_text::visible;
use crate::night::Night;
use crate::night::result::{ComparisonResult, MeasureResult};
use crate::night::sums::{SessionMean, seconds_between, session_means, unix_seconds};

type Labels = Vec<(&'static str, String)>;

/// Samples of one name.
#[derive(Debug)]
struct Family {
    help: &'static str,
    samples: Vec<(Labels, Fixed)>,
}

/// Families by name and unit, in the order of their names.
#[derive(Debug, Default)]
struct Families(BTreeMap<(String, String), Family>);

/// The file.
#[must_use]
pub fn night(night: &Night) -> String {
    let mut families = Families::default();
    of_night(night, &mut families);
    for measure in &night.measures {
        for mean in session_means(measure) {
            of_figure(night, measure, &mean, &mut families);
        }
        for one in &measure.comparisons {
            of_comparison(night, measure, one, &mut families);
        }
        for limit in &measure.limits {
            let own = [("image", &limit.image), ("variant", &limit.variant), ("metric", &limit.metric)];
            for outcome in Outcome::ALL {
                let of = labels(night, &own, &[("measure", &measure.name), ("outcome", outcome.name())]);
                families.add("limit_outcome", "", LIMIT_OUTCOME, of, flag(limit.outcome == outcome));
            }
        }
    }
    let mut registry = Registry::with_prefix("ppsrig");
    registry.register_collector(Box::new(families));
    let mut file = String::new();
    text::encode(&mut file, &registry).expect("memory takes everything");
    file
}

const LIMIT_OUTCOME: &str = "1 for what a limit came to, 0 for what it did not";

fn of_night(night: &Night, to: &mut Families) {
    let own = || labels(night, &[], &[]);
    for outcome in Outcome::ALL {
        let of = labels(night, &[], &[("outcome", outcome.name())]);
        let help = "1 for what the night came to, 0 for what it did not";
        to.add("night_outcome", "", help, of, flag(night.outcome == outcome));
    }
    to.add("night_exit_code", "", "Exit status of the night: 0, 1, 2 or 3", own(), whole(night.exit));
    to.add("night_resumptions", "", "How often it went on after it was cut", own(), whole(night.resumed));
    let mut time = |name, help, seconds: Option<i64>| {
        if let Some(seconds) = seconds {
            to.add(name, "seconds", help, own(), whole(seconds));
        }
    };
    let ended = unix_seconds(&night.ended_utc);
    let took = seconds_between(&night.started_utc, &night.ended_utc);
    time("night_start_timestamp", "When the night began", unix_seconds(&night.started_utc));
    time("night_end_timestamp", "When it ended", ended);
    time("night_last_success_timestamp", "When it ended, if it passed", ended.filter(|_| night.exit == 0));
    time("night_duration", "How long it took", took.and_then(|took| i64::try_from(took).ok()));
    let online = online(night);
    if let Some(online) = online {
        let bench = vec![("bench", visible(&night.bench).into_owned())];
        to.add("bench_online", "", "1 if the bench is well, 0 if it is sick or offline", bench, flag(online));
    }
}

/// Whether the bench is well, as far as the night shows it.
fn online(night: &Night) -> Option<bool> {
    let offline =
        night.outcome == Outcome::NotDone && night.reasons.iter().any(|reason| reason.contains("offline"));
    let ran = night.measures.iter().flat_map(|measure| &measure.steps);
    match &night.health {
        Some(health) if !health.well => Some(false),
        _ if offline => Some(false),
        Some(_) => Some(true),
        None => ran.clone().any(|step| step.outcome != Outcome::NotDone).then_some(true),
    }
}

fn of_figure(night: &Night, measure: &MeasureResult, mean: &SessionMean, to: &mut Families) {
    let figure = &mean.figure;
    let own = [
        ("measure", &measure.name),
        ("image", &mean.image),
        ("variant", &figure.variant),
        ("mode", &figure.mode),
        ("tie", &figure.tie),
    ];
    let own = || labels(night, &own, &[("clock", measure.clock)]);
    let (low, high) = figure.interval.unzip();
    let values = [
        ("", "Mean of the sessions; of a ledger's class, the sum", figure.value),
        ("_ci95_low", "Low end of the 95 % interval", low),
        ("_ci95_high", "High end of the 95 % interval", high),
        ("_u_systematic", "Systematic uncertainty", figure.uncertainty),
    ];
    for (part, help, value) in values {
        if let Some((value, unit)) = value.map(|value| in_base_unit(value, &figure.unit)) {
            to.add(&format!("figure_{}{part}", name(&figure.metric)), &unit, help, own(), value);
        }
    }
    if figure.metric == "mean" {
        to.add("figure_mean_sessions", "", "Sessions behind the mean", own(), whole(mean.sessions));
    }
}

fn of_comparison(night: &Night, measure: &MeasureResult, one: &ComparisonResult, to: &mut Families) {
    let own = [
        ("measure", &measure.name),
        ("base", &one.base),
        ("new", &one.new),
        ("variant", &one.variant),
        ("metric", &one.metric),
    ];
    for verdict in Verdict::ALL {
        let of = labels(night, &own, &[("verdict", verdict.name())]);
        let help = "1 for what a comparison came to, 0 for what it did not";
        to.add("comparison_verdict", "", help, of, flag(one.verdict == verdict));
    }
    // A tail is judged by the factor between its sides.
    let bounds = if one.is_factor() { "1" } else { &one.change_unit };
    let (low, high) = one.interval.unzip();
    let values = [
        ("comparison_base", "Value of the base", one.base_value, one.unit.as_str()),
        ("comparison_new", "Value of the new side", one.new_value, &one.unit),
        ("comparison_change", "New less base; of a tail, new over base", one.change, bounds),
        ("comparison_interval_low", "Low end of the change's interval", low, bounds),
        ("comparison_interval_high", "High end of the change's interval", high, bounds),
        ("comparison_margin", "What a change has to exceed", one.margin, bounds),
        ("comparison_resolvable", "Change that is found nine times in ten", one.resolvable, bounds),
    ];
    for (name, help, value, unit) in values {
        if let Some((value, unit)) = value.map(|value| in_base_unit(value, unit)) {
            to.add(name, &unit, help, labels(night, &own, &[]), value);
        }
    }
}

/// Labels of a sample, those of the night first. Empty ones say nothing, and are left out.
fn labels(night: &Night, own: &[(&'static str, &String)], more: &[(&'static str, &str)]) -> Labels {
    let emulated = night.emulated.to_string();
    let of_night = [("plan", night.name.as_str()), ("bench", &night.bench), ("emulated", &emulated)];
    let own = own.iter().map(|(name, text)| (*name, text.as_str()));
    let all = of_night.into_iter().chain(own).chain(more.iter().copied());
    let shown =
        all.filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name, visible(text).into_owned()));
    shown.collect()
}

fn whole(value: impl Into<i128>) -> Fixed {
    Fixed::whole(value.into())
}

fn flag(is: bool) -> Fixed {
    whole(u8::from(is))
}

/// A value and its unit as OpenMetrics names it.
fn in_base_unit(value: Fixed, unit: &str) -> (Fixed, String) {
    let seconds =
        |places: u8| (Fixed { places: value.places.saturating_add(places), ..value }, "seconds".to_owned());
    match unit {
        "s" => seconds(0),
        "ms" => seconds(3),
        "us" => seconds(6),
        "ns" => seconds(9),
        "ps" => seconds(12),
        "Hz" => (value, "hertz".to_owned()),
        "1/s" => (value, "per_second".to_owned()),
        "1" => (value, "ratio".to_owned()),
        "%" => (value, "percent".to_owned()),
        "per million" => (value, "per_million".to_owned()),
        // `pairs of >=2 ticks a session`: what is counted.
        other => (value, name(other.split(' ').next().unwrap_or_default())),
    }
}

/// Lower case, digits and underscores, none of them at the end.
fn name(text: &str) -> String {
    let fits = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    text.chars().map(fits).collect::<String>().trim_end_matches('_').to_owned()
}

impl Families {
    fn add(&mut self, name: &str, unit: &str, help: &'static str, labels: Labels, value: Fixed) {
        // The unit ends the name, once.
        let stem = name.strip_suffix(unit).and_then(|stem| stem.strip_suffix('_')).unwrap_or(name);
        let key = (stem.to_owned(), unit.to_owned());
        let family = self.0.entry(key).or_insert_with(|| Family { help, samples: Vec::new() });
        // The same labels twice would be refused by every reader.
        if family.samples.iter().all(|(known, _)| *known != labels) {
            family.samples.push((labels, value));
        }
    }
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for ((name, unit), family) in &self.0 {
            let unit = (!unit.is_empty()).then(|| Unit::Other(unit.clone()));
            let mut metric =
                encoder.encode_descriptor(name, family.help, unit.as_ref(), MetricType::Gauge)?;
            for (labels, value) in &family.samples {
                ConstGauge::new(value.to_f64()).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}
