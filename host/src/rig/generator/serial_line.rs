//! Edges on a line of a serial adapter: RTS, DTR, or the data line by a break or a byte of zeros. The host commands each of
//! them at its time, and says when it did; when it came, only the interval counter knows: adapter and system are late by
//! milliseconds and by different ones each time.
//!
//! RTS and DTR were never run, on hardware or elsewhere: a pseudo-terminal has none. The byte is run on the virtual bench.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Generator, GeneratorError, HostEdge, PulseTrain};
use crate::bench_file::{self, EdgeName, GeneratorDriver, Level, SerialSignal};
use crate::rig::port::{ModemLine, Port, PortError};
use crate::rig::watch::Deadline;

/// From arming to the first edge: what is recorded of arming comes before it.
const LEAD: Duration = Duration::from_millis(500);
/// The thread sleeps until so long before an edge, and then spins.
const SPIN: Duration = Duration::from_micros(200);
/// How long the thread that moves the line may take to end.
const END_ALLOWED: Duration = Duration::from_secs(3);
/// Bits at space in a byte of zeros, with its start bit.
const SPACE_BITS: u64 = 9;

/// A line of a serial adapter.
pub(super) struct SerialLine {
    line: Option<Line>,
    identity: String,
    address: String,
    edge: EdgeName,
    train: Option<PulseTrain>,
    running: Option<Running>,
    done: Vec<HostEdge>,
}

/// The port, and how an edge is made with it.
struct Line {
    port: Port,
    signal: SerialSignal,
    baud: u32,
    /// Whether the line rests asserted, or at space.
    rests_asserted: bool,
}

/// A train under way, in a thread of its own.
struct Running {
    stop: Sender<()>,
    edges: Receiver<HostEdge>,
    thread: JoinHandle<(Line, Result<(), PortError>)>,
}

impl SerialLine {
    /// Takes the port and puts the line to rest.
    pub(super) fn open(declared: &bench_file::Generator, port: Port) -> Result<Self, GeneratorError> {
        let signal = declared.signal.unwrap_or(SerialSignal::TxdByte);
        let active_is_high = declared.edge == EdgeName::Rising;
        // The active level is that of a pulse; at rest the line is at the other.
        let rests_asserted = active_is_high != (declared.asserted == Some(Level::High));
        let is_data = matches!(signal, SerialSignal::TxdBreak | SerialSignal::TxdByte);
        if is_data && rests_asserted {
            let (edge, other) = if active_is_high { ("rising", "falling") } else { ("falling", "rising") };
            return Err(cannot(format!(
                "the data line rests at mark, so a pulse on it never begins with a {edge} edge: give edge = \"{other}\", \
                 or the other level in `asserted`"
            )));
        }
        let address = port.address().to_owned();
        let identity = format!("{} of {address}, moved by the host: its edges are host-timed", signal.name());
        let mut line = Line { port, signal, baud: declared.baud, rests_asserted };
        line.rest()?;
        Ok(Self {
            line: Some(line),
            identity,
            address,
            edge: declared.edge,
            train: None,
            running: None,
            done: Vec::new(),
        })
    }

    fn collect(&mut self) {
        if let Some(running) = &self.running {
            self.done.extend(running.edges.try_iter());
        }
    }

    /// Waits for the thread to end and takes the port back.
    fn end(&mut self) -> Result<(), GeneratorError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let _over = running.stop.send(());
        let deadline = Deadline::after(END_ALLOWED);
        while !running.thread.is_finished() && !deadline.passed() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.done.extend(running.edges.try_iter());
        if !running.thread.is_finished() {
            return Err(cannot(format!("{} does not come back from moving its line", self.address)));
        }
        let (line, moved) =
            running.thread.join().map_err(|_| cannot("the thread that moves it died".to_owned()))?;
        self.line = Some(line);
        Ok(moved?)
    }
}

