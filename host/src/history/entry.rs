//! What a run's or a night's files say, as far as the history keeps it.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::figures::{self, FigureRow};
use crate::bundle;
use crate::night::journal;
use crate::night::{self, Entry, NightRecord};
use crate::report;

/// A run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunEntry {
    pub(super) bench: String,
    pub(super) measurements: String,
    pub(super) image: String,
    pub(super) image_sha256: String,
    pub(super) started_utc: String,
    pub(super) status: String,
    pub(super) outcome: String,
    pub(super) exit: Option<u8>,
    pub(super) reason: String,
    pub(super) emulated: Option<bool>,
    pub(super) clock: String,
    pub(super) seed: String,
    pub(super) problem: String,
    pub(super) figures: Vec<FigureRow>,
}

/// A night.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NightEntry {
    pub(super) plan: String,
    pub(super) bench: String,
    pub(super) started_utc: String,
    pub(super) outcome: String,
    pub(super) exit: Option<u8>,
    pub(super) reasons: Vec<String>,
    pub(super) health: &'static str,
    pub(super) offline: Vec<String>,
    pub(super) problem: String,
    /// Bundle relative to the night's folder, measure, image, round.
    pub(super) steps: Vec<(String, String, String, u32)>,
}

/// The top of summary.json. Its figures are read from summary.csv.
#[derive(Deserialize)]
struct Summary {
    status: String,
    outcome: String,
    exit: u8,
    reasons: Vec<String>,
    emulated: bool,
    measurement: String,
    #[serde(default)]
    clock: Option<String>,
    provenance: Provenance,
    #[serde(rename = "figures")]
    _figures: IgnoredAny,
}

#[derive(Deserialize)]
struct Provenance {
    started_utc: String,
    bench_file: String,
    image: String,
    image_sha256: String,
}

#[derive(Deserialize)]
struct Head {
    plan: HeadPlan,
}

#[derive(Deserialize)]
struct HeadPlan {
    seed: u64,
    #[serde(default)]
    clock: Option<String>,
}

/// Reads a run. What cannot be read is its problem.
pub(super) fn run(dir: &Path) -> RunEntry {
    let mut entry = RunEntry::default();
    if let Err(problem) = entry.take(dir) {
        entry.problem = problem;
        entry.figures = Vec::new();
        // The folder's name tells its start and bench where nothing else does.
        if entry.bench.is_empty() {
            entry.named_by(dir);
        }
    }
    entry
}

impl RunEntry {
    fn take(&mut self, dir: &Path) -> Result<(), String> {
        let plan = text(dir, bundle::names::RUN)?.ok_or("it has no run.toml")?;
        let Some(summary) = text(dir, report::SUMMARY_JSON)? else {
            self.take_record(&plan)?;
            return Err("not summarised: `ppsrig replay` computes its figures".to_owned());
        };
        let head: Head = toml::from_str(head(&plan)).map_err(|error| of_file(bundle::names::RUN, &error))?;
        let summary: Summary =
            serde_json::from_str(&summary).map_err(|error| of_file(report::SUMMARY_JSON, &error))?;
        self.seed = head.plan.seed.to_string();
        self.bench = stem(&summary.provenance.bench_file);
        self.measurements = summary.measurement;
        self.image = summary.provenance.image;
        self.image_sha256 = summary.provenance.image_sha256;
        self.started_utc = summary.provenance.started_utc;
        (self.status, self.outcome, self.exit) = (summary.status, summary.outcome, Some(summary.exit));
        self.reason = summary.reasons.into_iter().next().unwrap_or_default();
        self.emulated = Some(summary.emulated);
        self.clock = summary.clock.or(head.plan.clock).unwrap_or_else(|| "live".to_owned());
        let file = fs::File::open(dir.join(report::SUMMARY));
        let file = file.map_err(|error| of_file(report::SUMMARY, &error))?;
        self.figures = figures::read(file).map_err(|error| of_file(report::SUMMARY, &error))?;
        Ok(())
    }

    fn take_record(&mut self, text: &str) -> Result<(), String> {
        let record: crate::plan::RunRecord =
            toml::from_str(text).map_err(|error| of_file(bundle::names::RUN, &error))?;
        self.bench = stem(&record.provenance.bench_file);
        let measured: Vec<_> = record.plan.measure.iter().map(|one| one.name()).collect();
        self.measurements = measured.join(",");
        self.image = record.provenance.image;
        self.image_sha256 = record.provenance.image_sha256;
        self.started_utc = record.provenance.started_utc;
        self.emulated = Some(record.bench.board.emulated);
        self.seed = record.plan.seed.to_string();
        self.clock = record.plan.clock.to_string();
        Ok(())
    }

