//! What the terminal report says about `ctime`.

use comfy_table::Cell;

use super::{counted, optional, pairs, plain, right};
use crate::analysis::ctime::CtimeAnalysis;
use crate::analysis::fixed::Fixed;
use crate::names::CtimeVariant;
use crate::plan::RunRecord;
use crate::report::published::{NO_SPREAD, ctime_operations};

/// What was measured, in a line or two.
pub(super) fn heading(record: &RunRecord, label: &str) -> String {
    let Some(plan) = &record.plan.ctime else { return String::new() };
    let variants: Vec<_> = plan.variants.iter().map(|variant| variant.name()).collect();
    format!(
        "ctime: {}{label}\n  {} operations a session on {}, {} a variant, {} clock\n",
        variants.join(", "),
        plan.operations,
        counted(plan.cores, "core"),
        counted(record.plan.sessions, "session"),
        record.plan.clock
    )
}

/// The figures, and the published ones beside them.
pub(super) fn tables(analysis: &CtimeAnalysis, emulated: bool) -> String {
    let label = if emulated { " (emulated: not the A53's)" } else { "" };
    let mut rows = vec![
        ("  published", format!("operations of pipe1_threads; {NO_SPREAD}")),
        ("  violations", "coarse stamps earlier than a fine-grained one before them".to_owned()),
    ];
    rows.extend(analysis.variants.iter().map(|variant| {
        let (name, operations, fine) = (variant.variant, variant.operations, variant.fine_stamps);
        ("  n", format!("{name}: {operations} operations, {fine} fine-grained stamps"))
    }));
    format!(
        "\nctime{label}\n{}\n\n{}\n{}",
        figures(analysis),
        beside_published(analysis).trim_fmt(),
        pairs(&rows)
    )
}

fn figures(analysis: &CtimeAnalysis) -> String {
    let mut table = plain();
    let headers = ["1/s", "95 % from", "to", "instr. each", "violations"];
    table.set_header([Cell::new("  operations")].into_iter().chain(headers.map(right)));
    for variant in &analysis.variants {
        let whole = |value: f64| Fixed::rounded(value, 0);
        let interval = variant.rate.and_then(|rate| rate.interval);
        let instructions = variant.instructions.and_then(|count| Fixed::rounded(count.value, 3));
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(variant.rate.and_then(|rate| whole(rate.value))),
            optional(interval.and_then(|(low, _)| whole(low))),
            optional(interval.and_then(|(_, high)| whole(high))),
            optional(instructions),
            right(variant.violations),
        ]);
    }
    table.trim_fmt()
}

/// Absolute, and as ratios to `coarse`.
fn beside_published(analysis: &CtimeAnalysis) -> comfy_table::Table {
    let mut table = plain();
    let headers = ["here, 1/s", "ratio", "instr. ratio", "published", "ratio"];
    table.set_header([Cell::new("  ")].into_iter().chain(headers.map(right)));
    for variant in &analysis.variants {
        let published = ctime_operations(variant.variant);
        let of_coarse = f64::from(published) / f64::from(ctime_operations(CtimeVariant::Coarse));
        let three = |ratio: Option<f64>| optional(ratio.and_then(|ratio| Fixed::rounded(ratio, 3)));
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(variant.rate.and_then(|rate| Fixed::rounded(rate.value, 0))),
            three(analysis.ratio_to_coarse(variant, |one| one.rate)),
            three(analysis.ratio_to_coarse(variant, |one| one.instructions)),
            right(published),
            three(Some(of_coarse)),
        ]);
    }
    table
}
