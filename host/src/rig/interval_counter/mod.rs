//! Reads the interval counter while a run goes on. Its bytes are recorded by the port; what is decoded here only tells
//! whether it is there and what it shows right now. Some only talk; others have to be asked (`asking`).

mod asking;

use std::time::Duration;

use crate::bench_file::{self, EdgeName};
use crate::events::{IntervalChannel, IntervalEvent};
use crate::formats::interval_counter::IntervalCounterDecoder;
use crate::rig::dialogue::{Dialogue, DialogueError};
use crate::rig::port::Port;
use crate::rig::watch::{Deadline, Halt, Watch};
use crate::units::HostNanos;

use asking::Asked;

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
    /// Intervals from A to B.
    pub intervals: u64,
    /// Whether it said that its own reference was lost.
    pub reference_lost: bool,
    /// Why the last line that is no reading was refused.
    pub refused: Option<String>,
}

/// An open interval counter.
#[derive(Debug)]
pub struct IntervalCounter {
    dialogue: Dialogue,
    decoder: IntervalCounterDecoder,
    asked: Option<Asked>,
    shown: Shown,
}

impl IntervalCounter {
    /// Listens to an open port, and where the instrument wants it, sets it up. `edge` is the transition that counts.
    ///
    /// # Errors
    /// [`DialogueError`]
    pub fn open(
        port: Port,
        declared: &bench_file::IntervalCounter,
        edge: EdgeName,
    ) -> Result<Self, DialogueError> {
        let falling = edge == EdgeName::Falling;
        let decoder = IntervalCounterDecoder::new(declared.driver, declared.channels, falling);
        let mut dialogue = Dialogue::new("interval counter", port);
        let asked = Asked::open(declared.driver, edge, &mut dialogue)?;
        Ok(Self { dialogue, decoder, asked, shown: Shown::default() })
    }

    /// What it has shown so far.
    #[must_use]
    pub const fn shown(&self) -> &Shown {
        &self.shown
    }

    /// What it answered to `*IDN?`; none for one that only talks.
    #[must_use]
    pub fn identity(&self) -> Option<&str> {
        self.asked.as_ref().map(Asked::identity)
    }

    /// Takes everything that has arrived, and asks for more.
    ///
    /// # Errors
    /// If the port vanished, or the instrument does not answer.
    pub fn poll(&mut self) -> Result<(), DialogueError> {
        while self.take(Duration::ZERO)? {}
        Ok(())
    }

    /// Listens until `enough`, or for `allowed`.
    ///
    /// # Errors
    /// As [`IntervalCounter::poll`]; within, why everything has to end.
    pub fn listen(
        &mut self,
        allowed: Duration,
        watch: &Watch,
        enough: impl Fn(&Shown) -> bool,
    ) -> Result<Result<(), Halt>, DialogueError> {
        let deadline = Deadline::after(allowed);
        while !enough(&self.shown) && !deadline.passed() {
            if let Err(halt) = watch.check() {
                return Ok(Err(halt));
            }
            self.take(LOOK)?;
        }
        Ok(Ok(()))
    }

    fn take(&mut self, wait: Duration) -> Result<bool, DialogueError> {
        // Whoever is asked answers in lines; whoever only talks is looked at byte by byte, for a wrong baud rate.
        let Some(asked) = &mut self.asked else {
            let Some(bytes) = self.dialogue.bytes(wait)? else { return Ok(false) };
            self.count(&bytes);
            return Ok(true);
        };
        let answer = self.dialogue.answer(wait)?;
        let asks = asked.turn(answer.as_deref(), &mut self.dialogue)?;
        if let Some(answer) = &answer {
            self.count(format!("{answer}\n").as_bytes());
        }
        if let Some(query) = asks {
            self.decoder.sent(format!("{query}\n").as_bytes());
        }
        Ok(answer.is_some())
    }

    fn count(&mut self, bytes: &[u8]) {
        self.shown.bytes += bytes.len() as u64;
        for stamped in self.decoder.push(bytes, HostNanos(0)) {
            match stamped.event {
                IntervalEvent::Stamp(stamp) if stamp.channel == IntervalChannel::A => {
                    self.shown.stamps_a += 1
                }
                IntervalEvent::Stamp(_) => self.shown.stamps_b += 1,
                IntervalEvent::Interval(_) => self.shown.intervals += 1,
                IntervalEvent::ReferenceLost => self.shown.reference_lost = true,
                IntervalEvent::Refused { reason } => self.shown.refused = Some(reason),
                IntervalEvent::Restarted | IntervalEvent::Missed { .. } => {}
            }
        }
    }
}

