//! `ppsrig flash`: loads an image into the board, proves that it is there, and starts it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueHint;

use super::{bench, say};
use crate::rig::image::Image;
use crate::rig::probe::lock::ProbeLock;
use crate::rig::probe::{self, Load, Report, Target, Task};
use crate::rig::watch::Watch;
use crate::stderr::tell;

/// Loads an image into the board, verifies it, and starts it
///
/// The image goes into RAM: it is gone when the board is switched off, or when a virtual bench goes down at the end of
/// this command.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig flash bench.toml
  ppsrig flash --image build/firmware/virt.elf    on the virtual bench")]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
    #[command(flatten)]
    wait: bench::Wait,
    /// ELF image, in place of the bench file's
    #[arg(long, value_name = "ELF", env = "PPSRIG_IMAGE", value_hint = ValueHint::FilePath, help_heading = "Bench")]
    image: Option<PathBuf>,
    /// One JSON object in place of the text
    #[arg(long)]
    json: bool,
}

/// Loads the image.
///
/// # Errors
/// What failed, on what, and what to try.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut bench = args.bench.read()?;
    bench.check_image(args.image.as_deref(), false)?;
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    bench.warn_if_offline();
    let _taken = bench.take("flash", args.wait.duration(), &watch)?;
    if bench.declared.bring_up.is_some() {
        tell(bench::BRINGING_UP);
    }
    let up = bench.bring_up(None, &bench::How::default(), &watch)?;
    let image = args.image.as_ref().unwrap_or(&up.bench.board.image);
    let sha256 = Image::read(image)?.sha256;
    let target = Target { selector: up.bench.board.probe.clone(), chip: up.bench.board.chip.clone() };
    let _lock = ProbeLock::acquire(&target.selector)?;
    let task = Task::Load { target, load: Load::plain(image.clone()) };
    let report = probe::perform(&task, &watch, &mut |step| log::info!("{step:?}"))?.report;
    if args.json {
        say(&format!("{}\n", serde_json::json!({ "image": image, "sha256": sha256, "report": report })))?;
    } else {
        say(&format!("{}\nsha256 {sha256}\n", describe(image, &report)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// "virt.elf: 40960 bytes in 2 segments loaded and verified in 0.312 s (write 131 kB/s), ...".
fn describe(image: &Path, report: &Report) -> String {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let rate = report.bytes as f64 / 1000.0 / seconds(report.write_ns).max(1e-9);
    format!(
        "{}: {} bytes in {} segments loaded in {:.3} s ({rate:.0} kB/s), verified in {:.3} s, started at {:#x}; {} probe \
         operations",
        image.display(),
        report.bytes,
        report.segments,
        seconds(report.attach_ns + report.write_ns),
        seconds(report.verify_ns),
        report.entry,
        report.operations
    )
}
