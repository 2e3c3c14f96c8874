//! The rows of summary.csv about `ctime`, in their order: by variant, then what concerns all of them.

use super::{CtimeAnalysis, Variant};
use crate::analysis::Whole;
use crate::analysis::figure::Figure;
use crate::analysis::figures::{declared_rate, probe_transactions};
use crate::analysis::fixed::Fixed;
use crate::analysis::path::estimate::Estimate;
use crate::names::{Clock, Measurement};

/// Every figure of `ctime`.
#[must_use]
pub fn figures(analysis: &CtimeAnalysis, whole: Whole<'_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> =
        analysis.variants.iter().flat_map(|variant| of_variant(variant, analysis.judged, whole)).collect();
    figures.push(declared_rate(Measurement::Ctime, whole));
    figures.push(probe_transactions(Measurement::Ctime, analysis.probe_operations, whole));
    figures
}

fn of_variant(variant: &Variant, judged: bool, whole: Whole<'_>) -> Vec<Figure> {
    let figure = |metric: &str, unit: &'static str| Figure {
        cores: variant.cores,
        n: variant.operations,
        sessions: variant.sessions,
        ..Figure::of(Measurement::Ctime, variant.variant.name(), metric, unit)
    };
    let measured = variant.sessions > 0;
    let violations = Figure {
        value: measured.then(|| Fixed::whole(variant.violations.into())),
        verdict: match (measured, variant.violations) {
            (false, _) => "",
            (true, 0) => "passed",
            (true, _) => "exceeded",
        },
        ..figure("ordering_violations", "stamps")
    };
    let verdict = if judged && variant.rate.is_some() { "passed" } else { "" };
    let operations = Figure { verdict, ..estimated(figure("operations", "1/s"), variant.rate, 0) };
    let mut figures = vec![operations];
    if variant.instructions.is_some() {
        let figure = figure("instructions_per_operation", "instructions");
        let exact = whole.record.plan.clock == Clock::Exact;
        let uncertainty = exact.then(|| Fixed::whole(0));
        figures.push(Figure { uncertainty, ..estimated(figure, variant.instructions, 3) });
    }
    figures.push(violations);
    figures
}

fn estimated(figure: Figure, estimate: Option<Estimate>, places: u8) -> Figure {
    let fixed = |value: f64| Fixed::rounded(value, places);
    Figure {
        value: estimate.and_then(|estimate| fixed(estimate.value)),
        interval: estimate
            .and_then(|estimate| estimate.interval)
            .and_then(|(low, high)| Some((fixed(low)?, fixed(high)?))),
        ..figure
    }
}
