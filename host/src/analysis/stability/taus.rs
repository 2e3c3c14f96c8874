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
    match spacing {
        Taus::Octave => {
            std::iter::successors(Some(1_usize), |m| m.checked_mul(2)).take_while(|m| *m <= longest).collect()
        }
        Taus::Decade => std::iter::successors(Some(1_usize), |m| m.checked_mul(10))
            .take_while(|m| *m <= longest)
            .flat_map(|m| [m, m.saturating_mul(2), m.saturating_mul(4)])
            .filter(|m| *m <= longest)
            .collect(),
        Taus::All => (1..=longest).collect(),
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
