//! What a plan file asks for, with every default filled in and every path absolute.

use std::path::PathBuf;

use ppsrig_wire::{ClockId, EdgeMode};
use serde::{Deserialize, Serialize};

use crate::names::{Clock, Measurement};

/// A whole plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NightPlan {
    /// Its name; the plan file's without its ending, unless it says one.
    pub name: String,
    /// The bench file.
    pub bench: PathBuf,
    /// The night's seed; each round's run seed follows from it. Without one: from the system, and 1 where everything is exact.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// The night begins no further step when so many seconds have passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_budget_s: Option<u64>,
    /// Probability of any false alarm of one measurement's comparisons, all looks at them together.
    pub alpha: f64,
    /// What is compared; one image, named `image`, where the plan names none.
    pub images: Vec<NamedImage>,
    /// What must be so before the night begins.
    pub require: Require,
    /// The known good capture before the night.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<Health>,
    /// What is run around it.
    pub hooks: Hooks,
    /// What is measured, in this order.
    pub measures: Vec<Measure>,
}

/// An image by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NamedImage {
    /// What reports call it.
    pub name: String,
    /// The ELF file; none: the bench file's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<PathBuf>,
}

/// Conditions without which a night does not begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Require {
    /// Free space where the night is kept, in mebibytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub free_disk_mib: Option<u64>,
    /// The host's load average of the last minute is below this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_below: Option<f64>,
    /// The host's clock is synchronised, by what the kernel says.
    #[serde(default)]
    pub clock_synchronised: bool,
}

/// The golden image, and what it is known to give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Health {
    /// The golden ELF file; none: the bench file's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<PathBuf>,
    /// What is measured with it.
    pub measure: Measure,
}

/// Commands of the lab's own: program and arguments, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hooks {
    /// Before the health check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Hook>,
    /// Before each step, and once more after a step that failed: power off and on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_cycle: Option<Hook>,
    /// At the end, however it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Hook>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hook {
    /// Program and arguments.
    pub command: Vec<String>,
    /// It is ended, and has failed, when so many seconds have passed.
    pub deadline_s: u64,
}

/// What is measured: `ppsrig run`'s options, so many sessions, and what they are judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Measure {
    /// What reports call it; different for each measure of a plan.
    pub name: String,
    /// What is measured.
    pub measurement: Measurement,
    /// How time passes on the board.
    pub clock: Clock,
    /// The counter's declared rate in place of the bench file's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counter_hz: Option<u64>,
    /// The clock that is asked for with each snapshot.
    #[serde(with = "crate::names::clock_name")]
    pub clock_id: ClockId,
    /// Builds, of `path` and `ctime`; empty: all.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Edges a session.
    pub edges: u32,
    /// Edge rate in millihertz.
    pub rate_millihertz: u64,
    /// How edges are captured.
    #[serde(with = "crate::names::mode_name")]
    pub mode: EdgeMode,
    /// Width of a pulse in place of the bench file's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width_ms: Option<u32>,
    /// `path`: pairs a session.
    pub iterations: u32,
    /// `path`: a random delay before each pair.
    pub dither: bool,
    /// `ctime`: cores.
    pub cores: u8,
    /// `ctime`: operations a session.
    pub operations: u64,
    /// A scenario for a virtual bench.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scenario: Option<PathBuf>,
    /// Rounds: sessions of each image and variant, images by turns.
    pub sessions: u32,
    /// It goes on, a round at a time, until every verdict is decided or so many rounds are done.
    pub most_sessions: u32,
    /// In place of the default margin, in the unit of what is compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin: Option<f64>,
    /// What is compared with what.
    pub compare: Vec<Compare>,
    /// What figures must keep.
    pub limits: Vec<Limit>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Compare {
    /// What was before.
    pub base: Arm,
    /// What it is compared with.
    pub new: Arm,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// An image of the plan, every build of it.
    Image(String),
    /// One build of an image of the plan.
    Variant {
        /// The image.
        image: String,
        /// The build.
        variant: String,
    },
    /// Run bundles kept from before, or a folder of them.
    Baseline(PathBuf),
}

impl Arm {
    /// As reports name it: the image, `image:build`, or the baseline's last folder.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Image(image) => image.clone(),
            Self::Variant { image, variant } => format!("{image}:{variant}"),
            Self::Baseline(path) => path
                .file_name()
                .map_or_else(|| "baseline".to_owned(), |name| name.to_string_lossy().into_owned()),
        }
    }

    /// The image, if it is one.
    #[must_use]
    pub fn image(&self) -> Option<&str> {
        match self {
            Self::Image(image) | Self::Variant { image, .. } => Some(image),
            Self::Baseline(_) => None,
        }
    }

    /// The build that is picked.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        match self {
            Self::Variant { variant, .. } => Some(variant),
            Self::Image(_) | Self::Baseline(_) => None,
        }
    }
}

/// What a figure must keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limit {
    /// As summary.csv names it: mean, p99, instructions, operations...
    pub metric: String,
    /// The build; empty: every one.
    #[serde(default)]
    pub variant: String,
    /// The image; empty: every one.
    #[serde(default)]
    pub image: String,
    /// The mean of the sessions may be this at most; of some metrics each session's value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_most: Option<f64>,
    /// And this at least.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_least: Option<f64>,
}
