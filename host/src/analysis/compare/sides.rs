//! Which groups of two sides measure the same thing, and what is left out because they do not.

use super::Side;
use super::group::{Group, Key, Quantity};

/// Groups that can be compared, and sentences about those that cannot.
#[derive(Debug, Default)]
pub struct Matched<'a> {
    /// Base and new.
    pub pairs: Vec<(&'a Group, &'a Group)>,
    /// What is left out.
    pub left_out: Vec<String>,
}

/// Matches what two sides hold: the same measurement, quantity and build, or the builds that were picked, under conditions
/// that do not differ.
#[must_use]
pub fn matched<'a>(base: &'a Side, new: &'a Side) -> Matched<'a> {
    let across = base.picked.is_some() && new.picked.is_some();
    let mut matched = Matched::default();
    // What is only shown beside a table needs no word where it is not.
    let quiet = |group: &Group| group.beside_tables_only || is_nothing(group);
    let mut told: Vec<bool> = new.groups.iter().map(quiet).collect();
    for group in &base.groups {
        let kin: Vec<usize> =
            (0..new.groups.len()).filter(|index| are_kin(group, &new.groups[*index], across)).collect();
        let differences = |index: &usize| group.key.differences(&new.groups[*index].key);
        let nearest = kin.iter().min_by_key(|index| differences(index).len());
        match nearest.map(|index| (*index, differences(index))) {
            Some((index, differences)) if differences.is_empty() => {
                told[index] = true;
                matched.pairs.push((group, &new.groups[index]));
            }
            Some((index, differences)) => {
                told[index] = true;
                matched.left_out.push(format!("{}: not compared: {}", group.key, differences.join(", ")));
            }
            None if group.beside_tables_only || is_nothing(group) => {}
            None => matched.left_out.push(alone(group, "the base", new, across)),
        }
    }
    let only_new = new.groups.iter().zip(told).filter(|(_, told)| !told);
    matched.left_out.extend(only_new.map(|(group, _)| alone(group, "the new side", base, across)));
    matched
}

/// That only one side has it; where the other has something else of the same build under other conditions, what and which.
fn alone(group: &Group, place: &str, others: &Side, across: bool) -> String {
    let (key, is_of) = (&group.key, group.key.measurement.is_some());
    let kin = others.groups.iter().find(|other| {
        is_of
            && !other.beside_tables_only
            && !is_nothing(other)
            && other.key.measurement == key.measurement
            && (across || other.key.variant == key.variant)
            && other.key.quantity != key.quantity
            && !key.differences(&other.key).is_empty()
    });
    match kin {
        None => format!("{key}: only in {place}"),
        Some(other) => {
            let (metric, differences) = (other.key.quantity.metric(), key.differences(&other.key).join(", "));
            let both = format!("{} and {metric} are not compared", key.quantity.metric());
            format!("{key}: only in {place}; the other side has {metric}: {both} ({differences})")
        }
    }
}

/// Violations that there were none of need no word.
fn is_nothing(group: &Group) -> bool {
    group.key.quantity == Quantity::Violations && group.figure().is_none_or(|(value, ..)| value == 0.0)
}

fn are_kin(base: &Group, new: &Group, across: bool) -> bool {
    let of_tables = base.beside_tables_only || new.beside_tables_only;
    let (base, new) = (&base.key, &new.key);
    if of_tables && base.measurement.is_some() && new.measurement.is_some() {
        return false;
    }
    match (base.measurement, new.measurement) {
        (Some(of_base), Some(of_new)) => {
            of_base == of_new && base.quantity == new.quantity && (across || base.variant == new.variant)
        }
        (None, None) => words(&base.variant) == words(&new.variant),
        (None, Some(_)) => is_named(&base.variant, new),
        (Some(_), None) => is_named(&new.variant, base),
    }
}

/// Whether a table's name means this group: all its words, the unit's apart, are among those that describe the group.
fn is_named(name: &str, key: &Key) -> bool {
    let known = words(&format!(
        "{key} {} {}",
        key.conditions.clock_id.as_deref().unwrap_or_default(),
        key.quantity.metric().replace('_', " ")
    ));
    let named = words(name);
    // `inline` is not `inline-biased`: a build's name has to be there in full.
    named.contains(&key.variant.to_lowercase()) && named.iter().all(|word| known.contains(word))
}

fn words(text: &str) -> Vec<String> {
    let separate = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | '/' | '(' | ')');
    text.to_lowercase().split(separate).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
