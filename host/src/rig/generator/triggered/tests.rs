use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::super::NAME;
use super::super::families::{KEYSIGHT_33500, RIGOL_DG, SIGLENT_SDG};
use super::super::transcript::{declared, play};
use super::*;
use crate::bench_file::PortSettings;
use crate::events::PortOwner;
use crate::rig::port::Port;
use crate::rig::recorder::Recorder;
use crate::rig::testing::{Plug, Pty};
use crate::rig::watch::Watch;

const PATIENCE: Duration = Duration::from_secs(20);
const TRAIN: PulseTrain =
    PulseTrain { cycles: 100, period_ns: 100_000_000, width_ns: 5_000_000, edge: EdgeName::Rising };

/// An instrument that answers line by line as `answer` says, and remembers what it was told.
struct FakeInstrument {
    port: Option<Port>,
    heard: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<()>,
}

impl FakeInstrument {
    fn answering(answer: impl Fn(&str, &[String]) -> Option<String> + Send + 'static) -> Self {
        let pty = Pty::open();
        let port =
            Port::open(pty.path(), 115_200, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        let mut file = pty.file();
        let thread = std::thread::spawn(move || {
            let mut pty = pty;
            let (mut line, mut byte) = (Vec::new(), [0]);
            while matches!(file.read(&mut byte), Ok(1)) {
                if byte[0] != b'\n' {
                    line.push(byte[0]);
                    continue;
                }
                let text = String::from_utf8(std::mem::take(&mut line)).expect("SCPI is ASCII");
                let mut log = log.lock().expect("nobody panicked");
                log.push(text.clone());
                if let Some(reply) = answer(&text, &log) {
                    pty.write(format!("{reply}\n").as_bytes());
                }
            }
        });
        Self { port: Some(port), heard, thread }
    }

    fn open(&mut self) -> Result<Triggered, GeneratorError> {
        let dialogue = Dialogue::new(NAME, self.port.take().expect("it is opened once"));
        Triggered::open(&KEYSIGHT_33500, &declared("keysight-33500", ""), dialogue)
    }

    /// Closes the port, so that everything has been heard, and returns it.
    fn heard(self, generator: Triggered) -> Vec<String> {
        drop(generator);
        self.thread.join().expect("the fake did not panic");
        Arc::into_inner(self.heard).expect("the thread ended").into_inner().expect("nobody panicked")
    }
}

/// A well-behaved one.
fn good(line: &str, _heard: &[String]) -> Option<String> {
    let reply = match line {
        "*IDN?" => "Maker,33511B,1,2",
        "SYST:ERR?" => "+0,\"No error\"",
        "FUNC:PULS:PER?" => "+1.00000000000000E-01",
        "FUNC:PULS:WIDT?" => "+5.00000000000000E-03",
        "BURS:NCYC?" => "+1.00000000000000E+02",
        "VOLT:HIGH?" => "+3.30000000000000E+00",
        "VOLT:LOW?" => "+0.00000000000000E+00",
        "OUTP:POL?" => "NORM",
        "ROSC:SOUR?" => "EXT",
        "*OPC?" => "1",
        "OUTP?" => "0",
        _ => return None,
    };
    Some(reply.to_owned())
}

#[test]
fn a_train_is_set_armed_awaited_and_ended_in_order() {
    let mut fake = FakeInstrument::answering(good);
    let mut generator = fake.open().expect("it answers");
    assert_eq!(generator.identity(), "Maker,33511B,1,2");
    generator.prepare(&TRAIN).expect("it can");
    generator.arm().expect("it can");
    assert!(generator.complete(PATIENCE).expect("it answers"));
    generator.make_safe().expect("it answers");
    let heard = fake.heard(generator);
    let order =
        ["OUTP OFF", "*RST", "FUNC PULS", "FUNC:PULS:PER 0.1", "FUNC:PULS:WIDT 0.005", "BURS:NCYC 100"];
    let order = order.into_iter().chain(["TRIG:SOUR EXT", "OUTP ON", "INIT", "*OPC?", "ABOR", "OUTP OFF"]);
    let mut rest = heard.iter();
    for wanted in order {
        assert!(rest.any(|line| line == wanted), "`{wanted}` is missing or out of order in {heard:?}");
    }
}

#[test]
fn every_error_in_the_queue_is_reported() {
    let mut fake = FakeInstrument::answering(|line, heard| {
        let asked = heard.iter().filter(|line| *line == "SYST:ERR?").count();
        match (line, asked) {
            ("SYST:ERR?", 3) => Some("-222,\"Data out of range\"".to_owned()),
            ("SYST:ERR?", 4) => Some("-221,\"Settings conflict\"".to_owned()),
            _ => good(line, heard),
        }
    });
    let mut generator = fake.open().expect("it answers");
    let error = generator.prepare(&TRAIN).expect_err("it reports errors").to_string();
    assert!(error.contains("-222") && error.contains("-221"), "{error}");
    fake.heard(generator);
}

#[test]
fn a_setting_that_was_silently_changed_is_refused_with_both_values() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "FUNC:PULS:WIDT?" => Some("+4.00000000000000E-03".to_owned()),
        _ => good(line, heard),
    });
    let mut generator = fake.open().expect("it answers");
    let error = generator.prepare(&TRAIN).expect_err("the width is another").to_string();
    assert!(error.contains("0.005") && error.contains("+4.0"), "{error}");
    fake.heard(generator);
}

