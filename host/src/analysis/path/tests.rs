//! Whole recordings of boards whose latencies are known to the cycle.

use proptest::prelude::*;

use super::testing::{Random, Scene};
use super::{Instructions, PathAnalysis};
use crate::analysis::Analysis;
use crate::analysis::figure::Figure;
use crate::analysis::seconds::recorded;
use crate::analysis::verdict::Outcome;
use crate::bench_file::CommandBy;
use crate::events::{BoardEvent, Recording, RigEvent, Stamped};
use crate::names::{Clock, PathPart, PathVariant};
use crate::report;
use crate::units::HostNanos;

fn whole(scene: &Scene, recording: &Recording) -> Analysis {
    let record = scene.record();
    crate::analysis::analyse(&record, recording, &recorded(&record, recording))
}

fn judge(scene: &Scene) -> PathAnalysis {
    whole(scene, &scene.recording()).path.expect("path was measured")
}

fn figure<'a>(analysis: &'a PathAnalysis, variant: &str, metric: &str) -> &'a Figure {
    let found = analysis.figures.iter().find(|one| one.variant == variant && one.metric == metric);
    found.unwrap_or_else(|| panic!("a figure {metric} of {variant}"))
}

fn value(analysis: &PathAnalysis, variant: &str, metric: &str) -> Option<f64> {
    figure(analysis, variant, metric).value.map(|value| value.to_f64())
}

/// What is wrong when the board's end of a window says something else.
fn reasons(done: fn(&mut ppsrig_wire::PathDone)) -> (u8, String) {
    let mut scene = Scene { done, iterations: 10_000, ..Scene::new() };
    scene.variants.truncate(1);
    let verdict = judge(&scene).verdict;
    (verdict.outcome.exit(), verdict.reasons.join("\n"))
}

#[test]
fn dithered_quantised_means_are_the_cycles_between_the_reads_less_the_overhead() {
    let scene = Scene { iterations: 1_000_000, ..Scene::new() };
    let analysis = judge(&scene);
    assert_eq!(analysis.verdict.outcome, Outcome::Passed, "{:?}", analysis.verdict);
    for (variant, cycles) in &scene.variants {
        let truth = *cycles as f64 - 1.0;
        let mean = figure(&analysis, variant.name(), "mean");
        assert!((mean.value.unwrap().to_f64() - truth).abs() < 0.15, "{mean:?}");
        let (low, high) = mean.interval.unwrap();
        let (half, u) = ((high.to_f64() - low.to_f64()) / 2.0, mean.uncertainty.unwrap().to_f64());
        assert!((0.05..0.15).contains(&half), "{variant}: half an interval of {half}");
        assert!((0.1..0.5).contains(&u), "{variant}: U {u}");
        assert_eq!((mean.n, mean.sessions, mean.verdict), (1_000_000, 1, "passed"));
        let bound = figure(&analysis, variant.name(), "bias_bound");
        assert!(bound.value.unwrap().to_f64() < 0.25 && bound.verdict == "passed", "{bound:?}");
        assert!((value(&analysis, variant.name(), "read_overhead").unwrap() - 1.0).abs() < 0.05);
        let advanced = value(&analysis, variant.name(), "p_ge_1").unwrap();
        assert!((advanced - *cycles as f64 / 80.0).abs() < 0.002, "{advanced}");
        assert_eq!(value(&analysis, variant.name(), "resolution"), Some(80.0));
    }
}

#[test]
fn a_counter_of_every_instruction_counts_them_exactly_and_needs_no_dither() {
    for dither in [true, false] {
        let scene = Scene { counter_hz: 1_000_000_000, dither, iterations: 10_000, ..Scene::new() };
        let analysis = judge(&scene);
        assert_eq!(analysis.verdict.outcome, Outcome::Passed, "{:?}", analysis.verdict);
        for (variant, cycles) in &scene.variants {
            let count = *cycles as f64 - 1.0;
            let instructions = figure(&analysis, variant.name(), "instructions");
            assert_eq!(instructions.value.unwrap().to_f64(), count);
            assert_eq!(
                instructions.interval.map(|(low, high)| (low.to_f64(), high.to_f64())),
                Some((count, count))
            );
            assert_eq!(instructions.verdict, "passed");
            assert_eq!(value(&analysis, variant.name(), "mean"), Some(count));
            assert_eq!(value(&analysis, variant.name(), "bias_bound"), Some(0.0));
            assert_eq!(value(&analysis, variant.name(), "max"), Some(count));
        }
    }
}