impl Line {
    fn assert(&mut self, asserted: bool) -> Result<(), PortError> {
        let line = match self.signal {
            SerialSignal::Rts => ModemLine::Rts,
            SerialSignal::Dtr => ModemLine::Dtr,
            SerialSignal::TxdBreak => ModemLine::TxdBreak,
            SerialSignal::TxdByte => return Ok(()),
        };
        self.port.set_modem_line(line, asserted).map(drop)
    }

    fn rest(&mut self) -> Result<(), PortError> {
        self.assert(self.rests_asserted)
    }

    /// One pulse; returns when it is over, or without waiting where the adapter ends it by itself.
    fn pulse(&mut self, width: Duration, sent: impl FnOnce()) -> Result<(), PortError> {
        sent();
        if self.signal == SerialSignal::TxdByte {
            return self.port.write(&[0]).map(drop);
        }
        let began = Instant::now();
        self.assert(!self.rests_asserted)?;
        std::thread::sleep(width.saturating_sub(began.elapsed()));
        self.rest()
    }

    fn fire(
        &mut self,
        train: &PulseTrain,
        (start, stop): (Instant, &Receiver<()>),
        edges: &Sender<HostEdge>,
    ) -> Result<(), PortError> {
        let (period, width) = (Duration::from_nanos(train.period_ns), Duration::from_nanos(train.width_ns));
        for edge in 0..train.cycles {
            let at = start + period * edge;
            let asleep = at.saturating_duration_since(Instant::now()).saturating_sub(SPIN);
            if !matches!(stop.recv_timeout(asleep), Err(RecvTimeoutError::Timeout)) {
                return self.rest();
            }
            while Instant::now() < at {
                std::hint::spin_loop();
            }
            let sent = HostEdge { edge, sent: self.port.now() };
            // Without a listener the train is being ended.
            self.pulse(width, || {
                let _ended = edges.send(sent);
            })?;
        }
        Ok(())
    }
}

impl Generator for SerialLine {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        self.end()?;
        let line = self.line.as_mut().ok_or_else(|| cannot("its port was lost".to_owned()))?;
        if train.edge != self.edge {
            return Err(cannot("its edge is that of the bench file".to_owned()));
        }
        if line.signal == SerialSignal::TxdByte {
            let width_ns = SPACE_BITS * 1_000_000_000 / u64::from(line.baud);
            if width_ns.abs_diff(train.width_ns) > 1_000_000 {
                return Err(cannot(format!(
                    "a byte of zeros at {} baud is {} ms wide, not {} ms: give that as width-ms, or another baud rate",
                    line.baud,
                    (width_ns + 500_000) / 1_000_000,
                    train.width_ns / 1_000_000
                )));
            }
        }
        line.rest()?;
        self.train = Some(*train);
        Ok(())
    }

    fn arm(&mut self) -> Result<(), GeneratorError> {
        let (Some(mut line), Some(train)) = (self.line.take(), self.train) else {
            return Err(cannot("no train was prepared".to_owned()));
        };
        let (stop, stopped) = channel();
        let (told, edges) = channel();
        let start = Instant::now() + LEAD;
        let thread = std::thread::spawn(move || {
            let moved = line.fire(&train, (start, &stopped), &told);
            (line, moved)
        });
        self.running = Some(Running { stop, edges, thread });
        Ok(())
    }

    fn host_edges(&mut self) -> Vec<HostEdge> {
        self.collect();
        std::mem::take(&mut self.done)
    }

    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError> {
        let Some(running) = &self.running else { return Ok(true) };
        if !running.thread.is_finished() {
            std::thread::sleep(wait);
            return Ok(false);
        }
        self.end()?;
        Ok(true)
    }

    fn make_safe(&mut self) -> Result<(), GeneratorError> {
        let ended = self.end();
        if let Some(line) = &mut self.line {
            line.rest()?;
        }
        ended
    }
}

const fn cannot(reason: String) -> GeneratorError {
    GeneratorError::Cannot { driver: GeneratorDriver::SerialLine.name(), reason }
}

#[cfg(test)]
mod tests;
