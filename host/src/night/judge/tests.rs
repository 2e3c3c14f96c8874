use super::standing::{Standing, ended, standing};
use super::{Evidence, Measured, judge, measure as judged};
use crate::analysis::compare::Verdict;
use crate::analysis::compare::group::{Group, Key, Quantity, Values};
use crate::analysis::compare::testing::{group, key, session};
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::bench_file::BenchFile;
use crate::names::{Clock, Measurement};
use crate::night::plan::{Arm, Compare, Health, Limit, NamedImage};
use crate::night::testing::{measure, plan};
use crate::night::{Entry, Night, NightFigure, NightPlan, NightRecord, Step};

pub(super) fn record(plan: NightPlan) -> NightRecord {
    let bench = include_str!("../../../../fixtures/benches/virtual.toml");
    let mut bench: BenchFile = crate::bench_file::parse(bench, "/lab".as_ref()).expect("it is a bench");
    bench.board.emulated = false;
    NightRecord {
        night_version: 1,
        plan_file: "small.toml".to_owned(),
        plan_sha256: String::new(),
        started_utc: "2026-12-01T01:00:00Z".to_owned(),
        ppsrig_version: "0".to_owned(),
        ppsrig_commit: "unknown".to_owned(),
        seed: 1,
        images: Vec::new(),
        plan,
        bench,
    }
}

/// Two images, `before` and `after`, which are compared.
pub(super) fn two_images(most: u32) -> NightPlan {
    let mut plan = plan();
    let image = |name: &str| NamedImage { name: name.to_owned(), file: None };
    plan.images = vec![image("before"), image("after")];
    let arm = |name: &str| Arm::Image(name.to_owned());
    plan.measures[0].compare = vec![Compare { base: arm("before"), new: arm("after") }];
    plan.measures[0].most_sessions = most;
    plan
}

pub(super) fn figure(metric: &str, value: i128) -> NightFigure {
    NightFigure {
        variant: "indirect".to_owned(),
        mode: String::new(),
        tie: String::new(),
        metric: metric.to_owned(),
        unit: "ns".to_owned(),
        n: 1,
        value: Some(Fixed { scaled: value, places: 1 }),
        interval: None,
        uncertainty: None,
    }
}

/// A run whose one session has this mean in nanoseconds.
pub(super) fn measured(value: f64, when: i128) -> Measured {
    Measured {
        outcome: Outcome::Passed,
        reasons: vec!["fine".to_owned()],
        figures: vec![figure("mean", (value * 10.0) as i128)],
        groups: vec![group(key(), vec![session(0, value, Some(when))])],
        emulated: false,
        outage: None,
    }
}

/// A journal under test, with what its bundles hold.
#[derive(Default)]
pub(super) struct Story {
    pub(super) entries: Vec<Entry>,
    pub(super) evidence: Evidence,
}

impl Story {
    pub(super) fn begun() -> Self {
        let entries = vec![Entry::Began { utc: String::new(), resumed: false }];
        Self { entries, ..Self::default() }
    }

    pub(super) fn done(&mut self, image: &str, round: u32, measured: Measured) {
        let bundle = format!("runs/{}", self.entries.len());
        self.evidence.bundles.insert(bundle.clone(), measured);
        self.entries.push(Entry::Done { utc: String::new(), step: step(image, round), bundle });
    }

    fn rounds(values: &[(f64, f64)]) -> Self {
        let mut story = Self::begun();
        for (index, (before, after)) in values.iter().enumerate() {
            let round = index as u32 + 1;
            story.done("before", round, measured(*before, 20 * i128::from(round)));
            story.done("after", round, measured(*after, 20 * i128::from(round) + 10));
        }
        story
    }

    fn finish(mut self, why: &str) -> Self {
        self.entries.push(Entry::Ended { measure: "path".to_owned(), why: "decided".to_owned() });
        self.entries.push(Entry::Finished { utc: "later".to_owned(), why: why.to_owned() });
        self
    }

    fn night(&self, plan: NightPlan) -> Night {
        judge(&record(plan), &self.entries, &self.evidence)
    }
}

fn step(image: &str, round: u32) -> Step {
    Step { measure: "path".to_owned(), image: image.to_owned(), round }
}

