//! Whole recordings, judged: exact counts in the ledger, true latencies within their stated U.

use ppsrig_wire::{EdgeMode, FromBoard};

use super::class::{Class, Ledger};
use super::edge::{EdgeAnalysis, RateCheck, analyse, check_rate};
use super::rate::faults::FaultKind;
use super::synthetic::{LATENCY_NS, Scene};
use super::tie::Tie;
use super::verdict::Outcome;
use crate::events::{BoardEvent, Burst, IntervalChannel, IntervalEvent, RigEvent};

fn judge(scene: &Scene) -> EdgeAnalysis {
    analyse(&scene.record(), &scene.recording(), &scene.reference())
}

type Counts = Vec<(Class, u64)>;

/// The classes that are not empty, commanded and captured.
fn counts(ledger: &Ledger) -> (Counts, Counts) {
    assert_eq!(ledger.imbalances(), Vec::<String>::new());
    let of = |count: &dyn Fn(Class) -> u64| {
        Class::ALL.into_iter().map(|class| (class, count(class))).filter(|(_, count)| *count > 0).collect()
    };
    (of(&|class| ledger.commanded.count(class)), of(&|class| ledger.captured.count(class)))
}

fn one_a_second(edges: u32) -> Scene {
    Scene::new(EdgeMode::Irq, edges, 1000)
}

fn value(analysis: &EdgeAnalysis, mode: &str, tie: &str, metric: &str) -> f64 {
    let figure = analysis
        .figures
        .iter()
        .find(|figure| (figure.mode, figure.tie, figure.metric.as_str()) == (mode, tie, metric));
    figure.unwrap_or_else(|| panic!("no figure {mode} {tie} {metric}")).value.expect("a value").to_f64()
}

#[test]
fn a_clean_run_pairs_every_edge_and_passes() {
    for (edges, period_ms) in [(1000, 10), (100, 100), (30, 1000)] {
        let analysis = judge(&Scene::new(EdgeMode::Irq, edges, period_ms));
        let all = vec![(Class::Paired, u64::from(edges))];
        assert_eq!(counts(&analysis.edges), (all.clone(), all));
        assert_eq!(counts(&analysis.preamble), (vec![(Class::Paired, 4)], vec![(Class::Paired, 4)]));
        assert_eq!(analysis.verdict.outcome, Outcome::Passed, "{:?}", analysis.verdict);
        assert_eq!(analysis.probe_operations, 0);
    }
}

#[test]
fn every_edge_gets_its_second() {
    let scene = one_a_second(30);
    let analysis = judge(&scene);
    let rows: Vec<_> = analysis.rows().filter(|row| row.burst == Burst::Edges).collect();
    for (edge, row) in rows.iter().enumerate() {
        assert_eq!(row.commanded, Some(edge as u32));
        assert_eq!(row.captured, Some(edge as u32));
        assert_eq!(row.gpst_ns, Some((scene.start() + edge as i64) * 1_000_000_000));
    }
}

#[test]
fn a_skipped_edge_is_missed_and_only_that_one() {
    let mut scene = one_a_second(20);
    scene.skipped = [3, 7, 8].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 17), (Class::Missed, 3)], vec![(Class::Paired, 17)])
    );
    let missed: Vec<_> =
        analysis.rows().filter(|row| row.class == Class::Missed).map(|row| row.commanded).collect();
    assert_eq!(missed, [Some(3), Some(7), Some(8)]);
    assert_eq!(analysis.verdict.outcome, Outcome::Failed);
}

#[test]
fn the_first_and_the_last_edge_can_be_missed_too() {
    let mut scene = one_a_second(20);
    scene.skipped = [0, 19].into();
    let analysis = judge(&scene);
    let missed: Vec<_> =
        analysis.rows().filter(|row| row.class == Class::Missed).map(|row| row.commanded).collect();
    assert_eq!(missed, [Some(0), Some(19)]);
}

