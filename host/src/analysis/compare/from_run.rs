//! What a replayed run gives to a comparison: its own sessions' values, nothing computed anew.

use super::group::{Conditions, Group, Key, Quantity, Session, Singles, Values};
use crate::analysis::Analysis;
use crate::analysis::ctime::{self, CtimeAnalysis};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::latency::Latencies;
use crate::analysis::path::verdict::in_doubt;
use crate::analysis::path::{self, Instructions, PathAnalysis};
use crate::analysis::tie::Tie;
use crate::analysis::verdict::Outcome;
use crate::analysis::window::windows;
use crate::events::{Burst, Recording, RigEvent};
use crate::names::{self, Clock, Measurement};
use crate::plan::RunRecord;
use crate::units::HostNanos;

/// Why figures of an emulated board that ran live are not judged.
const EMULATED_LIVE: &str =
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
            groups.extend(path.variants.iter().filter_map(|variant| self.path(path, variant)));
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

    fn group(&self, key: Key, values: Values) -> Group {
        Group { key, values, bias_bound_ns: None, unit: String::new(), doubts: Vec::new(), unjudged: None }
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
        Some(Group { doubts, ..self.group(key, Values::Sessions(measured.collect())) })
    }

    fn path(&self, path: &PathAnalysis, variant: &path::Variant) -> Option<Group> {
        if variant.sessions.is_empty() {
            return None;
        }
        let window = |number: u32| {
            path.windows.iter().find(|window| {
                window.session == number
                    && window.variant == variant.variant
                    && window.clock_id == variant.clock_id
            })
        };
        let sessions = variant.sessions.iter().map(|session| Session {
            source: self.source,
            number: session.number,
            when: window(session.number).and_then(|window| self.when(window.started)),
            seed: window(session.number).map(|window| window.seed),
            n: session.histogram.total(),
            value: session.mean.value / 1e3,
            singles: Singles::Ticks(session.histogram.clone()),
        });
        let sessions: Vec<Session> = sessions.collect();
        let counter = self.record.bench.board.counter_hz;
        let (quantity, values) = match variant.instructions {
            Instructions::NotCounted => (Quantity::Mean, Values::Sessions(sessions)),
            Instructions::Always(count) | Instructions::Varying(count, _) => {
                let n = sessions.iter().map(|session| session.n).sum();
                let (value, sessions) = (f64::from(count), sessions.len() as u64);
                (Quantity::Instructions, Values::Alone { value, sessions, n })
            }
        };
        let key = Key {
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
        let bounds = variant.sessions.iter().filter_map(|session| session.bias);
        let mut doubts: Vec<String> =
            variant.sessions.iter().flat_map(|session| session.doubts.iter().cloned()).collect();
        if in_doubt(variant) && doubts.is_empty() {
            doubts.push("not every pair has the same number of instructions between its reads".to_owned());
        }
        Some(Group {
            bias_bound_ns: bounds.map(|bound| bound.ps(counter) as f64 / 1e3).reduce(f64::max),
            doubts,
            unjudged: (!path.judged).then_some(EMULATED_LIVE),
            ..self.group(key, values)
        })
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
            |quantity, value: f64| self.group(key(quantity), Values::Alone { value, sessions: count, n });
        let exact = record.plan.clock == Clock::Exact;
        let mut groups = match variant.instructions.filter(|_| exact) {
            Some(instructions) => vec![alone(Quantity::InstructionsPerOperation, instructions.value)],
            None => {
                let unjudged = (!ctime.judged).then_some(EMULATED_LIVE);
                vec![Group { unjudged, ..self.group(key(Quantity::Operations), Values::Sessions(sessions)) }]
            }
        };
        groups.push(alone(Quantity::Violations, variant.violations as f64));
        groups.retain(|group| group.figure().is_some() && count > 0);
        groups
    }
}
