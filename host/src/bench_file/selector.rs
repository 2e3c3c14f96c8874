//! The probe selector, `VID:PID[-INTERFACE][:SERIAL]`: the form that probe-rs reads and `ppsrig list` prints.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Which probe is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// USB vendor id.
    pub vendor_id: u16,
    /// USB product id.
    pub product_id: u16,
    /// USB interface, where the probe has several.
    pub interface: Option<u8>,
    /// Serial number; colons are legal in it. `Some("")` selects a probe without one, `None` does not ask.
    pub serial: Option<String>,
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    /// no colon
    #[error(
        "`{0}` is no probe selector: it has the form VID:PID[-INTERFACE][:SERIAL], as `ppsrig list` prints it"
    )]
    Form(String),
    /// an id that is not hexadecimal
    #[error("`{0}` is no USB id: ids are hexadecimal, at most four digits, as in 20b7:9db1")]
    Id(String),
    /// an interface that is no number
    #[error("`{0}` is no USB interface: a number from 0 to 255 stands behind the hyphen")]
    Interface(String),
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut parts = text.splitn(3, ':');
        let vendor = parts.next().unwrap_or_default();
        let product = parts.next().ok_or_else(|| SelectorError::Form(text.to_owned()))?;
        let (product, interface) = match product.split_once('-') {
            Some((product, interface)) => (product, Some(interface)),
            None => (product, None),
        };
        Ok(Self {
            vendor_id: usb_id(vendor)?,
            product_id: usb_id(product)?,
            interface: interface.filter(|text| !text.is_empty()).map(interface_number).transpose()?,
            serial: parts.next().map(str::to_owned),
        })
    }
}

fn usb_id(text: &str) -> Result<u16, SelectorError> {
    // `from_str_radix` alone would take a leading plus sign.
    let hexadecimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(text, 16)
        .ok()
        .filter(|_| hexadecimal)
        .ok_or_else(|| SelectorError::Id(text.to_owned()))
}

fn interface_number(text: &str) -> Result<u8, SelectorError> {
    let decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| decimal).ok_or_else(|| SelectorError::Interface(text.to_owned()))
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor_id, self.product_id)?;
        if let Some(interface) = self.interface {
            write!(f, "-{interface}")?;
        }
        if let Some(serial) = &self.serial {
            write!(f, ":{serial}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_and_printed_in_one_form() {
        let rows = [
            ("20B7:9DB1", "20b7:9db1", None, None),
            (
                "20b7:9db1:unix:@run/swd.sock",
                "20b7:9db1:unix:@run/swd.sock",
                None,
                Some("unix:@run/swd.sock"),
            ),
            ("303a:1001-2:7C:DF:A1:00", "303a:1001-2:7C:DF:A1:00", Some(2), Some("7C:DF:A1:00")),
            ("1:2:", "0001:0002:", None, Some("")),
            ("0d28:0204-", "0d28:0204", None, None),
        ];
        for (text, printed, interface, serial) in rows {
            let selector: Selector = text.parse().unwrap();
            assert_eq!(selector.to_string(), printed);
            assert_eq!((selector.interface, selector.serial.as_deref()), (interface, serial), "{text}");
            assert_eq!(printed.parse(), Ok(selector), "what is printed can be pasted back");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        assert_eq!("20b7".parse::<Selector>(), Err(SelectorError::Form("20b7".to_owned())));
        for (text, id) in [("", ""), ("x:1", "x"), ("+1:2", "+1"), ("12345:1", "12345"), ("1::s", "")] {
            let expected = if text.is_empty() {
                SelectorError::Form(String::new())
            } else {
                SelectorError::Id(id.to_owned())
            };
            assert_eq!(text.parse::<Selector>(), Err(expected), "{text}");
        }
        assert_eq!("1:2-+3".parse::<Selector>(), Err(SelectorError::Interface("+3".to_owned())));
        assert_eq!("1:2-256".parse::<Selector>(), Err(SelectorError::Interface("256".to_owned())));
    }
}