#[test]
fn a_skipped_preamble_edge_shifts_no_label() {
    for edge in 0..4 {
        let mut scene = one_a_second(10);
        scene.preamble_skipped = [edge].into();
        let analysis = judge(&scene);
        let (commanded, _) = counts(&analysis.preamble);
        assert_eq!(commanded, [(Class::Paired, 3), (Class::Missed, 1)], "edge {edge}");
        assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 10)]);
        assert_eq!(analysis.sessions[0].start_ns.map(|ns| ns / 1_000_000_000), Some(scene.start()));
    }
}

#[test]
fn additional_edges_in_the_preamble_shift_no_label() {
    let mut scene = one_a_second(10);
    scene.preamble_spurious_after = [0, 2].into();
    let analysis = judge(&scene);
    let paired = (Class::Paired, 4);
    assert_eq!(counts(&analysis.preamble), (vec![paired], vec![paired, (Class::Spurious, 2)]));
    assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 10)]);
}

#[test]
fn a_preamble_with_as_many_additional_edges_as_true_ones_is_ambiguous() {
    let mut scene = one_a_second(10);
    scene.preamble_spurious_after = [0, 1, 2, 3].into();
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.preamble), (vec![(Class::Ambiguous, 4)], vec![(Class::Ambiguous, 8)]));
    assert_eq!(counts(&analysis.edges).0, [(Class::Ambiguous, 10)]);
    assert_eq!(analysis.verdict.outcome, Outcome::Invalid);
}

#[test]
fn a_burst_that_was_armed_beside_a_pulse_is_placed_by_its_captures() {
    let mut scene = Scene::new(EdgeMode::Irq, 30, 100);
    scene.armed_ms = 980;
    assert_eq!(counts(&judge(&scene).edges).0, [(Class::Paired, 30)]);
    // Without any edge of the first second and the last, both starts are possible.
    scene.skipped = (0..10).chain(20..30).collect();
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.edges), (vec![(Class::Ambiguous, 30)], vec![(Class::Ambiguous, 10)]));
    scene.armed_ms = 350;
    assert_eq!(counts(&judge(&scene).edges).0, [(Class::Paired, 10), (Class::Missed, 20)]);
}

#[test]
fn an_additional_edge_is_spurious() {
    let mut scene = one_a_second(20);
    scene.spurious_after = [4, 11].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 20)], vec![(Class::Paired, 20), (Class::Spurious, 2)])
    );
}

#[test]
fn a_bounce_is_a_duplicate_and_the_edge_keeps_its_first_capture() {
    let mut scene = one_a_second(20);
    scene.bounced = (0..20).collect();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 20)], vec![(Class::Paired, 20), (Class::Duplicate, 20)])
    );
    let paired: Vec<_> =
        analysis.rows().filter(|row| row.class == Class::Paired && row.burst == Burst::Edges).collect();
    assert!(paired.iter().all(|row| row.captured.unwrap().is_multiple_of(2)));
}

#[test]
fn an_outage_is_excluded_with_its_guard_and_settling_time() {
    let mut scene = one_a_second(20);
    scene.outage = 8..11;
    let analysis = judge(&scene);
    let expected = vec![(Class::Paired, 14), (Class::Unlocked, 5), (Class::Settling, 1)];
    assert_eq!(counts(&analysis.edges), (expected.clone(), expected));
    assert_eq!(analysis.verdict.outcome, Outcome::Invalid);
}

#[test]
fn torn_dropped_and_vanished_records_make_lost_edges() {
    let mut scene = one_a_second(20);
    scene.torn = [3].into();
    scene.dropped = [8].into();
    scene.vanished = [12].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (
            vec![(Class::Paired, 17), (Class::Lost, 3)],
            vec![(Class::Paired, 17), (Class::Torn, 1), (Class::Dropped, 2)]
        )
    );
    let reasons: Vec<_> = analysis
        .rows()
        .filter(|row| row.class == Class::Dropped)
        .map(|row| (row.captured, row.reason.as_ref()))
        .collect();
    assert_eq!(reasons[0], (Some(8), "the board had no room for its record"));
    assert_eq!(reasons[1], (Some(12), "its frame never arrived, by the frames' own numbers"));
}