const WORSE: [(f64, f64); 3] = [(40.0, 50.0), (40.1, 50.1), (39.9, 49.9)];
const SAME: [(f64, f64); 3] = [(40.0, 40.01), (40.1, 40.1), (39.9, 39.9)];

#[test]
fn a_slower_image_is_worse_and_an_equal_one_passes() {
    let night = Story::rounds(&WORSE).finish("").night(two_images(3));
    assert_eq!((night.outcome, night.exit), (Outcome::Failed, 1));
    let told = "path: worse: after with before: indirect mean: 40.000 to 50.000 ns, a change of 10.000";
    assert!(night.reasons[0].starts_with(told), "{:?}", night.reasons);
    let night = Story::rounds(&SAME).finish("").night(two_images(3));
    assert_eq!((night.outcome, night.exit), (Outcome::Passed, 0), "{:?}", night.reasons);
    assert_eq!(night.measures[0].comparisons[0].verdict, Verdict::Equivalent);
    assert_eq!(night.measures[0].comparisons[0].sessions, (3, 3));
}

#[test]
fn more_looks_and_more_comparisons_leave_less_of_alpha_to_each() {
    let mut plan = two_images(10);
    assert_eq!(super::comparisons::looks(&plan.measures[0]), 8);
    let wide = |plan: NightPlan| {
        let night = Story::rounds(&[(40.0, 41.0), (40.5, 41.4), (39.9, 40.8)]).night(plan);
        night.measures[0].comparisons[0].interval.expect("three sessions have one")
    };
    let (once, often) = (wide(two_images(3)), wide(plan.clone()));
    assert!(often.0.scaled < once.0.scaled && often.1.scaled > once.1.scaled);
    let again = plan.measures[0].compare[0].clone();
    plan.measures[0].compare.push(again);
    assert!(wide(plan).1.scaled > often.1.scaled);
}

#[test]
fn two_sessions_have_no_verdict() {
    let night = Story::rounds(&WORSE[..2]).finish("").night(two_images(3));
    assert_eq!((night.outcome, night.exit), (Outcome::Invalid, 3));
    assert!(night.reasons.iter().any(|why| why.contains("2 of 3 sessions")), "{:?}", night.reasons);
}

#[test]
fn what_was_not_done_outweighs_what_is_worse_and_that_outweighs_what_has_no_verdict() {
    let mut story = Story::rounds(&WORSE);
    let night = story.night(two_images(3));
    assert_eq!((night.outcome, night.exit), (Outcome::NotDone, 2), "it was cut");
    assert!(
        night.reasons[0].contains("--resume") && night.reasons[1].contains("worse"),
        "{:?}",
        night.reasons
    );
    story.entries.push(Entry::Failed {
        utc: String::new(),
        step: step("after", 4),
        bundle: String::new(),
        reason: "no probe".to_owned(),
        again: false,
    });
    let night = story.finish("").night(two_images(3));
    assert_eq!(night.exit, 2);
    assert_eq!(night.reasons[0], "path, after, round 4: no probe");
}

#[test]
fn a_step_that_went_well_the_second_time_is_told_and_costs_nothing() {
    let mut story = Story::rounds(&SAME);
    let reason = "the link is dead".to_owned();
    let (utc, bundle) = (String::new(), "runs/0".to_owned());
    story.entries.insert(1, Entry::Failed { utc, step: step("before", 1), bundle, reason, again: true });
    let night = story.finish("").night(two_images(3));
    assert_eq!(night.exit, 0);
    assert_eq!(night.reasons[1], "path, before, round 1 was repeated: the link is dead");
    assert_eq!(night.measures[0].steps.len(), 7, "also that which failed");
}

#[test]
fn a_sick_bench_is_no_regression() {
    let mut plan = two_images(3);
    plan.health = Some(Health { image: None, measure: measure(Measurement::Path) });
    let mut story = Story::begun();
    let reasons = vec!["mean 99 ns: above the limit of 40".to_owned()];
    story.entries.push(Entry::Health { utc: String::new(), bundle: "health/1".to_owned(), reasons });
    let why = "the bench is sick".to_owned();
    story.entries.push(Entry::Finished { utc: String::new(), why });
    let night = story.night(plan);
    assert_eq!((night.outcome, night.exit), (Outcome::NotDone, 2));
    assert!(night.reasons[0].starts_with("the bench is sick: mean 99 ns"), "{:?}", night.reasons);
    assert!(!night.reasons.iter().any(|why| why.contains("worse")));
    assert!(!night.health.expect("it was made").well);
}

