//! The words of a comparison: what a side holds, session by session, and what has to be the same on both sides.

use std::fmt;

use super::difference::Moments;
use crate::analysis::path::histogram::Histogram;
use crate::names::Measurement;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Mean latency, in nanoseconds.
    Mean,
    /// Operations a second.
    Operations,
    /// Instructions between the two reads, exact.
    Instructions,
    /// Instructions for an operation, exact.
    InstructionsPerOperation,
    /// Coarse stamps earlier than a fine-grained one before them: the limit is 0.
    Violations,
    /// A figure of a plain table, which comes without spread.
    Published,
}

impl Quantity {
    /// The metric's name, as in summary.csv.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Operations => "operations",
            Self::Instructions => "instructions",
            Self::InstructionsPerOperation => "instructions_per_operation",
            Self::Violations => "ordering_violations",
            Self::Published => "",
        }
    }

    /// The metric's unit, as in summary.csv.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Mean => "ns",
            Self::Operations => "1/s",
            Self::Instructions | Self::InstructionsPerOperation => "instructions",
            Self::Violations => "stamps",
            Self::Published => "",
        }
    }

    /// Whether more is better.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Operations)
    }
}

/// What has to be the same on both sides. Unknown, as in a CSV file, goes with anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// `live` or `exact`.
    pub clock: Option<String>,
    /// The clock that the snapshot function was asked for.
    pub clock_id: Option<String>,
    /// Cores that worked.
    pub cores: Option<String>,
    /// Edges a second.
    pub rate_hz: Option<String>,
    /// The board's name.
    pub board: Option<String>,
    /// The board's counter, in hertz.
    pub counter_hz: Option<String>,
    /// Whether the board is emulated.
    pub emulated: Option<bool>,
    /// Whether what a read costs by itself was taken off.
    pub overhead: Option<String>,
}

impl Conditions {
    /// Takes over what is only known of another group that goes with this one.
    fn learn(&mut self, other: &Self) {
        let texts = [
            (&mut self.clock, &other.clock),
            (&mut self.clock_id, &other.clock_id),
            (&mut self.cores, &other.cores),
            (&mut self.rate_hz, &other.rate_hz),
            (&mut self.board, &other.board),
            (&mut self.counter_hz, &other.counter_hz),
            (&mut self.overhead, &other.overhead),
        ];
        for (own, known) in texts {
            *own = own.take().or_else(|| known.clone());
        }
        self.emulated = self.emulated.or(other.emulated);
    }
}

/// What a group is, and under which conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// None for a figure of a plain table.
    pub measurement: Option<Measurement>,
    /// The build, or how edges were captured; for a figure of a plain table its name there.
    pub variant: String,
    /// How the latency is tied; else empty.
    pub tie: String,
    /// What is compared.
    pub quantity: Quantity,
    /// What else has to be the same.
    pub conditions: Conditions,
}

impl Key {
    /// Why two groups that measure the same thing cannot be compared: a sentence for each condition. Empty if they can.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (a, b) = (&self.conditions, &other.conditions);
        let told = |emulated: Option<bool>| {
            emulated.map(|emulated| if emulated { "emulated".to_owned() } else { "real".to_owned() })
        };
        let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let pairs = [
            ("board", told(a.emulated), told(b.emulated)),
            ("board", a.board.clone(), b.board.clone()),
            ("clock", a.clock.clone(), b.clock.clone()),
            ("clock_id", a.clock_id.clone(), b.clock_id.clone()),
            ("cores", a.cores.clone(), b.cores.clone()),
            ("counter, Hz", a.counter_hz.clone(), b.counter_hz.clone()),
            ("edges a second", a.rate_hz.clone(), b.rate_hz.clone()),
            ("read overhead", a.overhead.clone(), b.overhead.clone()),
            ("tie", named(&self.tie), named(&other.tie)),
        ];
        let differ = pairs.into_iter().filter_map(|(what, a, b)| Some((what, a?, b?)));
        differ.filter(|(_, a, b)| a != b).map(|(what, a, b)| format!("{what} {a} against {b}")).collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (clock, cores) = (self.conditions.clock_id.as_deref(), self.conditions.cores.as_deref());
        let mut parts: Vec<&str> = self.measurement.iter().map(|one| one.name()).collect();
        parts.push(&self.variant);
        match self.measurement {
            Some(Measurement::Edge) => parts.push(&self.tie),
            Some(Measurement::Path) => parts.extend(clock),
            _ => {}
        }
        parts.push(self.quantity.metric());
        parts.retain(|part| !part.is_empty());
        write!(f, "{}", parts.join(" "))?;
        match (self.measurement, cores) {
            (Some(Measurement::Ctime), Some("1")) => write!(f, " on 1 core"),
            (Some(Measurement::Ctime), Some(cores)) => write!(f, " on {cores} cores"),
            _ => Ok(()),
        }
    }
}

/// The single values of a session, as far as they are known: what a tail is counted in.
#[derive(Clone, Debug, PartialEq)]
pub enum Singles {
    /// Not known.
    Unknown,
    /// Differences in ticks of the counter.
    Ticks(Histogram),
    /// Latencies in picoseconds.
    Picoseconds(Vec<i128>),
}

