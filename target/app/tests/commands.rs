//! What each command does, and that sending it again does nothing more.
#![expect(dead_code, reason = "each test file uses its part of the board")]

mod board;

use board::{Board, ack, captures, plan, start, stop, totals};
use ppsrig_wire::{
    AckOutcome, Capabilities, EdgeDirection, EdgeMode, FromBoard, ToBoard,
    frame::{MAX_FRAME, encode},
};

#[test]
fn identify_names_the_command_that_it_answers() {
    let mut board = Board::able();
    board.send_as(0xbeef, &ToBoard::Identify);
    let answers = board.answers();
    let [FromBoard::Identity(identity)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((identity.command, identity.board.as_str()), (0xbeef, "none"));
}

#[test]
fn a_window_is_opened_once_however_often_it_is_asked_for() {
    let mut board = Board::able();
    assert_eq!(board.ask(&start(5, EdgeMode::Irq)), [ack(1, AckOutcome::Done)]);
    board.edge();
    assert_eq!(board.ask(&start(5, EdgeMode::Irq)).first(), Some(&ack(2, AckOutcome::Done)));
    board.edge();
    assert_eq!(captures(&board.answers())[0].number, 1, "numbering goes on");
}

#[test]
fn another_window_or_another_plan_is_refused_while_one_is_open() {
    let mut board = Board::able();
    board.ask(&start(5, EdgeMode::Irq));
    let falling = ToBoard::StartCapture(ppsrig_wire::CapturePlan {
        direction: EdgeDirection::Falling,
        ..plan(5, EdgeMode::Irq)
    });
    assert_eq!(board.ask(&start(6, EdgeMode::Irq)), [ack(2, AckOutcome::WrongWindow)]);
    assert_eq!(board.ask(&falling), [ack(3, AckOutcome::WrongWindow)]);
}

#[test]
fn a_mode_that_the_board_lacks_is_unsupported() {
    let mut board = Board::new(Capabilities::EDGE_IRQ);
    assert_eq!(board.ask(&start(1, EdgeMode::Poll)), [ack(1, AckOutcome::Unsupported)]);
    assert_eq!(board.ask(&start(1, EdgeMode::Alternate)), [ack(2, AckOutcome::Unsupported)]);
    assert_eq!(board.ask(&start(1, EdgeMode::Irq)), [ack(3, AckOutcome::Done)]);
}

#[test]
fn stop_is_answered_with_the_same_totals_each_time() {
    let mut board = Board::able();
    board.ask(&start(5, EdgeMode::Irq));
    board.edge();
    board.now += 100;
    let first = totals(&board.ask(&stop(5)));
    board.now += 100;
    board.edge();
    let again = totals(&board.ask(&stop(5)));
    assert_eq!((first.len(), first[0].captured, first[0].command), (1, 1, 2));
    assert_eq!(again, [ppsrig_wire::CaptureTotals { command: 3, ..first[0] }]);
}

#[test]
fn stop_for_a_window_that_never_was_is_refused() {
    let mut board = Board::able();
    assert_eq!(board.ask(&stop(1)), [ack(1, AckOutcome::WrongWindow)]);
    board.ask(&start(5, EdgeMode::Irq));
    assert_eq!(board.ask(&stop(1)), [ack(3, AckOutcome::WrongWindow)]);
    assert_eq!(totals(&board.ask(&stop(5))).len(), 1, "the open window is still open");
}

#[test]
fn the_next_window_counts_from_zero() {
    let mut board = Board::able();
    board.ask(&start(5, EdgeMode::Irq));
    board.edge();
    board.edge();
    board.ask(&stop(5));
    board.ask(&start(6, EdgeMode::Irq));
    board.edge();
    let messages = board.ask(&stop(6));
    assert_eq!(captures(&messages).iter().map(|c| (c.window, c.number)).collect::<Vec<_>>(), [(6, 0)]);
    assert_eq!(totals(&messages)[0].captured, 1);
}

#[test]
fn a_command_from_the_future_is_answered_as_unsupported() {
    let mut board = Board::able();
    let mut frame = [0; MAX_FRAME];
    let length = encode(9, &100u8, &mut frame).unwrap();
    board.hand_in(&frame[..length]);
    assert_eq!(board.answers(), [ack(9, AckOutcome::Unsupported)]);
}

#[test]
fn a_damaged_command_is_passed_over_and_the_next_is_taken() {
    let mut board = Board::able();
    let mut frame = [0; MAX_FRAME];
    let length = encode(9, &start(1, EdgeMode::Irq), &mut frame).unwrap();
    frame[4] ^= 1;
    board.hand_in(&frame[..length]);
    assert_eq!(board.answers(), []);
    assert_eq!(board.turn(), None, "no window was opened");
    assert_eq!(board.ask(&start(1, EdgeMode::Irq)), [ack(1, AckOutcome::Done)]);
}

#[test]
fn a_flood_of_commands_loses_answers_but_not_the_board() {
    let mut board = Board::able();
    for _ in 0..1000 {
        board.send(&ToBoard::Identify);
    }
    let answers = board.answers();
    assert!(!answers.is_empty() && answers.len() < 1000);
    assert_eq!(board.ask(&stop(3)).len(), 1);
}