#[test]
fn the_last_record_torn_is_found_through_the_totals() {
    let mut scene = one_a_second(10);
    scene.torn = [9].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 9), (Class::Lost, 1)], vec![(Class::Paired, 9), (Class::Torn, 1)])
    );
}

#[test]
fn a_skipped_edge_beside_a_torn_record_is_ambiguous_with_it() {
    let mut scene = one_a_second(20);
    scene.skipped = [5].into();
    scene.torn = [6].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 18), (Class::Ambiguous, 2)], vec![(Class::Paired, 18), (Class::Torn, 1)])
    );
}

#[test]
fn an_additional_edge_beside_a_skipped_one_is_ambiguous_with_it() {
    let mut scene = one_a_second(20);
    scene.skipped = [5].into();
    scene.spurious_after = [5].into();
    let analysis = judge(&scene);
    let expected = vec![(Class::Paired, 19), (Class::Ambiguous, 1)];
    assert_eq!(counts(&analysis.edges), (expected.clone(), expected));
}

#[test]
fn half_duty_pairs_what_the_preamble_labels_and_calls_the_other_polarity_spurious() {
    let mut scene = Scene::new(EdgeMode::Irq, 20, 500);
    scene.both_polarities_ms = Some(250);
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (vec![(Class::Paired, 20)], vec![(Class::Paired, 20), (Class::Spurious, 20)])
    );
    scene.skipped = [7].into();
    let analysis = judge(&scene);
    assert_eq!(
        counts(&analysis.edges),
        (
            vec![(Class::Paired, 19), (Class::Ambiguous, 1)],
            vec![(Class::Paired, 19), (Class::Spurious, 18), (Class::Ambiguous, 2)]
        )
    );
}

#[test]
fn an_interrupted_recording_is_partial_and_balances() {
    let mut scene = one_a_second(20);
    scene.cut_at = Some(10);
    let analysis = judge(&scene);
    let (commanded, captured) = counts(&analysis.edges);
    assert_eq!(commanded, [(Class::Paired, 10), (Class::Missed, 10)]);
    assert_eq!(captured, [(Class::Paired, 10)]);
    assert_eq!(analysis.partial.as_deref(), Some("it ends before the run was finished"));
    assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
    assert!(!analysis.edges.counted_by_board);
}

#[test]
fn what_a_board_still_says_of_an_earlier_run_is_no_part_of_this_one() {
    let mut scene = one_a_second(10);
    scene.sessions = 2;
    let recording = scene.recording();
    let plain = judge(&scene);
    let mut with_old = recording.clone();
    let loaded = |session: usize| {
        let loads = recording.rig.iter().filter(|event| matches!(event.event, RigEvent::ProbeUsed { .. }));
        loads.map(|event| event.at.0).nth(session).unwrap()
    };
    // The same windows, a window that this run never opens, their heartbeats and totals.
    let of_run = |from: u64| {
        recording.board.iter().filter(move |event| event.at.0 > from).take(60).zip(0..).map(
            move |(event, at)| {
                let mut old = event.clone();
                old.at.0 = from - 90 + at;
                old
            },
        )
    };
    with_old.board.extend(of_run(loaded(0)));
    let mut foreign = with_old.board.last().unwrap().clone();
    if let BoardEvent::Frame { message: FromBoard::Capture(capture), .. } = &mut foreign.event {
        capture.window = 9;
    }
    with_old.board.push(foreign);
    with_old.board.extend(of_run(loaded(1)));
    with_old.board.sort_by_key(|event| event.at);
    let analysis = analyse(&scene.record(), &with_old, &scene.reference());
    assert_eq!(counts(&analysis.edges), counts(&plain.edges));
    assert_eq!(counts(&analysis.preamble), counts(&plain.preamble));
    assert_eq!(analysis.verdict, plain.verdict);
    assert_eq!(analysis.verdict.outcome, Outcome::Passed);
}