#[test]
fn a_reference_outage_gives_no_verdict_however_the_figures_look() {
    let mut plan = two_images(3);
    let limit = Limit {
        metric: "mean".to_owned(),
        variant: String::new(),
        image: String::new(),
        at_most: Some(45.0),
        at_least: None,
    };
    plan.measures[0].limits = vec![limit];
    let mut story = Story::rounds(&WORSE);
    let after = story.evidence.bundles.get_mut("runs/4").expect("it is there");
    after.outage = Some("12 edges unlocked".to_owned());
    let night = story.finish("").night(plan);
    assert_eq!((night.outcome, night.exit), (Outcome::Invalid, 3), "{:?}", night.reasons);
    let comparison = &night.measures[0].comparisons[0];
    assert_eq!(
        (comparison.verdict, comparison.reason.as_str()),
        (Verdict::Invalid, "runs/4: 12 edges unlocked")
    );
    let outcomes: Vec<_> = night.measures[0].limits.iter().map(|limit| limit.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed, Outcome::Invalid], "the other image had no outage");
}

#[test]
fn limits_are_kept_by_the_mean_of_the_sessions() {
    let limited = |at_most: Option<f64>, at_least: Option<f64>| {
        let mut plan = plan();
        let (metric, variant) = ("mean".to_owned(), "indirect".to_owned());
        plan.measures[0].limits = vec![Limit { metric, variant, image: String::new(), at_most, at_least }];
        let mut story = Story::begun();
        for round in 1..=3 {
            story.done("image", round, measured(40.0 + f64::from(round), i128::from(round)));
        }
        story.finish("").night(plan)
    };
    let night = limited(Some(42.0), Some(42.0));
    assert_eq!(night.exit, 0, "{:?}", night.reasons);
    let found = &night.measures[0].limits[0];
    assert_eq!(found.value.expect("there is one").to_string(), "42.000");
    // Student's t with 2 degrees of freedom: 4.3027 / sqrt(3) = 2.484.
    assert_eq!(found.interval.expect("of three sessions").0.to_string(), "39.516");
    let night = limited(Some(41.9), None);
    assert_eq!(night.exit, 1);
    let told = "path: image indirect: mean 42.000 ns in 3 sessions: above the limit of 41.9; see runs/3";
    assert_eq!(night.reasons[0], told);
    assert_eq!(limited(None, Some(42.1)).exit, 1);
}

#[test]
fn a_limit_without_a_figure_has_no_verdict() {
    let mut plan = plan();
    let metric = "instructions".to_owned();
    let limit =
        Limit { metric, variant: String::new(), image: String::new(), at_most: Some(1.0), at_least: None };
    plan.measures[0].limits = vec![limit];
    let mut story = Story::begun();
    for round in 1..=3 {
        story.done("image", round, measured(40.0, round.into()));
    }
    let night = story.finish("").night(plan);
    assert_eq!(night.exit, 3);
    assert!(night.reasons[0].contains("runs/1 has no such figure"), "{:?}", night.reasons);
}

#[test]
fn an_emulated_board_that_ran_live_is_not_judged_by_its_speed() {
    let mut plan = plan();
    let limit = |metric: &str| Limit {
        metric: metric.to_owned(),
        variant: String::new(),
        image: String::new(),
        at_most: Some(1.0),
        at_least: None,
    };
    plan.measures[0].limits = vec![limit("mean"), limit("ordering_violations")];
    let mut story = Story::begun();
    let mut run = Measured { emulated: true, ..measured(40.0, 1) };
    run.figures.push(figure("ordering_violations", 0));
    story.done("image", 1, run);
    let result = judged(&record(plan.clone()), &plan.measures[0], &story.entries, &story.evidence);
    let outcomes: Vec<_> = result.limits.iter().map(|limit| limit.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unjudged, Outcome::Passed]);
}

