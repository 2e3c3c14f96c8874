//! `ppsrig run`: records a run, then ends exactly as a replay of its bundle does.

mod board_plan;
pub(super) mod edges;
mod jobs;
mod plan;
mod progress;
pub(super) mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueHint;
use jiff::Timestamp;
use ppsrig_wire::{ClockId, EdgeMode};

use super::bench::Bench;
use super::{bench, replay, say};
use crate::analysis::Analysis;
use crate::analysis::edge::EdgeAnalysis;
use crate::bench_file::BenchFile;
use crate::bundle::Bundle;
use crate::formats::decimal::{self, Picoseconds, Rate};
use crate::names::{Clock, Measurement};
use crate::plan::Plan;
use crate::rig::watch::Watch;
use crate::stderr::tell;
use plan::Asked;

pub(super) use plan::{of_measure, parse_clock_id, seed, session_seed};
pub(super) use progress::Progress;
use record::Recording;

/// Measures on a bench, and prints the figures
///
/// `edge`: fires a preamble of one edge a second that labels the GPS seconds and measures the counter's rate, then the
/// edges, pairs what the board captured with what was commanded, and prints latency statistics, the edge ledger and a
/// verdict. `path`: the board itself measures the time from a caller's counter read to the one inside the snapshot function,
/// for each build of it. `ctime`: the board runs a workload that stamps inodes, for each build of the coarse clock. For `path`
/// and `ctime` no generator, reference or interval counter is opened.
///
/// Everything is kept in a run bundle, from which `ppsrig replay` computes the same again. Ctrl-C ends a run in order; the
/// bundle is then partial.
#[derive(Clone, Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  ppsrig run                 100 edges on the virtual bench
  ppsrig run bench.toml --edges 1000 --rate 100
  ppsrig run bench.toml --wait 600     after whoever has the bench now
  ppsrig run bench.toml --mode alternate --rate 20 --width-ms 20 --edges 400
  ppsrig run --scenario fixtures/scenarios/faults.toml --json
  ppsrig run bench.toml --measure path --sessions 5
  ppsrig run --measure path --clock exact --counter-hz 1000000000
  ppsrig run --measure path --clock exact --variant inline,inline-biased
  ppsrig run --measure ctime --cores 4

Exit code: 0 passed, 1 a limit was exceeded, 2 it could not be done or was
interrupted, 3 no verdict.
The last line on stdout is the path of the run bundle."
)]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
    #[command(flatten)]
    wait: bench::Wait,
    /// ELF image, in place of the bench file's
    #[arg(long, value_name = "ELF", env = "PPSRIG_IMAGE", value_hint = ValueHint::FilePath, help_heading = "Bench")]
    image: Option<PathBuf>,
    /// What to measure: edge, path, ctime, or several of them with commas between
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "edge", value_parser = str::parse::<Measurement>)]
    measure: Vec<Measurement>,
    /// Sessions of each variant: boots of the board, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    sessions: u32,
    /// The clock that is asked for with each snapshot: realtime, monotonic, monotonic-raw or boottime
    #[arg(long, value_name = "ID", default_value = "realtime", value_parser = plan::parse_clock_id)]
    clock_id: ClockId,
    /// How time passes: live, or exact (an emulated board counts instructions; not for edge)
    #[arg(long, value_name = "HOW", env = "PPSRIG_CLOCK", default_value = "live", value_parser = str::parse::<Clock>)]
    clock: Clock,
    /// The run's seed; without it: one from the system, which is recorded, and 1 with --clock exact
    #[arg(long, value_name = "N", env = "PPSRIG_SEED", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Folder in which the run bundle is made
    #[arg(long, value_name = "DIR", env = "PPSRIG_OUT", default_value = "results", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// The object of summary.json in place of the table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    edge: EdgeArgs,
    #[command(flatten)]
    board: BoardArgs,
}

/// What `edge` needs.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Edge")]
struct EdgeArgs {
    /// Edges a session, the preamble not counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    edges: u32,
    /// Edges a second, as a decimal number, to the millihertz
    #[arg(long, value_name = "HZ", default_value = "10", value_parser = decimal::parse_rate)]
    rate: Rate,
    /// How the board captures: irq, poll, or alternate (poll and irq by turns, so that poll edges bracket irq edges)
    #[arg(long, value_name = "MODE", default_value = "irq", value_parser = plan::parse_mode)]
    mode: EdgeMode,
    /// Milliseconds for which a pulse is at its active level, in place of the bench file's
    #[arg(long, value_name = "N", env = "PPSRIG_WIDTH_MS")]
    width_ms: Option<u32>,
}

