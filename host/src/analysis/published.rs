//! The published figures that results are set beside, with where they were published, and the ratios of both. None of them
//! comes with a spread, so no difference from them can be tested.
//!
//! Sources:
//! * `ctime`: Jeff Layton, patch "timekeeping: move multigrain ctime floor handling into timekeeper", linux-fsdevel,
//!   2024-09-11, Message-Id 20240911-mgtime-v1-1-e4aedf1d0d15@kernel.org: averages of will-it-scale's pipe1_threads on
//!   v6.11-rc7, with the mgtime series, and with that patch. Neither the machine nor the time that they took is stated.
//! * `path`: as published with the patches that let arm64 read its counter inline in `ktime_get_snapshot_id()`, for a polled
//!   PPS on a Cortex-A53 at 1.35 GHz. The message itself was not found in a public archive, so it is not known whether
//!   they are corrected for the cost of reading the counter, as ours are.

use super::ctime::{self, CtimeAnalysis};
use super::fixed::Fixed;
use super::path::{self, PathAnalysis};
use crate::names::{CtimeVariant, PathVariant};

/// What the published path figures were measured on.
pub const PATH_BOARD: &str = "Cortex-A53 at 1.35 GHz, 12.5 MHz counter";
/// Where the published path figures are from.
pub const PATH_SOURCE: &str = "as published with the patches for inline counter reads on arm64";
/// Where the published operations are from.
pub const CTIME_SOURCE: &str =
    "will-it-scale pipe1_threads, lore.kernel.org/r/20240911-mgtime-v1-1-e4aedf1d0d15@kernel.org";
/// What is missing beside each of them.
pub const NO_SPREAD: &str = "no spread published";
/// Places of a ratio.
const RATIO: u8 = 3;

/// Published tenths of nanoseconds from the caller's read to the one inside, CLOCK_REALTIME.
#[must_use]
pub const fn path_tenths_ns(variant: PathVariant) -> u32 {
    match variant {
        PathVariant::Indirect => 499,
        PathVariant::Inline => 412,
        PathVariant::InlineBiased => 388,
    }
}

/// Published operations of pipe1_threads.
#[must_use]
pub const fn ctime_operations(variant: CtimeVariant) -> u32 {
    match variant {
        CtimeVariant::Coarse => 83_830_660,
        CtimeVariant::Multigrain => 77_631_748,
        CtimeVariant::MultigrainFloor => 81_620_228,
    }
}

/// A variant's figure and its ratio to the first variant's, here and published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Here: nanoseconds, or operations a second.
    pub here: Option<Fixed>,
    /// Here, over that of the first variant.
    pub ratio: Option<Fixed>,
    /// Instructions for an operation here, over those of the first variant.
    pub instructions_ratio: Option<Fixed>,
    /// Published: nanoseconds, or operations. None for a clock that nothing was published for.
    pub published: Option<Fixed>,
    /// Published, over that of the first variant.
    pub published_ratio: Option<Fixed>,
}

/// A variant of `path` beside what was published for CLOCK_REALTIME.
#[must_use]
pub fn beside_path(analysis: &PathAnalysis, variant: &path::Variant) -> Beside {
    let realtime = variant.clock_id == ppsrig_wire::ClockId::Realtime;
    let published = Some(path_tenths_ns(variant.variant)).filter(|_| realtime);
    let of_first = |tenths: u32| f64::from(tenths) / f64::from(path_tenths_ns(PathVariant::Indirect));
    Beside {
        here: variant.mean.and_then(|mean| Fixed::rounded_nanoseconds(mean.value)),
        ratio: rounded(analysis.ratio_to_indirect(variant)),
        instructions_ratio: None,
        published: published.map(|tenths| Fixed { scaled: tenths.into(), places: 1 }),
        published_ratio: rounded(published.map(of_first)),
    }
}

/// A variant of `ctime` beside what was published.
#[must_use]
pub fn beside_ctime(analysis: &CtimeAnalysis, variant: &ctime::Variant) -> Beside {
    let published = ctime_operations(variant.variant);
    let of_first = f64::from(published) / f64::from(ctime_operations(CtimeVariant::Coarse));
    Beside {
        here: variant.rate.and_then(|rate| Fixed::rounded(rate.value, 0)),
        ratio: rounded(analysis.ratio_to_coarse(variant, |one| one.rate)),
        instructions_ratio: rounded(analysis.ratio_to_coarse(variant, |one| one.instructions)),
        published: Some(Fixed::whole(published.into())),
        published_ratio: rounded(Some(of_first)),
    }
}

fn rounded(ratio: Option<f64>) -> Option<Fixed> {
    Fixed::rounded(ratio?, RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::path::estimate::Estimate;
    use crate::analysis::verdict::Verdict;

    fn variant(variant: PathVariant, ps: f64) -> path::Variant {
        path::Variant {
            variant,
            clock_id: ppsrig_wire::ClockId::Realtime,
            sessions: Vec::new(),
            mean: Some(Estimate { value: ps, interval: None, between_sessions: false }),
            overhead: None,
            components: Vec::new(),
            instructions: path::Instructions::NotCounted,
        }
    }

    #[test]
    fn ratios_are_to_the_first_variant_here_and_published() {
        let analysis = PathAnalysis {
            windows: Vec::new(),
            variants: vec![
                variant(PathVariant::Indirect, 60_000.0),
                variant(PathVariant::InlineBiased, 45_000.4),
            ],
            problems: Vec::new(),
            judged: true,
            probe_operations: 0,
            figures: Vec::new(),
            verdict: Verdict::nothing(),
        };
        let beside = beside_path(&analysis, &analysis.variants[1]);
        let text = |value: Option<Fixed>| value.unwrap().to_string();
        assert_eq!(
            [beside.here, beside.ratio, beside.published, beside.published_ratio].map(text),
            ["45.000", "0.750", "38.8", "0.778"]
        );
        let other =
            path::Variant { clock_id: ppsrig_wire::ClockId::Monotonic, ..analysis.variants[1].clone() };
        assert_eq!(beside_path(&analysis, &other).published, None);
    }

    #[test]
    fn the_published_operations_are_those_of_the_message() {
        let of_coarse = f64::from(ctime_operations(CtimeVariant::Coarse));
        let percent = |variant| (100.0 * f64::from(ctime_operations(variant)) / of_coarse).round();
        assert_eq!([CtimeVariant::Multigrain, CtimeVariant::MultigrainFloor].map(percent), [93.0, 97.0]);
    }
}
