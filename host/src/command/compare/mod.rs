//! `ppsrig compare`: is a change better or worse than what was there before, by how much, and can that be known?

mod from_files;
mod inputs;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::ValueHint;

use self::inputs::{How, side};
use super::say;
use super::trace::TRACE;
use crate::analysis::compare::group::Group;
use crate::analysis::compare::outlook::outlook;
use crate::analysis::compare::row::Row;
use crate::analysis::compare::{ALPHA, Options, Side, compare};
use crate::formats::figure_table::LARGEST;
use crate::report::compare as report;
use crate::report::listing;
use crate::stderr::tell;
use crate::units::Hertz;

/// Compares runs: better, worse, equivalent, or not to be resolved
///
/// The unit is the session, one boot of the board: what differs from boot to boot is in no spread within one. Sessions of
/// both sides that took turns (A B A B) are compared as neighbours; others side by side. Compared are mean latencies and
/// their tails, operations a second, and in exact mode instruction counts. A difference counts where its interval is
/// beyond a margin; the levels of all tests together keep false alarms below alpha.
///
/// An input is a run bundle, its edges.csv, samples.csv, pairs.csv, pairs.spool or summary.csv, or a plain table of
/// figures (name,value in CSV or Markdown), for which there are ratios and no verdict. Samples may also come through a
/// pipe, or from stdin as `-`. INPUT:VARIANT picks one build (or irq, poll) of an input, so that two of the same bundle
/// can be compared. Without --with it is shown what the base holds, and what difference more sessions could resolve.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig compare results/BEFORE --with results/AFTER
  ppsrig compare results/A1 results/A2 --with results/B1 results/B2
  ppsrig compare results/RUN:indirect --with results/RUN:inline
  ppsrig compare fixtures/published/path.csv --with results/RUN
  ppsrig compare results/BEFORE

Exit code: 0 better or equivalent, 1 worse, 2 it could not be done, 3 no verdict
(not resolvable, invalid, figures without spread, an emulated board that ran
live, a session that is on both sides). Where several apply: 2, 1, 3, 0.")]
pub struct Args {
    /// What was before
    #[arg(value_name = "BASE", required = true, value_hint = ValueHint::AnyPath)]
    base: Vec<PathBuf>,
    /// What it is compared with
    #[arg(long = "with", value_name = "NEW", num_args = 1.., value_hint = ValueHint::AnyPath)]
    new: Vec<PathBuf>,
    /// Margin of mean latencies in nanoseconds; without it the larger of 1 and the bound on the bias
    #[arg(long, value_name = "NS", value_parser = margin, allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Probability of any false alarm among all metrics together
    #[arg(long, value_name = "P", default_value_t = ALPHA, value_parser = alpha)]
    alpha: f64,
    /// Rate of the counter in files of samples that do not say it
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    counter_hz: Option<Hertz>,
    /// Leave out and count damaged lines of CSV files and tables, in place of refusing the file
    #[arg(long)]
    lenient: bool,
    /// Print an object in place of the table
    #[arg(long)]
    json: bool,
}

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .ok_or_else(|| "give a decimal number".to_owned())
}

fn margin(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value >= 0.0 => Ok(value),
        _ => Err("give nanoseconds, 0 or more".to_owned()),
    }
}

fn alpha(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if (1e-6..=0.2).contains(&value) => Ok(value),
        _ => Err("give a probability from 0.000001 to 0.2".to_owned()),
    }
}

fn hertz(text: &str) -> Result<Hertz, String> {
    let digits = text.replace('_', "");
    digits
        .parse()
        .ok()
        .filter(|hertz| *hertz > 0)
        .map(Hertz)
        .ok_or_else(|| "give whole hertz, 1 or more".to_owned())
}

/// Compares.
///
/// # Errors
/// What cannot be read, or that nothing can be compared, with the reasons.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (exit, text) = judged(args)?;
    say(&text)?;
    Ok(ExitCode::from(exit))
}

/// The exit status, and what to print on stdout.
fn judged(args: &Args) -> anyhow::Result<(u8, String)> {
    let how = How { lenient: args.lenient, counter_hz: args.counter_hz };
    let options = Options { alpha: args.alpha, margin_ns: args.margin };
    let base = side(&args.base, "base", how)?;
    if args.new.is_empty() {
        let value = |group: &Group| group.figure().map_or(0.0, |(value, ..)| value);
        if let Some(group) = base.groups.iter().find(|group| value(group).abs() > LARGEST) {
            bail!("{}: its figure is too large to be printed; the largest is {LARGEST:e}", group.key);
        }
        let holdings = outlook(&base.groups, options.alpha, options.margin_ns);
        let text = if args.json {
            report::json::holdings(&base, &holdings, options.alpha)
        } else {
            report::holdings(&base, &holdings, options.alpha)
        };
        return Ok((0, text));
    }
    let new = side(&args.new, "new", how)?;
    let comparison = compare(&base, &new, &options);
    if comparison.rows.is_empty() {
        let why = comparison.left_out.join("\n  ");
        bail!("nothing on both sides can be compared:\n  {why}");
    }
    let printable = |row: &Row| {
        [row.base.value, row.new.value, row.change.unwrap_or(0.0)].iter().all(|value| value.abs() <= LARGEST)
    };
    if let Some(row) = comparison.rows.iter().find(|row| !printable(row)) {
        bail!("{}: the figures are too large to be compared; the largest is {LARGEST:e}", row.key);
    }
    let traces = traces(&base, &new);
    let text = if args.json {
        report::json::comparison(&base, &new, &comparison, traces.as_deref())
    } else {
        report::comparison(&base, &new, &comparison, traces.as_deref())
    };
    Ok((comparison.exit(), text))
}

/// The difference of the first bundles' instruction traces, of builds that were picked theirs alone; empty where they do
/// the same, none where not both have one.
fn traces(base: &Side, new: &Side) -> Option<String> {
    let read = |side: &Side| {
        let bundle = side.sources.iter().find(|source| source.kind == "bundle")?;
        let file = bundle.path.join(TRACE);
        match std::fs::read_to_string(&file) {
            Ok(text) => Some((file, part(&text, side.picked.as_deref())?)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                tell(&format!("{}: not compared: {error}", file.display()));
                None
            }
        }
    };
    let ((from, old), (to, text)) = (read(base)?, read(new)?);
    Some(listing::diff((&from.display().to_string(), &old), (&to.display().to_string(), &text)))
}

/// A trace, or what it lists of one build. None where it lists nothing of it.
fn part(trace: &str, build: Option<&str>) -> Option<String> {
    let Some(build) = build else { return Some(trace.to_owned()) };
    let heading = format!("# {build}, ");
    let from = trace.lines().skip_while(|line| !line.starts_with(&heading));
    let lines: Vec<&str> = from.take_while(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("\n") + "\n")
}
