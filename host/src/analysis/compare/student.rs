//! Student's t and its power: quantiles from statrs, the noncentral law by quadrature, since statrs has none.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

/// Intervals of Simpson's rule over the law of the standard deviation.
const STEPS: u32 = 100;
/// Most steps of the search for a shift, and how exact it is, in standard errors.
const SEARCH: u32 = 60;
const EXACT: f64 = 1e-6;

/// What |t| exceeds with probability `alpha` where there is no difference. Infinite without a degree of freedom.
#[must_use]
pub fn two_sided(alpha: f64, freedom: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| (0.0..1.0).contains(&alpha) && alpha > 0.0);
    law.map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - alpha / 2.0))
}

/// Probability that |t| is this large or larger where there is no difference.
#[must_use]
pub fn p_value(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |law| (2.0 * law.sf(t.abs())).min(1.0))
}

/// Probability that t exceeds `critical` where the true difference is `shift` standard errors: the upper tail of the
/// noncentral t. The mean is normal and the estimated standard deviation an independent chi, so it is the mean of
/// Phi(shift - critical s) over the law of s.
#[must_use]
pub fn power(shift: f64, freedom: f64, critical: f64) -> f64 {
    if !critical.is_finite() {
        return 0.0;
    }
    let reach = 9.0 / (2.0 * freedom).sqrt();
    // Beyond this s the integrand is nothing.
    let end = if critical > 0.0 { (shift + 9.0) / critical } else { f64::INFINITY };
    let (from, to) = ((1.0 - reach).max(0.0), (1.0 + reach).min(end));
    if from >= to {
        return 0.0;
    }
    let half = freedom / 2.0;
    let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |s: f64| match s > 0.0 {
        true => (constant + (freedom - 1.0) * s.ln() - half * s * s).exp(),
        // Only one degree of freedom has weight at 0.
        false if freedom <= 1.0 => constant.exp(),
        false => 0.0,
    };
    let at = |s: f64| density(s) * 0.5 * erfc((critical * s - shift) / std::f64::consts::SQRT_2);
    let step = (to - from) / f64::from(STEPS);
    let inner: f64 = (1..STEPS)
        .map(|index| at(from + step * f64::from(index)) * if index % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    ((at(from) + inner + at(to)) * step / 3.0).clamp(0.0, 1.0)
}

/// A standard deviation that is estimated with so many degrees of freedom is this share of the true one, on average.
#[must_use]
pub fn mean_share(freedom: f64) -> f64 {
    let half = freedom / 2.0;
    (ln_gamma(half + 0.5) - ln_gamma(half)).exp() / half.sqrt()
}

/// The shift, in standard errors, at which a power that rises with it reaches `wanted`: regula falsi, with the end that
/// stands still given half its weight (Illinois). None where no shift below ten thousand does.
#[must_use]
pub fn shift_found(wanted: f64, power: impl Fn(f64) -> f64) -> Option<f64> {
    let short = |shift: f64| power(shift) - wanted;
    let (mut low, mut high) = (0.0, 8.0);
    let mut below = short(low);
    let mut above = short(high);
    while above < 0.0 {
        (low, below, high) = (high, above, high * 2.0);
        above = short(high);
        if high > 1e4 {
            return None;
        }
    }
    let mut side = 0;
    for _ in 0..SEARCH {
        let middle = (low * above - high * below) / (above - below);
        let at = short(middle);
        if (high - low).abs() < EXACT || at.abs() < EXACT * wanted {
            return Some(middle);
        }
        if at < 0.0 {
            (low, below) = (middle, at);
            above /= if side == -1 { 2.0 } else { 1.0 };
            side = -1;
        } else {
            (high, above) = (middle, at);
            below /= if side == 1 { 2.0 } else { 1.0 };
            side = 1;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (alpha, freedom, wanted) in [
            (0.05, 2.0, 4.302_653),
            (0.01, 18.0, 2.878_440),
            (0.01, 4.0, 4.604_095),
            (0.001, 10.0, 4.586_894),
        ] {
            let found = two_sided(alpha, freedom);
            assert!((found - wanted).abs() < 1e-5, "alpha {alpha}, {freedom}: {found}");
            assert!((p_value(found, freedom) - alpha).abs() < 1e-8);
        }
        assert_eq!(two_sided(0.01, 0.0), f64::INFINITY);
    }

    #[test]
    fn without_a_shift_the_power_is_half_of_alpha() {
        for freedom in [1.0, 2.0, 3.5, 9.0, 18.0, 200.0] {
            for alpha in [0.05, 0.01, 0.001] {
                let found = power(0.0, freedom, two_sided(alpha, freedom));
                assert!((found - alpha / 2.0).abs() < 2e-5, "{freedom} {alpha}: {found}");
            }
        }
    }

    /// The law of the noncentral t with two degrees of freedom can be integrated by parts, with many a degree it is
    /// nearly normal.
    #[test]
    fn the_noncentral_law_has_its_known_limits() {
        let normal = |x: f64| 0.5 * erfc(-x / std::f64::consts::SQRT_2);
        assert!((power(3.0, 1e5, 2.0) - normal(1.0)).abs() < 1e-3);
        // Two degrees: s^2 is exponential with mean 1, so P(T <= t) = Phi(-d) + t/sqrt(t^2+2) exp(-d^2/(t^2+2)) Phi(d t/sqrt(t^2+2)).
        for (shift, t) in [(1.0, 2.0), (3.0, 4.3), (8.0, 9.925)] {
            let root = f64::sqrt(t * t + 2.0);
            let below =
                normal(-shift) + t / root * (-shift * shift / (t * t + 2.0)).exp() * normal(shift * t / root);
            let found = power(shift, 2.0, t);
            assert!((found - (1.0 - below)).abs() < 1e-5, "{shift} {t}: {found} {}", 1.0 - below);
        }
    }

    #[test]
    fn small_samples_show_less_spread_than_there_is() {
        for (freedom, wanted) in [(1.0, 0.797_885), (2.0, 0.886_227), (4.0, 0.939_986), (9.0, 0.972_659)] {
            assert!((mean_share(freedom) - wanted).abs() < 1e-6, "{freedom}: {}", mean_share(freedom));
        }
    }

    #[test]
    fn ten_sessions_a_side_find_two_spreads_nine_times_in_ten() {
        // The standard error is the root of 2/10 spreads.
        let critical = two_sided(0.01, 18.0);
        let found = power(2.0 / 0.2_f64.sqrt(), 18.0, critical);
        assert!((0.92..0.95).contains(&found), "{found}");
        let back = shift_found(found, |shift| power(shift, 18.0, critical)).unwrap();
        assert!((back - 2.0 / 0.2_f64.sqrt()).abs() < 1e-4, "{back}");
        assert_eq!(shift_found(0.9, |shift| power(shift, 18.0, f64::INFINITY)), None);
    }
}