/// One session: one boot of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Which of the side's sources it is of.
    pub source: usize,
    /// Its number there.
    pub number: u32,
    /// When it began, in nanoseconds since 1970 UTC; none in a CSV file.
    pub when: Option<i128>,
    /// Its seed.
    pub seed: Option<u64>,
    /// Reads, edges or operations.
    pub n: u64,
    /// Its value, in the quantity's unit.
    pub value: f64,
    /// The single values.
    pub singles: Singles,
}

/// What a group holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Session by session.
    Sessions(Vec<Session>),
    /// Mean and spread of the sessions, as summary.csv has them.
    Summary {
        /// Of the sessions.
        moments: Moments,
        /// Reads, edges or operations of all of them.
        n: u64,
    },
    /// A value without spread between sessions: counted exactly, published, or of too few sessions.
    Alone {
        /// The value.
        value: f64,
        /// Sessions that it is of; 0 if nobody says.
        sessions: u64,
        /// Reads, edges or operations; 0 if nobody says.
        n: u64,
    },
}

/// The sessions of one measurement under the same conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What it is.
    pub key: Key,
    /// What it holds.
    pub values: Values,
    /// Bound on the bias of its mean, in nanoseconds.
    pub bias_bound_ns: Option<f64>,
    /// Systematic uncertainty of its value, in the quantity's unit: of two sides it cancels as far as both have the same.
    pub uncertainty: Option<f64>,
    /// The unit of a figure of a plain table; empty if it has none, or if the quantity says it.
    pub unit: String,
    /// Why there is no verdict on it: a phase check that failed, too few paired edges.
    pub doubts: Vec<String>,
    /// Why it is not judged at all.
    pub unjudged: Option<&'static str>,
    /// Whether it is only shown beside a plain table: exact mode's time, where instructions are what is compared.
    pub beside_tables_only: bool,
}

impl Group {
    /// One without bound, doubts or anything else that speaks against it.
    #[must_use]
    pub fn new(key: Key, values: Values) -> Self {
        Self {
            key,
            values,
            bias_bound_ns: None,
            uncertainty: None,
            unit: String::new(),
            doubts: Vec::new(),
            unjudged: None,
            beside_tables_only: false,
        }
    }

    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> &str {
        if self.unit.is_empty() { self.key.quantity.unit() } else { &self.unit }
    }

    /// Its sessions, where they are known one by one.
    #[must_use]
    pub fn sessions(&self) -> &[Session] {
        match &self.values {
            Values::Sessions(sessions) => sessions,
            Values::Summary { .. } | Values::Alone { .. } => &[],
        }
    }

    /// Mean and spread of its sessions. None of fewer than two.
    #[must_use]
    pub fn moments(&self) -> Option<Moments> {
        match &self.values {
            Values::Sessions(list) => Moments::of(&list.iter().map(|one| one.value).collect::<Vec<_>>()),
            Values::Summary { moments, .. } => Some(*moments),
            Values::Alone { .. } => None,
        }
    }

    /// Its value, how many sessions, and how many reads, edges or operations. None without a session.
    #[must_use]
    pub fn figure(&self) -> Option<(f64, u64, u64)> {
        match &self.values {
            Values::Sessions(list) => {
                let sum: f64 = list.iter().map(|one| one.value).sum();
                let n = list.iter().map(|one| one.n).sum();
                (!list.is_empty()).then(|| (sum / list.len() as f64, list.len() as u64, n))
            }
            Values::Summary { moments, n } => Some((moments.mean, moments.count, *n)),
            Values::Alone { value, sessions, n } => Some((*value, *sessions, *n)),
        }
    }

    /// Takes the sessions of another input that measured the same. What is known only as a summary cannot be added to.
    ///
    /// # Errors
    /// The group back, if it cannot be added.
    pub fn absorb(&mut self, other: Self) -> Result<(), Box<Self>> {
        let same = self.key.measurement == other.key.measurement
            && self.key.variant == other.key.variant
            && self.key.quantity == other.key.quantity
            && self.key.differences(&other.key).is_empty();
        let same = same && self.key.measurement.is_some();
        if same {
            self.key.conditions.learn(&other.key.conditions);
        }
        match (&mut self.values, other.values) {
            (Values::Sessions(own), Values::Sessions(more)) if same => {
                own.extend(more);
                let larger = self.bias_bound_ns.into_iter().chain(other.bias_bound_ns).reduce(f64::max);
                self.bias_bound_ns = larger;
                self.uncertainty = self.uncertainty.into_iter().chain(other.uncertainty).reduce(f64::max);
                self.doubts.extend(other.doubts);
                self.unjudged = self.unjudged.or(other.unjudged);
                Ok(())
            }
            // An exact count again: of so many sessions more.
            (
                Values::Alone { value, sessions, n },
                Values::Alone { value: again, sessions: more, n: further },
            ) if same && (*value == again || self.key.quantity != Quantity::Instructions) => {
                match self.key.quantity {
                    Quantity::Violations => *value += again,
                    _ => {
                        *value = (*value * *sessions as f64 + again * more as f64) / (*sessions + more) as f64
                    }
                }
                (*sessions, *n) = (*sessions + more, *n + further);
                self.doubts.extend(other.doubts);
                Ok(())
            }
            (_, values) => Err(Box::new(Self { values, ..other })),
        }
    }
}
