//! The plan of a run: what was asked for. Kept in `run.toml`, so that a replay needs nothing else.

use ppsrig_wire::{ClockId, EdgeMode};
use serde::{Deserialize, Serialize};

use crate::bench_file::BenchFile;

/// Most edges of one run, all its sessions together: the analysis holds every one of them in memory, half a kilobyte each.
pub const MOST_EDGES: u32 = 1_000_000;
/// Nanoseconds from edge to edge of the preamble: each of its edges is aligned with a pulse of the reference.
pub const PREAMBLE_PERIOD_NS: u64 = 1_000_000_000;

/// `run.toml`: written once, before the first edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RunRecord {
    /// Version of the bundle's layout: 1.
    pub bundle_version: u32,
    /// What was asked for.
    pub plan: Plan,
    /// Versions, commits and hashes.
    pub provenance: Provenance,
    /// What the bench was like.
    pub conditions: Conditions,
    /// The bench file, with every default filled in.
    pub bench: BenchFile,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// How edges are captured.
    #[serde(with = "mode_name")]
    pub mode: EdgeMode,
    /// The clock that each interrupt capture snapshots.
    #[serde(with = "clock_name")]
    pub clock_id: ClockId,
    /// Edges a session, the preamble not counted.
    pub edges: u32,
    /// Edge rate in millihertz, so that it is an integer: 10 a second is 10,000.
    pub rate_millihertz: u64,
    /// Nanoseconds from edge to edge.
    pub period_ns: u64,
    /// Nanoseconds for which the pin is at its active level.
    pub width_ns: u64,
    /// Edges of the 1 Hz preamble.
    pub preamble_edges: u32,
    /// Sessions (boots of the board).
    pub sessions: u32,
    /// The run's seed.
    pub seed: u64,
}

/// Where everything came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Provenance {
    /// ppsrig's version.
    pub ppsrig_version: String,
    /// Commit of ppsrig's source, or `unknown`.
    pub ppsrig_commit: String,
    /// Start of the recording, UTC, ISO 8601. For people; nothing is computed from it.
    pub started_utc: String,
    /// File name of the bench file, without its folder.
    pub bench_file: String,
    /// File name of the image, without its folder.
    pub image: String,
    /// SHA-256 of the image, lower-case hex.
    pub image_sha256: String,
    /// Bytes loaded into the board.
    pub image_bytes: u64,
}

/// What the bench was like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Conditions {
    /// The rest of the bring-up command's READY line, for instance whether it got a real-time priority. Empty without one.
    pub bring_up: String,
    /// What the generator answered to `*IDN?`.
    pub generator: String,
    /// The rule by which an edge gets its GPS second.
    pub second_rule: String,
}

macro_rules! names {
    ($module:ident, $type:ty, $table:ident, { $($variant:path => $name:literal),+ $(,)? }) => {
        #[doc = concat!("Every `", stringify!($type), "` with the name that the command line and the CSV files use.")]
        pub const $table: &[($type, &str)] = &[$(($variant, $name)),+];

        mod $module {
            use super::$table;
            use serde::{Deserialize, Deserializer, Serializer, de::Error};

            pub(super) fn serialize<S: Serializer>(value: &$type, serializer: S) -> Result<S::Ok, S::Error> {
                let name = match value { $($variant => $name),+ };
                serializer.serialize_str(name)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let name = String::deserialize(deserializer)?;
                $table
                    .iter()
                    .find(|(_, known)| *known == name)
                    .map(|(value, _)| *value)
                    .ok_or_else(|| D::Error::custom(format!("unknown {} `{name}`", stringify!($type))))
            }
        }
    };
}

names!(mode_name, ppsrig_wire::EdgeMode, EDGE_MODES, {
    ppsrig_wire::EdgeMode::Irq => "irq",
    ppsrig_wire::EdgeMode::Poll => "poll",
    ppsrig_wire::EdgeMode::Alternate => "alternate",
});
names!(clock_name, ppsrig_wire::ClockId, CLOCK_IDS, {
    ppsrig_wire::ClockId::Realtime => "realtime",
    ppsrig_wire::ClockId::Monotonic => "monotonic",
    ppsrig_wire::ClockId::MonotonicRaw => "monotonic-raw",
    ppsrig_wire::ClockId::Boottime => "boottime",
});
