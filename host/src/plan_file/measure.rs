//! The keys of a measure: those of `ppsrig run`, how many sessions, and what it is judged by.

use std::path::PathBuf;

use ppsrig_wire::{ClockId, EdgeMode};
use toml::de::DeValue;

use super::schema::{Place, existing, name};
use crate::analysis::class::Class;
use crate::bench_file::section::{
    Section, flag, integer, kind, name as one_of, number, number_text, text, texts,
};
use crate::formats::decimal::parse_rate;
use crate::names::{CLOCK_IDS, Clock, CtimeVariant, EDGE_MODES, Measurement, PathVariant};
use crate::night::plan::{Arm, Compare, Limit, Measure, NamedImage};

/// What an arm calls the measure's `baseline`.
pub(super) const BASELINE: &str = "baseline";
/// Rounds unless a plan says otherwise: the fewest with a verdict, and one where every session is the same.
const SESSIONS: u32 = crate::analysis::compare::SESSIONS as u32;
const ROUNDS: std::ops::RangeInclusive<i64> = 1..=1000;
const ANY: std::ops::RangeInclusive<f64> = -1e15..=1e15;
/// Most of what `ppsrig run` takes; what the bench cannot do is asked of it.
const COUNTS: std::ops::RangeInclusive<i64> = 0..=u32::MAX as i64;
const OPERATIONS: std::ops::RangeInclusive<i64> = 1..=100_000_000_000;
const CORES: std::ops::RangeInclusive<i64> = 1..=ppsrig_wire::CORES as i64;
const HERTZ: std::ops::RangeInclusive<i64> = 1..=i64::MAX;
/// What summary.csv has. `ledger_` goes with a class.
const METRICS: [&str; 21] = [
    "mean",
    "sd",
    "min",
    "p50",
    "p90",
    "p99",
    "p999",
    "max",
    "p_ge_1",
    "bias_bound",
    "resolution",
    "n_eff",
    "ladder_residual",
    "instructions",
    "operations",
    "instructions_per_operation",
    "ordering_violations",
    "counter_rate",
    "read_overhead",
    "tail_count",
    "probe_transactions",
];

/// How edges are captured: what stands for a build of theirs.
const MODES: [&str; 2] = ["irq", "poll"];
const COMPARE: &str = "give a list of { base = \"IMAGE\", new = \"IMAGE\" }; IMAGE:BUILD picks a build, `baseline` means \
                       what was measured before";
const NO_MARGIN: &str = "`margin`: only mean latencies have one, in nanoseconds; of exact counts it is one half, of \
                         operations 1 % of the base";

/// A measure that was read.
pub(super) struct Read {
    pub(super) measure: Measure,
}

/// The golden image's measure: one session, and nothing to compare it with.
pub(super) fn health(section: &mut Section<'_, '_>, place: &Place<'_>) -> Option<Read> {
    let mut measure = asked(section, place)?;
    section.optional("name", name);
    measure.name = "health".to_owned();
    measure.limits = limits(section, &builds(&measure), &[]);
    Some(Read { measure })
}

/// A measure of the plan.
pub(super) fn measure(
    section: &mut Section<'_, '_>,
    place: &Place<'_>,
    images: &[NamedImage],
) -> Option<Read> {
    let asked = asked(section, place);
    let named = section.optional("name", name);
    let sessions = section.optional("sessions", integer::<u32>(ROUNDS));
    let most = section.optional("most-sessions", integer::<u32>(ROUNDS));
    let margin = section.optional("margin", number(0.0..=1e12));
    let baseline = section.optional("baseline", |value| existing(value, place));
    let Some(mut measure) = asked else {
        // So that its keys are not called unknown.
        section.optional("compare", |_| Ok(()));
        section.optional("limits", |_| Ok(()));
        return None;
    };
    let builds = builds(&measure);
    let arms = Arms { images, builds: &builds, baseline: baseline.as_ref().map(|found| &found.value) };
    let compare = section.optional("compare", |value| arms.comparisons(value));
    measure.limits = limits(section, &builds, images);
    let exact = measure.clock == Clock::Exact;
    measure.name = named.map_or_else(|| measure.measurement.name().to_owned(), |name| name.value);
    measure.sessions = sessions.map_or(if exact { 1 } else { SESSIONS }, |found| found.value);
    measure.most_sessions = most.as_ref().map_or(measure.sessions, |found| found.value);
    measure.compare = compare.map_or_else(|| arms.all(), |found| found.value);
    check_sessions(section, &measure, most.map(|found| found.line));
    if let Some(margin) = margin {
        if exact || measure.measurement == Measurement::Ctime {
            section.report(margin.line, NO_MARGIN);
        }
        measure.margin = Some(margin.value);
    }
    Some(Read { measure })
}

