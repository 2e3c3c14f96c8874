//! Who holds a device or a lock, as far as /proc tells: a port that is busy is only half an error without its holder.

use std::fs;
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

/// The other processes that have `path` open. Those of other users are invisible without root.
#[must_use]
pub fn holders(path: &Path) -> Vec<Process> {
    let (Ok(path), Ok(processes)) = (path.canonicalize(), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let own = std::process::id();
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| pid != own && has_open(pid, &path))
        .filter_map(Process::of_pid)
        .collect()
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
}
