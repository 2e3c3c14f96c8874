//! The sessions of edges: every instrument of the bench is opened, and the counter's rate is judged after each preamble.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::plan::session_seed;
use super::progress::Progress;
use super::record::{Logs, Recording};
use crate::analysis::{RateCheck, check_rate, seconds};
use crate::bench_file::{BenchFile, PortSettings};
use crate::bundle;
use crate::events::{PortOwner, RigEvent};
use crate::plan::RunRecord;
use crate::rig::generator;
use crate::rig::interval_counter::IntervalCounter;
use crate::rig::link::{Link, Needs, Work};
use crate::rig::port::Port;
use crate::rig::probe::Target;
use crate::rig::recorder::Log;
use crate::rig::reference::Reference;
use crate::rig::session::Rig;

const FIRST_MESSAGE: Duration = Duration::from_secs(10);

/// A rig that is ready to fire.
pub(super) struct Edges<'a> {
    recording: &'a Recording<'a>,
    rig: Rig,
    /// What the generator says of itself.
    pub(super) generator: String,
}

impl<'a> Edges<'a> {
    /// Opens every instrument, whose bytes are recorded from here on, and waits for the reference's first time message.
    pub(super) fn open(
        recording: &'a Recording<'a>,
        bench: &BenchFile,
        image: &Path,
        logs: &Logs,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let (mut rig, generator) = open(recording, bench, image, logs)?;
        logs.rig.did(&RigEvent::HostClock { unix_s: jiff::Timestamp::now().as_second() });
        let first = rig.reference.first_message(FIRST_MESSAGE, recording.watch)?;
        progress.line(&format!("reference: GPS second {}", first.second.0));
        Ok(Self { recording, rig, generator })
    }

    /// Runs the sessions.
    pub(super) fn run(mut self, record: &RunRecord, progress: &mut Progress) -> anyhow::Result<()> {
        let plan = self.recording.plan;
        for session in 1..=plan.sessions {
            if plan.sessions > 1 {
                progress.line(&format!("session {session} of {}", plan.sessions));
            }
            let seed = session_seed(plan.seed, session, "edge");
            let mut judge = || judge_preamble(self.recording, record, session);
            self.rig.session(plan, (session, seed), &mut judge, &mut |step| progress.step(&step))?;
        }
        Ok(())
    }
}

fn open(
    recording: &Recording<'_>,
    bench: &BenchFile,
    image: &Path,
    logs: &Logs,
) -> anyhow::Result<(Rig, String)> {
    let board = &bench.board;
    let open = |owner, settings: &PortSettings, log: &Log| {
        Port::open_for(owner, settings, log.clone(), &logs.rig)
            .with_context(|| format!("cannot open the {owner}"))
    };
    let link = open(PortOwner::Link, &board.link_settings(), &logs.link)?;
    let generator = || open(PortOwner::Generator, &bench.generator.port_settings(), &logs.generator);
    let reference = open(PortOwner::Reference, &bench.reference.port_settings(), &logs.reference)?;
    let interval_counter = match &bench.interval_counter {
        None => None,
        Some(counter) if counter.is_reference(&bench.reference) => None,
        Some(counter) => {
            let port = open(PortOwner::IntervalCounter, &counter.port_settings(), &logs.interval_counter)?;
            Some(IntervalCounter::open(port, counter, bench.generator.edge)?)
        }
    };
    let generator = generator::open(&bench.generator, generator)?;
    let identity = generator.identity().to_owned();
    let work = Work::Edges { mode: recording.plan.mode, echo: bench.wiring.echo };
    let rig = Rig {
        link: Link::new(link),
        generator,
        reference: Reference::new(reference, bench.reference.driver),
        interval_counter,
        target: Target { selector: board.probe.clone(), chip: board.chip.clone() },
        image: image.to_owned(),
        needs: Needs { emulated: board.emulated, work },
        edge: bench.generator.edge,
        log: logs.rig.clone(),
        watch: recording.watch.clone(),
    };
    Ok((rig, identity))
}

/// Refuses to go on when the counter's rate is not what is declared: nothing after it could be believed.
fn judge_preamble(recording: &Recording<'_>, record: &RunRecord, session: u32) -> Result<(), String> {
    let contents = bundle::read(recording.bundle.dir()).map_err(|error| error.to_string())?;
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
