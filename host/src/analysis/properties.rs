//! Whatever the recording: nothing panics, and the ledger balances or says why it does not.

use std::collections::BTreeSet;

use ppsrig_wire::{Capture, CaptureCounters, CaptureTotals, EdgeMode, FromBoard, Heartbeat, Snapshot};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::class::Class;
use super::edge::{EdgeAnalysis, analyse};
use super::seconds::recorded;
use super::synthetic::Scene;
use crate::events::{
    BoardEvent, Burst, IntervalChannel, IntervalEvent, IntervalStamp, Recording, ReferenceEvent, RigEvent,
    Stamped, TimeMessage, TimeSource, Trust,
};
use crate::units::{GpsSecond, HostNanos, Picos};

/// What must hold of every analysis.
fn sound(analysis: &EdgeAnalysis) {
    for ledger in [&analysis.preamble, &analysis.edges] {
        for class in Class::ALL {
            assert!(class.on_commanded_side() || ledger.commanded.count(class) == 0);
            assert!(class.on_captured_side() || ledger.captured.count(class) == 0);
        }
        let even = ledger.commanded.total() == ledger.commanded_count
            && ledger.captured.total() == ledger.captured_count
            && ledger.commanded.count(Class::Paired) == ledger.captured.count(Class::Paired);
        assert!(even || !ledger.imbalances().is_empty());
        assert!(ledger.imbalances().is_empty() || analysis.verdict.outcome.exit() == 2);
    }
    assert!(
        analysis
            .rows()
            .all(|row| !row.reason.is_empty() && (row.commanded.is_some() || row.captured.is_some()))
    );
    assert!(!analysis.verdict.reasons.is_empty());
    assert!(analysis.partial.is_none() || analysis.verdict.outcome.exit() == 2);
}

fn edges(most: usize) -> impl Strategy<Value = BTreeSet<u32>> {
    btree_set(0..20u32, 0..most)
}

prop_compose! {
    fn scene()(
        skipped in edges(5), spurious in edges(5), bounced in edges(5), torn in edges(4), dropped in edges(4),
        vanished in edges(4), outage in option::of(0..15u32), cut in option::of(0..20u32),
        preamble_skipped in btree_set(0..4u32, 0..3), alternate in any::<bool>(), echo in any::<bool>(),
    ) -> Scene {
        let mut scene = Scene::new(if alternate { EdgeMode::Alternate } else { EdgeMode::Irq }, 20, 1000);
        scene.skipped = skipped;
        scene.spurious_after = spurious;
        scene.bounced = bounced;
        scene.torn = torn;
        scene.dropped = dropped;
        scene.vanished = vanished;
        scene.preamble_skipped = preamble_skipped;
        scene.outage = outage.map_or(0..0, |from| from..from + 3);
        scene.cut_at = cut;
        scene.echo = echo;
        scene
    }
}

proptest! {
    #[test]
    fn whatever_the_faults_the_ledger_balances(scene in scene()) {
        let analysis = analyse(&scene.record(), &scene.recording(), &scene.reference());
        sound(&analysis);
        prop_assert_eq!(analysis.edges.imbalances(), Vec::<String>::new());
        prop_assert_eq!(analysis.preamble.imbalances(), Vec::<String>::new());
    }

    #[test]
    fn whatever_the_recording_nothing_panics(recording in recording(), mode in 0..3usize) {
        let mut scene = Scene::new([EdgeMode::Irq, EdgeMode::Poll, EdgeMode::Alternate][mode], 20, 1000);
        scene.echo = mode != 1;
        let record = scene.record();
        let reference = recorded(&record, &recording);
        let whole = super::analyse(&record, &recording, &reference);
        let analysis = whole.edge.as_ref().expect("edges were measured");
        sound(analysis);
        for (_, text) in crate::report::testing::texts(&record, &whole) {
            prop_assert!(!text.contains("-0.000,") && text.ends_with('\n'));
        }
        let table = crate::report::terminal::table(&record, &whole, &[], (std::path::Path::new("x"), &[]));
        prop_assert!(table.contains("verdict"));
    }

    #[test]
    fn whatever_is_missing_doubled_or_altered_nothing_panics(scene in scene(), harm in vec(harm(), 1..12)) {
        let mut recording = scene.recording();
        harm.iter().for_each(|harm| harm.inflict(&mut recording));
        sound(&analyse(&scene.record(), &recording, &scene.reference()));
    }
}

