//! The `path` measurement: pairs of counter reads, each after a random delay, counted where they are taken.
//!
//! [`PathRun`] decides what to measure next and holds what was counted; a [`PairSource`] takes the pairs. A batch is
//! measured in chunks, each with interrupts masked and after some pairs that warm it up; between chunks the messages
//! go out. Must stay in step with `ppsrig-wire`, whose documentation says what each figure is.

mod phase;
mod ticks;

use heapless::Vec;
use ppsrig_wire::{FromBoard, Pair, Pairs, PathDone, PathPlan, PhaseCounts, TickCounts};

pub use self::phase::MAX_RATIO_CYCLES;
use self::{phase::Phases, ticks::TickHistogram};
use crate::random::UniformDraw;

/// Longest random delay, in steps of a cycle: the firmware's chain of adds is so long.
pub const MAX_DITHER_STEPS: u32 = 4096;
/// Longest known delay in the measured path, in cycles.
pub const MAX_ADDED_DELAY: u32 = 256;
/// Pairs that are taken and not counted before each chunk: caches, branch predictors and an emulator's translations
/// are warm then.
pub const WARM_UP: u32 = 256;
/// Pairs counted in one chunk.
const CHUNK: u32 = 4096;
/// Raw pairs that wait to be sent; with them, a chunk is so long.
const RAW: usize = 1024;

/// What one pair gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reading {
    /// PMCCNTR_EL0, read just before the caller's read of the counter.
    pub cycles: u64,
    /// The caller's read of the counter.
    pub pre: u64,
    /// The counter read inside the snapshot.
    pub inner: u64,
    /// Whether the snapshot was valid.
    pub valid: bool,
}

/// The machine's part of the measurement.
pub trait PairSource {
    /// Waits `dither` cycles, then takes one pair.
    fn pair(&mut self, dither: u32) -> Reading;
    /// Instructions executed so far, modulo 2^32, if the core counts them.
    fn instructions(&self) -> Option<u32>;
    /// Cycles that a delay of `steps` less one takes more than none.
    fn dither_cycles(&mut self, steps: u32) -> u32;
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    Measure,
    SendPairs,
    SendTicks,
    SendPhases,
    SendDone,
}

/// What a measurement counts in. It is large, and apart from the rest because it is all zeros as made: an image need
/// not hold it.
#[derive(Debug)]
pub struct PathMemory {
    ticks: TickHistogram,
    phases: Phases,
    raw: Vec<Pair, RAW>,
}

impl PathMemory {
    /// Nothing counted.
    #[must_use]
    pub const fn new() -> Self {
        Self { ticks: TickHistogram::new(), phases: Phases::new(), raw: Vec::new() }
    }
}

impl Default for PathMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// One path measurement, from its plan to its last message.
#[derive(Debug)]
pub struct PathRun<'a> {
    stage: Stage,
    plan: Option<PathPlan>,
    delays: UniformDraw,
    memory: &'a mut PathMemory,
    raw_sent: usize,
    batch: u16,
    /// Pairs counted in this batch.
    in_batch: u32,
    totals: Totals,
}

/// What is counted over the whole window.
#[derive(Clone, Copy, Debug)]
struct Totals {
    iterations: u32,
    overflow: u32,
    invalid: u32,
    dither_cycles: u32,
    instructions: Option<u64>,
}

impl Totals {
    const NONE: Self = Self { iterations: 0, overflow: 0, invalid: 0, dither_cycles: 0, instructions: None };
}

/// Whether a board can measure with these figures.
#[must_use]
pub const fn feasible(plan: &PathPlan) -> bool {
    let ratio = plan.ratio_cycles >= 1 && plan.ratio_cycles <= MAX_RATIO_CYCLES && plan.ratio_ticks >= 1;
    let dither = !plan.dither
        || (ratio
            && plan.dither_steps >= 1
            && plan.dither_steps <= MAX_DITHER_STEPS
            && plan.dither_steps.is_multiple_of(plan.ratio_cycles));
    let sizes = plan.batches >= 1 && plan.iterations >= plan.batches as u32;
    ratio && dither && sizes && plan.added_delay <= MAX_ADDED_DELAY
}

/// Pairs in batch `batch` of a plan: sizes differ by at most one, larger ones first.
const fn batch_size(plan: &PathPlan, batch: u16) -> u32 {
    let batches = plan.batches as u32;
    plan.iterations / batches + ((batch as u32) < plan.iterations % batches) as u32
}

impl<'a> PathRun<'a> {
    /// One that has nothing to do.
    #[must_use]
    pub const fn new(memory: &'a mut PathMemory) -> Self {
        Self {
            stage: Stage::Idle,
            plan: None,
            delays: UniformDraw::new(0, 1),
            memory,
            raw_sent: 0,
            batch: 0,
            in_batch: 0,
            totals: Totals::NONE,
        }
    }

