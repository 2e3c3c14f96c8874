//! Random numbers from a recorded seed, and the uniform draw from them.

/// SplitMix64 (Steele, Lea and Flood 2014): 64 random bits a step, each seed another sequence.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// Draws from 0 to a bound less one, each value with exactly the same probability.
///
/// Lemire's method (2019): the upper half of word times bound, where the few words that would make some values more
/// likely are drawn again. The time of a draw depends on how many words were drawn again and on nothing else, so it
/// says nothing about the value drawn: two multiplications and no division.
#[derive(Clone, Debug)]
pub struct UniformDraw {
    random: SplitMix64,
    bound: u64,
    /// 2^64 modulo the bound: products whose lower half is below it are drawn again.
    threshold: u64,
}

impl UniformDraw {
    /// Draws below `bound`, from the sequence of `seed`. A bound of 0 draws 0, as a bound of 1 does.
    #[must_use]
    pub const fn new(seed: u64, bound: u32) -> Self {
        let bound = bound as u64;
        let threshold = if bound == 0 { 0 } else { bound.wrapping_neg() % bound };
        Self { random: SplitMix64::new(seed), bound, threshold }
    }

    /// The next value.
    #[inline]
    pub const fn next(&mut self) -> u32 {
        loop {
            let word = self.random.next();
            if let Some(value) = self.scale(word) {
                return value;
            }
        }
    }

    /// The value that a word stands for; none if the word is to be drawn again.
    #[inline]
    const fn scale(&self, word: u64) -> Option<u32> {
        let product = word as u128 * self.bound as u128;
        if (product as u64) < self.threshold { None } else { Some((product >> 64) as u32) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn splitmix_gives_the_published_sequence() {
        // The first words of seed 1234567, as Rosetta Code's task and the reference implementation in C give them.
        let mut random = SplitMix64::new(1_234_567);
        let words = [(); 5].map(|()| random.next());
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(words, published);
    }

    /// How many of the 2^64 words stand for `value`, by arithmetic: word k above the first gives a lower half of `low
    /// + k * bound`.
    fn words_of(draw: &UniformDraw, value: u64) -> u128 {
        let bound = u128::from(draw.bound);
        let first = (u128::from(value) << 64).div_ceil(bound);
        let low = first * bound - (u128::from(value) << 64);
        let all = ((1u128 << 64) - low).div_ceil(bound);
        let rejected = draw.scale(first as u64).is_none();
        let next_is_taken = draw.scale(first as u64 + 1) == Some(value as u32);
        assert!(next_is_taken, "at most the first word of a value is drawn again");
        all - u128::from(rejected)
    }

    #[test]
    fn every_value_has_the_same_number_of_words() {
        for bound in [1, 2, 3, 7, 64, 80, 108, 125, 875, 1_000] {
            let draw = UniformDraw::new(0, bound);
            let words = ((1u128 << 64) - u128::from(draw.threshold)) / u128::from(bound);
            for value in 0..u64::from(bound) {
                assert_eq!(words_of(&draw, value), words, "{value} below {bound}");
            }
        }
    }

    #[test]
    fn a_million_draws_below_80_are_uniform() {
        let mut draw = UniformDraw::new(1, 80);
        let mut counts = [0f64; 80];
        (0..1_000_000).for_each(|_| counts[draw.next() as usize] += 1.0);
        let chi_square: f64 = counts.iter().map(|count| (count - 12_500.0).powi(2) / 12_500.0).sum();
        // 99.9 % of uniform draws lie below 124.8 with 79 degrees of freedom, and 0.1 % below 44.
        assert!((44.0..124.8).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn neighbouring_draws_are_independent() {
        let mut draw = UniformDraw::new(1, 8);
        let mut counts = [0f64; 64];
        let mut last = draw.next() as usize;
        for _ in 0..1_000_000 {
            let next = draw.next() as usize;
            counts[8 * last + next] += 1.0;
            last = next;
        }
        let chi_square: f64 = counts.iter().map(|count| (count - 15_625.0).powi(2) / 15_625.0).sum();
        assert!(chi_square < 103.4, "{chi_square}: 99.9 % lie below, with 63 degrees of freedom");
    }

    proptest! {
        #[test]
        fn draws_stay_below_their_bound(seed: u64, bound: u32) {
            let mut draw = UniformDraw::new(seed, bound);
            for _ in 0..100 {
                prop_assert!(draw.next() < bound.max(1));
            }
        }
    }
}
