//! `fixtures/wire` pins the bytes of every message, both ways: what a row's message is encoded to, and what its bytes
//! are decoded to. A variant without a row does not compile; a row that the files lack, or have too much, fails.
//!
//! `PPSRIG_BLESS=1 cargo test -p ppsrig-wire --test byte_tables` rewrites the files. Rows may be added freely; a row
//! that changes is a new protocol version.

use std::{fmt::Write as _, path::PathBuf};

use ppsrig_wire::{
    AckOutcome, Capabilities, Capture, CaptureCounters, CapturePlan, CaptureTotals, ClockId, CtimeCore,
    CtimeDone, CtimePlan, CtimeVariant, EdgeDirection, EdgeMode, FromBoard, Heartbeat, Identity, JumpsCore,
    JumpsDone, JumpsPlan, Pair, Pairs, PathDone, PathPlan, PathVariant, PhaseCounts, Snapshot, TickCount,
    TickCounts, ToBoard,
    frame::{MAX_FRAME, decode, encode},
};
use serde::{Serialize, de::DeserializeOwned};

/// A named message.
type Row<M> = (String, M);

/// Makes a function that returns the rows of all patterns of an enum. The match in it has no wildcard, so that a new
/// variant does not compile before it has rows.
macro_rules! rows {
    ($function:ident, $enum:ty { $($pattern:pat => $rows:expr,)+ }) => {
        fn $function() -> Vec<Row<$enum>> {
            let _every_variant_is_here = |message: &$enum| match message { $($pattern => {})+ };
            let mut rows: Vec<Row<$enum>> = Vec::new();
            $(
                let of_this_variant: Vec<Row<$enum>> = $rows;
                assert!(!of_this_variant.is_empty(), "no row for {}", stringify!($pattern));
                assert!(of_this_variant.iter().all(|(_, message)| matches!(message, $pattern)));
                rows.extend(of_this_variant);
            )+
            rows
        }
    };
}

/// Makes a function that lists all values of an enum without fields; a new one does not compile before it is listed.
macro_rules! values {
    ($function:ident, $enum:ident { $($value:ident),+ }) => {
        fn $function() -> Vec<$enum> {
            let _every_value_is_here = |value: $enum| match value { $($enum::$value => {})+ };
            vec![$($enum::$value),+]
        }
    };
}

values!(modes, EdgeMode { Irq, Poll, Alternate });
values!(directions, EdgeDirection { Rising, Falling });
values!(clock_ids, ClockId { Realtime, Monotonic, MonotonicRaw, Boottime });
values!(path_variants, PathVariant { Indirect, Inline, InlineBiased, Empty });
values!(ctime_variants, CtimeVariant { Coarse, Multigrain, MultigrainFloor, Broken });
values!(outcomes, AckOutcome { Done, Unsupported, WrongWindow });

rows!(to_board, ToBoard {
    ToBoard::Identify => vec![named("identify", ToBoard::Identify)],
    ToBoard::StartCapture(_) => start_capture(),
    ToBoard::StopCapture { .. } => vec![
        named("stop-capture", ToBoard::StopCapture { window: 2 }),
        named("stop-capture-longest", ToBoard::StopCapture { window: u32::MAX }),
    ],
    ToBoard::StartPath(_) => start_path(),
    ToBoard::StartCtime(_) => start_ctime(),
    ToBoard::StartJumps(_) => vec![
        named("start-jumps", ToBoard::StartJumps(JumpsPlan { window: 6, cores: 4, ticks: 750_000_000, seed: 1 })),
        named("start-jumps-longest", ToBoard::StartJumps(JumpsPlan {
            window: u32::MAX, cores: u8::MAX, ticks: u64::MAX, seed: u64::MAX,
        })),
    ],
});

rows!(from_board, FromBoard {
    FromBoard::Identity(_) => identity(),
    FromBoard::Ack { .. } => outcomes()
        .into_iter()
        .map(|outcome| named(&format!("ack-{outcome:?}"), FromBoard::Ack { command: 0x0102, outcome }))
        .collect(),
    FromBoard::Capture(_) => captures().into_iter().map(|(name, row)| (name, FromBoard::Capture(row))).collect(),
    FromBoard::Heartbeat(_) => vec![named("heartbeat", FromBoard::Heartbeat(Heartbeat {
        window: 2, number: 3, counter: 0x1_0000_0000, captured: 100, dropped: 1, longest_gap_ticks: 2_500,
    }))],
    FromBoard::Totals(_) => vec![named("totals", FromBoard::Totals(CaptureTotals {
        command: 9, window: 2, captured: 1000, dropped: 0, counter: 136_323_054,
    }))],
    FromBoard::TickCounts(_) => tick_counts(),
    FromBoard::PhaseCounts(_) => phase_counts(),
    FromBoard::Pairs(_) => pairs(),
    FromBoard::PathDone(_) => path_done(),
    FromBoard::CtimeDone(_) => ctime_done(),
    FromBoard::JumpsDone(_) => jumps_done(),
});

