//! The verdict and the exit status, with the reasons as sentences: what could not be done outweighs an exceeded limit,
//! and that outweighs what allows no verdict.

use std::fmt;

use super::class::{Class, Ledger};
use super::edge::EdgeAnalysis;
use crate::bench_file::Limits;
use crate::names::Measurement;
use crate::plan::RunRecord;

/// What the run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything within its limits.
    Passed,
    /// A limit was exceeded.
    Failed,
    /// It could not be done, the ledger does not balance, or it was interrupted.
    NotDone,
    /// No verdict is possible.
    Invalid,
    /// No verdict is wanted: the figures are an emulated board's nanoseconds, which say nothing about code.
    Unjudged,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Passed, Self::Failed, Self::NotDone, Self::Invalid, Self::Unjudged];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotDone => "not-done",
            Self::Invalid => "invalid",
            Self::Unjudged => "unjudged",
        }
    }

    /// The process's exit status.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Passed | Self::Unjudged => 0,
            Self::Failed => 1,
            Self::NotDone => 2,
            Self::Invalid => 3,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotDone => "not done",
            Self::Invalid | Self::Unjudged => "no verdict",
        })
    }
}

/// The outcome and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the run comes to.
    pub outcome: Outcome,
    /// Why, the decisive reasons first; never empty.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// What stands before anything was judged.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { outcome: Outcome::NotDone, reasons: Vec::new() }
    }

    /// The first grade that has reasons, with the reasons of all of them; without any, another outcome with its reason.
    #[must_use]
    pub fn graded<const N: usize>(
        grades: [(Outcome, Vec<String>); N],
        otherwise: Outcome,
        why: String,
    ) -> Self {
        let outcome = grades.iter().find(|(_, reasons)| !reasons.is_empty()).map(|(grade, _)| *grade);
        let mut reasons: Vec<String> = grades.into_iter().flat_map(|(_, reasons)| reasons).collect();
        if reasons.is_empty() {
            reasons.push(why);
        }
        Self { outcome: outcome.unwrap_or(otherwise), reasons }
    }

    /// The worst of several measurements' verdicts, its reasons first.
    #[must_use]
    pub fn of_parts(parts: &[(Measurement, &Self)]) -> Self {
        if let [(_, only)] = parts {
            return (*only).clone();
        }
        let worst_first =
            [Outcome::NotDone, Outcome::Failed, Outcome::Invalid, Outcome::Passed, Outcome::Unjudged];
        let of = |outcome: Outcome| parts.iter().filter(move |(_, verdict)| verdict.outcome == outcome);
        let outcome = worst_first.into_iter().find(|outcome| of(*outcome).next().is_some());
        let told = worst_first.into_iter().flat_map(of).flat_map(|(measurement, verdict)| {
            verdict.reasons.iter().map(move |reason| format!("{measurement}: {reason}"))
        });
        let reasons = told.collect::<Vec<_>>();
        match outcome {
            Some(outcome) => Self { outcome, reasons },
            None => Self { outcome: Outcome::NotDone, reasons: vec!["the plan measures nothing".to_owned()] },
        }
    }
}

/// Judges the edges of a run by their analysis.
#[must_use]
pub fn verdict(analysis: &EdgeAnalysis, record: &RunRecord) -> Verdict {
    let paired = analysis.edges.commanded.count(Class::Paired);
    let passed = format!(
        "{paired} of {} edges paired, the ledger balances, every limit is kept",
        analysis.edges.commanded_count
    );
    let grades = [
        (Outcome::NotDone, not_done(analysis, record)),
        (Outcome::Failed, exceeded(analysis, &record.bench.limits)),
        (Outcome::Invalid, invalid(analysis, &record.bench.limits)),
    ];
    Verdict::graded(grades, Outcome::Passed, passed)
}

