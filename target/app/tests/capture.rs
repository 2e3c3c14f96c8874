//! Records, their numbers, the ring when it is full, the heartbeat.
#![expect(dead_code, reason = "each test file uses its part of the board")]

mod board;

use board::{BEAT, Board, captures, heartbeats, start, stop, totals};
use ppsrig_app::{CaptureRing, Capturer, Edge, RING_RECORDS, Turn};
use ppsrig_wire::{Capture, CaptureCounters, EdgeMode, FromBoard};

#[test]
fn edges_outside_a_window_are_nobodys() {
    let mut board = Board::able();
    assert_eq!(board.edge(), None);
    board.ask(&start(1, EdgeMode::Irq));
    board.ask(&stop(1));
    assert_eq!(board.edge(), None);
    assert_eq!(board.answers(), []);
}

#[test]
fn alternate_begins_with_poll_and_both_sides_agree_on_the_turn() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Alternate));
    for expected in [Turn::Poll, Turn::Irq, Turn::Poll, Turn::Irq] {
        assert_eq!(board.turn(), Some(expected));
        assert_eq!(board.edge(), Some(expected));
        board.now += 10;
    }
    let kinds: Vec<_> = captures(&board.answers())
        .iter()
        .map(|capture| (matches!(capture.counters, CaptureCounters::Irq { .. }), capture.snapshot.is_some()))
        .collect();
    assert_eq!(kinds, [(false, false), (true, true), (false, false), (true, true)]);
}

#[test]
fn a_full_ring_drops_and_counts_and_keeps_the_numbers() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Irq));
    let edges = RING_RECORDS as u32 + 20;
    for _ in 0..edges {
        board.edge();
    }
    let kept = captures(&board.answers());
    board.edge();
    let messages = board.ask(&stop(1));
    assert_eq!(kept.len(), RING_RECORDS);
    assert_eq!(kept.last().unwrap().number, RING_RECORDS as u32 - 1);
    assert_eq!(captures(&messages)[0].number, edges, "the dropped ones have used up their numbers");
    let totals = totals(&messages)[0];
    assert_eq!((totals.captured, totals.dropped), (edges + 1, 20));
}

#[test]
fn totals_come_after_every_record_even_over_a_slow_link() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Irq));
    for _ in 0..200 {
        board.edge();
    }
    board.send(&stop(1));
    while totals(&board.received).is_empty() {
        board.pass(1);
    }
    assert_eq!(captures(&board.received).len(), 200);
    assert!(matches!(board.received.last(), Some(FromBoard::Totals(_))));
}

#[test]
fn stop_sent_again_while_records_are_still_going_out_is_answered_once_for_the_last() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Irq));
    (0..100).for_each(|_| {
        board.edge();
    });
    board.send(&stop(1));
    board.pass(1);
    let last = board.send(&stop(1));
    let totals = totals(&board.answers());
    assert_eq!((totals.len(), totals[0].command, totals[0].captured), (1, last, 100));
}

#[test]
fn heartbeats_come_four_times_a_second_and_only_while_a_window_is_open() {
    let mut board = Board::able();
    let run = |board: &mut Board| {
        for _ in 0..100 {
            board.now += BEAT / 25;
            board.pass(usize::MAX);
        }
        heartbeats(&std::mem::take(&mut board.received))
    };
    assert_eq!(run(&mut board), []);
    board.ask(&start(3, EdgeMode::Irq));
    let opened = board.now;
    let beats = run(&mut board);
    let seen: Vec<_> = beats.iter().map(|beat| (beat.window, beat.number, beat.counter - opened)).collect();
    assert_eq!(seen, [(3, 0, BEAT), (3, 1, 2 * BEAT), (3, 2, 3 * BEAT), (3, 3, 4 * BEAT)]);
    assert!(beats.iter().all(|beat| beat.longest_gap_ticks == BEAT / 25));
    board.ask(&stop(3));
    assert_eq!(run(&mut board), []);
}

#[test]
fn a_halted_core_shows_in_the_next_heartbeat() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Irq));
    board.now += 10;
    board.pass(usize::MAX);
    board.now += 3 * BEAT;
    board.pass(usize::MAX);
    let beats = heartbeats(&board.answers());
    assert_eq!((beats.len(), beats[0].longest_gap_ticks), (1, 3 * BEAT));
}

#[test]
fn a_heartbeat_counts_captures_and_drops_so_far() {
    let mut board = Board::able();
    board.ask(&start(1, EdgeMode::Irq));
    for _ in 0..RING_RECORDS + 3 {
        board.edge();
    }
    board.now += BEAT;
    let beats = heartbeats(&board.answers());
    assert_eq!((beats[0].captured, beats[0].dropped), (RING_RECORDS as u32 + 3, 3));
}

#[test]
fn both_sides_at_once_lose_nothing_and_keep_the_order() {
    const EDGES: u32 = 20_000;
    let ring = Box::leak(Box::new(CaptureRing::new()));
    let (writer, mut reader) = ring.split();
    let capturing = std::thread::spawn(move || {
        let mut capturer = Capturer::new(writer);
        capturer.open(board::plan(1, EdgeMode::Irq));
        for counter in 0..u64::from(EDGES) {
            let counters = CaptureCounters::Irq { capture: counter };
            capturer.capture(Edge { counters, snapshot: None, echo: None });
        }
    });
    let mut records = Vec::new();
    loop {
        let finished = capturing.is_finished();
        let before = records.len();
        records.extend(std::iter::from_fn(|| reader.take()));
        if finished && records.len() == before {
            break;
        }
    }
    let (captured, dropped) = reader.counts();
    assert_eq!((captured, records.len() as u32 + dropped), (EDGES, EDGES));
    assert!(records.is_sorted_by(|one, next| one.number < next.number));
    let own = |record: &Capture| record.counters == CaptureCounters::Irq { capture: record.number.into() };
    assert!(records.iter().all(own), "no record is mixed up with another");
}
