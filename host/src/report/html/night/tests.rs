use super::*;
use crate::analysis::fixed::Fixed;
use crate::names::Measurement;
use crate::night::Step;
use crate::night::journal::ImageHash;
use crate::report::html::testing::{HOSTILE, assert_inert};

fn fixed(value: f64) -> Fixed {
    Fixed::rounded(value, 3).unwrap()
}

fn figure(metric: &str, value: f64) -> NightFigure {
    NightFigure {
        variant: "inline".to_owned(),
        mode: String::new(),
        tie: String::new(),
        metric: metric.to_owned(),
        unit: "ns".to_owned(),
        n: 100_000,
        value: Some(fixed(value)),
        interval: Some((fixed(value - 0.2), fixed(value + 0.2))),
        uncertainty: Some(fixed(0.1)),
    }
}

fn step(name: &str, image: &str, round: u32, value: f64) -> StepResult {
    let outcome = if value > 0.0 { Outcome::Passed } else { Outcome::NotDone };
    StepResult {
        step: Step { measure: name.to_owned(), image: image.to_owned(), round },
        utc: "2026-12-01T02:00:00Z".to_owned(),
        bundle: format!("runs/{round}-{image}"),
        outcome,
        reasons: vec![format!("{outcome} {name}")],
        figures: if value > 0.0 { vec![figure("mean", value)] } else { Vec::new() },
    }
}

fn comparison(name: &str, verdict: Verdict, change: f64) -> ComparisonResult {
    ComparisonResult {
        base: "old".to_owned(),
        new: name.to_owned(),
        variant: "inline".to_owned(),
        metric: "mean".to_owned(),
        unit: "ns".to_owned(),
        sessions: (5, 5),
        base_value: Some(fixed(41.2)),
        new_value: Some(fixed(41.2 + change)),
        change: Some(fixed(change)),
        interval: Some((fixed(change - 0.5), fixed(change + 0.5))),
        margin: Some(fixed(1.0)),
        resolvable: Some(fixed(0.8)),
        verdict,
        reason: String::new(),
    }
}

/// A night whose every name and reason is `name`.
fn example(name: &str) -> (NightRecord, Night) {
    let limit = LimitResult {
        image: name.to_owned(),
        variant: "inline".to_owned(),
        metric: "p99".to_owned(),
        unit: "ns".to_owned(),
        at_most: Some(80.0),
        at_least: None,
        value: Some(fixed(120.0)),
        interval: None,
        outcome: Outcome::Failed,
        reason: format!("p99 of {name} is 120 ns, 80 are allowed"),
        bundle: "runs/2-new".to_owned(),
    };
    let measure = MeasureResult {
        name: name.to_owned(),
        measurement: Measurement::Path,
        clock: "live",
        steps: (1..=4)
            .flat_map(|round| {
                let drift = f64::from(round) / 10.0;
                [step(name, "old", round, 41.2 + drift), step(name, "new", round, 43.5 + drift)]
            })
            .chain([step(name, "new", 5, 0.0), step(name, name, 5, 43.0)])
            .collect(),
        comparisons: vec![
            comparison("new", Verdict::Worse, 2.3),
            comparison(name, Verdict::NotResolvable, 0.9),
            comparison("third", Verdict::Equivalent, 0.1),
        ],
        limits: vec![limit],
        ended: format!("decided {name}"),
    };
    let health = HealthResult {
        well: true,
        reasons: Vec::new(),
        bundle: "health/golden".to_owned(),
        figures: vec![figure("mean", 41.0)],
    };
    let night = Night {
        name: name.to_owned(),
        bench: name.to_owned(),
        plan_file: format!("{name}.toml"),
        started_utc: "2026-12-01T00:00:00Z".to_owned(),
        ended_utc: "2026-12-01T05:00:00Z".to_owned(),
        resumed: 1,
        seed: 7,
        ppsrig: "0.1.0 (abc)".to_owned(),
        emulated: true,
        outcome: Outcome::Failed,
        exit: 1,
        reasons: vec![format!("mean of new is worse ({name})")],
        images: vec![("old".to_owned(), "aa".to_owned()), (name.to_owned(), "bb".to_owned())],
        health: Some(health),
        measures: vec![measure],
    };
    (record(name), night)
}

fn record(name: &str) -> NightRecord {
    let run: crate::plan::RunRecord =
        toml::from_str(include_str!("../../../analysis/synthetic.toml")).expect("a run record");
    NightRecord {
        night_version: 1,
        plan_file: format!("{name}.toml"),
        plan_sha256: "00".to_owned(),
        started_utc: "2026-12-01T00:00:00Z".to_owned(),
        ppsrig_version: "0.1.0".to_owned(),
        ppsrig_commit: "abc".to_owned(),
        seed: 7,
        images: vec![ImageHash { name: name.to_owned(), sha256: "bb".to_owned() }],
        plan: crate::night::NightPlan {
            name: name.to_owned(),
            bench: "bench.toml".into(),
            seed: Some(7),
            time_budget_s: Some(3600),
            alpha: 0.01,
            images: Vec::new(),
            require: crate::night::plan::Require::default(),
            health: None,
            hooks: crate::night::plan::Hooks::default(),
            measures: Vec::new(),
        },
        bench: run.bench,
    }
}

#[test]
fn what_to_act_on_comes_first_with_its_figures_and_where_to_look() {
    let (record, night) = example("path");
    let page = super::night(&record, &night);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is there: {page}"));
    let verdict = place("Verdict: failed");
    let worse = place("mean of new inline is worse than of old by 2.300 ns; the margin is 1.000");
    let limit = place("p99 of path is 120 ns, 80 are allowed");
    assert!(verdict < worse && worse < limit && limit < place("Health of the bench"));
    assert!(
        page.contains("href=\"./runs/5-new/report.html\"")
            && page.contains("href=\"./health/golden/report.html\"")
    );
    assert!(page.contains("emulated") && page.contains("it was cut and went on once"));
    assert_eq!(page, super::night(&record, &night), "the same bytes again");
    if let Some(folder) = std::env::var_os("PPSRIG_KEEP_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join("night.html"), page).unwrap();
    }
}

#[test]
fn a_sick_bench_stands_before_what_it_measured() {
    let (record, mut night) = example("path");
    night.health.iter_mut().for_each(|health| {
        health.well = false;
        health.reasons = vec!["the golden image gives 60 ns".to_owned()];
    });
    let page = super::night(&record, &night);
    let first = page.split("<ol><li>").nth(1).unwrap();
    assert!(first.starts_with("The bench is sick: the golden image gives 60 ns."), "{first}");
}

#[test]
fn hostile_names_stay_text() {
    for hostile in HOSTILE {
        let (record, night) = example(hostile);
        assert_inert(&super::night(&record, &night), hostile);
    }
}
