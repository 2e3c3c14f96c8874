//! What a replayed run gives to a comparison: its own sessions' values, nothing computed anew.

use super::group::{Conditions, Group, Key, Quantity, Session, Singles, Values};
use crate::analysis::Analysis;
use crate::analysis::ctime::{self, CtimeAnalysis};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::fixed::Fixed;
use crate::analysis::latency::Latencies;
use crate::analysis::path::session::PathSession;
use crate::analysis::path::verdict::in_doubt;
use crate::analysis::path::{self, Instructions, PathAnalysis};
use crate::analysis::tie::Tie;
use crate::analysis::uncertainty::total;
use crate::analysis::verdict::Outcome;
use crate::analysis::window::windows;
use crate::events::{Burst, Recording, RigEvent};
use crate::names::{self, Clock, Measurement};
use crate::plan::RunRecord;
use crate::units::HostNanos;

/// Why figures of an emulated board that ran live are not judged.
pub const EMULATED_LIVE: &str =
    "the board is emulated and its clock live, so its speed says nothing about the code";
/// What is taken off a mean of `path`.
pub const TAKEN_OFF: &str = "taken off";

/// A replayed run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Plan and bench.
    pub record: &'a RunRecord,
    /// What was recorded.
    pub recording: &'a Recording,
    /// What follows from it.
    pub analysis: &'a Analysis,
    /// Start of the recording in nanoseconds since 1970 UTC, by run.toml.
    pub started: Option<i128>,
    /// The number of the source among those of its side.
    pub source: usize,
}