#[test]
fn what_overtakes_the_windows_acknowledgement_counts() {
    let scene = one_a_second(10);
    let mut recording = scene.recording();
    let opened = recording
        .rig
        .iter()
        .position(|event| matches!(event.event, RigEvent::WindowOpened { burst: Burst::Edges, .. }));
    let opened = recording.rig[opened.unwrap()].at;
    let first = recording.board.iter_mut().find(
        |event| matches!(event.event, BoardEvent::Frame { message: FromBoard::Heartbeat(beat), .. } if beat.window == 2),
    );
    first.unwrap().at.0 = opened.0 - 1;
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    assert_eq!(analysis.sessions[0].heartbeats, judge(&scene).sessions[0].heartbeats);
}

#[test]
fn the_reason_of_an_interruption_is_told() {
    let scene = one_a_second(5);
    let mut recording = scene.recording();
    let last = recording.rig.last_mut().unwrap();
    last.event = RigEvent::Stopped { reason: "interrupted".to_owned() };
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    assert_eq!(analysis.partial.as_deref(), Some("interrupted"));
    assert_eq!(analysis.verdict.outcome.exit(), 2);
}

#[test]
fn a_reversed_counter_is_named_with_its_captures() {
    let mut scene = one_a_second(20);
    scene.reversed_from = Some(6);
    let analysis = judge(&scene);
    assert!(analysis.edges.imbalances().is_empty());
    assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
    let reversal = analysis.sessions[0].reversal.as_deref().unwrap();
    assert!(reversal.contains("between captures 6 and 7 of window 2"), "{reversal}");
}

#[test]
fn a_counter_off_by_sixteen_is_refused_already_in_the_preamble() {
    let mut scene = one_a_second(20);
    scene.counter_hz = 781_250;
    let check = check_rate(&scene.record(), &scene.recording(), &scene.reference(), 1);
    let RateCheck::Refused(message) = check else { panic!("{check:?}") };
    assert!(message.contains("ratio 0.0625"), "{message}");
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 20)]);
    assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
}

#[test]
fn the_rate_check_is_good_on_the_preamble_alone() {
    let scene = one_a_second(20);
    let mut recording = scene.recording();
    recording.cut(crate::units::HostNanos(8_000_000_000));
    let check = check_rate(&scene.record(), &recording, &scene.reference(), 1);
    let RateCheck::Good(rate) = check else { panic!("{check:?}") };
    let off = rate.ratio(crate::units::Hertz(12_500_000)) - 1.0;
    assert!(off.abs() <= rate.u_relative && rate.u_relative < 1e-4, "{off} {}", rate.u_relative);
}

#[test]
fn what_the_probe_touched_is_disturbed_and_counted() {
    let mut scene = one_a_second(20);
    scene.probe_at = Some(9);
    let analysis = judge(&scene);
    let expected = vec![(Class::Paired, 19), (Class::Disturbed, 1)];
    assert_eq!(counts(&analysis.edges), (expected.clone(), expected));
    assert_eq!(analysis.probe_operations, 3);
}

#[test]
fn a_silent_link_disturbs_what_it_held_back() {
    let mut scene = one_a_second(20);
    scene.silent = 5..9;
    let analysis = judge(&scene);
    let (commanded, captured) = counts(&analysis.edges);
    assert_eq!(commanded, [(Class::Paired, 16), (Class::Disturbed, 4)]);
    assert_eq!(captured, commanded);
}

#[test]
fn a_halted_core_disturbs_and_a_host_stall_on_an_emulated_board_does_not() {
    let mut scene = one_a_second(20);
    scene.halted = Some((7, 600));
    let expected = vec![(Class::Paired, 19), (Class::Disturbed, 1)];
    assert_eq!(counts(&judge(&scene).edges), (expected.clone(), expected.clone()));
    scene.halted = Some((7, 100));
    assert_eq!(counts(&judge(&scene).edges).0, [(Class::Paired, 20)]);
    scene.emulated = false;
    assert_eq!(counts(&judge(&scene).edges), (expected.clone(), expected));
}

#[test]
fn a_counter_that_steps_disturbs_everything_behind_the_step() {
    let mut scene = one_a_second(20);
    scene.counter_step = Some((12, 400_000_000));
    let analysis = judge(&scene);
    let (commanded, captured) = counts(&analysis.edges);
    assert_eq!(commanded, [(Class::Paired, 12), (Class::Disturbed, 8)]);
    assert_eq!(captured, commanded);
    assert!(analysis.sessions[0].disturbed.iter().any(|what| what.contains("stepped by 400.")));
}

