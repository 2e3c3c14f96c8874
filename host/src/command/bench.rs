//! The bench that a command works on: found, read, with the command line's own settings put in, taken, and brought up.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueHint;
use tempfile::TempDir;

use crate::bench_file::{self, BenchFile};
use crate::names::Clock;
use crate::rig::bring_up::{BringUp, Surroundings};
use crate::rig::image::Image;
use crate::rig::labgrid::Place;
use crate::rig::lease::holder::host_name;
use crate::rig::lease::offline::Offline;
use crate::rig::lease::{self, BenchKey, Lease, StateFolder};
use crate::rig::watch::{Deadline, Watch};
use crate::stderr::tell;
use crate::units::Hertz;

/// Where the virtual bench is, from the root of the source tree.
const VIRTUAL: &str = "fixtures/benches/virtual.toml";
/// Where a package puts it, from the root of the installation.
const INSTALLED: &str = "share/ppsrig/benches/virtual.toml";

/// What a command says before it brings a bench up, since that can take seconds.
pub const BRINGING_UP: &str = "bringing the bench up";

/// The options that every command on a bench has.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Bench file; without one: the virtual bench
    #[arg(value_name = "BENCH", env = "PPSRIG_BENCH", value_hint = ValueHint::FilePath)]
    pub bench: Option<PathBuf>,
    /// Another scenario for a virtual bench: faults that it is to have
    #[arg(long, value_name = "FILE", env = "PPSRIG_SCENARIO", value_hint = ValueHint::FilePath, help_heading = "Bench")]
    pub scenario: Option<PathBuf>,
    /// The counter's declared rate in hertz, in place of the bench file's
    #[arg(long, value_name = "N", env = "PPSRIG_COUNTER_HZ", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Bench")]
    pub counter_hz: Option<u64>,
}

/// How long a command waits for a bench that is in use.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Wait {
    /// If the bench is in use, wait so long for it in place of refusing at once
    #[arg(long = "wait", value_name = "SECONDS", env = "PPSRIG_WAIT", value_parser = clap::value_parser!(u64).range(..=LONGEST_WAIT_S), help_heading = "Bench")]
    seconds: Option<u64>,
}

/// A week: whoever needs longer needs another bench.
const LONGEST_WAIT_S: u64 = 7 * 24 * 3600;

impl Wait {
    /// It.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(0))
    }
}

/// A bench that is this process's own until this is dropped.
#[derive(Debug)]
pub struct Taken {
    // Dropped in this order: the place is free before the next run takes the bench.
    _place: Option<Place>,
    _lease: Lease,
}

/// A bench file that was read.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Its path.
    pub file: PathBuf,
    /// What it says, with `@run` in it.
    pub declared: BenchFile,
    scenario: Option<PathBuf>,
    counter_hz: Option<Hertz>,
    /// What stands behind each port that is a resource of its labgrid place, once that is taken.
    resolved: HashMap<String, String>,
}

/// How a bench is to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Seed of whatever the bench does at random.
    pub seed: u64,
    /// How time passes on its board.
    pub clock: Clock,
    /// Cores that its board needs.
    pub cores: u8,
}

impl Default for How {
    fn default() -> Self {
        Self { seed: 1, clock: Clock::Live, cores: 1 }
    }
}

/// A bench that is up, with its ports and paths as they are now. It goes down when this is dropped.
#[derive(Debug)]
pub struct UpBench {
    /// The bench, `@run` replaced.
    pub bench: BenchFile,
    /// What the bring-up command said behind READY.
    pub facts: String,
    // Dropped in this order: the bench goes down before its scratch folder is removed.
    _up: Option<BringUp>,
    _scratch: TempDir,
}

