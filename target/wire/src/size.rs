//! Proof at compile time that the longest message fits a frame.
//!
//! postcard's own derive of a maximum size does not know heapless 0.9's strings, so the sums stand here; the test
//! measures them against messages whose every field is at its longest.

use crate::frame::MAX_BODY;

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

const START_CAPTURE: usize = VARIANT + U32 + 3 * VARIANT;
const IDENTITY: usize = VARIANT + 2 * U16 + 2 * U64 + U8 + U32 + string(16) + string(24);
const CAPTURE: usize = VARIANT + 2 * U32 + (VARIANT + 2 * U64) + 2 * (OPTION + 2 * U64);
const HEARTBEAT: usize = VARIANT + 2 * U32 + U64 + 2 * U32 + U64;
const TOTALS: usize = VARIANT + U16 + 3 * U32 + U64;

const _: () = assert!(START_CAPTURE <= MAX_BODY);
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
        Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, EdgeDirection, EdgeMode,
        FromBoard, Heartbeat, Identity, Snapshot, ToBoard,
    };

    fn body<M: Serialize>(message: &M) -> usize {
        postcard::to_slice(message, &mut [0; MAX_BODY]).map(|body| body.len()).unwrap_or(usize::MAX)
    }

    fn full<const N: usize>() -> String<N> {
        core::iter::repeat_n('x', N).collect()
    }

    /// The longest message of each kind. The match has no wildcard: a new variant needs its sum above.
    fn longest_from_board(kind: &FromBoard) -> usize {
        match kind {
            FromBoard::Identity(_) => IDENTITY,
            FromBoard::Ack { .. } => VARIANT + U16 + VARIANT,
            FromBoard::Capture(_) => CAPTURE,
            FromBoard::Heartbeat(_) => HEARTBEAT,
            FromBoard::Totals(_) => TOTALS,
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
        ];
        for message in &messages {
            assert_eq!(body(message), longest_from_board(message), "{message:?}");
        }
    }

    #[test]
    fn longest_command_has_the_length_proved_here() {
        let plan = CapturePlan {
            window: u32::MAX,
            mode: EdgeMode::Alternate,
            direction: EdgeDirection::Falling,
            clock_id: ClockId::Boottime,
        };
        assert_eq!(body(&ToBoard::StartCapture(plan)), START_CAPTURE);
        assert!(body(&ToBoard::StopCapture { window: u32::MAX }) < START_CAPTURE);
    }
}
