//! A port of the bench as a bench file writes it: where it is, and how its line is set.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What begins a port that is a USBTMC device.
const USBTMC: &str = "usbtmc:";
/// Where the kernel puts USBTMC devices.
const USBTMC_DEVICES: &str = "/dev/usbtmc";
const FORMS: &str = "a tty, tcp://host:port, rfc2217://host:port or usbtmc:/dev/usbtmc0";

/// Where a port of the bench is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// A tty.
    Tty(PathBuf),
    /// A TCP server that passes bytes through.
    Tcp {
        /// Host name or address, without brackets.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A serial port behind a TCP server that also sets its line (RFC 2217, telnet's COM-PORT-OPTION).
    Rfc2217 {
        /// Host name or address, without brackets.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// The character device of a USB test and measurement instrument.
    Usbtmc(PathBuf),
}

impl Port {
    /// Reads the path of a tty, `tcp://host:port`, `rfc2217://host:port`, or the path of a USBTMC device, which begins with
    /// `/dev/usbtmc` or has `usbtmc:` before it.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((scheme, address)) = text.split_once("://") {
            let malformed = || format!("`{text}` is not of the form {scheme}://host:port");
            return match scheme {
                "tcp" => host_and_port(address).map(|(host, port)| Self::Tcp { host, port }),
                "rfc2217" => host_and_port(address).map(|(host, port)| Self::Rfc2217 { host, port }),
                _ => return Err(format!("`{text}`: a port is {FORMS}, not {scheme}://")),
            }
            .ok_or_else(malformed);
        }
        let usbtmc = text.strip_prefix(USBTMC);
        let path = usbtmc.unwrap_or(text);
        if !path.contains('/') {
            return Err(format!("`{text}` is no path of a device; did you mean `/dev/{path}`?"));
        }
        if path.ends_with('/') || path.contains('\0') {
            return Err(format!("`{text}` is no path of a device"));
        }
        let is_usbtmc = usbtmc.is_some() || path.starts_with(USBTMC_DEVICES);
        Ok(if is_usbtmc { Self::Usbtmc(path.into()) } else { Self::Tty(path.into()) })
    }

    /// Whether the port has a serial line that can be set from here, with baud rate, parity and modem lines.
    #[must_use]
    pub const fn has_line(&self) -> bool {
        matches!(self, Self::Tty(_) | Self::Rfc2217 { .. })
    }

    /// Why this name may stand for another device after the adapter was plugged in again, if it may.
    #[must_use]
    pub fn replug_hint(&self) -> Option<String> {
        let Self::Tty(path) = self else { return None };
        let name = path.strip_prefix("/dev").ok()?.to_str()?;
        is_usb_serial(name).then(|| {
            format!(
                "/dev/{name} may be another adapter after it was plugged in again; its name in /dev/serial/by-id stays \
                 (`ppsrig list` shows it)"
            )
        })
    }
}

/// `ttyUSB0` or `ttyACM3`: names that the kernel gives by turns.
fn is_usb_serial(name: &str) -> bool {
    ["ttyUSB", "ttyACM"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = |f: &mut fmt::Formatter<'_>, scheme, host: &str, port| match host.contains(':') {
            true => write!(f, "{scheme}://[{host}]:{port}"),
            false => write!(f, "{scheme}://{host}:{port}"),
        };
        match self {
            Self::Tty(path) => path.display().fmt(f),
            Self::Tcp { host, port } => server(f, "tcp", host, port),
            Self::Rfc2217 { host, port } => server(f, "rfc2217", host, port),
            Self::Usbtmc(path) if path.starts_with("/dev") && is_usbtmc_name(path) => path.display().fmt(f),
            Self::Usbtmc(path) => write!(f, "{USBTMC}{}", path.display()),
        }
    }
}

fn is_usbtmc_name(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with(USBTMC_DEVICES))
}

fn host_and_port(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|&port: &u16| digits && port != 0)?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').filter(|host| host.contains(':'))?,
        // Without brackets, which colon parts the port would be a guess.
        None => Some(host).filter(|host| !host.contains(':'))?,
    };
    let good = !host.is_empty() && !host.contains(['/', '[', ']', '@', ' ', '\0']);
    good.then(|| (host.to_owned(), port))
}

/// Data bits, parity and stop bits of a serial line, written `8n1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line {
    /// 5 to 8.
    pub data_bits: u8,
    /// The parity bit.
    pub parity: Parity,
    /// 1 or 2.
    pub stop_bits: u8,
}

/// The parity bit of a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// There is none.
    None,
    /// It makes the number of ones odd.
    Odd,
    /// It makes the number of ones even.
    Even,
}

impl Default for Line {
    fn default() -> Self {
        Self { data_bits: 8, parity: Parity::None, stop_bits: 1 }
    }
}

