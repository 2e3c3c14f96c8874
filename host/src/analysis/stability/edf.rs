//! Equivalent degrees of freedom of the deviations, for a power law of noise S_y(f) ~ f^alpha.
//!
//! The Allan and Hadamard family: Greenhall & Riley, "Uncertainty of stability variances based on finite differences"
//! (PTTI 2003), the combined algorithm: the whole sum where it is short, the fitted or limiting forms where it is not. The
//! total family and THEO1: the fits of NIST SP1065 sections 5.11 to 5.14. What a fit does not reach is filled in as
//! Stable32 does: TOTDEV of phase noise and HTOTDEV below m = 16 by the overlapping Allan deviation (SP1065 table 5),
//! MTOTDEV below m = 10 by the modified Allan deviation.

use super::Deviation;

/// Above so many terms the sum gives way to a fit or a limit.
const LONGEST_SUM: f64 = 100.0;

/// The equivalent degrees of freedom of a deviation over `points` phase points at the averaging time of `m` points; none
/// where there is no term or no formula: MTIE and TIErms, alpha above 2, below -2 (Allan) or -4 (Hadamard).
#[must_use]
pub fn edf(deviation: Deviation, alpha: i32, m: u64, points: u64) -> Option<f64> {
    let least = match deviation {
        Deviation::Hdev | Deviation::Ohdev | Deviation::Htotdev => -4,
        _ => -2,
    };
    // The fits know no end; the combined algorithm does.
    let has_terms = match deviation {
        Deviation::Totdev | Deviation::Theo1 => m < points,
        Deviation::Mtotdev | Deviation::Ttotdev => m <= points / 3,
        Deviation::Htotdev => m <= points.saturating_sub(1) / 3,
        _ => true,
    };
    if m == 0 || !has_terms || !(least..=2).contains(&alpha) {
        return None;
    }
    let (m, n) = (m as f64, points as f64);
    let of_differences = |d, filter, stride| Differences { alpha, d, m, filter, stride }.edf(n);
    let edf = match deviation {
        Deviation::Adev => of_differences(2, m, 1.0),
        Deviation::Oadev => of_differences(2, m, m),
        Deviation::Mdev | Deviation::Tdev => of_differences(2, 1.0, m),
        Deviation::Hdev => of_differences(3, m, 1.0),
        Deviation::Ohdev => of_differences(3, m, m),
        Deviation::Totdev => total(alpha, m, n),
        Deviation::Mtotdev | Deviation::Ttotdev if m < 10.0 => of_differences(2, 1.0, m),
        Deviation::Mtotdev | Deviation::Ttotdev => modified_total(alpha, m, n),
        Deviation::Htotdev if m < 2.0 || (m < 16.0 && alpha < -2) => of_differences(3, m, m),
        Deviation::Htotdev => hadamard_total(alpha, m, n),
        Deviation::Theo1 => theo1(alpha, m, n),
        Deviation::Mtie | Deviation::Tierms => None,
    }?;
    (edf.is_finite() && edf > 0.0).then_some(edf)
}

/// How many points without a gap have `terms` terms at the averaging time of `m` points: what [`edf`] is asked with where
/// points are missing, since terms that gaps took away are as good as points that are not there. Terms that lie apart say
/// a little more than neighbours do, so the degrees of freedom are rather too few. None for what has no gaps.
#[must_use]
pub const fn gapless_points(deviation: Deviation, m: u64, terms: u64) -> Option<u64> {
    match deviation {
        Deviation::Adev => Some((terms + 1) * m + 1),
        Deviation::Oadev => Some(terms + 2 * m),
        Deviation::Mdev | Deviation::Tdev => Some((terms + 3 * m).saturating_sub(1)),
        Deviation::Hdev => Some((terms + 2) * m + 1),
        Deviation::Ohdev => Some(terms + 3 * m),
        _ => None,
    }
}

/// A variance of differences of order `d`, of phases that are averaged over tau / `filter`, `stride` of them within tau.
#[derive(Clone, Copy)]
struct Differences {
    alpha: i32,
    d: u8,
    m: f64,
    filter: f64,
    stride: f64,
}

