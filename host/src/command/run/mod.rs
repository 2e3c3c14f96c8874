//! `ppsrig run`: records a run, then ends exactly as a replay of its bundle does.

mod plan;
mod progress;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::{ValueEnum, ValueHint};
use jiff::Timestamp;
use ppsrig_wire::{ClockId, EdgeMode};

use super::{bench, replay, say};
use crate::analysis::Analysis;
use crate::bench_file::BenchFile;
use crate::bundle::Bundle;
use crate::plan::Plan;
use crate::rig::watch::Watch;
use crate::stderr::tell;
use plan::{Asked, Rate};
use progress::Progress;
use record::Recording;

/// Runs a capture run on a bench and prints its figures
///
/// Loads the board, fires a preamble of one edge a second that labels the GPS seconds and measures the counter's rate,
/// then fires the edges, pairs what the board captured with what was commanded, and prints latency statistics, the edge
/// ledger and a verdict. Everything is kept in a run bundle, from which `ppsrig replay` computes the same again.
/// Ctrl-C ends a run in order; the bundle is then partial.
#[derive(Clone, Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  ppsrig run                 100 edges on the virtual bench
  ppsrig run bench.toml --edges 1000 --rate 100
  ppsrig run bench.toml --mode alternate --rate 20 --width-ms 20 --edges 400
  ppsrig run --scenario fixtures/scenarios/faults.toml --json

Exit code: 0 passed, 1 a limit was exceeded, 2 it could not be done or was
interrupted, 3 no verdict.
The last line on stdout is the path of the run bundle."
)]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
    /// ELF image, in place of the bench file's
    #[arg(long, value_name = "ELF", env = "PPSRIG_IMAGE", value_hint = ValueHint::FilePath, help_heading = "Bench")]
    image: Option<PathBuf>,
    /// What to measure
    #[arg(long, value_enum, value_delimiter = ',', default_value = "edge", hide_possible_values = true)]
    measure: Vec<Measurement>,
    /// Edges a session, the preamble not counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    edges: u32,
    /// Edges a second, as a decimal number, to the millihertz
    #[arg(long, value_name = "HZ", default_value = "10", value_parser = plan::parse_rate)]
    rate: Rate,
    /// How the board captures: irq, poll, or alternate (poll and irq by turns, so that poll edges bracket irq edges)
    #[arg(long, value_name = "MODE", default_value = "irq", value_parser = plan::parse_mode)]
    mode: EdgeMode,
    /// Milliseconds for which a pulse is at its active level, in place of the bench file's
    #[arg(long, value_name = "N", env = "PPSRIG_WIDTH_MS", help_heading = "Bench")]
    width_ms: Option<u32>,
    /// The clock that each interrupt capture snapshots: realtime, monotonic, monotonic-raw or boottime
    #[arg(long, value_name = "ID", default_value = "realtime", value_parser = plan::parse_clock_id)]
    clock_id: ClockId,
    /// Sessions: boots of the board, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    sessions: u32,
    /// The run's seed; without it: one from the system, which is recorded
    #[arg(long, value_name = "N", env = "PPSRIG_SEED", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// How time passes: live, or exact (an emulated board counts instructions)
    #[arg(long, value_enum, env = "PPSRIG_CLOCK", default_value = "live", hide_possible_values = true)]
    clock: Clock,
    /// Folder in which the run bundle is made
    #[arg(long, value_name = "DIR", env = "PPSRIG_OUT", default_value = "results", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// The object of summary.json in place of the table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measurement {
    Edge,
    Path,
    Ctime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Clock {
    Live,
    Exact,
}

impl Args {
    fn refuse_what_is_not_there_yet(&self) -> anyhow::Result<()> {
        ensure!(
            self.clock == Clock::Live,
            "--clock exact: not in this version; it counts instructions, which `edge` has none of. Use --clock live"
        );
        for measurement in &self.measure {
            let name = match measurement {
                Measurement::Edge => continue,
                Measurement::Path => "path",
                Measurement::Ctime => "ctime",
            };
            bail!("--measure {name}: not in this version; use --measure edge");
        }
        Ok(())
    }

    fn plan(&self, bench: &BenchFile) -> anyhow::Result<Plan> {
        let asked = Asked {
            edges: self.edges,
            rate: self.rate,
            mode: self.mode,
            clock_id: self.clock_id,
            width_ms: self.width_ms,
            sessions: self.sessions,
            seed: plan::seed(self.seed)?,
        };
        plan::plan(&asked, bench)
    }
}

/// Runs.
///
/// # Errors
/// What kept it from being done. If anything was recorded, that was kept, and what follows from it was printed.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.refuse_what_is_not_there_yet()?;
    let bench = args.bench.read()?;
    let plan = args.plan(&bench.declared)?;
    bench.check_image(args.image.as_deref())?;
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    let started = Timestamp::now();
    let (bundle, files) = Bundle::create(&args.out, &bench.name(), started)?;
    let mut progress = Progress::new();
    let recording = Recording {
        bench: &bench,
        image: args.image.as_deref(),
        plan: &plan,
        bundle: &bundle,
        started_utc: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        watch: &watch,
    };
    let recorded = recording.record(files, &mut progress);
    drop(progress);
    finish(bundle.dir(), recorded, args.json)
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

/// Whether the generator was told to fire.
const fn fired(analysis: &Analysis) -> bool {
    analysis.preamble.commanded_count > 0 || analysis.edges.commanded_count > 0
}
