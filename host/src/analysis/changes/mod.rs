//! Change points: on which night did a figure begin to be another one?
//!
//! A series has a value a night, the mean of its sessions; nights without one, or whose figures are not to be trusted, are gaps and
//! neither make nor confirm anything. The series is cut where two-sample t is largest, and its parts again. A cut counts where
//! * the means differ by more than a margin, that of a comparison;
//! * it lasted: the first two nights behind it both lie beyond the margin, so that one bad night is none;
//! * it is unlikely by chance: in fewer than [`ALPHA`] of random orders of the same nights would the largest t be as large. That takes
//!   the maximum over all cuts into account, and no distribution for granted (E-divisive and its followers test in the same way:
//!   Matteson and James 2014). Where instructions are counted exactly nothing is random, and this rule does not apply.
//!
//! What wanders from night to night is a change by these rules once it has gone beyond the margin: an exchangeable series is
//! assumed, and `simulation` says what that costs.
//!
//! A change is the bench's where the golden image of the same bench changed within a night of it, and the image's where the golden image
//! was measured on both sides and stayed.

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::random;

/// Probability that a cut of a series in which nothing changed is taken for a change.
pub const ALPHA: f64 = 0.01;
/// Nights with a value that must follow, the first among them: one alone may be an accident.
pub const PERSISTENCE: usize = 2;
/// Random orders.
const ORDERS: u32 = 1999;
/// Nights by which two series' changes may lie apart and still be one.
const APART: usize = 1;

/// How a change is told from nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Counted exactly: the margin alone decides.
    Exact,
    /// Sampled: chance has to be ruled out.
    Sampled,
}

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The first night of the new values, by its place in the series.
    pub night: usize,
    /// Mean since the change before, or since the beginning.
    pub before: f64,
    /// Mean up to the next change, or to the end.
    pub after: f64,
    /// Share of random orders with as large a difference; none where nothing is random.
    pub p_value: Option<f64>,
}

/// Whose a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The golden image changed with it.
    Bench,
    /// The golden image stayed as it was.
    Image,
    /// There is no golden image's figure of these nights.
    Unknown,
}

impl Cause {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Bench => "the bench: its golden image changed with it",
            Self::Image => "the image: the bench's golden image stayed as it was",
            Self::Unknown => "not known: no golden image was measured on both sides of it",
        }
    }
}

/// The changes of a series, a value a night, in order of time. Differences up to `margin` are none.
#[must_use]
pub fn changes(nights: &[Option<f64>], margin: f64, kind: Kind) -> Vec<Change> {
    let present: Vec<(usize, f64)> =
        nights.iter().enumerate().filter_map(|(night, value)| Some((night, (*value)?))).collect();
    let values: Vec<f64> = present.iter().map(|(_, value)| *value).collect();
    let cuts = match kind {
        Kind::Exact => counted(&values, margin),
        Kind::Sampled => {
            let mut cuts = Vec::new();
            search(&values, 0, margin, &mut cuts);
            cuts.sort_by_key(|cut| cut.at);
            lasting(&values, cuts, margin)
        }
    };
    let change = |(index, cut): (usize, &Cut)| {
        let (before, after) = levels(&values, &cuts, index);
        Change { night: present[cut.at].0, before, after, p_value: cut.p_value }
    };
    cuts.iter().enumerate().map(change).collect()
}

/// A place at which a series is cut: the first value behind it.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: usize,
    p_value: Option<f64>,
}

/// Cuts where nothing is random: a value beyond the margin of what stood before, and the next one too.
fn counted(values: &[f64], margin: f64) -> Vec<Cut> {
    let mut cuts = Vec::new();
    // What stands, and on how many nights it did.
    let (mut level, mut stood) = (f64::NAN, 0);
    for (at, value) in values.iter().enumerate() {
        let beyond = |value: &f64| (value - level).abs() > margin;
        if stood > 0 && !beyond(value) {
            stood += 1;
            continue;
        }
        let next = values.get(at + 1);
        let agree = next.is_some_and(|next| (next - value).abs() <= margin);
        if stood >= PERSISTENCE && !agree {
            // An accident, or the last night so far.
            continue;
        }
        if stood >= PERSISTENCE {
            cuts.push(Cut { at, p_value: None });
        }
        (level, stood) = (*value, 1);
    }
    cuts
}

