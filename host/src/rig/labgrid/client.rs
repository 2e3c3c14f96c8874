//! labgrid's own client, called with arguments and never through a shell: a place's name is data, whatever is in it.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use thiserror::Error;

use crate::bench_file::Labgrid;
use crate::rig::watch::Deadline;

/// How long one call may take. It takes half a second, and longer on a busy host.
const ALLOWED: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);

/// Why labgrid did not do it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ClientError {
    /// there is no such program
    #[error(
        "cannot start `{program}`: {reason}; install labgrid (`pip install labgrid`), or say where it is with `client` in [labgrid]"
    )]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// no answer
    #[error("`{program} {what}` did not end within {} s; is the coordinator reachable?", ALLOWED.as_secs())]
    Late {
        /// The program.
        program: String,
        /// What it was to do.
        what: String,
    },
    /// an answer
    #[error("`{program} {what}`: {said}")]
    Refused {
        /// The program.
        program: String,
        /// What it was to do.
        what: String,
        /// What it said.
        said: String,
    },
}

impl ClientError {
    /// Whether somebody else has it, which waiting may cure.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Refused { said, .. } if said.contains("already acquired"))
    }

    /// Whether there is nothing to release: it is free, another's, or there is no such place any more.
    pub(super) fn is_not_ours(&self) -> bool {
        let words = ["is not acquired", "acquired by a different user", "matches nothing"];
        matches!(self, Self::Refused { said, .. } if words.iter().any(|words| said.contains(words)))
    }
}

/// Has labgrid's client do something with the place, and returns what it prints.
///
/// # Errors
/// [`ClientError`] with what it said.
pub(super) fn call(labgrid: &Labgrid, what: &str) -> Result<String, ClientError> {
    let program = &labgrid.client;
    let failed =
        |reason: std::io::Error| ClientError::Start { program: program.clone(), reason: reason.to_string() };
    let mut child = command(labgrid, what).spawn().map_err(failed)?;
    let stdout = collected(child.stdout.take().expect("it is piped"));
    let stderr = collected(child.stderr.take().expect("it is piped"));
    let deadline = Deadline::after(ALLOWED);
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if deadline.passed() => {
                let _ended_just_now = child.kill();
                let _reaped = child.wait();
                return Err(ClientError::Late { program: program.clone(), what: what.to_owned() });
            }
            None => std::thread::sleep(LOOK),
        }
    };
    let text = |from: &Receiver<String>| from.recv_timeout(deadline.left()).unwrap_or_default();
    let (stdout, stderr) = (text(&stdout), text(&stderr));
    if status.success() {
        return Ok(stdout);
    }
    let said: Vec<_> = stderr
        .lines()
        .chain(stdout.lines())
        .map(|line| crate::rig::lease::holder::visible(line.trim()))
        .collect();
    let said = if said.is_empty() { status.to_string() } else { said.join("; ") };
    Err(ClientError::Refused { program: program.clone(), what: what.to_owned(), said })
}

fn command(labgrid: &Labgrid, what: &str) -> Command {
    let mut command = Command::new(&labgrid.client);
    // In one word with its option, so that no name can be taken for an option of its own.
    command.args(labgrid.coordinator.iter().map(|address| format!("--coordinator={address}")));
    command.arg(format!("--place={}", labgrid.place)).arg(what);
    // An environment file would bring places and states of its own.
    for name in ["LG_ENV", "LG_STATE", "LG_INITIAL_STATE"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn collected(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, collected) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _cut = from.read_to_end(&mut bytes);
        let _nobody_waits = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    collected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labgrid(client: &str, place: &str) -> Labgrid {
        Labgrid { place: place.to_owned(), coordinator: None, client: client.to_owned() }
    }

    #[test]
    fn a_places_name_is_one_argument_whatever_is_in_it() {
        for place in ["-x", "--kick", "a; touch b", "$(id)", "`id`", "a b", "'\"", "*"] {
            let said = call(&labgrid("echo", place), "env").expect("echo does it");
            assert_eq!(said, format!("--place={place} env\n"));
        }
    }

    #[test]
    fn a_client_that_is_not_there_says_how_to_get_it() {
        let error = call(&labgrid("/no/such/labgrid-client", "a"), "env").expect_err("it is not there");
        assert!(error.to_string().contains("pip install labgrid"), "{error}");
    }

    #[test]
    fn a_refusal_is_told_with_its_words() {
        let error = call(&labgrid("ls", "a"), "env").expect_err("ls has no such option");
        assert!(error.to_string().contains("place=a"), "{error}");
        assert!(!error.is_held() && !error.is_not_ours());
    }
}