fn check_sessions(section: &mut Section<'_, '_>, measure: &Measure, line: Option<usize>) {
    let (most, sessions) = (measure.most_sessions, measure.sessions);
    let line = line.unwrap_or(section.line());
    if most < sessions {
        section.report(line, &format!("`most-sessions`: {most} are fewer than `sessions`, {sessions}"));
    } else if measure.clock == Clock::Live && !measure.compare.is_empty() && most < SESSIONS {
        section.report(
            line,
            &format!(
                "{most} sessions: a comparison has no verdict before {SESSIONS}; give more, or compare = []"
            ),
        );
    }
}

/// What `ppsrig run` has options for.
fn asked(section: &mut Section<'_, '_>, place: &Place<'_>) -> Option<Measure> {
    let all: Vec<_> = Measurement::ALL.iter().map(|one| (one.name(), *one)).collect();
    let measurement = section.required("measurement", "edge, path or ctime", one_of(&all));
    let clocks: Vec<_> = Clock::ALL.iter().map(|one| (one.name(), *one)).collect();
    let clock = section.optional("clock", one_of(&clocks));
    let counter_hz = section.optional("counter-hz", integer(HERTZ));
    let clock_id = section.optional("clock-id", one_of(&turned(CLOCK_IDS)));
    let variants = section.optional("variants", texts);
    let edges = section.optional("edges", integer(COUNTS));
    let rate = section.optional("rate", |value| parse_rate(&number_text(value)?));
    let mode = section.optional("mode", one_of(&turned(EDGE_MODES)));
    let width_ms = section.optional("width-ms", integer(COUNTS));
    let iterations = section.optional("iterations", integer(COUNTS));
    let dither = section.optional("dither", flag);
    let cores = section.optional("cores", integer(CORES));
    let operations = section.optional("operations", integer(OPERATIONS));
    let scenario = section.optional("scenario", |value| existing(value, place));
    let measurement = measurement?.value;
    Some(Measure {
        name: String::new(),
        measurement,
        clock: clock.map_or(Clock::Live, |found| found.value),
        counter_hz: counter_hz.map(|found| found.value),
        clock_id: clock_id.map_or(ClockId::Realtime, |found| found.value),
        variants: variants.map(|found| found.value).unwrap_or_default(),
        edges: edges.map_or(100, |found| found.value),
        rate_millihertz: rate.map_or(10_000, |found| found.value.0),
        mode: mode.map_or(EdgeMode::Irq, |found| found.value),
        width_ms: width_ms.map(|found| found.value),
        iterations: iterations.map_or(1_000_000, |found| found.value),
        dither: dither.is_none_or(|found| found.value),
        cores: cores.map_or(1, |found| found.value),
        operations: operations.map_or(10_000_000, |found| found.value),
        scenario: scenario.map(|found| found.value),
        sessions: 1,
        most_sessions: 1,
        margin: None,
        compare: Vec::new(),
        limits: Vec::new(),
    })
}

