//! `ppsrig nightly`: a plan, done unattended, with a verdict in the end.
//!
//! `plan` reads it, `folder` keeps the night, `runner` does it with its `steps`, `evidence` reads what it recorded, `finish` says what it came to.
//! What it comes to is computed in [`night::judge`](crate::night::judge), from what the folder holds alone.

mod evidence;
mod finish;
mod folder;
mod outlook;
pub(super) mod plan;
mod require;
mod runner;
mod steps;
pub(super) mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::ValueHint;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use self::evidence::Baselines;
use self::folder::NightFolder;
use self::outlook::Earlier;
use self::plan::Missing;
use self::runner::{End, Runner};
use super::bench::{self, Bench};
use super::run::{self, Progress};
use super::say;
use crate::names::Clock;
use crate::night::expected::{Taken, expected};
use crate::night::journal::{ImageHash, Journal};
use crate::night::{Entry, NightPlan, NightRecord};
use crate::plan_file;
use crate::rig::image::hex;
use crate::rig::watch::Watch;
use crate::stderr::tell;

pub(super) use self::finish::finish;
pub(super) use self::folder::is_night;

/// Does a plan unattended: measures, compares, and says what it came to
///
/// A night is: requirements, the hook `before`, a health check with the golden image, then round by round one run of each
/// image, by turns, each after the hook `power-cycle`; after each round from `sessions` on it is looked whether every verdict
/// is decided. The hook `after` is run however it ended. Everything is kept in `<DIR>/<UTC time>-<plan>/`, from which `ppsrig
/// replay` computes the same again.
///
/// A bench whose golden image fails is taken offline, and refused from then on, until a person brings it back with `ppsrig
/// check BENCH --back-online`. Ctrl-C, a killed process or a power cut leave a night that --resume goes on with: no finished
/// run is repeated, and one that was cut is repeated from the same seed. Each run boots the board, so no clock goes over the gap.
///
/// The plan says everything: of the environment PPSRIG_OUT and PPSRIG_WAIT are obeyed, and of what `ppsrig run` takes from there
/// (PPSRIG_SCENARIO, PPSRIG_IMAGE, PPSRIG_CLOCK and so on) nothing; a line at the start names what is set and not obeyed.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig validate plan.toml       what a plan means, how many runs, how long
  ppsrig nightly plan.toml --out /srv/nights
  ppsrig nightly plan.toml --out /srv/nights --resume
  ppsrig nightly plan.toml --wait 3600
  ppsrig nightly fixtures/plans/virtual.toml
  ppsrig replay /srv/nights/2026-11-30T22-00-00Z-plan

Exit code: 2 it could not be done (sick bench, cut night, a run that failed
twice), 1 something is worse or beyond a limit, 3 no verdict, 0 all is well; in
this order. The last line on stdout is the path of the night's folder.")]
pub struct Args {
    /// Plan file
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// Go on with the newest night of this plan that was cut
    #[arg(long)]
    resume: bool,
    /// With --resume: where no night was cut, or it cannot go on, begin a new one; what a timer wants
    #[arg(long, requires = "resume")]
    or_new: bool,
    #[command(flatten)]
    wait: bench::Wait,
    /// Folder in which the night's folder is made
    #[arg(long, value_name = "DIR", env = "PPSRIG_OUT", default_value = "results", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// The object of summary.json in place of the table
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Nothing to resume, where that is as good; else the error that says why there is nothing.
    fn none_if_new<T>(&self, error: anyhow::Error) -> anyhow::Result<Option<T>> {
        if !self.or_new {
            return Err(error);
        }
        tell(&format!("a new night begins, for {error:#}"));
        Ok(None)
    }
}