#[test]
fn a_counter_that_steps_by_less_than_a_quarter_period_is_found_all_the_same() {
    let mut scene = one_a_second(24);
    scene.counter_step = Some((12, -200_000_000));
    let analysis = judge(&scene);
    let (commanded, captured) = counts(&analysis.edges);
    assert_eq!(commanded, [(Class::Paired, 12), (Class::Disturbed, 12)]);
    assert_eq!(captured, commanded);
    let rate = analysis.sessions[0].rate.as_ref().unwrap();
    assert_eq!(rate.refusal(crate::units::Hertz(12_500_000)), None);
}

/// Kinds, edges and sizes of what was found wrong with the counter of the first session.
fn faults(analysis: &EdgeAnalysis) -> Vec<(FaultKind, Option<u32>, i128)> {
    let faults = analysis.sessions[0].counter_faults.iter();
    faults.map(|fault| (fault.kind, fault.edge, fault.size.scaled)).collect()
}

fn on_silicon(edges: u32) -> Scene {
    Scene { emulated: false, ..one_a_second(edges) }
}

#[test]
fn a_clean_counter_has_no_faults_and_the_report_says_what_would_have_been_found() {
    for scene in [on_silicon(120), Scene { emulated: false, ..Scene::new(EdgeMode::Irq, 1000, 10) }] {
        let analysis = judge(&scene);
        assert_eq!(faults(&analysis), []);
        let rule = &analysis.sessions[0].step_rule;
        assert!(rule.starts_with("none found; one of ") && !rule.contains("emulated"), "{rule}");
    }
    let emulated = judge(&one_a_second(120));
    assert!(emulated.sessions[0].step_rule.contains("under 50 ms cannot be told from a stall of the host"));
    assert!(judge(&on_silicon(20)).sessions[0].step_rule.contains("fewer than 96 edges"));
}

#[test]
fn a_counter_that_lost_counts_is_named_with_edge_number_and_cause() {
    let analysis = judge(&Scene { counter_step: Some((70, -2_000_000)), ..on_silicon(120) });
    let [(FaultKind::PhaseStep, Some(edge), ticks)] = faults(&analysis)[..] else {
        panic!("{:?}", faults(&analysis))
    };
    assert!(edge.abs_diff(70) <= 1 && (ticks + 25_000).abs() < 700, "{edge} {ticks}");
    assert!(analysis.sessions[0].counter_faults[0].text.contains("dropped counts"));
    let rate = analysis.sessions[0].rate.as_ref().unwrap();
    assert!((rate.ratio(crate::units::Hertz(12_500_000)) - 1.0).abs() <= rate.u_relative);
}

#[test]
fn a_large_step_is_the_same_fault() {
    let analysis = judge(&Scene { counter_step: Some((12, -200_000_000)), ..one_a_second(24) });
    let [(FaultKind::PhaseStep, Some(12), ticks)] = faults(&analysis)[..] else {
        panic!("{:?}", faults(&analysis))
    };
    assert!((ticks + 2_500_000).abs() < 2000, "{ticks}");
}

#[test]
fn a_rate_that_changes_is_named_with_both_rates() {
    let analysis = judge(&Scene { rate_step: Some((60, 100)), ..on_silicon(120) });
    let [(FaultKind::FrequencyStep, Some(edge), micro_ppm)] = faults(&analysis)[..] else {
        panic!("{:?}", faults(&analysis))
    };
    assert!(edge.abs_diff(60) <= 4 && (micro_ppm - 100_000_000).abs() < 5_000_000, "{edge} {micro_ppm}");
    let text = &analysis.sessions[0].counter_faults[0].text;
    assert!(text.contains("Hz to 12501") && text.contains("DVFS"), "{text}");
}

