//! Two groups that measure the same thing, on their way to a verdict: which sessions count, which margin holds, and what is
//! tested.

use super::difference::{Difference, Moments};
use super::group::{Group, Quantity, Session, Singles, Values};
use super::order::{Pairs, pairs};
use super::row::{Figure, Pending, Row, verdict};
use super::same::shared;
use super::tail::{Counts, Threshold};
use super::{Options, SESSIONS, Verdict, shared_seeds};

/// Margin of an exact count.
const COUNT_MARGIN: f64 = 0.5;
/// Smallest margin of a mean latency, in nanoseconds.
pub(super) const LEAST_MARGIN_NS: f64 = 1.0;
/// Margin of operations a second, of the base.
pub(super) const OPERATIONS_MARGIN: f64 = 0.01;
/// Margin of a tail: by such a factor the rates may differ.
pub const TAIL_MARGIN: f64 = 1.25;

/// Two groups that measure the same thing.
#[derive(Debug)]
pub struct Trial {
    base: Group,
    new: Group,
    /// Sessions that took turns; by numbers of the groups above.
    pairs: Option<Vec<(usize, usize)>>,
    left_over: bool,
    /// Why the sides are not two: a session, or what was counted exactly, is on both.
    one: Option<String>,
    options: Options,
}

impl Trial {
    /// Of two groups that were matched. Of interleaved sessions only those with a neighbour are kept. `one_build`: both sides
    /// have a source in common, and this is the same build of it.
    #[must_use]
    pub fn new(base: &Group, new: &Group, options: &Options, one_build: bool) -> Self {
        let times = |group: &Group| group.sessions().iter().map(|one| one.when).collect::<Vec<_>>();
        let found = pairs(&times(base), &times(new));
        let one = on_both(base, new, one_build);
        let (mut base, mut new) = (base.clone(), new.clone());
        let mut left_over = false;
        let list = found.map(|Pairs { list, left_over: left }| {
            left_over = left;
            keep(&mut base, list.iter().map(|(base, _)| *base));
            keep(&mut new, list.iter().map(|(_, new)| *new));
            (0..list.len()).map(|index| (index, index)).collect()
        });
        Self { base, new, pairs: list, left_over, one, options: *options }
    }