fn turned<T: Copy>(table: &[(T, &'static str)]) -> Vec<(&'static str, T)> {
    table.iter().map(|(value, name)| (*name, *value)).collect()
}

/// The builds, or ways of capture, that there are of a measure.
fn builds(measure: &Measure) -> Vec<String> {
    let all: Vec<&str> = match measure.measurement {
        Measurement::Path => PathVariant::ALL.iter().map(|one| one.name()).collect(),
        Measurement::Ctime => CtimeVariant::ALL.iter().map(|one| one.name()).collect(),
        Measurement::Edge => MODES.to_vec(),
    };
    match measure.variants.is_empty() || measure.measurement == Measurement::Edge {
        true => all.into_iter().map(str::to_owned).collect(),
        false => measure.variants.clone(),
    }
}

/// What can be compared.
struct Arms<'a> {
    images: &'a [NamedImage],
    builds: &'a [String],
    baseline: Option<&'a PathBuf>,
}

impl Arms<'_> {
    /// Unless a plan says otherwise: every image with the baseline, or without one every other image with the first.
    fn all(&self) -> Vec<Compare> {
        let image = |image: &NamedImage| Arm::Image(image.name.clone());
        match (self.baseline, self.images) {
            (Some(baseline), images) => {
                let base = Arm::Baseline(baseline.clone());
                images.iter().map(|one| Compare { base: base.clone(), new: image(one) }).collect()
            }
            (None, [first, others @ ..]) => {
                others.iter().map(|one| Compare { base: image(first), new: image(one) }).collect()
            }
            (None, []) => Vec::new(),
        }
    }

    fn comparisons(&self, value: &DeValue<'_>) -> Result<Vec<Compare>, String> {
        let list = value.as_array().ok_or_else(|| format!("{COMPARE}, not {}", kind(value)))?;
        list.iter().map(|item| self.comparison(item.get_ref())).collect()
    }

    fn comparison(&self, value: &DeValue<'_>) -> Result<Compare, String> {
        let table = value.as_table().ok_or_else(|| format!("{COMPARE}, not of {}", kind(value)))?;
        if let Some(other) = table.keys().find(|key| !["base", "new"].contains(&key.get_ref().as_ref())) {
            return Err(format!("unknown key `{}`; {COMPARE}", other.get_ref()));
        }
        let side = |key: &str| {
            let value = table.get(key).ok_or_else(|| format!("`{key}` is missing; {COMPARE}"))?;
            self.arm(&text(value.get_ref())?)
        };
        let (base, new) = (side("base")?, side("new")?);
        match (&base, &new) {
            _ if base == new => Err("both sides are the same".to_owned()),
            (_, Arm::Baseline(_)) => Err("the baseline is what was before: make it the base".to_owned()),
            _ => Ok(Compare { base, new }),
        }
    }

    fn arm(&self, text: &str) -> Result<Arm, String> {
        if text == BASELINE {
            let none = "there is no `baseline` in this measure; give the path of its bundles";
            return self.baseline.cloned().map(Arm::Baseline).ok_or_else(|| none.to_owned());
        }
        let (image, build) = text.split_once(':').map_or((text, None), |(image, build)| (image, Some(build)));
        if !self.images.iter().any(|one| one.name == image) {
            let known: Vec<_> = self.images.iter().map(|one| one.name.as_str()).collect();
            return Err(format!(
                "no image is called `{image}`; there are {}, and {BASELINE}",
                known.join(", ")
            ));
        }
        match build {
            None => Ok(Arm::Image(image.to_owned())),
            Some(build) if self.builds.iter().any(|one| one == build) => {
                Ok(Arm::Variant { image: image.to_owned(), variant: build.to_owned() })
            }
            Some(build) => Err(format!("`{build}` is not measured; there are {}", self.builds.join(", "))),
        }
    }
}

fn limits(section: &mut Section<'_, '_>, builds: &[String], images: &[NamedImage]) -> Vec<Limit> {
    section
        .tables("limits", |section, line| limit(section, line, builds, images))
        .into_iter()
        .flatten()
        .collect()
}

fn limit(
    section: &mut Section<'_, '_>,
    line: usize,
    builds: &[String],
    images: &[NamedImage],
) -> Option<Limit> {
    let metric = section.required("metric", "what is limited, as summary.csv names it", metric);
    let known = |names: Vec<&str>| {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        move |value: &DeValue<'_>| {
            let name = text(value)?;
            let is_known = names.contains(&name);
            is_known
                .then_some(name.clone())
                .ok_or_else(|| format!("no `{name}` here; there are {}", names.join(", ")))
        }
    };
    let variant = section.optional("variant", known(builds.iter().map(String::as_str).collect()));
    let image = section.optional("image", known(images.iter().map(|one| one.name.as_str()).collect()));
    let at_most = section.optional("at-most", number(ANY)).map(|found| found.value);
    let at_least = section.optional("at-least", number(ANY)).map(|found| found.value);
    match (at_most, at_least) {
        (None, None) => section.report(line, "neither `at-most` nor `at-least`: it limits nothing"),
        (Some(most), Some(least)) if most < least => {
            section.report(line, &format!("at-most {most} is below at-least {least}: nothing can keep both"));
        }
        _ => {}
    }
    Some(Limit {
        metric: metric?.value,
        variant: variant.map(|found| found.value).unwrap_or_default(),
        image: image.map(|found| found.value).unwrap_or_default(),
        at_most,
        at_least,
    })
}

fn metric(value: &DeValue<'_>) -> Result<String, String> {
    let name = text(value)?;
    let classes = Class::ALL.iter().map(|class| format!("ledger_{class}"));
    let known: Vec<String> = METRICS.iter().map(|&one| one.to_owned()).chain(classes).collect();
    let is_known = known.contains(&name);
    is_known
        .then_some(name.clone())
        .ok_or_else(|| format!("no figure is called `{name}`; there are {}", known.join(", ")))
}
