//! The recording half of a run: brings the bench up, opens every instrument, writes run.toml and runs the sessions.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::plan::session_seed;
use super::progress::Progress;
use crate::analysis::seconds::Reference as _;
use crate::analysis::{RateCheck, check_rate, seconds};
use crate::bench_file::{BenchFile, GeneratorDriver};
use crate::bundle::{self, Bundle, RawFiles, names};
use crate::command::bench::{Bench, UpBench};
use crate::events::{self, RigEvent};
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
        let bring_up_log = self.bundle.dir().join(names::RAW).join(names::BRING_UP);
        if self.bench.declared.bring_up.is_some() {
            progress.line(crate::command::bench::BRINGING_UP);
        }
        let logs = Logs::new(&Recorder::new(self.watch), files);
        let log = logs.rig.clone();
        let result = self
            .bench
            .bring_up(Some(&bring_up_log), self.plan.seed, self.watch)
            .and_then(|up| self.record_on(&up, logs, progress));
        match &result {
            Ok(()) => log.did(&RigEvent::Finished),
            Err(error) => log.did(&RigEvent::Stopped { reason: format!("{error:#}") }),
        };
        result
    }

    fn record_on(&self, up: &UpBench, logs: Logs, progress: &mut Progress) -> anyhow::Result<()> {
        let bench = &up.bench;
        let path = self.image.unwrap_or(&bench.board.image);
        let image = Image::read(path)?;
        let _lock = ProbeLock::acquire(&bench.board.probe)?;
        let (mut rig, generator) = self.open(bench, path, logs)?;
        let first = rig.reference.first_message(FIRST_MESSAGE, self.watch)?;
        progress.line(&format!("reference: GPS second {}", first.second.0));
        let conditions = Conditions { bring_up: up.facts.clone(), generator, second_rule: String::new() };
        let mut record = self.run_record(&image, path, conditions);
        record.conditions.second_rule = seconds::recorded(&record, &events::Recording::default()).rule();
        self.bundle.write_record(&record)?;
        for session in 1..=self.plan.sessions {
            if self.plan.sessions > 1 {
                progress.line(&format!("session {session} of {}", self.plan.sessions));
            }
            let seed = session_seed(self.plan.seed, session, "edge");
            let mut judge = || self.judge_preamble(&record, session);
            rig.session(self.plan, (session, seed), &mut judge, &mut |step| progress.step(&step))?;
        }
        Ok(())
    }

    /// Opens every instrument; their bytes are recorded from here on.
    fn open(&self, bench: &BenchFile, image: &Path, logs: Logs) -> anyhow::Result<(Rig, String)> {
        let board = &bench.board;
        let link =
            Port::open(&board.link, board.link_baud, logs.link).context("cannot open the board's link")?;
        let port = Port::open(&bench.generator.port, bench.generator.baud, logs.generator)
            .context("cannot open the generator")?;
        let reference = Port::open(&bench.reference.port, bench.reference.baud, logs.reference)
            .context("cannot open the reference")?;
        let interval_counter = match &bench.interval_counter {
            None => None,
            Some(counter) => {
                let port = Port::open(&counter.port, counter.baud, logs.interval_counter)
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
            target: Target { selector: board.probe.clone(), chip: board.chip.clone() },
            image: image.to_owned(),
            needs: Needs { emulated: board.emulated, mode: self.plan.mode, echo: bench.wiring.echo },
            edge: bench.generator.edge,
            log: logs.rig,
            watch: self.watch.clone(),
        };
        Ok((rig, identity))
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

    /// Refuses to go on when the counter's rate is not what is declared: nothing after it could be believed.
    fn judge_preamble(&self, record: &RunRecord, session: u32) -> Result<(), String> {
        let contents = bundle::read(self.bundle.dir()).map_err(|error| error.to_string())?;
        let reference = seconds::recorded(record, &contents.recording);
        match check_rate(record, &contents.recording, &reference, session) {
            RateCheck::Good(rate) => {
                log::info!("counter rate after the preamble: {rate:?}");
                Ok(())
            }
            RateCheck::Refused(reason) => Err(reason),
            RateCheck::NotMeasured(reason) => Err(format!("the counter's rate cannot be measured: {reason}")),
        }
    }
}

/// Where the instruments' bytes go.
struct Logs {
    link: Log,
    generator: Log,
    reference: Log,
    interval_counter: Log,
    rig: Log,
}

impl Logs {
    fn new(recorder: &Recorder, files: RawFiles) -> Self {
        Self {
            link: recorder.log("link", files.link),
            generator: recorder.log("generator", files.generator),
            reference: recorder.log("reference", files.reference),
            interval_counter: recorder.log("interval-counter", files.interval_counter),
            rig: recorder.log("rig", files.rig),
        }
    }
}
