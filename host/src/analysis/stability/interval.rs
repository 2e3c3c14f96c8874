//! The interval around a deviation, from the chi-squared distribution of its variance (SP1065 equation 45).

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::Deviation;
use super::edf::edf;

/// From so many degrees of freedom on a quantile is that of Wilson and Hilferty, which is right to 1e-9 there, while the
/// sum behind the exact one gets long.
const MANY: f64 = 1e5;

/// The interval that covers the true deviation with probability `confidence`, equally likely to be missed on both sides:
/// sqrt(edf / chi2(p, edf)) times `value`.
///
/// None where there is no formula for the degrees of freedom ([`edf`]), or where `confidence` is not between 0 and 1.
#[must_use]
pub fn chi_squared(
    deviation: Deviation,
    alpha: i32,
    m: u64,
    points: u64,
    confidence: f64,
    value: f64,
) -> Option<(f64, f64)> {
    if !(confidence > 0.0 && confidence < 1.0) || !value.is_finite() {
        return None;
    }
    let edf = edf(deviation, alpha, m, points)?;
    let bound = |p| Some(value * (edf / quantile(p, edf)?).sqrt());
    let (low, high) = (bound(0.5 + confidence / 2.0)?, bound(0.5 - confidence / 2.0)?);
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// The value that a chi-squared variable stays below with probability `p`.
fn quantile(p: f64, edf: f64) -> Option<f64> {
    if edf < MANY {
        return Some(ChiSquared::new(edf).ok()?.inverse_cdf(p));
    }
    let share = 2.0 / (9.0 * edf);
    let root = 1.0 - share + Normal::standard().inverse_cdf(p) * share.sqrt();
    Some(edf * root.powi(3))
}
