//! Sources of edges that do not start on the reference's pulse: which edges were due, and what time they have.

use ppsrig_wire::EdgeMode;

use super::class::Class;
use super::edge::{EdgeAnalysis, analyse};
use super::synthetic::{FIRST_HOST_NS, Scene};
use crate::bench_file::GeneratorDriver;
use crate::events::{IntervalChannel, IntervalEvent, IntervalStamp, Recording, RigEvent, Stamped};
use crate::units::{HostNanos, NS_PER_S, Picos};

fn judged(scene: &Scene, driver: GeneratorDriver, recording: &Recording) -> EdgeAnalysis {
    let mut record = scene.record();
    record.bench.generator.driver = driver;
    analyse(&record, recording, &scene.reference())
}

fn counts(analysis: &EdgeAnalysis) -> (u64, u64, u64) {
    let paired = analysis.edges.commanded.count(Class::Paired);
    (analysis.edges.commanded_count, paired, analysis.edges.captured_count)
}

/// What a scene records, with the host's own account of its edges.
fn by_host(scene: &Scene) -> Recording {
    let mut recording = scene.recording();
    let armed: Vec<(HostNanos, u32, u32, u64)> = recording
        .rig
        .iter()
        .filter_map(|event| match event.event {
            RigEvent::GeneratorArmed { window, cycles, period_ns, .. } => {
                Some((event.at, window, cycles, period_ns))
            }
            _ => None,
        })
        .collect();
    for (at, window, cycles, period_ns) in armed {
        // Armed 355 ms after a pulse, and the first edge on the next one: each commanded 3 ms before it came.
        let first = at.0 + 645_000_000 - 3_000_000;
        let sent = (0..u64::from(cycles)).map(|edge| HostNanos(first + edge * period_ns)).collect();
        let event = RigEvent::EdgesCommanded { window, first: 0, sent };
        recording.rig.push(Stamped { at: HostNanos(first), event });
    }
    recording.rig.sort_by_key(|event| event.at);
    recording
}

/// The reference's pulses on the interval counter's channel B.
fn with_pulses(mut recording: Recording) -> Recording {
    for second in 0..20_i64 {
        let after_ns = second * NS_PER_S;
        let time = Picos((i128::from(after_ns) + 777 * i128::from(NS_PER_S)) * 1000);
        let stamp = IntervalStamp { channel: IntervalChannel::B, time, half_width: None };
        let at = HostNanos((FIRST_HOST_NS + after_ns + 2_000_000).unsigned_abs());
        recording.interval.push(Stamped { at, event: IntervalEvent::Stamp(stamp) });
    }
    recording.interval.sort_by_key(|event| event.at);
    recording
}

#[test]
fn of_pulses_that_nobody_commands_those_count_that_came_while_the_window_was_open() {
    let mut scene = Scene::new(EdgeMode::Irq, 12, 1000);
    let analysis = judged(&scene, GeneratorDriver::GpsdoPulse, &scene.recording());
    assert_eq!(counts(&analysis), (12, 12, 12));
    assert!(analysis.edges.imbalances().is_empty() && analysis.preamble.imbalances().is_empty());
    let first = analysis.rows().find(|row| row.class == Class::Paired && row.commanded == Some(0));
    assert!(first.is_some_and(|row| row.gpst_ns.is_some_and(|ns| ns % 1_000_000_000 == 0)));
    scene.skipped = [3, 7].into();
    let analysis = judged(&scene, GeneratorDriver::GpsdoPulse, &scene.recording());
    assert_eq!(counts(&analysis), (12, 10, 10));
    assert_eq!(analysis.edges.commanded.count(Class::Missed), 2);
}

#[test]
fn more_or_fewer_edges_than_were_wanted_of_such_a_source_are_no_contradiction_but_many_are() {
    let scene = Scene::new(EdgeMode::Irq, 12, 1000);
    for (planned, fails) in [(11, false), (14, false), (20, true)] {
        let mut record = scene.record();
        record.bench.generator.driver = GeneratorDriver::GpsdoPulse;
        record.plan.edges = planned;
        let analysis = analyse(&record, &scene.recording(), &scene.reference());
        let told = format!("{:?}", analysis.verdict);
        assert_eq!(told.contains("were planned"), fails, "{planned}: {told}");
    }
}

#[test]
fn a_free_running_train_is_placed_by_its_captures_and_timed_by_the_interval_counter() {
    let mut scene = Scene::new(EdgeMode::Irq, 40, 100);
    scene.spurious_after = [11].into();
    scene.skipped = [20].into();
    let recording = with_pulses(scene.recording());
    let analysis = judged(&scene, GeneratorDriver::FeeltechFy6900, &recording);
    // The scene's window is open for most of a second before its first edge: those were due as well, for all that is known.
    let (commanded, paired, captured) = counts(&analysis);
    assert_eq!((paired, captured), (39, 40));
    assert!((47..=48).contains(&commanded), "{commanded}");
    assert_eq!(analysis.edges.captured.count(Class::Spurious), 1);
    assert!(analysis.edges.imbalances().is_empty());
    let measured =
        analysis.rows().filter(|row| row.class == Class::Paired && row.burst == crate::events::Burst::Edges);
    for row in measured {
        let off = row.gpst_ns.expect("the counter saw it against the pulse") % 100_000_000;
        assert!(off.min(100_000_000 - off) < 1_000_000, "{row:?}");
    }
    scene.interval_counter = false;
    let analysis = judged(&scene, GeneratorDriver::FeeltechFy6900, &{
        let mut recording = scene.recording();
        recording.interval.clear();
        recording
    });
    assert!(analysis.rows().all(|row| row.gpst_ns.is_none()), "there is nothing to know it by");
    assert_eq!(analysis.edges.commanded.count(Class::Paired), 39);
}

#[test]
fn nothing_captured_of_a_train_that_runs_by_itself_is_missed_and_no_more_is_claimed() {
    let mut scene = Scene::new(EdgeMode::Irq, 5, 1000);
    scene.skipped = (0..5).collect();
    let analysis = judged(&scene, GeneratorDriver::FeeltechFy6900, &scene.recording());
    assert_eq!(counts(&analysis), (5, 0, 0));
    assert_eq!(analysis.edges.commanded.count(Class::Missed), 5);
    assert!(analysis.edges.imbalances().is_empty());
}

#[test]
fn edges_that_the_host_commands_are_counted_as_commanded_and_are_on_no_second() {
    let mut scene = Scene::new(EdgeMode::Irq, 20, 500);
    scene.skipped = [0, 4].into();
    let recording = by_host(&scene);
    let analysis = judged(&scene, GeneratorDriver::SerialLine, &recording);
    assert_eq!(counts(&analysis), (20, 18, 18));
    assert!(analysis.edges.imbalances().is_empty());
    let missed: Vec<_> =
        analysis.rows().filter(|row| row.class == Class::Missed).map(|row| row.commanded).collect();
    assert_eq!(missed, [Some(0), Some(4)]);
    assert!(analysis.sessions[0].start_ns.is_none());
    // Without a word of the host, nothing says which capture is which edge.
    let analysis = judged(&scene, GeneratorDriver::SerialLine, &scene.recording());
    assert_eq!(analysis.edges.commanded.count(Class::Ambiguous), 20);
}
