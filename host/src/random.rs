//! SplitMix64 (Steele, Lea and Flood 2014): numbers that are the same for the same seed, for seeds of sessions, for orders of nights and
//! for simulations.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next number, and the state behind it.
pub const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GAMMA);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The first number of a seed.
#[must_use]
pub const fn first(mut seed: u64) -> u64 {
    next(&mut seed)
}

/// Uniform below `end`; the bias is below one part in 2^64 / end.
pub fn below(state: &mut u64, end: u64) -> u64 {
    ((u128::from(next(state)) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_output_of_seed_1234567_is_the_published_one() {
        assert_eq!(super::first(1_234_567), 6_457_827_717_110_365_317);
    }
}
