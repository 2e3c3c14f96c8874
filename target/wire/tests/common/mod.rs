//! Any message of either direction, for the property tests.

use ppsrig_wire::{
    AckOutcome, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, EdgeDirection,
    EdgeMode, FromBoard, Heartbeat, Identity, Snapshot, ToBoard,
};
use proptest::prelude::*;

fn plan() -> impl Strategy<Value = CapturePlan> {
    let mode = prop::sample::select(vec![EdgeMode::Irq, EdgeMode::Poll, EdgeMode::Alternate]);
    let direction = prop::sample::select(vec![EdgeDirection::Rising, EdgeDirection::Falling]);
    let clock_id = prop::sample::select(vec![
        ClockId::Realtime,
        ClockId::Monotonic,
        ClockId::MonotonicRaw,
        ClockId::Boottime,
    ]);
    (any::<u32>(), mode, direction, clock_id).prop_map(|(window, mode, direction, clock_id)| CapturePlan {
        window,
        mode,
        direction,
        clock_id,
    })
}

/// Any command.
pub(crate) fn to_board() -> impl Strategy<Value = ToBoard> {
    prop_oneof![
        Just(ToBoard::Identify),
        plan().prop_map(ToBoard::StartCapture),
        any::<u32>().prop_map(|window| ToBoard::StopCapture { window }),
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
    ]
}
