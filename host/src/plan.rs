//! The plan of a run: what was asked for. Kept in `run.toml`, so that a replay needs nothing else.

use ppsrig_wire::{ClockId, EdgeMode};
use serde::{Deserialize, Serialize};

use crate::bench_file::BenchFile;
pub use crate::names::{CLOCK_IDS, EDGE_MODES};
use crate::names::{Clock, CtimeVariant, Measurement, PathVariant};
use crate::units::Hertz;

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

/// What was asked for. The counter's rate that was asked for stands in the bench, in place of the bench file's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// What is measured, in this order. What follows about edges is not used where `edge` is not among it; `edges` is
    /// then 0.
    #[serde(default = "edge_only")]
    pub measure: Vec<Measurement>,
    /// How time passes on the board.
    #[serde(default = "live")]
    pub clock: Clock,
    /// How edges are captured.
    #[serde(with = "crate::names::mode_name")]
    pub mode: EdgeMode,
    /// The clock that the snapshot function is asked for: with each interrupt capture, and all the time in `path`.
    #[serde(with = "crate::names::clock_name")]
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
    /// Sessions (boots of the board): of `path` and `ctime` so many for each variant, which take turns.
    pub sessions: u32,
    /// The run's seed.
    pub seed: u64,
    /// What `path` measures, if it is measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<PathMeasurement>,
    /// What `ctime` measures, if it is measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ctime: Option<CtimeMeasurement>,
}

/// What `path` measures. A session is: overhead, path, then the ladder's delays in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PathMeasurement {
    /// Builds of the snapshot function, each in sessions of its own.
    pub variants: Vec<PathVariant>,
    /// Pairs of counter reads a session.
    pub iterations: u32,
    /// Equal parts of a session.
    pub batches: u16,
    /// Back-to-back pairs a session, which measure what a read costs by itself. What `path` takes is given less that,
    /// in nanoseconds and in instructions alike: in exact mode two reads next to each other are one instruction apart,
    /// so what is left are the instructions strictly between the two reads.
    pub overhead_iterations: u32,
    /// Whether a random delay comes before each pair. Without, there is no verdict.
    pub dither: bool,
    /// The delay is uniform over so many steps of one CPU cycle: [`whole_tick_steps`].
    pub dither_steps: u32,
    /// Largest bias bound that has a verdict, in picoseconds.
    pub max_bias_ps: u64,
    /// The ladder: known delays put into the measured path, in CPU cycles, ascending. May be empty.
    pub ladder_delays: Vec<u32>,
    /// Pairs for each delay of the ladder.
    pub ladder_iterations: u32,
    /// Whether every pair is sent and goes to pairs.csv and pairs.spool.
    pub raw_pairs: bool,
}

/// What `ctime` measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CtimeMeasurement {
    /// Builds of the coarse clock, each in sessions of its own.
    pub variants: Vec<CtimeVariant>,
    /// Cores that run the workload.
    pub cores: u8,
    /// Operations a session, of all cores together.
    pub operations: u64,
}

fn edge_only() -> Vec<Measurement> {
    vec![Measurement::Edge]
}

const fn live() -> Clock {
    Clock::Live
}

/// CPU cycles of the smallest whole number of counter ticks that is a whole number of cycles: 80 at 1 GHz and 12.5 MHz,
/// 250 (for 9 ticks) at 1.5 GHz and 54 MHz. The phases of the counter at the cycles' edges repeat after so many.
#[must_use]
pub const fn whole_tick_steps(cpu: Hertz, counter: Hertz) -> u64 {
    match common_divisor(cpu.0, counter.0) {
        0 => 0,
        divisor => cpu.0 / divisor,
    }
}

/// One CPU cycle in picoseconds, rounded up: the largest bias bound that has a verdict unless a run says otherwise.
#[must_use]
pub const fn cycle_ps(cpu: Hertz) -> u64 {
    match cpu.0 {
        0 => 0,
        hertz => 1_000_000_000_000_u64.div_ceil(hertz),
    }
}

/// The ladder unless a run says otherwise: eight delays a step apart, from one step on, that reach over a whole tick.
/// The step has no divisor in common with the cycles of a whole number of ticks, so every delay has a phase of its own.
#[must_use]
pub fn ladder_delays(cpu: Hertz, counter: Hertz) -> Vec<u32> {
    let cycles = whole_tick_steps(cpu, counter).max(1);
    let tick = (cpu.0 / counter.0.max(1)).max(1);
    let step = (tick.div_ceil(8)..).find(|&step| common_divisor(step, cycles) == 1).unwrap_or(1);
    (1..=8).filter_map(|rung| u32::try_from(rung * step).ok()).collect()
}

/// Greatest common divisor; 0 of 0 and 0.
const fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
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

#[cfg(test)]
mod tests {
    use super::*;

    const GIGA: Hertz = Hertz(1_000_000_000);
    const SLOW: Hertz = Hertz(12_500_000);

    #[test]
    fn dither_spans_whole_ticks_and_whole_cycles() {
        assert_eq!(whole_tick_steps(GIGA, SLOW), 80);
        assert_eq!(whole_tick_steps(Hertz(1_350_000_000), SLOW), 108);
        assert_eq!(whole_tick_steps(Hertz(1_500_000_000), Hertz(54_000_000)), 250);
        assert_eq!(whole_tick_steps(GIGA, GIGA), 1);
        assert_eq!(whole_tick_steps(Hertz(0), Hertz(0)), 0);
    }

    #[test]
    fn a_ladder_reaches_over_a_tick_in_steps_coprime_to_the_ratio() {
        assert_eq!(ladder_delays(GIGA, SLOW), [11, 22, 33, 44, 55, 66, 77, 88]);
        assert_eq!(ladder_delays(GIGA, GIGA), [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn one_cycle_is_rounded_up() {
        assert_eq!(cycle_ps(GIGA), 1000);
        assert_eq!(cycle_ps(Hertz(1_350_000_000)), 741);
    }
}
