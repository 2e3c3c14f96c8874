//! The guard of a bring-up command (`ppsrig guard -- COMMAND ARGS`): sees to it that the command and everything that it
//! started ends when ppsrig ends, in whatever way. ppsrig holds the guard's stdin; when that closes, the command's
//! process group gets SIGTERM, and SIGKILL two seconds later.
//!
//! The guard itself stands in a process group of its own, so that Ctrl-C in a terminal reaches ppsrig alone.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::stderr::tell;

/// What the command's group is given between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(2);

enum Event {
    Close,
    Ended(Option<i32>),
}

/// Nobody is there any more, or nobody wants it any more.
impl From<()> for Event {
    fn from((): ()) -> Self {
        Self::Close
    }
}

/// Runs `command` until it ends or stdin closes, then removes the folder `scratch`.
#[must_use]
pub fn run(command: &[OsString], scratch: Option<&Path>) -> ExitCode {
    let code = match start(command) {
        Ok(child) => watch(child),
        Err(error) => {
            tell(&format!("cannot start {}: {error}", PathBuf::from(&command[0]).display()));
            127
        }
    };
    if let Some(scratch) = scratch {
        let _absent = std::fs::remove_dir_all(scratch);
    }
    ExitCode::from(code)
}

fn start(command: &[OsString]) -> std::io::Result<Child> {
    // Its stdin is a pipe that closes with the guard: one more way to notice that nobody is there any more.
    Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).process_group(0).spawn()
}

fn watch(mut child: Child) -> u8 {
    let _held_open = child.stdin.take();
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id is positive");
    let (sender, events) = channel();
    close_on_end_of_stdin(sender.clone());
    close_on_signal(sender.clone());
    std::thread::spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        let _nobody_waits = sender.send(Event::Ended(code));
    });
    let code = wait_for_end(&events, group);
    // Whatever the command left behind in its group.
    let _none_left = kill_process_group(group, Signal::KILL);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn wait_for_end(events: &Receiver<Event>, group: Pid) -> Option<i32> {
    if let Ok(Event::Ended(code)) = events.recv() {
        return code;
    }
    let _ended_already = kill_process_group(group, Signal::TERM);
    let deadline = crate::rig::watch::Deadline::after(GRACE);
    loop {
        match events.recv_timeout(deadline.left()) {
            Ok(Event::Ended(code)) => return code,
            Ok(Event::Close) => {}
            Err(_timeout) => return None,
        }
    }
}

/// Sends when stdin has closed.
pub(super) fn close_on_end_of_stdin<T: From<()> + Send + 'static>(to: Sender<T>) {
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(std::io::stdin().lock().read(&mut byte), Ok(1..)) {}
        let _ended = to.send(().into());
    });
}

/// Sends at each SIGTERM, SIGINT and SIGHUP.
pub(super) fn close_on_signal<T: From<()> + Send + 'static>(to: Sender<T>) {
    let signals = [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP];
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        std::thread::spawn(move || {
            for _signal in signals.forever() {
                let _ended = to.send(().into());
            }
        });
    }
}
