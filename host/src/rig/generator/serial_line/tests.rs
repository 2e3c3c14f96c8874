use super::super::transcript::declared;
use super::*;
use crate::rig::recorder::Recorder;
use crate::rig::testing::Pty;
use crate::rig::watch::Watch;

const TRAIN: PulseTrain =
    PulseTrain { cycles: 3, period_ns: 10_000_000, width_ns: 938_000, edge: EdgeName::Falling };
const PATIENCE: Duration = Duration::from_secs(20);

fn open(pty: &Pty, more: &str) -> Result<SerialLine, GeneratorError> {
    let port = Port::open(pty.path(), 9600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
    SerialLine::open(&declared("serial-line", &format!("baud = 9600\n{more}")), port)
}

#[test]
fn each_edge_is_a_byte_of_zeros_and_has_the_time_of_its_command() {
    let mut pty = Pty::open();
    let mut line = open(&pty, "signal = \"txd-byte\"\nedge = \"falling\"").expect("it is a data line");
    assert!(line.identity().contains("host-timed"), "{}", line.identity());
    line.prepare(&TRAIN).expect("the width is that of the byte");
    let armed = line.line.as_ref().expect("it is at rest").port.now();
    line.arm().expect("it was prepared");
    let deadline = Deadline::after(PATIENCE);
    let mut edges = Vec::new();
    while !line.complete(Duration::from_millis(1)).expect("the port is there") {
        assert!(!deadline.passed(), "it ends");
        edges.extend(line.host_edges());
    }
    edges.extend(line.host_edges());
    assert_eq!(edges.iter().map(|edge| edge.edge).collect::<Vec<_>>(), [0, 1, 2]);
    // A busy machine may be late with any of them.
    let due = |edge: u32| armed.0 + LEAD.as_nanos() as u64 + u64::from(edge) * TRAIN.period_ns;
    let after: Vec<_> = edges.iter().map(|edge| edge.sent.0.checked_sub(due(edge.edge))).collect();
    assert!(after.iter().all(Option::is_some), "never early: {after:?}");
    line.make_safe().expect("the port is there");
    drop(line);
    assert_eq!(pty.read(3), [0, 0, 0]);
    assert_eq!(pty.next(), None);
}

#[test]
fn a_train_that_is_ended_leaves_the_line_at_rest_and_the_port_open() {
    let mut pty = Pty::open();
    let mut line = open(&pty, "signal = \"txd-byte\"\nedge = \"falling\"").expect("it is a data line");
    let endless = PulseTrain { cycles: 1_000_000, ..TRAIN };
    line.prepare(&endless).expect("it can");
    line.arm().expect("it was prepared");
    assert_eq!(pty.read(1), [0]);
    line.make_safe().expect("it ends");
    let heard = line.host_edges().len();
    assert!((1..1000).contains(&heard), "{heard}");
    line.prepare(&TRAIN).expect("the port is back");
    assert!(line.complete(Duration::ZERO).expect("nothing runs"));
}

#[test]
fn what_a_data_line_cannot_do_is_refused() {
    let pty = Pty::open();
    let rising = open(&pty, "signal = \"txd-break\"\nedge = \"rising\"");
    let error = rising.err().expect("it rests high").to_string();
    assert!(error.contains("falling") && error.contains("asserted"), "{error}");
    let mut line =
        open(&pty, "signal = \"txd-byte\"\nedge = \"rising\"\nasserted = \"high\"").expect("RS-232");
    let wide = PulseTrain { width_ns: 5_000_000, edge: EdgeName::Rising, ..TRAIN };
    let error = line.prepare(&wide).expect_err("a byte is narrower").to_string();
    assert!(error.contains("9600 baud is 1 ms wide, not 5 ms"), "{error}");
}

#[test]
fn a_port_without_modem_lines_says_which_is_missing() {
    let pty = Pty::open();
    let error = open(&pty, "signal = \"rts\"").err().expect("a pty has none").to_string();
    assert!(error.contains("RTS"), "{error}");
}
