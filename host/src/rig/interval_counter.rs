//! Reads the interval counter while a run goes on. Its bytes are recorded by the port; what is decoded here only tells
//! whether it is there and what it shows right now.

use std::time::Duration;

use crate::bench_file::IntervalCounterDriver;
use crate::events::{IntervalChannel, IntervalEvent};
use crate::formats::ticc::TiccDecoder;
use crate::rig::port::{Port, PortError};
use crate::rig::watch::{Deadline, Halt, Watch};

const LOOK: Duration = Duration::from_millis(50);

/// What an interval counter has shown so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Bytes, of whatever kind.
    pub bytes: u64,
    /// Timestamps on channel A.
    pub stamps_a: u64,
    /// Timestamps on channel B.
    pub stamps_b: u64,
    /// Whether it said that its own reference was lost.
    pub reference_lost: bool,
    /// Why the last line that is no reading was refused.
    pub refused: Option<String>,
}

/// An open interval counter.
#[derive(Debug)]
pub struct IntervalCounter {
    port: Port,
    decoder: TiccDecoder,
    shown: Shown,
}

impl IntervalCounter {
    /// Listens to an open port.
    #[must_use]
    pub fn new(port: Port, driver: IntervalCounterDriver) -> Self {
        let decoder = match driver {
            IntervalCounterDriver::Ticc => TiccDecoder::new(),
        };
        Self { port, decoder, shown: Shown::default() }
    }

    /// What it has shown so far.
    #[must_use]
    pub const fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Takes everything that has arrived.
    ///
    /// # Errors
    /// If the port vanished.
    pub fn poll(&mut self) -> Result<(), PortError> {
        while self.take(Duration::ZERO)? {}
        Ok(())
    }

    /// Listens until `enough`, or for `allowed`.
    ///
    /// # Errors
    /// If the port vanished; within, why everything has to end.
    pub fn listen(
        &mut self,
        allowed: Duration,
        watch: &Watch,
        enough: impl Fn(&Shown) -> bool,
    ) -> Result<Result<(), Halt>, PortError> {
        let deadline = Deadline::after(allowed);
        while !enough(&self.shown) && !deadline.passed() {
            if let Err(halt) = watch.check() {
                return Ok(Err(halt));
            }
            self.take(LOOK)?;
        }
        Ok(Ok(()))
    }

    fn take(&mut self, wait: Duration) -> Result<bool, PortError> {
        let Some((at, bytes)) = self.port.read(wait)? else { return Ok(false) };
        self.shown.bytes += bytes.len() as u64;
        for stamped in self.decoder.push(&bytes, at) {
            match stamped.event {
                IntervalEvent::Stamp(stamp) if stamp.channel == IntervalChannel::A => {
                    self.shown.stamps_a += 1
                }
                IntervalEvent::Stamp(_) => self.shown.stamps_b += 1,
                IntervalEvent::ReferenceLost => self.shown.reference_lost = true,
                IntervalEvent::Refused { reason } => self.shown.refused = Some(reason),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::recorder::Recorder;
    use crate::rig::testing::Pty;

    #[test]
    fn readings_are_counted_by_channel() {
        let mut pty = Pty::open();
        let port =
            Port::open(pty.path(), 115_200, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let mut counter = IntervalCounter::new(port, IntervalCounterDriver::Ticc);
        pty.write(
            b"# banner\r\n1.000000000001 chA\r\n1.000000000002 chB\r\n2.000000000001 chA\r\nrubbish\r\n",
        );
        let all = |shown: &Shown| shown.refused.is_some();
        let ended = counter.listen(Duration::from_secs(20), &Watch::new(), all).expect("the port is there");
        assert_eq!(ended, Ok(()));
        assert_eq!((counter.shown().stamps_a, counter.shown().stamps_b), (2, 1));
    }
}