#[test]
fn a_measure_ends_once_all_is_decided_and_not_before_its_sessions_are_done() {
    let ended = |values: &[(f64, f64)], most| {
        let plan = two_images(most);
        let story = Story::rounds(values);
        let result = judged(&record(plan.clone()), &plan.measures[0], &story.entries, &story.evidence);
        ended(&plan.measures[0], values.len() as u32, &result)
    };
    assert_eq!(ended(&WORSE[..2], 9), None);
    assert_eq!(ended(&WORSE, 9).as_deref(), Some("decided after 3 rounds"));
    let open = [(40.0, 41.0), (40.5, 41.4), (39.9, 40.8)];
    assert_eq!(ended(&open, 9), None);
    let most = ended(&open, 3).expect("no more are allowed");
    assert_eq!(most, "not decided after 3 rounds, which are the most that the plan allows");
}

#[test]
fn a_measure_that_no_session_can_decide_ends_and_says_why() {
    let plan = two_images(9);
    let mut story = Story::rounds(&WORSE);
    for one in story.evidence.bundles.values_mut() {
        one.groups[0].doubts.push("session 1: the phase is not uniform".to_owned());
    }
    let result = judged(&record(plan.clone()), &plan.measures[0], &story.entries, &story.evidence);
    let Standing::Cannot(why) = standing(&plan.measures[0], &result) else { panic!("{result:?}") };
    assert!(why.contains("the phase is not uniform"), "{why}");
    let nothing = ended(
        &measure(Measurement::Path),
        3,
        &judged(
            &record(crate::night::testing::plan()),
            &measure(Measurement::Path),
            &[],
            &Evidence::default(),
        ),
    );
    assert_eq!(nothing.as_deref(), Some("nothing to decide; sessions done: 3"));
}

/// A run in which these instructions were counted.
fn counted(instructions: f64) -> Measured {
    let key = Key { quantity: Quantity::Instructions, ..key() };
    let alone = Values::Alone { value: instructions, sessions: 1, n: 100_000 };
    Measured { groups: vec![Group::new(key, alone)], ..measured(instructions, 1) }
}

#[test]
fn one_instruction_more_is_worse_after_one_exact_session() {
    let mut plan = two_images(1);
    plan.measures[0].sessions = 1;
    plan.measures[0].clock = Clock::Exact;
    let night = |after| {
        let mut story = Story::begun();
        story.done("before", 1, counted(6.0));
        story.done("after", 1, counted(after));
        story.finish("").night(plan.clone())
    };
    assert_eq!(night(6.0).exit, 0);
    let worse = night(7.0);
    assert_eq!(worse.exit, 1);
    let told = "path: worse: after with before: indirect instructions: 6 to 7 instructions, a change of 1";
    assert!(worse.reasons[0].starts_with(told), "{:?}", worse.reasons);
}

#[test]
fn a_baseline_is_the_base_of_what_a_night_measures() {
    let mut plan = plan();
    let path = std::path::PathBuf::from("/kept/august");
    let base = Arm::Baseline(path.clone());
    plan.measures[0].compare = vec![Compare { base, new: Arm::Image("image".to_owned()) }];
    let mut story = Story::begun();
    for round in 1..=3 {
        story.done("image", round, measured(50.0 + f64::from(round) / 10.0, 100 + i128::from(round)));
    }
    let kept = (1..=3u8).map(|round| measured(40.0 + f64::from(round) / 10.0, round.into())).collect();
    story.evidence.baselines.insert(path, kept);
    let night = story.finish("").night(plan);
    let comparison = &night.measures[0].comparisons[0];
    assert_eq!((comparison.base.as_str(), comparison.verdict), ("august", Verdict::Worse));
}

#[test]
fn a_bundle_that_is_gone_is_not_done() {
    let mut story = Story::rounds(&SAME);
    story.evidence.bundles.remove("runs/6");
    let night = story.finish("").night(two_images(3));
    assert_eq!(night.exit, 2);
    assert!(night.reasons[0].contains("runs/6 is not there any more"), "{:?}", night.reasons);
}

#[test]
fn a_step_that_was_cut_and_not_done_again_was_not_repeated() {
    let mut story = Story::begun();
    let (utc, bundle, reason) = (String::new(), String::new(), "interrupted".to_owned());
    story.entries.push(Entry::Failed { utc, step: step("before", 1), bundle, reason, again: true });
    let night = story.night(two_images(3));
    assert_eq!(night.exit, 2);
    assert!(!night.reasons.iter().any(|why| why.contains("repeated")), "{:?}", night.reasons);
}

