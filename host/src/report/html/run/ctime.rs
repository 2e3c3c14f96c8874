//! `ctime`: operations, violations of the order, and the published figures beside them.

use maud::{Markup, html};

use super::figures::figures;
use super::{counted, labelled};
use crate::analysis::ctime::{CtimeAnalysis, Variant};
use crate::analysis::published::{CTIME_SOURCE, NO_SPREAD, beside_ctime};
use crate::plan::RunRecord;
use crate::report::html::page::{Cell, shown, table};

/// What was measured.
pub(super) fn what(record: &RunRecord) -> String {
    let Some(plan) = &record.plan.ctime else { return String::new() };
    let variants: Vec<_> = plan.variants.iter().map(|variant| variant.name()).collect();
    format!(
        "The coarse clock under inode timestamps: {}; {} operations a session on {}, {} a variant, {} clock.",
        variants.join(", "),
        plan.operations,
        counted(plan.cores, "core"),
        counted(record.plan.sessions, "session"),
        record.plan.clock
    )
}

/// Everything about `ctime`.
pub(super) fn sections(analysis: &CtimeAnalysis, emulated: bool) -> Markup {
    let rows = analysis
        .figures
        .iter()
        .map(|figure| (format!("{}, {}", figure.variant, counted(figure.cores, "core")), figure));
    let header = ["build", ">violations", ">operations", ">fine-grained stamps"];
    let counts = analysis.variants.iter().map(|variant| {
        vec![
            Cell::text(variant.variant.to_string()),
            Cell::number(Some(variant.violations)),
            Cell::number(Some(variant.operations)),
            Cell::number(Some(variant.fine_stamps)),
        ]
    });
    html! {
        (labelled("Coarse clock", emulated))
        (table("Order: coarse stamps that were earlier than a fine-grained one before them", &header, counts.collect()))
        p class="good-one" { "A good one: no violation at all, on any board, emulated or not." }
        (figures("Figures of ctime with their 95 % intervals", rows))
        (published(analysis, emulated))
        @for problem in &analysis.problems { p { span class="word bad" { "Missing" } ": " (shown(problem)) "." } }
    }
}

fn published(analysis: &CtimeAnalysis, emulated: bool) -> Markup {
    let row = |variant: &Variant| {
        let beside = beside_ctime(analysis, variant);
        vec![
            Cell::text(variant.variant.to_string()),
            Cell::number(beside.here),
            Cell::number(beside.ratio),
            Cell::number(beside.instructions_ratio),
            Cell::number(beside.published),
            Cell::number(beside.published_ratio),
        ]
    };
    let here = if emulated { ">here, 1/s (emulated)" } else { ">here, 1/s" };
    let header = ["build", here, ">ratio", ">instructions, ratio", ">published", ">ratio"];
    html! {
        (table("Operations beside the published ones", &header, analysis.variants.iter().map(row).collect()))
        p class="quiet" { "Published: " (CTIME_SOURCE) "; " (NO_SPREAD) "." }
    }
}
