//! Holm's way through several tests, so that the chance of any false alarm stays below alpha.

/// The level of each test: the smallest p against alpha by the number of tests, the next one against alpha by one fewer,
/// and so on; from the first that is not below its level on, all have that level. A test whose p is below its level is
/// one that Holm rejects, and the interval at this level is beyond the margin.
#[must_use]
pub fn levels(p_values: &[f64], alpha: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut levels = vec![alpha; p_values.len()];
    let mut left = p_values.len();
    let mut level = alpha / left.max(1) as f64;
    let mut stopped = false;
    for index in order {
        if !stopped {
            level = alpha / left as f64;
            left -= 1;
            stopped = p_values[index] >= level;
        }
        levels[index] = level;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rejection_leaves_more_to_the_rest_until_the_first_that_is_none() {
        // 0.001 < 0.01/4, 0.003 < 0.01/3, 0.02 >= 0.01/2: it stops there.
        assert_eq!(levels(&[0.02, 0.001, 0.5, 0.003], 0.01), [0.005, 0.0025, 0.005, 0.01 / 3.0]);
        // Holm stops at the first: the second is below alpha, and not rejected.
        let two = levels(&[0.006, 0.007], 0.01);
        assert!(two.iter().all(|level| *level == 0.005), "{two:?}");
        assert_eq!(levels(&[0.4], 0.01), [0.01]);
        assert_eq!(levels(&[], 0.01), Vec::<f64>::new());
    }
}
