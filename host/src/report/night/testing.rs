//! A night for tests of its reports.

use crate::analysis::compare::Verdict;
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::names::Measurement;
use crate::night::journal::ImageHash;
use crate::night::result::{
    ComparisonResult, HealthResult, LimitResult, MeasureResult, NightFigure, StepResult,
};
use crate::night::{Night, NightRecord, Step};

pub(in crate::report) fn fixed(value: f64) -> Fixed {
    Fixed::rounded(value, 3).unwrap()
}

pub(in crate::report) fn figure(metric: &str, value: f64) -> NightFigure {
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

pub(in crate::report) fn step(name: &str, image: &str, round: u32, value: f64) -> StepResult {
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

pub(in crate::report) fn comparison(name: &str, verdict: Verdict, change: f64) -> ComparisonResult {
    ComparisonResult {
        base: "old".to_owned(),
        new: name.to_owned(),
        variant: "inline".to_owned(),
        metric: "mean".to_owned(),
        unit: "ns".to_owned(),
        change_unit: "ns".to_owned(),
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
pub(in crate::report) fn example(name: &str) -> (NightRecord, Night) {
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

pub(in crate::report) fn record(name: &str) -> NightRecord {
    let run: crate::plan::RunRecord =
        toml::from_str(include_str!("../../analysis/synthetic.toml")).expect("a run record");
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

/// A tail that is twice the base's.
pub(in crate::report) fn tail(name: &str) -> ComparisonResult {
    ComparisonResult {
        metric: "tail_share".to_owned(),
        unit: "per million".to_owned(),
        change_unit: crate::night::result::FACTOR.to_owned(),
        base_value: Some(fixed(0.9)),
        new_value: Some(fixed(1.8)),
        change: Some(fixed(2.0)),
        interval: Some((fixed(1.5), fixed(2.7))),
        margin: Some(fixed(1.25)),
        resolvable: Some(fixed(1.4)),
        ..comparison(name, Verdict::Worse, 0.0)
    }
}