#[test]
fn seven_digits_are_read_back_as_good_enough() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "FUNC:PULS:PER?" => Some("1.000000E-01".to_owned()),
        _ => good(line, heard),
    });
    let mut generator = fake.open().expect("it answers");
    generator.prepare(&TRAIN).expect("it can");
    fake.heard(generator);
}

#[test]
fn an_aborted_train_is_made_safe_although_its_completion_was_asked_for() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "*OPC?" => None,
        "ABOR" if heard.iter().any(|line| line == "*OPC?") => Some("1".to_owned()),
        _ => good(line, heard),
    });
    let mut generator = fake.open().expect("it answers");
    generator.prepare(&TRAIN).expect("it can");
    generator.arm().expect("it can");
    assert!(!generator.complete(Duration::from_millis(20)).expect("it is silent"));
    generator.make_safe().expect("it answers");
    assert!(fake.heard(generator).ends_with(&["OUTP?".to_owned(), "SYST:ERR?".to_owned()]));
}

#[test]
fn a_late_completion_is_not_taken_for_the_identity() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "*IDN?" => Some("1\nMaker,33511B,1,2".to_owned()),
        _ => good(line, heard),
    });
    let generator = fake.open().expect("it answers, late");
    assert_eq!(generator.identity(), "Maker,33511B,1,2");
    fake.heard(generator);
}

#[test]
fn a_completion_that_comes_long_after_abor_is_not_taken_for_the_output_s_state() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "*OPC?" => None,
        "*IDN?" if heard.iter().any(|line| line == "*OPC?") => Some("1\nMaker,33511B,1,2".to_owned()),
        _ => good(line, heard),
    });
    let mut generator = fake.open().expect("it answers");
    generator.prepare(&TRAIN).expect("it can");
    generator.arm().expect("it can");
    generator.make_safe().expect("the output is off");
    generator.prepare(&TRAIN).expect("its answers belong to their queries");
    fake.heard(generator);
}

#[test]
fn an_unread_answer_of_an_earlier_program_is_drained() {
    let mut fake = FakeInstrument::answering(|line, heard| match line {
        "ABOR" => Some("1".to_owned()),
        "*CLS" => Some("+0,\"No err".to_owned()),
        _ => good(line, heard),
    });
    let generator = fake.open().expect("it answers");
    assert_eq!(generator.identity(), "Maker,33511B,1,2");
    fake.heard(generator);
}

#[test]
fn a_silent_instrument_is_an_error_that_names_the_port() {
    let mut fake = FakeInstrument::answering(|_, _| None);
    let error = fake.open().expect_err("it is silent").to_string();
    assert!(error.contains("/dev/pts/") && error.contains("*IDN?"), "{error}");
}

#[test]
fn an_instrument_that_is_no_generator_is_an_error_that_quotes_it() {
    let mut fake = FakeInstrument::answering(|_, _| Some("$GNRMC,,V".to_owned()));
    let error = fake.open().expect_err("it is a receiver").to_string();
    assert!(error.contains("GNRMC"), "{error}");
}

#[test]
fn a_completion_that_was_due_while_the_port_was_away_is_asked_for_again() {
    let mut plug = Plug::new();
    let settings = PortSettings::plain(&plug.address(), 115_200);
    let log = Recorder::new(plug.watch()).no_log();
    let port = Port::open_for(PortOwner::Generator, &settings, log, plug.rig()).expect("it is a tty");
    let mut generator = Triggered {
        family: &KEYSIGHT_33500,
        dialogue: Dialogue::new(NAME, port),
        identity: String::new(),
        high_mv: 3300,
        low_mv: 0,
        offset_ns: 0,
        train: None,
        over: None,
        first: None,
        completion_asked: false,
        asked_after: 0,
        answered_twice: false,
    };
    generator.ask_completion("*OPC?").expect("the port is there");
    assert_eq!(plug.pty().read(6), b"*OPC?\n");
    // Half an answer, then nothing more.
    plug.pty().write(b"1");
    assert!(!generator.complete(PATIENCE / 100).expect("it is only slow"));
    plug.unplug();
    plug.plug_in();
    let deadline = Deadline::after(PATIENCE);
    while generator.dialogue.returns() == 0 {
        assert!(!deadline.passed(), "it comes back");
        assert!(!generator.complete(Duration::ZERO).expect("it is waited for"));
    }
    assert!(!generator.complete(Duration::ZERO).expect("it is asked again"));
    assert_eq!(plug.pty().read(6), b"*OPC?\n");
    // Both questions are answered, and neither answer is left for the next one.
    plug.pty().write(b"1\n1\n");
    assert!(generator.complete(PATIENCE).expect("it answers"));
    assert!(generator.dialogue.answer(Duration::ZERO).expect("the port is there").is_none());
}

