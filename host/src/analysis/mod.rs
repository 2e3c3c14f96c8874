//! Decoding, pairing, ledger, calibration and statistics: pure functions over recorded events.
//!
//! [`analyse`] judges a whole recording, each measurement in a module of its own: `edge`, `path`, `ctime`. [`check_rate`]
//! judges the preamble alone, before anything is believed.

#[cfg(test)]
mod absence_tests;
pub mod anchor;
pub mod captures;
pub mod changes;
pub mod class;
pub mod compare;
pub mod ctime;
pub mod disturbance;
pub mod edge;
pub mod environment;
pub mod estimate;
pub mod figure;
pub mod figures;
pub mod fixed;
pub mod half_ticks;
pub mod label;
pub mod latency;
pub mod lost;
pub mod pairing;
pub mod path;
pub mod picture;
pub mod placement;
pub mod preflight;
#[cfg(test)]
mod properties;
pub mod published;
pub mod rate;
pub mod reference;
#[cfg(test)]
mod reference_faults;
pub mod row;
pub mod samples;
pub mod sawtooth;
pub mod seconds;
pub mod session;
#[cfg(test)]
mod sources_tests;
pub mod stability;
pub mod stamps;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;
pub mod tie;
pub mod uncertainty;
pub mod verdict;
pub mod window;

use std::time::Duration;

use ppsrig_wire::{Capabilities, FromBoard, Identity};

use self::ctime::CtimeAnalysis;
use self::edge::EdgeAnalysis;
pub use self::edge::{RateCheck, check_rate};
use self::environment::Environment;
use self::figure::Figure;
use self::path::PathAnalysis;
use self::seconds::Reference;
pub use self::session::Session;
use self::verdict::Verdict;
use self::window::recording_end;
use crate::bench_file::CommandBy;
use crate::events::{BoardEvent, Recording, RigEvent};
use crate::names::{Clock, Measurement};
use crate::plan::RunRecord;
use crate::units::HostNanos;

/// What all measurements of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The plan and the bench.
    pub record: &'a RunRecord,
    /// Everything that was recorded.
    pub recording: &'a Recording,
    /// What the board said of itself, last.
    pub identity: Option<&'a Identity>,
    /// Whether every figure is to be labelled `emulated`.
    pub emulated: bool,
    /// Why the recording is partial, if it is.
    pub partial: Option<&'a str>,
    /// End of the recording.
    pub end: HostNanos,
}

impl<'a> Whole<'a> {
    /// Of a recording.
    #[must_use]
    pub fn new(record: &'a RunRecord, recording: &'a Recording) -> Self {
        let identity = recording.board.iter().rev().find_map(|event| match &event.event {
            BoardEvent::Frame { message: FromBoard::Identity(identity), .. } => Some(identity),
            _ => None,
        });
        let says_emulated =
            identity.is_some_and(|identity| identity.capabilities.has(Capabilities::EMULATED));
        Self {
            record,
            recording,
            identity,
            emulated: record.bench.board.emulated || says_emulated,
            partial: partial(recording),
            end: recording_end(recording),
        }
    }

    /// That the recording is partial, as a reason of a verdict.
    #[must_use]
    pub fn partial_reasons(&self) -> Vec<String> {
        self.partial.iter().map(|reason| format!("the recording is partial: {reason}")).collect()
    }
}

/// Everything that follows from a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The edges, if they were measured.
    pub edge: Option<EdgeAnalysis>,
    /// The path, if it was measured.
    pub path: Option<PathAnalysis>,
    /// The coarse clock, if it was measured.
    pub ctime: Option<CtimeAnalysis>,
    /// What the board said of itself, last.
    pub identity: Option<Identity>,
    /// Temperatures beside the instruments.
    pub environment: Environment,
    /// Whether every figure is to be labelled `emulated`.
    pub emulated: bool,
    /// Why the recording is partial, if it is.
    pub partial: Option<String>,
    /// What it all comes to.
    pub verdict: Verdict,
    /// From the recording's begin to its end.
    pub recorded: Duration,
}

