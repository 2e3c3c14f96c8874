use std::fs::File;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rustix::termios::{ControlModes, OptionalActions};

use super::*;
use crate::bench_file::Dtr;
use crate::events::RigEvent;
use crate::formats::raw_log::Direction;
use crate::formats::raw_log::{self, RawWriter};
use crate::rig::recorder::Recorder;
use crate::rig::testing::{Plug, Pty};
use crate::rig::watch::Watch;

const PATIENCE: Duration = Duration::from_secs(20);

fn quiet() -> Log {
    Recorder::new(&Watch::new()).no_log()
}

fn read_all(port: &mut Port, length: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < length {
        let (_, bytes) = port.read(PATIENCE).expect("the port is there").expect("bytes arrive");
        all.extend(bytes);
    }
    all
}

#[test]
fn nothing_is_opened_once_everything_has_to_end() {
    let watch = Watch::new();
    watch.recording_failed("raw/link.log: no space left".to_owned());
    let error = Port::open("tcp://localhost:1", 9600, Recorder::new(&watch).no_log()).expect_err("it ends");
    assert!(matches!(error, PortError::Halt(_)), "{error}");
}

#[test]
fn bytes_go_both_ways_through_a_tty_without_modem_lines_and_are_recorded() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let writer = RawWriter::new(file.reopen().expect("it is there"), "link").expect("it fits");
    let log = Recorder::new(&Watch::new()).log("link", writer);
    let mut pty = Pty::open();
    let mut port = Port::open(pty.path(), 115_200, log).expect("it is a tty");
    pty.write(b"\x00\r\nhello");
    assert_eq!(read_all(&mut port, 8), b"\x00\r\nhello");
    port.write(b"to you\n").expect("the port is there");
    assert_eq!(pty.read(7), b"to you\n");
    drop(port);
    let bytes = std::fs::read(file.path()).expect("it was written");
    let records = raw_log::parse(&bytes, "link").expect("it is whole").records;
    let of = |direction| -> Vec<u8> {
        records.iter().filter(|r| r.direction == direction).flat_map(|r| r.payload.clone()).collect()
    };
    assert_eq!(of(Direction::Rx), b"\x00\r\nhello");
    assert_eq!(of(Direction::Tx), b"to you\n");
}

#[test]
fn a_vanished_port_is_an_error_at_every_read_from_then_on() {
    let pty = Pty::open();
    let mut port = Port::open(pty.path(), 115_200, quiet()).expect("it is a tty");
    drop(pty);
    for _ in 0..2 {
        let error = port.read(PATIENCE).expect_err("its other end is closed");
        assert!(matches!(error, PortError::Vanished { .. }), "{error}");
    }
}

#[test]
fn a_missing_port_says_how_to_find_one() {
    let error = Port::open("/dev/ttyNOT-THERE", 9600, quiet()).expect_err("there is none");
    assert!(error.to_string().contains("/dev/ttyNOT-THERE: no such port; `ppsrig list`"), "{error}");
}

#[test]
fn a_port_in_use_names_its_holder() {
    let pty = Pty::open();
    let holder = File::open(pty.path()).expect("it is there");
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .expect("nobody else has it");
    let error = Port::open(pty.path(), 9600, quiet()).expect_err("it is locked");
    assert!(matches!(error, PortError::Busy { .. }), "{error}");
}

#[test]
fn a_file_is_no_port() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let path = file.path().display().to_string();
    let error = Port::open(&path, 9600, quiet()).expect_err("it is a file");
    assert!(matches!(error, PortError::NotATty { .. }), "{error}");
    let folder = PathBuf::from("/tmp");
    let error = Port::open(&folder.display().to_string(), 9600, quiet()).expect_err("it is a folder");
    assert!(matches!(error, PortError::NotATty { .. }), "{error}");
}

