//! Whether two sessions are the same one, read twice: by what they hold, since one recording comes as a bundle, as its
//! CSV file, or as that file with other line ends.

use super::Side;
use super::group::{Group, Session, Singles, Values};

/// How far values of one session differ where one side of them was rounded in a file, in parts of the value.
const ROUNDING: f64 = 1e-9;
/// Decimals of nanoseconds in summary.csv leave this much open.
const SUMMARY_ROUNDING: f64 = 0.0015;

/// Whether both are one session. Where both say when they began and with which seed, that decides, as exact counts of two
/// runs of one image are equal by design; else the single values do, where there is more than one of them to tell by.
#[must_use]
pub fn is_same(one: &Session, other: &Session) -> bool {
    let near = (one.value - other.value).abs() <= ROUNDING * one.value.abs().max(1.0);
    if one.n != other.n || !near {
        return false;
    }
    if one.when.is_some() && other.when.is_some() {
        return (one.when, one.seed) == (other.when, other.seed);
    }
    match (&one.singles, &other.singles) {
        (Singles::Ticks(a), Singles::Ticks(b)) => a.distinct() > 1 && a == b,
        (Singles::Picoseconds(a), Singles::Picoseconds(b)) => {
            let sorted = |values: &[i128]| {
                let mut values = values.to_vec();
                values.sort_unstable();
                values
            };
            let (a, b) = (sorted(a), sorted(b));
            a.first() != a.last() && a == b
        }
        _ => false,
    }
}

/// How many sessions of the base are sessions of the new side too. Of sides that are known by their spread alone all are,
/// where it is the same.
#[must_use]
pub fn shared(base: &Group, new: &Group) -> u64 {
    let told = |group: &Group| matches!(group.values, Values::Alone { .. });
    if told(base) || told(new) {
        return 0;
    }
    if base.sessions().is_empty() || new.sessions().is_empty() {
        let alike = |a: f64, b: f64| (a - b).abs() <= SUMMARY_ROUNDING;
        let counted = |group: &Group| group.figure().map(|(_, sessions, n)| (sessions, n));
        let same = base.moments().zip(new.moments()).is_some_and(|(a, b)| {
            let (sd, other) = (a.variance.sqrt(), b.variance.sqrt());
            sd > 2.0 * SUMMARY_ROUNDING && alike(a.mean, b.mean) && alike(sd, other)
        });
        let all = counted(base).filter(|of_base| same && Some(*of_base) == counted(new));
        return all.map_or(0, |(sessions, _)| sessions);
    }
    let again = |session: &&Session| new.sessions().iter().any(|other| is_same(session, other));
    base.sessions().iter().filter(again).count() as u64
}

/// Two sources of a side that hold the same session, and its number in the first of them.
#[must_use]
pub fn twins(side: &Side) -> Option<(usize, usize, u32)> {
    let kin = |a: &Group, b: &Group| {
        (a.key.measurement, a.key.quantity, &a.key.variant, &a.key.tie)
            == (b.key.measurement, b.key.quantity, &b.key.variant, &b.key.tie)
    };
    side.groups.iter().find_map(|group| {
        let others = || side.groups.iter().filter(|other| kin(group, other)).flat_map(Group::sessions);
        group.sessions().iter().find_map(|one| {
            let twin = others().find(|other| other.source > one.source && is_same(one, other))?;
            Some((one.source, twin.source, one.number))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::compare::testing::{group, key, session};
    use crate::analysis::path::histogram::Histogram;

    fn ticks(counts: &[(u32, u64)], when: Option<i128>, seed: u64) -> Session {
        let mut histogram = Histogram::default();
        counts.iter().for_each(|(ticks, count)| histogram.add(*ticks, *count));
        Session { singles: Singles::Ticks(histogram), seed: Some(seed), ..session(0, 45.0, when) }
    }

    #[test]
    fn what_began_at_another_time_is_another_session_though_its_counts_are_equal() {
        let (one, other) = (ticks(&[(0, 3), (1, 4)], Some(1), 7), ticks(&[(0, 3), (1, 4)], Some(2), 7));
        assert!(is_same(&one, &one.clone()) && !is_same(&one, &other));
        assert!(!is_same(&one, &Session { seed: Some(8), ..one.clone() }));
    }

    #[test]
    fn without_times_the_counts_decide_where_there_is_more_than_one() {
        let (one, file) = (ticks(&[(0, 3), (1, 4)], Some(1), 7), ticks(&[(0, 3), (1, 4)], None, 7));
        assert!(is_same(&one, &file) && is_same(&file, &one) && is_same(&file, &file.clone()));
        assert!(!is_same(&one, &ticks(&[(0, 4), (1, 3)], None, 7)));
        assert!(!is_same(&ticks(&[(5, 7)], None, 7), &ticks(&[(5, 7)], None, 7)));
        assert_eq!(shared(&group(key(), vec![one, ticks(&[(9, 9)], None, 1)]), &group(key(), vec![file])), 1);
    }
}
