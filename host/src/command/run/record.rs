//! The recording half of a run: brings the bench up, writes run.toml and runs the sessions.

use std::path::Path;

use anyhow::Context;

use super::edges::Edges;
use super::jobs::{self, BoardSession};
use super::progress::Progress;
use crate::analysis::seconds;
use crate::analysis::seconds::Reference as _;
use crate::bench_file::{BenchFile, CommandBy};
use crate::bundle::{self, Bundle, RawFiles, names};
use crate::command::bench::{Bench, How, UpBench};
use crate::command::trace;
use crate::events::{self, PortOwner, RigEvent};
use crate::names::{Clock, Measurement, PathVariant};
use crate::plan::{Conditions, Plan, Provenance, RunRecord};
use crate::rig::environment::EnvironmentReader;
use crate::rig::image::Image;
use crate::rig::link::{Link, Needs};
use crate::rig::measuring::MeasuringBoard;
use crate::rig::port::Port;
use crate::rig::probe::Target;
use crate::rig::probe::lock::ProbeLock;
use crate::rig::recorder::{Log, Recorder};
use crate::rig::watch::Watch;

/// What a run's conditions say where it measures no edges.
const NOT_OPENED: &str = "not opened: no edges are measured";

const NO_RULE: &str = "none: no edges are measured";

/// What a recording needs to know.
pub(super) struct Recording<'a> {
    pub(super) bench: &'a Bench,
    /// In place of the bench file's.
    pub(super) image: Option<&'a Path>,
    pub(super) plan: &'a Plan,
    /// Whether trace.txt is wanted.
    pub(super) trace: bool,
    pub(super) bundle: &'a Bundle,
    pub(super) started_utc: String,
    pub(super) watch: &'a Watch,
}

