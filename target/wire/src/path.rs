//! The messages of the `path` measurement: from a caller's counter read to the counter read inside the snapshot.
//!
//! The board measures by itself and answers with what it counted: the exact histogram of the tick differences of each
//! batch, the histogram of the phases at which the caller read, and on demand every pair.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::ClockId;

/// Entries in one [`TickCounts`].
pub const TICK_ENTRIES: usize = 16;
/// Bins in one [`PhaseCounts`].
pub const PHASE_BINS: usize = 32;
/// Pairs in one [`Pairs`].
pub const PAIRS: usize = 14;

/// The builds of `ktime_get_snapshot_id()` that a path can lead through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathVariant {
    /// The counter is read through the clocksource's read pointer.
    Indirect,
    /// The arch counter read is inlined behind a branch that is patched or static.
    Inline,
    /// As `Inline`, and the clock id is first compared with CLOCK_REALTIME.
    InlineBiased,
    /// No function at all: two counter reads back to back, whose difference is what reading costs.
    Empty,
}

/// What to measure, and how. The measurement ends by itself, with [`PathDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPlan {
    /// Number of the window, chosen by the host, different for each window of a run.
    pub window: u32,
    /// The build to measure.
    pub variant: PathVariant,
    /// The clock that is asked for. `Empty` asks for none.
    pub clock_id: ClockId,
    /// Pairs to count, over all batches; those that warm up are not among them.
    pub iterations: u32,
    /// Equal parts of the iterations, each with a histogram of its own; sizes differ by at most one, larger ones
    /// first.
    pub batches: u16,
    /// Whether a random delay precedes each pair.
    pub dither: bool,
    /// Seed of the random delays.
    pub seed: u64,
    /// The random delay is uniform over 0 to this less one, in steps of one CPU cycle: a whole multiple of
    /// `ratio_cycles`.
    pub dither_steps: u32,
    /// CPU cycles that last as long as `ratio_ticks`: the ratio of the two clocks in lowest terms, 80 and 1 for 1 GHz
    /// and 12.5 MHz. There are so many phase bins.
    pub ratio_cycles: u32,
    /// Counter ticks that last as long as `ratio_cycles`.
    pub ratio_ticks: u32,
    /// CPU cycles of known delay put between the caller's read and the call, for the ladder of known delays; else 0.
    pub added_delay: u32,
    /// Whether every pair is sent as well.
    pub raw_pairs: bool,
}

/// How often a difference of so many ticks was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickCount {
    /// Difference of the pair's counter values, in ticks.
    pub ticks: u32,
    /// Pairs with this difference.
    pub count: u32,
}

/// A piece of one batch's histogram, by rising ticks; only differences that were seen are listed. A batch may take
/// several pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickCounts {
    /// The window.
    pub window: u32,
    /// Counts the batches from 0.
    pub batch: u16,
    /// The entries.
    pub entries: Vec<TickCount, TICK_ENTRIES>,
}

/// A piece of the phase histogram of the whole window.
///
/// Bin b counts the pairs at whose caller's read PMCCNTR_EL0 modulo `ratio_cycles` was b. With `ratio_ticks` above 1
/// that is the phase over so many ticks; within one tick it is `b * ratio_ticks` modulo `ratio_cycles`, in cycles
/// divided by `ratio_ticks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// The window.
    pub window: u32,
    /// Number of the first bin here.
    pub first: u32,
    /// Pairs in this bin and those that follow it.
    pub counts: Vec<u32, PHASE_BINS>,
}

/// One pair of counter reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The caller's read.
    pub pre: u64,
    /// Ticks from there to the read inside the snapshot.
    pub delta: u32,
}

/// Some pairs in the order in which they were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// The window.
    pub window: u32,
    /// Number of the first pair here; the window's pairs are counted from 0.
    pub first: u32,
    /// The pairs.
    pub pairs: Vec<Pair, PAIRS>,
}

/// The end of a path measurement: everything else of the window was sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathDone {
    /// The window.
    pub window: u32,
    /// Pairs counted: the sum of all histograms and of `overflow`.
    pub iterations: u32,
    /// Pairs at which PMCCNTR_EL0 and the counter had come apart by more than a tick since the window's first pair:
    /// unless this is 0, the phases say nothing.
    pub phase_disagreements: u32,
    /// Pairs whose difference the histogram could not hold: they are in no [`TickCounts`].
    pub overflow: u32,
    /// Pairs for which the snapshot was not valid: they are counted all the same, and there must be none.
    pub invalid: u32,
    /// PMCCNTR_EL0 cycles that the longest random delay takes more than the shortest: `dither_steps` less one where a
    /// step is one cycle.
    pub dither_cycles: u32,
    /// Instructions that the batches executed with everything around the pairs, where the core counts them (event
    /// INST_RETIRED): divided by the iterations, the length of the measuring loop.
    pub instructions: Option<u64>,
}
