//! Interval counters that have to be asked: how each is set up, and what it is asked for readings. Their differences
//! are data. Channel 1 is the edge, channel 2 the echo or the reference's pulse, as wired.
//!
//! None of them was ever run on hardware; the syntax is that of their programming guides (see `formats`' module of the
//! same name) and of public drivers: teddematteo/sr620py for the SR620's numbers of modes and sources.

use std::time::{Duration, Instant};

use crate::bench_file::{EdgeName, IntervalCounterDriver};
use crate::rig::dialogue::{Dialogue, DialogueError, REPLY_ALLOWED};

/// Between two looks at an instrument that answers at once.
const LOOK: Duration = Duration::from_millis(100);

/// What one kind of instrument wants to be told and asked.
#[derive(Debug)]
struct Script {
    /// Sent in this order, `{slope}` replaced.
    setup: &'static [&'static str],
    /// What stands for a rising and for a falling edge.
    slopes: [&'static str; 2],
    /// What reads its error queue, if it has one.
    errors: Option<&'static str>,
    /// Settings that are read back, with what they must answer.
    read_back: &'static [(&'static str, &'static str)],
    /// Sent last: it begins to measure.
    start: Option<&'static str>,
    reading: Reading,
    /// Sent at the end: it stops measuring, whatever it waits for.
    stop: &'static str,
}