#[test]
fn instructions_that_vary_are_no_count() {
    let rare = Some((1000, 2));
    let scene = Scene { counter_hz: 1_000_000_000, rare, iterations: 10_000, ..Scene::new() };
    let analysis = judge(&scene);
    assert_eq!(analysis.verdict.outcome, Outcome::Invalid);
    // Each end of the range is the widest that path and overhead allow.
    assert_eq!(analysis.variants[0].instructions, Instructions::Varying(21, 25));
    let figure = figure(&analysis, "indirect", "instructions");
    assert_eq!((figure.value, figure.verdict), (None, "invalid"));
}

#[test]
fn without_dither_there_is_no_verdict_and_the_bound_says_why() {
    let scene = Scene { dither: false, iterations: 80_000, ..Scene::new() };
    let analysis = judge(&scene);
    assert_eq!(analysis.verdict.outcome.exit(), 3);
    assert!(analysis.verdict.reasons[0].contains("dither is off"), "{:?}", analysis.verdict);
    // A loop of 76 cycles sees 20 phases of 80, four cycles apart.
    let bound = figure(&analysis, "indirect", "bias_bound");
    assert_eq!(bound.value.unwrap().to_string(), "3.000");
    assert_eq!((bound.verdict, figure(&analysis, "indirect", "mean").verdict), ("invalid", "invalid"));
    assert!(analysis.verdict.reasons.iter().any(|reason| reason.contains("bias of 3.000 ns")));
    // A loop of 83 cycles sees all of them, and is as little trusted.
    let lucky = judge(&Scene { loop_cycles: 83, ..scene });
    assert_eq!(value(&lucky, "indirect", "bias_bound"), Some(0.0));
    assert_eq!(lucky.verdict.outcome, Outcome::Invalid);
}

#[test]
fn what_the_board_says_of_its_own_doubts_decides() {
    for (done, exit, told) in [
        ((|done| done.phase_disagreements = 3) as fn(&mut ppsrig_wire::PathDone), 3, "came apart in 3 pairs"),
        (|done| done.dither_cycles = 40, 3, "40 cycles more than the shortest, not 79"),
        (|done| done.invalid = 2, 2, "not valid in 2 pairs"),
        (|done| done.iterations += 1, 2, "took 10001 pairs of 10000"),
        (|done| done.overflow = 4, 2, "too long"),
    ] {
        let (found, reasons) = reasons(done);
        assert!(found == exit && reasons.contains(told), "exit {found} in place of {exit}: {reasons}");
    }
}

#[test]
fn pairs_too_long_to_be_counted_leave_no_verdict() {
    let scene = Scene { iterations: 10_000, ..Scene::new() };
    let mut recording = scene.recording();
    let pieces = recording.board.iter_mut().filter_map(|event| match &mut event.event {
        BoardEvent::Frame { message: ppsrig_wire::FromBoard::TickCounts(piece), .. } if piece.window == 2 => {
            Some(piece)
        }
        _ => None,
    });
    pieces.for_each(|piece| {
        if piece.batch == 0 {
            piece.entries[0].count -= 5;
        }
    });
    for event in &mut recording.board {
        if let BoardEvent::Frame { message: ppsrig_wire::FromBoard::PathDone(done), .. } = &mut event.event {
            done.overflow = if done.window == 2 { 5 } else { 0 };
        }
    }
    let verdict = whole(&scene, &recording).verdict;
    assert_eq!(verdict.outcome, Outcome::Invalid);
    assert!(verdict.reasons[0].contains("5 pairs were too long"), "{verdict:?}");
}

#[test]
fn an_emulated_board_that_runs_live_is_not_judged() {
    let scene = Scene { clock: Clock::Live, dither: false, iterations: 10_000, ..Scene::new() };
    let analysis = judge(&scene);
    assert_eq!((analysis.verdict.outcome, analysis.verdict.outcome.exit()), (Outcome::Unjudged, 0));
    assert!(analysis.verdict.reasons[0].contains("emulated"), "{:?}", analysis.verdict);
    let judged = |figure: &&Figure| !figure.verdict.is_empty() && !figure.variant.is_empty();
    assert_eq!(analysis.figures.iter().filter(judged).count(), 0);
    let real = judge(&Scene { emulated: false, ..scene });
    assert_eq!(real.verdict.outcome, Outcome::Invalid);
    assert_eq!(figure(&real, "", "counter_rate").verdict, "declared");
}