impl Analysis {
    /// Every row of summary.csv.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let edge = self.edge.iter().flat_map(|edge| &edge.figures);
        let path = self.path.iter().flat_map(|path| &path.figures);
        edge.chain(path).chain(self.ctime.iter().flat_map(|ctime| &ctime.figures))
    }

    /// Probe operations while the board measured.
    #[must_use]
    pub fn probe_operations(&self) -> u64 {
        let edge = self.edge.as_ref().map_or(0, |edge| edge.probe_operations);
        let path = self.path.as_ref().map_or(0, |path| path.probe_operations);
        let ctime = self.ctime.as_ref().map_or(0, |ctime| ctime.probe_operations);
        edge.saturating_add(path).saturating_add(ctime)
    }
}

/// Judges a recording.
#[must_use]
pub fn analyse(record: &RunRecord, recording: &Recording, reference: &dyn Reference) -> Analysis {
    let whole = Whole::new(record, recording);
    let measured = |measurement| record.plan.measure.contains(&measurement);
    let edge = measured(Measurement::Edge).then(|| edge::analyse(record, recording, reference));
    let path = record.plan.path.as_ref().filter(|_| measured(Measurement::Path));
    let path = path.map(|plan| path::analyse(whole, plan));
    let ctime = record.plan.ctime.as_ref().filter(|_| measured(Measurement::Ctime));
    let ctime = ctime.map(|plan| ctime::analyse(whole, plan));
    let parts = [
        edge.as_ref().map(|edge| (Measurement::Edge, &edge.verdict)),
        path.as_ref().map(|path| (Measurement::Path, &path.verdict)),
        ctime.as_ref().map(|ctime| (Measurement::Ctime, &ctime.verdict)),
    ];
    let verdict = Verdict::of_parts(&parts.into_iter().flatten().collect::<Vec<_>>());
    Analysis {
        edge,
        path,
        ctime,
        identity: whole.identity.cloned(),
        environment: Environment::of(recording),
        emulated: whole.emulated,
        partial: whole.partial.map(str::to_owned),
        verdict,
        recorded: Duration::from_nanos(whole.end.0),
    }
}

/// Why a recording is partial: it was stopped, ends without having been finished, or has lost some of its files.
fn partial(recording: &Recording) -> Option<&str> {
    let stopped = recording.rig.iter().find_map(|event| match &event.event {
        RigEvent::Stopped { reason } => Some(reason.as_str()),
        _ => None,
    });
    let finished = recording.rig.iter().any(|event| event.event == RigEvent::Finished);
    stopped
        .or_else(|| (!finished).then_some("it ends before the run was finished"))
        .or_else(|| recording.incomplete.first().map(String::as_str))
}

/// Probe operations between the board's start of a measurement and its end. Where the command lies in the board's memory
/// before it is released, as always in exact mode, the measurement starts when the board is first heard of.
fn probe_use(whole: Whole<'_>, told: HostNanos, ended: Option<HostNanos>) -> u64 {
    let by_memory =
        whole.record.plan.clock == Clock::Exact || whole.record.bench.board.command_by == CommandBy::Memory;
    let heard = whole.recording.board.iter().map(|event| event.at).find(|at| *at >= told);
    let from = if by_memory { heard.unwrap_or(whole.end) } else { told };
    let to = ended.unwrap_or(whole.end);
    let uses = whole.recording.rig.iter().filter_map(|event| match &event.event {
        // The child process that released the board ends when it likes; it does nothing more.
        RigEvent::ProbeUsed { began, .. } if by_memory && *began < from => None,
        RigEvent::ProbeUsed { began, operations, .. } if *began <= to && event.at >= from => {
            Some(*operations)
        }
        _ => None,
    });
    uses.fold(0, u64::saturating_add)
}
