//! `report.html` of a run: the verdict first, then what shows why.

mod ctime;
mod edge;
mod figures;
mod path;
mod provenance;
mod worst;

use maud::{Markup, html};

use super::page::{page, shown};
use crate::analysis::Analysis;
use crate::analysis::verdict::{Outcome, Verdict};
use crate::names::Measurement;
use crate::plan::RunRecord;

/// The page of a run.
#[must_use]
pub fn run(record: &RunRecord, analysis: &Analysis) -> String {
    let measured: Vec<_> = record.plan.measure.iter().map(|one| one.name()).collect();
    let title = format!("ppsrig: {} on {}", measured.join(", "), bench_name(record));
    let body = html! {
        (verdict(&analysis.verdict, analysis.emulated))
        (what(record, analysis))
        @if let Some(edge) = &analysis.edge { (edge::sections(record, analysis, edge)) }
        @if let Some(path) = &analysis.path { (path::sections(path, analysis.emulated)) }
        @if let Some(ctime) = &analysis.ctime { (ctime::sections(ctime, analysis.emulated)) }
        (provenance::sections(record, analysis))
    };
    page(&title, body)
}

fn bench_name(record: &RunRecord) -> &str {
    let file = record.provenance.bench_file.as_str();
    file.strip_suffix(".toml").unwrap_or(file)
}

/// What an exit status means.
pub(super) const fn exit_words(exit: u8) -> &'static str {
    match exit {
        0 => "nothing stands against it",
        1 => "a limit was exceeded, or a comparison says worse",
        2 => "it could not be done, the ledger does not balance, or it was interrupted",
        _ => "no verdict: the figures do not allow one",
    }
}

/// How the outcome looks, and what it is in a word.
pub(super) const fn outcome_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "good",
        Outcome::Failed | Outcome::NotDone => "bad",
        Outcome::Invalid | Outcome::Unjudged => "open",
    }
}

fn verdict(verdict: &Verdict, emulated: bool) -> Markup {
    let outcome = verdict.outcome;
    html! {
        section class={ "verdict " (outcome_class(outcome)) } aria-label="verdict" {
            p { "Verdict: " (outcome) }
            @match verdict.reasons.as_slice() {
                [] => {}
                [one] => p { (shown(one)) },
                several => ul { @for reason in several.iter().take(REASONS) { li { (shown(reason)) } } },
            }
            @if verdict.reasons.len() > REASONS { p { "More reasons are in summary.json." } }
            p class="quiet" { "Exit status " (outcome.exit()) ": " (exit_words(outcome.exit())) "." }
            @if emulated { (emulated_label()) }
        }
    }
}

/// Reasons that are told.
const REASONS: usize = 20;

/// Prominent wherever figures of an emulated board stand.
pub(super) fn emulated_label() -> Markup {
    html! { p { span class="label" { "emulated" } " The board was emulated: its figures rehearse the whole chain, but a nanosecond of them is not the A53's." } }
}

/// A heading, with the label where the board was emulated.
pub(super) fn labelled(heading: &str, emulated: bool) -> Markup {
    html! { h2 { (shown(heading)) @if emulated { " " span class="label" { "emulated" } } } }
}

/// What was measured, in a paragraph.
fn what(record: &RunRecord, analysis: &Analysis) -> Markup {
    let sentences = record.plan.measure.iter().map(|measurement| match measurement {
        Measurement::Edge => edge::what(record),
        Measurement::Path => path::what(record),
        Measurement::Ctime => ctime::what(record),
    });
    html! {
        @for sentence in sentences { p { (shown(&sentence)) } }
        @if let Some(reason) = &analysis.partial {
            p { span class="word bad" { "Partial" } ": the recording is not whole, " (shown(reason)) "." }
        }
        p class="quiet" { "Recorded from " (shown(&record.provenance.started_utc)) " on." }
    }
}

/// "1 session", "3 sessions".
fn counted(count: impl Into<u64>, what: &str) -> String {
    match count.into() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests;
