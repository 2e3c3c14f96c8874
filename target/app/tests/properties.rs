//! Whatever comes in whatever order, the board's account of a window is complete.
#![expect(dead_code, reason = "each test file uses its part of the board")]

mod board;

use std::collections::BTreeMap;

use board::{BEAT, Board, start, stop};
use ppsrig_wire::{Capture, EdgeMode, FromBoard, ToBoard};
use proptest::prelude::*;

/// One thing that happens to the board.
#[derive(Clone, Debug)]
enum Event {
    Edge,
    Burst(u16),
    Wait(u64),
    Pass { bytes: usize },
    Identify,
    Start { window: u32, mode: EdgeMode },
    Stop { window: u32 },
    Garbage(Vec<u8>),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let window = || 0u32..3;
    let mode = prop::sample::select(vec![EdgeMode::Irq, EdgeMode::Poll, EdgeMode::Alternate]);
    let event = prop_oneof![
        4 => Just(Event::Edge),
        1 => (1u16..600).prop_map(Event::Burst),
        3 => (1u64..2 * BEAT).prop_map(Event::Wait),
        4 => (0usize..400).prop_map(|bytes| Event::Pass { bytes }),
        1 => Just(Event::Identify),
        2 => (window(), mode).prop_map(|(window, mode)| Event::Start { window, mode }),
        2 => window().prop_map(|window| Event::Stop { window }),
        1 => prop::collection::vec(any::<u8>(), 0..300).prop_map(Event::Garbage),
    ];
    prop::collection::vec(event, 0..120)
}

/// Lets it all happen, closes whatever window is open, and returns everything that the board said.
fn happen(events: Vec<Event>) -> Vec<FromBoard> {
    let mut board = Board::able();
    for event in events {
        match event {
            Event::Edge => {
                board.edge();
            }
            Event::Burst(edges) => (0..edges).for_each(|_| {
                board.edge();
            }),
            Event::Wait(ticks) => board.now += ticks,
            Event::Pass { bytes } => {
                board.pass(bytes);
            }
            Event::Identify => {
                board.send(&ToBoard::Identify);
            }
            Event::Start { window, mode } => {
                board.send(&start(window, mode));
            }
            Event::Stop { window } => {
                board.send(&stop(window));
            }
            Event::Garbage(mut bytes) => {
                bytes.push(0);
                board.hand_in(&bytes);
            }
        }
    }
    board.settle();
    for window in 0..3 {
        board.send(&stop(window));
        board.settle();
    }
    board.received
}

/// What was seen of the window that is open.
#[derive(Default)]
struct Seen {
    records: Vec<Capture>,
    beats: u32,
}

impl Seen {
    fn next_number(&self) -> u32 {
        self.records.last().map_or(0, |record| record.number + 1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_capture_is_sent_or_counted_as_dropped(events in events()) {
        let mut open: BTreeMap<u32, Seen> = BTreeMap::new();
        for message in happen(events) {
            match message {
                FromBoard::Capture(record) => {
                    let seen = open.entry(record.window).or_default();
                    prop_assert!(record.number >= seen.next_number(), "numbers rise");
                    seen.records.push(record);
                }
                FromBoard::Heartbeat(beat) => {
                    let seen = open.entry(beat.window).or_default();
                    prop_assert_eq!(beat.number, seen.beats, "no heartbeat is left out");
                    prop_assert!(beat.dropped <= beat.captured);
                    prop_assert!(beat.captured >= seen.next_number());
                    seen.beats += 1;
                }
                FromBoard::Totals(totals) => {
                    // A window that was closed before answers with the same totals again; its records are gone then.
                    if let Some(seen) = open.remove(&totals.window) {
                        let sent = seen.records.len() as u32;
                        prop_assert_eq!(totals.captured, sent + totals.dropped);
                        prop_assert!(totals.captured >= seen.next_number());
                    }
                }
                FromBoard::Identity(_) | FromBoard::Ack { .. } => {}
                other => prop_assert!(false, "nobody asked for {other:?}"),
            }
        }
        prop_assert!(open.is_empty(), "every window with a record was closed with totals after its last record");
    }
}
