//! What a lease says of its holder, and whether a process of this host is still there.

use std::fmt;

use jiff::Timestamp;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A command line is shown up to here.
const SHOWN: usize = 120;

/// Who uses a bench: the content of a lease file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Holder {
    /// What the bench is, as [`super::BenchKey`] has it.
    pub bench: String,
    /// Whose process it is.
    pub user: String,
    /// Where it runs.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Its command line.
    pub command: Vec<String>,
    /// What it does with the bench.
    pub purpose: String,
    /// When it took the bench.
    pub since: Timestamp,
    /// When the bench is free, unless that is put off before.
    pub expires: Timestamp,
    /// Seconds for which each renewal holds.
    pub lease_s: u64,
    /// Drawn for each lease: tells the holder's own file from another one.
    pub token: String,
    /// The process, for those who can look whether it is still there.
    pub process: ProcessMark,
}

/// What tells a process from all others that ever had its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessMark {
    /// The running kernel's id; a reboot makes another. Empty: unknown.
    pub boot_id: String,
    /// The namespace in which its id counts: containers have their own.
    pub pid_namespace: String,
    /// When it started, in the kernel's ticks since boot.
    pub started_ticks: u64,
}

impl ProcessMark {
    fn of_self() -> Self {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self {
            boot_id: boot_id.trim().to_owned(),
            pid_namespace: namespace.to_string_lossy().into_owned(),
            started_ticks: status(std::process::id()).map_or(0, |(_, started)| started),
        }
    }
}

impl Holder {
    /// This process, from now on.
    pub(super) fn of_self(bench: String, purpose: &str, now: Timestamp, lease_s: u64) -> Self {
        let (user, host) = user_and_host();
        Self {
            bench,
            user,
            host,
            pid: std::process::id(),
            command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            purpose: purpose.to_owned(),
            since: now,
            expires: now,
            lease_s,
            token: token(),
            process: ProcessMark::of_self(),
        }
    }

    /// Whether its process has surely ended. Only a process of the same kernel and namespace can be looked for; of all others
    /// only the time tells.
    pub(super) fn has_ended(&self) -> bool {
        let own = ProcessMark::of_self();
        let mark = &self.process;
        if mark.boot_id.is_empty()
            || (&mark.boot_id, &mark.pid_namespace) != (&own.boot_id, &own.pid_namespace)
        {
            return false;
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return true };
        // Where /proc does not show processes of others, the signal that is none still tells.
        if test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            return true;
        }
        status(self.pid).is_some_and(|(state, started)| {
            matches!(state, 'Z' | 'X') || (mark.started_ticks != 0 && started != mark.started_ticks)
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command: String = self.command.join(" ").chars().take(SHOWN).collect();
        let at = |time: &Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        write!(
            f,
            "{} on {} (pid {}) since {} for {}: `{}`",
            visible(&self.user),
            visible(&self.host),
            self.pid,
            at(&self.since),
            visible(&self.purpose),
            visible(&command)
        )
    }
}

/// The file may hold anything: what a terminal would obey is shown escaped.
pub(in crate::rig) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// Who runs this, and where.
pub(super) fn user_and_host() -> (String, String) {
    let named =
        ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|n| !n.is_empty()));
    // A service has neither.
    let uid = rustix::process::geteuid().as_raw();
    let passwd = || user_of(&std::fs::read_to_string("/etc/passwd").unwrap_or_default(), uid);
    let user = named.or_else(passwd).unwrap_or_else(|| format!("uid {uid}"));
    (user, host_name())
}

/// A user's name by `/etc/passwd`: `root:x:0:0:...`.
fn user_of(passwd: &str, uid: u32) -> Option<String> {
    let mut lines = passwd.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// This host's name.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn token() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Keyed by the system's random numbers.
    let draw = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", draw(), draw() ^ u64::from(std::process::id()))
}

/// State and start of a process, from `/proc/PID/stat`: `12 (a name) S ...`, with the start in field 22.
fn status(pid: u32) -> Option<(char, u64)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // A name may have spaces and parentheses in it.
    let mut fields = text.rsplit_once(") ")?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder() -> Holder {
        Holder::of_self("a bench".to_owned(), "run", Timestamp::UNIX_EPOCH, 60)
    }

    #[test]
    fn a_process_that_ended_is_known_to_have_ended() {
        let mut child = std::process::Command::new("true").spawn().expect("true starts");
        let mut gone = Holder { pid: child.id(), ..holder() };
        gone.process.started_ticks = 0;
        child.wait().expect("it ends");
        assert!(gone.has_ended());
        assert!(!holder().has_ended(), "this one runs");
    }

    #[test]
    fn a_user_is_found_by_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nrubbish\nlab:x:1000:1000::/home/lab:/bin/sh\n";
        assert_eq!(user_of(passwd, 1000).as_deref(), Some("lab"));
        assert_eq!(user_of(passwd, 1), None);
    }

    #[test]
    fn a_process_that_only_has_the_same_id_is_another_one() {
        let mut other = holder();
        other.process.started_ticks -= 1;
        assert!(other.has_ended());
    }

    #[test]
    fn nothing_is_known_of_processes_of_other_hosts_and_containers() {
        let ended = Holder { pid: u32::MAX, ..holder() };
        assert!(ended.has_ended());
        let mut elsewhere = ended.clone();
        elsewhere.process.boot_id = "another boot".to_owned();
        let mut inside = ended;
        inside.process.pid_namespace = "pid:[1]".to_owned();
        assert!(!elsewhere.has_ended() && !inside.has_ended());
    }

    #[test]
    fn what_a_file_says_of_its_holder_cannot_steer_a_terminal() {
        let shown = Holder { user: "\x1b[2Jeve\n".to_owned(), ..holder() }.to_string();
        assert!(shown.starts_with("\\u{1b}[2Jeve\\n on "), "{shown}");
    }
}
