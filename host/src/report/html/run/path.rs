//! `path`: the figures of each build, the published ones beside them, and what makes them sure.

use maud::{Markup, html};
use ppsrig_wire::ClockId;

use super::figures::{budget, figures};
use super::{counted, labelled};
use crate::analysis::path::{PathAnalysis, Variant};
use crate::analysis::picture::histogram::{of_phases, of_ticks};
use crate::analysis::published::{NO_SPREAD, PATH_BOARD, PATH_SOURCE, beside_path};
use crate::analysis::uncertainty::Component;
use crate::names;
use crate::plan::RunRecord;
use crate::report::html::page::{Cell, shown, table};
use crate::report::html::plot;

/// What was measured.
pub(super) fn what(record: &RunRecord) -> String {
    let Some(plan) = &record.plan.path else { return String::new() };
    let variants: Vec<_> = plan.variants.iter().map(|variant| variant.name()).collect();
    format!(
        "How long it takes from a raw counter read in the caller to the counter read inside the snapshot function: {}; \
         {}, {} pairs a session, dither {}, {} a variant, {} clock.",
        variants.join(", "),
        names::of_clock(record.plan.clock_id),
        plan.iterations,
        if plan.dither { "on" } else { "off" },
        counted(record.plan.sessions, "session"),
        record.plan.clock
    )
}

/// Everything about `path`.
pub(super) fn sections(analysis: &PathAnalysis, emulated: bool) -> Markup {
    let name = |variant: &Variant| format!("{}, {}", variant.variant, names::of_clock(variant.clock_id));
    let rows =
        analysis.figures.iter().map(|figure| (format!("{} {}", figure.variant, figure.clock_id), figure));
    html! {
        (labelled("Path", emulated))
        (figures("Figures of path with their 95 % intervals and systematic uncertainty U", rows))
        p class="quiet" { "The mean is less the read overhead. Single differences below a tick say nothing, so percentiles may be empty; P(D >= 1) is the share of pairs between whose reads the counter advanced." }
        (published(analysis, emulated))
        @for problem in &analysis.problems { p { span class="word bad" { "Missing" } ": " (shown(problem)) "." } }
        @for (index, variant) in analysis.variants.iter().enumerate() {
            h3 { (name(variant)) }
            @if let Some(picture) = of_ticks(variant) {
                (plot::run::histogram(&format!("Differences: {}", name(variant)), &picture, None, plot::run::series_colour(index), TICKS))
            }
            @match of_phases(&analysis.windows, variant) {
                Some((picture, even)) => (plot::run::histogram(&format!("Phases: {}", name(variant)), &picture, Some(even), plot::run::series_colour(index), PHASES)),
                None => p class="quiet" { "No phases: the counter advances with every cycle, or none arrived." },
            }
            @if !variant.components.is_empty() {
                (budget(&format!("What U of the mean is made of: {}", name(variant)), &variant.components, "ns", Component::nanoseconds))
            }
        }
        (ladder(analysis))
        (doubts(analysis))
    }
}

const TICKS: &str = "two neighbouring bars, since one tick is longer than the path, and few far to the right: those are \
    pairs that something came between.";

const PHASES: &str = "bars of one height. Then the reads met every phase of the counter alike, and the bound on the \
    mean's bias is small; a comb or a slope means a loop in step with the counter.";

fn published(analysis: &PathAnalysis, emulated: bool) -> Markup {
    let realtime = analysis.variants.iter().filter(|variant| variant.clock_id == ClockId::Realtime);
    let row = |variant: &Variant| {
        let beside = beside_path(analysis, variant);
        vec![
            Cell::text(variant.variant.to_string()),
            Cell::number(beside.here),
            Cell::number(beside.ratio),
            Cell::number(beside.published),
            Cell::number(beside.published_ratio),
        ]
    };
    let rows: Vec<_> = realtime.map(row).collect();
    let here = if emulated { ">here, ns (emulated)" } else { ">here, ns" };
    html! { @if !rows.is_empty() {
        (table("Beside the published figures, realtime", &["build", here, ">ratio", ">published, ns", ">ratio"], rows))
        p class="quiet" { "Published: " (PATH_BOARD) "; " (NO_SPREAD) "; " (PATH_SOURCE) "." }
    } }
}

fn ladder(analysis: &PathAnalysis) -> Markup {
    let sessions = analysis.variants.iter().flat_map(|variant| {
        variant
            .sessions
            .iter()
            .filter_map(move |session| Some((variant, session.number, session.ladder.as_ref()?)))
    });
    let row = |(variant, session, ladder): (&Variant, u32, &crate::analysis::path::ladder::Ladder)| {
        let worst = ladder.worst();
        let line = ladder.line.map(|line| format!("{:.4} ± {:.4}", line.slope, line.slope_half));
        vec![
            Cell::text(format!("{}, session {session}", variant.variant)),
            Cell::number(Some(ladder.rungs.len())),
            Cell::number(worst.and_then(|rung| rung.off())),
            Cell::number(worst.map(|rung| rung.cycles)),
            Cell::number(line),
        ]
    };
    let rows: Vec<_> = sessions.map(row).collect();
    let header = ["build", ">known delays", ">off at most, ns", ">at cycles", ">slope (1 is right)"];
    html! {
        h3 { "Known delays put into the path" }
        @if rows.is_empty() { p { "None were put in." } } @else {
            (table("The ladder of known delays", &header, rows))
            p class="good-one" { "A good one: off by less than the bounds on the bias, and a slope whose interval holds 1." }
        }
    }
}

fn doubts(analysis: &PathAnalysis) -> Markup {
    let doubts =
        analysis.variants.iter().flat_map(|variant| &variant.sessions).flat_map(|session| &session.doubts);
    let doubts: Vec<_> = doubts.collect();
    html! { @if !doubts.is_empty() {
        h3 { "Why the mean is doubtful" }
        ul { @for doubt in doubts { li { (shown(doubt)) } } }
    } }
}