impl Differences {
    /// The combined algorithm, section 5 of the paper.
    fn edf(self, points: f64) -> Option<f64> {
        let Self { alpha, m, filter, stride, .. } = self;
        let d = f64::from(self.d);
        let span = m / filter + m * d;
        if points < span {
            return None;
        }
        let terms = 1.0 + (stride * (points - span) / m).floor();
        let longest = terms.min((d + 1.0) * stride);
        let ratio = terms / stride;
        let inverse = if filter == 1.0 {
            if longest <= LONGEST_SUM {
                self.sum(longest, terms, stride, 1.0)
            } else if ratio > d + 1.0 {
                let (a0, a1) = self.modified_fit()?;
                (a0 - a1 / ratio) / ratio
            } else {
                self.sum(LONGEST_SUM, LONGEST_SUM, LONGEST_SUM / ratio, 1.0)
            }
        } else if alpha <= 0 {
            if longest <= LONGEST_SUM {
                let filter = if m * (d + 1.0) <= LONGEST_SUM { m } else { f64::INFINITY };
                self.sum(longest, terms, stride, filter)
            } else if ratio > d + 1.0 {
                let (a0, a1) = self.fit()?;
                (a0 - a1 / ratio) / ratio
            } else {
                self.sum(LONGEST_SUM, LONGEST_SUM, LONGEST_SUM / ratio, f64::INFINITY)
            }
        } else if alpha == 1 {
            let (b0, b1) = if self.d == 2 { (15.23, 12.0) } else { (47.8, 40.0) };
            let scale = (b0 + b1 * m.ln()).powi(2);
            if longest <= LONGEST_SUM {
                self.sum(longest, terms, stride, m)
            } else if ratio > d + 1.0 {
                let (a0, a1) = self.fit()?;
                (a0 - a1 / ratio) / (ratio * scale)
            } else {
                let stride = LONGEST_SUM / ratio;
                let normal = self.z(0.0, stride).powi(2);
                self.sum(LONGEST_SUM, LONGEST_SUM, stride, stride) * normal / scale
            }
        } else {
            self.white_phase(terms, ratio)
        };
        Some(1.0 / inverse)
    }

    /// White phase noise, which is its own filter: the sum has as many terms as there are differences in the span.
    fn white_phase(self, terms: f64, ratio: f64) -> f64 {
        let d = u32::from(self.d);
        let centre = binomial(2 * d, d);
        if ratio.ceil() > f64::from(d) {
            let a0 = binomial(4 * d, 2 * d) / centre.powi(2);
            return (a0 - f64::from(d) / 2.0 / ratio) / terms;
        }
        let sum: f64 = (1..ratio.ceil() as u32)
            .map(|k| (1.0 - f64::from(k) / ratio) * binomial(2 * d, d - k).powi(2))
            .sum();
        (1.0 + 2.0 * sum / centre.powi(2)) / terms
    }

    /// 1 / edf as a sum over the correlations of the terms, equation (10) of the paper over z(0)^2 M.
    fn sum(self, longest: f64, terms: f64, stride: f64, filter: f64) -> f64 {
        let at = |j: f64| self.z(j / stride, filter).powi(2);
        let inner: f64 = (1..longest as u32).map(f64::from).map(|j| 2.0 * (1.0 - j / terms) * at(j)).sum();
        (at(0.0) + (1.0 - longest / terms) * at(longest) + inner) / (at(0.0) * terms)
    }

    /// The structure function of the differences, equation (9).
    fn z(self, t: f64, filter: f64) -> f64 {
        let weights: &[f64] = if self.d == 2 { &[6.0, -4.0, 1.0] } else { &[20.0, -15.0, 6.0, -1.0] };
        let pairs = weights.iter().zip(0_u8..).map(|(weight, k)| {
            let x = |t| averaged(t, filter, self.alpha);
            if k == 0 { weight * x(t) } else { weight * (x(t - f64::from(k)) + x(t + f64::from(k))) }
        });
        pairs.sum()
    }

    /// Table 1: modified variances.
    fn modified_fit(self) -> Option<(f64, f64)> {
        let table: &[(f64, f64)] = if self.d == 2 {
            &[(0.778, 0.5), (0.997, 0.616), (1.033, 0.607), (1.048, 0.534), (1.302, 0.535)]
        } else {
            &[
                (0.880, 0.667),
                (1.141, 0.843),
                (1.184, 0.848),
                (1.180, 0.816),
                (1.175, 0.777),
                (1.194, 0.703),
                (1.489, 0.702),
            ]
        };
        table.get(usize::try_from(2 - self.alpha).ok()?).copied()
    }

    /// Table 2: unmodified variances, alpha from 1 on.
    fn fit(self) -> Option<(f64, f64)> {
        let table: &[(f64, f64)] = if self.d == 2 {
            &[(790.0, 410.0), (0.667, 0.333), (0.852, 0.375), (1.079, 0.368)]
        } else {
            &[(9950.0, 6520.0), (0.778, 0.5), (0.997, 0.617), (1.033, 0.607), (1.053, 0.553), (1.302, 0.535)]
        };
        table.get(usize::try_from(1 - self.alpha).ok()?).copied()
    }
}

/// n over k.
fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

/// The structure function of the noise, equation (7).
fn white(t: f64, alpha: i32) -> f64 {
    let t = t.abs();
    let log = if t == 0.0 { 0.0 } else { t.ln() };
    match alpha {
        2 => -t,
        1 => t.powi(2) * log,
        0 => t.powi(3),
        -1 => -t.powi(4) * log,
        -2 => -t.powi(5),
        -3 => t.powi(6) * log,
        _ => t.powi(7),
    }
}

