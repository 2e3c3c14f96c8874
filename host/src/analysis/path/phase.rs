//! How far the mean can be off because the counter's phase at the caller's read was not uniform.
//!
//! With phase p in [0, 1) ticks and latency l, the counter advances by D = floor(p + l). For l = m + f that is m, and one
//! more where p >= 1 - f; so the mean of D is off by x - F(x) with x = 1 - f, where F is the share of phases below x.
//! Where the ticks' edges lie among PMCCNTR's phases is not known, so the largest difference between any two edges
//! counts: that is Kuiper's V = max(F(x) - x) - min(F(x) - x), over the bins' edges. For latencies of whole CPU cycles
//! no other x occurs; for others it can be one cycle more. No test on D alone sees any of this.

use crate::units::Hertz;

/// Most phase bins: more than any ratio of real clocks needs, few enough for a corrupted bench file.
pub const MOST_BINS: u64 = 1 << 20;

/// The ratio of CPU clock and counter in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// CPU cycles...
    pub cycles: u32,
    /// ... that last as long as so many ticks.
    pub ticks: u32,
}

impl Ratio {
    /// Of these clocks. None where one of them stands still, or where they have so little in common that phases repeat
    /// only after more than [`MOST_BINS`] cycles.
    #[must_use]
    pub fn of(cpu: Hertz, counter: Hertz) -> Option<Self> {
        let cycles = crate::plan::whole_tick_steps(cpu, counter);
        let ticks = crate::plan::whole_tick_steps(counter, cpu);
        let usable = (1..=MOST_BINS).contains(&cycles) && (1..=MOST_BINS).contains(&ticks);
        usable.then_some(Self { cycles: cycles as u32, ticks: ticks as u32 })
    }

    /// Whether the counter advances with every cycle, so that a latency of whole cycles is one of whole ticks and no
    /// phase exists.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.cycles == 1
    }
}

/// A bound on the bias: `excess / (bins * reads)` ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BiasBound {
    /// Kuiper's V, times `scale`.
    pub excess: u128,
    /// Bins times reads.
    pub scale: u128,
}

impl BiasBound {
    /// From the phase histogram: bin b counts the reads at PMCCNTR modulo `ratio.cycles` = b. None without reads, or
    /// where the bins are not those of the ratio.
    #[must_use]
    pub fn of(bins: &[u64], ratio: Ratio) -> Option<Self> {
        let reads: u128 = bins.iter().map(|&count| u128::from(count)).sum();
        if reads == 0 || bins.len() != ratio.cycles as usize {
            return None;
        }
        let size = bins.len() as i128;
        let (mut gap, mut highest, mut lowest) = (0_i128, 0_i128, 0_i128);
        for count in in_order_of_phase(bins, ratio.ticks) {
            gap += size * i128::from(count) - reads as i128;
            highest = highest.max(gap);
            lowest = lowest.min(gap);
        }
        Some(Self { excess: highest.abs_diff(lowest), scale: size.unsigned_abs() * reads })
    }

    /// In picoseconds, rounded up.
    #[must_use]
    pub fn ps(self, counter: Hertz) -> u128 {
        (self.excess * 1_000_000_000_000).div_ceil(self.scale * u128::from(counter.0.max(1)))
    }

    /// Whether it is more than so many picoseconds, exactly.
    #[must_use]
    pub fn exceeds(self, ps: u64, counter: Hertz) -> bool {
        self.excess * 1_000_000_000_000 > u128::from(ps) * self.scale * u128::from(counter.0)
    }
}

