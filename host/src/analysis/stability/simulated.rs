//! Noise of a known power law, for tests: white noise through the filter (1 - z)^(-b/2), b = 2 - alpha (Kasdin & Walter).

use crate::series::{Phase, Series};

/// Standard normal numbers, the same for the same seed: SplitMix64, Box and Muller.
pub(super) struct Normal(pub(super) u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        (crate::random::next(&mut self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn next(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The impulse response of the filter.
pub(super) fn response(alpha: i32, length: usize) -> Vec<f64> {
    let half = f64::from(2 - alpha) / 2.0;
    let next = |(h, k): (f64, f64)| (h * (k + half) / (k + 1.0), k + 1.0);
    let mut state = (1.0, 0.0);
    let mut response = Vec::with_capacity(length);
    for _ in 0..length {
        response.push(state.0);
        state = next(state);
    }
    response
}

/// Phase of a power law from -2 to 2, in seconds at one point a second.
pub(super) fn phase(alpha: i32, points: usize, normal: &mut Normal) -> Series {
    // Whole powers are sums; flicker has a past, of which as much again is made as is kept.
    let sums = |times: usize, mut values: Vec<f64>| {
        for _ in 0..times {
            let mut sum = 0.0;
            for value in &mut values {
                sum += *value;
                *value = sum;
            }
        }
        values
    };
    let phase = if alpha.rem_euclid(2) == 0 {
        let white = (0..points).map(|_| normal.next()).collect();
        sums((1 - alpha.div_euclid(2)) as usize, white)
    } else {
        let white: Vec<_> = (0..2 * points).map(|_| normal.next()).collect();
        let response = response(1, 2 * points);
        let filtered = (points..2 * points).map(|end| {
            white[..=end].iter().rev().zip(&response).map(|(white, weight)| white * weight).sum::<f64>()
        });
        sums((1 - alpha) as usize / 2, filtered.collect())
    };
    Series { phase: Phase::Seconds(phase), tau0_s: 1.0, missing: 0 }
}