#[test]
fn percentiles_exist_from_one_tick_up_and_are_known_to_a_tick() {
    let analysis = judge(&Scene { iterations: 10_000, ..Scene::new() });
    for metric in ["min", "p50"] {
        assert_eq!(value(&analysis, "indirect", metric), None, "{metric}");
    }
    let max = figure(&analysis, "indirect", "max");
    assert!((max.value.unwrap().to_f64() - 79.0).abs() < 0.5, "{max:?}");
    assert!(max.uncertainty.unwrap().to_f64() > 80.0);
    let slow = Scene { variants: vec![(PathVariant::Inline, 240)], iterations: 10_000, ..Scene::new() };
    let p50 = judge(&slow);
    let p50 = figure(&p50, "inline", "p50");
    assert!((p50.value.unwrap().to_f64() - 239.0).abs() < 0.5, "{p50:?}");
    assert_eq!(p50.interval.unwrap().0, p50.value.unwrap());
}

#[test]
fn from_three_sessions_on_the_interval_is_one_between_sessions() {
    let mut scene = Scene { sessions: 3, iterations: 20_000, ..Scene::new() };
    scene.variants.truncate(2);
    let analysis = judge(&scene);
    for variant in &analysis.variants {
        assert_eq!(variant.sessions.len(), 3);
        assert!(variant.mean.unwrap().between_sessions);
        assert_eq!(figure(&analysis, variant.variant.name(), "mean").n, 60_000);
    }
    let seeds: std::collections::BTreeSet<u64> = analysis.windows.iter().map(|window| window.seed).collect();
    assert_eq!(seeds.len(), 6);
}

#[test]
fn a_ladder_of_known_delays_is_measured() {
    let mut scene = Scene { ladder: true, iterations: 100_000, ..Scene::new() };
    scene.variants.truncate(1);
    let analysis = judge(&scene);
    let ladder = analysis.variants[0].sessions[0].ladder.as_ref().unwrap();
    assert_eq!(
        ladder.rungs.iter().map(|rung| rung.cycles).collect::<Vec<_>>(),
        [11, 22, 33, 44, 55, 66, 77, 88]
    );
    let line = ladder.line.unwrap();
    assert!((line.slope - 1.0).abs() < 2.0 * line.slope_half && line.slope_half < 0.02, "{line:?}");
    let residual = figure(&analysis, "indirect", "ladder_residual");
    assert_eq!((residual.n, residual.verdict), (800_000, ""));
    assert!(residual.value.unwrap().to_f64() < 0.8 && residual.uncertainty.unwrap().to_f64() < 1.5);
}

#[test]
fn a_message_that_is_lost_is_told_and_its_session_gives_no_figure() {
    let scene = Scene { sessions: 2, iterations: 10_000, ..Scene::new() };
    let recording = scene.recording();
    let pieces: Vec<usize> = (0..recording.board.len())
        .filter(|&index| {
            let BoardEvent::Frame { message, .. } = &recording.board[index].event else { return false };
            matches!(message, ppsrig_wire::FromBoard::TickCounts(_) | ppsrig_wire::FromBoard::PhaseCounts(_))
        })
        .collect();
    for index in pieces.into_iter().step_by(23) {
        let mut short = recording.clone();
        short.board.remove(index);
        let analysis = whole(&scene, &short).path.unwrap();
        assert_eq!(analysis.verdict.outcome, Outcome::NotDone);
        assert!(analysis.verdict.reasons[0].contains("arrived"), "{:?}", analysis.verdict);
        let sessions: usize = analysis.variants.iter().map(|variant| variant.sessions.len()).sum();
        assert_eq!(sessions, 5, "message {index}");
    }
}

#[test]
fn a_run_that_was_cut_is_partial_and_keeps_its_whole_sessions() {
    let scene = Scene { sessions: 2, iterations: 10_000, ..Scene::new() };
    let recording = scene.recording();
    let end = recording.rig.last().unwrap().at.0;
    let mut most = 0;
    for part in 0..20 {
        let cut = HostNanos(end * part / 20);
        let mut short = recording.clone();
        short.rig.retain(|event| event.at < cut);
        short.board.retain(|event| event.at < cut);
        let analysis = whole(&scene, &short);
        assert_eq!(analysis.verdict.outcome, Outcome::NotDone, "part {part}");
        assert!(analysis.partial.is_some() && analysis.verdict.reasons[0].contains("partial"));
        let sessions: usize = analysis.path.unwrap().variants.iter().map(|one| one.sessions.len()).sum();
        assert!(sessions >= most, "part {part}");
        most = sessions;
    }
    assert_eq!(most, 5);
}