/// Does the night.
///
/// # Errors
/// What kept it from beginning, or from being kept. What it came to is printed, also where that is that it was not done.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (plan, mut bench) = plan::read(&args.plan)?;
    if let Some(told) = ignored(&|name| std::env::var_os(name).is_some()) {
        tell(&told);
    }
    let baselines = plan::readable(&plan, &bench, Missing::Refused)?;
    let file = args.plan.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let nights = folder::nights_of(&args.out, &plan.name, &file);
    let last = nights.iter().find(|(.., journal)| journal.is_finished());
    let taken = last.map(|(.., journal)| outlook::taken(journal)).unwrap_or_default();
    announce(args, &plan, last, &taken, &baselines)?;
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    let plan_sha256 = hex(&Sha256::digest(plan_file::read_text(&args.plan)?));
    let images = runner::hashes(&plan, &bench)?;
    let begun = Begun { file: file.clone(), plan_sha256, images, plan: &plan, bench: &bench };
    let cut = match args.resume {
        true => begun.unfinished(&nights, &args.out).map(Some).or_else(|error| args.none_if_new(error))?,
        false => None,
    };
    let record = begun.record()?;
    let taken_bench = bench.take("nightly", args.wait.duration(), &watch)?;
    if cut.is_none() {
        // Asked only now that the bench is ours: before, it may have been going on.
        tell_cut(&folder::nights_of(&args.out, &plan.name, &file));
    }
    let offline = bench.offline()?.map(|offline| {
        format!(
            "the bench is {offline}; once it is mended: ppsrig check {} --back-online",
            bench.file.display()
        )
    });
    let folder = match (&cut, &offline) {
        (Some(_), Some(offline)) => bail!("{offline}"),
        (Some(dir), None) => NightFolder::open(dir)?.if_unfinished()?,
        (None, _) => begin(&args.out, record)?,
    };
    let dir = folder.dir.clone();
    let mut runner = Runner {
        plan: &plan,
        bench: &bench,
        evidence: folder.evidence()?,
        folder,
        watch: &watch,
        progress: Progress::new(),
        began: Instant::now(),
        taken,
    };
    runner.folder.write(Entry::Began { utc: folder::utc_now(), resumed: cut.is_some() })?;
    let end = match offline {
        Some(why) => runner.refuse(why),
        None => runner.name_what_was_cut().and_then(|()| runner.run()),
    };
    drop(runner);
    drop(taken_bench);
    end_of(&dir, end, args)
}

/// Options of `ppsrig run` that an environment sets, and that a plan has keys for.
const OF_RUN: [&str; 7] = [
    "PPSRIG_BENCH",
    "PPSRIG_CLOCK",
    "PPSRIG_COUNTER_HZ",
    "PPSRIG_IMAGE",
    "PPSRIG_SCENARIO",
    "PPSRIG_SEED",
    "PPSRIG_WIDTH_MS",
];

/// Says which variables of the environment are not obeyed, since a night is what its plan says.
fn ignored(is_set: &dyn Fn(&str) -> bool) -> Option<String> {
    let set: Vec<&str> = OF_RUN.into_iter().filter(|name| is_set(name)).collect();
    (!set.is_empty()).then(|| format!("not obeyed, since the plan says everything: {}", set.join(", ")))
}

/// Says that the newest night was cut, if it was.
fn tell_cut(nights: &[Earlier]) {
    if let Some((dir, .., journal)) = nights.first()
        && !journal.is_finished()
    {
        tell(&format!("{} was cut; this is a new night, --resume would go on with that one", dir.display()));
    }
}

/// Says what the plan means, how long it takes and what it can resolve.
fn announce(
    args: &Args,
    plan: &NightPlan,
    last: Option<&Earlier>,
    taken: &Taken,
    baselines: &Baselines,
) -> anyhow::Result<()> {
    tell(&format!("{}:\n{}", args.plan.display(), told::description(plan, &expected(plan, taken))));
    let resolvable = outlook::resolvable_lines(plan, baselines, last);
    if !resolvable.is_empty() {
        tell(&format!("smallest difference that is found nine times in ten:\n  {}", resolvable.join("\n  ")));
    }
    Ok(())
}

/// Writes and prints what the night came to, its folder last.
fn end_of(dir: &Path, end: anyhow::Result<End>, args: &Args) -> anyhow::Result<ExitCode> {
    if let Ok(End::Cut(why)) = &end {
        let (plan, out) = (args.plan.display(), args.out.display());
        tell(&format!("{why}; `ppsrig nightly {plan} --out {out} --resume` goes on with it"));
    }
    let finished = finish(dir, None, args.json);
    remember(dir);
    let end = end.and(finished);
    match end {
        Ok(finished) => {
            say(&format!("{}{}\n", finished.text, dir.display()))?;
            Ok(ExitCode::from(finished.exit))
        }
        Err(error) => {
            let _lost = say(&format!("{}\n", dir.display()));
            Err(error)
        }
    }
}