/// What `path` and `ctime` need.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Path and ctime")]
struct BoardArgs {
    /// Builds to measure, with commas between; without it all of them, by turns. path: indirect, inline, inline-biased;
    /// ctime: coarse, multigrain, multigrain-floor
    #[arg(long, value_name = "V", value_delimiter = ',')]
    variant: Vec<String>,
    /// path: pairs of counter reads a session, at least 100,000
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    iterations: u32,
    /// path: a random delay before each pair, on or off; without it there is no verdict
    #[arg(long, value_name = "HOW", default_value = "on", value_parser = decimal::parse_switch, action = clap::ArgAction::Set)]
    dither: bool,
    /// path: largest bias bound that has a verdict, in nanoseconds, to the picosecond; without it one CPU cycle
    #[arg(long, value_name = "NS", value_parser = decimal::parse_picoseconds)]
    max_bias: Option<Picoseconds>,
    /// path: send every pair as well, for pairs.csv and pairs.spool
    #[arg(long)]
    raw_pairs: bool,
    /// ctime: cores that run the workload, 1 to 4
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=MOST_CORES))]
    cores: u8,
    /// ctime: operations a session, of all cores together
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=MOST_OPERATIONS))]
    operations: u64,
}

const MOST_CORES: i64 = ppsrig_wire::CORES as i64;
const MOST_OPERATIONS: u64 = 100_000_000_000;

impl Args {
    fn plan(&self, bench: &BenchFile) -> anyhow::Result<Plan> {
        plan::plan(
            &Asked {
                measure: &self.measure,
                clock: self.clock,
                clock_id: self.clock_id,
                sessions: self.sessions,
                seed: seed(self.seed, self.clock)?,
                edges: self.edge.edges,
                rate: self.edge.rate,
                mode: self.edge.mode,
                width_ms: self.edge.width_ms,
                board: &self.board,
            },
            bench,
        )
    }
}

/// Runs.
///
/// # Errors
/// What kept it from being done. If anything was recorded, that was kept, and what follows from it was printed.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut bench = args.bench.read()?;
    let plan = args.plan(&bench.declared)?;
    bench.check_image(args.image.as_deref(), plan.clock == Clock::Exact)?;
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    bench.warn_if_offline();
    let taken = bench.take("run", args.wait.duration(), &watch)?;
    let mut progress = Progress::new();
    if !plan.measure.contains(&Measurement::Edge) {
        progress.line("no edges are measured: generator, reference and interval counter are not opened");
    }
    let what =
        RunOf { bench: &bench, image: args.image.as_deref(), plan: &plan, trace: true, out: &args.out };
    let Recorded { dir, ended } = record_run(&what, &mut progress, &watch)?;
    drop(progress);
    // What follows needs the recording alone.
    drop(taken);
    finish(&dir, ended, args.json)
}

/// What is recorded into a bundle of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunOf<'a> {
    /// The bench, which was taken.
    pub(super) bench: &'a Bench,
    /// In place of the bench file's.
    pub(super) image: Option<&'a Path>,
    pub(super) plan: &'a Plan,
    /// Whether the board is stepped through what `path` measured, for trace.txt.
    pub(super) trace: bool,
    /// The folder in which the bundle is made.
    pub(super) out: &'a Path,
}

/// A recording, to be replayed by whoever asked for it.
#[derive(Debug)]
pub(super) struct Recorded {
    /// The bundle.
    pub(super) dir: PathBuf,
    /// What ended it early; the bundle is then partial.
    pub(super) ended: anyhow::Result<()>,
}

/// Records a run, whoever asks for it. Nothing is printed but progress.
///
/// # Errors
/// If no bundle could be made.
pub(super) fn record_run(
    what: &RunOf<'_>,
    progress: &mut Progress,
    watch: &Watch,
) -> anyhow::Result<Recorded> {
    let started = Timestamp::now();
    let (bundle, files) = Bundle::create(what.out, &what.bench.name(), started)?;
    let recording = Recording {
        bench: what.bench,
        image: what.image,
        plan: what.plan,
        trace: what.trace,
        bundle: &bundle,
        started_utc: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        watch,
    };
    let ended = recording.record(files, progress);
    Ok(Recorded { dir: bundle.dir().to_owned(), ended })
}

/// Prints what follows from the recording, the bundle's path last, and says whether the run was done.
fn finish(dir: &Path, recorded: anyhow::Result<()>, json: bool) -> anyhow::Result<ExitCode> {
    let outcome = match (replay::finish(dir, None, json), recorded) {
        (Ok(outcome), Ok(())) => outcome,
        (Err(error), Ok(())) => return Err(error),
        (Ok(outcome), Err(error)) => {
            let mut text = outcome.text;
            if !outcome.analysis.as_deref().is_some_and(fired) {
                tell("it ended before the first edge; what was recorded until then is kept in");
                // A table of zeros would only hide the error.
                text = if json { text } else { String::new() };
            }
            // What ended the run matters more than a stdout that is gone.
            let _lost = say(&format!("{text}{}\n", dir.display()));
            return Err(error);
        }
        (Err(second), Err(error)) => {
            tell(&format!("the recording is kept in {}, but cannot be replayed: {second:#}", dir.display()));
            return Err(error);
        }
    };
    say(&format!("{}{}\n", outcome.text, dir.display()))?;
    Ok(outcome.exit_code())
}

/// Whether there is something to show: a run of edges must have told the generator to fire.
fn fired(analysis: &Analysis) -> bool {
    let fired = |edge: &EdgeAnalysis| edge.preamble.commanded_count > 0 || edge.edges.commanded_count > 0;
    analysis.edge.as_ref().is_none_or(fired) || analysis.path.is_some() || analysis.ctime.is_some()
}
