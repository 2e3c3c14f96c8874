//! The history on a terminal and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::formats::foreign_text::visible;
use crate::history::query::{NightRow, Run};

/// One JSON object with all runs and nights, newest first.
#[must_use]
pub fn json(runs: &[Run], nights: &[NightRow]) -> String {
    #[derive(Serialize)]
    struct Json<'a> {
        history_version: u32,
        nights: &'a [NightRow],
        runs: &'a [Run],
    }
    to_json(&Json { history_version: 1, nights, runs })
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("names are strings and every number is finite");
    text + "\n"
}

/// Runs that belong to no night, and nights, newest first, at most `limit` of them.
#[must_use]
pub fn list(runs: &[Run], nights: &[NightRow], limit: usize) -> String {
    let mut lines: Vec<(&str, [String; 5])> =
        nights.iter().map(|night| (night.started_utc.as_str(), of_night(night, runs))).collect();
    let listed = |run: &&Run| run.night.is_empty() || !nights.iter().any(|night| night.folder == run.night);
    lines.extend(runs.iter().filter(listed).map(|run| (run.started_utc.as_str(), of_run(run))));
    lines.sort_by(|one, other| other.0.cmp(one.0).then_with(|| one.1.cmp(&other.1)));
    let more = lines.len().saturating_sub(limit);
    let mut rows = vec![["begun", "bench", "verdict", "what", "folder"].map(str::to_owned)];
    rows.extend(lines.into_iter().take(limit).map(|(_, row)| row));
    if rows.len() == 1 {
        return "no runs and nights\n".to_owned();
    }
    let mut text = columns(&rows);
    if more > 0 {
        let _ = writeln!(text, "and {more} more; --limit {} lists them", limit + more);
    }
    text
}

/// Lines with columns as wide as what stands in them; the last one is not filled up.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

/// What is not known stays visible.
fn known(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { shown(text) }
}

fn verdict(outcome: &str, exit: Option<u8>) -> String {
    match exit {
        Some(exit) => format!("{} ({exit})", shown(outcome)),
        None => "-".to_owned(),
    }
}

fn of_night(night: &NightRow, runs: &[Run]) -> [String; 5] {
    let own = runs.iter().filter(|run| run.night == night.folder).count();
    let mut what = format!("night {}, {own} runs", shown(&night.plan));
    if night.health == "sick" {
        let _ = write!(what, ", bench sick: {}", shown(night.offline.first().map_or("", String::as_str)));
    }
    if !night.problem.is_empty() {
        let _ = write!(what, ", {}", shown(&night.problem));
    }
    [
        known(&night.started_utc),
        known(&night.bench),
        verdict(&night.outcome, night.exit),
        what,
        shown(&night.folder),
    ]
}

fn of_run(run: &Run) -> [String; 5] {
    let label = if run.emulated == Some(true) { ", emulated" } else { "" };
    let what = if run.problem.is_empty() {
        format!("{} {}, {}{label}", shown(&run.clock), shown(&run.measurements), known(&run.image))
    } else {
        shown(&run.problem)
    };
    [known(&run.started_utc), known(&run.bench), verdict(&run.outcome, run.exit), what, shown(&run.folder)]
}
