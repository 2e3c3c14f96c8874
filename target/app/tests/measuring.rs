//! Measurements that end by themselves: one at a time, each begun once, each told whole.
#![expect(dead_code, reason = "each test file uses its part of the board")]

mod board;

use board::{Board, CORES, ack, start, stop};
use ppsrig_app::Work;
use ppsrig_wire::{
    AckOutcome, Capabilities, ClockId, CtimePlan, CtimeVariant, EdgeMode, FromBoard, JumpsPlan, PathPlan,
    PathVariant, ToBoard,
};

fn path_plan(window: u32) -> PathPlan {
    PathPlan {
        window,
        variant: PathVariant::InlineBiased,
        clock_id: ClockId::Realtime,
        iterations: 20_000,
        batches: 2,
        dither: true,
        seed: 1,
        dither_steps: 80,
        ratio_cycles: 1,
        ratio_ticks: 1,
        added_delay: 0,
        raw_pairs: false,
    }
}

fn path(window: u32) -> ToBoard {
    ToBoard::StartPath(path_plan(window))
}

fn ctime_plan(window: u32) -> CtimePlan {
    CtimePlan { window, variant: CtimeVariant::Coarse, cores: CORES, operations: 100, seed: 1 }
}

/// The measured messages without their acknowledgements: (windows that ended, pairs in histograms).
fn measured(messages: &[FromBoard]) -> (Vec<u32>, u32) {
    let (mut ended, mut pairs) = (Vec::new(), 0);
    for message in messages {
        match message {
            FromBoard::PathDone(done) => ended.push(done.window),
            FromBoard::CtimeDone(done) => ended.push(done.window),
            FromBoard::JumpsDone(done) => ended.push(done.window),
            FromBoard::TickCounts(counts) => {
                pairs += counts.entries.iter().map(|entry| entry.count).sum::<u32>()
            }
            _ => {}
        }
    }
    (ended, pairs)
}

#[test]
fn a_path_is_acknowledged_before_the_work_and_told_after_it() {
    let mut board = Board::able();
    board.send(&path(1));
    assert_eq!(board.work(), None, "the acknowledgement waits for the link");
    assert_eq!(board.answers(), [ack(1, AckOutcome::Done)]);
    assert_eq!(board.work(), Some(Work::Path(path_plan(1))));
    board.work_off();
    assert_eq!(measured(&board.answers()), (vec![1], 20_000));
    assert_eq!(board.work(), None);
}

#[test]
fn the_same_plan_again_is_acknowledged_and_measured_once() {
    let mut board = Board::able();
    board.ask(&path(1));
    assert_eq!(board.ask(&path(1)), [ack(2, AckOutcome::Done)]);
    board.work_off();
    assert_eq!(measured(&board.answers()), (vec![1], 20_000));
    assert_eq!(board.ask(&path(1)), [ack(3, AckOutcome::Done)]);
    board.work_off();
    assert_eq!(measured(&board.answers()), (vec![], 0));
}

#[test]
fn one_measurement_at_a_time() {
    let mut board = Board::able();
    board.ask(&path(1));
    assert!(board.busy());
    assert_eq!(board.ask(&path(2)), [ack(2, AckOutcome::WrongWindow)]);
    assert_eq!(board.ask(&ToBoard::StartCtime(ctime_plan(2))), [ack(3, AckOutcome::WrongWindow)]);
    assert_eq!(board.ask(&start(2, EdgeMode::Irq)), [ack(4, AckOutcome::WrongWindow)]);
    board.work_off();
    board.answers();
    assert!(!board.busy());
    assert_eq!(board.ask(&start(2, EdgeMode::Irq)), [ack(5, AckOutcome::Done)]);
    assert_eq!(board.ask(&path(3)), [ack(6, AckOutcome::WrongWindow)]);
    board.ask(&stop(2));
    assert_eq!(board.ask(&path(3)), [ack(8, AckOutcome::Done)]);
}

#[test]
fn a_ctime_run_is_told_once() {
    let mut board = Board::able();
    let command = ToBoard::StartCtime(ctime_plan(4));
    assert_eq!(board.ask(&command), [ack(1, AckOutcome::Done)]);
    assert_eq!(board.work(), Some(Work::Ctime(ctime_plan(4))));
    board.work_off();
    assert_eq!(measured(&board.answers()).0, [4]);
    assert_eq!(board.ask(&command), [ack(2, AckOutcome::Done)]);
    assert_eq!(board.work(), None);
}

#[test]
fn a_trial_of_jumps_is_told_once() {
    let mut board = Board::able();
    let plan = JumpsPlan { window: 7, cores: CORES, ticks: 1, seed: 1 };
    assert_eq!(board.ask(&ToBoard::StartJumps(plan)), [ack(1, AckOutcome::Done)]);
    assert_eq!(board.work(), Some(Work::Jumps(plan)));
    board.work_off();
    assert_eq!(measured(&board.answers()).0, [7]);
    let more_cores = ToBoard::StartJumps(JumpsPlan { cores: CORES + 1, ..plan });
    assert_eq!(board.ask(&more_cores), [ack(2, AckOutcome::Unsupported)]);
}

#[test]
fn what_the_board_cannot_do_is_unsupported() {
    let mut board = Board::new(Capabilities::EDGE_IRQ);
    assert_eq!(board.ask(&path(1)), [ack(1, AckOutcome::Unsupported)]);
    assert_eq!(board.ask(&ToBoard::StartCtime(ctime_plan(1))), [ack(2, AckOutcome::Unsupported)]);
    let mut board = Board::able();
    let refused = [
        ToBoard::StartPath(PathPlan { batches: 0, ..path_plan(1) }),
        ToBoard::StartCtime(CtimePlan { cores: 0, ..ctime_plan(1) }),
        ToBoard::StartCtime(CtimePlan { cores: CORES + 1, ..ctime_plan(1) }),
        ToBoard::StartCtime(CtimePlan { operations: 1, ..ctime_plan(1) }),
    ];
    for command in refused {
        let answers = board.ask(&command);
        assert!(
            matches!(answers[..], [FromBoard::Ack { outcome: AckOutcome::Unsupported, .. }]),
            "{command:?}"
        );
        assert_eq!(board.work(), None);
    }
}