impl Run<'_> {
    /// What it holds, in the order of its report.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        if let Some(edge) = &self.analysis.edge {
            groups.extend(edge.latencies.iter().filter_map(|latencies| self.edge(edge, latencies)));
        }
        if let Some(path) = &self.analysis.path {
            groups.extend(path.variants.iter().flat_map(|variant| self.path(path, variant)));
        }
        if let Some(ctime) = &self.analysis.ctime {
            groups.extend(ctime.variants.iter().flat_map(|variant| self.ctime(ctime, variant)));
        }
        groups
    }

    fn when(&self, at: HostNanos) -> Option<i128> {
        self.started.map(|started| started + i128::from(at.0))
    }

    fn conditions(&self) -> Conditions {
        let board = &self.record.bench.board;
        let said = self.analysis.identity.as_ref().map(|identity| identity.board.as_str().to_owned());
        Conditions {
            clock: Some(self.record.plan.clock.name().to_owned()),
            board: said
                .filter(|name| !name.is_empty())
                .or_else(|| board.chip.rsplit(':').next().map(str::to_owned)),
            emulated: Some(self.analysis.emulated),
            ..Conditions::default()
        }
    }

    fn edge(&self, edge: &EdgeAnalysis, latencies: &Latencies) -> Option<Group> {
        if latencies.tie == Tie::None {
            return None;
        }
        let plan = &self.record.plan;
        let conditions = Conditions {
            clock: Some(Clock::Live.name().to_owned()),
            rate_hz: Some(format!("{}", plan.rate_millihertz as f64 / 1e3)),
            ..self.conditions()
        };
        let opened = windows(self.recording);
        let sessions = edge.sessions.iter().zip(&latencies.sample.sessions);
        let measured = sessions.filter(|(_, values)| !values.is_empty()).map(|(session, values)| {
            let number = session.number;
            let own = |window: &&crate::analysis::window::Window| {
                window.session == number && window.burst == Burst::Edges
            };
            Session {
                source: self.source,
                number,
                when: opened.list.iter().find(own).and_then(|window| self.when(window.opened)),
                seed: self.recording.rig.iter().find_map(|event| match event.event {
                    RigEvent::SessionStarted { session, seed } if session == number => Some(seed),
                    _ => None,
                }),
                n: values.len() as u64,
                value: crate::analysis::estimate::mean(values) / 1e3,
                singles: Singles::Picoseconds(values.clone()),
            }
        });
        let key = Key {
            measurement: Some(Measurement::Edge),
            variant: latencies.mode.name().to_owned(),
            tie: latencies.tie.name().to_owned(),
            quantity: Quantity::Mean,
            conditions,
        };
        let invalid = edge.verdict.outcome == Outcome::Invalid;
        let doubts = if invalid { edge.verdict.reasons.clone() } else { Vec::new() };
        let mean = latencies.figures.iter().find(|figure| figure.metric == "mean");
        let uncertainty = mean.and_then(|mean| mean.uncertainty).map(Fixed::to_f64);
        Some(Group { doubts, uncertainty, ..Group::new(key, Values::Sessions(measured.collect())) })
    }

    /// The mean, or where instructions were counted those.
    fn path(&self, path: &PathAnalysis, variant: &path::Variant) -> Vec<Group> {
        let sessions = self.path_sessions(path, variant);
        if sessions.is_empty() {
            return Vec::new();
        }
        let counter = self.record.bench.board.counter_hz;
        let key = |quantity| Key {
            measurement: Some(Measurement::Path),
            variant: variant.variant.name().to_owned(),
            tie: String::new(),
            quantity,
            conditions: Conditions {
                clock_id: Some(names::of_clock(variant.clock_id).to_owned()),
                cores: Some("1".to_owned()),
                counter_hz: Some(counter.0.to_string()),
                overhead: Some(TAKEN_OFF.to_owned()),
                ..self.conditions()
            },
        };
        let mut doubts: Vec<String> =
            variant.sessions.iter().flat_map(|session| session.doubts.iter().cloned()).collect();
        if in_doubt(variant) && doubts.is_empty() {
            doubts.push("not every pair has the same number of instructions between its reads".to_owned());
        }
        let counted = match variant.instructions {
            Instructions::NotCounted => None,
            Instructions::Always(count) | Instructions::Varying(count, _) => Some(count),
        };
        let instructions = counted.map(|count| {
            let n = sessions.iter().map(|session| session.n).sum();
            let alone = Values::Alone { value: f64::from(count), sessions: sessions.len() as u64, n };
            Group { doubts: doubts.clone(), ..Group::new(key(Quantity::Instructions), alone) }
        });
        let bounds = variant.sessions.iter().filter_map(|session| session.bias);
        let mean = Group {
            bias_bound_ns: bounds.map(|bound| bound.ps(counter) as f64 / 1e3).reduce(f64::max),
            uncertainty: Some(total(&variant.components) / 1e3),
            doubts,
            unjudged: (!path.judged).then_some(EMULATED_LIVE),
            beside_tables_only: counted.is_some(),
            ..Group::new(key(Quantity::Mean), Values::Sessions(sessions))
        };
        instructions.into_iter().chain([mean]).collect()
    }

    fn path_sessions(&self, path: &PathAnalysis, variant: &path::Variant) -> Vec<Session> {
        let window = |number: u32| {
            path.windows.iter().find(|window| {
                window.session == number
                    && window.variant == variant.variant
                    && window.clock_id == variant.clock_id
            })
        };
        let of = |session: &PathSession| Session {
            source: self.source,
            number: session.number,
            when: window(session.number).and_then(|window| self.when(window.started)),
            seed: window(session.number).map(|window| window.seed),
            n: session.histogram.total(),
            value: session.mean.value / 1e3,
            singles: Singles::Ticks(session.histogram.clone()),
        };
        variant.sessions.iter().map(of).collect()
    }

    fn ctime(&self, ctime: &CtimeAnalysis, variant: &ctime::Variant) -> Vec<Group> {
        let record = self.record;
        let own = ctime.windows.iter().filter(|window| {
            window.is_whole() && window.variant == variant.variant && window.cores == variant.cores
        });
        let sessions: Vec<Session> = own
            .filter_map(|window| {
                Some(Session {
                    source: self.source,
                    number: window.session,
                    when: self.when(window.started),
                    seed: Some(window.seed),
                    n: window.done_operations(),
                    value: window.operations_per_second(record.bench.board.counter_hz)?,
                    singles: Singles::Unknown,
                })
            })
            .collect();
        let key = |quantity| Key {
            measurement: Some(Measurement::Ctime),
            variant: variant.variant.name().to_owned(),
            tie: String::new(),
            quantity,
            conditions: Conditions { cores: Some(variant.cores.to_string()), ..self.conditions() },
        };
        let (n, count) = (variant.operations, variant.sessions);
        let alone =
            |quantity, value: f64| Group::new(key(quantity), Values::Alone { value, sessions: count, n });
        let exact = record.plan.clock == Clock::Exact;
        let instructions = variant.instructions.filter(|_| exact);
        let mut groups: Vec<Group> = instructions
            .map(|instructions| alone(Quantity::InstructionsPerOperation, instructions.value))
            .into_iter()
            .collect();
        groups.push(Group {
            unjudged: (!ctime.judged).then_some(EMULATED_LIVE),
            beside_tables_only: instructions.is_some(),
            ..Group::new(key(Quantity::Operations), Values::Sessions(sessions))
        });
        groups.push(alone(Quantity::Violations, variant.violations as f64));
        groups.retain(|group| group.figure().is_some() && count > 0);
        groups
    }
}
