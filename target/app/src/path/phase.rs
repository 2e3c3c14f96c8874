//! The phase at which the caller read the counter, and whether the two clocks stayed together.

use heapless::Vec;
use ppsrig_wire::{PHASE_BINS, PathPlan};

/// Most CPU cycles in the ratio of the two clocks, and so most bins.
pub const MAX_RATIO_CYCLES: u32 = 4096;

/// Counts PMCCNTR modulo the ratio of the two clocks, one bin a cycle.
#[derive(Debug)]
pub(super) struct Phases {
    bins: [u32; MAX_RATIO_CYCLES as usize],
    ratio_cycles: u64,
    ratio_ticks: u64,
    /// Cycles and counter at the window's first pair.
    origin: Option<(u64, u64)>,
    disagreements: u32,
    /// The next bin to be taken out.
    cursor: usize,
}

impl Phases {
    /// To be restarted before the first pair.
    pub(super) const fn new() -> Self {
        let bins = [0; MAX_RATIO_CYCLES as usize];
        Self { bins, ratio_cycles: 0, ratio_ticks: 0, origin: None, disagreements: 0, cursor: 0 }
    }

    /// Forgets everything, for a window with this plan, whose ratio was checked.
    pub(super) fn restart(&mut self, plan: &PathPlan) {
        self.bins.fill(0);
        self.ratio_cycles = u64::from(plan.ratio_cycles);
        self.ratio_ticks = u64::from(plan.ratio_ticks);
        self.origin = None;
        self.disagreements = 0;
        self.cursor = 0;
    }

    /// Counts one pair: PMCCNTR and the counter at the caller's read.
    #[inline]
    pub(super) fn count(&mut self, cycles: u64, counter: u64) {
        self.bins[(cycles % self.ratio_cycles) as usize] += 1;
        let (first_cycles, first_counter) = *self.origin.get_or_insert((cycles, counter));
        // Both sides in units of a cycle divided by `ratio_ticks`. The counter says nothing about the phase within its
        // tick, at either end, so up to a tick may lie between them.
        let by_cycles = cycles.wrapping_sub(first_cycles).wrapping_mul(self.ratio_ticks);
        let by_counter = counter.wrapping_sub(first_counter).wrapping_mul(self.ratio_cycles);
        let apart = (by_cycles.wrapping_sub(by_counter) as i64).unsigned_abs();
        if apart > self.ratio_cycles {
            self.disagreements += 1;
        }
    }

    /// Pairs at which the two had come apart by more than a tick.
    pub(super) const fn disagreements(&self) -> u32 {
        self.disagreements
    }

    /// The next bins and the number of the first; none when all were taken.
    pub(super) fn piece(&mut self) -> Option<(u32, Vec<u32, PHASE_BINS>)> {
        let rest = self.bins.get(self.cursor..self.ratio_cycles as usize).filter(|rest| !rest.is_empty())?;
        let first = self.cursor as u32;
        let counts: Vec<u32, PHASE_BINS> = rest.iter().copied().take(PHASE_BINS).collect();
        self.cursor += counts.len();
        Some((first, counts))
    }
}

#[cfg(test)]
mod tests {
    use ppsrig_wire::{ClockId, PathVariant};
    use proptest::prelude::*;

    use super::*;

    fn phases(ratio_cycles: u32, ratio_ticks: u32) -> Phases {
        let mut phases = Phases::new();
        phases.restart(&PathPlan {
            window: 1,
            variant: PathVariant::Inline,
            clock_id: ClockId::Realtime,
            iterations: 1,
            batches: 1,
            dither: true,
            seed: 1,
            dither_steps: ratio_cycles,
            ratio_cycles,
            ratio_ticks,
            added_delay: 0,
            raw_pairs: false,
        });
        phases
    }

    fn bins(phases: &mut Phases) -> std::vec::Vec<u32> {
        let mut bins = std::vec::Vec::new();
        while let Some((first, counts)) = phases.piece() {
            assert_eq!(first as usize, bins.len());
            bins.extend(counts);
        }
        bins
    }

    proptest! {
        #[test]
        fn clocks_in_step_agree_whatever_the_phase(
            start in 0u64..1 << 60,
            steps in prop::collection::vec(0u64..1_000_000, 1..100),
            (cycles, ticks) in prop_oneof![Just((80, 1)), Just((125, 2)), Just((875, 12)), Just((1, 1)), Just((1, 16))],
        ) {
            let mut phases = phases(cycles, ticks);
            let mut now = start;
            for step in &steps {
                now += step;
                let counter = u128::from(now) * u128::from(ticks) / u128::from(cycles);
                phases.count(now, counter as u64);
            }
            prop_assert_eq!(phases.disagreements(), 0);
            let bins = bins(&mut phases);
            prop_assert_eq!(bins.len(), cycles as usize);
            prop_assert_eq!(bins.iter().sum::<u32>() as usize, steps.len());
        }
    }

    #[test]
    fn a_cycle_counter_that_lost_more_than_a_tick_disagrees_from_then_on() {
        let mut phases = phases(80, 1);
        for i in 0..10u64 {
            let lost = if i >= 6 { 161 } else { 0 };
            phases.count(1_000_000 + 333 * i - lost, (1_000_000 + 333 * i) / 80);
        }
        assert_eq!(phases.disagreements(), 4);
    }

    #[test]
    fn a_bin_is_one_cycle() {
        let mut phases = phases(80, 1);
        (0..160).for_each(|cycles| phases.count(cycles, cycles / 80));
        (0..3).for_each(|_| phases.count(177, 2));
        let bins = bins(&mut phases);
        assert_eq!((bins[17], bins[16], bins[79]), (5, 2, 2));
    }
}
