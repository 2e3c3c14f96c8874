//! Which averaging times are computed.

use super::Deviation;

/// How averaging times follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Taus {
    /// 1, 2, 4, 8 ... points.
    #[default]
    Octave,
    /// 1, 2, 4, 10, 20, 40 ... points.
    Decade,
    /// Every number of points.
    All,
}

/// The averaging factors at which a deviation has a term among `points` phase points, in rising order.
#[must_use]
pub fn taus(spacing: Taus, deviation: Deviation, points: usize) -> Vec<usize> {
    let longest = longest(deviation, points);
    let mut factors = match spacing {
        Taus::Octave => powers(2, longest).collect(),
        Taus::Decade => powers(10, longest)
            .flat_map(|m| [m, m.saturating_mul(2), m.saturating_mul(4)])
            .filter(|m| *m <= longest)
            .collect(),
        Taus::All => (1..=longest).collect::<Vec<_>>(),
    };
    factors.retain(|m| has_terms(deviation, *m));
    factors
}

/// Powers of `base` up to `longest`.
fn powers(base: usize, longest: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), move |m| m.checked_mul(base)).take_while(move |m| *m <= longest)
}

/// THEO1 is defined for even factors from 10 on; the others for every one.
const fn has_terms(deviation: Deviation, m: usize) -> bool {
    !matches!(deviation, Deviation::Theo1) || (m >= 10 && m.is_multiple_of(2))
}

/// The averaging time of a factor: THEO1 is an Allan deviation at three quarters of the time that it spans.
#[must_use]
pub(super) fn averaging_time_s(deviation: Deviation, m: usize, tau0_s: f64) -> f64 {
    let span_s = m as f64 * tau0_s;
    if deviation == Deviation::Theo1 { 0.75 * span_s } else { span_s }
}

/// The fewest phase points that give a deviation one term.
#[must_use]
pub(super) const fn fewest_points(deviation: Deviation) -> usize {
    match deviation {
        Deviation::Mtie | Deviation::Tierms => 2,
        Deviation::Adev
        | Deviation::Oadev
        | Deviation::Mdev
        | Deviation::Tdev
        | Deviation::Totdev
        | Deviation::Mtotdev
        | Deviation::Ttotdev => 3,
        Deviation::Hdev | Deviation::Ohdev | Deviation::Htotdev => 4,
        Deviation::Theo1 => 11,
    }
}

/// The longest averaging factor at which a deviation has a term; 0 if it has none at all.
#[must_use]
pub(super) const fn longest(deviation: Deviation, points: usize) -> usize {
    let intervals = points.saturating_sub(1);
    match deviation {
        Deviation::Adev | Deviation::Oadev | Deviation::Totdev => intervals / 2,
        Deviation::Mdev | Deviation::Tdev | Deviation::Mtotdev | Deviation::Ttotdev => points / 3,
        Deviation::Hdev | Deviation::Ohdev | Deviation::Htotdev => intervals / 3,
        Deviation::Mtie | Deviation::Tierms | Deviation::Theo1 => intervals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_rise_as_asked_up_to_the_last_with_a_term() {
        assert_eq!(taus(Taus::Octave, Deviation::Oadev, 17), [1, 2, 4, 8]);
        assert_eq!(taus(Taus::Octave, Deviation::Oadev, 16), [1, 2, 4]);
        assert_eq!(taus(Taus::Decade, Deviation::Ohdev, 101), [1, 2, 4, 10, 20]);
        assert_eq!(taus(Taus::All, Deviation::Mdev, 12), [1, 2, 3, 4]);
        assert_eq!(taus(Taus::Octave, Deviation::Theo1, 40), [16, 32]);
        assert_eq!(taus(Taus::All, Deviation::Theo1, 15), [10, 12, 14]);
    }

    #[test]
    fn the_fewest_points_have_one_factor_and_one_less_has_none() {
        for deviation in Deviation::ALL {
            let fewest = fewest_points(deviation);
            assert!(!taus(Taus::All, deviation, fewest).is_empty(), "{deviation}");
            for points in 0..fewest {
                assert!(taus(Taus::All, deviation, points).is_empty(), "{deviation} of {points}");
            }
        }
    }
}