    fn named_by(&mut self, dir: &Path) {
        let name = dir.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let Some((time, bench)) = name.split_once("Z-") else { return };
        if let Some((date, clock)) = time.split_once('T')
            && format!("{date}T{}Z", clock.replace('-', ":")).parse::<jiff::Timestamp>().is_ok()
        {
            self.started_utc = format!("{date}T{}Z", clock.replace('-', ":"));
            self.bench = bench.to_owned();
        }
    }
}

/// run.toml up to its second table: the plan's own keys, among which are no free texts.
fn head(text: &str) -> &str {
    let mut tables = text.match_indices("\n[").skip(usize::from(!text.starts_with('[')));
    tables.next().map_or(text, |(at, _)| &text[..=at])
}

/// A file's name without its ending.
fn stem(file: &str) -> String {
    let path = Path::new(file);
    path.file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn text(dir: &Path, name: &str) -> Result<Option<String>, String> {
    match fs::read_to_string(dir.join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(of_file(name, &error)),
    }
}

/// The first line says what; the rest of what TOML says is a drawing.
fn of_file(name: &str, error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    format!("{name}: {}", text.lines().next().unwrap_or_default())
}

#[derive(Deserialize)]
struct NightSummary {
    outcome: String,
    exit: u8,
    reasons: Vec<String>,
    #[serde(default)]
    health: Option<HealthSummary>,
}

#[derive(Deserialize)]
struct HealthSummary {
    well: bool,
    reasons: Vec<String>,
}

/// Reads a night. What cannot be read is its problem.
pub(super) fn night(dir: &Path) -> NightEntry {
    let mut entry = NightEntry::default();
    if let Err(problem) = entry.take(dir) {
        entry.problem = problem;
    }
    entry
}

impl NightEntry {
    fn take(&mut self, dir: &Path) -> Result<(), String> {
        let record = text(dir, night::names::NIGHT)?.ok_or("it has no night.toml")?;
        let record: NightRecord =
            toml::from_str(&record).map_err(|error| of_file(night::names::NIGHT, &error))?;
        self.plan = record.plan.name;
        self.bench = stem(&record.plan.bench.to_string_lossy());
        self.started_utc = record.started_utc;
        let bytes = match fs::read(dir.join(night::names::JOURNAL)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(|error| of_file(night::names::JOURNAL, &error))?,
        };
        let journal = journal::parse(&bytes).map_err(|error| of_file(night::names::JOURNAL, &error))?;
        for entry in journal.entries {
            self.take_entry(entry);
        }
        let Some(summary) = text(dir, night::outputs::SUMMARY_JSON)? else {
            return Err(
                "not finished: `ppsrig nightly --resume`, or `ppsrig replay` for what there is".to_owned()
            );
        };
        let summary: NightSummary =
            serde_json::from_str(&summary).map_err(|error| of_file(night::outputs::SUMMARY_JSON, &error))?;
        (self.outcome, self.exit, self.reasons) = (summary.outcome, Some(summary.exit), summary.reasons);
        if let Some(health) = summary.health {
            self.health = if health.well { "well" } else { "sick" };
            self.offline = if health.well { Vec::new() } else { health.reasons };
        }
        Ok(())
    }

    fn take_entry(&mut self, entry: Entry) {
        match entry {
            Entry::Health { bundle, reasons, .. } => {
                self.health = if reasons.is_empty() { "well" } else { "sick" };
                self.offline = reasons;
                if !bundle.is_empty() {
                    self.steps.push((bundle, "health".to_owned(), super::query::GOLDEN.to_owned(), 1));
                }
            }
            Entry::Done { step, bundle, .. } => {
                self.steps.push((bundle, step.measure, step.image, step.round));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_run_record_is_its_plan() {
        assert_eq!(head("a = 1\n[plan]\nseed = 2\n[plan.path]\nx = 1\n"), "a = 1\n[plan]\nseed = 2\n");
        assert_eq!(head("a = 1\n"), "a = 1\n");
        assert_eq!(stem("virtual.toml"), "virtual");
        assert_eq!(stem(""), "");
    }
}
