//! A plan in words: what is measured, how often, what it is judged by.

use std::fmt::Write as _;

use crate::names::Measurement;
use crate::night::NightPlan;
use crate::night::expected::{Expected, about};
use crate::night::plan::{Arm, Compare, Hook, Limit, Measure};

/// One line a thing, for people.
pub(in crate::command) fn description(plan: &NightPlan, expected: &Expected) -> String {
    let mut lines = vec![("bench", plan.bench.display().to_string())];
    for image in &plan.images {
        let file = match &image.file {
            None => "the bench file's".to_owned(),
            Some(file) if file.exists() => file.display().to_string(),
            Some(file) => format!("{} (not there yet)", file.display()),
        };
        lines.push(("image", format!("{}: {file}", image.name)));
    }
    if let Some(health) = &plan.health {
        let image = health.image.as_ref().map(|file| format!(" of {}", file.display())).unwrap_or_default();
        lines.push((
            "health",
            format!("{}{image}{}", measured(&health.measure), limits(&health.measure.limits)),
        ));
    }
    let hooks = [
        ("before", &plan.hooks.before),
        ("power cycle", &plan.hooks.power_cycle),
        ("after", &plan.hooks.after),
    ];
    lines.extend(hooks.into_iter().filter_map(|(name, hook)| Some((name, told_hook(hook.as_ref()?)))));
    for measure in &plan.measures {
        lines.push(("measure", format!("{}: {}, {}", measure.name, measured(measure), sessions(measure))));
        lines.extend(measure.compare.iter().map(|compare| ("", told_compare(compare))));
        lines.extend(measure.limits.iter().map(|limit| ("", told_limit(limit))));
    }
    lines.push(("expected", told_expected(expected)));
    if let Some(seconds) = plan.time_budget_s {
        lines.push(("time budget", format!("{} min: no run begins after that", seconds / 60)));
    }
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        let _infallible = writeln!(text, "  {name:<13}{value}");
        text
    })
}

/// How many runs, and how long.
pub(super) fn told_expected(expected: &Expected) -> String {
    let first = format!("{} runs, {}", expected.runs, about(expected.time));
    match expected.most_runs == expected.runs {
        true => first,
        false => {
            let most = about(expected.most_time);
            format!("{first}; {} runs, {most}, if nothing is decided before", expected.most_runs)
        }
    }
}

fn told_hook(hook: &Hook) -> String {
    format!("{}, ended after {} s", hook.command.join(" "), hook.deadline_s)
}

fn measured(measure: &Measure) -> String {
    let builds =
        if measure.variants.is_empty() { "every build".to_owned() } else { measure.variants.join(", ") };
    let clock = measure.clock.name();
    match measure.measurement {
        Measurement::Edge => {
            let hertz = crate::formats::decimal::Rate(measure.rate_millihertz);
            format!("{} edges a session, {hertz} a second", measure.edges)
        }
        Measurement::Path => format!("path of {builds}, {} pairs a session, {clock}", measure.iterations),
        Measurement::Ctime => {
            format!("ctime of {builds}, {} operations a session, {clock}", measure.operations)
        }
    }
}

fn sessions(measure: &Measure) -> String {
    match (measure.sessions, measure.most_sessions) {
        (1, 1) => "1 session of each image".to_owned(),
        (some, most) if some == most => format!("{some} sessions of each image"),
        (some, most) => format!("{some} sessions of each image, up to {most} until all is decided"),
    }
}

/// `after with before`.
pub(super) fn told_compare(compare: &Compare) -> String {
    format!("compared: {} with {}", arm(&compare.new), arm(&compare.base))
}

fn arm(arm: &Arm) -> String {
    match arm {
        Arm::Baseline(path) => format!("the baseline {}", path.display()),
        arm => arm.label(),
    }
}

fn limits(limits: &[Limit]) -> String {
    limits.iter().map(|limit| format!("; {}", told_limit(limit))).collect()
}

fn told_limit(limit: &Limit) -> String {
    let of: Vec<&str> =
        [limit.image.as_str(), &limit.variant].into_iter().filter(|text| !text.is_empty()).collect();
    let of = if of.is_empty() { String::new() } else { format!(" of {}", of.join(" ")) };
    let (most, least) = (limit.at_most, limit.at_least);
    let most = most.map(|most| format!(" at most {most}")).unwrap_or_default();
    let least = least.map(|least| format!(" at least {least}")).unwrap_or_default();
    format!("limit: {}{of}{least}{most}", limit.metric)
}
