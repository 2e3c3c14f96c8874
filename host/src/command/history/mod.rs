//! `ppsrig history`: what all runs and nights below a results folder have given.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::history::{self, query::Filter};
use crate::report;
use crate::stderr::tell;

/// Lists all runs and nights of a results folder, newest first
///
/// They are kept in history.sqlite there, which is brought up to date each time: the bundles are the truth, and it can be deleted at any
/// time. A run that cannot be read is listed with its reason.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  ppsrig history             the newest runs and nights below results/
  ppsrig history --bench a53-1 --since 2026-11-01
  ppsrig history --rebuild   makes history.sqlite anew from the bundles

Exit code: 0, or 2 where it could not be done.")]
pub struct Args {
    /// The folder that holds bundles and nights
    #[arg(value_name = "RESULTS", default_value = "results", env = "PPSRIG_OUT")]
    results: PathBuf,
    /// Only this bench: its bench file's name without .toml
    #[arg(long, value_name = "NAME")]
    bench: Option<String>,
    /// Only this image: a plan's name for it, its file, or six digits of its hash
    #[arg(long, value_name = "NAME")]
    image: Option<String>,
    /// Only edge, path or ctime, or a plan's measure of this name
    #[arg(long, value_name = "NAME")]
    measurement: Option<String>,
    /// Only this metric, as in summary.csv
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Only what was begun on this day (UTC) or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    since: Option<String>,
    /// Lists so many runs and nights at most
    #[arg(long, value_name = "COUNT", default_value_t = 40)]
    limit: usize,
    /// Makes history.sqlite anew from the bundles
    #[arg(long)]
    rebuild: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

fn day(text: &str) -> Result<String, String> {
    text.parse::<jiff::civil::Date>()
        .map(|date| date.to_string())
        .map_err(|_| "no day, as 2026-11-30".to_owned())
}

impl Args {
    fn filter(&self) -> Filter {
        Filter {
            bench: self.bench.clone(),
            image: self.image.clone(),
            measurement: self.measurement.clone(),
            metric: self.metric.clone(),
            since: self.since.clone(),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// When the history cannot be read or made.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.rebuild {
        let done = history::rebuild(&args.results)?;
        done.words.iter().for_each(|word| tell(word));
        let path = args.results.join(history::DATABASE);
        super::say(&format!("{}: {} runs and nights were read\n", path.display(), done.read))?;
        return Ok(ExitCode::SUCCESS);
    }
    let history = history::open(&args.results)?;
    history.words.iter().for_each(|word| tell(word));
    let (runs, nights) = (history.runs(&args.filter())?, history.nights(&args.filter())?);
    let text = if args.json {
        report::history::json(&runs, &nights)
    } else {
        report::history::list(&runs, &nights, args.limit)
    };
    super::say(&text)?;
    Ok(ExitCode::SUCCESS)
}