impl Drop for IntervalCounter {
    fn drop(&mut self) {
        if let Some(asked) = &self.asked {
            asked.stop(&mut self.dialogue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::recorder::Recorder;
    use crate::rig::testing::Pty;

    fn declared(driver: &str) -> bench_file::IntervalCounter {
        let text = format!("driver = \"{driver}\"\nport = \"/dev/null\"\nuncertainty-ps = 1");
        toml::from_str(&text).expect("it is whole")
    }

    #[test]
    fn readings_are_counted_by_channel() {
        let mut pty = Pty::open();
        let port =
            Port::open(pty.path(), 115_200, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let mut counter =
            IntervalCounter::open(port, &declared("ticc"), EdgeName::Rising).expect("it only talks");
        pty.write(
            b"# banner\r\n1.000000000001 chA\r\n1.000000000002 chB\r\n2.000000000001 chA\r\nrubbish\r\n",
        );
        let all = |shown: &Shown| shown.refused.is_some();
        let ended = counter.listen(Duration::from_secs(20), &Watch::new(), all).expect("the port is there");
        assert_eq!(ended, Ok(()));
        assert_eq!((counter.shown().stamps_a, counter.shown().stamps_b), (2, 1));
    }

    /// Plays an instrument that answers what `answer` says, in lines.
    fn playing(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Port {
        let mut pty = Pty::open();
        let port = Port::open(pty.path(), 9600, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        std::thread::spawn(move || {
            let mut line = String::new();
            // Ends with the port.
            while let Some(byte) = pty.next() {
                if byte != b'\n' {
                    line.push(char::from(byte));
                } else if let Some(answer) = answer(&std::mem::take(&mut line)) {
                    pty.write(format!("{answer}\r\n").as_bytes());
                }
            }
        });
        port
    }

    fn well_behaved(line: &str) -> Option<String> {
        let answer = match line {
            "*IDN?" => "Agilent Technologies,53230A,MY1,2.05",
            "SYST:ERR?" => "+0,\"No error\"",
            "SENS:ROSC:SOUR?" => "EXT",
            "DATA:POIN?" => "+2",
            "DATA:REM? 2" => "+1.0E-06,+2.0E-06",
            "STAT:QUES:EVEN?" => "+0",
            _ => return None,
        };
        Some(answer.to_owned())
    }

    fn opened(
        answer: impl Fn(&str) -> Option<String> + Send + 'static,
    ) -> Result<IntervalCounter, DialogueError> {
        IntervalCounter::open(playing(answer), &declared("keysight-53230a"), EdgeName::Rising)
    }

    #[test]
    fn what_it_has_is_counted_and_then_read() {
        let mut counter = opened(well_behaved).expect("it behaves");
        assert_eq!(counter.identity(), Some("Agilent Technologies,53230A,MY1,2.05"));
        let enough = |shown: &Shown| shown.intervals >= 4;
        let ended = counter.listen(Duration::from_secs(20), &Watch::new(), enough).expect("it answers");
        assert_eq!((ended, counter.shown().refused.as_ref()), (Ok(()), None));
        assert!(counter.shown().intervals >= 4);
    }

    #[test]
    fn a_setting_that_it_refuses_or_does_not_take_is_an_error_that_quotes_it() {
        let refuses = |line: &str| match line {
            "SYST:ERR?" => Some("-221,\"Settings conflict\"".to_owned()),
            _ => well_behaved(line),
        };
        let error = opened(refuses).expect_err("its queue never empties").to_string();
        assert!(error.contains("-221,\"Settings conflict\"") && error.contains("its settings"), "{error}");
        let keeps = |line: &str| match line {
            "SENS:ROSC:SOUR?" => Some("INT".to_owned()),
            _ => well_behaved(line),
        };
        let error = opened(keeps).expect_err("it has no external reference").to_string();
        assert!(error.contains("`INT` is no answer to `SENS:ROSC:SOUR?`"), "{error}");
    }

    #[test]
    fn one_that_falls_silent_is_an_error_that_names_the_question() {
        let error = opened(|_| None).expect_err("it is silent").to_string();
        assert!(error.contains("no answer to `*IDN?` within 2 s"), "{error}");
        let falls_silent = |line: &str| well_behaved(line).filter(|_| !line.starts_with("DATA:REM?"));
        let mut counter = opened(falls_silent).expect("it behaves at first");
        let error =
            counter.listen(Duration::from_secs(20), &Watch::new(), |_| false).expect_err("it is silent");
        assert!(error.to_string().contains("no answer to `DATA:REM? 2`"), "{error}");
    }
}