fn not_done(analysis: &EdgeAnalysis, record: &RunRecord) -> Vec<String> {
    let mut reasons: Vec<String> =
        analysis.partial.iter().map(|reason| format!("the recording is partial: {reason}")).collect();
    for session in &analysis.sessions {
        let refusal = session.rate.as_ref().and_then(|rate| rate.refusal(record.bench.board.counter_hz));
        reasons.extend(session.reversal.iter().cloned());
        // A run that was stopped by the refusal says so already.
        let told =
            |refusal: &String| analysis.partial.as_ref().is_some_and(|partial| partial.contains(refusal));
        let refusal = refusal.filter(|refusal| !told(refusal));
        reasons.extend(refusal.map(|refusal| format!("session {}: {refusal}", session.number)));
    }
    reasons.extend(
        analysis.edges.imbalances().into_iter().map(|what| format!("the ledger does not balance: {what}")),
    );
    reasons.extend(
        analysis
            .preamble
            .imbalances()
            .into_iter()
            .map(|what| format!("the preamble's ledger does not balance: {what}")),
    );
    let planned = u64::from(record.plan.edges) * u64::from(record.plan.sessions);
    // A source that runs by itself is listened to for as long as that many edges take: one more or less may fall into it.
    let runs = record.bench.generator.driver.timing().runs_by_itself();
    let slack = if runs { 2 * u64::from(record.plan.sessions) } else { 0 };
    if analysis.partial.is_none() && analysis.edges.commanded_count.abs_diff(planned) > slack {
        reasons.push(format!("{planned} edges were planned, {} commanded", analysis.edges.commanded_count));
    }
    if analysis.partial.is_none() && !(analysis.edges.counted_by_board && analysis.preamble.counted_by_board)
    {
        reasons.push(
            "the board's own totals of a window never arrived, so its ledger cannot be checked".to_owned(),
        );
    }
    reasons
}

fn exceeded(analysis: &EdgeAnalysis, limits: &Limits) -> Vec<String> {
    limited(limits)
        .into_iter()
        .filter_map(|(class, limit)| {
            let count = count(analysis, class);
            (count > limit).then(|| format!("{count} edges {class}, the limit is {limit}"))
        })
        .collect()
}

/// The classes that have a limit.
#[must_use]
pub fn limited(limits: &Limits) -> [(Class, u64); 3] {
    [
        (Class::Missed, u64::from(limits.missed)),
        (Class::Spurious, u64::from(limits.spurious)),
        (Class::Lost, u64::from(limits.lost)),
    ]
}

/// Whether so many percent of the commanded edges are paired.
#[must_use]
pub fn enough_paired(ledger: &Ledger, percent: u32) -> bool {
    let paired = ledger.commanded.count(Class::Paired);
    paired > 0 && paired * 100 >= ledger.commanded_count * u64::from(percent)
}

/// Why edges were not believed though they could be counted, with how many: the reference could not be trusted.
#[must_use]
pub fn not_trusted(ledger: &Ledger) -> Option<String> {
    let classes = [Class::Unlocked, Class::Settling, Class::Holdover];
    let counts = classes.map(|class| (ledger.commanded.count(class), class));
    let told: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, class)| format!("{count} edges {class}"))
        .collect();
    (!told.is_empty())
        .then(|| format!("the reference could not be trusted all the time: {}", told.join(", ")))
}

fn count(analysis: &EdgeAnalysis, class: Class) -> u64 {
    let side = if class.on_commanded_side() { &analysis.edges.commanded } else { &analysis.edges.captured };
    side.count(class)
}

fn invalid(analysis: &EdgeAnalysis, limits: &Limits) -> Vec<String> {
    let ledger = &analysis.edges;
    if ledger.commanded_count == 0 && analysis.partial.is_some() {
        return Vec::new();
    }
    let paired = ledger.commanded.count(Class::Paired);
    let mut reasons = Vec::new();
    if !enough_paired(ledger, limits.paired_min_percent) {
        let (commanded, percent) = (ledger.commanded_count, limits.paired_min_percent);
        let few = format!("only {paired} of {commanded} commanded edges are paired, {percent} % are needed");
        reasons.push(match not_trusted(ledger) {
            Some(why) => format!("{few}; {why}"),
            None => few,
        });
    }
    for session in &analysis.sessions {
        if session.rate.is_none() {
            let why = session.without_rate().unwrap_or("fewer than two edges paired");
            reasons.push(format!("session {}: the counter's rate is not known: {why}", session.number));
        }
    }
    reasons
}