/// The same of averages over 1 / `filter`, equation (8).
fn averaged(t: f64, filter: f64, alpha: i32) -> f64 {
    if filter.is_infinite() {
        return white(t, alpha + 2);
    }
    // Flicker phase noise keeps its filter however long tau is: there the differences are taken before they cancel.
    if alpha == 1 && filter > 1e3 {
        return match t.abs() {
            0.0 => 2.0 * filter.ln(),
            far if far * filter > 1e2 => -2.0 * far.ln() - 3.0 + (far * filter).powi(-2) / 6.0,
            near => averaged_plainly(near, filter, alpha),
        };
    }
    averaged_plainly(t, filter, alpha)
}

fn averaged_plainly(t: f64, filter: f64, alpha: i32) -> f64 {
    let step = 1.0 / filter;
    filter.powi(2) * (2.0 * white(t, alpha) - white(t - step, alpha) - white(t + step, alpha))
}

/// TOTDEV: SP1065 table 7, and for phase noise the overlapping Allan deviation, which has no fewer.
fn total(alpha: i32, m: f64, n: f64) -> Option<f64> {
    let (b, c) = match alpha {
        0 => (1.50, 0.0),
        -1 => (1.17, 0.22),
        -2 => (0.93, 0.36),
        _ => return overlapping_allan(alpha, m, n),
    };
    Some(b * n / m - c)
}

/// MTOTDEV: SP1065 table 8.
fn modified_total(alpha: i32, m: f64, n: f64) -> Option<f64> {
    let table = [(1.90, 2.10), (1.20, 1.40), (1.10, 1.20), (0.85, 0.50), (0.75, 0.31)];
    let (b, c) = table.get(usize::try_from(2 - alpha).ok()?)?;
    Some(b * n / m - c)
}

/// HTOTDEV: SP1065 table 9, from m = 16 on.
fn hadamard_total(alpha: i32, m: f64, n: f64) -> Option<f64> {
    if m < 16.0 || alpha > 0 {
        return overlapping_allan(alpha, m, n);
    }
    let table = [(0.559, 1.004), (0.868, 1.140), (0.938, 1.696), (0.974, 2.554), (1.276, 3.149)];
    let (b0, b1) = table.get(usize::try_from(-alpha).ok()?)?;
    let ratio = (n - 1.0) / m;
    Some(ratio / (b0 + b1 / ratio))
}

/// The overlapping Allan deviation, in the simple form of SP1065 table 5.
fn overlapping_allan(alpha: i32, m: f64, n: f64) -> Option<f64> {
    let edf = match alpha {
        2 => (n + 1.0) * (n - 2.0 * m) / (2.0 * (n - m)),
        1 => {
            let product = ((n - 1.0) / (2.0 * m)).ln() * ((2.0 * m + 1.0) * (n - 1.0) / 4.0).ln();
            product.sqrt().exp()
        }
        0 => {
            let squares = 4.0 * m * m;
            (3.0 * (n - 1.0) / (2.0 * m) - 2.0 * (n - 2.0) / n) * squares / (squares + 5.0)
        }
        -1 if m < 2.0 => 2.0 * (n - 2.0).powi(2) / (2.3 * n - 4.9),
        -1 => 5.0 * n * n / (4.0 * m * (n + 3.0 * m)),
        -2 => {
            let square = (n - 1.0).powi(2) - 3.0 * m * (n - 1.0) + 4.0 * m * m;
            (n - 2.0) / m * square / (n - 3.0).powi(2)
        }
        _ => return None,
    };
    Some(edf)
}

/// THEO1 over a span of m points: SP1065 section 5.15, in r = 0.75 m.
fn theo1(alpha: i32, m: f64, n: f64) -> Option<f64> {
    let r = 0.75 * m;
    let edf = match alpha {
        2 => 0.86 * (n + 1.0) * (n - 4.0 * r / 3.0) / (n - r) * (r / (r + 1.14)),
        1 => (4.798 * n * n - 6.374 * n * r + 12.387 * r) / ((r + 36.6).sqrt() * (n - r)) * (r / (r + 0.3)),
        0 => ((4.1 * n + 0.8) / r - (3.1 * n + 6.5) / n) * (r.powf(1.5) / (r.powf(1.5) + 5.2)),
        -1 => (2.0 * n * n - 1.3 * n * r - 3.5 * r) / (n * r) * (r.powi(3) / (r.powi(3) + 2.3)),
        -2 => {
            let a = 4.4 * n;
            let square = (a - 1.0).powi(2) - 8.6 * r * (a - 1.0) + 11.4 * r * r;
            (a - 2.0) / (2.9 * r) * square / (a - 3.0).powi(2)
        }
        _ => return None,
    };
    Some(edf)
}
