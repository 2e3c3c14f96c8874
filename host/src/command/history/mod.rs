//! `ppsrig history`: what all runs and nights below a results folder have given.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::{Args as ClapArgs, ValueHint};

use crate::bundle;
use crate::history::series::{FOLLOWED, Point, Series, series};
use crate::history::{self, History, export, query::Filter};
use crate::report;
use crate::stderr::tell;

/// Lists all runs and nights of a results folder, newest first
///
/// They are kept in history.sqlite there, which is brought up to date each time: the bundles are the truth, and it can be deleted at any
/// time. A run that cannot be read is listed with its reason.
///
/// A series is one figure of one image on one bench, a value a night. It changed where it is beyond the margin of a comparison, where
/// the next night confirms it, and, unless instructions are counted exactly, where chance is ruled out. The change is the bench's where its golden image
/// changed on the same night, and the image's where that stayed. Nights of a sick bench or an untrusted reference are gaps.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  ppsrig history             the newest runs and nights below results/
  ppsrig history --bench a53-1 --since 2026-11-01
  ppsrig history --changes   on which night did which figure change, and is it
                             the bench or the image?
  ppsrig history --trend --measurement path --metric instructions
  ppsrig history --html trends.html
  ppsrig history --parquet /srv/fleet      for DuckDB, Spark or DataFusion
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
    #[arg(long, group = "what")]
    rebuild: bool,
    /// Says on which nights figures changed, and whether it was the bench or the image
    #[arg(long, group = "what")]
    changes: bool,
    /// Shows each series from night to night, in a line
    #[arg(long, group = "what")]
    trend: bool,
    /// Writes a page with a plot of each series
    #[arg(long, value_name = "FILE", group = "what", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    /// Writes nights.csv, runs.csv and figures.csv
    #[arg(long, value_name = "DIR", group = "what", value_hint = ValueHint::DirPath)]
    csv: Option<PathBuf>,
    /// Writes all figures as Parquet, in folders bench=B/date=YYYY-MM-DD; several machines may write into one
    #[arg(long, value_name = "DIR", group = "what", value_hint = ValueHint::DirPath)]
    parquet: Option<PathBuf>,
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

impl Args {
    /// Whether a series is asked for.
    fn wants(&self, one: &Series) -> bool {
        let is = |asked: &Option<String>, known: &[&str]| {
            asked.as_deref().is_none_or(|asked| known.contains(&asked))
        };
        let hash =
            |asked: &str| asked.len() >= 6 && one.points.iter().any(|p| p.image_sha256.starts_with(asked));
        let image = self.image.as_deref().is_none_or(|asked| one.key.image == asked || hash(asked));
        let recent =
            |point: &Point| point.value.is_some() && self.since.as_ref().is_none_or(|day| point.utc >= *day);
        let recent = one.points.iter().any(recent);
        image && recent && is(&self.measurement, &[&one.key.measurement, &one.key.measure])
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
    let text = answer(args, &history)?;
    super::say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What is to be printed, after whatever is to be written was written.
fn answer(args: &Args, history: &History) -> anyhow::Result<String> {
    let filter = args.filter();
    let (runs, nights) = (history.runs(&filter)?, history.nights(&filter)?);
    if let Some(dir) = &args.csv {
        let tables = report::history::csv::tables(&nights, &runs, &history.figures(&filter)?);
        let write =
            |(name, text): &(&str, String)| bundle::write_file(dir, name, |to| to.write_all(text.as_bytes()));
        return Ok(names(&tables.iter().map(write).collect::<Result<Vec<_>, _>>()?));
    }
    if let Some(dir) = &args.parquet {
        return Ok(names(&export::parquet(dir, &args.results, &history.figures(&filter)?)?));
    }
    if args.changes || args.trend || args.html.is_some() {
        // Whose a change is, the golden image tells, which a filter of the image would leave out.
        let all = Filter { bench: filter.bench.clone(), ..Filter::default() };
        let metrics = args.metric.as_deref().map_or_else(|| FOLLOWED.to_vec(), |metric| vec![metric]);
        let figures = history.figures(&Filter { metric: args.metric.clone(), ..all.clone() })?;
        let mut series = series(&figures, &history.nights(&all)?, &history.runs(&all)?, &metrics);
        series.retain(|one| args.wants(one));
        return followed(args, &series);
    }
    ensure!(
        args.metric.is_none(),
        "--metric: a list of runs and nights has no figures; add --trend, --changes, --html, --csv or --parquet"
    );
    Ok(match args.json {
        true => report::history::json(&runs, &nights),
        false => report::history::list(&runs, &nights, args.limit),
    })
}

fn followed(args: &Args, series: &[Series]) -> anyhow::Result<String> {
    if let Some(file) = &args.html {
        let page = report::html::history::history(series);
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("--html {}: no file's name", file.display()))?;
        return Ok(names(&[bundle::write_file(dir, name, |to| to.write_all(page.as_bytes()))?]));
    }
    Ok(match (args.json, args.changes) {
        (true, _) => report::history::series_json(series),
        (false, true) => report::history::changes(series),
        (false, false) => report::history::trend(series, !unicode()),
    })
}

/// Whether the terminal's language has more than ASCII.
fn unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let language = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    language.to_ascii_lowercase().replace('-', "").contains("utf8")
}

fn names(written: &[PathBuf]) -> String {
    written.iter().map(|path| format!("{}\n", path.display())).collect()
}
