//! The published figures that results are set beside. None of them comes with a spread, so no difference from them can be
//! tested.

use crate::names::{CtimeVariant, PathVariant};

/// What the published path figures were measured on.
pub const PATH_BOARD: &str = "Cortex-A53 at 1.35 GHz, 12.5 MHz counter";
/// What is missing beside each of them.
pub const NO_SPREAD: &str = "no spread published";

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