rows!(captures, Capture {
    Capture { counters: CaptureCounters::Irq { .. }, .. } => vec![
        named("capture-irq", Capture {
            window: 2,
            number: 0,
            counters: CaptureCounters::Irq { capture: 0x7f },
            snapshot: Some(Snapshot { counter: 0x80, time_ns: -1 }),
            echo: Some((0x3fff, 0x4000)),
        }),
        named("capture-irq-alone", Capture {
            window: 2,
            number: 300,
            counters: CaptureCounters::Irq { capture: 0 },
            snapshot: None,
            echo: None,
        }),
    ],
    Capture { counters: CaptureCounters::Poll { .. }, .. } => vec![
        named("capture-poll", Capture {
            window: 3,
            number: 1,
            counters: CaptureCounters::Poll { before: 1_000_000, after: 1_000_009 },
            snapshot: None,
            echo: Some((1_000_020, 1_000_025)),
        }),
        named("capture-longest", Capture {
            window: u32::MAX,
            number: u32::MAX,
            counters: CaptureCounters::Poll { before: u64::MAX, after: u64::MAX },
            snapshot: Some(Snapshot { counter: u64::MAX, time_ns: i64::MIN }),
            echo: Some((u64::MAX, u64::MAX)),
        }),
    ],
});

fn start_capture() -> Vec<Row<ToBoard>> {
    let plan = CapturePlan {
        window: 1,
        mode: EdgeMode::Irq,
        direction: EdgeDirection::Rising,
        clock_id: ClockId::Realtime,
    };
    let modes = modes().into_iter().map(|mode| (format!("{mode:?}"), CapturePlan { mode, ..plan }));
    let directions = directions()
        .into_iter()
        .map(|direction| (format!("{direction:?}"), CapturePlan { direction, ..plan }));
    let clock_ids =
        clock_ids().into_iter().map(|clock_id| (format!("{clock_id:?}"), CapturePlan { clock_id, ..plan }));
    modes
        .chain(directions)
        .chain(clock_ids)
        .map(|(name, plan)| named(&format!("start-capture-{name}"), ToBoard::StartCapture(plan)))
        .collect()
}

