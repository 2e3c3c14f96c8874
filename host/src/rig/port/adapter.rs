//! What is behind a port, as /dev and sysfs tell it: the USB adapter with its lasting name, and its latency timer.
//!
//! An FTDI adapter keeps what it received for up to its latency timer, 16 ms unless somebody set it, before it sends it
//! to the host. That is how late an arrival can be, and how long each answer of an instrument takes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::bench_file::Port as Place;
use crate::rig::holder;

/// A latency timer above this is worth a word. FTDI's own is 16 ms.
const LATENCY_MS: u32 = 2;

/// Where /dev and /sys are: tests have their own.
#[derive(Clone, Debug)]
pub struct Roots {
    /// `/dev`
    pub dev: PathBuf,
    /// `/sys`
    pub sys: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { dev: "/dev".into(), sys: "/sys".into() }
    }
}

/// The USB device behind a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usb {
    /// `0403:6001`
    pub id: String,
    /// Who made it, as it says itself.
    pub manufacturer: Option<String>,
    /// What it is, as it says itself.
    pub product: Option<String>,
    /// Its serial number, as it says itself. Some adapters have none, and cannot be told from each other.
    pub serial: Option<String>,
}

/// A port's device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// The USB device, if it is one.
    pub usb: Option<Usb>,
    /// Milliseconds for which the adapter keeps what it received, where it has such a timer.
    pub latency_ms: Option<u32>,
    /// Where the timer is set.
    pub latency_file: Option<PathBuf>,
}

impl Adapter {
    /// The adapter of a serial port, `device` being its node in /dev or a link to that.
    #[must_use]
    pub fn of_tty(device: &Path, roots: &Roots) -> Self {
        Self::of(device, &roots.sys.join("class/tty"))
    }

    /// The USB device behind a USBTMC device.
    #[must_use]
    pub fn of_usbtmc(device: &Path, roots: &Roots) -> Self {
        Self::of(device, &roots.sys.join("class/usbmisc"))
    }

    fn of(device: &Path, class: &Path) -> Self {
        let node = device.canonicalize().unwrap_or_else(|_| device.to_owned());
        let device = node.file_name().map(|name| class.join(name).join("device"));
        let device = device.and_then(|device| device.canonicalize().ok());
        let latency_file = device.as_ref().map(|device| device.join("latency_timer"));
        let latency_ms = latency_file.as_deref().and_then(text).and_then(|text| text.parse().ok());
        Self {
            usb: device.as_deref().and_then(usb_of),
            latency_ms,
            latency_file: latency_file.filter(|_| latency_ms.is_some()),
        }
    }

    /// What the latency timer does to measurements, and what to do about it; none if it is short, or there is none.
    #[must_use]
    pub fn latency_finding(&self) -> Option<String> {
        let ms = self.latency_ms.filter(|&ms| ms > LATENCY_MS)?;
        let file = self.latency_file.as_ref()?;
        Some(format!(
            "the adapter's latency timer is {ms} ms: each arrival may be so late; `echo 1 | sudo tee {}`, or for good the \
             udev rule ACTION==\"add\", SUBSYSTEM==\"usb-serial\", DRIVER==\"ftdi_sio\", ATTR{{latency_timer}}=\"1\"",
            file.display()
        ))
    }
}

/// The USB device above a device of sysfs: the next folder upwards that has a vendor's id.
fn usb_of(device: &Path) -> Option<Usb> {
    let folder = device.ancestors().find(|folder| folder.join("idVendor").is_file())?;
    let read = |name: &str| text(&folder.join(name)).filter(|text| !text.is_empty());
    Some(Usb {
        id: format!("{}:{}", read("idVendor")?, read("idProduct")?),
        manufacturer: read("manufacturer"),
        product: read("product"),
        serial: read("serial"),
    })
}

