//! Plays an instrument from a transcript (fixtures/transcripts): every line that the driver says has to be the next one
//! there, and is answered as there.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::bench_file;
use crate::rig::port::Port;
use crate::rig::recorder::Recorder;
use crate::rig::testing::Pty;
use crate::rig::watch::Watch;

const PATIENCE: Duration = Duration::from_secs(20);

/// A generator's section of a bench file.
pub(super) fn declared(driver: &str, more: &str) -> bench_file::Generator {
    let text = format!("driver = \"{driver}\"\nport = \"/dev/null\"\nwidth-ms = 5\n{more}");
    toml::from_str(&text).expect("it is whole")
}

/// A transcript that is being played.
pub(super) struct Script(Receiver<Result<(), String>>);

impl Script {
    /// The port has been closed: everything was said, and nothing more.
    pub(super) fn end(self) {
        let played = self.0.recv_timeout(PATIENCE).expect("the player ended");
        assert_eq!(played, Ok(()));
    }
}

/// Opens a port behind which the transcript is played. An answer comes in two reads.
pub(super) fn play(text: &'static str) -> (Port, Script) {
    let mut pty = Pty::open();
    let port = Port::open(pty.path(), 115_200, Recorder::new(&Watch::new()).no_log()).expect("it is a tty");
    let (told, played) = channel();
    std::thread::spawn(move || {
        // Nobody may listen: a test that expects an error does not look further.
        let _unheard = told.send(perform(&mut pty, text));
        // What else is said is taken, so that the port does not vanish under whoever says it.
        while pty.next().is_some() {}
    });
    (port, Script(played))
}

fn perform(pty: &mut Pty, text: &str) -> Result<(), String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for line in lines {
        if let Some(answer) = line.strip_prefix("< ").or_else(|| line.strip_prefix('<')) {
            let (first, second) = answer.split_at(answer.len() / 2);
            pty.write(first.as_bytes());
            std::thread::sleep(Duration::from_millis(5));
            pty.write(format!("{second}\n").as_bytes());
            continue;
        }
        let wanted = line.strip_prefix('>').unwrap_or(line).trim_start();
        match next_line(pty) {
            Some(said) if said == wanted => {}
            said => return Err(format!("`{wanted}` was due, {said:?} was said")),
        }
    }
    match next_line(pty) {
        None => Ok(()),
        Some(more) => Err(format!("`{more}` was said when all was over")),
    }
}

/// None once the port is closed.
fn next_line(pty: &mut Pty) -> Option<String> {
    let mut line = Vec::new();
    loop {
        match pty.next()? {
            b'\n' => return Some(String::from_utf8_lossy(&line).into_owned()),
            byte => line.push(byte),
        }
    }
}
