//! Fires a few edges with every instrument open, recorded into a scratch bundle as a run is, and reads that back: what they
//! tell of the bench are pure functions over the recording (`told`).

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use ppsrig_wire::{ClockId, EdgeMode};

use super::findings::Findings;
use super::told;
use crate::bench_file::{BenchFile, EdgeTiming};
use crate::bundle::{self, Bundle, Contents};
use crate::command::bench::{Bench, UpBench};
use crate::command::run::edges;
use crate::command::run::record::Logs;
use crate::events::RigEvent;
use crate::names::{Clock, IntervalCounterDriver, Measurement};
use crate::plan::{Conditions, PREAMBLE_PERIOD_NS, Plan, Provenance, RunRecord};
use crate::rig::image::Image;
use crate::rig::probe::lock::ProbeLock;
use crate::rig::recorder::Recorder;
use crate::rig::watch::{Deadline, Watch};

/// Edges whose leading transitions are captured.
const LEADING: u32 = 5;
/// The same, where quantisation errors can be verified: they need twenty seconds in a row.
const FOR_QUANTISATION: u32 = 24;
/// Edges whose trailing transitions are captured.
const TRAILING: u32 = 3;
/// Wide enough to be told from the rest of its period on a slow board.
const WIDTH_NS: u64 = 200_000_000;
/// Everything around the edges: loading, two waits for a pulse, questions to the generator, closing.
const AROUND: Duration = Duration::from_secs(14);
const FIRST_MESSAGE: Duration = Duration::from_secs(5);

/// What is found by firing: named also where nothing is fired.
const FINDINGS: [&str; 8] = [
    "polarity",
    "width",
    "second",
    "quantisation errors",
    "counter rate",
    "generator's oscillator",
    "interval counter's oscillator",
    "cables",
];

/// Fires, if everything that is needed can be used and there is time.
pub(super) fn fire(bench: &Bench, up: &UpBench, deadline: Deadline, watch: &Watch, findings: &mut Findings) {
    let none = |findings: &mut Findings, why: &str| {
        for finding in FINDINGS {
            findings.not_checked(finding, why);
        }
    };
    if findings.any_unusable() {
        return none(findings, "no edge is fired, since something above cannot be used");
    }
    let Some(leading) = leading(&up.bench, deadline.left()) else {
        return none(findings, "the time for the whole check is over");
    };
    match recorded(bench, up, leading, watch) {
        Ok((record, contents, ended)) => {
            if let Some(why) = &ended {
                findings.unusable("edges", why.clone());
            }
            told::tell(&record, &contents.recording, ended.is_none(), findings);
        }
        Err(error) => {
            let why = format!("{error:#}");
            findings.unusable("edges", why);
            none(findings, "no edge was fired");
        }
    }
}

/// How many edges there is time for; none: not even for a few.
fn leading(bench: &BenchFile, left: Duration) -> Option<u32> {
    let sees_pulse = !bench.wiring.echo
        && bench.interval_counter.as_ref().is_some_and(|counter| {
            counter.driver == IntervalCounterDriver::Ticc && !bench.reference.is_disciplined()
        });
    let fits = |edges: u32| left >= AROUND + Duration::from_secs(u64::from(edges + TRAILING));
    let wanted = if sees_pulse { FOR_QUANTISATION } else { LEADING };
    [wanted, LEADING].into_iter().find(|&edges| fits(edges))
}

/// Records the edges. What ended them early, if anything did, comes beside what was recorded up to then.
fn recorded(
    bench: &Bench,
    up: &UpBench,
    leading: u32,
    watch: &Watch,
) -> anyhow::Result<(RunRecord, Contents, Option<String>)> {
    let scratch = tempfile::Builder::new().prefix("ppsrig-check-").tempdir();
    let scratch = scratch.context("cannot make a scratch folder; set TMPDIR")?;
    let (bundle, files) = Bundle::create(scratch.path(), "check", jiff::Timestamp::now())?;
    let logs = Logs::new(&Recorder::new(watch), files);
    let _lock = ProbeLock::acquire(&up.bench.board.probe)?;
    let image = &up.bench.board.image;
    let record = record(bench, up, leading, &Image::read(image)?, image);
    bundle.write_record(&record)?;
    let ended = fired(up, &record, &logs, watch).err().map(|error| format!("{error:#}"));
    if ended.is_none() {
        logs.rig.did(&RigEvent::Finished);
    }
    Ok((record, bundle::read(bundle.dir())?, ended))
}

fn fired(up: &UpBench, record: &RunRecord, logs: &Logs, watch: &Watch) -> anyhow::Result<()> {
    let bench = &up.bench;
    let (mut rig, _) = edges::open(bench, &bench.board.image, EdgeMode::Irq, logs, watch)?;
    logs.rig.did(&RigEvent::HostClock { unix_s: jiff::Timestamp::now().as_second() });
    rig.reference.first_message(FIRST_MESSAGE, watch)?;
    // Without a pulse that starts it, or one that it is, the second train has another phase and tells nothing.
    let trailing = if bench.generator.driver.timing().on_gps_grid() { TRAILING } else { 0 };
    let usual = u64::from(bench.generator.width_ms) * 1_000_000;
    Ok(rig.preflight(&record.plan, usual, trailing, &mut |_| {})?)
}

fn record(bench: &Bench, up: &UpBench, leading: u32, image: &Image, path: &Path) -> RunRecord {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let width_ns = match bench.declared.generator.driver.timing() {
        EdgeTiming::OnPulse => WIDTH_NS,
        _ => u64::from(bench.declared.generator.width_ms) * 1_000_000,
    };
    RunRecord {
        bundle_version: 1,
        plan: Plan {
            measure: vec![Measurement::Edge],
            clock: Clock::Live,
            mode: EdgeMode::Irq,
            clock_id: ClockId::Realtime,
            edges: TRAILING,
            rate_millihertz: 1000,
            period_ns: PREAMBLE_PERIOD_NS,
            width_ns,
            preamble_edges: leading,
            sessions: 1,
            seed: 1,
            path: None,
            ctime: None,
        },
        provenance: Provenance {
            ppsrig_version: env!("CARGO_PKG_VERSION").to_owned(),
            ppsrig_commit: env!("PPSRIG_GIT").to_owned(),
            started_utc: jiff::Timestamp::now().to_string(),
            bench_file: name(&bench.file),
            image: name(path),
            image_sha256: image.sha256.clone(),
            image_bytes: image.bytes(),
        },
        conditions: Conditions {
            bring_up: up.facts.clone(),
            generator: String::new(),
            second_rule: String::new(),
        },
        bench: bench.declared.clone(),
    }
}