/// Something done to a recording that no run does.
#[derive(Clone, Debug)]
enum Harm {
    LoseRig(usize),
    LoseBoard(usize),
    LoseInterval(usize),
    DoubleBoard(usize),
    SwapBoard(usize, usize),
    AlterCounter(usize, u64),
    AlterNumber(usize, u32),
    ShiftStamp(usize, i128),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = || any::<usize>();
    prop_oneof![
        at().prop_map(Harm::LoseRig),
        at().prop_map(Harm::LoseBoard),
        at().prop_map(Harm::LoseInterval),
        at().prop_map(Harm::DoubleBoard),
        (at(), at()).prop_map(|(one, other)| Harm::SwapBoard(one, other)),
        (at(), counter()).prop_map(|(at, counter)| Harm::AlterCounter(at, counter)),
        (at(), number()).prop_map(|(at, number)| Harm::AlterNumber(at, number)),
        (at(), -2_000_000_000_000..2_000_000_000_000i128).prop_map(|(at, by)| Harm::ShiftStamp(at, by)),
    ]
}

fn captures(recording: &mut Recording) -> impl Iterator<Item = &mut Capture> {
    recording.board.iter_mut().filter_map(|event| match &mut event.event {
        BoardEvent::Frame { message: FromBoard::Capture(capture), .. } => Some(capture),
        _ => None,
    })
}

fn lose<E>(events: &mut Vec<E>, at: usize) {
    if let Some(at) = at.checked_rem(events.len()) {
        events.remove(at);
    }
}

impl Harm {
    fn inflict(&self, recording: &mut Recording) {
        match *self {
            Self::LoseRig(at) => lose(&mut recording.rig, at),
            Self::LoseBoard(at) => lose(&mut recording.board, at),
            Self::LoseInterval(at) => lose(&mut recording.interval, at),
            Self::DoubleBoard(at) => {
                if let Some(at) = at.checked_rem(recording.board.len()) {
                    recording.board.insert(at, recording.board[at].clone());
                }
            }
            Self::SwapBoard(one, other) => {
                let count = recording.board.len();
                if count > 0 {
                    recording.board.swap(one % count, other % count);
                }
            }
            Self::AlterCounter(at, counter) => {
                if let Some(capture) = captures(recording).nth(at % 24) {
                    capture.counters = CaptureCounters::Irq { capture: counter };
                }
            }
            Self::AlterNumber(at, number) => {
                if let Some(capture) = captures(recording).nth(at % 24) {
                    capture.number = number;
                }
            }
            Self::ShiftStamp(at, by) => {
                let at = at.checked_rem(recording.interval.len());
                if let Some(IntervalEvent::Stamp(stamp)) = at.map(|at| &mut recording.interval[at].event) {
                    stamp.time.0 += by;
                }
            }
        }
    }
}

/// Times of some seconds, and now and then of another world.
fn host() -> impl Strategy<Value = HostNanos> {
    prop_oneof![20 => 0..20_000_000_000u64, 1 => any::<u64>()].prop_map(HostNanos)
}

fn counter() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..300_000_000u64, 1 => any::<u64>()]
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 0..30u32, 1 => any::<u32>()]
}

fn rig_event() -> impl Strategy<Value = RigEvent> {
    let burst = prop_oneof![Just(Burst::Preamble), Just(Burst::Edges)];
    let period = prop_oneof![10 => Just(1_000_000_000u64), 10 => 1..2_000_000_000u64, 1 => any::<u64>()];
    prop_oneof![
        (1..4u32, burst, 1..3u32).prop_map(|(window, burst, session)| RigEvent::WindowOpened {
            window,
            burst,
            session
        }),
        (1..4u32, prop_oneof![9 => 0..30u32, 1 => Just(u32::MAX)], period, host()).prop_map(
            |(window, cycles, period_ns, sent)| RigEvent::GeneratorArmed {
                window,
                cycles,
                period_ns,
                width_ns: 5,
                sent
            }
        ),
        (1..4u32).prop_map(|window| RigEvent::WindowClosed { window }),
        (1..4u32).prop_map(|window| RigEvent::GeneratorFailed { window, reason: "silent".to_owned() }),
        host().prop_map(|began| RigEvent::ProbeUsed { purpose: "x".to_owned(), began, operations: u64::MAX }),
        Just(RigEvent::Stopped { reason: "interrupted".to_owned() }),
        Just(RigEvent::Finished),
    ]
}