fn text(file: &Path) -> Option<String> {
    fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// What ModemManager does to a port, if it runs and the port is of a kind that it tries: it speaks to a new ttyACM for
/// some ten seconds.
#[must_use]
pub fn modem_manager_hint(device: &Path) -> Option<String> {
    let node = device.canonicalize().unwrap_or_else(|_| device.to_owned());
    let acm = node.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ttyACM"));
    let process = acm.then(|| holder::running("ModemManager")).flatten()?;
    Some(format!(
        "{process} runs and may send AT commands to this port whenever it is plugged in; keep it off by the udev rule \
         ATTRS{{idVendor}}==\"VID\", ATTRS{{idProduct}}==\"PID\", ENV{{ID_MM_DEVICE_IGNORE}}=\"1\""
    ))
}

/// What can be said of a port of a bench without opening it: each finding is a sentence with what to do.
#[must_use]
pub fn findings(address: &str, roots: &Roots) -> Vec<String> {
    let Ok(place) = Place::parse(address) else { return Vec::new() };
    let mut found: Vec<String> = place.replug_hint().into_iter().collect();
    if let Place::Tty(path) = &place {
        found.extend(Adapter::of_tty(path, roots).latency_finding());
        found.extend(modem_manager_hint(path));
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A /dev and a /sys with an FTDI adapter as ttyUSB0, a board as ttyACM3 and an oscilloscope as usbtmc0.
    pub(crate) struct FakeMachine {
        folder: tempfile::TempDir,
        pub(crate) roots: Roots,
    }

    impl FakeMachine {
        pub(crate) fn new() -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let root = folder.path().canonicalize().expect("it is there");
            let roots = Roots { dev: root.join("dev"), sys: root.join("sys") };
            let machine = Self { folder, roots };
            machine.add(
                "usb1/1-1",
                "1-1:1.0/ttyUSB0",
                ("tty", "ttyUSB0"),
                ["0403", "6001", "FTDI", "FT232R", "A1"],
            );
            machine.write("sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer", "16\n");
            machine.add(
                "usb1/1-2",
                "1-2:1.0",
                ("tty", "ttyACM3"),
                ["2341", "0042", "Arduino", "Mega 2560", ""],
            );
            machine.add(
                "usb1/1-3",
                "1-3:1.0",
                ("usbmisc", "usbtmc0"),
                ["0957", "2c07", "Agilent", "33522B", "MY1"],
            );
            fs::create_dir_all(machine.roots.dev.join("serial/by-id")).expect("it fits");
            symlink("../../ttyUSB0", machine.by_id()).expect("it fits");
            machine
        }

        pub(crate) fn by_id(&self) -> PathBuf {
            self.roots.dev.join("serial/by-id/usb-FTDI_FT232R_A1-if00-port0")
        }

        pub(crate) fn write(&self, path: &str, content: &str) {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it fits");
            fs::write(path, content).expect("it fits");
        }

        fn add(&self, usb: &str, inside: &str, (class, name): (&str, &str), about: [&str; 5]) {
            let device = format!("sys/devices/{usb}/{inside}");
            self.write(&format!("{device}/uevent"), "");
            let files = ["idVendor", "idProduct", "manufacturer", "product", "serial"];
            for (file, content) in files.iter().zip(about).filter(|(_, content)| !content.is_empty()) {
                self.write(&format!("sys/devices/{usb}/{file}"), &format!("{content}\n"));
            }
            self.write(&format!("sys/class/{class}/{name}/dev"), "");
            let link = self.roots.sys.join(format!("class/{class}/{name}/device"));
            symlink(self.folder.path().join(device), link).expect("it fits");
            self.write(&format!("dev/{name}"), "");
        }
    }

    #[test]
    fn an_adapter_is_known_by_its_node_and_by_its_lasting_name() {
        let machine = FakeMachine::new();
        let by_node = Adapter::of_tty(&machine.roots.dev.join("ttyUSB0"), &machine.roots);
        let usb = Usb {
            id: "0403:6001".to_owned(),
            manufacturer: Some("FTDI".to_owned()),
            product: Some("FT232R".to_owned()),
            serial: Some("A1".to_owned()),
        };
        assert_eq!((by_node.usb.as_ref(), by_node.latency_ms), (Some(&usb), Some(16)));
        assert_eq!(Adapter::of_tty(&machine.by_id(), &machine.roots), by_node);
        let board = Adapter::of_tty(&machine.roots.dev.join("ttyACM3"), &machine.roots);
        assert_eq!((board.latency_ms, board.usb.expect("it is one").serial), (None, None));
        let scope = Adapter::of_usbtmc(&machine.roots.dev.join("usbtmc0"), &machine.roots);
        assert_eq!(scope.usb.expect("it is one").product.as_deref(), Some("33522B"));
        let none = Adapter::of_tty(Path::new("/dev/pts/0"), &machine.roots);
        assert_eq!(none, Adapter { usb: None, latency_ms: None, latency_file: None });
    }

    #[test]
    fn a_long_latency_timer_is_a_finding_with_what_to_do() {
        let machine = FakeMachine::new();
        let address = machine.by_id().display().to_string();
        let found = findings(&address, &machine.roots);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("16 ms") && found[0].contains("ttyUSB0/latency_timer"), "{found:?}");
        machine.write("sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/latency_timer", "1\n");
        assert_eq!(findings(&address, &machine.roots), Vec::<String>::new());
    }

    #[test]
    fn a_name_that_may_change_is_a_finding() {
        let machine = FakeMachine::new();
        assert!(findings("/dev/ttyUSB77", &machine.roots)[0].contains("by-id"));
        assert!(findings("tcp://host:1", &machine.roots).is_empty());
        assert!(findings("nonsense", &machine.roots).is_empty());
    }
}
