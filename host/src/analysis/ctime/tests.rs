//! Whole recordings of boards whose inode workload is known.

use super::CtimeAnalysis;
use crate::analysis::Analysis;
use crate::analysis::path::testing::Scene;
use crate::analysis::seconds::recorded;
use crate::analysis::verdict::Outcome;
use crate::events::{BoardEvent, Recording};
use crate::names::Clock;

fn scene() -> Scene {
    Scene { iterations: 5000, ctime_cores: Some(4), ..Scene::new() }
}

fn whole(scene: &Scene, recording: &Recording) -> Analysis {
    let record = scene.record();
    crate::analysis::analyse(&record, recording, &recorded(&record, recording))
}

fn judge(scene: &Scene) -> CtimeAnalysis {
    whole(scene, &scene.recording()).ctime.expect("ctime was measured")
}

fn value(analysis: &CtimeAnalysis, variant: &str, metric: &str) -> Option<String> {
    let found = analysis.figures.iter().find(|one| one.variant == variant && one.metric == metric);
    found.unwrap_or_else(|| panic!("a figure {metric} of {variant}")).value.map(|value| value.to_string())
}

#[test]
fn operations_instructions_and_ratios_are_those_of_the_board() {
    let analysis = judge(&scene());
    assert_eq!(analysis.verdict.outcome, Outcome::Passed, "{:?}", analysis.verdict);
    // 100 instructions an operation at 1 GHz, all cores by turns on one virtual clock.
    assert_eq!(value(&analysis, "coarse", "operations").as_deref(), Some("10000000"));
    assert_eq!(value(&analysis, "multigrain", "instructions_per_operation").as_deref(), Some("110.000"));
    assert_eq!(value(&analysis, "multigrain-floor", "ordering_violations").as_deref(), Some("0"));
    let floor = &analysis.variants[2];
    let ratio = analysis.ratio_to_coarse(floor, |one| one.instructions).unwrap();
    assert!((ratio - 1.04).abs() < 1e-9, "{ratio}");
    assert!((analysis.ratio_to_coarse(floor, |one| one.rate).unwrap() - 1.0 / 1.04).abs() < 1e-6);
    assert!(analysis.figures.iter().all(|figure| figure.cores == 4 || figure.variant.is_empty()));
}

#[test]
fn three_sessions_give_an_interval_and_fewer_give_none() {
    let figures = |sessions| judge(&Scene { sessions, ..scene() }).figures;
    let interval = |sessions| figures(sessions)[0].interval.is_some();
    assert_eq!((interval(1), interval(2), interval(3)), (false, false, true));
}

#[test]
fn a_stamp_out_of_order_fails_on_any_board() {
    for clock in [Clock::Live, Clock::Exact] {
        let analysis = whole(
            &Scene { violations: 3, clock, ..scene() },
            &Scene { violations: 3, clock, ..scene() }.recording(),
        );
        assert_eq!(analysis.verdict.outcome.exit(), 1, "{clock}");
        assert!(
            analysis.verdict.reasons[0].starts_with("ctime: coarse: 3 coarse stamps"),
            "{:?}",
            analysis.verdict
        );
        let ctime = analysis.ctime.unwrap();
        let violations = ctime.figures.iter().find(|one| one.metric == "ordering_violations").unwrap();
        assert_eq!(violations.verdict, "exceeded");
    }
}

#[test]
fn an_emulated_board_that_runs_live_has_speeds_without_verdict() {
    let analysis = judge(&Scene { clock: Clock::Live, ..scene() });
    assert_eq!((analysis.verdict.outcome, analysis.verdict.outcome.exit()), (Outcome::Unjudged, 0));
    let verdicts = |metric: &str| -> Vec<&str> {
        analysis.figures.iter().filter(|one| one.metric == metric).map(|one| one.verdict).collect()
    };
    assert_eq!(verdicts("operations"), ["", "", ""]);
    assert_eq!(verdicts("ordering_violations"), ["passed", "passed", "passed"]);
}

#[test]
fn operations_that_were_not_done_and_cores_that_did_not_run_are_told() {
    let scene = scene();
    let recording = scene.recording();
    let altered = |alter: fn(&mut ppsrig_wire::CtimeDone)| {
        let mut recording = recording.clone();
        let done = recording.board.iter_mut().find_map(|event| match &mut event.event {
            BoardEvent::Frame { message: ppsrig_wire::FromBoard::CtimeDone(done), .. } => Some(done),
            _ => None,
        });
        alter(done.unwrap());
        let ctime = whole(&scene, &recording).ctime.unwrap();
        (ctime.verdict.outcome.exit(), ctime.verdict.reasons[0].clone())
    };
    let (exit, reason) = altered(|done| done.cores[1].operations -= 1);
    assert!(exit == 2 && reason.contains("999999 operations were done of 1000000"), "{reason}");
    let (exit, reason) = altered(|done| done.cores.truncate(3));
    assert!(exit == 2 && reason.contains("3 cores ran it"), "{reason}");
    let (exit, reason) = altered(|done| done.window = 99);
    assert!(exit == 2 && reason.contains("window 99"), "{reason}");
}

#[test]
fn where_nothing_passed_in_time_or_nothing_was_counted_there_is_no_figure() {
    let scene = scene();
    let mut recording = scene.recording();
    for event in &mut recording.board {
        if let BoardEvent::Frame { message: ppsrig_wire::FromBoard::CtimeDone(done), .. } = &mut event.event {
            done.cores.iter_mut().for_each(|core| (core.instructions, core.elapsed_ticks) = (None, 0));
        }
    }
    let ctime = whole(&scene, &recording).ctime.unwrap();
    assert_eq!(value(&ctime, "coarse", "operations"), None);
    assert!(ctime.figures.iter().all(|figure| figure.metric != "instructions_per_operation"));
}
