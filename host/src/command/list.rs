//! `ppsrig list`: the probes, serial ports and USBTMC instruments of this machine, as a bench file takes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::say;
use crate::rig::holder::{self, Process};
use crate::rig::port::adapter::{self, Adapter, Roots, Usb};
use crate::rig::probe::{self, ListedProbe, Task};
use crate::rig::watch::Watch;

/// Lists probes, serial ports and USBTMC instruments, as a bench file takes them
///
/// What is printed in the first column can be pasted into `probe`, `link` or `port` of a bench file. Below a port stands
/// what there is to know of it: its adapter, who has it open, and what would disturb a measurement.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig list
  ppsrig list --json | jq -r '.serial_ports[] | .port, .hints[]'

Exit code: 0 also where there is nothing, 2 the probes could not be listed.")]
pub struct Args {
    /// One JSON object in place of the lists
    #[arg(long)]
    json: bool,
}

/// A serial port, or a USBTMC instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ListedPort {
    /// As a bench file takes it.
    port: PathBuf,
    /// Its node.
    device: PathBuf,
    accessible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    usb: Option<Usb>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_timer_ms: Option<u32>,
    /// Who has it open, as far as this user may see.
    held_by: Vec<Holder>,
    /// What to do about it, as sentences.
    hints: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Holder {
    pid: u32,
    name: String,
}

impl From<Process> for Holder {
    fn from(Process { pid, name }: Process) -> Self {
        Self { pid, name }
    }
}

/// Prints what is there.
///
/// # Errors
/// If the probes cannot be listed.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let watch = Watch::new();
    let probes = probe::perform(&Task::List, &watch, &mut |_| {})?.probes;
    let roots = Roots::default();
    let (serial, usbtmc) = (serial_ports(&roots), usbtmc_instruments(&roots));
    say(&if args.json {
        let lists = serde_json::json!({ "probes": probes, "serial_ports": serial, "usbtmc": usbtmc });
        format!("{lists}\n")
    } else {
        let (serial, usbtmc) =
            (port_lines("serial ports", &serial), port_lines("USBTMC instruments", &usbtmc));
        format!("{}\n{serial}\n{usbtmc}", probe_lines(&probes))
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

fn port_lines(title: &str, ports: &[ListedPort]) -> String {
    if ports.is_empty() {
        return format!("{title}: none\n");
    }
    let mut lines = format!("{title}:\n");
    for port in ports {
        let device =
            if port.port == port.device { String::new() } else { format!("  ({})", port.device.display()) };
        lines += &format!("  {}{device}\n", port.port.display());
        for line in about(port) {
            lines += &format!("      {line}\n");
        }
    }
    lines
}

fn about(port: &ListedPort) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(usb) = &port.usb {
        let words = [Some(&usb.id), usb.manufacturer.as_ref(), usb.product.as_ref()];
        let words: Vec<_> = words.into_iter().flatten().map(String::as_str).collect();
        let serial =
            usb.serial.as_ref().map_or(", no serial number".to_owned(), |serial| format!(", {serial}"));
        let latency = port.latency_timer_ms.map(|ms| format!(", latency timer {ms} ms")).unwrap_or_default();
        lines.push(format!("{}{serial}{latency}", words.join(" ")));
    }
    if !port.held_by.is_empty() {
        let holders: Vec<_> =
            port.held_by.iter().map(|holder| format!("{} (pid {})", holder.name, holder.pid)).collect();
        lines.push(format!("in use by {}", holders.join(" and ")));
    }
    if !port.accessible {
        lines.push(format!(
            "permission denied: join the group that owns {} (often dialout)",
            port.device.display()
        ));
    }
    lines.extend(port.hints.iter().cloned());
    lines
}

/// Ports by their lasting name under `serial/by-id` where they have one: `ttyUSB0` is another one after a reboot.
fn serial_ports(roots: &Roots) -> Vec<ListedPort> {
    let mut names: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(&roots.dev).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_str().is_some_and(|name| is_port(name, roots)) {
            names.insert(path.clone(), path);
        }
    }
    for entry in std::fs::read_dir(roots.dev.join("serial/by-id")).into_iter().flatten().flatten() {
        if let Ok(device) = entry.path().canonicalize() {
            names.insert(device, entry.path());
        }
    }
    let listed = names.into_iter().map(|(device, port)| {
        let adapter = Adapter::of_tty(&device, roots);
        let mut hints: Vec<String> = adapter.latency_finding().into_iter().collect();
        hints.extend(adapter::modem_manager_hint(&device));
        hints.extend(nameless(&adapter, &device, port == device));
        listed(port, device, adapter, hints)
    });
    listed.collect()
}

/// That an adapter has no name that lasts, and how to give it one.
fn nameless(adapter: &Adapter, device: &Path, only_node: bool) -> Option<String> {
    let usb = adapter.usb.as_ref().filter(|_| only_node)?;
    let (vendor, product) = usb.id.split_once(':')?;
    let by = match &usb.serial {
        Some(serial) => format!("ATTRS{{serial}}==\"{serial}\""),
        None => "KERNELS==\"the USB socket, as in 1-2.3\"".to_owned(),
    };
    Some(format!(
        "{} may be another adapter after it was plugged in again; a name that lasts, by a udev rule: SUBSYSTEM==\"tty\", \
         ATTRS{{idVendor}}==\"{vendor}\", ATTRS{{idProduct}}==\"{product}\", {by}, SYMLINK+=\"bench-link\"",
        device.display()
    ))
}

