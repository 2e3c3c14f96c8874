//! The bench file: one board with its probe, link, generator, reference and, if present, interval counter.

mod expand;
mod place;
mod port;
mod read;
mod schema;
pub(crate) mod section;
mod selector;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::units::Hertz;

pub use crate::names::{EdgeTiming, GeneratorDriver, IntervalCounterDriver, Level, SerialSignal};
pub use expand::ExpandError;
pub use place::Chip;
pub use port::{Dtr, Line, Parity, Port, PortSettings};
pub use read::{BenchFileError, Problem, Problems, parse, read};
pub use selector::{Selector, SelectorError};

/// A bench, as read and validated. Paths are absolute, or begin with `@run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BenchFile {
    /// The board under test.
    pub board: Board,
    /// The instrument that fires edges.
    pub generator: Generator,
    /// The receiver that says which second it is.
    pub reference: Reference,
    /// The bench's interval counter, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_counter: Option<IntervalCounter>,
    /// What is wired to what.
    #[serde(default)]
    pub wiring: Wiring,
    /// What a run may show and still pass.
    #[serde(default)]
    pub limits: Limits,
    /// What is recorded of the room.
    #[serde(default, skip_serializing_if = "Environment::is_empty")]
    pub environment: Environment,
    /// The command that brings the bench up, if it needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bring_up: Option<BringUp>,
    /// The place of a labgrid coordinator that the bench is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub labgrid: Option<Labgrid>,
}

/// What is recorded beside the instruments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Environment {
    /// Files that hold a temperature in thousandths of a degree Celsius, as the kernel's thermal zones and hwmon do, by
    /// the name that reports give it.
    pub temperature: BTreeMap<String, PathBuf>,
}

impl Environment {
    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.temperature.is_empty()
    }
}

/// The board under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Board {
    /// A probe-rs registry name, or `FILE:NAME` with a chip description of one's own.
    pub chip: String,
    /// `VID:PID[-INTERFACE][:SERIAL]`, as `ppsrig list` prints it.
    pub probe: String,
    /// The ELF image to load.
    pub image: PathBuf,
    /// A port, as [`Port`] reads it.
    pub link: String,
    /// Baud rate of the link.
    pub link_baud: u32,
    /// Data bits, parity and stop bits of the link.
    #[serde(default)]
    pub link_line: Line,
    /// What becomes of the link's DTR when it is opened.
    #[serde(default)]
    pub link_dtr: Dtr,
    /// The counter's rate as declared: checked before anything is believed.
    pub counter_hz: Hertz,
    /// The core's clock as declared.
    pub cpu_hz: Hertz,
    /// Whether the board is emulated: cross-checked with what it says of itself; every figure is then labelled.
    #[serde(default)]
    pub emulated: bool,
    /// How the first command reaches the board.
    #[serde(default)]
    pub command_by: CommandBy,
}

/// How the first command reaches the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandBy {
    /// Over the link.
    #[default]
    Link,
    /// Written into the image's `PPSRIG_MAILBOX` through the probe.
    Memory,
}

/// The instrument that fires edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Generator {
    /// How it is spoken to.
    pub driver: GeneratorDriver,
    /// A port, as [`Port`] reads it. Empty where nobody can tell the source anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub port: String,
    /// Baud rate, where the port has one.
    #[serde(default = "default_baud")]
    pub baud: u32,
    /// Data bits, parity and stop bits, where the port has them.
    #[serde(default)]
    pub line: Line,
    /// What becomes of DTR when the port is opened.
    #[serde(default)]
    pub dtr: Dtr,
    /// Milliseconds for which an edge is at its active level, unless a run says otherwise.
    pub width_ms: u32,
    /// Which transition is the edge.
    #[serde(default)]
    pub edge: EdgeName,
    /// Half-width in picoseconds of the interval around the nominal time that is known to hold an edge.
    /// Used where no interval counter states it edge by edge. Without either, no absolute latency is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_uncertainty_ps: Option<u64>,
    /// Millivolts of the output while it is high, into a high impedance.
    #[serde(default = "default_high")]
    pub high_mv: i32,
    /// Millivolts of the output while it is low.
    #[serde(default)]
    pub low_mv: i32,
    /// Nanoseconds from the reference's pulse to the first edge of a train.
    #[serde(default)]
    pub offset_ns: u32,
    /// What a serial adapter makes edges with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<SerialSignal>,
    /// The pin's level while that is asserted, or at space. Without, low: behind adapters with logic levels it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asserted: Option<Level>,
}