fn start_path() -> Vec<Row<ToBoard>> {
    let plan = PathPlan {
        window: 1,
        variant: PathVariant::Indirect,
        clock_id: ClockId::Realtime,
        iterations: 1_000_000,
        batches: 32,
        dither: true,
        seed: 1,
        dither_steps: 80,
        ratio_cycles: 80,
        ratio_ticks: 1,
        added_delay: 0,
        raw_pairs: false,
    };
    let longest = PathPlan {
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
    let variants =
        path_variants().into_iter().map(|variant| (format!("{variant:?}"), PathPlan { variant, ..plan }));
    let clock_ids =
        clock_ids().into_iter().map(|clock_id| (format!("{clock_id:?}"), PathPlan { clock_id, ..plan }));
    let others = [
        ("no-dither", PathPlan { dither: false, ..plan }),
        ("ladder", PathPlan { added_delay: 37, ..plan }),
        ("raw-pairs", PathPlan { raw_pairs: true, ..plan }),
        ("half-cycle-ratio", PathPlan { dither_steps: 250, ratio_cycles: 125, ratio_ticks: 2, ..plan }),
        ("longest", longest),
    ];
    variants
        .chain(clock_ids)
        .chain(others.map(|(name, plan)| (name.to_owned(), plan)))
        .map(|(name, plan)| named(&format!("start-path-{name}"), ToBoard::StartPath(plan)))
        .collect()
}

fn start_ctime() -> Vec<Row<ToBoard>> {
    let plan = CtimePlan {
        window: 5,
        variant: CtimeVariant::Coarse,
        cores: 4,
        operations: 10_000_000,
        seed: 0x0102_0304,
    };
    let longest = CtimePlan {
        window: u32::MAX,
        variant: CtimeVariant::Broken,
        cores: u8::MAX,
        operations: u64::MAX,
        seed: u64::MAX,
    };
    ctime_variants()
        .into_iter()
        .map(|variant| (format!("{variant:?}"), CtimePlan { variant, ..plan }))
        .chain([("longest".to_owned(), longest)])
        .map(|(name, plan)| named(&format!("start-ctime-{name}"), ToBoard::StartCtime(plan)))
        .collect()
}

/// `N` items, the longest list.
fn full<T: Clone, const N: usize>(item: T) -> heapless::Vec<T, N> {
    std::iter::repeat_n(item, N).collect()
}

fn tick_counts() -> Vec<Row<FromBoard>> {
    let rows = [
        (
            "tick-counts",
            1,
            31,
            [(0, 22_000), (1, 9_250)].map(|(ticks, count)| TickCount { ticks, count }).into_iter().collect(),
        ),
        ("tick-counts-empty", 1, 0, heapless::Vec::new()),
        ("tick-counts-longest", u32::MAX, u16::MAX, full(TickCount { ticks: u32::MAX, count: u32::MAX })),
    ];
    rows.map(|(name, window, batch, entries)| {
        named(name, FromBoard::TickCounts(TickCounts { window, batch, entries }))
    })
    .into()
}

fn phase_counts() -> Vec<Row<FromBoard>> {
    let rows = [
        ("phase-counts", 1, 64, [12_500, 0, 12_499].into_iter().collect()),
        ("phase-counts-longest", u32::MAX, u32::MAX, full(u32::MAX)),
    ];
    rows.map(|(name, window, first, counts)| {
        named(name, FromBoard::PhaseCounts(PhaseCounts { window, first, counts }))
    })
    .into()
}

fn pairs() -> Vec<Row<FromBoard>> {
    let few = [Pair { pre: 1_000_000, delta: 0 }, Pair { pre: 1_000_003, delta: 1 }];
    let rows = [
        ("pairs", 1, 28, few.into_iter().collect()),
        ("pairs-longest", u32::MAX, u32::MAX, full(Pair { pre: u64::MAX, delta: u32::MAX })),
    ];
    rows.map(|(name, window, first, pairs)| named(name, FromBoard::Pairs(Pairs { window, first, pairs })))
        .into()
}

fn path_done() -> Vec<Row<FromBoard>> {
    let done = PathDone {
        window: 1,
        iterations: 1_000_000,
        phase_disagreements: 0,
        overflow: 0,
        invalid: 0,
        dither_cycles: 79,
        instructions: Some(200_000_000),
    };
    let longest = PathDone {
        window: u32::MAX,
        iterations: u32::MAX,
        phase_disagreements: u32::MAX,
        overflow: u32::MAX,
        invalid: u32::MAX,
        dither_cycles: u32::MAX,
        instructions: Some(u64::MAX),
    };
    vec![
        named("path-done", FromBoard::PathDone(done)),
        named("path-done-not-counted", FromBoard::PathDone(PathDone { instructions: None, ..done })),
        named("path-done-longest", FromBoard::PathDone(longest)),
    ]
}

fn ctime_done() -> Vec<Row<FromBoard>> {
    let core = CtimeCore {
        operations: 2_500_000,
        instructions: Some(400_000_000),
        ordering_violations: 0,
        fine_stamps: 1_000,
        elapsed_ticks: 5_000_000,
    };
    let longest = CtimeCore {
        operations: u64::MAX,
        instructions: Some(u64::MAX),
        ordering_violations: u64::MAX,
        fine_stamps: u64::MAX,
        elapsed_ticks: u64::MAX,
    };
    let not_counted = CtimeCore { instructions: None, ordering_violations: 3, ..core };
    let rows = [
        ("ctime-done", 5, [core].into_iter().collect()),
        ("ctime-done-two-cores", 5, [core, not_counted].into_iter().collect()),
        ("ctime-done-longest", u32::MAX, full(longest)),
    ];
    rows.map(|(name, window, cores)| named(name, FromBoard::CtimeDone(CtimeDone { window, cores }))).into()
}

fn jumps_done() -> Vec<Row<FromBoard>> {
    let core = JumpsCore { snapshots: 1_000_000, suspended: 300, violations: 0 };
    let cores = [core, JumpsCore { violations: 2, ..core }].into_iter().collect();
    let longest = full(JumpsCore { snapshots: u64::MAX, suspended: u64::MAX, violations: u64::MAX });
    let (sets, suspends, switches) = (u32::MAX, u32::MAX, u32::MAX);
    let longest = JumpsDone { window: u32::MAX, sets, suspends, switches, cores: longest };
    vec![
        named(
            "jumps-done",
            FromBoard::JumpsDone(JumpsDone { window: 6, sets: 300, suspends: 200, switches: 100, cores }),
        ),
        named("jumps-done-longest", FromBoard::JumpsDone(longest)),
    ]
}

fn identity() -> Vec<Row<FromBoard>> {
    let identity = Identity {
        protocol: 1,
        command: 1,
        declared_counter_hz: 12_500_000,
        midr: 0x410f_d034,
        exception_level: 1,
        capabilities: Capabilities::EDGE_IRQ
            .with(Capabilities::EDGE_POLL)
            .with(Capabilities::ECHO)
            .with(Capabilities::EMULATED),
        git_hash: "0123456789ab".try_into().unwrap(),
        board: "virt".try_into().unwrap(),
    };
    let longest = Identity {
        protocol: u16::MAX,
        command: u16::MAX,
        declared_counter_hz: u64::MAX,
        midr: u64::MAX,
        exception_level: u8::MAX,
        capabilities: Capabilities(u32::MAX),
        git_hash: "0123456789abcdef".try_into().unwrap(),
        board: "a-name-of-24-characters!".try_into().unwrap(),
    };
    vec![
        named("identity", FromBoard::Identity(identity)),
        named("identity-longest", FromBoard::Identity(longest)),
    ]
}

/// Names in the files are lower case with hyphens: `MonotonicRaw` becomes `monotonic-raw`.
fn named<M>(name: &str, message: M) -> Row<M> {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.ends_with('-') {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    (kebab, message)
}

/// The sequence number of every row: the same, so that a row that is put in between changes no other.
const SEQUENCE: u16 = 0x1234;

/// A row as it stands in a file.
fn text<M: Serialize + std::fmt::Debug>(name: &str, message: &M) -> String {
    let mut frame = [0; MAX_FRAME];
    let length = encode(SEQUENCE, message, &mut frame).expect("every message fits a frame");
    let mut hex = String::new();
    for byte in &frame[..length] {
        write!(hex, " {byte:02x}").unwrap();
    }
    format!("{name}\n    sequence {SEQUENCE:#06x}\n    message {message:?}\n    frame{hex}\n")
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire").join(name)
}

/// The frames of a file by name.
fn frames(text: &str) -> Vec<(String, Vec<u8>)> {
    let mut frames: Vec<(String, Vec<u8>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match line.trim_start().split_once(' ') {
            None => frames.push((line.to_owned(), Vec::new())),
            Some(("frame", hex)) => {
                let bytes = hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
                frames.last_mut().unwrap().1 = bytes.collect();
            }
            Some(("sequence" | "message", _)) => {}
            Some((word, _)) => panic!("{word:?} is no word of a byte table"),
        }
    }
    frames
}

fn check<M>(file_name: &str, heading: &str, rows: &[Row<M>])
where
    M: Serialize + DeserializeOwned + std::fmt::Debug + PartialEq,
{
    let expected =
        rows.iter().fold(format!("# {heading}\n"), |all, (name, message)| all + "\n" + &text(name, message));
    if std::env::var_os("PPSRIG_BLESS").is_some() {
        std::fs::write(file(file_name), &expected).unwrap();
    }
    let found = std::fs::read_to_string(file(file_name)).unwrap();
    assert_eq!(found, expected, "encoding differs from fixtures/wire/{file_name}");

    let frames = frames(&found);
    assert_eq!(frames.len(), rows.len());
    for ((name, message), (row, frame)) in rows.iter().zip(&frames) {
        assert_eq!(name, row);
        let (zero, content) = frame.split_last().unwrap();
        assert_eq!(*zero, 0, "{name}");
        assert!(!content.contains(&0), "{name}: a zero inside a frame");
        let (sequence, decoded) = decode::<M>(content).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!((sequence, &decoded), (SEQUENCE, message), "{name}");
    }
}

#[test]
fn commands_have_the_bytes_of_the_table() {
    check(
        "to-board.txt",
        "Frames to the board: name, sequence number, message, bytes on the wire.",
        &to_board(),
    );
}

#[test]
fn messages_of_the_board_have_the_bytes_of_the_table() {
    check(
        "from-board.txt",
        "Frames from the board: name, sequence number, message, bytes on the wire.",
        &from_board(),
    );
}

#[test]
fn one_frame_is_worked_out_by_hand() {
    // Sequence 0x0001 LE and variant 0 (Identify) are 01 00 00, whose CRC-32 (zlib's as well) is 0xfe83b325.
    // COBS, which ends a block where a zero stood: 02 01, 01, then 05 before the CRC, which holds no zero.
    let by_hand = [0x02, 0x01, 0x01, 0x05, 0x25, 0xb3, 0x83, 0xfe, 0x00];
    let mut frame = [0; MAX_FRAME];
    let length = encode(1, &ToBoard::Identify, &mut frame).unwrap();
    assert_eq!(&frame[..length], &by_hand);
}