#[test]
fn a_tcp_port_is_connected_and_its_end_is_an_event() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("tcp://{}", listener.local_addr().expect("it is bound"));
    let mut port = Port::open(&address, 0, quiet()).expect("it listens");
    let (mut peer, _) = listener.accept().expect("it connected");
    peer.write_all(b"abc").expect("it is connected");
    assert_eq!(read_all(&mut port, 3), b"abc");
    drop(peer);
    assert!(port.read(PATIENCE).is_err());
}

#[test]
fn a_tcp_address_without_port_is_refused() {
    for address in ["tcp://host", "tcp://:1", "tcp://host:x"] {
        let error = Port::open(address, 0, quiet()).expect_err("it is malformed");
        assert!(matches!(error, PortError::BadAddress { .. }), "{error}");
    }
}

fn open(plug: &Plug, owner: PortOwner, patience: Patience) -> Port {
    let settings = PortSettings::plain(&plug.address(), 9600);
    let log = Recorder::new(plug.watch()).no_log();
    Port::start(&settings, log, Some((owner, plug.rig().clone())), patience).expect("it is a tty")
}

fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let deadline = Deadline::after(PATIENCE);
    while !happened() {
        assert!(!deadline.passed(), "{what}");
        std::thread::yield_now();
    }
}

const LONG: Patience = Patience { port: PATIENCE, command: PATIENCE };

#[test]
fn a_port_that_comes_back_under_its_name_is_read_on_and_both_are_recorded() {
    let mut plug = Plug::new();
    let mut port = open(&plug, PortOwner::Reference, LONG);
    plug.pty().write(b"before");
    assert_eq!(read_all(&mut port, 6), b"before");
    plug.unplug();
    wait_until("it is seen to be away", || port.is_away());
    assert!(port.read(Duration::ZERO).expect("it is waited for").is_none());
    plug.plug_in();
    wait_until("it is back", || port.returns() == 1);
    plug.pty().write(b"behind");
    assert_eq!(read_all(&mut port, 6), b"behind");
    let address = plug.address();
    let events = plug.events();
    let [
        RigEvent::PortVanished { port: gone, instrument, reason },
        RigEvent::PortReturned { port: back, .. },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!((gone, back, *instrument), (&address, &address, PortOwner::Reference));
    assert!(!reason.is_empty());
    let notices = plug.watch().take_notices();
    assert!(notices[0].contains("vanished") && notices[1].contains("is back after"), "{notices:?}");
    assert!(plug.watch().take_notices().is_empty());
}

#[test]
fn a_write_waits_for_a_port_that_is_away_and_is_sent_once_it_is_back() {
    let mut plug = Plug::new();
    let mut port = open(&plug, PortOwner::Link, LONG);
    plug.unplug();
    wait_until("it is seen to be away", || port.is_away());
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| port.write(b"command").map(drop));
        plug.plug_in();
        assert_eq!(plug.pty().read(7), b"command");
        writing.join().expect("it did not panic").expect("it was sent");
    });
}

#[test]
fn a_command_to_a_generator_does_not_wait_as_long_as_its_port_is_waited_for() {
    assert!(Patience::of(PortOwner::Generator).command < Patience::of(PortOwner::Generator).port);
    let mut plug = Plug::new();
    let patience = Patience { port: PATIENCE, command: Duration::from_millis(50) };
    let mut port = open(&plug, PortOwner::Generator, patience);
    plug.unplug();
    wait_until("it is seen to be away", || port.is_away());
    let error = port.write(b"INIT\n").expect_err("it is away");
    assert!(matches!(error, PortError::Vanished { .. }), "{error}");
    assert!(port.is_away(), "and still waited for");
}

#[test]
fn a_write_that_notices_first_waits_for_the_port_as_well() {
    let mut plug = Plug::new();
    let mut port = open(&plug, PortOwner::Link, LONG);
    plug.unplug();
    plug.plug_in();
    port.write(b"command").expect("it is back at once");
    assert_eq!(plug.pty().read(7), b"command");
}

