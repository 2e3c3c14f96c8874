//! The lock files that serial programs have made since UUCP: `/var/lock/LCK..ttyUSB0` holds the id of the process that
//! uses the port, as ten characters and a newline. minicom makes them, and picocom if it was built so.

use std::path::Path;

use crate::rig::holder::Process;

/// Where they are.
pub(super) const FOLDER: &str = "/var/lock";

/// The process whose lock file says that it uses the port. One that has ended left its file behind, which counts for
/// nothing.
pub(super) fn holder(port: &Path, folder: &Path) -> Option<Process> {
    let device = port.canonicalize().ok()?;
    // Names under a folder of /dev have the folder in the lock's name in some programs and not in others.
    let inside = device.strip_prefix("/dev").ok().map(|inside| inside.to_string_lossy().replace('/', "_"));
    let names = [device.file_name().map(|name| name.to_string_lossy().into_owned()), inside];
    names.into_iter().flatten().find_map(|name| {
        let text = std::fs::read(folder.join(format!("LCK..{name}"))).ok()?;
        let pid = pid(&text).filter(|&pid| pid != std::process::id())?;
        Process::of_pid(pid)
    })
}

fn pid(content: &[u8]) -> Option<u32> {
    if let Ok(binary) = <[u8; 4]>::try_from(content) {
        return Some(u32::from_ne_bytes(binary)).filter(|pid| !binary.is_ascii() || *pid < 1 << 22);
    }
    std::str::from_utf8(content).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_names_its_process_while_that_runs() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let port = place.path().join("ttyX7");
        std::fs::write(&port, "").expect("it fits");
        let lock = place.path().join("LCK..ttyX7");
        assert_eq!(holder(&port, place.path()), None);
        let parent = std::os::unix::process::parent_id();
        std::fs::write(&lock, format!("{parent:10}\n")).expect("it fits");
        let found = holder(&port, place.path()).expect("it runs");
        assert_eq!(found.pid, parent);
        std::fs::write(&lock, "   4294967\n").expect("it fits");
        assert_eq!(holder(&port, place.path()), None, "no such process");
        std::fs::write(&lock, format!("{:10}\n", std::process::id())).expect("it fits");
        assert_eq!(holder(&port, place.path()), None, "it is our own");
        std::fs::write(&lock, "rubbish").expect("it fits");
        assert_eq!(holder(&port, place.path()), None);
    }

    #[test]
    fn both_forms_of_a_lock_are_read() {
        assert_eq!(pid(b"       123 minicom root\n"), Some(123));
        assert_eq!(pid(&123_u32.to_ne_bytes()), Some(123));
        assert_eq!(pid(b""), None);
    }
}
