//! Proof at compile time that the longest message fits a frame.
//!
//! postcard's own derive of a maximum size does not know heapless 0.9's strings, so the sums stand here; the test
//! measures them against messages whose every field is at its longest.

use crate::{CORES, PAIRS, PHASE_BINS, TICK_ENTRIES, frame::MAX_BODY};

/// Bytes of the longest postcard varint of an integer of `bits` bits: seven bits a byte.
const fn varint(bits: usize) -> usize {
    bits.div_ceil(7)
}

const U8: usize = 1;
const U16: usize = varint(16);
const U32: usize = varint(32);
const U64: usize = varint(64);
/// A variant's index, while an enum has at most 128 of them.
const VARIANT: usize = 1;
/// Whether an option is there.
const OPTION: usize = 1;

/// A string: its length, then its bytes.
const fn string(capacity: usize) -> usize {
    assert!(capacity < 128, "the length is one byte");
    1 + capacity
}

/// A list: its length, then its items.
const fn list(items: usize, item: usize) -> usize {
    assert!(items < 128, "the length is one byte");
    1 + items * item
}

const BOOL: usize = 1;

const START_PATH: usize = VARIANT + U32 + 2 * VARIANT + U32 + U16 + BOOL + U64 + 4 * U32 + BOOL;
const START_CTIME: usize = VARIANT + U32 + VARIANT + U8 + 2 * U64;
const START_JUMPS: usize = VARIANT + U32 + U8 + 2 * U64;
const START_CAPTURE: usize = VARIANT + U32 + 3 * VARIANT;
const IDENTITY: usize = VARIANT + 2 * U16 + 2 * U64 + U8 + U32 + string(16) + string(24);
const CAPTURE: usize = VARIANT + 2 * U32 + (VARIANT + 2 * U64) + 2 * (OPTION + 2 * U64);
const HEARTBEAT: usize = VARIANT + 2 * U32 + U64 + 2 * U32 + U64;
const TOTALS: usize = VARIANT + U16 + 3 * U32 + U64;
const TICK_COUNTS: usize = VARIANT + U32 + U16 + list(TICK_ENTRIES, 2 * U32);
const PHASE_COUNTS: usize = VARIANT + 2 * U32 + list(PHASE_BINS, U32);
const PAIR_LIST: usize = VARIANT + 2 * U32 + list(PAIRS, U64 + U32);
const PATH_DONE: usize = VARIANT + 6 * U32 + OPTION + U64;
const JUMPS_DONE: usize = VARIANT + 4 * U32 + list(CORES, 3 * U64);
const CTIME_DONE: usize = VARIANT + U32 + list(CORES, OPTION + 5 * U64);

const _: () = assert!(START_CAPTURE <= MAX_BODY);
const _: () = assert!(START_PATH <= MAX_BODY);
const _: () = assert!(START_CTIME <= MAX_BODY);
const _: () = assert!(START_JUMPS <= MAX_BODY);
const _: () = assert!(JUMPS_DONE <= MAX_BODY);
const _: () = assert!(TICK_COUNTS <= MAX_BODY);
const _: () = assert!(PHASE_COUNTS <= MAX_BODY);
const _: () = assert!(PAIR_LIST <= MAX_BODY);
const _: () = assert!(PATH_DONE <= MAX_BODY);
const _: () = assert!(CTIME_DONE <= MAX_BODY);
const _: () = assert!(IDENTITY <= MAX_BODY);
const _: () = assert!(CAPTURE <= MAX_BODY);
const _: () = assert!(HEARTBEAT <= MAX_BODY);
const _: () = assert!(TOTALS <= MAX_BODY);

#[cfg(test)]
mod tests {
    use heapless::String;
    use serde::Serialize;

    use super::*;
    use crate::{
        Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, CtimeCore, CtimeDone,
        CtimePlan, CtimeVariant, EdgeDirection, EdgeMode, FromBoard, Heartbeat, Identity, JumpsCore,
        JumpsDone, JumpsPlan, Pair, Pairs, PathDone, PathPlan, PathVariant, PhaseCounts, Snapshot, TickCount,
        TickCounts, ToBoard,
    };

    fn body<M: Serialize>(message: &M) -> usize {
        postcard::to_slice(message, &mut [0; MAX_BODY]).map(|body| body.len()).unwrap_or(usize::MAX)
    }

    fn full<const N: usize>() -> String<N> {
        core::iter::repeat_n('x', N).collect()
    }

    fn repeated<T: Clone, const N: usize>(item: T) -> heapless::Vec<T, N> {
        core::iter::repeat_n(item, N).collect()
    }