const SIX: PulseTrain =
    PulseTrain { cycles: 6, period_ns: 500_000_000, width_ns: 250_000_000, edge: EdgeName::Rising };

/// One train from opening to the end, as recorded; the instrument is told when the board has captured all of it.
fn whole_train(family: &'static Family, more: &str, text: &'static str) -> Result<String, GeneratorError> {
    let (port, script) = play(text);
    let run = || -> Result<String, GeneratorError> {
        let mut generator = Triggered::open(family, &declared("scpi", more), Dialogue::new(NAME, port))?;
        generator.prepare(&SIX)?;
        generator.arm()?;
        generator.captured(5)?;
        if matches!(family.completion, Completion::Stopped) {
            assert!(!generator.complete(Duration::ZERO)?, "the sixth is still to come");
        }
        if matches!(family.completion, Completion::Stopped) {
            assert!(!generator.complete(Duration::ZERO)?, "its last pulse is not over");
            // As if the first capture had been heard of when it was.
            generator.first = Instant::now().checked_sub(SIX.duration());
        }
        generator.captured(6)?;
        assert!(generator.complete(PATIENCE)?);
        generator.make_safe()?;
        Ok(generator.identity().to_owned())
    };
    let identity = run()?;
    script.end();
    Ok(identity)
}

#[test]
fn a_keysight_is_spoken_to_as_in_the_transcript() {
    let text = include_str!("../../../../../fixtures/transcripts/keysight-33500.txt");
    let identity = whole_train(&KEYSIGHT_33500, "offset-ns = 2000000\nhigh-mv = 1800", text).expect("it can");
    assert!(identity.contains("33511B"), "{identity}");
}

#[test]
fn a_siglent_is_spoken_to_as_in_the_transcript() {
    let text = include_str!("../../../../../fixtures/transcripts/siglent-sdg.txt");
    whole_train(&SIGLENT_SDG, "offset-ns = 1000", text).expect("it can");
}

#[test]
fn a_rigol_is_spoken_to_as_in_the_transcript_and_what_it_cannot_be_asked_is_said() {
    let text = include_str!("../../../../../fixtures/transcripts/rigol-dg.txt");
    let identity = whole_train(&RIGOL_DG, "", text).expect("it can");
    assert!(identity.contains("front panel"), "{identity}");
}

#[test]
fn a_delay_s_key_is_the_one_that_the_instrument_has() {
    let text = include_str!("../../../../../fixtures/transcripts/siglent-sdg.txt");
    let other: &'static str = text.replace("DLAY", "DLY").leak();
    whole_train(&SIGLENT_SDG, "offset-ns = 1000", other).expect("it can");
    let neither: &'static str = text.replace("DLAY", "DELAY").leak();
    let error = whole_train(&SIGLENT_SDG, "offset-ns = 1000", neither).expect_err("it has none").to_string();
    assert!(error.contains("C1:BTWV?") && error.contains("DELAY"), "{error}");
}

#[test]
fn a_width_that_was_clamped_silently_is_refused_whatever_the_family() {
    let siglent = include_str!("../../../../../fixtures/transcripts/siglent-sdg.txt");
    let rigol = include_str!("../../../../../fixtures/transcripts/rigol-dg.txt");
    let cases: [(&'static Family, &str, String); 2] = [
        (&SIGLENT_SDG, "0.25", siglent.replace("WIDTH,0.25,", "WIDTH,0.1,")),
        (&RIGOL_DG, "0.25", rigol.replace("2.500000E-01", "1.000000E-01")),
    ];
    for (family, wanted, text) in cases {
        let more = if family.name == "Siglent SDG" { "offset-ns = 1000" } else { "" };
        let error = whole_train(family, more, text.leak()).expect_err("it is another width").to_string();
        assert!(error.contains(wanted) && error.contains("1") && error.contains("/dev/pts/"), "{error}");
        assert!(error.contains("WID"), "{error}");
    }
}

#[test]
fn an_instrument_that_would_start_over_is_stopped_when_its_train_must_be_over() {
    let text = include_str!("../../../../../fixtures/transcripts/rigol-dg.txt");
    let (port, script) = play(text);
    let mut generator =
        Triggered::open(&RIGOL_DG, &declared("scpi", ""), Dialogue::new(NAME, port)).expect("it answers");
    generator.prepare(&SIX).expect("it can");
    generator.arm().expect("it can");
    generator.over = Some(Deadline::after(Duration::ZERO));
    assert!(generator.complete(Duration::ZERO).expect("it is told"));
    generator.make_safe().expect("it answers");
    drop(generator);
    script.end();
}