#[test]
fn a_counter_of_32_bits_is_named_where_it_wraps() {
    let analysis = judge(&Scene { wraps_at: Some(6), ..on_silicon(20) });
    let wraps: Vec<_> =
        analysis.sessions[0].counter_faults.iter().filter(|fault| fault.kind == FaultKind::Wrap32).collect();
    assert_eq!(wraps.len(), 1, "{wraps:?}");
    assert_eq!((wraps[0].capture, wraps[0].size.scaled), (Some((2, 6)), -(1 << 32)));
    assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
    assert!(
        analysis.verdict.reasons[0].contains("fell by 2^32 before capture 6"),
        "{:?}",
        analysis.verdict.reasons
    );
}

#[test]
fn a_counter_that_advances_by_sixteen_is_named_and_known_to_sixteen_ticks_only() {
    let mut scene = Scene { coarse: 16, echo: true, ..on_silicon(40) };
    let coarse = judge(&scene);
    assert_eq!(faults(&coarse), [(FaultKind::CoarseUpdate, None, 16)]);
    assert_eq!(value(&coarse, "irq", "echo", "resolution").round(), 1280.0);
    scene.coarse = 1;
    let fine = judge(&scene);
    assert_eq!(faults(&fine), []);
    let width = |analysis: &EdgeAnalysis| {
        let figures = analysis.figures.iter().find(|figure| figure.metric == "mean");
        figures.unwrap().uncertainty.unwrap().to_f64()
    };
    let more = width(&coarse) - width(&fine);
    assert!((1000.0..3000.0).contains(&more), "{more}");
}

#[test]
fn a_counter_that_stands_still_is_named_as_the_reason_why_there_is_no_rate() {
    let analysis = judge(&Scene { stuck: 5..9, ..on_silicon(20) });
    let still: Vec<_> = analysis.sessions[0]
        .counter_faults
        .iter()
        .filter(|fault| fault.kind == FaultKind::Standstill)
        .collect();
    assert_eq!((still.len(), still[0].capture, still[0].size.scaled), (1, Some((2, 5)), 4));
}

#[test]
fn captures_that_are_late_by_no_more_than_their_edges_are_no_step() {
    // 100 a second: a quarter period is 2.5 ms, and the edges come as late as that.
    let mut scene = Scene::new(EdgeMode::Irq, 200, 10);
    scene.counter_step = Some((120, 2_400_000));
    let steps = |analysis: &EdgeAnalysis| {
        let told = analysis.sessions[0].disturbed.iter();
        told.filter(|what| what.starts_with("the counter stepped by 2.")).count()
    };
    assert_eq!(steps(&judge(&scene)), 0, "emulated");
    scene.emulated = false;
    scene.counter_step = Some((120, 2_600_000));
    assert_eq!(steps(&judge(&scene)), 1);
    let mut recording = scene.recording();
    for event in &mut recording.interval {
        if let IntervalEvent::Stamp(stamp) = &mut event.event {
            stamp.half_width = Some(crate::units::Picos(3_000_000_000));
        }
    }
    let late = analyse(&scene.record(), &recording, &scene.reference());
    assert_eq!(steps(&late), 0);
}

#[test]
fn a_clock_that_steps_disturbs_the_edge_that_shows_it() {
    let mut scene = one_a_second(20);
    scene.clock_step = Some((12, -5_000_000));
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 19), (Class::Disturbed, 1)]);
}

#[test]
fn sessions_are_judged_one_by_one() {
    let mut scene = Scene::new(EdgeMode::Irq, 10, 1000);
    scene.sessions = 3;
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 30)]);
    assert_eq!(counts(&analysis.preamble).0, [(Class::Paired, 12)]);
    assert_eq!(analysis.sessions.len(), 3);
    assert_eq!(analysis.verdict.outcome, Outcome::Passed, "{:?}", analysis.verdict);
}

