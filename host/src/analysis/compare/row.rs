//! One metric of a comparison: what both sides say, the difference with its interval, and the verdict.

use super::Verdict;
use super::difference::{Design, Difference};
use super::group::{Key, Quantity};
use super::holm::levels;

/// What one side says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The mean of its sessions, or the pooled rate of its tail.
    pub value: f64,
    /// Standard deviation between its sessions.
    pub sd: Option<f64>,
    /// Its systematic uncertainty.
    pub uncertainty: Option<f64>,
    /// Sessions; 0 if nobody says.
    pub sessions: u64,
    /// Reads, edges or operations; 0 if nobody says.
    pub n: u64,
}

/// The smallest true difference that these sessions find, by how often they do: a factor for a tail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolvable {
    /// Nine times in ten.
    pub nine_in_ten: f64,
    /// Every other time.
    pub every_other: f64,
}

/// One metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is, as the base has it.
    pub key: Key,
    /// What the new side has in place of the base's build, where one was picked of each.
    pub against: Option<String>,
    /// Its name, as in summary.csv.
    pub metric: &'static str,
    /// Unit of both figures and the change.
    pub unit: String,
    /// What it counts, where that has to be said.
    pub about: Option<String>,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Whether a board is emulated, where that is known.
    pub emulated: Option<bool>,
    /// The base.
    pub base: Figure,
    /// The new side.
    pub new: Figure,
    /// New less base; none where the units differ.
    pub change: Option<f64>,
    /// New over base; none where the units or the signs differ, or where a figure is 0 or smaller than its U.
    pub ratio: Option<f64>,
    /// Interval of the change, for a tail that of the ratio, at `level`.
    pub interval: Option<(f64, f64)>,
    /// Holm's level of this metric.
    pub level: Option<f64>,
    /// The margin in the unit; for a tail a factor.
    pub margin: Option<f64>,
    /// Against the margin.
    pub p_value: Option<f64>,
    /// How it was tested.
    pub design: Option<Design>,
    /// What could have been found.
    pub resolvable: Option<Resolvable>,
    /// Base and new over the first of their side's figures, where only that can be compared.
    pub within: Option<(f64, f64)>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why there is no other verdict; empty where the figures say it.
    pub reason: String,
}

impl Row {
    /// Whether margin, interval and what could be found are factors.
    #[must_use]
    pub fn is_tail(&self) -> bool {
        self.metric == "tail_share"
    }

    /// Whether it is sampled: what is counted exactly has no spread.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        matches!(self.key.quantity, Quantity::Mean | Quantity::Operations)
    }
}

/// A metric that is to be judged.
#[derive(Debug)]
pub struct Pending {
    /// What is known of it so far.
    pub row: Row,
    /// The difference, in logarithms for a tail, and its margin.
    pub test: Option<(Difference, f64)>,
    /// A verdict that does not depend on the test.
    pub fixed: Option<(Verdict, String)>,
}

/// What an interval says of a change.
pub(super) fn verdict((low, high): (f64, f64), margin: f64, higher_is_better: bool) -> Verdict {
    let (up, down) = match higher_is_better {
        true => (Verdict::Better, Verdict::Worse),
        false => (Verdict::Worse, Verdict::Better),
    };
    match () {
        () if low > margin => up,
        () if high < -margin => down,
        () if low >= -margin && high <= margin => Verdict::Equivalent,
        () => Verdict::NotResolvable,
    }
}

/// Judges all metrics together: Holm's levels over those that are tested.
#[must_use]
pub fn judged(pending: Vec<Pending>, alpha: f64) -> Vec<Row> {
    let decides = |one: &Pending| one.fixed.is_none();
    let p_values: Vec<f64> = pending
        .iter()
        .filter(|one| decides(one))
        .filter_map(|one| one.test.map(|(difference, margin)| difference.p_value(margin)))
        .collect();
    let mut levels = levels(&p_values, alpha).into_iter();
    let mut rows: Vec<Row> = Vec::with_capacity(pending.len());
    for one in pending {
        // What is shown without a verdict takes nothing from those that have one.
        let level = if decides(&one) { levels.next().unwrap_or(alpha) } else { alpha };
        rows.push(one.judged(level));
    }
    within_sides(&mut rows);
    rows
}

impl Pending {
    fn judged(self, level: f64) -> Row {
        let Self { mut row, test, fixed } = self;
        if let Some((difference, margin)) = test {
            let is_tail = row.is_tail();
            let scale = |value: f64| if is_tail { value.exp() } else { value };
            let interval = difference.interval(level);
            let found = |power: f64| difference.resolvable(level, margin, power).map(scale);
            row.interval = Some((scale(interval.0), scale(interval.1)));
            row.resolvable = found(0.9)
                .zip(found(0.5))
                .map(|(nine_in_ten, every_other)| Resolvable { nine_in_ten, every_other });
            row.level = Some(level);
            row.p_value = Some(difference.p_value(margin));
            row.design = Some(difference.design);
            row.verdict = verdict(interval, margin, row.higher_is_better);
        }
        if let Some((verdict, reason)) = fixed {
            (row.verdict, row.reason) = (verdict, reason);
        }
        row
    }
}

/// Where one side is a plain table, each figure over the first of its side: what can be compared even where the units
/// cannot.
fn within_sides(rows: &mut [Row]) {
    let is_plain = |row: &Row| row.margin.is_none();
    let mut first: Option<(String, f64, f64)> = None;
    for row in rows.iter_mut().filter(|row| is_plain(row)) {
        let kind = format!("{:?} {} {}", row.key.measurement, row.metric, row.unit);
        if first.as_ref().is_none_or(|(known, ..)| *known != kind) {
            first = Some((kind, row.base.value, row.new.value));
        }
        if let Some((_, base, new)) = first.as_ref().filter(|(_, base, new)| *base != 0.0 && *new != 0.0) {
            row.within = Some((row.base.value / base, row.new.value / new));
        }
    }
}
