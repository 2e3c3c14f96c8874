//! Series: one figure of one image on one bench, a value a night, and on which night it changed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::query::{FigureOfRun, GOLDEN, NightRow, Run};
use crate::analysis::changes::{Cause, Change, Kind, cause, changes};

/// What is followed unless a metric is asked for: what a comparison judges.
pub const FOLLOWED: [&str; 4] = ["mean", "instructions", "operations", "instructions_per_operation"];
/// The least margin of a mean in nanoseconds, as in a comparison.
const LEAST_MARGIN_NS: f64 = 1.0;
/// Of everything else, as in a comparison of operations.
const SHARE: f64 = 0.01;
/// Instructions are whole.
const HALF_AN_INSTRUCTION: f64 = 0.5;

/// What makes two figures comparable from night to night. The image is the plan's name for it: its content is what changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// The bench.
    pub bench: String,
    /// The plan's name for what was measured; empty without night.
    pub measure: String,
    /// The plan's name of the image, or its file name.
    pub image: String,
    /// As in summary.csv.
    pub measurement: String,
    /// As in summary.csv.
    pub variant: String,
    /// As in summary.csv.
    pub clock_id: String,
    /// As in summary.csv.
    pub cores: String,
    /// As in summary.csv.
    pub mode: String,
    /// As in summary.csv.
    pub tie: String,
    /// As in summary.csv.
    pub rate_hz: String,
    /// As in summary.csv.
    pub metric: String,
    /// As in summary.csv.
    pub unit: String,
    /// live, exact.
    pub clock: String,
    /// Whether the board was emulated.
    pub emulated: bool,
}

/// A night of a series, or a run outside of any.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its folder.
    pub night: String,
    /// Its start, UTC.
    pub utc: String,
    /// Mean of its runs; none: nothing was measured, or nothing that is to be trusted.
    pub value: Option<f64>,
    /// Runs behind it.
    pub runs: u32,
    /// SHA-256 of the image.
    pub image_sha256: String,
}

/// A change with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// What changed, by how much.
    #[serde(flatten)]
    pub change: Change,
    /// The night's folder.
    pub folder: String,
    /// Its start, UTC.
    pub utc: String,
    /// Whose it is.
    pub cause: Cause,
    /// Whether another image of that name was measured from this night on.
    pub image_changed: bool,
}

/// A series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What of.
    pub key: Key,
    /// What a difference has to exceed.
    pub margin: f64,
    /// Whether it is judged: live figures of an emulated board's code are not.
    pub judged: bool,
    /// The nights of the bench, oldest first.
    pub points: Vec<Point>,
    /// Its changes.
    pub changes: Vec<Found>,
}

/// The series of these figures, by name. `nights` and `runs` give each bench its nights, those without a figure too.
#[must_use]
pub fn series(figures: &[FigureOfRun], nights: &[NightRow], runs: &[Run], metrics: &[&str]) -> Vec<Series> {
    let mut of: BTreeMap<Key, Vec<&FigureOfRun>> = BTreeMap::new();
    let followed = |one: &&FigureOfRun| metrics.contains(&one.metric.as_str()) && one.value.is_some();
    for figure in figures.iter().filter(followed) {
        of.entry(key(figure)).or_default().push(figure);
    }
    let mut series: Vec<Series> =
        of.into_iter().map(|(key, figures)| one(key, &figures, nights, runs)).collect();
    let golden: Vec<Series> = series.iter().filter(|one| one.key.image == GOLDEN).cloned().collect();
    for one in &mut series {
        let mut found = std::mem::take(&mut one.changes);
        found.iter_mut().for_each(|change| change.cause = cause_of(one, change, &golden));
        one.changes = found;
    }
    series
}

fn key(figure: &FigureOfRun) -> Key {
    let one = figure.clone();
    Key {
        bench: one.bench,
        measure: one.measure,
        image: one.image,
        measurement: one.measurement,
        variant: one.variant,
        clock_id: one.clock_id,
        cores: one.cores,
        mode: one.mode,
        tie: one.tie,
        rate_hz: one.rate_hz,
        metric: one.metric,
        unit: one.unit,
        clock: one.clock,
        emulated: one.emulated.unwrap_or(false),
    }
}

fn one(key: Key, figures: &[&FigureOfRun], nights: &[NightRow], runs: &[Run]) -> Series {
    let mut points = timeline(&key.bench, nights, runs);
    for point in &mut points {
        let own = |figure: &&&FigureOfRun| folder(figure) == point.night;
        let all: Vec<_> = figures.iter().filter(own).collect();
        let values: Vec<f64> = all.iter().filter(|one| one.trusted).filter_map(|one| one.value).collect();
        point.runs = u32::try_from(values.len()).unwrap_or(u32::MAX);
        point.value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        point.image_sha256 = all.first().map(|one| one.image_sha256.clone()).unwrap_or_default();
    }
    let values: Vec<Option<f64>> = points.iter().map(|point| point.value).collect();
    let (margin, kind) = margin(&key, &values);
    let judged = !(key.emulated && key.clock == "live" && key.measurement != "edge");
    let found = if judged { changes(&values, margin, kind) } else { Vec::new() };
    let changes = found.into_iter().map(|change| with_night(change, &points)).collect();
    Series { key, margin, judged, points, changes }
}

fn folder(figure: &FigureOfRun) -> &str {
    if figure.night.is_empty() { &figure.run } else { &figure.night }
}