#[test]
fn both_ties_hold_the_true_latency_within_their_u() {
    let mut scene = Scene::new(EdgeMode::Alternate, 400, 50);
    scene.echo = true;
    let analysis = judge(&scene);
    assert_eq!(counts(&analysis.edges).0, [(Class::Paired, 400)]);
    // Uniform over 20,000 ns above the floor.
    let truth = (LATENCY_NS + 10_000) as f64;
    for tie in [Tie::Echo, Tie::Bracket] {
        let mean = value(&analysis, "irq", tie.name(), "mean");
        let latencies = analysis
            .latencies
            .iter()
            .find(|one| one.tie == tie && one.mode == super::row::Mode::Irq)
            .unwrap();
        let u = latencies.figures[0].uncertainty.unwrap().to_f64();
        assert!((mean - truth).abs() <= u, "{tie:?}: {mean} against {truth}, U {u}");
        // Not inflated: little more than the half-widths of the edges that take part.
        let most = if tie == Tie::Echo { 50_000.0 } else { 90_000.0 };
        assert!(u < most, "{tie:?}: {u}");
    }
    let row = analysis.rows().find(|row| row.echo.is_some() && row.bracket.is_some()).unwrap();
    assert_eq!(row.latency(), row.echo.as_ref().map(|latency| (Tie::Echo, latency)));
    // A polled edge is late by nothing, within its U.
    let poll = value(&analysis, "poll", "echo", "mean");
    assert!(poll.abs() < 50_000.0, "{poll}");
}

#[test]
fn without_a_tie_only_the_spread_is_told() {
    let analysis = judge(&Scene::new(EdgeMode::Irq, 200, 50));
    let latencies = &analysis.latencies;
    assert_eq!(latencies.len(), 1);
    assert_eq!(latencies[0].tie, Tie::None);
    assert!(latencies[0].figures.iter().all(|figure| ["sd", "resolution"].contains(&figure.metric.as_str())));
    // Uniform over 60,000 ns of injection and over 20,000 ns of latency.
    let sd = value(&analysis, "irq", "none", "sd");
    let truth = ((60_000f64.powi(2) + 20_000f64.powi(2)) / 12.0).sqrt();
    assert!((sd / truth - 1.0).abs() < 0.15, "{sd} against {truth}");
    assert!(analysis.rows().all(|row| row.latency().is_none()));
}

#[test]
fn without_any_statement_about_the_edges_times_there_is_no_absolute_figure() {
    let mut scene = Scene::new(EdgeMode::Alternate, 100, 50);
    scene.interval_counter = false;
    let analysis = judge(&scene);
    assert!(analysis.latencies.iter().all(|latencies| latencies.tie == Tie::None));
    let mut record = scene.record();
    record.bench.generator.edge_uncertainty_ps = Some(90_000_000);
    let analysis = analyse(&record, &scene.recording(), &scene.reference());
    let mean = value(&analysis, "irq", "bracket", "mean");
    assert!((mean - 100_000.0).abs() < 20_000.0, "{mean}");
}

#[test]
fn a_run_without_the_faulted_edges_has_the_same_latency_figures() {
    let mut scene = Scene::new(EdgeMode::Irq, 40, 1000);
    scene.echo = true;
    scene.skipped = [3, 17, 30].into();
    scene.spurious_after = [5, 21].into();
    scene.bounced = [8, 9, 25, 33].into();
    scene.outage = 12..15;
    let analysis = judge(&scene);
    let (commanded, captured) = counts(&analysis.edges);
    assert_eq!(
        commanded,
        [(Class::Paired, 31), (Class::Missed, 3), (Class::Unlocked, 5), (Class::Settling, 1)]
    );
    assert_eq!(
        captured,
        [
            (Class::Paired, 31),
            (Class::Spurious, 2),
            (Class::Duplicate, 4),
            (Class::Unlocked, 5),
            (Class::Settling, 1)
        ]
    );
    let mut bare = scene.recording();
    let faulted: Vec<(u32, u32)> = analysis
        .rows()
        .filter(|row| row.class != Class::Paired)
        .filter_map(|row| row.capture.map(|capture| (capture.window, capture.number)))
        .collect();
    super::synthetic::without(&mut bare, &faulted);
    let again = analyse(&scene.record(), &bare, &scene.reference());
    assert_eq!(again.edges.captured.total(), 31);
    let figures = |analysis: &EdgeAnalysis| -> Vec<_> {
        analysis.latencies.iter().flat_map(|latencies| latencies.figures.clone()).collect()
    };
    assert!(!figures(&again).is_empty());
    assert_eq!(figures(&again), figures(&analysis));
}

