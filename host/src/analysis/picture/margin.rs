//! An interval against the margin that it is judged by.

use super::Axis;
use crate::analysis::fixed::Fixed;

/// The interval of a difference, or of a factor, on an axis that has the margin in it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgainstMargin {
    /// Differences, or factors by decades.
    pub x: Axis,
    /// No difference.
    pub none: f64,
    /// From where to where a difference is within the margin.
    pub within: (f64, f64),
    /// The interval.
    pub interval: (f64, f64),
}

/// Of a comparison. A factor's margin holds both ways.
#[must_use]
pub fn against_margin(interval: (Fixed, Fixed), margin: Fixed, factor: bool) -> Option<AgainstMargin> {
    let (low, high, margin) = (interval.0.to_f64(), interval.1.to_f64(), margin.to_f64().abs());
    let finite = low.is_finite() && high.is_finite() && margin.is_finite();
    if !finite || low > high || (factor && (low <= 0.0 || margin <= 1.0)) {
        return None;
    }
    let (none, within) = if factor { (1.0, (1.0 / margin, margin)) } else { (0.0, (-margin, margin)) };
    let (least, most) = (low.min(within.0), high.max(within.1));
    let x = if factor {
        let reach = most.max(1.0 / least) * 1.1;
        Axis { title: String::new(), from: 1.0 / reach, to: reach, log: true }
    } else {
        let reach = most.max(-least).max(f64::MIN_POSITIVE) * 1.1;
        Axis { title: String::new(), from: -reach, to: reach, log: false }
    };
    Some(AgainstMargin { x, none, within, interval: (low, high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_difference_lies_in_the_middle_and_all_of_it_is_seen() {
        let fixed = |value: f64| Fixed::rounded(value, 3).unwrap();
        let plain = against_margin((fixed(2.0), fixed(4.0)), fixed(1.0), false).unwrap();
        assert!((plain.x.place(0.0) - 0.5).abs() < 1e-9 && plain.x.to > 4.0);
        let factor = against_margin((fixed(0.5), fixed(1.1)), fixed(1.25), true).unwrap();
        assert!((factor.x.place(1.0) - 0.5).abs() < 1e-9 && factor.x.from < 0.5);
        assert_eq!(against_margin((fixed(0.0), fixed(1.1)), fixed(1.25), true), None);
    }
}