fn usbtmc_instruments(roots: &Roots) -> Vec<ListedPort> {
    let class = std::fs::read_dir(roots.sys.join("class/usbmisc")).into_iter().flatten().flatten();
    let names = class.filter_map(|entry| entry.file_name().into_string().ok());
    let mut devices: Vec<_> =
        names.filter(|name| name.starts_with("usbtmc")).map(|name| roots.dev.join(name)).collect();
    devices.sort();
    let listed = devices.into_iter().map(|device| {
        let adapter = Adapter::of_usbtmc(&device, roots);
        let id = adapter.usb.as_ref().and_then(|usb| usb.id.split_once(':'));
        let (vendor, product) = id.unwrap_or(("VID", "PID"));
        let rule = format!(
            "for access without root, a udev rule: SUBSYSTEM==\"usbmisc\", ATTRS{{idVendor}}==\"{vendor}\", \
             ATTRS{{idProduct}}==\"{product}\", GROUP=\"dialout\", MODE=\"0660\""
        );
        let hints = if is_accessible(&device) { Vec::new() } else { vec![rule] };
        listed(device.clone(), device, adapter, hints)
    });
    listed.collect()
}

fn listed(port: PathBuf, device: PathBuf, adapter: Adapter, hints: Vec<String>) -> ListedPort {
    ListedPort {
        accessible: is_accessible(&device),
        held_by: holder::holders(&device).into_iter().map(Holder::from).collect(),
        usb: adapter.usb,
        latency_timer_ms: adapter.latency_ms,
        port,
        device,
        hints,
    }
}

/// USB, ACM and SoC serial ports; of the legacy ttyS only those with hardware behind them.
fn is_port(name: &str, roots: &Roots) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    if numbered("ttyS") {
        let kind = roots.sys.join("class/tty").join(name).join("type");
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
    use crate::rig::port::adapter::tests::FakeMachine;

    #[test]
    fn a_port_is_listed_once_under_its_lasting_name() {
        let machine = FakeMachine::new();
        for name in ["dev/tty1", "dev/ttyUSBx", "dev/null", "dev/ttyS0", "dev/ttyS1"] {
            machine.write(name, "");
        }
        machine.write("sys/class/tty/ttyS0/type", "0\n");
        machine.write("sys/class/tty/ttyS1/type", "4\n");
        let dev = &machine.roots.dev;
        let ports: Vec<_> =
            serial_ports(&machine.roots).into_iter().map(|port| (port.port, port.device)).collect();
        assert_eq!(
            ports,
            [
                (dev.join("ttyACM3"), dev.join("ttyACM3")),
                (dev.join("ttyS1"), dev.join("ttyS1")),
                (machine.by_id(), dev.join("ttyUSB0"))
            ]
        );
    }

    #[test]
    fn adapters_are_shown_with_what_there_is_to_do() {
        let machine = FakeMachine::new();
        let ports = serial_ports(&machine.roots);
        let text = port_lines("serial ports", &ports);
        assert!(text.contains("0403:6001 FTDI FT232R, A1, latency timer 16 ms"), "{text}");
        assert!(text.contains("the adapter's latency timer is 16 ms"), "{text}");
        assert!(text.contains("2341:0042 Arduino Mega 2560, no serial number\n"), "{text}");
        assert!(text.contains("SYMLINK+="), "the ttyACM has no lasting name: {text}");
        let json = serde_json::to_value(&ports).expect("it is plain");
        assert_eq!(json[1]["usb"]["serial"], "A1");
        assert_eq!(json[1]["latency_timer_ms"], 16);
        assert_eq!((&json[0]["accessible"], &json[0]["held_by"]), (&true.into(), &serde_json::json!([])));
    }

    #[test]
    fn usbtmc_instruments_are_listed_and_there_may_be_none() {
        let machine = FakeMachine::new();
        machine.write("sys/class/usbmisc/hiddev0/dev", "");
        let text = port_lines("USBTMC instruments", &usbtmc_instruments(&machine.roots));
        assert!(text.contains("usbtmc0\n      0957:2c07 Agilent 33522B, MY1\n"), "{text}");
        assert!(!text.contains("hiddev"), "{text}");
        let nowhere = Roots { dev: "/nowhere".into(), sys: "/nowhere".into() };
        assert_eq!(
            port_lines("USBTMC instruments", &usbtmc_instruments(&nowhere)),
            "USBTMC instruments: none\n"
        );
    }

    #[test]
    fn who_has_a_port_open_is_shown() {
        let mut port = listed(
            "/dev/a".into(),
            "/dev/a".into(),
            Adapter::of_tty(Path::new("/dev/a"), &Roots::default()),
            Vec::new(),
        );
        port.held_by = vec![Holder { pid: 12, name: "minicom".to_owned() }];
        assert!(port_lines("serial ports", &[port]).contains("in use by minicom (pid 12)"));
    }
}