impl std::str::FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match *text.as_bytes() {
            [bits @ b'5'..=b'8', parity, stop @ (b'1' | b'2')] => match parity.to_ascii_lowercase() {
                b'n' => Some(Parity::None),
                b'o' => Some(Parity::Odd),
                b'e' => Some(Parity::Even),
                _ => None,
            }
            .map(|parity| Self { data_bits: bits - b'0', parity, stop_bits: stop - b'0' }),
            _ => None,
        };
        parsed.ok_or_else(|| {
            format!(
                "`{text}` is no line setting; write data bits 5 to 8, parity n, o or e, stop bits 1 or 2, as in `7o1`"
            )
        })
    }
}

impl TryFrom<String> for Line {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parity = match self.parity {
            Parity::None => 'n',
            Parity::Odd => 'o',
            Parity::Even => 'e',
        };
        write!(f, "{}{parity}{}", self.data_bits, self.stop_bits)
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.to_string()
    }
}

/// What becomes of the modem line DTR when a port is opened. Many boards and counters reset at its rising edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dtr {
    /// As the system has it: raised by the first open, and left up at every close.
    #[default]
    Keep,
    /// Raised.
    On,
    /// Lowered. Linux raises it for a moment all the same.
    Off,
}

/// A port with everything that opening it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSettings {
    /// As the bench file writes it.
    pub address: String,
    /// Where the port has one.
    pub baud: u32,
    /// Where the port has one.
    pub line: Line,
    /// Where the port has one.
    pub dtr: Dtr,
}

impl PortSettings {
    /// A port at this baud rate, with 8n1 and DTR as it is.
    #[must_use]
    pub fn plain(address: &str, baud: u32) -> Self {
        Self { address: address.to_owned(), baud, line: Line::default(), dtr: Dtr::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_have_four_forms() {
        assert_eq!(Port::parse("/dev/ttyUSB0"), Ok(Port::Tty("/dev/ttyUSB0".into())));
        for (text, host, port) in [
            ("tcp://bench-3.lab:4001", "bench-3.lab", 4001),
            ("tcp://[fe80::1]:65535", "fe80::1", 65535),
            ("tcp://10.0.0.7:1", "10.0.0.7", 1),
        ] {
            let parsed = Port::parse(text).unwrap();
            assert_eq!(parsed, Port::Tcp { host: host.to_owned(), port });
            assert_eq!(parsed.to_string(), text);
            let text = text.replace("tcp:", "rfc2217:");
            let parsed = Port::parse(&text).unwrap();
            assert_eq!(parsed, Port::Rfc2217 { host: host.to_owned(), port });
            assert_eq!(parsed.to_string(), text);
        }
        for (text, path) in [
            ("/dev/usbtmc0", "/dev/usbtmc0"),
            ("usbtmc:/dev/scope", "/dev/scope"),
            ("usbtmc:@run/x", "@run/x"),
        ] {
            let parsed = Port::parse(text).unwrap();
            assert_eq!(parsed, Port::Usbtmc(path.into()));
            assert_eq!(parsed.to_string(), text);
        }
        assert_eq!(Port::parse("usbtmc:/dev/usbtmc1").unwrap().to_string(), "/dev/usbtmc1");
    }

    #[test]
    fn what_is_no_port_is_refused() {
        for text in [
            "",
            "ttyUSB0",
            "/dev/",
            "tcp://",
            "tcp://host",
            "tcp://host:",
            "tcp://:1",
            "tcp://host:0",
            "tcp://host:65536",
            "tcp://host:+1",
            "tcp://fe80::1:4001",
            "tcp://[host]:1",
            "tcp://a/b:1",
            "rfc2217://host",
            "udp://host:1",
            "unix:///x",
            "usbtmc:",
            "usbtmc:usbtmc0",
        ] {
            assert!(Port::parse(text).is_err(), "{text}");
        }
        assert!(Port::parse("ttyUSB0").unwrap_err().contains("`/dev/ttyUSB0`"));
        assert!(Port::parse("usbtmc:usbtmc0").unwrap_err().contains("`/dev/usbtmc0`"));
    }

    #[test]
    fn a_name_that_does_not_survive_replugging_has_a_hint() {
        let hint = |text: &str| Port::parse(text).unwrap().replug_hint();
        for text in ["/dev/ttyUSB0", "/dev/ttyACM12"] {
            assert!(hint(text).unwrap().contains("/dev/serial/by-id"), "{text}");
        }
        for text in
            ["/dev/serial/by-id/usb-FTDI-if00", "/dev/ttyS0", "/dev/ttyUSBx", "/x/ttyUSB0", "tcp://a:1"]
        {
            assert_eq!(hint(text), None, "{text}");
        }
    }

    #[test]
    fn line_settings_are_read_and_written() {
        for text in ["8n1", "7o1", "7e2", "5n2"] {
            assert_eq!(text.parse::<Line>().unwrap().to_string(), text);
        }
        assert_eq!("8N1".parse(), Ok(Line::default()));
        for text in ["", "8", "8n", "9n1", "4n1", "8x1", "8n3", "8n1 ", "8n1.5"] {
            assert!(text.parse::<Line>().is_err(), "{text}");
        }
    }
}