    /// Whether sessions are known one by one on both sides, and enough of them for a test.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        let enough = |group: &Group| group.sessions().len() as u64 >= SESSIONS;
        enough(&self.base) && enough(&self.new)
    }

    /// Whether they took turns.
    #[must_use]
    pub const fn is_paired(&self) -> bool {
        self.pairs.is_some()
    }

    /// What makes it doubtful.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let key = &self.base.key;
        let exact = key.conditions.clock.as_deref() == Some("exact");
        let seeds = shared_seeds(&key.to_string(), self.base.sessions(), self.new.sessions());
        let mut warnings: Vec<String> = seeds.filter(|_| !exact).into_iter().collect();
        warnings.extend(self.one.iter().map(|why| format!("{key}: {why}")));
        if self.left_over {
            warnings.push(format!("{key}: the last session has no neighbour and is left out"));
        }
        warnings
    }

    /// The metric itself, and its tail where single values are known. What cannot be had is told in `left_out`.
    #[must_use]
    pub fn rows(&self, left_out: &mut Vec<String>) -> Vec<Pending> {
        let nothing = |pending: &Pending| {
            pending.row.key.quantity == Quantity::Violations
                && (pending.row.base.value, pending.row.new.value) == (0.0, 0.0)
        };
        let mut rows: Vec<Pending> = self.main().into_iter().filter(|row| !nothing(row)).collect();
        for row in rows.iter().map(|pending| &pending.row).filter(|row| row.change.is_none()) {
            left_out.push(format!("difference of {}: no factor is known for {}", row.key, row.unit));
        }
        if self.base.key.quantity == Quantity::Mean && self.new.key.quantity == Quantity::Mean {
            match self.tail() {
                Ok(row) => rows.push(row),
                Err(why) => left_out.push(format!("tail of {}: {why}", self.base.key)),
            }
        }
        rows
    }

    fn row(&self) -> Option<Row> {
        let key = if self.base.key.measurement.is_some() { &self.base.key } else { &self.new.key };
        let figure = |group: &Group| {
            let (value, sessions, n) = group.figure()?;
            let sd = group.moments().map(|moments| moments.variance.sqrt());
            Some(Figure { value, sd, uncertainty: group.uncertainty, sessions, n })
        };
        let (base, mut new) = (figure(&self.base)?, figure(&self.new)?);
        let (unit, mut other) = (self.base.unit().to_owned(), self.new.unit().to_owned());
        if let Some(scale) = time_scale(&other, &unit).filter(|_| other != unit) {
            new = Figure {
                value: new.value * scale,
                sd: new.sd.map(|sd| sd * scale),
                uncertainty: new.uncertainty.map(|u| u * scale),
                ..new
            };
            other.clone_from(&unit);
        }
        let same_unit = unit == other || unit.is_empty() || other.is_empty();
        // Of what may as well be 0, or lies on the other side of it, nothing is a multiple.
        let stands =
            |figure: &Figure| figure.value != 0.0 && figure.value.abs() >= figure.uncertainty.unwrap_or(0.0);
        let has_ratio = stands(&base) && stands(&new) && base.value.signum() == new.value.signum();
        let emulated = [&self.base, &self.new].map(|group| group.key.conditions.emulated);
        let across = self.base.key.measurement.is_some() && self.new.key.measurement.is_some();
        Some(Row {
            key: key.clone(),
            against: (across && self.base.key.variant != self.new.key.variant)
                .then(|| self.new.key.variant.clone()),
            metric: key.quantity.metric(),
            unit: match (same_unit, unit.is_empty()) {
                (true, false) => unit.clone(),
                (true, true) => other.clone(),
                (false, _) => format!("{unit} against {other}"),
            },
            about: None,
            higher_is_better: key.quantity.higher_is_better(),
            emulated: emulated.into_iter().flatten().reduce(|a, b| a || b),
            base,
            new,
            change: same_unit.then_some(new.value - base.value),
            ratio: (same_unit && has_ratio).then(|| new.value / base.value),
            interval: None,
            level: None,
            margin: None,
            p_value: None,
            design: None,
            resolvable: None,
            within: None,
            verdict: Verdict::NoVerdict,
            reason: String::new(),
        })
    }

    fn main(&self) -> Option<Pending> {
        let mut row = self.row()?;
        match row.key.quantity {
            _ if self.base.key.measurement.is_none() || self.new.key.measurement.is_none() => {
                let reason = "a figure without spread says nothing about how sure it is".to_owned();
                Some(Pending { row, test: None, fixed: Some((Verdict::NoVerdict, reason)) })
            }
            Quantity::Mean | Quantity::Operations => {
                let margin = self.margin(row.base.value);
                row.margin = Some(margin);
                let test = self.difference().map(|difference| (difference, margin));
                Some(Pending { fixed: self.fixed(test.is_some()), row, test })
            }
            _ => {
                let (change, margin) = (row.new.value - row.base.value, COUNT_MARGIN);
                row.margin = Some(margin);
                let counted = verdict((change, change), margin, row.higher_is_better);
                let fixed = self.doubt().unwrap_or((counted, String::new()));
                Some(Pending { row, test: None, fixed: Some(fixed) })
            }
        }
    }

    fn margin(&self, base: f64) -> f64 {
        if self.base.key.quantity == Quantity::Operations {
            return OPERATIONS_MARGIN * base.abs();
        }
        let bounds = self.base.bias_bound_ns.into_iter().chain(self.new.bias_bound_ns);
        self.options.margin_ns.unwrap_or_else(|| bounds.fold(LEAST_MARGIN_NS, f64::max))
    }

    fn difference(&self) -> Option<Difference> {
        let moments = |group: &Group| group.moments().filter(|moments: &Moments| moments.count >= SESSIONS);
        let (base, new) = (moments(&self.base)?, moments(&self.new)?);
        match &self.pairs {
            Some(pairs) => {
                let (a, b) = (self.base.sessions(), self.new.sessions());
                let differences = pairs.iter().map(|(base, new)| b[*new].value - a[*base].value);
                Difference::paired(&differences.collect::<Vec<_>>())
            }
            None => Some(Difference::welch(&base, &new)),
        }
    }

    fn tail(&self) -> Result<Pending, String> {
        let unknown = |group: &Group| {
            group.sessions().is_empty() || group.sessions().iter().any(|one| one.singles == Singles::Unknown)
        };
        if unknown(&self.base) || unknown(&self.new) {
            return Err("single values are not known".to_owned());
        }
        let threshold = Threshold::of(self.base.sessions()).ok_or("too few single values in the base")?;
        let of = |group: &Group| Counts::of(group.sessions(), threshold).filter(|one| one.all() > 0);
        let (base, new) = of(&self.base).zip(of(&self.new)).ok_or("single values are not known")?;
        if base.beyond() + new.beyond() == 0 {
            let (told, a, b) = (threshold.told(), base.all(), new.all());
            return Err(format!("none on either side: 0 of {a} and 0 of {b} {told}"));
        }
        let mut row = self.row().ok_or("no session")?;
        let (unit, per) = match threshold {
            Threshold::Ticks(_) => ("per million", 1e6),
            Threshold::Picoseconds(..) => ("%", 1e2),
        };
        let figure = |counts: &Counts, figure: Figure| Figure {
            value: counts.rate() * per,
            sd: None,
            uncertainty: None,
            n: counts.beyond(),
            ..figure
        };
        (row.base, row.new) = (figure(&base, row.base), figure(&new, row.new));
        row.metric = "tail_share";
        unit.clone_into(&mut row.unit);
        row.about = Some(threshold.told());
        row.change = Some(row.new.value - row.base.value);
        row.ratio = (base.beyond() > 0).then(|| row.new.value / row.base.value);
        row.margin = Some(TAIL_MARGIN);
        let enough = self.has_sessions();
        let test = base.log_ratio(&new, self.pairs.as_deref()).filter(|_| enough);
        let test = test.map(|difference| (difference, TAIL_MARGIN.ln()));
        Ok(Pending { fixed: self.fixed(test.is_some()), row, test })
    }

    /// A verdict that does not depend on the difference.
    fn fixed(&self, tested: bool) -> Option<(Verdict, String)> {
        let sessions = |group: &Group| group.figure().map_or(0, |(_, sessions, _)| sessions);
        let few = sessions(&self.base).min(sessions(&self.new)) < SESSIONS;
        let why = match &self.pairs {
            _ if few && self.left_over => "unknown until three sessions a side have a neighbour",
            _ if few => "unknown until three sessions a side",
            _ => "the spread between the sessions of a side is not known",
        };
        self.doubt().or_else(|| (!tested).then(|| (Verdict::NotResolvable, why.to_owned())))
    }

    fn doubt(&self) -> Option<(Verdict, String)> {
        if let Some(why) = self.base.unjudged.or(self.new.unjudged) {
            return Some((Verdict::NoVerdict, why.to_owned()));
        }
        if let Some(why) = &self.one {
            return Some((Verdict::NoVerdict, why.clone()));
        }
        let sides = [("base", &self.base), ("new", &self.new)];
        let doubts = sides.iter().flat_map(|(side, group)| group.doubts.iter().map(move |what| (side, what)));
        let (side, what) = doubts.clone().next()?;
        let more = match doubts.count() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some((Verdict::Invalid, format!("{side}: {what}{more}")))
    }
}

/// Why two groups are not two: what is compared with itself is neither better nor worse, and `equivalent` would be no news.
fn on_both(base: &Group, new: &Group, one_build: bool) -> Option<String> {
    match shared(base, new) {
        0 => one_build.then(|| "the same recording is on both sides".to_owned()),
        count => {
            let all = base.figure().map_or(count, |(_, sessions, _)| sessions);
            Some(format!("{count} of the base's {all} sessions are on the new side too"))
        }
    }
}

/// What a time in one unit has to be multiplied by, to be in another.
fn time_scale(from: &str, to: &str) -> Option<f64> {
    let power = |unit: &str| match unit {
        "s" => Some(12),
        "ms" => Some(9),
        "us" | "µs" => Some(6),
        "ns" => Some(3),
        "ps" => Some(0),
        _ => None,
    };
    let by: i32 = power(from)? - power(to)?;
    Some(10f64.powi(by))
}

fn keep(group: &mut Group, indices: impl Iterator<Item = usize>) {
    let sessions: Vec<Session> = indices.map(|index| group.sessions()[index].clone()).collect();
    group.values = Values::Sessions(sessions);
}
