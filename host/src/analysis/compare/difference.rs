//! A difference of two sides, with the session as the unit: paired where sessions were interleaved, else Welch's.

use super::student::{self, mean_share, p_value, shift_found, two_sided};

/// Mean and variance of the sessions of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Sessions.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their sample variance.
    pub variance: f64,
}

impl Moments {
    /// Of values. None of fewer than two.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let (count, freedom) = (values.len() as f64, values.len().checked_sub(2)? as f64 + 1.0);
        let first = *values.first()?;
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
        Some(Self { count: values.len() as u64, mean, variance })
    }

    /// Squared standard error of the mean.
    fn error(&self) -> f64 {
        self.variance / self.count as f64
    }
}

/// How two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Student's t over the differences of so many neighbours.
    Paired(u64),
    /// Welch's t over the sessions of each side.
    Welch,
}

/// New less base, with what it is uncertain by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the standard error.
    pub freedom: f64,
    /// Where they come from.
    pub design: Design,
}

impl Difference {
    /// Welch's, degrees of freedom by Satterthwaite.
    #[must_use]
    pub fn welch(base: &Moments, new: &Moments) -> Self {
        let (a, b) = (base.error(), new.error());
        let (from_a, from_b) = ((base.count - 1) as f64, (new.count - 1) as f64);
        let spread = a * a / from_a + b * b / from_b;
        // Without any spread both terms are 0, and so is the interval.
        let freedom = if spread > 0.0 { (a + b).powi(2) / spread } else { from_a + from_b };
        Self { value: new.mean - base.mean, error: (a + b).sqrt(), freedom, design: Design::Welch }
    }

    /// Over differences of neighbours. None of fewer than two.
    #[must_use]
    pub fn paired(differences: &[f64]) -> Option<Self> {
        let moments = Moments::of(differences)?;
        Some(Self {
            value: moments.mean,
            error: moments.error().sqrt(),
            freedom: (moments.count - 1) as f64,
            design: Design::Paired(moments.count),
        })
    }

    /// The same with at least this standard error.
    #[must_use]
    pub fn at_least(self, error: f64) -> Self {
        Self { error: self.error.max(error), ..self }
    }

    /// Probability of a difference as far beyond the margin as this one, where the true one is at the margin: that it
    /// lies within `alpha` means just that the interval at `alpha` is wholly beyond the margin.
    #[must_use]
    pub fn p_value(&self, margin: f64) -> f64 {
        let beyond = self.value.abs() - margin;
        match (beyond > 0.0, self.error > 0.0) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => p_value(beyond / self.error, self.freedom),
        }
    }

    /// The interval that holds the true difference but for `alpha`.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = if self.error > 0.0 { two_sided(alpha, self.freedom) * self.error } else { 0.0 };
        (self.value - half, self.value + half)
    }

    /// The smallest true difference whose interval at `alpha` is beyond the margin with this power, on average over what
    /// the spread is estimated as: few sessions show less of it than there is, which is made up for.
    #[must_use]
    pub fn resolvable(&self, alpha: f64, margin: f64, power: f64) -> Option<f64> {
        let critical = two_sided(alpha, self.freedom);
        let shift = shift_found(power, |shift| student::power(shift, self.freedom, critical))?;
        Some(margin + shift * self.error / mean_share(self.freedom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welch_is_that_of_the_textbook() {
        let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
        let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
        let (a, b) = (Moments::of(&a).unwrap(), Moments::of(&b).unwrap());
        let found = Difference::welch(&a, &b);
        // The p-value: Student's density integrated by Simpson's rule, outside.
        assert!((found.value - (354.8 - 312.3) / 15.0).abs() < 1e-9, "{found:?}");
        let (va, vb) = (a.variance / 15.0, b.variance / 15.0);
        let freedom = (va + vb).powi(2) / (va * va / 14.0 + vb * vb / 14.0);
        assert!((found.freedom - freedom).abs() < 1e-9 && (found.error - (va + vb).sqrt()).abs() < 1e-12);
        assert!((found.p_value(0.0) - 0.008_071_938).abs() < 1e-7, "{}", found.p_value(0.0));
    }

    #[test]
    fn the_p_value_and_the_interval_agree_about_the_margin() {
        let one = Difference { value: 3.0, error: 0.8, freedom: 7.3, design: Design::Welch };
        for margin in [0.0, 0.5, 1.0, 2.9, 3.0, 4.0] {
            let p = one.p_value(margin);
            for alpha in [0.001, 0.01, 0.05, 0.2] {
                assert_eq!(
                    p < alpha,
                    one.interval(alpha).0 > margin,
                    "margin {margin}, alpha {alpha}, p {p}"
                );
            }
        }
    }

    #[test]
    fn pairs_take_out_what_both_neighbours_share() {
        let found = Difference::paired(&[1.0, 1.1, 0.9, 1.0]).unwrap();
        assert!((found.value - 1.0).abs() < 1e-12 && found.freedom == 3.0 && found.error < 0.05);
        assert_eq!(Difference::paired(&[1.0]), None);
    }

    #[test]
    fn sessions_without_any_spread_have_an_interval_of_one_point() {
        let side = |mean| Moments { count: 3, mean, variance: 0.0 };
        let found = Difference::welch(&side(23.0), &side(13.0));
        assert_eq!(
            (found.interval(0.01), found.p_value(1.0), found.p_value(10.0)),
            ((-10.0, -10.0), 0.0, 1.0)
        );
    }
}
