//! The ledger as a picture: both sides as bars of their classes.

use crate::analysis::class::{Class, Ledger, Side};

/// A class's part of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The class.
    pub class: Class,
    /// How many edges.
    pub count: u64,
    /// Where it begins, as a part of the longer side.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// What is rare is still seen: a class that has an edge gets so much of the bar.
const LEAST: f64 = 0.012;

/// The classes of both sides, commanded and captured, that have an edge. Both are drawn to one scale, but for rare classes,
/// which get more than their share.
#[must_use]
pub fn parts(ledger: &Ledger) -> [Vec<Part>; 2] {
    let total = ledger.commanded.total().max(ledger.captured.total()).max(1);
    [&ledger.commanded, &ledger.captured].map(|side| of_side(side, total))
}

fn of_side(side: &Side, total: u64) -> Vec<Part> {
    let counts = Class::ALL.into_iter().map(|class| (class, side.count(class)));
    let present: Vec<(Class, u64)> = counts.filter(|(_, count)| *count > 0).collect();
    let widths = present.iter().map(|(_, count)| (*count as f64 / total as f64).max(LEAST));
    let length: f64 = widths.clone().sum();
    // What rare classes got too much is taken off all.
    let share = side.total() as f64 / total as f64;
    let factor = if length > share { share / length } else { 1.0 };
    let mut from = 0.0;
    present
        .iter()
        .zip(widths)
        .map(|((class, count), width)| {
            let part = Part { class: *class, count: *count, from, to: from + width * factor };
            from = part.to;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_edge_among_many_is_seen_and_the_bar_stays_as_long_as_its_side() {
        let mut ledger = Ledger::default();
        (0..10_000).for_each(|_| ledger.commanded.add(Class::Paired));
        ledger.commanded.add(Class::Missed);
        (0..5_000).for_each(|_| ledger.captured.add(Class::Paired));
        let [commanded, captured] = parts(&ledger);
        assert_eq!(commanded.iter().map(|part| part.count).collect::<Vec<_>>(), [10_000, 1]);
        assert!(commanded[1].to - commanded[1].from > 0.01);
        assert!((commanded[1].to - 1.0).abs() < 1e-9);
        assert!((captured[0].to - 0.5).abs() < 0.001);
    }
}