/// How readings are got.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// It counts them, and gives as many as it is asked for, at once.
    Buffered { count: &'static str, read: &'static str, status: &'static str },
    /// The answer comes when the next interval was measured.
    Awaited { read: &'static str },
}

/// `MEAS:TINT?` would switch the automatic level on, which needs more than one edge a second; and the time allowed for
/// one measurement is a second at first, which is our period.
const KEYSIGHT_53230A: Script = Script {
    setup: &[
        "ABOR",
        "*RST",
        "*CLS",
        "CONF:TINT (@1),(@2)",
        "INP1:COUP DC",
        "INP2:COUP DC",
        "INP1:LEV:AUTO OFF",
        "INP2:LEV:AUTO OFF",
        "INP1:LEV 1",
        "INP2:LEV 1",
        "INP1:SLOP {slope}",
        "INP2:SLOP POS",
        "SENS:ROSC:SOUR EXT",
        "SYST:TIM INF",
        "TRIG:COUN 1",
        "SAMP:COUN 1000000",
    ],
    slopes: ["POS", "NEG"],
    errors: Some("SYST:ERR?"),
    read_back: &[("SENS:ROSC:SOUR?", "EXT")],
    start: Some("INIT"),
    reading: Reading::Buffered { count: "DATA:POIN?", read: "DATA:REM?", status: "STAT:QUES:EVEN?" },
    stop: "ABOR",
};

const CNT_90: Script = Script {
    setup: &[
        "ABOR",
        "*RST",
        "*CLS",
        "FORM:TINF ON",
        "CONF:TINT (@1),(@2)",
        "INP1:LEV:AUTO OFF",
        "INP2:LEV:AUTO OFF",
        "INP1:LEV 1",
        "INP2:LEV 1",
        "INP1:SLOP {slope}",
        "INP2:SLOP POS",
        "ROSC:SOUR EXT",
    ],
    slopes: ["POS", "NEG"],
    errors: Some("SYST:ERR?"),
    read_back: &[],
    start: None,
    reading: Reading::Awaited { read: "READ?" },
    stop: "ABOR",
};

/// Mode 0 is time, source 0 is A, arming 1 is the first B after A, one sample a reading, clock 1 is the external one.
const SR620: Script = Script {
    setup: &[
        "*CLS",
        "AUTM 0",
        "MODE 0",
        "SRCE 0",
        "ARMM 1",
        "SIZE 1",
        "CLCK 1",
        "TSLP 1,{slope}",
        "TSLP 2,0",
    ],
    slopes: ["0", "1"],
    errors: None,
    read_back: &[("MODE?", "0"), ("SRCE?", "0"), ("ARMM?", "1"), ("CLCK?", "1")],
    start: None,
    reading: Reading::Awaited { read: "STRT;*WAI;XAVG?" },
    stop: "STOP",
};

/// An instrument that is asked for its readings, one question at a time.
#[derive(Debug)]
pub(super) struct Asked {
    script: &'static Script,
    /// The question that is not answered yet, and since when.
    open: Option<(String, Instant)>,
    next: Instant,
    identity: String,
}

/// What to do next.
enum Turn {
    Wait,
    Ask(String),
}

impl Asked {
    /// Sets it up and lets it measure; none for an instrument that only talks.
    pub(super) fn open(
        driver: IntervalCounterDriver,
        edge: EdgeName,
        dialogue: &mut Dialogue,
    ) -> Result<Option<Self>, DialogueError> {
        let script = match driver {
            IntervalCounterDriver::Ticc | IntervalCounterDriver::Hp53131a | IntervalCounterDriver::TimTm2 => {
                return Ok(None);
            }
            IntervalCounterDriver::Keysight53230a => &KEYSIGHT_53230A,
            IntervalCounterDriver::Cnt90 => &CNT_90,
            IntervalCounterDriver::Sr620 => &SR620,
        };
        // Ends whatever half a line a terminal program may have left in its input.
        dialogue.send("")?;
        dialogue.drain();
        let identity = dialogue.identify()?;
        let slope = script.slopes[usize::from(edge == EdgeName::Falling)];
        for command in script.setup {
            dialogue.send(&command.replace("{slope}", slope))?;
        }
        if let Some(errors) = script.errors {
            dialogue.no_errors(errors, "its settings")?;
        }
        for (query, wanted) in script.read_back {
            let answer = dialogue.query(query)?;
            if answer.trim_start_matches('+') != *wanted {
                return Err(dialogue.bad_answer(query, answer));
            }
        }
        script.start.map(|start| dialogue.send(start)).transpose()?;
        Ok(Some(Self { script, open: None, next: Instant::now(), identity }))
    }

    pub(super) fn identity(&self) -> &str {
        &self.identity
    }

    /// Takes an answer to the open question, and asks the next one when it is due: that is returned.
    pub(super) fn turn(
        &mut self,
        answer: Option<&str>,
        dialogue: &mut Dialogue,
    ) -> Result<Option<String>, DialogueError> {
        let turn = match (answer, self.open.take()) {
            (Some(answer), Some((query, _))) => self.after(&query, answer, dialogue)?,
            (_, Some((query, since))) => {
                let awaited = matches!(self.script.reading, Reading::Awaited { .. });
                if !awaited && since.elapsed() > REPLY_ALLOWED {
                    return Err(dialogue.silent(&query, REPLY_ALLOWED));
                }
                self.open = Some((query, since));
                Turn::Wait
            }
            (_, None) => self.first(),
        };
        let Turn::Ask(query) = turn else { return Ok(None) };
        dialogue.send(&query)?;
        self.open = Some((query.clone(), Instant::now()));
        Ok(Some(query))
    }

    fn first(&mut self) -> Turn {
        match self.script.reading {
            Reading::Awaited { read } => Turn::Ask(read.to_owned()),
            Reading::Buffered { .. } if Instant::now() < self.next => Turn::Wait,
            Reading::Buffered { count, .. } => {
                self.next = Instant::now() + LOOK;
                Turn::Ask(count.to_owned())
            }
        }
    }

    fn after(&mut self, query: &str, answer: &str, dialogue: &Dialogue) -> Result<Turn, DialogueError> {
        let Reading::Buffered { count, read, status } = self.script.reading else { return Ok(self.first()) };
        if query != count {
            return Ok(if query == status { self.first() } else { Turn::Ask(status.to_owned()) });
        }
        let waiting: Option<u32> = answer.trim_start_matches('+').parse().ok();
        match waiting {
            None => Err(dialogue.bad_answer(query, answer.to_owned())),
            Some(0) => Ok(self.first()),
            Some(waiting) => Ok(Turn::Ask(format!("{read} {waiting}"))),
        }
    }

    /// Lets it stop measuring; whether it does is nobody's concern any more.
    pub(super) fn stop(&self, dialogue: &mut Dialogue) {
        let _gone = dialogue.send(self.script.stop);
    }
}
