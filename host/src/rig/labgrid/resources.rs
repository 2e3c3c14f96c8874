//! What an acquired place has: `labgrid-client env`, which is YAML, read into ports.

use std::collections::BTreeMap;

use serde::Deserialize;
use yaml_serde::Value;

use super::LabgridError;
use crate::bench_file::Port;
use crate::rig::lease::holder::visible;

/// The class of resources that are serial ports.
const SERIAL_PORT: &str = "NetworkSerialPort";

/// One resource of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its class, as `NetworkSerialPort`: what an exporter calls RawSerialPort or USBSerialPort is one to its clients.
    pub class: String,
    /// Its name; the exporter's name of the class where it has no other.
    pub name: String,
    /// How it is reached, if it is a serial port: or why not.
    pub port: Result<ExportedPort, String>,
}

/// A serial port behind a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedPort {
    /// `rfc2217://` or `tcp://`
    pub address: Port,
    /// What the exporter has set or will set, in baud.
    pub speed: Option<u64>,
}

#[derive(Deserialize)]
struct Environment {
    targets: BTreeMap<String, Target>,
}

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    resources: Vec<BTreeMap<String, Value>>,
}

/// Reads what `labgrid-client env` prints: the place's whole name, and what it has.
///
/// # Errors
/// What it is not.
pub(super) fn parse(text: &str) -> Result<(String, Vec<Resource>), String> {
    let environment: Environment = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
    let mut targets = environment.targets.into_iter();
    let (Some((place, target)), None) = (targets.next(), targets.next()) else {
        return Err("it has not one target".to_owned());
    };
    let resources = target.resources.into_iter().flatten();
    Ok((place, resources.map(|(class, fields)| resource(class, &fields)).collect()))
}

fn resource(class: String, fields: &Value) -> Resource {
    let name = fields.get("name").and_then(Value::as_str).unwrap_or(&class).to_owned();
    Resource { port: port(&class, fields), name, class }
}

fn port(class: &str, fields: &Value) -> Result<ExportedPort, String> {
    if class != SERIAL_PORT {
        return Err(format!("a {}, which is no serial port", visible(class)));
    }
    let host = fields.get("host").and_then(Value::as_str).unwrap_or_default();
    let port = fields.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    let Some(port) = port else {
        return Err("without a TCP port: is it plugged in at its exporter?".to_owned());
    };
    // ser2net, which exporters start, speaks RFC 2217; `protocol` says it where it is another server.
    let protocol = fields.get("protocol").and_then(Value::as_str).unwrap_or("rfc2217");
    let address = match protocol {
        "rfc2217" => Port::Rfc2217 { host: host.to_owned(), port },
        "raw" => Port::Tcp { host: host.to_owned(), port },
        other => return Err(format!("with protocol `{}`; known: rfc2217, raw", visible(other))),
    };
    // As strict as with a bench file.
    let address = Port::parse(&address.to_string()).map_err(|what| visible(&what))?;
    Ok(ExportedPort { address, speed: fields.get("speed").and_then(Value::as_u64) })
}

/// The serial port of that name; or, where none has it, the only one of that class.
///
/// # Errors
/// [`LabgridError::NoResource`], which lists what there is.
pub(super) fn find<'r>(
    place: &str,
    resources: &'r [Resource],
    wanted: &str,
) -> Result<&'r ExportedPort, LabgridError> {
    let named: Vec<_> = resources.iter().filter(|resource| resource.name == wanted).collect();
    let of_class = || resources.iter().filter(|resource| resource.class == wanted).collect();
    let found = if named.is_empty() { of_class() } else { named };
    let refused = |why: String| LabgridError::NoResource {
        place: visible(place),
        wanted: visible(wanted),
        why,
        has: list(resources),
    };
    match found[..] {
        [one] => one.port.as_ref().map_err(|why| refused(format!("has it {why}"))),
        [] => Err(refused("has none of that name or class".to_owned())),
        _ => Err(refused("has several of that name or class".to_owned())),
    }
}

fn list(resources: &[Resource]) -> String {
    let one = |resource: &Resource| {
        let at = match &resource.port {
            Ok(port) => format!(" at {}", port.address),
            Err(_) => String::new(),
        };
        format!("{} `{}`{at}", visible(&resource.class), visible(&resource.name))
    };
    if resources.is_empty() {
        return "nothing (`labgrid-client add-match` gives it something)".to_owned();
    }
    resources.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVIRONMENT: &str = "targets:
  a53-1:
    resources:
    - NetworkSerialPort:
        port: 4001
        host: 127.0.0.1
        speed: 115200
    - NetworkService:
        address: 10.0.0.1
        username: root
    - NetworkSerialPort:
        name: gps
        port: 4002
        protocol: raw
        host: lab3
        speed: 9600
    - NetworkSerialPort: {name: unplugged, port: null, host: lab3}
    - NetworkSerialPort: {name: odd, port: 1, host: 'a/b'}
";

    fn found(wanted: &str) -> Result<String, String> {
        let (place, resources) = parse(ENVIRONMENT).expect("it is valid");
        find(&place, &resources, wanted)
            .map(|port| port.address.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn ports_are_found_by_name_before_class() {
        assert_eq!(found("NetworkSerialPort"), Ok("rfc2217://127.0.0.1:4001".to_owned()));
        assert_eq!(found("gps"), Ok("tcp://lab3:4002".to_owned()));
        let (_, resources) = parse(ENVIRONMENT).expect("it is valid");
        assert_eq!(resources[2].port.as_ref().expect("a port").speed, Some(9600));
    }

    #[test]
    fn what_a_place_has_not_is_refused_with_what_it_has() {
        let error = found("console").expect_err("there is none");
        for part in
            ["@labgrid/console", "NetworkService `NetworkService`", "`gps` at tcp://lab3:4002", "a53-1"]
        {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        assert!(found("NetworkService").expect_err("no port").contains("no serial port"));
        assert!(found("unplugged").expect_err("no port").contains("plugged in"));
        assert!(found("odd").is_err(), "a host is no path");
        let (place, resources) = parse("targets: {p: {resources: []}}").expect("it is valid");
        assert!(find(&place, &resources, "x").expect_err("nothing").to_string().contains("add-match"));
    }

    #[test]
    fn several_of_one_class_have_to_be_named() {
        let text = ENVIRONMENT.replace("        speed: 115200\n", "        name: link\n");
        let (place, resources) = parse(&text).expect("it is valid");
        let error = find(&place, &resources, "NetworkSerialPort").expect_err("there are several");
        assert!(error.to_string().contains("several"), "{error}");
    }

    #[test]
    fn what_is_no_environment_is_refused() {
        for text in ["", "targets: 3", "targets: {}", "targets: {a: {}, b: {}}", "[", "\u{0}"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
