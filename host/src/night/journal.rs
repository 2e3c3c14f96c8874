//! What a night writes down while it goes on. A resumed night appends to the same journal.

use serde::{Deserialize, Serialize};

use super::NightPlan;
use crate::bench_file::BenchFile;

/// `night.toml`: written once, before anything is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NightRecord {
    /// Version of the night's layout: 1.
    pub night_version: u32,
    /// File name of the plan, without its folder.
    pub plan_file: String,
    /// SHA-256 of the plan file, lower-case hex.
    pub plan_sha256: String,
    /// Start, UTC, ISO 8601.
    pub started_utc: String,
    /// ppsrig's version.
    pub ppsrig_version: String,
    /// Commit of ppsrig's source, or `unknown`.
    pub ppsrig_commit: String,
    /// The night's seed.
    pub seed: u64,
    /// SHA-256 of each image by name, in the plan's order: a resumed night refuses others.
    pub images: Vec<ImageHash>,
    /// What was asked for.
    pub plan: NightPlan,
    /// The bench file, with every default filled in.
    pub bench: BenchFile,
}

/// An image's name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ImageHash {
    /// As the plan names it; `golden` is the health check's.
    pub name: String,
    /// Lower-case hex.
    pub sha256: String,
}

/// One run of a night: one image, one session of each variant of a measure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// The measure's name.
    pub measure: String,
    /// The image's name.
    pub image: String,
    /// Counts from 1.
    pub round: u32,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Entry {
    /// The night began, or went on after it was cut.
    Began {
        /// UTC, ISO 8601.
        utc: String,
        /// Whether it went on.
        resumed: bool,
    },
    /// A hook was run.
    Hook {
        /// before, power-cycle, after
        name: String,
        /// Empty: it went well.
        problem: String,
    },
    /// The golden image was measured.
    Health {
        /// UTC, ISO 8601: its end.
        utc: String,
        /// The bundle, relative to the night's folder; empty where none was made.
        bundle: String,
        /// Why the bench is sick; empty: it is well.
        reasons: Vec<String>,
    },
    /// A step is done: its bundle is whole.
    Done {
        /// UTC, ISO 8601: its end.
        utc: String,
        /// Which.
        step: Step,
        /// The bundle, relative to the night's folder.
        bundle: String,
    },
    /// A step could not be done.
    Failed {
        /// UTC, ISO 8601.
        utc: String,
        /// Which.
        step: Step,
        /// The partial bundle, relative to the night's folder; empty where none was made.
        bundle: String,
        /// Why.
        reason: String,
        /// Whether it is tried once more.
        again: bool,
    },
    /// A measure goes on no further.
    Ended {
        /// Its name.
        measure: String,
        /// Why: `decided after 3 rounds`, `10 rounds are the most that the plan allows`...
        why: String,
    },
    /// The night is over.
    Finished {
        /// UTC, ISO 8601.
        utc: String,
        /// Why it ended before its plan was done; empty: it was done.
        why: String,
    },
}
