//! The end of a night, and its replay: everything that follows from night.toml, the journal and the bundles is computed and
//! written, the same bytes each time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::evidence::evidence;
use super::folder;
use crate::analysis::verdict::Outcome;
use crate::bundle;
use crate::night::judge::{judge, sentence};
use crate::night::{Night, outputs};
use crate::report::{self, terminal};

/// Reasons that are told on a terminal.
const REASONS: usize = 8;

/// What a night or its replay comes to.
#[derive(Debug)]
pub(in crate::command) struct Finished {
    /// 0, 1, 2 or 3.
    pub(in crate::command) exit: u8,
    /// What to print on stdout; ends with a line end.
    pub(in crate::command) text: String,
}

/// Computes everything that follows from the night in `dir`, writes it there or into `out`, and says what to print.
///
/// # Errors
/// When the night cannot be read or a file not be written; nothing is left half-written.
pub(in crate::command) fn finish(dir: &Path, out: Option<&Path>, json: bool) -> anyhow::Result<Finished> {
    let (record, journal) = folder::read(dir).with_context(|| format!("replay of {}", dir.display()))?;
    let evidence = evidence(dir, &record.plan, &journal)?;
    let night = judge(&record, &journal.entries, &evidence);
    let to = out.unwrap_or(dir);
    // summary.json comes last: where it is, the others are.
    let written: Vec<PathBuf> = report::night::files(&record, &night)
        .into_iter()
        .map(|file| bundle::write_file(to, file.name, |into| file.write(into)))
        .collect::<Result<_, _>>()?;
    let text = if json { report::night::summary_json(&record, &night) } else { table(&night, to, &written) };
    Ok(Finished { exit: night.exit, text })
}

/// The verdict first, then what it rests on.
fn table(night: &Night, to: &Path, written: &[PathBuf]) -> String {
    let label = if night.emulated { ", emulated" } else { "" };
    let mut rows = vec![];
    for (index, reason) in night.reasons.iter().take(REASONS).enumerate() {
        rows.push(match index {
            0 => ("verdict", format!("{} (exit {}): {reason}", night.outcome, night.exit)),
            _ => ("", reason.clone()),
        });
    }
    let more = night.reasons.len().saturating_sub(REASONS);
    if more > 0 {
        rows.push(("", format!("and {more} more reasons, in {}", outputs::SUMMARY_JSON)));
    }
    rows.push(("night", format!("{} on {}{label}, begun {}", night.name, night.bench, night.started_utc)));
    if let Some(health) = &night.health {
        rows.push(("health", if health.well { "well".to_owned() } else { health.reasons.join("; ") }));
    }
    for measure in &night.measures {
        let count = match measure.steps.len() {
            1 => "1 run".to_owned(),
            count => format!("{count} runs"),
        };
        let ended = if measure.ended.is_empty() { "cut" } else { &measure.ended };
        rows.push(("measure", format!("{}: {count}; {ended}", measure.name)));
        for one in &measure.comparisons {
            rows.push((one.verdict.name(), sentence(one)));
        }
        for one in &measure.limits {
            let of = [one.image.as_str(), &one.variant].join(" ");
            rows.push((outcome_name(one.outcome), format!("{}: {}", of.trim(), one.reason)));
        }
    }
    let mut text = terminal::pairs(&rows);
    let names = written.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
    let names = names.collect::<Vec<_>>().join(", ");
    let _infallible = writeln!(text, "\nfiles in {}:\n  {names}", to.display());
    text
}

const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "kept",
        Outcome::Failed => "exceeded",
        Outcome::NotDone => "not-done",
        Outcome::Invalid | Outcome::Unjudged => "no-verdict",
    }
}
