//! The comparison of runs: is what the new side holds better or worse than the base, and can that be known at all?
//!
//! The unit is the session, one boot of the board: what differs from boot to boot is not in any spread within one.
//! `group` has the words, `sides` matches what can be compared, `difference` (over `student`) and `tail` test, `order`
//! finds interleaved sessions, `trial` prepares each test, `holm` sets its level, `row` judges, `outlook` says what could be resolved.
//! Pure: who reads files is `command/compare`.

pub mod difference;
pub mod from_run;
pub mod group;
pub mod holm;
pub mod order;
pub mod outlook;
pub mod row;
pub mod same;
pub mod sides;
#[cfg(test)]
mod simulation;
pub mod student;
pub mod tail;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod trial;

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::group::{Group, Session};
use self::row::Row;
use self::sides::{Matched, matched};
use self::trial::Trial;

/// Sessions a side from which on there is a verdict: fewer have no spread between sessions worth the name.
pub const SESSIONS: u64 = 3;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Probability of any false alarm among all tests together.
    pub alpha: f64,
    /// The margin of mean latencies in nanoseconds, in place of the larger of 1 ns and the bound on the bias.
    pub margin_ns: Option<f64>,
}

/// The level unless one is given.
pub const ALPHA: f64 = 0.01;

/// Where the groups of a side come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The folder or file, with its selector.
    pub name: String,
    /// The folder or file itself.
    pub path: PathBuf,
    /// What it is: a bundle, a CSV file, a table.
    pub kind: &'static str,
    /// SHA-256 of the files; empty where they can be read only once.
    pub fingerprint: String,
    /// Whether the board is emulated, where that is known.
    pub emulated: Option<bool>,
    /// Versions, commits, hashes, seeds by name.
    pub provenance: Vec<(&'static str, String)>,
    /// What has to be said of it.
    pub remarks: Vec<String>,
}

impl Source {
    /// Whether both are the same files.
    #[must_use]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        !self.fingerprint.is_empty() && self.fingerprint == other.fingerprint
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Where it comes from.
    pub sources: Vec<Source>,
    /// What it holds.
    pub groups: Vec<Group>,
    /// The build, or way of capture, that was picked; then it is compared with whatever was picked of the other side.
    pub picked: Option<String>,
}

impl Side {
    /// Adds what another input holds.
    pub fn add(&mut self, source: Source, groups: Vec<Group>) {
        self.sources.push(source);
        for group in groups {
            let mut rest = Some(Box::new(group));
            for own in &mut self.groups {
                let Some(group) = rest.take() else { break };
                rest = own.absorb(*group).err();
            }
            self.groups.extend(rest.map(|group| *group));
        }
    }
}

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better by more than the margin.
    Better,
    /// Worse by more than the margin.
    Worse,
    /// No difference beyond the margin.
    Equivalent,
    /// The sessions do not say.
    NotResolvable,
    /// A phase check failed, or too few edges were paired.
    Invalid,
    /// There is nothing to judge by: a figure without spread, an emulated board that ran live, or a session on both sides.
    NoVerdict,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Better, Self::Worse, Self::Equivalent, Self::NotResolvable, Self::Invalid, Self::NoVerdict];

    /// As it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::NotResolvable => "not-resolvable",
            Self::Invalid => "invalid",
            Self::NoVerdict => "no-verdict",
        }
    }

    /// The exit status that it asks for.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Better | Self::Equivalent => 0,
            Self::Worse => 1,
            Self::NotResolvable | Self::Invalid | Self::NoVerdict => 3,
        }
    }
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The level for all tests together.
    pub alpha: f64,
    /// Metric by metric.
    pub rows: Vec<Row>,
    /// What is on one side only, or cannot be compared, as sentences.
    pub left_out: Vec<String>,
    /// What makes it doubtful, as sentences.
    pub warnings: Vec<String>,
    /// Some metrics have no order in time that was known, or came in blocks.
    pub unpaired: bool,
}

impl Comparison {
    /// The process's exit status: 1 if anything is worse, else 3 if anything has no verdict.
    #[must_use]
    pub fn exit(&self) -> u8 {
        let exits = || self.rows.iter().map(|row| row.verdict.exit());
        if exits().any(|exit| exit == 1) { 1 } else { exits().max().unwrap_or(3) }
    }

    /// The verdict that decides the exit status.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let decisive = |verdict: Verdict| self.rows.iter().any(|row| row.verdict == verdict);
        let order = [
            Verdict::Worse,
            Verdict::Invalid,
            Verdict::NotResolvable,
            Verdict::NoVerdict,
            Verdict::Better,
            Verdict::Equivalent,
        ];
        order.into_iter().find(|verdict| decisive(*verdict)).unwrap_or(Verdict::NoVerdict)
    }
}

/// Compares what two sides hold.
#[must_use]
pub fn compare(base: &Side, new: &Side, options: &Options) -> Comparison {
    let Matched { pairs, left_out } = matched(base, new);
    let mut trials = Vec::new();
    let (mut warnings, mut left_out) = (warnings(base, new), left_out);
    let mut unpaired = false;
    let one_source = are_one(base, new);
    for (of_base, of_new) in pairs {
        let one_build = one_source && of_base.key.variant == of_new.key.variant;
        let trial = Trial::new(of_base, of_new, options, one_build);
        unpaired |= trial.has_sessions() && !trial.is_paired();
        warnings.extend(trial.warnings());
        trials.extend(trial.rows(&mut left_out));
    }
    let mut told = BTreeSet::new();
    warnings.retain(|warning| told.insert(warning.clone()));
    Comparison {
        alpha: options.alpha,
        rows: row::judged(trials, options.alpha),
        left_out,
        warnings,
        unpaired,
    }
}

/// Whether a source is on both sides.
fn are_one(base: &Side, new: &Side) -> bool {
    base.sources.iter().any(|one| new.sources.iter().any(|other| one.is_copy_of(other)))
}

/// What of the sources makes a comparison doubtful.
fn warnings(base: &Side, new: &Side) -> Vec<String> {
    let mut warnings = Vec::new();
    for one in &base.sources {
        let picks_differ = base.picked != new.picked;
        for other in new.sources.iter().filter(|other| one.is_copy_of(other) && !picks_differ) {
            warnings.push(format!("{} and {} are the same recording", one.name, other.name));
        }
    }
    warnings
}

/// A warning about seeds that sessions of both sides share: what is random in them is then not independent. One boot that
/// is looked at from two sides, as in a bundle that is compared with itself, has its own seed of course.
fn shared_seeds(key: &str, base: &[Session], new: &[Session]) -> Option<String> {
    let shared = |session: &&Session| {
        let same = |other: &Session| other.seed == session.seed && other.when != session.when;
        session.seed.is_some() && new.iter().any(same)
    };
    let count = base.iter().filter(shared).count();
    let of = base.len();
    (count > 0).then(|| {
        format!("{key}: {count} of {of} sessions have their seed in common with one of the other side, so what is \
                 random in them is not independent")
    })
}