#[test]
fn sessions_that_were_never_started_are_missed() {
    let recording = Scene { iterations: 10_000, ..Scene::new() }.recording();
    let verdict = whole(&Scene { sessions: 2, iterations: 10_000, ..Scene::new() }, &recording).verdict;
    assert_eq!(verdict.outcome, Outcome::NotDone);
    assert_eq!(verdict.reasons[0], "indirect: 2 sessions were planned, 1 measured");
}

#[test]
fn probe_operations_count_while_the_board_measures() {
    for (clock, counted) in [(Clock::Live, 7), (Clock::Exact, 7)] {
        let scene = Scene { clock, iterations: 10_000, ..Scene::new() };
        let mut recording = scene.recording();
        assert_eq!(judge(&scene).probe_operations, 0, "{clock}");
        let done = recording.board.iter().find(|event| {
            matches!(&event.event, BoardEvent::Frame { message: ppsrig_wire::FromBoard::PathDone(_), .. })
        });
        let at = HostNanos(done.unwrap().at.0 - 1);
        let event = RigEvent::ProbeUsed { purpose: "trace".to_owned(), began: at, operations: 7 };
        recording.rig.push(Stamped { at, event });
        recording.rig.sort_by_key(|event| event.at);
        assert_eq!(whole(&scene, &recording).path.unwrap().probe_operations, counted, "{clock}");
    }
}

#[test]
fn a_load_that_carries_the_command_is_no_probe_use_while_the_board_measures() {
    let mut scene = Scene { clock: Clock::Live, iterations: 10_000, ..Scene::new() };
    scene.variants.truncate(1);
    let mut recording = scene.recording();
    let load = recording.rig.iter().find_map(|event| match event.event {
        RigEvent::ProbeUsed { began, .. } => Some(began),
        _ => None,
    });
    // What is to be measured is recorded before the load that tells the board.
    for event in recording.rig.iter_mut().filter(|one| matches!(one.event, RigEvent::PathStarted { .. })) {
        event.at = HostNanos(load.unwrap().0 - 1);
    }
    recording.rig.sort_by_key(|event| event.at);
    for (command_by, counted) in [(CommandBy::Memory, false), (CommandBy::Link, true)] {
        let mut record = scene.record();
        record.bench.board.command_by = command_by;
        let analysis = crate::analysis::analyse(&record, &recording, &recorded(&record, &recording));
        assert_eq!(analysis.path.unwrap().probe_operations > 0, counted, "{command_by:?}");
    }
}

