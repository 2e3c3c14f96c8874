//! What the terminal report says about `path`.

use comfy_table::Cell;
use ppsrig_wire::ClockId;

use super::{components, counted, optional, or_nothing, pairs, plain, right};
use crate::analysis::figure::Figure;
use crate::analysis::path::{Instructions, PathAnalysis, Variant};
use crate::analysis::published::{NO_SPREAD, PATH_BOARD, PATH_SOURCE, beside_path};
use crate::names;
use crate::plan::RunRecord;

/// What was measured, in a line or two.
pub(super) fn heading(record: &RunRecord, label: &str) -> String {
    let Some(plan) = &record.plan.path else { return String::new() };
    let variants: Vec<_> = plan.variants.iter().map(|variant| variant.name()).collect();
    let dither = match plan.dither {
        true => format!("dither over {}", counted(plan.dither_steps, "cycle")),
        false => "dither off".to_owned(),
    };
    format!(
        "path: {}; {}{label}\n  {} pairs a session, {dither}, {} a variant, {} clock\n",
        variants.join(", "),
        names::of_clock(record.plan.clock_id),
        plan.iterations,
        counted(record.plan.sessions, "session"),
        record.plan.clock
    )
}

/// The figures, the published ones beside them, and how they came about.
pub(super) fn tables(analysis: &PathAnalysis, emulated: bool) -> String {
    let label = if emulated { " (emulated: not the A53's)" } else { "" };
    let mut text = format!("\npath, from read to read{label}\n{}\n", figures(analysis));
    if analysis.variants.iter().any(|variant| variant.clock_id == ClockId::Realtime) {
        text.push_str(&beside_published(analysis, emulated));
    }
    text.push_str(&pairs(&facts(analysis)));
    text
}

fn figure<'a>(analysis: &'a PathAnalysis, variant: &Variant, metric: &str) -> Option<&'a Figure> {
    let (name, clock) = (variant.variant.name(), names::of_clock(variant.clock_id));
    let matches =
        |figure: &&Figure| figure.variant == name && figure.clock_id == clock && figure.metric == metric;
    analysis.figures.iter().find(matches)
}

fn figures(analysis: &PathAnalysis) -> String {
    let mut table = plain();
    let headers = ["mean", "95 % from", "to", "U", "bias bound", "instr."];
    table.set_header([Cell::new("  ns")].into_iter().chain(headers.map(right)));
    for variant in &analysis.variants {
        let value = |metric: &str| figure(analysis, variant, metric).and_then(|figure| figure.value);
        let mean = figure(analysis, variant, "mean");
        let interval = mean.and_then(|mean| mean.interval);
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(value("mean")),
            optional(interval.map(|(low, _)| low)),
            optional(interval.map(|(_, high)| high)),
            optional(mean.and_then(|mean| mean.uncertainty)),
            optional(value("bias_bound")),
            optional(value("instructions")),
        ]);
    }
    table.trim_fmt()
}

/// Absolute, and as ratios to `indirect`.
fn beside_published(analysis: &PathAnalysis, emulated: bool) -> String {
    let realtime = analysis.variants.iter().filter(|variant| variant.clock_id == ClockId::Realtime);
    let mut table = plain();
    let here = if emulated { "here, ns (emulated)" } else { "here, ns" };
    let headers = [here, "ratio", "published, ns", "ratio"];
    table.set_header([Cell::new("  realtime")].into_iter().chain(headers.map(right)));
    for variant in realtime {
        let beside = beside_path(analysis, variant);
        table.add_row(vec![
            Cell::new(format!("  {}", variant.variant)),
            optional(beside.here),
            optional(beside.ratio),
            optional(beside.published),
            optional(beside.published_ratio),
        ]);
    }
    let published = format!("{PATH_BOARD}; {NO_SPREAD}; {PATH_SOURCE}");
    format!("\n{}\n{}", table.trim_fmt(), pairs(&[("  published", published)]))
}

fn facts(analysis: &PathAnalysis) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let several = analysis.variants.iter().any(|one| one.mean.is_some_and(|mean| mean.between_sessions));
    let units = if several { "session means" } else { "batch means, within-session" };
    rows.push(("  95 %", format!("Student's t, {units}")));
    rows.push(("  read overhead", "taken off the mean; two reads with nothing between them".to_owned()));
    let d = "share of pairs with D >= 1; D: ticks by which the counter advanced between the two reads";
    rows.push(("  P(D>=1)", d.to_owned()));
    for variant in &analysis.variants {
        let value = |metric: &str| figure(analysis, variant, metric).and_then(|figure| figure.value);
        let (overhead, advanced) = (value("read_overhead"), value("p_ge_1"));
        if let (Some(overhead), Some(advanced)) = (overhead, advanced) {
            let n = figure(analysis, variant, "mean").map_or(0, |mean| mean.n);
            let what = format!("{}: {overhead} ns; P(D>=1) {advanced} of {n} pairs", variant.variant);
            rows.push(("", what));
        }
    }
    let uncertain = |variant: &&Variant| variant.components.iter().any(|part| part.ps > 0.0);
    for variant in analysis.variants.iter().filter(uncertain) {
        rows.push(("  U of", format!("{}: {}", variant.variant, components(&variant.components))));
    }
    if analysis.variants.iter().any(|variant| uncertain(&variant)) {
        let bound = "for latencies of whole CPU cycles; for others it is one cycle more";
        rows.push(("  bias bound", bound.to_owned()));
    }
    if analysis.variants.iter().any(|variant| variant.instructions != Instructions::NotCounted) {
        let what = "instructions strictly between the two reads, the same in every pair";
        rows.push(("  instr.", what.to_owned()));
    }
    let compares =
        |variant: &Variant| figure(analysis, variant, "n_eff").is_some_and(|n_eff| n_eff.value.is_some());
    if !analysis.variants.iter().any(compares) {
        let why = "not known: the batches do not differ, so there is no spread to compare with that of single pairs";
        rows.push(("  n_eff", why.to_owned()));
    }
    for variant in &analysis.variants {
        rows.extend(variant.sessions.iter().filter_map(|session| {
            let ladder = session.ladder.as_ref()?;
            let worst = ladder.worst()?;
            let line = ladder.line.map_or_else(String::new, |line| {
                let (slope, half, p) = (line.slope, line.slope_half, line.p_value);
                format!("; slope {slope:.4} +- {half:.4}, p {p:.2} (for information)")
            });
            Some((
                "  ladder",
                format!(
                    "{}, session {}: {} known delays, {} ns off at most (at {} cycles){line}",
                    variant.variant,
                    session.number,
                    ladder.rungs.len(),
                    or_nothing(worst.off()),
                    worst.cycles
                ),
            ))
        }));
    }
    rows
}
