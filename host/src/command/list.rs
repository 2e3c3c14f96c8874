//! `ppsrig list`: the probes and serial ports of this machine, as a bench file takes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::say;
use crate::rig::probe::{self, ListedProbe, Task};
use crate::rig::watch::Watch;

/// Lists probes and serial ports, as a bench file takes them
///
/// What is printed in the first column can be pasted into `probe`, `link` or `port` of a bench file.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// One JSON object in place of the lists
    #[arg(long)]
    json: bool,
}

/// A serial port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SerialPort {
    port: PathBuf,
    device: PathBuf,
    accessible: bool,
}

/// Prints what is there.
///
/// # Errors
/// If the probes cannot be listed.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let watch = Watch::new();
    let probes = probe::perform(&Task::List, &watch, &mut |_| {})?.probes;
    let ports = serial_ports(Path::new("/dev"));
    say(&if args.json {
        format!("{}\n", serde_json::json!({ "probes": probes, "serial_ports": ports }))
    } else {
        format!("{}\n{}", probe_lines(&probes), port_lines(&ports))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn probe_lines(probes: &[ListedProbe]) -> String {
    if probes.is_empty() {
        return "probes: none (a probe behind a socket, such as that of the virtual bench, is not listed)\n"
            .to_owned();
    }
    let mut lines = "probes:\n".to_owned();
    for probe in probes {
        let refused = if probe.accessible { "" } else { "  (permission denied: its udev rules are missing)" };
        lines += &format!("  {}  {}{refused}\n", probe.selector, probe.name);
    }
    lines
}

fn port_lines(ports: &[SerialPort]) -> String {
    if ports.is_empty() {
        return "serial ports: none\n".to_owned();
    }
    let mut lines = "serial ports:\n".to_owned();
    for port in ports {
        let refused = if port.accessible { "" } else { "  (permission denied: join the group dialout)" };
        let device =
            if port.port == port.device { String::new() } else { format!("  ({})", port.device.display()) };
        lines += &format!("  {}{device}{refused}\n", port.port.display());
    }
    lines
}

/// Ports by their lasting name under `serial/by-id` where they have one: `ttyUSB0` is another one after a reboot.
fn serial_ports(dev: &Path) -> Vec<SerialPort> {
    let mut names: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(dev).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(|name| is_port(name, &path)) {
            names.insert(path.clone(), path);
        }
    }
    for entry in std::fs::read_dir(dev.join("serial/by-id")).into_iter().flatten().flatten() {
        if let Ok(device) = entry.path().canonicalize() {
            names.insert(device, entry.path());
        }
    }
    names
        .into_iter()
        .map(|(device, port)| SerialPort { accessible: is_accessible(&device), port, device })
        .collect()
}

/// USB, ACM and SoC serial ports; of the legacy ttyS only those with hardware behind them.
fn is_port(name: &str, path: &Path) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if numbered("ttyS") {
        let kind = Path::new("/sys/class/tty").join(path.file_name().unwrap_or_default()).join("type");
        return std::fs::read_to_string(kind).is_ok_and(|kind| kind.trim() != "0");
    }
    ["ttyUSB", "ttyACM", "ttyAMA"].into_iter().any(numbered)
}

fn is_accessible(device: &Path) -> bool {
    use rustix::fs::Access;
    rustix::fs::access(device, Access::READ_OK | Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_listed_once_under_its_lasting_name() {
        let dev = tempfile::tempdir().expect("a temporary folder");
        let dev = dev.path().canonicalize().expect("it is there");
        for name in ["ttyUSB0", "ttyACM3", "tty1", "ttyUSBx", "null"] {
            std::fs::write(dev.join(name), "").expect("it fits");
        }
        std::fs::create_dir_all(dev.join("serial/by-id")).expect("it fits");
        let by_id = dev.join("serial/by-id/usb-Maker_Adapter_1234-if00");
        std::os::unix::fs::symlink("../../ttyUSB0", &by_id).expect("it fits");
        let ports: Vec<_> = serial_ports(&dev).into_iter().map(|port| (port.port, port.device)).collect();
        assert_eq!(ports, [(dev.join("ttyACM3"), dev.join("ttyACM3")), (by_id, dev.join("ttyUSB0"))]);
    }
}
