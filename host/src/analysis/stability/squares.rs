//! What the loops of the total deviations and of THEO1 share.

/// Terms that are worked on together: a few loops over them that the compiler vectorises, out of the first cache.
pub(super) const BLOCK: usize = 256;

/// Sum of squares, in eight lanes that do not wait for one another.
#[inline(always)]
pub(super) fn sum_of_squares(terms: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (whole, rest) = terms.as_chunks::<8>();
    for chunk in whole {
        for (lane, term) in lanes.iter_mut().zip(chunk) {
            *lane += term * term;
        }
    }
    let rest: f64 = rest.iter().map(|term| term * term).sum();
    lanes.iter().sum::<f64>() + rest
}
