use std::io::Read;
use std::thread::JoinHandle;

use ppsrig_wire::frame::Accumulator;
use ppsrig_wire::{ClockId, EdgeDirection};

use super::*;
use crate::bench_file::PortSettings;
use crate::events::PortOwner;
use crate::rig::recorder::Recorder;
use crate::rig::testing::{Plug, Pty};

/// A board that answers each command with the messages that `answer` makes of it and its try, counted from 0.
struct FakeBoard {
    link: Link,
    thread: Option<JoinHandle<()>>,
}

impl FakeBoard {
    fn answering(answer: impl Fn(&ToBoard, u16, u32) -> Vec<FromBoard> + Send + 'static) -> Self {
        let pty = Pty::open();
        let port =
            Port::open(pty.path(), 921_600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let mut file = pty.file();
        let thread = std::thread::spawn(move || {
            let mut pty = pty;
            let mut accumulator = Accumulator::new();
            let mut byte = [0];
            let (mut sent, mut tries, mut last) = (0_u16, 0, None);
            while matches!(file.read(&mut byte), Ok(1)) {
                let Some(Ok((sequence, command))) = accumulator.push(byte[0], frame::decode::<ToBoard>)
                else {
                    continue;
                };
                tries = if last == Some(sequence) { tries + 1 } else { 0 };
                last = Some(sequence);
                for message in answer(&command, sequence, tries) {
                    let mut out = [0; MAX_FRAME];
                    let length = frame::encode(sent, &message, &mut out).expect("it fits");
                    sent = sent.wrapping_add(1);
                    pty.write(&out[..length]);
                }
            }
        });
        Self { link: Link::new(port), thread: Some(thread) }
    }

    fn end(mut self) {
        drop(self.link);
        self.thread.take().expect("it was started").join().expect("the fake board did not panic");
    }
}

fn identity(command: u16) -> Identity {
    Identity {
        protocol: PROTOCOL_VERSION,
        command,
        declared_counter_hz: 12_500_000,
        midr: 0x410f_d034,
        exception_level: 1,
        capabilities: Capabilities::EDGE_IRQ.with(Capabilities::EMULATED),
        git_hash: "abc".try_into().expect("it is short"),
        board: "fake".try_into().expect("it is short"),
    }
}

#[test]
fn a_board_that_answers_at_the_third_try_is_identified() {
    let mut board = FakeBoard::answering(|_, sequence, tries| {
        if tries < 2 { Vec::new() } else { vec![FromBoard::Identity(identity(sequence))] }
    });
    let found = board.link.identify(&Watch::new()).expect("it answers in the end");
    assert_eq!(found.board.as_str(), "fake");
    board.end();
}

#[test]
fn a_silent_board_is_an_error_that_names_the_port() {
    let mut board = FakeBoard::answering(|_, _, _| Vec::new());
    let address = board.link.port.address().to_owned();
    let error = board.link.identify(&Watch::new()).expect_err("it is silent").to_string();
    assert!(error.contains(&address) && error.contains("nothing was heard"), "{error}");
    board.end();
}

#[test]
fn a_protocol_version_from_the_future_is_refused_with_both_versions() {
    let mut board = FakeBoard::answering(|_, sequence, _| {
        vec![FromBoard::Identity(Identity { protocol: 77, ..identity(sequence) })]
    });
    let error = board.link.identify(&Watch::new()).expect_err("it is from the future").to_string();
    assert!(
        error.contains("version 77") && error.contains(&format!("version {PROTOCOL_VERSION}")),
        "{error}"
    );
    board.end();
}

#[test]
fn totals_count_only_as_the_answer_to_this_command() {
    let mut board = FakeBoard::answering(|command, sequence, _| {
        let ToBoard::StopCapture { window } = *command else { return Vec::new() };
        let totals = |command, captured| {
            FromBoard::Totals(CaptureTotals { command, window, captured, dropped: 0, counter: 9 })
        };
        let ack = FromBoard::Ack { command: sequence, outcome: AckOutcome::Done };
        vec![totals(sequence.wrapping_sub(1), 1), ack, totals(sequence, 2)]
    });
    let mut others = 0;
    let totals = board.link.stop_capture(4, &Watch::new(), &mut |_| others += 1).expect("it answers");
    assert_eq!((totals.window, totals.captured, others), (4, 2, 3));
    board.end();
}

#[test]
fn a_refused_window_says_why() {
    let mut board = FakeBoard::answering(|_, sequence, _| {
        vec![FromBoard::Ack { command: sequence, outcome: AckOutcome::WrongWindow }]
    });
    let plan = CapturePlan {
        window: 1,
        mode: EdgeMode::Irq,
        direction: EdgeDirection::Rising,
        clock_id: ClockId::Realtime,
    };
    let error = board.link.start_capture(plan, &Watch::new()).expect_err("it refuses").to_string();
    assert!(error.contains("StartCapture") && error.contains("window"), "{error}");
    board.end();
}

#[test]
fn a_board_must_be_what_the_bench_file_says() {
    let edges = |mode, echo| Work::Edges { mode, echo };
    let needs = Needs { emulated: true, work: edges(EdgeMode::Irq, false) };
    check_identity(&identity(1), needs).expect("it is emulated and can capture by interrupt");
    let refused = |needs| check_identity(&identity(1), needs).expect_err("it is not").to_string();
    assert!(refused(Needs { emulated: false, ..needs }).contains("says that it is emulated"));
    assert!(refused(Needs { work: edges(EdgeMode::Alternate, false), ..needs }).contains("polling"));
    assert!(refused(Needs { work: edges(EdgeMode::Irq, true), ..needs }).contains("echo"));
    assert!(refused(Needs { work: Work::Path, ..needs }).contains("measure the path"));
    assert!(refused(Needs { work: Work::Ctime, ..needs }).contains("inode timestamp"));
}

#[test]
fn tries_in_which_the_link_was_away_do_not_count() {
    let mut plug = Plug::new();
    let settings = PortSettings::plain(&plug.address(), 921_600);
    let log = Recorder::new(plug.watch()).no_log();
    let port = Port::open_for(PortOwner::Link, &settings, log, plug.rig()).expect("it is a tty");
    let watch = plug.watch().clone();
    let asking = std::thread::spawn(move || Link::new(port).identify(&watch).map(|found| found.board));
    for _ in TRIES {
        await_command(plug.pty());
        plug.unplug();
        plug.plug_in();
    }
    let sequence = await_command(plug.pty());
    let mut out = [0; MAX_FRAME];
    let length = frame::encode(0, &FromBoard::Identity(identity(sequence)), &mut out).expect("it fits");
    plug.pty().write(&out[..length]);
    assert_eq!(asking.join().expect("it did not panic").expect("it is answered").as_str(), "fake");
    assert_eq!(plug.events().len(), 2 * TRIES.len());
}

/// The sequence number of the next command.
fn await_command(pty: &mut Pty) -> u16 {
    let mut accumulator = Accumulator::new();
    loop {
        let byte = pty.read(1)[0];
        if let Some(Ok((sequence, _))) = accumulator.push(byte, frame::decode::<ToBoard>) {
            return sequence;
        }
    }
}