/// Brings the history beside the night up to date. It can be made anew at any time, so a night does not fail by it.
fn remember(dir: &Path) {
    if let Some(results) = dir.parent()
        && let Err(error) = crate::history::refresh(results)
    {
        tell(&format!("the history was not brought up to date: {error}"));
    }
}

/// Makes a new night.
fn begin(out: &Path, record: NightRecord) -> anyhow::Result<NightFolder> {
    let started = record.started_utc.parse::<Timestamp>().unwrap_or_else(|_| Timestamp::now());
    let out = std::path::absolute(out).with_context(|| format!("no folder {}", out.display()))?;
    let dir = folder::make(&out, &record.plan.name, started)?;
    evidence::copy_baselines(&dir, &record.plan)?;
    NightFolder::begin(dir, record)
}

/// What a night begins with, or has to go on with.
struct Begun<'a> {
    file: String,
    plan_sha256: String,
    images: Vec<ImageHash>,
    plan: &'a NightPlan,
    bench: &'a Bench,
}

impl Begun<'_> {
    fn record(&self) -> anyhow::Result<NightRecord> {
        let exact = self.plan.measures.iter().all(|measure| measure.clock == Clock::Exact);
        let clock = if exact { Clock::Exact } else { Clock::Live };
        Ok(NightRecord {
            night_version: 1,
            plan_file: self.file.clone(),
            plan_sha256: self.plan_sha256.clone(),
            started_utc: folder::utc_now(),
            ppsrig_version: env!("CARGO_PKG_VERSION").to_owned(),
            ppsrig_commit: env!("PPSRIG_GIT").to_owned(),
            seed: run::seed(self.plan.seed, clock)?,
            images: self.images.clone(),
            plan: self.plan.clone(),
            bench: self.bench.declared.clone(),
        })
    }

    /// The newest night of the plan that was cut, if nothing of it has changed since.
    fn unfinished(&self, nights: &[(PathBuf, NightRecord, Journal)], out: &Path) -> anyhow::Result<PathBuf> {
        let cut = nights.iter().find(|(.., journal)| !journal.is_finished());
        let Some((dir, record, _)) = cut else {
            bail!(
                "no night of {} in {} was cut; without --resume a new one begins",
                self.plan.name,
                out.display()
            );
        };
        let mut changed = Vec::new();
        if record.plan_sha256 != self.plan_sha256 || record.plan != *self.plan {
            changed.push(format!("the plan {}", self.file));
        }
        if record.bench != self.bench.declared {
            changed.push(format!("the bench file {}", self.bench.file.display()));
        }
        for known in &record.images {
            if !self.images.contains(known) {
                changed.push(format!("the image {}", known.name));
            }
        }
        if !changed.is_empty() {
            bail!(
                "{} cannot go on, for these are others than when it began: {}; without --resume a new night begins",
                dir.display(),
                changed.join(", ")
            );
        }
        if (record.ppsrig_version.as_str(), record.ppsrig_commit.as_str())
            != (env!("CARGO_PKG_VERSION"), env!("PPSRIG_GIT"))
        {
            tell(&format!(
                "the night began with ppsrig {} ({}), which is another version",
                record.ppsrig_version, record.ppsrig_commit
            ));
        }
        Ok(std::path::absolute(dir).unwrap_or_else(|_| dir.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_sets_and_a_plan_does_not_obey_is_named() {
        let of = |names: &'static [&str]| ignored(&|name| names.contains(&name));
        assert_eq!(of(&["PPSRIG_OUT", "PPSRIG_WAIT"]), None);
        let told = "not obeyed, since the plan says everything: PPSRIG_CLOCK, PPSRIG_SCENARIO";
        assert_eq!(of(&["PPSRIG_SCENARIO", "PPSRIG_CLOCK", "PPSRIG_OUT"]).as_deref(), Some(told));
    }
}
