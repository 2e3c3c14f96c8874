//! Who holds a device or a lock, as far as /proc tells: a port that is busy is only half an error without its holder.
//!
//! Which files a process of another user has open is for root to see. But the kernel's list of locks shows everybody who
//! holds a flock, and on what, and a process's name is public too. So another user's process is named where it locks
//! its port as it should (ppsrig, picocom and everything built on serialport do), or where it leaves a lock file.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A process, as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its command name, as the kernel keeps it.
    pub name: String,
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (pid {})", self.name, self.pid)
    }
}

impl Process {
    /// The process of that id, if it runs and /proc shows it.
    #[must_use]
    pub fn of_pid(pid: u32) -> Option<Self> {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(Self { pid, name: name.trim_end().to_owned() })
    }
}

/// The other processes that have `path` open or locked. Without root, those of other users only if they lock it.
#[must_use]
pub fn holders(path: &Path) -> Vec<Process> {
    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let own = std::process::id();
    let locking = lockers(&path, &fs::read_to_string("/proc/locks").unwrap_or_default());
    let mut pids: Vec<u32> = pids().filter(|&pid| has_open(pid, &path)).chain(locking).collect();
    pids.sort_unstable();
    pids.dedup();
    pids.into_iter().filter(|&pid| pid != own).filter_map(Process::of_pid).collect()
}

/// The process of that name, if one runs.
#[must_use]
pub fn running(name: &str) -> Option<Process> {
    pids().filter_map(Process::of_pid).find(|process| process.name == name)
}

fn pids() -> impl Iterator<Item = u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Who has a flock on the file, by `/proc/locks`: `3: FLOCK  ADVISORY  WRITE 1234 00:1a:57 0 EOF`, with the process's id,
/// then the device in hexadecimal and the inode.
fn lockers(path: &Path, locks: &str) -> Vec<u32> {
    let Ok(file) = fs::metadata(path) else { return Vec::new() };
    let (major, minor) = (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()));
    let place = format!("{major:02x}:{minor:02x}:{}", file.ino());
    let holds = locks.lines().filter_map(|line| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let flock = words.get(1) == Some(&"FLOCK") && words.get(5) == Some(&place.as_str());
        words.get(4).filter(|_| flock)?.parse().ok()
    });
    holds.collect()
}

fn has_open(pid: u32, path: &Path) -> bool {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .is_ok_and(|fds| fds.flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target == path)))
}

/// "ppsrig (pid 12) and vbench (pid 9)", or what to try when nobody is visible.
#[must_use]
pub fn describe(holders: &[Process], path: &Path) -> String {
    if holders.is_empty() {
        return format!("a process that is not visible to this user; try `sudo fuser {}`", path.display());
    }
    holders.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_that_has_a_file_open_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let open = fs::File::open(file.path()).expect("just created");
        let mut child =
            Command::new("sleep").arg("60").stdin(Stdio::from(open)).spawn().expect("sleep starts");
        let deadline = crate::rig::watch::Deadline::after(std::time::Duration::from_secs(20));
        let expected = vec![Process { pid: child.id(), name: "sleep".to_owned() }];
        let mut found = holders(file.path());
        // Until exec has happened the child still bears our own name.
        while found != expected && !deadline.passed() {
            std::thread::yield_now();
            found = holders(file.path());
        }
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert_eq!(found, expected);
    }

    #[test]
    fn who_locks_a_file_is_found_in_the_kernels_list() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let data = file.as_file().metadata().expect("it is there");
        let (major, minor) = (rustix::fs::major(data.dev()), rustix::fs::minor(data.dev()));
        let place = format!("{major:02x}:{minor:02x}:{}", data.ino());
        let locks = format!(
            "1: POSIX  ADVISORY  WRITE 11 {place} 0 EOF\n2: FLOCK  ADVISORY  WRITE 12 {place} 0 EOF\n\
             3: FLOCK  ADVISORY  WRITE 13 {place}9 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 14 {place} 0 EOF\n"
        );
        assert_eq!(lockers(file.path(), &locks), [12]);
        assert_eq!(lockers(file.path(), "rubbish\n\n4: FLOCK"), Vec::<u32>::new());
    }

    #[test]
    fn a_process_is_found_by_its_name() {
        let own = Process::of_pid(std::process::id()).expect("we run");
        assert_eq!(running(&own.name).map(|process| process.name), Some(own.name));
        assert_eq!(running("no such process/"), None);
    }
}