    /// Begins a measurement. The plan must be [`feasible`].
    pub fn start(&mut self, plan: PathPlan) {
        self.delays = UniformDraw::new(plan.seed, if plan.dither { plan.dither_steps } else { 1 });
        self.memory.ticks.clear();
        self.memory.phases.restart(&plan);
        self.memory.raw.clear();
        self.batch = 0;
        self.in_batch = 0;
        self.totals = Totals::NONE;
        self.plan = Some(plan);
        self.stage = Stage::Measure;
    }

    /// Whether a measurement goes on, its messages included.
    #[must_use]
    pub fn running(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// The plan to measure a chunk of; none while there are messages to send, or nothing to do.
    #[must_use]
    pub fn due(&self) -> Option<PathPlan> {
        self.plan.filter(|_| self.stage == Stage::Measure)
    }

    /// Measures one chunk of what is [`due`](Self::due).
    pub fn measure(&mut self, source: &mut impl PairSource) {
        let Some(plan) = self.due() else { return };
        if self.totals.iterations == 0 && plan.dither {
            self.totals.dither_cycles = source.dither_cycles(plan.dither_steps);
        }
        let longest = if plan.raw_pairs { RAW as u32 } else { CHUNK };
        let pairs = longest.min(batch_size(&plan, self.batch) - self.in_batch);
        for _ in 0..WARM_UP {
            source.pair(self.delays.next());
        }
        let before = source.instructions();
        for _ in 0..pairs {
            let reading = source.pair(self.delays.next());
            self.count(&reading, plan.raw_pairs);
        }
        if let (Some(before), Some(after)) = (before, source.instructions()) {
            let so_far = self.totals.instructions.unwrap_or(0);
            self.totals.instructions = Some(so_far + u64::from(after.wrapping_sub(before)));
        }
        self.in_batch += pairs;
        self.totals.iterations += pairs;
        self.raw_sent = 0;
        self.stage = Stage::SendPairs;
    }

    #[inline]
    fn count(&mut self, reading: &Reading, raw: bool) {
        let delta = reading.inner.wrapping_sub(reading.pre);
        self.memory.ticks.count(delta);
        self.memory.phases.count(reading.cycles, reading.pre);
        self.totals.invalid += u32::from(!reading.valid);
        if raw {
            let delta = u32::try_from(delta).unwrap_or(u32::MAX);
            let _room = self.memory.raw.push(Pair { pre: reading.pre, delta });
        }
    }

    /// The next message; none while there is a chunk to measure, or nothing to do.
    pub fn message(&mut self) -> Option<FromBoard> {
        let plan = self.plan?;
        let window = plan.window;
        loop {
            match self.stage {
                Stage::Idle | Stage::Measure => return None,
                Stage::SendPairs => {
                    if let Some(message) = self.pairs(window) {
                        return Some(message);
                    }
                    self.memory.raw.clear();
                    let complete = self.in_batch == batch_size(&plan, self.batch);
                    self.stage = if complete { Stage::SendTicks } else { Stage::Measure };
                }
                Stage::SendTicks => {
                    let entries = self.memory.ticks.piece();
                    if !entries.is_empty() {
                        return Some(FromBoard::TickCounts(TickCounts {
                            window,
                            batch: self.batch,
                            entries,
                        }));
                    }
                    self.next_batch(&plan);
                }
                Stage::SendPhases => match self.memory.phases.piece() {
                    Some((first, counts)) => {
                        return Some(FromBoard::PhaseCounts(PhaseCounts { window, first, counts }));
                    }
                    None => self.stage = Stage::SendDone,
                },
                Stage::SendDone => {
                    self.stage = Stage::Idle;
                    return Some(FromBoard::PathDone(self.done(window)));
                }
            }
        }
    }

    fn pairs(&mut self, window: u32) -> Option<FromBoard> {
        let rest = self.memory.raw.get(self.raw_sent..).filter(|rest| !rest.is_empty())?;
        let pairs: Vec<Pair, { ppsrig_wire::PAIRS }> =
            rest.iter().copied().take(ppsrig_wire::PAIRS).collect();
        let first = self.totals.iterations - rest.len() as u32;
        self.raw_sent += pairs.len();
        Some(FromBoard::Pairs(Pairs { window, first, pairs }))
    }

    fn next_batch(&mut self, plan: &PathPlan) {
        self.totals.overflow += self.memory.ticks.overflow();
        self.memory.ticks.clear();
        self.in_batch = 0;
        self.batch += 1;
        self.stage = if self.batch < plan.batches { Stage::Measure } else { Stage::SendPhases };
    }

    fn done(&self, window: u32) -> PathDone {
        let Totals { iterations, overflow, invalid, dither_cycles, instructions } = self.totals;
        let phase_disagreements = self.memory.phases.disagreements();
        PathDone { window, iterations, phase_disagreements, overflow, invalid, dither_cycles, instructions }
    }
}

#[cfg(test)]
mod tests;