#[test]
fn a_bundle_that_cannot_be_read_costs_its_step_alone_and_is_named() {
    let mut story = Story::rounds(&SAME);
    story.evidence.bundles.remove("runs/4");
    story.evidence.damaged.insert("runs/4".to_owned(), "runs/4 has no run.toml".to_owned());
    let night = story.finish("").night(two_images(3));
    assert_eq!((night.outcome, night.exit), (Outcome::NotDone, 2));
    assert_eq!(night.reasons[0], "path, after, round 2: runs/4 has no run.toml");
    assert_eq!(night.measures[0].steps.len(), 6);
}

#[test]
fn a_measure_that_a_night_never_came_to_says_why_the_night_ended() {
    let mut story = Story::begun();
    assert_eq!(story.night(two_images(3)).measures[0].ended, "", "it was cut");
    let why = "the bench is offline since noon; once it is mended: ppsrig check".to_owned();
    story.entries.push(Entry::Finished { utc: "later".to_owned(), why: why.clone() });
    let night = story.night(two_images(3));
    assert_eq!(night.measures[0].ended, "the bench is offline since noon");
    assert_eq!(night.reasons[0], why);
    assert!(!night.reasons.iter().any(|why| why.contains("of 3 sessions")), "{:?}", night.reasons);
}

/// Three sessions of 1, 2 and 6, as this metric.
fn of_three(metric: &str, at_most: Option<f64>, at_least: Option<f64>) -> (Night, Option<String>) {
    let mut plan = plan();
    let (metric, variant, image) = (metric.to_owned(), String::new(), String::new());
    plan.measures[0].limits = vec![Limit { metric: metric.clone(), variant, image, at_most, at_least }];
    plan.measures[0].most_sessions = 9;
    let mut story = Story::begun();
    for (round, value) in [(1, 1), (2, 2), (3, 6)] {
        let mut run = measured(40.0, i128::from(round));
        run.figures = vec![figure(&metric, value * 10)];
        story.done("image", round, run);
    }
    let result = judged(&record(plan.clone()), &plan.measures[0], &story.entries, &story.evidence);
    let ended = ended(&plan.measures[0], 3, &result);
    (story.finish("").night(plan), ended)
}

#[test]
fn no_session_makes_up_for_another_that_is_beyond_a_bound() {
    for metric in ["max", "bias_bound", "ordering_violations", "ledger_lost"] {
        let (night, ended) = of_three(metric, Some(5.0), None);
        assert_eq!(night.exit, 1, "{metric}: {:?}", night.reasons);
        let told = format!(
            "path: image indirect: {metric} 6.0 ns, the largest of 3 sessions: above the limit of 5; see runs/3"
        );
        assert_eq!(night.reasons[0], told);
        assert_eq!(ended.as_deref(), Some("done after 3 rounds"), "no session could change it");
        assert_eq!(of_three(metric, Some(6.0), None).0.exit, 0);
    }
    let (night, _) = of_three("min", None, Some(1.5));
    let told =
        "path: image indirect: min 1.0 ns, the smallest of 3 sessions: below the limit of 1.5; see runs/1";
    assert_eq!((night.exit, night.reasons[0].as_str()), (1, told));
    assert_eq!(of_three("max", None, Some(3.0)).0.exit, 0, "the other side is the mean's");
    assert_eq!(of_three("mean", Some(5.0), None).0.exit, 0, "and so is the mean");
}

#[test]
fn a_limit_without_a_value_names_what_it_limits() {
    let mut plan = plan();
    let (metric, variant, image) = ("n_eff".to_owned(), String::new(), String::new());
    plan.measures[0].limits = vec![Limit { metric, variant, image, at_most: None, at_least: Some(1.0) }];
    let mut story = Story::begun();
    let mut run = measured(40.0, 1);
    run.figures = vec![NightFigure { value: None, ..figure("n_eff", 0) }];
    story.done("image", 1, run);
    let night = story.finish("").night(plan);
    assert_eq!(night.measures[0].limits[0].reason, "n_eff: no value in runs/1");
    assert_eq!(night.reasons[0], "path: image indirect: n_eff: no value in runs/1");
}