#[test]
fn a_port_that_stays_away_is_given_up_with_both_reasons() {
    let mut plug = Plug::new();
    let patience = Patience { port: Duration::from_millis(50), command: Duration::from_millis(50) };
    let mut port = open(&plug, PortOwner::Reference, patience);
    plug.unplug();
    let error = loop {
        match port.read(PATIENCE) {
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("not back within 0 s") && error.contains("no such port"), "{error}");
    let error = port.write(b"x").expect_err("it is gone");
    assert!(matches!(error, PortError::Vanished { .. }), "{error}");
    assert!(!port.is_away());
    assert_eq!(plug.events().len(), 1, "it never came back");
}

#[test]
fn nobody_waits_for_a_port_when_everything_has_to_end() {
    let mut plug = Plug::new();
    let mut port = open(&plug, PortOwner::Link, LONG);
    plug.unplug();
    wait_until("it is seen to be away", || port.is_away());
    plug.watch().recording_failed("no space left".to_owned());
    let error = port.write(b"x").expect_err("it ends");
    assert!(matches!(error, PortError::Halt(_)), "{error}");
}

#[test]
fn a_tcp_server_that_hung_up_is_connected_again() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("tcp://{}", listener.local_addr().expect("it is bound"));
    let settings = PortSettings::plain(&address, 0);
    let mut port = Port::start(&settings, quiet(), None, LONG).expect("it listens");
    drop(listener.accept().expect("it connected"));
    let (mut peer, _) = listener.accept().expect("it connects again");
    peer.write_all(b"abc").expect("it is connected");
    assert_eq!(read_all(&mut port, 3), b"abc");
}

#[test]
fn a_port_is_for_one_opener_at_a_time() {
    let pty = Pty::open();
    let port = Port::open(pty.path(), 9600, quiet()).expect("it is a tty");
    let error = Port::open(pty.path(), 9600, quiet()).expect_err("it is open already");
    assert!(matches!(error, PortError::Busy { .. }), "{error}");
    drop(port);
    Port::open(pty.path(), 9600, quiet()).expect("it is free again");
}

#[test]
fn closing_a_port_does_not_drop_dtr() {
    let pty = Pty::open();
    let hangs_up = || {
        let file = File::open(pty.path()).expect("it is there");
        rustix::termios::tcgetattr(&file).expect("it is a tty").control_modes.contains(ControlModes::HUPCL)
    };
    let file = File::options().read(true).write(true).open(pty.path()).expect("it is there");
    let mut line = rustix::termios::tcgetattr(&file).expect("it is a tty");
    line.control_modes.insert(ControlModes::HUPCL);
    rustix::termios::tcsetattr(&file, OptionalActions::Now, &line).expect("it is a tty");
    assert!(hangs_up());
    let port = Port::open(pty.path(), 9600, quiet()).expect("it is a tty");
    drop(port);
    assert!(!hangs_up());
}

#[test]
fn modem_lines_are_missed_only_where_they_are_asked_for() {
    let pty = Pty::open();
    let mut settings = PortSettings::plain(pty.path(), 9600);
    let mut port = Port::open_with(&settings, quiet()).expect("a pty has none, and none is needed");
    let error = port.set_modem_line(ModemLine::Rts, true).expect_err("it has none").to_string();
    assert!(error.contains("modem line RTS"), "{error}");
    drop(port);
    settings.dtr = Dtr::Off;
    let error = Port::open_with(&settings, quiet()).expect_err("it has none").to_string();
    assert!(error.contains("modem line DTR"), "{error}");
}

#[test]
fn what_is_no_usbtmc_device_is_refused() {
    let pty = Pty::open();
    for address in [format!("usbtmc:{}", pty.path()), "usbtmc:/etc/hostname".to_owned()] {
        let error = Port::open(&address, 0, quiet()).expect_err("it is something else");
        assert!(matches!(error, PortError::NotUsbtmc { .. }), "{error}");
    }
    let error = Port::open("usbtmc:/dev/not-there", 0, quiet()).expect_err("there is none");
    assert!(matches!(error, PortError::Missing { .. }), "{error}");
    assert!(Path::new("/etc/hostname").exists());
}
