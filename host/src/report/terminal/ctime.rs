//! What the terminal report says about `ctime`.

use comfy_table::Cell;

use super::{counted, optional, pairs, plain, right};
use crate::analysis::ctime::{CtimeAnalysis, Variant};
use crate::analysis::figure::Figure;
use crate::analysis::published::{CTIME_SOURCE, NO_SPREAD, beside_ctime};
use crate::plan::RunRecord;

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
        ("  published", format!("operations; {CTIME_SOURCE}; {NO_SPREAD}")),
        ("  violations", "coarse stamps earlier than a fine-grained one before them".to_owned()),
    ];
    rows.extend(analysis.variants.iter().map(|variant| {
        let (name, operations, fine) = (variant.variant, variant.operations, variant.fine_stamps);
        ("  n", format!("{name}: {operations} operations, {fine} fine-grained stamps"))
    }));
    format!(
        "\nctime{label}\n{}\n\n{}\n{}",
        figures(analysis),
        beside_published(analysis, emulated).trim_fmt(),
        pairs(&rows)
    )
}

fn figure<'a>(analysis: &'a CtimeAnalysis, variant: &Variant, metric: &str) -> Option<&'a Figure> {
    let name = variant.variant.name();
    let matches =
        |figure: &&Figure| figure.variant == name && figure.cores == variant.cores && figure.metric == metric;
    analysis.figures.iter().find(matches)
}

fn figures(analysis: &CtimeAnalysis) -> String {
    let mut table = plain();
    let headers = ["1/s", "95 % from", "to", "instr. each", "violations"];
    table.set_header([Cell::new("  operations")].into_iter().chain(headers.map(right)));
    for variant in &analysis.variants {
        let operations = figure(analysis, variant, "operations");
        let interval = operations.and_then(|operations| operations.interval);
        let instructions = figure(analysis, variant, "instructions_per_operation");
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(operations.and_then(|operations| operations.value)),
            optional(interval.map(|(low, _)| low)),
            optional(interval.map(|(_, high)| high)),
            optional(instructions.and_then(|count| count.value)),
            right(variant.violations),
        ]);
    }
    table.trim_fmt()
}

/// Absolute, and as ratios to `coarse`.
fn beside_published(analysis: &CtimeAnalysis, emulated: bool) -> comfy_table::Table {
    let mut table = plain();
    let here = if emulated { "here, 1/s (emulated)" } else { "here, 1/s" };
    let headers = [here, "ratio", "instr. ratio", "published", "ratio"];
    table.set_header([Cell::new("  ")].into_iter().chain(headers.map(right)));
    for variant in &analysis.variants {
        let beside = beside_ctime(analysis, variant);
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(beside.here),
            optional(beside.ratio),
            optional(beside.instructions_ratio),
            optional(beside.published),
            optional(beside.published_ratio),
        ]);
    }
    table
}
