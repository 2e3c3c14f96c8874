use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use rfc2217::{Server, ServerEvent};

use super::*;
use crate::rig::port::Port;
use crate::rig::recorder::{Log, Recorder};

const PATIENCE: Duration = Duration::from_secs(20);

fn quiet() -> Log {
    Recorder::new(&Watch::new()).no_log()
}

/// A bridge with a plug in place of its serial port, which sends back what it is sent.
struct Bridge {
    address: SocketAddr,
    events: Receiver<ServerEvent>,
    thread: JoinHandle<()>,
}

impl Bridge {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (sender, events) = channel();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody connects");
            let mut server = Server::new(Wanted::default());
            let mut buffer = [0; 256];
            loop {
                if stream.write_all(&server.take_output()).is_err() {
                    return;
                }
                let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
                let data = server.receive(&buffer[..count]);
                while let Some(event) = server.poll_event() {
                    let _nobody_listens = sender.send(event);
                }
                server.write_data(&data);
            }
        });
        Self { address, events, thread }
    }

    fn settings(&self, line: &str, dtr: Dtr) -> PortSettings {
        let address = format!("rfc2217://{}", self.address);
        PortSettings { address, baud: 19_200, line: line.parse().expect("it is one"), dtr }
    }

    fn wait_for(&self, wanted: impl Fn(&ServerEvent) -> bool) {
        while !wanted(&self.events.recv_timeout(PATIENCE).expect("it comes")) {}
    }
}

#[test]
fn the_line_is_set_at_the_bridge_and_every_byte_passes_both_ways() {
    let bridge = Bridge::start();
    let mut port = Port::open_with(&bridge.settings("7o2", Dtr::Off), quiet()).expect("it confirms");
    bridge.wait_for(|event| match event {
        ServerEvent::SettingsChanged(line) => {
            line.baud_rate == 19_200
                && line.data_bits == DataBits::Seven
                && line.parity == Parity::Odd
                && line.stop_bits == StopBits::Two
        }
        _ => false,
    });
    bridge.wait_for(|event| matches!(event, ServerEvent::Purge(Purge::Both)));
    bridge.wait_for(|event| matches!(event, ServerEvent::Dtr(false)));
    let all: Vec<u8> = (0..=255).chain([255, 255, 0, 255]).collect();
    port.write(&all).expect("it is connected");
    let mut back = Vec::new();
    while back.len() < all.len() {
        back.extend(port.read(PATIENCE).expect("it is connected").expect("it sends back").1);
    }
    assert_eq!(back, all);
    port.set_modem_line(ModemLine::Rts, true).expect("it has one");
    bridge.wait_for(|event| matches!(event, ServerEvent::Rts(true)));
    drop(port);
    bridge.thread.join().expect("it did not panic");
}

/// What a server that answers like this is refused with.
fn refused(serve: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("rfc2217://{}", listener.local_addr().expect("it is bound"));
    let thread = std::thread::spawn(move || serve(listener.accept().expect("somebody connects").0));
    let error = Port::open(&address, 9600, quiet()).expect_err("it is no bridge").to_string();
    thread.join().expect("it did not panic");
    error
}

fn read_to_the_end(mut stream: TcpStream) {
    let mut buffer = [0; 64];
    while matches!(stream.read(&mut buffer), Ok(1..)) {}
}

#[test]
fn a_server_that_is_no_bridge_is_refused_with_what_to_look_at() {
    let error = refused(read_to_the_end);
    assert!(error.contains("raw TCP port"), "{error}");
    let error = refused(|mut stream| {
        // IAC DONT COM-PORT-OPTION
        stream.write_all(&[255, 254, 44]).expect("it is connected");
        read_to_the_end(stream);
    });
    assert!(error.contains("plain Telnet server"), "{error}");
    let error = refused(drop);
    assert!(error.contains("cannot open the port"), "{error}");
}

#[test]
fn a_connection_that_takes_no_bytes_is_ended_so_that_it_is_made_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let stream = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
    let (mut peer, _) = listener.accept().expect("it connected");
    stream.set_write_timeout(Some(Duration::from_millis(50))).expect("it is connected");
    let client = Arc::new(Mutex::new(Client::new(Wanted::default())));
    let connection = Connection { stream: Arc::new(stream), client };
    // DO COM-PORT-OPTION: from here on data is sent at once.
    connection.step(|client| client.receive(&[255, 253, 44])).expect("there is room");
    let error = loop {
        if let Err(error) = connection.step(|client| client.write_data(&[0; 1 << 20])) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    let mut buffer = vec![0; 1 << 20];
    while peer.read(&mut buffer).expect("it is an end, no error") > 0 {}
}

#[test]
fn nothing_is_read_where_nothing_came() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let stream =
        connect("x", (&address.ip().to_string(), address.port()), &Watch::new()).expect("it listens");
    let client = Arc::new(Mutex::new(Client::new(Wanted::default())));
    let connection = Connection { stream: Arc::new(stream), client };
    let mut input = Input { connection, early: b"early".to_vec() };
    let mut buffer = [0; 3];
    assert_eq!(input.read(&mut buffer).expect("it is there"), 3);
    assert_eq!(input.read(&mut buffer).expect("it is there"), 2);
    assert_eq!(input.read(&mut buffer).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
}