/// Which transition is the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeName {
    /// Low to high.
    #[default]
    Rising,
    /// High to low.
    Falling,
}

/// The receiver that says which second it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reference {
    /// What it speaks.
    pub driver: ReferenceDriver,
    /// A port, as [`Port`] reads it.
    pub port: String,
    /// Baud rate, where the port has one.
    #[serde(default = "default_baud")]
    pub baud: u32,
    /// Data bits, parity and stop bits, where the port has them.
    #[serde(default)]
    pub line: Line,
    /// What becomes of DTR when the port is opened.
    #[serde(default)]
    pub dtr: Dtr,
    /// Seconds after a lock that is regained for which it is not trusted yet.
    #[serde(default = "default_settle")]
    pub settle_s: u32,
    /// Seconds before each loss of lock that are not trusted either.
    #[serde(default = "default_guard")]
    pub guard_s: u32,
    /// Largest distance of its pulse from the satellites' time by its own account, in nanoseconds.
    #[serde(default = "default_max_offset")]
    pub max_offset_ns: u32,
    /// What happens to dates whose week number rolled over.
    #[serde(default)]
    pub week_rollover: WeekRollover,
    /// Whether its pulse is that of a disciplined oscillator: the receiver's quantisation error is then none of it.
    #[serde(default)]
    pub disciplined: bool,
}

impl Reference {
    /// Whether quantisation errors say nothing about the pulse that is wired: a GPSDO's, or declared.
    #[must_use]
    pub const fn is_disciplined(&self) -> bool {
        self.disciplined || matches!(self.driver, ReferenceDriver::HpScpi | ReferenceDriver::Jackson)
    }
}

/// What happens to dates that are 1024 weeks off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeekRollover {
    /// They are named, and the reference is not believed.
    #[default]
    Refuse,
    /// They are named, and set right.
    Correct,
}

/// What a reference speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceDriver {
    /// NMEA 0183 only: RMC and ZDA.
    Nmea,
    /// u-blox UBX with TIM-TP, NMEA between the frames.
    Ubx,
    /// Trimble TSIP: 8F-AB with 8F-AC, or A1-00.
    Tsip,
    /// HP 58503A, Z3801A: asked for their time code in SCPI.
    HpScpi,
    /// Jackson Labs: NMEA, and asked for their state in SCPI.
    Jackson,
}

/// The bench's interval counter. Channel A: the edge; channel B: the reference's PPS, or the echo, as wired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IntervalCounter {
    /// What it speaks.
    pub driver: IntervalCounterDriver,
    /// A port, as [`Port`] reads it.
    pub port: String,
    /// Baud rate, where the port has one.
    #[serde(default = "default_baud")]
    pub baud: u32,
    /// Data bits, parity and stop bits, where the port has them.
    #[serde(default)]
    pub line: Line,
    /// What becomes of DTR when the port is opened.
    #[serde(default)]
    pub dtr: Dtr,
    /// Expanded uncertainty (k = 2) of one reading, in picoseconds. A TAPR TICC: 120.
    #[serde(default = "default_ticc_uncertainty")]
    pub uncertainty_ps: u64,
    /// The letters that a TICC prints for channel A, the edge, and channel B.
    #[serde(default = "default_channels")]
    pub channels: [char; 2],
    /// Whether it states a half-width for each reading, which then counts instead.
    #[serde(default)]
    pub states_half_width: bool,
}

impl IntervalCounter {
    /// Whether it is the reference receiver itself, which stamps edges on the port that the reference has.
    #[must_use]
    pub fn is_reference(&self, reference: &Reference) -> bool {
        self.driver == IntervalCounterDriver::TimTm2 && self.port == reference.port
    }
}

