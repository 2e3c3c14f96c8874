use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;

use super::*;
use crate::formats::raw_log::{self, RawWriter};
use crate::rig::recorder::Recorder;
use crate::rig::testing::Pty;
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
