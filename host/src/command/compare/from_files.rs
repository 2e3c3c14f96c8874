//! What files give to a comparison: samples, edges.csv, summary.csv, and plain tables without spread.
//!
//! They say less than a bundle does. What they do not say (the board, when a session began) goes with anything and pairs
//! with nothing.

use std::collections::BTreeMap;

use crate::analysis::compare::SESSIONS;
use crate::analysis::compare::difference::Moments;
use crate::analysis::compare::from_run::{EMULATED_LIVE, TAKEN_OFF};
use crate::analysis::compare::group::{Conditions, Group, Key, Quantity, Session, Singles, Values};
use crate::analysis::compare::student::two_sided;
use crate::analysis::estimate::mean;
use crate::analysis::samples::{SampleSet, SessionSamples};
use crate::formats::figure_table::NamedFigure;
use crate::formats::run_csv::{EdgeLatency, SummaryRow};
use crate::names::Measurement;
use crate::units::Hertz;

/// What is named after a build in samples.csv where reads stand back to back.
const OVERHEAD: &str = ":overhead";

fn named(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Of a file of samples whose counter has this rate.
#[must_use]
pub(super) fn of_samples(samples: &SampleSet, counter: Hertz, source: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // What follows a colon is of the same session: its overhead, or its ladder.
    for own in samples.sessions.iter().filter(|one| !one.key.variant.contains(':')) {
        let name = format!("{}{OVERHEAD}", own.key.variant);
        let overhead = samples.sessions.iter().find(|one| {
            one.key.variant == name
                && one.key.session == own.key.session
                && one.key.clock_id == own.key.clock_id
        });
        let (Some(ticks), off) = (own.mean_ticks(), overhead.and_then(SessionSamples::mean_ticks)) else {
            continue;
        };
        let session = Session {
            source,
            number: own.key.session,
            when: None,
            seed: None,
            n: own.n(),
            value: (ticks.value - off.as_ref().map_or(0.0, |off| off.value)) * 1e9 / counter.0.max(1) as f64,
            singles: Singles::Ticks(own.histogram()),
        };
        let key = Key {
            measurement: Some(Measurement::Path),
            variant: own.key.variant.clone(),
            tie: String::new(),
            quantity: Quantity::Mean,
            conditions: Conditions {
                clock_id: named(&own.key.clock_id),
                cores: Some("1".to_owned()),
                counter_hz: Some(counter.0.to_string()),
                emulated: samples.emulated,
                overhead: Some(if off.is_some() { TAKEN_OFF } else { "not taken off" }.to_owned()),
                ..Conditions::default()
            },
        };
        let unjudged = samples.emulated.unwrap_or(false).then_some(EMULATED_LIVE);
        let mut one = Group { unjudged, ..Group::new(key, Values::Sessions(vec![session])) };
        if !own.is_whole() {
            let (key, lost) = (&own.key, own.backwards + own.overflow);
            one.doubts.push(format!("{key}: {lost} pairs run backwards or are too long to be counted"));
        }
        let mut rest = Some(Box::new(one));
        for known in &mut groups {
            rest = rest.and_then(|one| known.absorb(*one).err());
        }
        groups.extend(rest.map(|one| *one));
    }
    groups
}

/// Of edges.csv.
#[must_use]
pub(super) fn of_edges(edges: &[EdgeLatency], source: usize) -> Vec<Group> {
    let mut found: BTreeMap<(&str, &str), BTreeMap<u32, Vec<i128>>> = BTreeMap::new();
    for edge in edges {
        let sessions = found.entry((&edge.mode, &edge.tie)).or_default();
        sessions.entry(edge.session).or_default().push(edge.ps);
    }
    let of = |((mode, tie), sessions): ((&str, &str), BTreeMap<u32, Vec<i128>>)| {
        let sessions = sessions.into_iter().map(|(number, values)| Session {
            source,
            number,
            when: None,
            seed: None,
            n: values.len() as u64,
            value: mean(&values) / 1e3,
            singles: Singles::Picoseconds(values),
        });
        let key = Key {
            measurement: Some(Measurement::Edge),
            variant: mode.to_owned(),
            tie: tie.to_owned(),
            quantity: Quantity::Mean,
            conditions: Conditions { clock: Some("live".to_owned()), ..Conditions::default() },
        };
        Group::new(key, Values::Sessions(sessions.collect()))
    };
    found.into_iter().map(of).collect()
}

/// Of summary.csv: the spread between sessions is what the 95 % interval was made of.
#[must_use]
pub(super) fn of_summary(rows: &[SummaryRow]) -> Vec<Group> {
    let mut groups: Vec<Group> = rows.iter().filter_map(|row| summary_group(rows, row)).collect();
    let is_exact = |one: &Group| one.key.conditions.clock.as_deref() == Some("exact");
    groups.retain(|one| is_exact(one) || one.key.quantity != Quantity::InstructionsPerOperation);
    // Where instructions were counted, they are compared.
    let keys = groups.iter().map(|one| one.key.clone()).collect::<Vec<_>>();
    for one in &mut groups {
        let counted = match one.key.quantity {
            Quantity::Mean => Quantity::Instructions,
            Quantity::Operations => Quantity::InstructionsPerOperation,
            _ => continue,
        };
        one.beside_tables_only = keys.contains(&Key { quantity: counted, ..one.key.clone() });
    }
    groups
}

fn summary_group(rows: &[SummaryRow], row: &SummaryRow) -> Option<Group> {
    let name = |column: &str| row.names.get(column).map_or("", String::as_str);
    let measurement: Measurement = name("measurement").parse().ok()?;
    let quantity = match (measurement, name("metric")) {
        (Measurement::Edge, "mean") | (Measurement::Path, "mean") => Quantity::Mean,
        (Measurement::Path, "instructions") => Quantity::Instructions,
        (Measurement::Ctime, "operations") => Quantity::Operations,
        (Measurement::Ctime, "instructions_per_operation") => Quantity::InstructionsPerOperation,
        (Measurement::Ctime, "ordering_violations") => Quantity::Violations,
        _ => return None,
    };
    let edge = measurement == Measurement::Edge;
    let same = |other: &&SummaryRow, metric: &str, columns: &[&str]| {
        other.names.get("metric").is_some_and(|name| name == metric)
            && columns.iter().all(|column| other.names.get(column) == row.names.get(column))
    };
    let rate = rows.iter().find(|other| same(other, "counter_rate", &["measurement"]));
    let declared = rate.and_then(|rate| rate.names.get("verdict")).map_or("", String::as_str);
    let exact = declared == "declared (exact)";
    let emulated = name("emulated").parse().ok();
    let conditions = Conditions {
        clock: (edge || !declared.is_empty()).then(|| if exact { "exact" } else { "live" }.to_owned()),
        clock_id: named(name("clock_id")).filter(|_| measurement == Measurement::Path),
        cores: named(name("cores")).filter(|_| !edge),
        rate_hz: named(name("rate_hz")).filter(|_| edge),
        counter_hz: (measurement == Measurement::Path)
            .then(|| rate.and_then(|rate| rate.value))
            .flatten()
            .map(|hertz| hertz.to_string()),
        emulated,
        overhead: (measurement == Measurement::Path).then(|| TAKEN_OFF.to_owned()),
        ..Conditions::default()
    };
    let key = Key {
        measurement: Some(measurement),
        variant: name(if edge { "mode" } else { "variant" }).to_owned(),
        tie: name("tie").to_owned(),
        quantity,
        conditions,
    };
    let bias = rows.iter().find(|other| same(other, "bias_bound", &["measurement", "variant", "clock_id"]));
    let live = emulated == Some(true) && !exact && !edge && quantity != Quantity::Violations;
    let invalid = (name("verdict") == "invalid").then(|| "its summary.csv calls it invalid".to_owned());
    Some(Group {
        bias_bound_ns: bias.and_then(|bias| bias.value),
        uncertainty: row.uncertainty,
        doubts: invalid.into_iter().collect(),
        unjudged: live.then_some(EMULATED_LIVE),
        ..Group::new(key, summary_values(row, quantity)?)
    })
}

fn summary_values(row: &SummaryRow, quantity: Quantity) -> Option<Values> {
    let (value, sessions, n) = (row.value?, row.sessions, row.n);
    let sampled = matches!(quantity, Quantity::Mean | Quantity::Operations);
    Some(match row.interval.filter(|_| sampled && sessions >= SESSIONS) {
        Some((low, high)) => {
            let sd = (high - low) / 2.0 * (sessions as f64).sqrt() / two_sided(0.05, sessions as f64 - 1.0);
            let moments = Moments { count: sessions, mean: low + (high - low) / 2.0, variance: sd * sd };
            Values::Summary { moments, n }
        }
        None => Values::Alone { value, sessions, n },
    })
}

/// Of a plain table.
#[must_use]
pub(super) fn of_table(figures: &[NamedFigure]) -> Vec<Group> {
    let of = |figure: &NamedFigure| {
        let key = Key {
            measurement: None,
            variant: figure.name.clone(),
            tie: String::new(),
            quantity: Quantity::Published,
            conditions: Conditions::default(),
        };
        let values = Values::Alone { value: figure.value, sessions: 0, n: 0 };
        Group { unit: figure.unit.clone(), ..Group::new(key, values) }
    };
    figures.iter().map(of).collect()
}