impl Args {
    /// Reads the bench file.
    ///
    /// # Errors
    /// If there is none, or every problem of it.
    pub fn read(&self) -> anyhow::Result<Bench> {
        let file = match &self.bench {
            Some(file) => file.clone(),
            None => virtual_bench()?,
        };
        let mut declared = bench_file::read(&file)?;
        let counter_hz = self.counter_hz.map(Hertz);
        if let Some(hertz) = counter_hz {
            declared.board.counter_hz = hertz;
        }
        let scenario = self.scenario.as_deref().map(absolute).transpose()?;
        if scenario.is_some() && declared.bring_up.is_none() {
            bail!("--scenario: {} has no [bring-up] that could take a scenario", file.display());
        }
        Ok(Bench { file, declared, scenario, counter_hz, resolved: HashMap::new() })
    }
}

impl Bench {
    /// The bench file's name, without its ending.
    pub fn name(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The same bench, for a run that has a counter's rate or a scenario of its own.
    ///
    /// # Errors
    /// If the scenario cannot be given to it.
    pub fn with(&self, counter_hz: Option<u64>, scenario: Option<&Path>) -> anyhow::Result<Self> {
        let mut bench = self.clone();
        if let Some(hertz) = counter_hz.map(Hertz) {
            bench.declared.board.counter_hz = hertz;
            bench.counter_hz = Some(hertz);
        }
        if let Some(scenario) = scenario {
            if bench.declared.bring_up.is_none() {
                bail!("scenario: {} has no [bring-up] that could take a scenario", self.file.display());
            }
            bench.scenario = Some(absolute(scenario)?);
        }
        Ok(bench)
    }

    /// What the bench is, whatever its file is called.
    #[must_use]
    pub fn key(&self) -> BenchKey {
        BenchKey::of(&self.file, &self.declared, &host_name())
    }

    /// Takes the bench for this process alone, waiting so long for another holder to end. `purpose` is what that one is told:
    /// `run`, `check`.
    ///
    /// # Errors
    /// Who has it, or what keeps it from being taken.
    pub fn take(&mut self, purpose: &str, wait: Duration, watch: &Watch) -> anyhow::Result<Taken> {
        let deadline = Deadline::after(wait);
        let unusable = || format!("cannot use {}", self.file.display());
        let lease =
            Lease::acquire(&self.key(), purpose, wait, watch, &mut |who| tell(who)).with_context(unusable)?;
        let place = self.take_place(deadline.left(), watch).with_context(unusable)?;
        if let Some(place) = &place {
            self.resolved = resolve(&self.declared, place)?;
        }
        Ok(Taken { _place: place, _lease: lease })
    }

    fn take_place(&self, wait: Duration, watch: &Watch) -> anyhow::Result<Option<Place>> {
        let Some(labgrid) = &self.declared.labgrid else { return Ok(None) };
        let file = StateFolder::find()?.place_file(&self.key());
        Ok(Some(Place::take(labgrid, &file, wait, watch, &mut |who| tell(who))?))
    }

    /// Why and since when the bench is offline, if it is.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn offline(&self) -> anyhow::Result<Option<Offline>> {
        Ok(lease::offline::offline(&StateFolder::find()?, &self.key())?)
    }

