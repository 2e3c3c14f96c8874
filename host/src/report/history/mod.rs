//! The history on a terminal, as JSON, and as tables.

pub mod csv;

use std::fmt::Write as _;

use serde::Serialize;

use crate::analysis::picture::nights::{bounds, rounded, sparks};
use crate::formats::foreign_text::visible;
use crate::history::query::{NightRow, Run};
use crate::history::series::{Found, Key, Series};

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

/// One JSON object with all series and their changes.
#[must_use]
pub fn series_json(series: &[Series]) -> String {
    #[derive(Serialize)]
    struct Json<'a> {
        history_version: u32,
        series: &'a [Series],
    }
    to_json(&Json { history_version: 1, series })
}

/// What a series is of, in one line.
#[must_use]
pub fn title(key: &Key) -> String {
    let parts =
        [&key.measure, &key.measurement, &key.variant, &key.mode, &key.tie, &key.clock_id, &key.metric];
    let mut named: Vec<&str> = Vec::new();
    for part in parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()) {
        if !named.contains(&part) {
            named.push(part);
        }
    }
    let label = if key.emulated { ", emulated" } else { "" };
    format!(
        "{} on {}: {} ({}{label})",
        known(&key.image),
        known(&key.bench),
        shown(&named.join(" ")),
        shown(&key.clock)
    )
}

/// The changes of all series, the newest last, as sentences.
#[must_use]
pub fn changes(series: &[Series]) -> String {
    let mut found: Vec<(&Series, &Found)> =
        series.iter().flat_map(|one| one.changes.iter().map(move |found| (one, found))).collect();
    found.sort_by(|one, other| (&one.1.utc, &one.1.folder).cmp(&(&other.1.utc, &other.1.folder)));
    if found.is_empty() {
        let judged = series.iter().filter(|one| one.judged).count();
        return format!("no change in {judged} series; one shows once a second night confirms it\n");
    }
    let mut text = String::new();
    for (one, found) in found {
        let unit = shown(&one.key.unit);
        let (before, after) = (rounded(found.change.before), rounded(found.change.after));
        let _ = writeln!(text, "{}  {}", known(&found.utc), title(&one.key));
        let _ = writeln!(text, "  {before} to {after} {unit} from {} on", shown(&found.folder));
        let _ = writeln!(text, "  {}", found.cause.words());
        let image =
            if found.image_changed { "another image of that name" } else { "the same image as before" };
        let _ = writeln!(text, "  measured was {image}");
        if let Some(p) = found.change.p_value {
            let _ = writeln!(text, "  p {p:.4} by random orders of the nights");
        }
    }
    text
}

/// The series, a line each: nights, a small plot, the last value and what changed.
#[must_use]
pub fn trend(series: &[Series], ascii: bool) -> String {
    let mut text = String::new();
    for one in series {
        let values: Vec<Option<f64>> = one.points.iter().map(|point| point.value).collect();
        let present: Vec<f64> = values.iter().copied().flatten().collect();
        let Some(last) = present.last() else { continue };
        let _ = writeln!(text, "{}", title(&one.key));
        let _ = writeln!(text, "  {}", sparks(&values, ascii));
        let range = bounds(&present).map(|(least, most)| format!("{} to {}", rounded(least), rounded(most)));
        let _ = writeln!(
            text,
            "  {} of {} nights, {} {}, last {}",
            present.len(),
            values.len(),
            range.unwrap_or_default(),
            shown(&one.key.unit),
            rounded(*last)
        );
        for found in &one.changes {
            let _ = writeln!(text, "  changed on {}: {}", known(&found.utc), found.cause.words());
        }
        if !one.judged {
            text.push_str("  not judged: an emulated board's live figures say nothing about the code\n");
        }
    }
    if text.is_empty() { "no figures\n".to_owned() } else { text }
}
