//! Any message of either direction, for the property tests.

use ppsrig_wire::{
    AckOutcome, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, CtimeCore,
    CtimeDone, CtimePlan, CtimeVariant, EdgeDirection, EdgeMode, FromBoard, Heartbeat, Identity, JumpsCore,
    JumpsDone, JumpsPlan, PAIRS, PHASE_BINS, Pair, Pairs, PathDone, PathPlan, PathVariant, PhaseCounts,
    Snapshot, TICK_ENTRIES, TickCount, TickCounts, ToBoard,
};
use proptest::prelude::*;

fn clock_id() -> impl Strategy<Value = ClockId> {
    prop::sample::select(vec![
        ClockId::Realtime,
        ClockId::Monotonic,
        ClockId::MonotonicRaw,
        ClockId::Boottime,
    ])
}

fn plan() -> impl Strategy<Value = CapturePlan> {
    let mode = prop::sample::select(vec![EdgeMode::Irq, EdgeMode::Poll, EdgeMode::Alternate]);
    let direction = prop::sample::select(vec![EdgeDirection::Rising, EdgeDirection::Falling]);
    (any::<u32>(), mode, direction, clock_id()).prop_map(|(window, mode, direction, clock_id)| CapturePlan {
        window,
        mode,
        direction,
        clock_id,
    })
}

fn path_plan() -> impl Strategy<Value = PathPlan> {
    let variant = prop::sample::select(vec![
        PathVariant::Indirect,
        PathVariant::Inline,
        PathVariant::InlineBiased,
        PathVariant::Empty,
    ]);
    let numbers = any::<([u32; 6], u16, u64, bool, bool)>();
    (numbers, variant, clock_id()).prop_map(
        |((numbers, batches, seed, dither, raw_pairs), variant, clock_id)| {
            let [window, iterations, dither_steps, ratio_cycles, ratio_ticks, added_delay] = numbers;
            PathPlan {
                window,
                variant,
                clock_id,
                iterations,
                batches,
                dither,
                seed,
                dither_steps,
                ratio_cycles,
                ratio_ticks,
                added_delay,
                raw_pairs,
            }
        },
    )
}

fn ctime_plan() -> impl Strategy<Value = CtimePlan> {
    let variant = prop::sample::select(vec![
        CtimeVariant::Coarse,
        CtimeVariant::Multigrain,
        CtimeVariant::MultigrainFloor,
        CtimeVariant::Broken,
    ]);
    (any::<(u32, u8, u64, u64)>(), variant).prop_map(|((window, cores, operations, seed), variant)| {
        CtimePlan { window, variant, cores, operations, seed }
    })
}

/// Any command.
pub(crate) fn to_board() -> impl Strategy<Value = ToBoard> {
    prop_oneof![
        Just(ToBoard::Identify),
        plan().prop_map(ToBoard::StartCapture),
        any::<u32>().prop_map(|window| ToBoard::StopCapture { window }),
        path_plan().prop_map(ToBoard::StartPath),
        ctime_plan().prop_map(ToBoard::StartCtime),
        any::<(u32, u8, u64, u64)>().prop_map(|(window, cores, ticks, seed)| {
            ToBoard::StartJumps(JumpsPlan { window, cores, ticks, seed })
        }),
    ]
}

/// Any identity.
pub(crate) fn identity() -> impl Strategy<Value = Identity> {
    let numbers = any::<(u16, u16, u64, u64, u8, u32)>();
    (numbers, "[ -~]{0,16}", "[ -~]{0,24}").prop_map(|(numbers, git_hash, board)| {
        let (protocol, command, declared_counter_hz, midr, exception_level, capabilities) = numbers;
        Identity {
            protocol,
            command,
            declared_counter_hz,
            midr,
            exception_level,
            capabilities: Capabilities(capabilities),
            git_hash: git_hash.as_str().try_into().unwrap(),
            board: board.as_str().try_into().unwrap(),
        }
    })
}

