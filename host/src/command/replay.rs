//! `ppsrig replay`: computes everything that follows from a recording once more.
//!
//! [`finish`] is also the end of every run, so that nothing can be true of a run that its bundle does not show.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args as ClapArgs;

use super::nightly;
use super::trace::TRACE;
use crate::analysis::verdict::Outcome as Verdict;
use crate::analysis::{Analysis, analyse};
use crate::bundle::{self, Contents};
use crate::report;

/// Computes everything that follows from a run bundle, or a night, once more
///
/// Of a night it reads night.toml, journal.log and the run bundles, and writes the night's tables. Of a bundle it reads run.toml and raw/ and writes the CSV files and summary.json anew: the same bytes for a finished run, and
/// whatever can be said of a run that was cut short, called partial.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  ppsrig replay results/2026-11-30T18-00-00Z-virtual
  ppsrig replay results/2026-11-30T18-00-00Z-virtual --out /tmp/again --json

Exit code: that of the run: 0 passed, 1 a limit was exceeded, 2 not done or
partial, 3 no verdict.")]
pub struct Args {
    /// The folder of the bundle, or of the night
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Writes the files here instead of into the bundle
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prints summary.json instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What a finished run or a replay comes to.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status: 0 passed, 1 a limit was exceeded, 2 not done or partial, 3 no verdict.
    pub exit: u8,
    /// What to print on stdout; ends with a line end.
    pub text: String,
    /// The files that were written.
    pub written: Vec<PathBuf>,
    /// The analysis; none if there is no run.toml.
    pub analysis: Option<Box<Analysis>>,
}

impl Outcome {
    /// The exit status for `main`.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.exit)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// What [`finish`] answers.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if nightly::is_night(&args.dir) {
        let finished = nightly::finish(&args.dir, args.out.as_deref(), args.json)?;
        super::say(&finished.text)?;
        return Ok(ExitCode::from(finished.exit));
    }
    let outcome = finish(&args.dir, args.out.as_deref(), args.json)?;
    super::say(&outcome.text)?;
    Ok(outcome.exit_code())
}

/// Computes everything that follows from the bundle in `dir`, writes it there or into `out`, and says what to print:
/// the table, or with `json` the object.
///
/// # Errors
/// When the bundle cannot be read or a file not be written; nothing is left half-written.
pub fn finish(dir: &Path, out: Option<&Path>, json: bool) -> anyhow::Result<Outcome> {
    let Contents { record, recording } =
        bundle::read(dir).with_context(|| format!("replay of {}", dir.display()))?;
    let Some(record) = record else {
        let text = report::no_record::without_record(dir, &recording, json);
        return Ok(Outcome { exit: Verdict::NotDone.exit(), text, written: Vec::new(), analysis: None });
    };
    let reference = crate::analysis::seconds::recorded(&record, &recording);
    let analysis = analyse(&record, &recording, &reference);
    let to = out.unwrap_or(dir);
    let write = |file: &report::Output<'_>| bundle::write_file(to, file.name, |into| file.write(into));
    let written = report::files(&record, &analysis).iter().map(write).collect::<Result<_, _>>()?;
    let text = if json {
        report::json::summary_json(&record, &analysis)
    } else {
        let traced = to.join(TRACE).is_file();
        let others: &[&str] = if traced { &[TRACE] } else { &[] };
        report::terminal::table(&record, &analysis, &recording.incomplete, (to, others))
    };
    Ok(Outcome { exit: analysis.verdict.outcome.exit(), text, written, analysis: Some(Box::new(analysis)) })
}
