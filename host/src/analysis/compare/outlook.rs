//! What a side holds by itself, and what difference from it a plan of so many sessions could resolve.

use statrs::distribution::{Beta, ContinuousCDF};

use super::SESSIONS;
use super::difference::Moments;
use super::group::{Group, Key, Quantity};

use super::student::{mean_share, power, shift_found, two_sided};
use super::tail::{Counts, Threshold};
use super::trial::{LEAST_MARGIN_NS, OPERATIONS_MARGIN, TAIL_MARGIN};

/// Sessions a side that are told.
pub const PLANS: [u64; 3] = [5, 10, 20];
/// How often the difference is to be found.
pub const POWER: f64 = 0.9;

/// What a side holds of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// What it is.
    pub key: Key,
    /// Value, sessions, and reads, edges or operations.
    pub figure: (f64, u64, u64),
    /// Its unit.
    pub unit: String,
    /// Session by session: number, n, value, and how many are of the tail.
    pub sessions: Vec<(u32, u64, f64, Option<u64>)>,
    /// Standard deviation between sessions; none until there are three.
    pub sd: Option<f64>,
    /// What is of the tail.
    pub threshold: Option<Threshold>,
    /// The margin of its mean, in its unit.
    pub margin: Option<f64>,
    /// The smallest difference that so many sessions a side would find, for each of [`PLANS`]: of the value, and of the
    /// tail as a factor. Empty until there are three sessions.
    pub plans: Vec<Plan>,
    /// Why there would be no verdict.
    pub doubts: Vec<String>,
}

/// What so many sessions a side would find nine times in ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Sessions a side.
    pub sessions: u64,
    /// Smallest difference of the value, the margin included; sides as different from boot to boot as this one.
    pub difference: Option<f64>,
    /// Smallest factor of the tail's rate.
    pub factor: Option<f64>,
}

/// What a side holds, metric by metric, and what could be resolved at `alpha` with all its metrics tested together.
#[must_use]
pub fn outlook(groups: &[Group], alpha: f64, margin_ns: Option<f64>) -> Vec<Holding> {
    let groups: Vec<&Group> = groups.iter().filter(|group| !group.beside_tables_only).collect();
    let thresholds: Vec<Option<Threshold>> = groups
        .iter()
        .map(|group| Threshold::of(group.sessions()).filter(|_| group.key.quantity == Quantity::Mean))
        .collect();
    let tested = |group: &&&Group| matches!(group.key.quantity, Quantity::Mean | Quantity::Operations);
    let tests = groups.iter().filter(tested).count() + thresholds.iter().flatten().count();
    // Holm's first level: what the sharpest difference has to reach.
    let level = alpha / tests.max(1) as f64;
    let of = |(group, threshold): (&&Group, &Option<Threshold>)| holding(group, *threshold, level, margin_ns);
    groups.iter().zip(&thresholds).filter_map(of).collect()
}

fn holding(
    group: &Group,
    threshold: Option<Threshold>,
    level: f64,
    margin_ns: Option<f64>,
) -> Option<Holding> {
    let figure = group.figure()?;
    let margin = match group.key.quantity {
        Quantity::Mean => Some(margin_ns.unwrap_or(group.bias_bound_ns.unwrap_or(0.0).max(LEAST_MARGIN_NS))),
        Quantity::Operations => Some(OPERATIONS_MARGIN * figure.0.abs()),
        _ => None,
    };
    let moments = group.moments().filter(|moments| moments.count >= SESSIONS);
    let counts = threshold.and_then(|threshold| Counts::of(group.sessions(), threshold));
    let beyond = |index: usize| counts.as_ref().map(|counts| counts.sessions[index].0);
    let plan = |sessions: u64| Plan {
        sessions,
        difference: moments
            .zip(margin)
            .and_then(|(moments, margin)| resolvable(&moments, sessions, level, margin)),
        factor: counts
            .as_ref()
            .filter(|_| moments.is_some())
            .and_then(|counts| factor(counts, sessions, level)),
    };
    Some(Holding {
        key: group.key.clone(),
        figure,
        unit: group.unit().to_owned(),
        sessions: group
            .sessions()
            .iter()
            .enumerate()
            .map(|(index, one)| (one.number, one.n, one.value, beyond(index)))
            .collect(),
        sd: moments.map(|moments| moments.variance.sqrt()),
        threshold,
        margin,
        plans: if moments.is_some() && margin.is_some() { PLANS.map(plan).to_vec() } else { Vec::new() },
        doubts: group.doubts.clone(),
    })
}

/// Sides as different from boot to boot: quantiles of how two estimates of that share their sum.
const SHARES: u32 = 12;

/// The smallest difference that `sessions` a side find nine times in ten, where both sides spread from boot to boot as
/// these sessions do, of which few show less than there is.
#[must_use]
pub fn resolvable(spread: &Moments, sessions: u64, level: f64, margin: f64) -> Option<f64> {
    let known = mean_share(spread.count.saturating_sub(1).max(1) as f64);
    let error = (2.0 * spread.variance / sessions as f64).sqrt() / known;
    Some(margin + planned_shift(sessions, level)? * error)
}

/// In standard errors of the difference. Two variances that are the same will be estimated as different, and Welch's test
/// then takes fewer degrees of freedom than their sum has; that sum is independent of how it is shared.
fn planned_shift(sessions: u64, level: f64) -> Option<f64> {
    let freedom = sessions.checked_sub(1).filter(|one| *one > 0)? as f64;
    let shares = Beta::new(freedom / 2.0, freedom / 2.0).ok()?;
    let criticals: Vec<f64> = (0..SHARES)
        .map(|index| {
            let share = shares.inverse_cdf((f64::from(index) + 0.5) / f64::from(SHARES));
            two_sided(level, freedom / (share * share + (1.0 - share).powi(2)))
        })
        .collect();
    let found = |shift: f64| {
        let sum: f64 = criticals.iter().map(|critical| power(shift, 2.0 * freedom, *critical)).sum();
        sum / criticals.len() as f64
    };
    shift_found(POWER, found)
}

/// The same of a tail, as a factor.
fn factor(counts: &Counts, sessions: u64, level: f64) -> Option<f64> {
    // Of what was never seen nobody can say how much more of it would be.
    if counts.beyond() == 0 {
        return None;
    }
    // Both sides are this one; with more sessions the same spread counts less.
    let error =
        counts.log_ratio(counts, None)?.error * (counts.sessions.len() as f64 / sessions as f64).sqrt();
    Some((TAIL_MARGIN.ln() + planned_shift(sessions, level)? * error).exp())
}