/// The nights of a bench and its runs outside of any, oldest first.
fn timeline(bench: &str, nights: &[NightRow], runs: &[Run]) -> Vec<Point> {
    let point = |folder: &str, utc: &str| Point {
        night: folder.to_owned(),
        utc: utc.to_owned(),
        value: None,
        runs: 0,
        image_sha256: String::new(),
    };
    let of_bench = nights.iter().filter(|night| night.bench == bench);
    let alone = runs.iter().filter(|run| run.bench == bench && run.night.is_empty());
    let mut points: Vec<Point> = of_bench.map(|night| point(&night.folder, &night.started_utc)).collect();
    points.extend(alone.map(|run| point(&run.folder, &run.started_utc)));
    points.sort_by(|a, b| (&a.utc, &a.night).cmp(&(&b.utc, &b.night)));
    points
}

fn margin(key: &Key, values: &[Option<f64>]) -> (f64, Kind) {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let share = SHARE * (known.iter().sum::<f64>() / known.len().max(1) as f64).abs();
    match key.metric.as_str() {
        "instructions" | "instructions_per_operation" if key.clock == "exact" => {
            (HALF_AN_INSTRUCTION, Kind::Exact)
        }
        _ if key.unit == "ns" => (share.max(LEAST_MARGIN_NS), Kind::Sampled),
        _ => (share, Kind::Sampled),
    }
}

fn with_night(change: Change, points: &[Point]) -> Found {
    let point = &points[change.night];
    let before = points[..change.night].iter().rev().find(|point| !point.image_sha256.is_empty());
    Found {
        change,
        folder: point.night.clone(),
        utc: point.utc.clone(),
        cause: Cause::Unknown,
        image_changed: before.is_some_and(|before| before.image_sha256 != point.image_sha256),
    }
}

/// By every golden figure of the same bench: one that moved outweighs those that stayed.
fn cause_of(one: &Series, found: &Found, golden: &[Series]) -> Cause {
    let own = golden.iter().filter(|golden| golden.key.bench == one.key.bench && golden.judged);
    let causes = own.map(|golden| {
        let values: Vec<Option<f64>> = golden.points.iter().map(|point| point.value).collect();
        let moved: Vec<Change> = golden.changes.iter().map(|found| found.change).collect();
        cause(found.change.night, &values, &moved)
    });
    let causes: Vec<Cause> = causes.collect();
    [Cause::Bench, Cause::Image].into_iter().find(|cause| causes.contains(cause)).unwrap_or(Cause::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn night(number: usize, health: &str) -> NightRow {
        NightRow {
            folder: format!("night-{number:02}"),
            plan: "plan".into(),
            bench: "a53".into(),
            started_utc: format!("2026-11-{number:02}T01:30:00Z"),
            outcome: "passed".into(),
            exit: Some(0),
            reasons: Vec::new(),
            health: health.into(),
            offline: Vec::new(),
            problem: String::new(),
        }
    }

    fn figure(number: usize, image: &str, value: f64, trusted: bool) -> FigureOfRun {
        FigureOfRun {
            run: format!("night-{number:02}/runs/{image}"),
            night: format!("night-{number:02}"),
            plan: "plan".into(),
            night_utc: String::new(),
            measure: if image == GOLDEN { "health" } else { "path" }.into(),
            image: image.into(),
            image_sha256: format!("{value}"),
            bench: "a53".into(),
            started_utc: String::new(),
            emulated: Some(true),
            clock: "exact".into(),
            trusted,
            measurement: "path".into(),
            variant: "inline".into(),
            clock_id: "realtime".into(),
            cores: "1".into(),
            mode: String::new(),
            tie: String::new(),
            rate_hz: String::new(),
            metric: "instructions".into(),
            unit: "instructions".into(),
            n: 1,
            sessions: 1,
            value: Some(value),
            ci95_low: None,
            ci95_high: None,
            u_systematic: None,
            verdict: "passed".into(),
        }
    }

    /// A month: what the golden image and the kernel's gave on each night.
    fn month(of: impl Fn(usize) -> (f64, f64, bool)) -> Vec<Series> {
        let nights: Vec<_> = (1..=30).map(|number| night(number, "well")).collect();
        let mut figures = Vec::new();
        for number in 1..=30 {
            let (golden, kernel, trusted) = of(number);
            figures.push(figure(number, GOLDEN, golden, trusted));
            figures.push(figure(number, "kernel", kernel, trusted));
        }
        series(&figures, &nights, &[], &FOLLOWED)
    }

    fn found(series: &[Series]) -> Vec<(&str, &str, Cause, bool)> {
        let each = series.iter().flat_map(|one| one.changes.iter().map(move |change| (one, change)));
        each.map(|(one, found)| {
            (one.key.image.as_str(), found.folder.as_str(), found.cause, found.image_changed)
        })
        .collect()
    }

    #[test]
    fn a_slower_image_is_the_images_and_a_sick_night_is_a_gap() {
        let series = month(|night| match night {
            10 => (99.0, 99.0, false),
            20.. => (23.0, 7.0, true),
            _ => (23.0, 6.0, true),
        });
        assert_eq!(found(&series), [("kernel", "night-20", Cause::Image, true)]);
        let kernel = series.iter().find(|one| one.key.image == "kernel").expect("it was measured");
        assert_eq!((kernel.points.len(), kernel.points[9].value), (30, None));
    }

    #[test]
    fn a_bench_that_moves_takes_both_with_it() {
        let series = month(|night| if night >= 12 { (25.0, 8.0, true) } else { (23.0, 6.0, true) });
        let found = found(&series);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|(_, night, cause, _)| (*night, *cause) == ("night-12", Cause::Bench)));
    }
}