    /// Takes the bench offline until a person brings it back: nights refuse it from now on.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn set_offline(&self, reason: &str, night: &str) -> anyhow::Result<()> {
        let key = self.key();
        Ok(lease::offline::set_offline(&StateFolder::find()?, &key, &Offline::now(&key, reason, night))?)
    }

    /// Brings the bench back.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn back_online(&self) -> anyhow::Result<()> {
        Ok(lease::offline::back_online(&StateFolder::find()?, &self.key())?)
    }

    /// Says that the bench is offline, if it is: what a person does with it by hand goes on all the same.
    pub fn warn_if_offline(&self) {
        let file = self.file.display();
        match self.offline() {
            Ok(None) => {}
            Ok(Some(offline)) => tell(&format!(
                "warning: the bench is {offline}; when it is mended: ppsrig check {file} --back-online"
            )),
            Err(error) => tell(&format!("warning: whether the bench is offline is not known: {error:#}")),
        }
    }

    /// Refuses an image that is none, or that lacks the mailbox where one is needed, before anything is brought up; one that
    /// the bring-up itself makes comes later.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_image(&self, given: Option<&Path>, needs_mailbox: bool) -> anyhow::Result<()> {
        let path = given.unwrap_or(&self.declared.board.image);
        if !path.starts_with("@run") {
            let mut image = Image::read(path)?;
            if needs_mailbox {
                image.fill_mailbox(path, &[])?;
            }
        }
        Ok(())
    }

    /// What a run's conditions say of the labgrid place, if there is one.
    fn place_facts(&self) -> Option<String> {
        let labgrid = self.declared.labgrid.as_ref()?;
        let mut ports: Vec<_> =
            self.resolved.iter().map(|(port, address)| format!(", {port} at {address}")).collect();
        ports.sort();
        Some(format!("labgrid place {}{}", labgrid.place, ports.concat()))
    }

    /// Brings the bench up, if it needs that. `log` takes the stderr of its bring-up command.
    ///
    /// # Errors
    /// What keeps it down.
    pub fn bring_up(&self, log: Option<&Path>, how: &How, watch: &Watch) -> anyhow::Result<UpBench> {
        let scratch = scratch_folder()?;
        let mut bench = self.declared.expand(scratch.path())?;
        for (_, port, _) in bench.ports_mut() {
            if let Some(address) = self.resolved.get(port) {
                port.clone_from(address);
            }
        }
        let mut up = None;
        if let Some(bring_up) = &bench.bring_up {
            let surroundings = Surroundings {
                run_dir: scratch.path().to_owned(),
                scenario: self.scenario.clone(),
                clock: how.clock,
                counter_hz: self.counter_hz,
                seed: how.seed,
                cores: how.cores,
            };
            let own_log = scratch.path().join("bring-up.log");
            up = Some(BringUp::start(&bring_up.command, &surroundings, log.unwrap_or(&own_log), watch)?);
        }
        let facts = up.as_ref().map(|up| up.facts().to_owned()).into_iter().chain(self.place_facts());
        let facts = facts.filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join("; ");
        Ok(UpBench { bench, facts, _up: up, _scratch: scratch })
    }
}

/// What stands behind each port of the bench that is a resource of its labgrid place.
fn resolve(declared: &BenchFile, place: &Place) -> anyhow::Result<HashMap<String, String>> {
    let mut resolved = HashMap::new();
    for (what, port, baud) in declared.clone().ports_mut() {
        let Some(found) = place.port(port) else { continue };
        let exported = found.with_context(|| format!("the {what}'s port is not there"))?;
        let fixed = exported.speed.filter(|&speed| !exported.address.has_line() && speed != u64::from(baud));
        if let Some(speed) = fixed {
            tell(&format!(
                "{what}: {port} is {}, whose exporter has {speed} baud; the {baud} baud of the bench file cannot be set there",
                exported.address
            ));
        }
        resolved.insert(port.clone(), exported.address.to_string());
    }
    Ok(resolved)
}

/// A folder with a short name: the path of a Unix socket in it must stay under 108 bytes.
fn scratch_folder() -> anyhow::Result<TempDir> {
    tempfile::Builder::new().prefix("ppsrig-").tempdir().with_context(|| {
        format!("cannot make a scratch folder in {}; set TMPDIR", std::env::temp_dir().display())
    })
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("--scenario {}: cannot read it", path.display()))
}

/// The virtual bench of the source tree that the executable lies in, or the one that was installed with it.
fn virtual_bench() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let around: Vec<_> = executable.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let beside = around.iter().map(|folder| folder.join(VIRTUAL));
    let installed = around.iter().map(|folder| folder.join(INSTALLED));
    beside.chain(installed).find(|file| file.is_file()).with_context(|| {
        let folder = around.first().map_or_else(String::new, |folder| format!(" around {}", folder.display()));
        format!(
            "no BENCH given, and no virtual bench{folder}: give a bench file, as in `ppsrig run bench.toml`. \
             Copy the nearest of fixtures/benches in ppsrig's source, or of /usr/share/ppsrig/benches where its Debian \
             package is installed, and name your own probe and ports, which `ppsrig list` prints. The virtual bench \
             needs no hardware: it comes with the source tree (./setup.sh && just bench) and with the Debian package"
        )
    })
}