/// What is wired to what, and how long the wires are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Wiring {
    /// Whether the board's echo pin goes to channel B of the interval counter, in place of the reference's PPS.
    pub echo: bool,
    /// Flight time from generator to board, in picoseconds.
    pub cable_generator_to_board_ps: i64,
    /// Its expanded uncertainty.
    pub cable_generator_to_board_uncertainty_ps: u64,
    /// Flight time from generator to channel A.
    pub cable_generator_to_counter_ps: i64,
    /// Its expanded uncertainty.
    pub cable_generator_to_counter_uncertainty_ps: u64,
    /// Flight time from the board's echo pin to channel B.
    pub cable_board_to_counter_ps: i64,
    /// Its expanded uncertainty.
    pub cable_board_to_counter_uncertainty_ps: u64,
}

/// What a run may show and still pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limits {
    /// Commanded edges that the board did not capture.
    pub missed: u32,
    /// Captures that no command explains.
    pub spurious: u32,
    /// Commanded edges whose record was torn or dropped.
    pub lost: u32,
    /// Fewer paired of commanded than this: the verdict is invalid.
    pub paired_min_percent: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { missed: 0, spurious: 0, lost: 0, paired_min_percent: 90 }
    }
}

/// The command that brings the bench up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BringUp {
    /// Program and arguments. Looked for beside the running executable, then on PATH.
    pub command: Vec<String>,
}

/// The place that a bench is to a labgrid coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Labgrid {
    /// Its whole name; `+TOKEN`, or `+` with LG_TOKEN, for the place of a reservation.
    pub place: String,
    /// `host:port` of the coordinator; without it LG_COORDINATOR counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coordinator: Option<String>,
    /// labgrid's client: a program on PATH, or its path.
    #[serde(default = "default_client")]
    pub client: String,
}

/// What begins a port that is a resource of the bench's labgrid place.
const LABGRID: &str = "@labgrid/";

/// The name or class of the resource, if a port is one: `@labgrid/NAME`.
#[must_use]
pub fn labgrid_resource(port: &str) -> Option<&str> {
    port.strip_prefix(LABGRID)
}

impl BenchFile {
    /// The ports as the bench file names them, each with what it is and its baud rate. Those that are none are empty.
    pub fn ports_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut String, u32)> {
        let (board, generator, reference) = (&mut self.board, &mut self.generator, &mut self.reference);
        let counter = self.interval_counter.as_mut().map(|c| ("interval counter", &mut c.port, c.baud));
        [
            ("link", &mut board.link, board.link_baud),
            ("generator", &mut generator.port, generator.baud),
            ("reference", &mut reference.port, reference.baud),
        ]
        .into_iter()
        .chain(counter)
    }
}

impl Board {
    /// The link's port.
    #[must_use]
    pub fn link_settings(&self) -> PortSettings {
        let (line, dtr) = (self.link_line, self.link_dtr);
        PortSettings { address: self.link.clone(), baud: self.link_baud, line, dtr }
    }
}

impl Generator {
    /// Its port.
    #[must_use]
    pub fn port_settings(&self) -> PortSettings {
        PortSettings { address: self.port.clone(), baud: self.baud, line: self.line, dtr: self.dtr }
    }
}

impl Reference {
    /// Its port.
    #[must_use]
    pub fn port_settings(&self) -> PortSettings {
        PortSettings { address: self.port.clone(), baud: self.baud, line: self.line, dtr: self.dtr }
    }
}

impl IntervalCounter {
    /// Its port.
    #[must_use]
    pub fn port_settings(&self) -> PortSettings {
        PortSettings { address: self.port.clone(), baud: self.baud, line: self.line, dtr: self.dtr }
    }
}

fn default_client() -> String {
    "labgrid-client".to_owned()
}

const fn default_baud() -> u32 {
    115_200
}

const fn default_high() -> i32 {
    3300
}

const fn default_settle() -> u32 {
    10
}

const fn default_guard() -> u32 {
    20
}

const fn default_channels() -> [char; 2] {
    ['A', 'B']
}

const fn default_max_offset() -> u32 {
    1000
}

const fn default_ticc_uncertainty() -> u64 {
    120
}
