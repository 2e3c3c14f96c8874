//! The sessions in which the board measures by itself, as the plan lays them out: which variant's turn it is, with which
//! seed, and what it is told in which window.

use std::time::Duration;

use ppsrig_wire as wire;
use ppsrig_wire::{CtimePlan, PathPlan, ToBoard};

use super::plan::session_seed;
use crate::bench_file::BenchFile;
use crate::events::RigEvent;
use crate::names::{CtimeVariant, Measurement, PathPart, PathVariant};
use crate::plan::{CtimeMeasurement, PathMeasurement, Plan};
use crate::rig::link::Work;
use crate::rig::measuring::{Job, path_variant, ratio};

/// How long a board may say nothing: a time of its own, and one for each thing that it does. An emulator on a busy host
/// does some tens of millions of instructions a second.
const SILENCE: Duration = Duration::from_secs(30);
const SILENCE_PER_ITERATION: Duration = Duration::from_micros(20);

/// One boot of the board, and what it is told.
#[derive(Clone, Debug)]
pub(super) struct BoardSession {
    /// For people.
    pub(super) title: String,
    /// Counts the variant's sessions from 1.
    pub(super) session: u32,
    pub(super) seed: u64,
    pub(super) work: Work,
    pub(super) jobs: Vec<Job>,
}

/// All sessions of `path` and `ctime`, in their order. Variants take turns, so that whatever drifts meets them alike.
pub(super) fn sessions(plan: &Plan, bench: &BenchFile) -> Vec<BoardSession> {
    // Two windows of each session of edges come before.
    let edges = plan.measure.contains(&Measurement::Edge);
    let mut window = if edges { 2 * plan.sessions + 1 } else { 1 };
    let mut sessions = Vec::new();
    for measurement in &plan.measure {
        for session in 1..=plan.sessions {
            match (measurement, &plan.path, &plan.ctime) {
                (Measurement::Path, Some(path), _) => {
                    let turn = |&variant| path_session(plan, path, bench, (session, variant), &mut window);
                    sessions.extend(path.variants.iter().map(turn));
                }
                (Measurement::Ctime, _, Some(ctime)) => {
                    let turn = |&variant| ctime_session(plan, ctime, (session, variant), &mut window);
                    sessions.extend(ctime.variants.iter().map(turn));
                }
                _ => {}
            }
        }
    }
    sessions
}

fn path_session(
    plan: &Plan,
    path: &PathMeasurement,
    bench: &BenchFile,
    (session, variant): (u32, PathVariant),
    window: &mut u32,
) -> BoardSession {
    let seed = session_seed(plan.seed, session, variant.name());
    let ladder = path.ladder_delays.iter().map(|&delay| (PathPart::Ladder, delay, path.ladder_iterations));
    let parts = [(PathPart::Overhead, 0, path.overhead_iterations), (PathPart::Path, 0, path.iterations)];
    let jobs = parts.into_iter().chain(ladder).map(|(what, added_delay, iterations)| {
        let number = *window;
        *window += 1;
        let command = path_plan(plan, path, bench, (number, variant, what), (added_delay, iterations, seed));
        let delayed = if added_delay == 0 { String::new() } else { format!(" + {added_delay} cycles") };
        Job {
            what: format!("{variant} {what}{delayed}"),
            window: number,
            command: ToBoard::StartPath(command),
            started: RigEvent::PathStarted {
                window: number,
                session,
                variant,
                clock_id: plan.clock_id,
                what,
                added_delay,
                iterations,
                batches: path.batches,
                dither: path.dither,
                dither_steps: path.dither_steps,
                seed,
            },
            silence: SILENCE + SILENCE_PER_ITERATION * iterations,
        }
    });
    let jobs = jobs.collect();
    BoardSession {
        title: title(plan, "path", variant.name(), session),
        session,
        seed,
        work: Work::Path,
        jobs,
    }
}

fn path_plan(
    plan: &Plan,
    path: &PathMeasurement,
    bench: &BenchFile,
    (window, variant, what): (u32, PathVariant, PathPart),
    (added_delay, iterations, seed): (u32, u32, u64),
) -> PathPlan {
    let (ratio_cycles, ratio_ticks) = ratio(bench.board.cpu_hz, bench.board.counter_hz);
    PathPlan {
        window,
        variant: match what {
            PathPart::Overhead => wire::PathVariant::Empty,
            PathPart::Path | PathPart::Ladder => path_variant(variant),
        },
        clock_id: plan.clock_id,
        iterations,
        batches: path.batches,
        dither: path.dither,
        seed,
        dither_steps: path.dither_steps,
        ratio_cycles,
        ratio_ticks,
        added_delay,
        raw_pairs: path.raw_pairs && what == PathPart::Path,
    }
}

