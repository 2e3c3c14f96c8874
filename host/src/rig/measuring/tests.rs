use ppsrig_wire::frame::Accumulator;
use ppsrig_wire::{
    AckOutcome, Capabilities, ClockId, CtimeDone, Identity, PROTOCOL_VERSION, PathDone, PathPlan, TickCounts,
};

use super::*;
use crate::names::PathPart;
use crate::rig::link::Work;
use crate::rig::port::Port;
use crate::rig::recorder::Recorder;
use crate::rig::testing::Pty;

const BRIEFLY: Duration = Duration::from_millis(200);

fn job(window: u32) -> Job {
    let (variant, clock_id, seed) = (PathVariant::Inline, ClockId::Realtime, 7);
    let (iterations, batches, dither_steps, added_delay) = (100_000, 4, 80, 0);
    let plan = PathPlan {
        window,
        variant: path_variant(variant),
        clock_id,
        iterations,
        batches,
        dither: true,
        seed,
        dither_steps,
        ratio_cycles: 80,
        ratio_ticks: 1,
        added_delay,
        raw_pairs: false,
    };
    let what = PathPart::Path;
    Job {
        what: "inline path".to_owned(),
        window,
        command: ToBoard::StartPath(plan),
        started: RigEvent::PathStarted {
            window,
            session: 1,
            variant,
            clock_id,
            what,
            added_delay,
            iterations,
            batches,
            dither: true,
            dither_steps,
            seed,
        },
        silence: BRIEFLY,
    }
}

/// A board that has said all this already.
fn board_that_said(messages: &[FromBoard]) -> (Pty, MeasuringBoard) {
    let mut pty = Pty::open();
    let recorder = Recorder::new(&Watch::new());
    let port = Port::open(pty.path(), 921_600, recorder.no_log()).expect("it is a tty");
    for (sequence, message) in (0..).zip(messages) {
        let mut out = [0; MAX_FRAME];
        let length = frame::encode(sequence, message, &mut out).expect("it fits");
        pty.write(&out[..length]);
    }
    let board = MeasuringBoard {
        link: Link::new(port),
        target: Target { selector: String::new(), chip: String::new() },
        image: PathBuf::new(),
        needs: Needs { emulated: true, work: Work::Path },
        command_by: CommandBy::Memory,
        log: recorder.no_log(),
        watch: Watch::new(),
    };
    (pty, board)
}

fn identity(capabilities: Capabilities) -> FromBoard {
    FromBoard::Identity(Identity {
        protocol: PROTOCOL_VERSION,
        command: IDENTIFY,
        declared_counter_hz: 12_500_000,
        midr: 0x410f_d034,
        exception_level: 1,
        capabilities,
        git_hash: "abc".try_into().expect("it is short"),
        board: "fake".try_into().expect("it is short"),
    })
}

fn done(window: u32) -> FromBoard {
    FromBoard::PathDone(PathDone {
        window,
        iterations: 100_000,
        phase_disagreements: 0,
        overflow: 0,
        invalid: 0,
        dither_cycles: 79,
        instructions: None,
    })
}

fn counts(window: u32, batch: u16) -> FromBoard {
    FromBoard::TickCounts(TickCounts { window, batch, entries: heapless::Vec::new() })
}

#[test]
fn a_mailbox_holds_who_are_you_and_then_the_jobs_in_their_order() {
    let commands = [job(5).command, job(6).command];
    let mut accumulator = Accumulator::new();
    let frames: Vec<_> = mailbox(&commands)
        .into_iter()
        .filter_map(|byte| accumulator.push(byte, frame::decode::<ToBoard>))
        .map(|frame| frame.expect("it is whole"))
        .collect();
    let [first, second] = commands;
    assert_eq!(frames, [(1, ToBoard::Identify), (2, first), (3, second)]);
}

#[test]
fn a_job_ends_with_its_own_last_message_and_shows_its_batches() {
    let said = [done(4), counts(5, 0), counts(4, 3), counts(5, 1), done(5)];
    let (_pty, mut board) = board_that_said(&said);
    let mut steps = Vec::new();
    let seen = &mut |step: Step<'_>| {
        if let Step::Measuring { done, total, .. } = step {
            steps.push((done, total));
        }
    };
    board.await_end(&job(5), None, seen).expect("it was done");
    assert_eq!(steps, [(0, 4), (1, 4), (2, 4)]);
}

#[test]
fn a_board_that_falls_silent_is_given_up_by_what_it_measured() {
    let (_pty, mut board) = board_that_said(&[
        counts(5, 0),
        FromBoard::CtimeDone(CtimeDone { window: 4, cores: heapless::Vec::new() }),
    ]);
    let error = board.await_end(&job(5), None, &mut |_| {}).expect_err("it is not done").to_string();
    assert!(error.contains("measures inline path") && error.contains("raw/link.log"), "{error}");
}

#[test]
fn a_job_that_the_board_refuses_is_an_error_under_its_own_number_only() {
    let refused = |command| FromBoard::Ack { command, outcome: AckOutcome::Unsupported };
    let (_pty, mut board) = board_that_said(&[refused(3), done(5)]);
    board.await_end(&job(5), Some(2), &mut |_| {}).expect("another one was refused");
    let (_pty, mut board) = board_that_said(&[refused(2), done(5)]);
    let error = board.await_end(&job(5), Some(2), &mut |_| {}).expect_err("it was refused").to_string();
    assert!(error.contains("refuses StartPath"), "{error}");
}

#[test]
fn a_board_that_cannot_measure_is_refused_by_what_it_says_of_itself() {
    let can = Capabilities::EMULATED.with(Capabilities::PATH);
    let (_pty, mut board) = board_that_said(&[identity(can)]);
    board.await_identity(&mut |_| {}).expect("it can");
    let (_pty, mut board) = board_that_said(&[identity(Capabilities::EMULATED)]);
    let error = board.await_identity(&mut |_| {}).expect_err("it cannot").to_string();
    assert!(error.contains("cannot measure the path"), "{error}");
}

#[test]
fn the_ratio_of_two_rates_is_in_lowest_terms() {
    assert_eq!(ratio(Hertz(1_000_000_000), Hertz(12_500_000)), (80, 1));
    assert_eq!(ratio(Hertz(1_500_000_000), Hertz(54_000_000)), (250, 9));
    assert_eq!(ratio(Hertz(1_000_000_000), Hertz(1_000_000_000)), (1, 1));
}
