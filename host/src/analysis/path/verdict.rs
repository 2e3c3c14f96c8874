//! What a `path` measurement comes to; the rules are those of results/README.md, "How sure `path` is".

use super::{Instructions, PathAnalysis, Variant};
use crate::analysis::Whole;
use crate::analysis::verdict::{Outcome, Verdict};
use crate::names;
use crate::plan::PathMeasurement;

/// Judges.
#[must_use]
pub fn verdict(analysis: &PathAnalysis, whole: Whole<'_>, plan: &PathMeasurement) -> Verdict {
    let not_done = not_done(analysis, whole, plan);
    let invalid = if analysis.judged { invalid(analysis) } else { Vec::new() };
    let (outcome, otherwise) = if analysis.judged {
        (Outcome::Passed, passed(analysis, whole, plan))
    } else {
        let why = "the board is emulated and its clock live, so its nanoseconds say nothing about the code; \
                   use --clock exact";
        (Outcome::Unjudged, why.to_owned())
    };
    Verdict::graded([(Outcome::NotDone, not_done), (Outcome::Invalid, invalid)], outcome, otherwise)
}

fn not_done(analysis: &PathAnalysis, whole: Whole<'_>, plan: &PathMeasurement) -> Vec<String> {
    let mut reasons = whole.partial_reasons();
    reasons.extend(analysis.problems.iter().cloned());
    if whole.partial.is_none() {
        for variant in &plan.variants {
            let found = analysis.variants.iter().filter(|one| one.variant == *variant);
            let sessions: usize = found.map(|one| one.sessions.len()).sum();
            if sessions < whole.record.plan.sessions as usize && analysis.problems.is_empty() {
                let planned = whole.record.plan.sessions;
                reasons.push(format!("{variant}: {planned} sessions were planned, {sessions} measured"));
            }
        }
    }
    reasons
}

fn invalid(analysis: &PathAnalysis) -> Vec<String> {
    let doubts = |variant: &Variant| {
        let mut doubts: Vec<String> =
            variant.sessions.iter().flat_map(|session| session.doubts.iter().cloned()).collect();
        if let Instructions::Varying(from, to) = variant.instructions {
            let clock = names::of_clock(variant.clock_id);
            doubts.push(format!(
                "{} {clock}: {from} to {to} instructions between the reads, where each pair must have as many",
                variant.variant
            ));
        }
        doubts
    };
    analysis.variants.iter().flat_map(doubts).collect()
}

fn passed(analysis: &PathAnalysis, whole: Whole<'_>, plan: &PathMeasurement) -> String {
    let counted = analysis.variants.iter().all(|one| matches!(one.instructions, Instructions::Always(_)));
    if counted {
        return "every pair of a variant has the same number of instructions between its reads".to_owned();
    }
    let sessions = || analysis.variants.iter().flat_map(|variant| &variant.sessions);
    let bounds = sessions().flat_map(|session| [session.bias, session.overhead_bias]).flatten();
    let largest = bounds.map(|bound| bound.ps(whole.record.bench.board.counter_hz)).max().unwrap_or(0);
    format!(
        "everything was counted, and the phases allow a bias of {:.3} ns at most, of {:.3} ns that may be",
        largest as f64 / 1e3,
        plan.max_bias_ps as f64 / 1e3
    )
}

/// Whether a variant's figures are in doubt.
#[must_use]
pub fn in_doubt(variant: &Variant) -> bool {
    let doubted = variant.sessions.iter().any(|session| !session.doubts.is_empty());
    doubted || matches!(variant.instructions, Instructions::Varying(..))
}
