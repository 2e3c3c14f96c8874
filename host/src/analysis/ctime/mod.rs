//! `ctime`: the coarse clock under inode timestamps, by a pipe-like workload in which every operation stamps inodes.
//!
//! Speed is operations a second, and instructions for an operation where the core counts them. Correctness counts as
//! much: after a fine-grained stamp was handed out, no later coarse stamp on any core may be earlier. A violation of that
//! is a fault of the code on whatever board it is seen.

pub mod collect;
pub mod figures;
#[cfg(test)]
mod tests;

use self::collect::CtimeWindow;
use super::figure::Figure;
use super::path::estimate::{Estimate, SessionValue, estimate};
use super::verdict::{Outcome, Verdict};
use super::{Whole, probe_use};
use crate::names::{Clock, CtimeVariant};
use crate::plan::CtimeMeasurement;

/// Everything that follows from a recording about `ctime`.
#[derive(Clone, Debug, PartialEq)]
pub struct CtimeAnalysis {
    /// The runs of the workload, in the order in which the board was told.
    pub windows: Vec<CtimeWindow>,
    /// The variants, in the order of their first session.
    pub variants: Vec<Variant>,
    /// What is missing or does not fit together, as sentences.
    pub problems: Vec<String>,
    /// Whether speeds are judged: not those of an emulated board's nanoseconds.
    pub judged: bool,
    /// Probe operations while the board measured.
    pub probe_operations: u64,
    /// Its rows of summary.csv.
    pub figures: Vec<Figure>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// One variant on so many cores.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The build.
    pub variant: CtimeVariant,
    /// Cores that ran the workload.
    pub cores: u8,
    /// Its sessions of which everything arrived.
    pub sessions: u64,
    /// Operations of all of them.
    pub operations: u64,
    /// Operations a second, all cores together.
    pub rate: Option<Estimate>,
    /// Instructions for an operation, where the core counts them.
    pub instructions: Option<Estimate>,
    /// Coarse stamps that were earlier than a fine-grained one before them.
    pub violations: u64,
    /// Fine-grained stamps.
    pub fine_stamps: u64,
}

impl CtimeAnalysis {
    /// A variant's estimate over that of `coarse` on as many cores.
    #[must_use]
    pub fn ratio_to_coarse(
        &self,
        variant: &Variant,
        of: impl Fn(&Variant) -> Option<Estimate>,
    ) -> Option<f64> {
        let is_base = |one: &&Variant| one.variant == CtimeVariant::Coarse && one.cores == variant.cores;
        let (own, base) = (of(variant)?.value, of(self.variants.iter().find(is_base)?)?.value);
        (base > 0.0).then(|| own / base)
    }
}

/// Judges what a recording holds about `ctime`.
#[must_use]
pub fn analyse(whole: Whole<'_>, plan: &CtimeMeasurement) -> CtimeAnalysis {
    let collected = collect::windows(whole.recording);
    let probe_operations =
        collected.list.iter().map(|window| probe_use(whole, window.started, window.ended)).sum();
    let mut analysis = CtimeAnalysis {
        variants: variants(&collected.list, whole),
        problems: collected.problems,
        windows: collected.list,
        judged: whole.record.plan.clock == Clock::Exact || !whole.emulated,
        probe_operations,
        figures: Vec::new(),
        verdict: Verdict::nothing(),
    };
    analysis.problems.extend(analysis.windows.iter().filter_map(CtimeWindow::problem));
    analysis.figures = figures::figures(&analysis, whole);
    analysis.verdict = verdict(&analysis, whole, plan);
    analysis
}

fn variants(windows: &[CtimeWindow], whole: Whole<'_>) -> Vec<Variant> {
    let mut order: Vec<(CtimeVariant, u8)> = Vec::new();
    for window in windows {
        let key = (window.variant, window.cores);
        if !order.contains(&key) {
            order.push(key);
        }
    }
    let of_key = |(variant, cores): (CtimeVariant, u8)| {
        let runs = windows.iter().filter(|window| window.variant == variant && window.cores == cores);
        variant_of(variant, cores, &runs.filter(|window| window.is_whole()).collect::<Vec<_>>(), whole)
    };
    order.into_iter().map(of_key).collect()
}

fn variant_of(variant: CtimeVariant, cores: u8, runs: &[&CtimeWindow], whole: Whole<'_>) -> Variant {
    let value = |value: f64| SessionValue { value, batches: Vec::new() };
    let counter_hz = whole.record.bench.board.counter_hz;
    let rates: Vec<SessionValue> =
        runs.iter().filter_map(|run| run.operations_per_second(counter_hz)).map(value).collect();
    let instructions: Vec<SessionValue> =
        runs.iter().filter_map(|run| run.instructions_per_operation(whole.emulated)).map(value).collect();
    Variant {
        variant,
        cores,
        sessions: runs.len() as u64,
        operations: runs.iter().map(|run| run.done_operations()).sum(),
        rate: estimate(&rates),
        instructions: estimate(&instructions),
        violations: runs.iter().map(|run| run.violations()).sum(),
        fine_stamps: runs.iter().map(|run| run.fine_stamps()).sum(),
    }
}

fn verdict(analysis: &CtimeAnalysis, whole: Whole<'_>, plan: &CtimeMeasurement) -> Verdict {
    let mut not_done = whole.partial_reasons();
    not_done.extend(analysis.problems.iter().cloned());
    if whole.partial.is_none() && analysis.problems.is_empty() {
        for variant in &plan.variants {
            let found = analysis.variants.iter().filter(|one| one.variant == *variant);
            let (sessions, planned): (u64, _) =
                (found.map(|one| one.sessions).sum(), whole.record.plan.sessions);
            if sessions < u64::from(planned) {
                not_done.push(format!("{variant}: {planned} sessions were planned, {sessions} measured"));
            }
        }
    }
    let violated = analysis.variants.iter().filter(|one| one.violations > 0).map(|one| {
        format!(
            "{}: {} coarse stamps were earlier than a fine-grained one before them",
            one.variant, one.violations
        )
    });
    let grades = [(Outcome::NotDone, not_done), (Outcome::Failed, violated.collect())];
    if analysis.judged {
        let why = "every operation was done, and no stamp was out of order";
        return Verdict::graded(grades, Outcome::Passed, why.to_owned());
    }
    let why = "no stamp was out of order; the board is emulated and its clock live, so its speed says nothing about \
               the code; use --clock exact";
    Verdict::graded(grades, Outcome::Unjudged, why.to_owned())
}