fn ctime_session(
    plan: &Plan,
    ctime: &CtimeMeasurement,
    (session, variant): (u32, CtimeVariant),
    window: &mut u32,
) -> BoardSession {
    let seed = session_seed(plan.seed, session, variant.name());
    let number = *window;
    *window += 1;
    let (cores, operations) = (ctime.cores, ctime.operations);
    let command = CtimePlan {
        window: number,
        variant: match variant {
            CtimeVariant::Coarse => wire::CtimeVariant::Coarse,
            CtimeVariant::Multigrain => wire::CtimeVariant::Multigrain,
            CtimeVariant::MultigrainFloor => wire::CtimeVariant::MultigrainFloor,
        },
        cores,
        operations,
        seed,
    };
    let many = u32::try_from(operations).unwrap_or(u32::MAX);
    let job = Job {
        what: format!("{variant} on {cores} core{}", if cores == 1 { "" } else { "s" }),
        window: number,
        command: ToBoard::StartCtime(command),
        started: RigEvent::CtimeStarted { window: number, session, variant, cores, operations, seed },
        silence: SILENCE + SILENCE_PER_ITERATION * many,
    };
    BoardSession {
        title: title(plan, "ctime", variant.name(), session),
        session,
        seed,
        work: Work::Ctime,
        jobs: vec![job],
    }
}

fn title(plan: &Plan, measurement: &str, variant: &str, session: u32) -> String {
    match plan.sessions {
        1 => format!("{measurement} {variant}"),
        sessions => format!("{measurement} {variant}, session {session} of {sessions}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::run::plan::tests::{asked, bench, board_args};
    use crate::command::run::plan::{Asked, plan};

    fn planned(measure: &[Measurement], sessions: u32) -> (Plan, Vec<BoardSession>) {
        let board = board_args();
        let bench = bench();
        let plan = plan(&Asked { measure, sessions, ..asked(&board) }, &bench).expect("the bench can do it");
        let sessions = super::sessions(&plan, &bench);
        (plan, sessions)
    }

    #[test]
    fn variants_take_turns_and_every_session_has_a_seed_of_its_own() {
        let (_, sessions) = planned(&[Measurement::Path], 2);
        let titles: Vec<_> = sessions.iter().map(|session| session.title.as_str()).collect();
        let variants = ["indirect", "inline", "inline-biased"];
        let expected: Vec<_> = [1, 2]
            .iter()
            .flat_map(|session| variants.map(|v| format!("path {v}, session {session} of 2")))
            .collect();
        assert_eq!(titles, expected);
        let mut seeds: Vec<_> = sessions.iter().map(|session| session.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 6);
    }

    #[test]
    fn windows_are_numbered_through_whatever_is_measured() {
        let (plan, sessions) = planned(&[Measurement::Edge, Measurement::Path, Measurement::Ctime], 1);
        let windows: Vec<_> = sessions.iter().flat_map(|s| s.jobs.iter().map(|job| job.window)).collect();
        let path = plan.path.expect("it is measured");
        let jobs = 3 * (2 + path.ladder_delays.len() as u32) + 3;
        assert_eq!(windows, (3..3 + jobs).collect::<Vec<_>>());
    }

    #[test]
    fn a_path_session_measures_its_overhead_first_and_its_ladder_last() {
        let (plan, sessions) = planned(&[Measurement::Path], 1);
        let ToBoard::StartPath(overhead) = &sessions[1].jobs[0].command else { panic!("a path") };
        let ToBoard::StartPath(path) = &sessions[1].jobs[1].command else { panic!("a path") };
        let ToBoard::StartPath(last) = &sessions[1].jobs.last().expect("jobs").command else {
            panic!("a path")
        };
        assert_eq!(overhead.variant, wire::PathVariant::Empty);
        assert_eq!((path.variant, path.iterations), (wire::PathVariant::Inline, 1_000_000));
        // 1.5 GHz and 54 MHz: nine ticks are 250 cycles.
        assert_eq!((path.ratio_cycles, path.ratio_ticks, path.dither_steps), (250, 9, 250));
        let delays = plan.path.expect("it is measured").ladder_delays;
        assert_eq!(Some(&last.added_delay), delays.last());
    }
}