#[test]
fn samples_hold_every_pair_and_pairs_hold_each() {
    let scene = Scene { raw_pairs: true, iterations: 5000, ..Scene::new() };
    let analysis = judge(&scene);
    assert_eq!(analysis.problems, Vec::<String>::new());
    let samples = report::samples::samples_csv(&analysis);
    let of = |variant: &str| -> u64 {
        let rows = samples.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        rows.filter(|row| row[1] == variant).map(|row| row[6].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(samples.lines().next(), Some("session,variant,clock_id,cores,batch,ticks,count"));
    assert_eq!((of("inline"), of("inline:overhead"), of("indirect")), (5000, 5000, 5000));
    let mut pairs = Vec::new();
    report::samples::pairs_csv(&analysis, &mut pairs).unwrap();
    let pairs = String::from_utf8(pairs).unwrap();
    assert_eq!(pairs.lines().next(), Some("session,variant,clock_id,seq,counter_pre,counter_snapshot"));
    assert_eq!(pairs.lines().count(), 1 + 3 * 5000);
    let path = analysis.windows.iter().find(|window| window.part == PathPart::Path).unwrap();
    let (seq, pair) = path.pairs.iter().nth(1234).unwrap();
    let line = format!("1,indirect,realtime,{seq},{},{}", pair.pre, pair.pre + u64::from(pair.delta));
    assert_eq!(pairs.lines().nth(1235), Some(line.as_str()));
}

#[test]
fn raw_pairs_that_do_not_agree_with_the_histograms_are_told() {
    let mut scene = Scene { raw_pairs: true, iterations: 1000, ..Scene::new() };
    scene.variants.truncate(1);
    let mut recording = scene.recording();
    let pairs = recording.board.iter_mut().find_map(|event| match &mut event.event {
        BoardEvent::Frame { message: ppsrig_wire::FromBoard::Pairs(pairs), .. } => Some(pairs),
        _ => None,
    });
    pairs.unwrap().pairs[0].delta += 1;
    let verdict = whole(&scene, &recording).verdict;
    assert!(
        verdict.outcome == Outcome::NotDone && verdict.reasons[0].contains("do not agree"),
        "{verdict:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_missing_doubled_or_altered_nothing_panics_and_nothing_false_passes(
        seed in any::<u64>(), raw_pairs in any::<bool>(), harms in 1..6_usize,
    ) {
        let scene = Scene { raw_pairs, ladder: true, iterations: 200, ctime_cores: Some(2), ..Scene::new() };
        let mut recording = scene.recording();
        let sound = recording.clone();
        let mut random = Random(seed);
        for _ in 0..harms {
            harm(&mut recording, &mut random);
        }
        let record = scene.record();
        let analysis = whole(&scene, &recording);
        for (name, text) in report::testing::texts(&record, &analysis) {
            prop_assert!(!text.contains("NaN") && !text.contains("-0.000,") && text.ends_with('\n'), "{}", name);
        }
        let table = report::terminal::table(&record, &analysis, &[], (std::path::Path::new("x"), &[]));
        prop_assert!(table.contains("verdict"));
        let unharmed = whole(&scene, &sound);
        let ladder = |analysis: &Analysis| {
            analysis.figures().filter(|figure| figure.metric != "ladder_residual").cloned().collect::<Vec<_>>()
        };
        prop_assert!(analysis.verdict.outcome != Outcome::Passed || ladder(&analysis) == ladder(&unharmed));
    }
}

fn harm(recording: &mut Recording, random: &mut Random) {
    let board = random.below(recording.board.len().max(1) as u32) as usize;
    let rig = random.below(recording.rig.len().max(1) as u32) as usize;
    match random.below(5) {
        0 if !recording.board.is_empty() => {
            recording.board.remove(board);
        }
        1 if !recording.board.is_empty() => {
            let again = recording.board[board].clone();
            recording.board.insert(board, again);
        }
        2 if !recording.rig.is_empty() => {
            recording.rig.remove(rig);
        }
        3 if !recording.rig.is_empty() => {
            let again = recording.rig[rig].clone();
            recording.rig.insert(rig, again);
        }
        _ => {
            if let Some(Stamped { event: BoardEvent::Frame { message, .. }, .. }) =
                recording.board.get_mut(board)
            {
                alter(message, random.next());
            }
        }
    }
}

fn alter(message: &mut ppsrig_wire::FromBoard, by: u64) {
    match message {
        ppsrig_wire::FromBoard::TickCounts(piece) => piece.batch ^= by as u16,
        ppsrig_wire::FromBoard::PhaseCounts(piece) => piece.first ^= by as u32,
        ppsrig_wire::FromBoard::Pairs(piece) => piece.first ^= by as u32,
        ppsrig_wire::FromBoard::PathDone(done) => done.overflow ^= by as u32,
        ppsrig_wire::FromBoard::CtimeDone(done) => done.window ^= by as u32 % 4,
        _ => {}
    }
}

#[test]
fn a_counter_that_advances_by_two_at_once_leaves_the_mean_in_doubt() {
    let scene = Scene { iterations: 20_000, ..Scene::new() };
    let mut recording = scene.recording();
    for event in &mut recording.board {
        if let BoardEvent::Frame { message: ppsrig_wire::FromBoard::TickCounts(counts), .. } =
            &mut event.event
        {
            counts.entries.iter_mut().for_each(|entry| entry.ticks *= 2);
        }
    }
    let analysis = whole(&scene, &recording).path.unwrap();
    assert_eq!(analysis.verdict.outcome, Outcome::Invalid);
    assert!(analysis.verdict.reasons[0].contains("multiple of 2 ticks"), "{:?}", analysis.verdict.reasons);
    assert_eq!(judge(&scene).verdict.outcome, Outcome::Passed);
}

#[test]
fn percentiles_are_whole_ticks_less_the_overhead_known_to_a_tick_and_empty_below_one() {
    let mut scene = Scene { iterations: 100_000, ..Scene::new() };
    scene.variants = vec![(PathVariant::Indirect, 190), (PathVariant::Inline, 20)];
    let analysis = judge(&scene);
    let (tick, overhead) = (80.0, value(&analysis, "indirect", "read_overhead").unwrap());
    for metric in ["min", "p50", "p90", "p99", "p999", "max"] {
        let row = figure(&analysis, "indirect", metric);
        let ticks = (row.value.unwrap().to_f64() + overhead) / tick;
        assert!((ticks - ticks.round()).abs() < 1e-4, "{metric}: {ticks} ticks");
        assert!(row.uncertainty.unwrap().to_f64() >= tick, "{metric}");
    }
    // A quarter of a tick: the counter does not advance between most pairs, so most percentiles do not exist.
    assert_eq!(value(&analysis, "inline", "p50"), None);
    assert!((value(&analysis, "inline", "p_ge_1").unwrap() - 0.25).abs() < 0.02);
}
