//! `ppsrig trace`: what really runs between the caller's counter read and the read inside the snapshot function.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::ValueHint;
use jiff::Timestamp;
use ppsrig_wire::ClockId;

use super::{bench, say};
use crate::bench_file::BenchFile;
use crate::bundle::{self, Bundle};
use crate::events::RigEvent;
use crate::names::{self, Clock, PathVariant};
use crate::report::listing::{self, Line, Listing};
use crate::rig::image::Image;
use crate::rig::probe::Target;
use crate::rig::probe::lock::ProbeLock;
use crate::rig::recorder::{Log, Recorder};
use crate::rig::symbols::Symbols;
use crate::rig::trace::{Traced, trace};
use crate::rig::watch::Watch;
use crate::stderr::tell;

/// The file that a trace is kept in.
pub(super) const TRACE: &str = "trace.txt";

/// Lists what really runs up to the counter read in ktime_get_snapshot_id()
///
/// Loads the board, lets it run to the caller's counter read of the `path` measurement, and steps the core through the debug
/// port up to the read inside the snapshot function: each instruction with its address, its function and its assembler
/// notation. On a virtual bench the core counts instructions meanwhile, as with `run --clock exact`, and the number of
/// instructions is the one that `run` measures. The listing is kept in a bundle as trace.txt; a run of `path` leaves one as
/// well.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig trace
  ppsrig trace bench.toml --variant inline-biased --clock-id monotonic
  ppsrig trace --diff results/OLD/trace.txt results/NEW/trace.txt

The last line on stdout is the path of the bundle. --diff exits 0 where both do
the same, else 1.")]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
    #[command(flatten)]
    wait: bench::Wait,
    /// ELF image, in place of the bench file's
    #[arg(long, value_name = "ELF", env = "PPSRIG_IMAGE", value_hint = ValueHint::FilePath, help_heading = "Bench")]
    image: Option<PathBuf>,
    /// Builds to trace, with commas between: indirect, inline, inline-biased; without it all of them
    #[arg(long, value_name = "V", value_delimiter = ',', value_parser = str::parse::<PathVariant>)]
    variant: Vec<PathVariant>,
    /// The clock that is asked for: realtime, monotonic, monotonic-raw or boottime
    #[arg(long, value_name = "ID", default_value = "realtime", value_parser = super::run::parse_clock_id)]
    clock_id: ClockId,
    /// Folder in which the bundle is made
    #[arg(long, value_name = "DIR", env = "PPSRIG_OUT", default_value = "results", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// Compare two traces in place of taking one: files, or the bundles that hold them
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], value_hint = ValueHint::AnyPath, conflicts_with_all = ["variant", "image"])]
    diff: Option<Vec<PathBuf>>,
}

/// Traces, or compares two traces.
///
/// # Errors
/// What failed, on what, and what to try.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some([from, to]) = args.diff.as_deref() {
        return compare(from, to);
    }
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    let mut bench = args.bench.read()?;
    bench.check_image(args.image.as_deref(), true)?;
    chosen(&args.variant)?;
    bench.warn_if_offline();
    let _taken = bench.take("trace", args.wait.duration(), &watch)?;
    let (bundle, files) = Bundle::create(&args.out, &format!("{}-trace", bench.name()), Timestamp::now())?;
    let log = Recorder::new(&watch).log("rig", files.rig);
    tell("loading and stepping the board");
    let traced = take(args, &bench, &bundle, &log, &watch);
    match &traced {
        Ok(_) => log.did(&RigEvent::Finished),
        Err(error) => log.did(&RigEvent::Stopped { reason: format!("{error:#}") }),
    };
    let text = traced?;
    bundle::write_file(bundle.dir(), TRACE, |to| to.write_all(text.as_bytes()))?;
    say(&format!("{text}{}\n", bundle.dir().display()))?;
    Ok(ExitCode::SUCCESS)
}

fn take(
    args: &Args,
    bench: &bench::Bench,
    bundle: &Bundle,
    log: &Log,
    watch: &Watch,
) -> anyhow::Result<String> {
    // Steps are the same live; but there a virtual board would go on counting between them.
    let clock = if bench.declared.board.emulated { Clock::Exact } else { Clock::Live };
    let stderr = bundle.dir().join(bundle::names::RAW).join(bundle::names::BRING_UP);
    let up = bench.bring_up(Some(&stderr), &bench::How { clock, ..bench::How::default() }, watch)?;
    let path = args.image.as_ref().unwrap_or(&up.bench.board.image);
    listing(&up.bench, path, (&chosen(&args.variant)?, args.clock_id), log, watch)
}

/// Traces these builds on a bench that is up: the text of trace.txt.
///
/// # Errors
/// What failed, on what, and what to try.
pub(super) fn listing(
    bench: &BenchFile,
    path: &Path,
    (variants, clock_id): (&[PathVariant], ClockId),
    log: &Log,
    watch: &Watch,
) -> anyhow::Result<String> {
    let (image, symbols) = (Image::read(path)?, Symbols::read(path)?);
    let target = Target { selector: bench.board.probe.clone(), chip: bench.board.chip.clone() };
    let _lock = ProbeLock::acquire(&target.selector)?;
    let traced = Traced { target: &target, path, image: &image, symbols: &symbols, bench };
    let executed = trace(&traced, (variants, clock_id), log, watch)?;
    let mut text = heading(path, &image, &symbols);
    for (variant, executed) in variants.iter().zip(executed) {
        let lines = executed.iter().map(|one| Line {
            address: one.address,
            word: one.word,
            place: symbols.around(one.address).map(|(name, offset)| (name.to_owned(), offset)),
        });
        let clock_id = names::of_clock(clock_id).to_owned();
        let listing = Listing { variant: variant.name().to_owned(), clock_id, lines: lines.collect() };
        text += "\n";
        text += &listing.text();
    }
    Ok(text)
}

/// Those that were named, or all.
fn chosen(named: &[PathVariant]) -> anyhow::Result<Vec<PathVariant>> {
    for (index, variant) in named.iter().enumerate() {
        ensure!(!named[..index].contains(variant), "--variant: {variant} is there twice");
    }
    Ok(if named.is_empty() { PathVariant::ALL } else { named }.to_vec())
}

fn heading(path: &Path, image: &Image, symbols: &Symbols) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let compiler = symbols.compiler.as_deref().unwrap_or("unknown");
    format!("# ppsrig trace 1\n# image {name}, sha256 {}, rustc {compiler}\n", image.sha256)
}

fn compare(from: &Path, to: &Path) -> anyhow::Result<ExitCode> {
    let read = |path: &Path| -> anyhow::Result<String> {
        let file = if path.is_dir() { path.join(TRACE) } else { path.to_owned() };
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("{}: cannot read the trace", file.display()))?;
        ensure!(text.starts_with("# ppsrig trace 1\n"), "{}: not a trace of `ppsrig trace`", file.display());
        Ok(text)
    };
    let (old, new) = (read(from)?, read(to)?);
    let diff = listing::diff((&from.display().to_string(), &old), (&to.display().to_string(), &new));
    if diff.is_empty() {
        say("the same functions and instructions\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    say(&diff)?;
    Ok(ExitCode::from(1))
}