fn message() -> impl Strategy<Value = FromBoard> {
    let counters = prop_oneof![
        counter().prop_map(|capture| CaptureCounters::Irq { capture }),
        (counter(), counter()).prop_map(|(before, after)| CaptureCounters::Poll { before, after }),
    ];
    let snapshot =
        option::of((counter(), any::<i64>()).prop_map(|(counter, time_ns)| Snapshot { counter, time_ns }));
    let capture = (1..4u32, number(), counters, snapshot, option::of((counter(), counter()))).prop_map(
        |(window, number, counters, snapshot, echo)| {
            FromBoard::Capture(Capture { window, number, counters, snapshot, echo })
        },
    );
    prop_oneof![
        5 => capture,
        1 => (1..4u32, number(), counter(), number(), number(), counter()).prop_map(
            |(window, number, counter, captured, dropped, longest_gap_ticks)| {
                FromBoard::Heartbeat(Heartbeat { window, number, counter, captured, dropped, longest_gap_ticks })
            },
        ),
        1 => (1..4u32, number(), number(), counter()).prop_map(|(window, captured, dropped, counter)| {
            FromBoard::Totals(CaptureTotals { command: 0, window, captured, dropped, counter })
        }),
    ]
}

fn board_event() -> impl Strategy<Value = BoardEvent> {
    prop_oneof![
        9 => (any::<u16>(), message()).prop_map(|(sequence, message)| BoardEvent::Frame { sequence, message }),
        1 => Just(BoardEvent::Damaged { bytes: 3, reason: "torn" }),
    ]
}

fn reference_event() -> impl Strategy<Value = ReferenceEvent> {
    let source =
        prop_oneof![Just(TimeSource::NmeaRmc), Just(TimeSource::NmeaZda), Just(TimeSource::UbxTimTp)];
    let second = prop_oneof![20 => 1_480_000_000..1_480_000_020i64, 1 => any::<i64>()];
    let trust = prop_oneof![
        5 => Just(Trust::Locked),
        1 => Just(Trust::Unlocked),
        1 => Just(Trust::Holdover),
        1 => Just(Trust::NotStated)
    ];
    (source, second, trust, option::of(any::<i32>())).prop_map(|(source, second, trust, qerr_ps)| {
        ReferenceEvent::Time(TimeMessage { source, second: GpsSecond(second), trust, qerr_ps })
    })
}

fn interval_event() -> impl Strategy<Value = IntervalEvent> {
    let channel = prop_oneof![Just(IntervalChannel::A), Just(IntervalChannel::B)];
    // A reading has at most twenty digits of seconds.
    let time = prop_oneof![20 => 0..20_000_000_000_000i128, 1 => -(1i128 << 100)..(1i128 << 100)];
    prop_oneof![
        9 => (channel, time, option::of(0..100_000_000i128)).prop_map(|(channel, time, half_width)| {
            IntervalEvent::Stamp(IntervalStamp { channel, time: Picos(time), half_width: half_width.map(Picos) })
        }),
        1 => Just(IntervalEvent::ReferenceLost),
    ]
}

fn stamped<E: std::fmt::Debug>(
    event: impl Strategy<Value = E>,
    most: usize,
) -> impl Strategy<Value = Vec<Stamped<E>>> {
    vec((host(), event).prop_map(|(at, event)| Stamped { at, event }), 0..most).prop_map(|mut events| {
        events.sort_by_key(|event| event.at);
        events
    })
}

fn recording() -> impl Strategy<Value = Recording> {
    (
        stamped(rig_event(), 12),
        stamped(board_event(), 40),
        stamped(reference_event(), 40),
        stamped(interval_event(), 30),
    )
        .prop_map(|(rig, board, reference, interval)| Recording {
            rig,
            board,
            reference,
            interval,
            ..Recording::default()
        })
}