fn capture() -> impl Strategy<Value = Capture> {
    let counters = prop_oneof![
        any::<u64>().prop_map(|capture| CaptureCounters::Irq { capture }),
        any::<(u64, u64)>().prop_map(|(before, after)| CaptureCounters::Poll { before, after }),
    ];
    let snapshot = any::<Option<(u64, i64)>>()
        .prop_map(|pair| pair.map(|(counter, time_ns)| Snapshot { counter, time_ns }));
    (any::<(u32, u32)>(), counters, snapshot, any::<Option<(u64, u64)>>()).prop_map(
        |((window, number), counters, snapshot, echo)| Capture { window, number, counters, snapshot, echo },
    )
}

/// A list of at most `N` items.
fn list<T: std::fmt::Debug + Clone, const N: usize>(
    item: impl Strategy<Value = T>,
) -> impl Strategy<Value = heapless::Vec<T, N>> {
    prop::collection::vec(item, 0..=N).prop_map(|items| items.into_iter().collect())
}

/// Any message of a `path` or `ctime` measurement.
fn measured() -> impl Strategy<Value = FromBoard> {
    let tick = any::<(u32, u32)>().prop_map(|(ticks, count)| TickCount { ticks, count });
    let pair = any::<(u64, u32)>().prop_map(|(pre, delta)| Pair { pre, delta });
    let core = any::<([u64; 4], Option<u64>)>().prop_map(|(numbers, instructions)| {
        let [operations, ordering_violations, fine_stamps, elapsed_ticks] = numbers;
        CtimeCore { operations, instructions, ordering_violations, fine_stamps, elapsed_ticks }
    });
    let jumps_core = any::<[u64; 3]>().prop_map(|[snapshots, suspended, violations]| JumpsCore {
        snapshots,
        suspended,
        violations,
    });
    prop_oneof![
        (any::<(u32, u16)>(), list::<_, TICK_ENTRIES>(tick)).prop_map(|((window, batch), entries)| {
            FromBoard::TickCounts(TickCounts { window, batch, entries })
        }),
        (any::<(u32, u32)>(), list::<_, PHASE_BINS>(any::<u32>())).prop_map(|((window, first), counts)| {
            FromBoard::PhaseCounts(PhaseCounts { window, first, counts })
        }),
        (any::<(u32, u32)>(), list::<_, PAIRS>(pair))
            .prop_map(|((window, first), pairs)| FromBoard::Pairs(Pairs { window, first, pairs })),
        any::<([u32; 6], Option<u64>)>().prop_map(|(numbers, instructions)| {
            let [window, iterations, phase_disagreements, overflow, invalid, dither_cycles] = numbers;
            FromBoard::PathDone(PathDone {
                window,
                iterations,
                phase_disagreements,
                overflow,
                invalid,
                dither_cycles,
                instructions,
            })
        }),
        (any::<[u32; 4]>(), list(jumps_core)).prop_map(|([window, sets, suspends, switches], cores)| {
            FromBoard::JumpsDone(JumpsDone { window, sets, suspends, switches, cores })
        }),
        (any::<u32>(), list(core))
            .prop_map(|(window, cores)| FromBoard::CtimeDone(CtimeDone { window, cores })),
    ]
}

/// Any message of the board.
pub(crate) fn from_board() -> impl Strategy<Value = FromBoard> {
    let outcome =
        prop::sample::select(vec![AckOutcome::Done, AckOutcome::Unsupported, AckOutcome::WrongWindow]);
    let heartbeat = any::<(u32, u32, u64, u32, u32, u64)>().prop_map(
        |(window, number, counter, captured, dropped, longest_gap_ticks)| {
            FromBoard::Heartbeat(Heartbeat { window, number, counter, captured, dropped, longest_gap_ticks })
        },
    );
    let totals =
        any::<(u16, u32, u32, u32, u64)>().prop_map(|(command, window, captured, dropped, counter)| {
            FromBoard::Totals(CaptureTotals { command, window, captured, dropped, counter })
        });
    prop_oneof![
        identity().prop_map(FromBoard::Identity),
        (any::<u16>(), outcome).prop_map(|(command, outcome)| FromBoard::Ack { command, outcome }),
        capture().prop_map(FromBoard::Capture),
        heartbeat,
        totals,
        measured(),
    ]
}