#[test]
fn an_echo_that_went_unread_is_not_replaced_by_a_bounces() {
    let mut scene = Scene::new(EdgeMode::Irq, 20, 1000);
    scene.echo = true;
    scene.bounced = [7].into();
    let mut recording = scene.recording();
    let echoes: Vec<usize> = (0..recording.interval.len())
        .filter(|&index| {
            matches!(&recording.interval[index].event,
                IntervalEvent::Stamp(stamp) if stamp.channel == IntervalChannel::B)
        })
        .collect();
    // Four of the preamble, then edge 7.
    recording.interval.remove(echoes[4 + 7]);
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    let row = analysis.rows().find(|row| row.burst == Burst::Edges && row.commanded == Some(7)).unwrap();
    assert_eq!((row.class, row.echo.as_ref()), (Class::Paired, None));
    let others = analysis.rows().filter(|row| row.echo.is_some()).count();
    assert_eq!(others, 19);
}

/// The measurement's channel B readings, by index into the recording's interval readings.
fn echoes_of_edges(recording: &crate::events::Recording) -> Vec<usize> {
    let is_echo = |index: &usize| {
        matches!(&recording.interval[*index].event,
            IntervalEvent::Stamp(stamp) if stamp.channel == IntervalChannel::B)
    };
    // The first four are the preamble's.
    (0..recording.interval.len()).filter(is_echo).skip(4).collect()
}

#[test]
fn an_echo_whose_place_is_hardly_known_gives_no_latency_and_is_told() {
    let mut scene = one_a_second(20);
    scene.echo = true;
    let plain = judge(&scene);
    let mut recording = scene.recording();
    let echoes = echoes_of_edges(&recording);
    for (edge, after_ms, half_width_ms) in [(7, 499, 494), (11, 300, 700), (15, 460, 45)] {
        let IntervalEvent::Stamp(stamp) = &mut recording.interval[echoes[edge]].event else { unreachable!() };
        stamp.time.0 += after_ms * 1_000_000_000;
        stamp.half_width = Some(crate::units::Picos(half_width_ms * 1_000_000_000));
    }
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    let without: Vec<u32> = analysis
        .rows()
        .filter(|row| row.burst == Burst::Edges && row.echo.is_none())
        .filter_map(|row| row.commanded)
        .collect();
    assert_eq!(without, [7, 11, 15]);
    assert_eq!(analysis.sessions[0].without_echo.values().collect::<Vec<_>>(), [&1, &2]);
    let most = |analysis: &EdgeAnalysis| value(analysis, "irq", "echo", "max");
    assert!(most(&analysis) <= most(&plain), "{}", most(&analysis));
    assert!(plain.sessions[0].without_echo.is_empty());
}

#[test]
fn echoes_tell_the_rate_better_than_captures_with_scattered_latencies() {
    let mut scene = Scene::new(EdgeMode::Irq, 20, 500);
    let plain = judge(&scene).sessions[0].rate.clone().unwrap();
    scene.echo = true;
    let echoed = judge(&scene).sessions[0].rate.clone().unwrap();
    assert_eq!(echoed.time_base, "interval counter, echoes");
    assert!(echoed.u_relative < plain.u_relative);
    let off = echoed.ratio(crate::units::Hertz(12_500_000)) - 1.0;
    assert!(off.abs() <= echoed.u_relative, "{off} {}", echoed.u_relative);
}

#[test]
fn more_edges_than_any_run_has_are_an_imbalance_and_no_line() {
    let scene = one_a_second(5);
    let mut recording = scene.recording();
    for event in &mut recording.rig {
        if let RigEvent::GeneratorArmed { window: 2, cycles, .. } = &mut event.event {
            *cycles = crate::plan::MOST_EDGES + 1;
        }
    }
    let analysis = analyse(&scene.record(), &recording, &scene.reference());
    assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
    assert!(analysis.verdict.reasons.iter().any(|why| why.contains("a run has 1000000 at most")));
    assert_eq!(analysis.edges.commanded.total(), 0);
}
