//! The interval around a deviation, from the chi-squared distribution of its variance (SP1065 equation 45).

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::edf::edf;
use super::{Deviation, Estimate, mod_total};

/// From so many degrees of freedom on a quantile is that of Wilson and Hilferty, which is right to 3e-8 there, while the
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
    bounds(edf(deviation, alpha, m, points)?, confidence, value)
}

/// The interval around an estimate: [`chi_squared`], with fewer degrees of freedom where not all terms were computed.
pub(super) fn around(
    (deviation, estimate): (Deviation, Estimate),
    alpha: i32,
    m: u64,
    points: u64,
    confidence: f64,
) -> Option<(f64, f64)> {
    let all = edf(deviation, alpha, m, points)?;
    let edf = match deviation {
        Deviation::Mtotdev | Deviation::Ttotdev | Deviation::Htotdev => {
            all * mod_total::share(m, estimate.n, points.saturating_sub(3 * m).max(1))
        }
        // A start can say no more than one thing, and for phase noise each of them says one.
        Deviation::Theo1 if estimate.n < (points - m) * (m / 2) => {
            all.min(estimate.n as f64 / (m / 2) as f64)
        }
        _ => all,
    };
    bounds(edf, confidence, estimate.value)
}

/// Low and high.
fn bounds(edf: f64, confidence: f64, value: f64) -> Option<(f64, f64)> {
    if !(confidence > 0.0 && confidence < 1.0 && value.is_finite()) {
        return None;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // scipy.stats.chi2.ppf; the classical ones are in every table.
        for (p, edf, expected) in [
            (0.95, 1.0, 3.841_458_820_694_124),
            (0.05, 10.0, 3.940_299_136_119_213),
            (0.99, 30.0, 50.892_181_311_517_09),
            (0.1585, 0.3, 5.8510101421034025e-06),
            (0.8415, 0.3, 0.4881082181331283),
            (0.1585, 1.5, 0.1604241102002196),
            (0.8415, 1.5, 2.8723788834212267),
            (0.1585, 5.872, 2.644681662169812),
            (0.8415, 5.872, 9.11153515566121),
            (0.1585, 23.49, 16.731042415007867),
            (0.8415, 23.49, 30.253226736622132),
            (0.1585, 120.4, 104.91640895264189),
            (0.8415, 120.4, 135.88579564180802),
            (0.1585, 1234.5, 1184.7933782199948),
            (0.8415, 1234.5, 1284.2083817579232),
            (0.1585, 99999.0, 99551.50395515979),
            (0.8415, 99999.0, 100446.49775752379),
            (0.1585, 100000.0, 99552.50171764358),
            (0.8415, 100000.0, 100447.49999504),
            (0.1585, 20000000.0, 19993671.38635965),
            (0.8415, 20000000.0, 20006328.615352444),
        ] {
            let ours = quantile(p, edf).unwrap();
            assert!((ours / expected - 1.0).abs() < 1e-8, "p = {p}, edf = {edf}: {ours}, {expected}");
        }
    }

    #[test]
    fn both_forms_of_the_quantile_meet() {
        for p in [0.0005, 0.1585, 0.5, 0.8415, 0.9995] {
            let (below, above) = (quantile(p, MANY - 1e-6).unwrap(), quantile(p, MANY).unwrap());
            assert!((above / below - 1.0).abs() < 3e-8, "p = {p}: {below} and {above}");
        }
    }

    #[test]
    fn the_interval_holds_the_value_and_grows_with_confidence() {
        let of = |confidence| chi_squared(Deviation::Oadev, 0, 16, 1001, confidence, 2.0).unwrap();
        let (narrow, wide) = (of(0.683), of(0.95));
        assert!(wide.0 < narrow.0 && narrow.0 < 2.0 && 2.0 < narrow.1 && narrow.1 < wide.1);
    }

    #[test]
    fn a_confidence_that_is_none_has_no_interval() {
        for confidence in [0.0, 1.0, -0.1, f64::NAN] {
            assert_eq!(chi_squared(Deviation::Oadev, 0, 16, 1001, confidence, 2.0), None, "{confidence}");
        }
        assert_eq!(chi_squared(Deviation::Oadev, 0, 16, 1001, 0.683, f64::INFINITY), None);
    }
}