impl Recording<'_> {
    /// Records the whole run. Whatever ends it early is recorded as well, once there is something to record.
    ///
    /// # Errors
    /// What ended it early.
    pub(super) fn record(&self, files: RawFiles, progress: &mut Progress) -> anyhow::Result<()> {
        if self.bench.declared.bring_up.is_some() {
            progress.line(crate::command::bench::BRINGING_UP);
        }
        let logs = Logs::new(&Recorder::new(self.watch), files);
        let result = self.bring_up().and_then(|up| self.record_on(up, &logs, progress));
        match &result {
            Ok(()) => logs.rig.did(&RigEvent::Finished),
            Err(error) => logs.rig.did(&RigEvent::Stopped { reason: format!("{error:#}") }),
        };
        result
    }

    fn bring_up(&self) -> anyhow::Result<UpBench> {
        let log = self.bundle.dir().join(names::RAW).join(names::BRING_UP);
        let cores = self.plan.ctime.as_ref().map_or(1, |ctime| ctime.cores);
        let how = How { seed: self.plan.seed, clock: self.plan.clock, cores };
        self.bench.bring_up(Some(&log), &how, self.watch)
    }

    fn record_on(&self, up: UpBench, logs: &Logs, progress: &mut Progress) -> anyhow::Result<()> {
        let _environment = EnvironmentReader::start(&up.bench.environment, &logs.rig);
        let lock = ProbeLock::acquire(&up.bench.board.probe)?;
        let path = self.image.unwrap_or(&up.bench.board.image);
        let image = Image::read(path)?;
        if self.plan.measure.contains(&Measurement::Edge) {
            let edges = Edges::open(self, &up.bench, path, logs, progress)?;
            let record = self.write_record(&up, &image, Some(&edges.generator))?;
            edges.run(&record, progress)?;
        } else {
            self.write_record(&up, &image, None)?;
        }
        drop(lock);
        let kept = self.board_sessions(up, logs, progress)?;
        match &self.plan.path {
            Some(path) if self.trace => self.take_trace(kept, &path.variants, logs, progress),
            _ => Ok(()),
        }
    }

    /// Keeps the instructions that `path` measured beside its figures. They stand without it.
    fn take_trace(
        &self,
        kept: Option<UpBench>,
        variants: &[PathVariant],
        logs: &Logs,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        let take = |up: UpBench| {
            let image = self.image.unwrap_or(&up.bench.board.image);
            trace::listing(&up.bench, image, (variants, self.plan.clock_id), &logs.rig, self.watch)
        };
        progress.line("trace: stepping the board through what it measured");
        match kept.map_or_else(|| self.bring_up(), Ok).and_then(take) {
            Ok(text) => {
                bundle::write_file(self.bundle.dir(), trace::TRACE, |to| to.write_all(text.as_bytes()))?;
                Ok(())
            }
            Err(error) => {
                self.watch.check()?;
                progress.line(&format!("no trace.txt: {error:#}"));
                Ok(())
            }
        }
    }

    /// The sessions of `path` and `ctime`. In exact mode the bench comes up anew for each: only a board that was never
    /// released counts from the same moment each time.
    /// Returns the bench if it can still be used.
    fn board_sessions(
        &self,
        up: UpBench,
        logs: &Logs,
        progress: &mut Progress,
    ) -> anyhow::Result<Option<UpBench>> {
        let mut kept = Some(up);
        for session in jobs::sessions(self.plan, &self.bench.declared) {
            progress.line(&session.title);
            let up = match kept.take() {
                Some(up) => up,
                None => self.bring_up()?,
            };
            self.board_session(&up.bench, &session, logs, progress)
                .with_context(|| format!("{} was not measured", session.title))?;
            if self.plan.clock == Clock::Live {
                kept = Some(up);
            }
        }
        Ok(kept)
    }

    fn board_session(
        &self,
        bench: &BenchFile,
        session: &BoardSession,
        logs: &Logs,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        let board = &bench.board;
        let _lock = ProbeLock::acquire(&board.probe)?;
        let link = Port::open_for(PortOwner::Link, &board.link_settings(), logs.link.clone(), &logs.rig)
            .context("cannot open the link to the board")?;
        let mut measuring = MeasuringBoard {
            link: Link::new(link),
            target: Target { selector: board.probe.clone(), chip: board.chip.clone() },
            image: self.image.unwrap_or(&board.image).to_owned(),
            needs: Needs { emulated: board.emulated, work: session.work },
            command_by: match self.plan.clock {
                Clock::Exact => CommandBy::Memory,
                Clock::Live => board.command_by,
            },
            log: logs.rig.clone(),
            watch: self.watch.clone(),
        };
        let numbered = (session.session, session.seed);
        Ok(measuring.session(numbered, &session.jobs, &mut |step| progress.step(&step))?)
    }

    /// Writes run.toml. `generator` is what the generator says of itself, if it was opened.
    fn write_record(
        &self,
        up: &UpBench,
        image: &Image,
        generator: Option<&str>,
    ) -> anyhow::Result<RunRecord> {
        let path = self.image.unwrap_or(&up.bench.board.image);
        let conditions = Conditions {
            bring_up: up.facts.clone(),
            generator: generator.unwrap_or(NOT_OPENED).to_owned(),
            second_rule: NO_RULE.to_owned(),
        };
        let mut record = self.run_record(image, path, conditions);
        if generator.is_some() {
            record.conditions.second_rule = seconds::recorded(&record, &events::Recording::default()).rule();
        }
        self.bundle.write_record(&record)?;
        Ok(record)
    }

    fn run_record(&self, image: &Image, path: &Path, conditions: Conditions) -> RunRecord {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        RunRecord {
            bundle_version: 1,
            plan: self.plan.clone(),
            provenance: Provenance {
                ppsrig_version: env!("CARGO_PKG_VERSION").to_owned(),
                ppsrig_commit: env!("PPSRIG_GIT").to_owned(),
                started_utc: self.started_utc.clone(),
                bench_file: name(&self.bench.file),
                image: name(path),
                image_sha256: image.sha256.clone(),
                image_bytes: image.bytes(),
            },
            conditions,
            bench: self.bench.declared.clone(),
        }
    }
}

/// Where the instruments' bytes go.
pub(in crate::command) struct Logs {
    pub(in crate::command) link: Log,
    pub(in crate::command) generator: Log,
    pub(in crate::command) reference: Log,
    pub(in crate::command) interval_counter: Log,
    pub(in crate::command) rig: Log,
}

impl Logs {
    pub(in crate::command) fn new(recorder: &Recorder, files: RawFiles) -> Self {
        Self {
            link: recorder.log("link", files.link),
            generator: recorder.log("generator", files.generator),
            reference: recorder.log("reference", files.reference),
            interval_counter: recorder.log("interval-counter", files.interval_counter),
            rig: recorder.log("rig", files.rig),
        }
    }
}