/// The counts in the order of the phase within a tick: a cycle advances it by `ticks / cycles`, so bin b is the
/// `b * ticks mod cycles`th.
fn in_order_of_phase(bins: &[u64], ticks: u32) -> Vec<u64> {
    let mut ordered = vec![0; bins.len()];
    for (bin, count) in bins.iter().enumerate() {
        ordered[bin * ticks as usize % bins.len()] = *count;
    }
    ordered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::Random;
    use super::*;

    const EIGHTY: Ratio = Ratio { cycles: 80, ticks: 1 };
    const SLOW: Hertz = Hertz(12_500_000);

    /// The worst difference between mean and latency over every latency of whole cycles and every start of a tick
    /// among the phases, times cycles times reads. Counted read by read, without a word about distributions.
    fn worst_bias(bins: &[u64], ratio: Ratio) -> u128 {
        let (cycles, ticks) = (u64::from(ratio.cycles), u64::from(ratio.ticks));
        let reads: u64 = bins.iter().sum();
        let mut worst = 0;
        for start in 0..cycles {
            for latency in 0..2 * cycles {
                // In parts of a tick, of which `cycles` are one: a cycle is `ticks` of them.
                let advance = |bin: u64| {
                    let phase = (bin * ticks + start) % cycles;
                    (phase + latency * ticks) / cycles
                };
                let seen: u64 = bins.iter().zip(0..).map(|(count, bin)| count * advance(bin)).sum();
                worst = worst.max((seen * cycles).abs_diff(latency * ticks * reads));
            }
        }
        u128::from(worst)
    }

    /// Phases of a loop of so many cycles that nothing delays, over whole rounds.
    fn undithered(cycles: usize) -> Vec<u64> {
        let mut bins = vec![0; 80];
        (0..80 * 50).for_each(|read| bins[read * cycles % 80] += 1);
        bins
    }

    #[test]
    fn loops_in_step_with_the_counter_have_exactly_their_worst_bias_as_bound() {
        for (cycles, ps) in [(76, 3000), (82, 1000), (83, 0), (85, 4000), (90, 9000)] {
            let bins = undithered(cycles);
            let bound = BiasBound::of(&bins, EIGHTY).unwrap();
            assert_eq!(bound.excess, worst_bias(&bins, EIGHTY), "a loop of {cycles} cycles");
            assert_eq!(bound.ps(SLOW), ps, "a loop of {cycles} cycles");
        }
    }

    #[test]
    fn a_million_uniform_phases_are_a_tenth_of_a_nanosecond() {
        let mut random = Random(1);
        let mut bounds: Vec<u128> = (0..40)
            .map(|_| {
                let mut bins = vec![0; 80];
                (0..1_000_000).for_each(|_| bins[random.below(80) as usize] += 1);
                BiasBound::of(&bins, EIGHTY).unwrap().ps(SLOW)
            })
            .collect();
        bounds.sort_unstable();
        assert!((75..115).contains(&bounds[20]), "median {} ps", bounds[20]);
        assert!(bounds[39] < 200, "largest {} ps", bounds[39]);
    }

    #[test]
    fn all_reads_at_one_phase_are_as_bad_as_can_be() {
        let mut bins = vec![0; 80];
        bins[17] = 1000;
        assert_eq!(BiasBound::of(&bins, EIGHTY).unwrap().ps(SLOW), 79_000);
        assert_eq!(worst_bias(&bins, EIGHTY), BiasBound::of(&bins, EIGHTY).unwrap().excess);
    }

    #[test]
    fn a_counter_that_follows_every_cycle_has_no_phase() {
        let ratio = Ratio::of(Hertz(1_000_000_000), Hertz(1_000_000_000)).unwrap();
        assert!(ratio.is_whole());
        assert_eq!(BiasBound::of(&[1000], ratio).unwrap().ps(Hertz(1_000_000_000)), 0);
    }

    #[test]
    fn the_limit_is_compared_exactly() {
        let bound = BiasBound::of(&undithered(82), EIGHTY).unwrap();
        assert!(!bound.exceeds(1000, SLOW));
        assert!(bound.exceeds(999, SLOW));
    }

    #[test]
    fn bins_of_another_ratio_and_no_reads_have_no_bound() {
        assert_eq!(BiasBound::of(&[1; 79], EIGHTY), None);
        assert_eq!(BiasBound::of(&[0; 80], EIGHTY), None);
        assert_eq!(Ratio::of(Hertz(1_500_000_000), Hertz(54_000_000)), Some(Ratio { cycles: 250, ticks: 9 }));
        assert_eq!(Ratio::of(Hertz(1_000_000_007), Hertz(12_500_000)), None);
        assert_eq!(Ratio::of(Hertz(0), Hertz(0)), None);
    }

    proptest! {
        #[test]
        fn the_bound_is_the_worst_bias_whatever_the_phases_and_the_ratio(
            (cycles, ticks) in (1..24_u32, 1..24_u32).prop_filter("lowest terms", |(a, b)| {
                crate::plan::whole_tick_steps(Hertz((*a).into()), Hertz((*b).into())) == u64::from(*a)
            }),
            seed in any::<u64>(),
        ) {
            let (ratio, mut random) = (Ratio { cycles, ticks }, Random(seed));
            let bins: Vec<u64> = (0..cycles).map(|_| random.below(50).into()).collect();
            if let Some(bound) = BiasBound::of(&bins, ratio) {
                prop_assert_eq!(bound.excess, worst_bias(&bins, ratio));
            }
        }
    }
}
