use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// An instrument that answers queries in turn, and nothing more after one that it did not answer in time, until its
/// device is opened again.
#[derive(Default)]
struct Stubborn {
    answers: Mutex<VecDeque<&'static str>>,
    hung: Mutex<bool>,
    asked_without_cause: AtomicU32,
}

impl Device for Stubborn {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut hung = self.hung.lock().expect("nobody panicked");
        let answer = self.answers.lock().expect("nobody panicked").pop_front();
        match answer {
            Some(answer) if !*hung && answer != LATE => {
                buffer[..answer.len()].copy_from_slice(answer.as_bytes());
                Ok(answer.len())
            }
            _ => {
                if answer.is_none() {
                    self.asked_without_cause.fetch_add(1, Ordering::Relaxed);
                }
                *hung = true;
                Err(ErrorKind::TimedOut.into())
            }
        }
    }

    fn write(&self, message: &[u8]) -> io::Result<usize> {
        if *self.hung.lock().expect("nobody panicked") {
            return Err(ErrorKind::TimedOut.into());
        }
        let answer = match message {
            b"*IDN?\n" => Some("Maker,1\n"),
            b"*OPC?\n" => Some(LATE),
            b"OUTP?\n" => Some("0\n"),
            _ => None,
        };
        self.answers.lock().expect("nobody panicked").extend(answer);
        Ok(message.len())
    }
}

const LATE: &str = "late";

/// The port of such an instrument, and how often its device was opened again.
fn port_of(instrument: &Arc<Stubborn>) -> (Opened, Arc<AtomicU32>) {
    let reopened = Arc::new(AtomicU32::new(0));
    let (device, count) = (Arc::clone(instrument), Arc::clone(&reopened));
    let reopen = move || -> io::Result<Arc<dyn Device>> {
        // As a lock that a message under way still holds.
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        *device.hung.lock().expect("nobody panicked") = false;
        device.answers.lock().expect("nobody panicked").clear();
        Ok(Arc::clone(&device) as Arc<dyn Device>)
    };
    (opened(Arc::clone(instrument) as Arc<dyn Device>, Box::new(reopen)), reopened)
}

fn answer(input: &mut dyn Read) -> Result<String, ErrorKind> {
    let mut buffer = [0; 64];
    let count = input.read(&mut buffer).map_err(|error| error.kind())?;
    Ok(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

#[test]
fn an_instrument_is_asked_only_for_answers_that_it_owes() {
    let instrument = Arc::new(Stubborn::default());
    let (Opened { mut input, mut output }, reopened) = port_of(&instrument);
    assert_eq!(answer(&mut *input), Err(ErrorKind::TimedOut), "nothing was asked");
    output.write_all(b"OUTP OFF\n").expect("it takes it");
    assert_eq!(answer(&mut *input), Err(ErrorKind::TimedOut), "a command has no answer");
    output.write_all(b"*IDN?\n").expect("it takes it");
    output.write_all(b"OUTP?\n").expect("it takes it");
    assert_eq!(answer(&mut *input).as_deref(), Ok("Maker,1\n"));
    assert_eq!(answer(&mut *input).as_deref(), Ok("0\n"));
    assert_eq!(instrument.asked_without_cause.load(Ordering::Relaxed), 0);
    assert_eq!(reopened.load(Ordering::Relaxed), 0);
}

#[test]
fn an_answer_that_does_not_come_costs_this_answer_and_no_other() {
    let instrument = Arc::new(Stubborn::default());
    let (Opened { mut input, mut output }, reopened) = port_of(&instrument);
    output.write_all(b"*OPC?\n").expect("it takes it");
    assert_eq!(answer(&mut *input), Err(ErrorKind::TimedOut));
    assert_eq!(reopened.load(Ordering::Relaxed), 2, "once it was locked still");
    output.write_all(b"*IDN?\n").expect("it takes it");
    assert_eq!(answer(&mut *input).as_deref(), Ok("Maker,1\n"));
    assert_eq!(instrument.asked_without_cause.load(Ordering::Relaxed), 0);
}

#[test]
fn a_message_that_is_not_taken_is_an_error_and_the_next_one_is_taken() {
    let instrument = Arc::new(Stubborn::default());
    let (Opened { mut input, mut output }, _) = port_of(&instrument);
    *instrument.hung.lock().expect("nobody panicked") = true;
    let error = output.write_all(b"*IDN?\n").expect_err("it is hung");
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    output.write_all(b"*IDN?\n").expect("it takes it");
    assert_eq!(answer(&mut *input).as_deref(), Ok("Maker,1\n"));
    assert_eq!(instrument.asked_without_cause.load(Ordering::Relaxed), 0);
}

#[test]
fn a_long_answer_is_read_to_its_end() {
    struct Long(Mutex<Vec<u8>>);
    impl Device for Long {
        fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
            let mut left = self.0.lock().expect("nobody panicked");
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            left.drain(..count);
            Ok(count)
        }
        fn write(&self, message: &[u8]) -> io::Result<usize> {
            Ok(message.len())
        }
    }
    let device: Arc<dyn Device> = Arc::new(Long(Mutex::new(b"0123456789".to_vec())));
    let Opened { mut input, mut output } = opened(device, Box::new(|| Err(ErrorKind::NotFound.into())));
    output.write_all(b"DATA?\n").expect("it takes it");
    let mut all: Vec<u8> = Vec::new();
    let mut buffer = [0; 4];
    while let Ok(count) = input.read(&mut buffer) {
        all.extend(&buffer[..count]);
    }
    assert_eq!(all, b"0123456789");
}