/// Finds cuts of a part that begins at `offset`, and of its parts, by chance alone.
fn search(values: &[f64], offset: usize, margin: f64, cuts: &mut Vec<Cut>) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    // Not even the furthest two are worth the random orders.
    if values.iter().all(|value| value - least <= margin) {
        return;
    }
    let Some((at, t)) = largest(values, margin) else { return };
    let p_value = by_chance(values, t, margin);
    if p_value > ALPHA {
        return;
    }
    cuts.push(Cut { at: offset + at, p_value: Some(p_value) });
    search(&values[..at], offset, margin, cuts);
    search(&values[at..], offset + at, margin, cuts);
}

/// Takes away, the smallest first, what is within the margin or did not last.
fn lasting(values: &[f64], mut cuts: Vec<Cut>, margin: f64) -> Vec<Cut> {
    loop {
        let sizes = (0..cuts.len()).map(|index| {
            let (before, after) = levels(values, &cuts, index);
            let up = (after - before).signum();
            let beyond = |value: f64| (value - before) * up > margin;
            let from = cuts[index].at;
            let lasts = values[from..from + PERSISTENCE].iter().all(|value| beyond(*value));
            (index, (after - before).abs(), beyond(after) && lasts)
        });
        let fails = sizes.filter(|(.., holds)| !holds).min_by(|one, other| one.1.total_cmp(&other.1));
        match fails {
            Some((index, ..)) => cuts.remove(index),
            None => return cuts,
        };
    }
}

/// Means between the cut before and this one, and between this one and the next.
fn levels(values: &[f64], cuts: &[Cut], index: usize) -> (f64, f64) {
    let from = index.checked_sub(1).map_or(0, |before| cuts[before].at);
    let to = cuts.get(index + 1).map_or(values.len(), |next| next.at);
    let at = cuts[index].at;
    (mean(&values[from..at]), mean(&values[at..to]))
}

/// The cut with the largest t, two nights or more on either side. Values that do not differ at all are as certain as a
/// hundredth of the margin.
fn largest(values: &[f64], margin: f64) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * PERSISTENCE {
        return None;
    }
    let floor = (margin / 100.0).powi(2);
    let total: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| (value - total / n as f64).powi(2)).sum();
    let mut left = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for at in 1..=n - PERSISTENCE {
        left += values[at - 1];
        if at < PERSISTENCE {
            continue;
        }
        let (first, second) = (at as f64, (n - at) as f64);
        let difference = (total - left) / second - left / first;
        let between = difference.powi(2) * first * second / n as f64;
        let pooled = ((squares - between).max(0.0) / (n - 2).max(1) as f64).max(floor);
        let t = (between / pooled).sqrt();
        if best.is_none_or(|(_, most)| t > most) {
            best = Some((at, t));
        }
    }
    best
}

/// In which share of random orders the largest t is as large, that of the nights' own order among them.
fn by_chance(values: &[f64], t: f64, margin: f64) -> f64 {
    let mut order = values.to_vec();
    // Fixed, so that a history says the same each time.
    let mut state = 0x7070_7372_6967;
    let mut as_large = 1_u32;
    for _ in 0..ORDERS {
        for last in (1..order.len()).rev() {
            order.swap(last, random::below(&mut state, last as u64 + 1) as usize);
        }
        if largest(&order, margin).is_some_and(|(_, other)| other >= t) {
            as_large += 1;
        }
    }
    f64::from(as_large) / f64::from(ORDERS + 1)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whose a change on `night` is, by the golden image's values of the same nights and their changes.
#[must_use]
pub fn cause(night: usize, golden: &[Option<f64>], golden_changes: &[Change]) -> Cause {
    if golden_changes.iter().any(|change| change.night.abs_diff(night) <= APART) {
        return Cause::Bench;
    }
    let measured = |nights: &[Option<f64>]| nights.iter().flatten().count() >= PERSISTENCE;
    let (before, after) = golden.split_at(night.min(golden.len()));
    if measured(before) && measured(after) { Cause::Image } else { Cause::Unknown }
}