    /// The longest message of each kind. The match has no wildcard: a new variant needs its sum above.
    fn longest_from_board(kind: &FromBoard) -> usize {
        match kind {
            FromBoard::Identity(_) => IDENTITY,
            FromBoard::Ack { .. } => VARIANT + U16 + VARIANT,
            FromBoard::Capture(_) => CAPTURE,
            FromBoard::Heartbeat(_) => HEARTBEAT,
            FromBoard::Totals(_) => TOTALS,
            FromBoard::TickCounts(_) => TICK_COUNTS,
            FromBoard::PhaseCounts(_) => PHASE_COUNTS,
            FromBoard::Pairs(_) => PAIR_LIST,
            FromBoard::PathDone(_) => PATH_DONE,
            FromBoard::CtimeDone(_) => CTIME_DONE,
            FromBoard::JumpsDone(_) => JUMPS_DONE,
        }
    }

    #[test]
    fn longest_messages_have_the_lengths_proved_here() {
        let pair = Some((u64::MAX, u64::MAX));
        let messages = [
            FromBoard::Identity(Identity {
                protocol: u16::MAX,
                command: u16::MAX,
                declared_counter_hz: u64::MAX,
                midr: u64::MAX,
                exception_level: u8::MAX,
                capabilities: Capabilities(u32::MAX),
                git_hash: full(),
                board: full(),
            }),
            FromBoard::Ack { command: u16::MAX, outcome: crate::AckOutcome::WrongWindow },
            FromBoard::Capture(Capture {
                window: u32::MAX,
                number: u32::MAX,
                counters: CaptureCounters::Poll { before: u64::MAX, after: u64::MAX },
                snapshot: Some(Snapshot { counter: u64::MAX, time_ns: i64::MIN }),
                echo: pair,
            }),
            FromBoard::Heartbeat(Heartbeat {
                window: u32::MAX,
                number: u32::MAX,
                counter: u64::MAX,
                captured: u32::MAX,
                dropped: u32::MAX,
                longest_gap_ticks: u64::MAX,
            }),
            FromBoard::Totals(CaptureTotals {
                command: u16::MAX,
                window: u32::MAX,
                captured: u32::MAX,
                dropped: u32::MAX,
                counter: u64::MAX,
            }),
            FromBoard::TickCounts(TickCounts {
                window: u32::MAX,
                batch: u16::MAX,
                entries: repeated(TickCount { ticks: u32::MAX, count: u32::MAX }),
            }),
            FromBoard::PhaseCounts(PhaseCounts {
                window: u32::MAX,
                first: u32::MAX,
                counts: repeated(u32::MAX),
            }),
            FromBoard::Pairs(Pairs {
                window: u32::MAX,
                first: u32::MAX,
                pairs: repeated(Pair { pre: u64::MAX, delta: u32::MAX }),
            }),
            FromBoard::PathDone(PathDone {
                window: u32::MAX,
                iterations: u32::MAX,
                phase_disagreements: u32::MAX,
                overflow: u32::MAX,
                invalid: u32::MAX,
                dither_cycles: u32::MAX,
                instructions: Some(u64::MAX),
            }),
            FromBoard::JumpsDone(JumpsDone {
                window: u32::MAX,
                sets: u32::MAX,
                suspends: u32::MAX,
                switches: u32::MAX,
                cores: repeated(JumpsCore { snapshots: u64::MAX, suspended: u64::MAX, violations: u64::MAX }),
            }),
            FromBoard::CtimeDone(CtimeDone {
                window: u32::MAX,
                cores: repeated(CtimeCore {
                    operations: u64::MAX,
                    instructions: Some(u64::MAX),
                    ordering_violations: u64::MAX,
                    fine_stamps: u64::MAX,
                    elapsed_ticks: u64::MAX,
                }),
            }),
        ];
        for message in &messages {
            assert_eq!(body(message), longest_from_board(message), "{message:?}");
        }
    }

    #[test]
    fn longest_commands_have_the_lengths_proved_here() {
        let plan = CapturePlan {
            window: u32::MAX,
            mode: EdgeMode::Alternate,
            direction: EdgeDirection::Falling,
            clock_id: ClockId::Boottime,
        };
        assert_eq!(body(&ToBoard::StartCapture(plan)), START_CAPTURE);
        assert!(body(&ToBoard::StopCapture { window: u32::MAX }) < START_CAPTURE);
        let path = PathPlan {
            window: u32::MAX,
            variant: PathVariant::Empty,
            clock_id: ClockId::Boottime,
            iterations: u32::MAX,
            batches: u16::MAX,
            dither: true,
            seed: u64::MAX,
            dither_steps: u32::MAX,
            ratio_cycles: u32::MAX,
            ratio_ticks: u32::MAX,
            added_delay: u32::MAX,
            raw_pairs: true,
        };
        assert_eq!(body(&ToBoard::StartPath(path)), START_PATH);
        let ctime = CtimePlan {
            window: u32::MAX,
            variant: CtimeVariant::Broken,
            cores: u8::MAX,
            operations: u64::MAX,
            seed: u64::MAX,
        };
        assert_eq!(body(&ToBoard::StartCtime(ctime)), START_CTIME);
        let jumps = JumpsPlan { window: u32::MAX, cores: u8::MAX, ticks: u64::MAX, seed: u64::MAX };
        assert_eq!(body(&ToBoard::StartJumps(jumps)), START_JUMPS);
    }
}
