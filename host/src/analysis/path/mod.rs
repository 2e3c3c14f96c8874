//! `path`: how long it takes from a raw counter read in the caller to the counter read inside the snapshot function.
//!
//! One tick is longer than the path, so a single pair says almost nothing; the mean of many, taken at uniform phases of
//! the counter, does. From top to bottom: `verdict` over `figures` over `session`, which takes from the windows of
//! `collect` the mean (`estimate`), the bound on its bias (`phase`) and the `ladder`.

pub mod collect;
pub mod estimate;
pub mod figures;
pub mod histogram;
pub mod ladder;
pub mod phase;
pub mod session;
#[cfg(test)]
mod simulation;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod verdict;

use std::collections::BTreeMap;

use ppsrig_wire::ClockId;

use self::collect::PathWindow;
use self::estimate::{Estimate, SessionValue, estimate};
use self::histogram::Histogram;
use self::phase::MOST_BINS;
use self::session::{Clocks, PathSession};
use super::figure::Figure;
use super::uncertainty::Component;
use super::verdict::Verdict;
use super::{Whole, probe_use};
use crate::names::{Clock, PathPart, PathVariant};
use crate::plan::{PathMeasurement, whole_tick_steps};

/// Everything that follows from a recording about `path`.
#[derive(Clone, Debug, PartialEq)]
pub struct PathAnalysis {
    /// The measuring windows, in the order in which the board was told.
    pub windows: Vec<PathWindow>,
    /// The variants, in the order of their first session.
    pub variants: Vec<Variant>,
    /// What is missing or does not fit together, as sentences.
    pub problems: Vec<String>,
    /// Whether figures are judged: not those of an emulated board's nanoseconds.
    pub judged: bool,
    /// Probe operations while the board measured.
    pub probe_operations: u64,
    /// Its rows of summary.csv.
    pub figures: Vec<Figure>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// One variant, asked for one clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The build.
    pub variant: PathVariant,
    /// The clock.
    pub clock_id: ClockId,
    /// Its sessions of which everything arrived.
    pub sessions: Vec<PathSession>,
    /// Picoseconds from read to read, less the read overhead.
    pub mean: Option<Estimate>,
    /// Picoseconds from read to read with nothing between.
    pub overhead: Option<Estimate>,
    /// What the mean's uncertainty is made of.
    pub components: Vec<Component>,
    /// Instructions strictly between the two reads.
    pub instructions: Instructions,
}

/// Instructions between the two reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Not counted: only a counter that advances with every instruction of an emulated board in exact mode counts them.
    NotCounted,
    /// All pairs of all sessions had as many.
    Always(u32),
    /// They did not: from, to.
    Varying(u32, u32),
}

impl PathAnalysis {
    /// A variant's mean over that of `indirect`, asked for the same clock.
    #[must_use]
    pub fn ratio_to_indirect(&self, variant: &Variant) -> Option<f64> {
        let is_base =
            |one: &&Variant| one.variant == PathVariant::Indirect && one.clock_id == variant.clock_id;
        let (own, base) = (variant.mean?.value, self.variants.iter().find(is_base)?.mean?.value);
        (base > 0.0).then(|| own / base)
    }
}

/// Judges what a recording holds about `path`.
#[must_use]
pub fn analyse(whole: Whole<'_>, plan: &PathMeasurement) -> PathAnalysis {
    let clocks = Clocks::of(whole.record);
    let bins = usize::try_from(whole_tick_steps(clocks.cpu, clocks.counter).min(MOST_BINS)).unwrap_or(0);
    let collected = collect::windows(whole.recording, bins, plan.raw_pairs);
    let mut problems = collected.problems;
    let variants = variants(&collected.list, whole, plan, &mut problems);
    let exact = whole.record.plan.clock == Clock::Exact;
    let probe_operations =
        collected.list.iter().map(|window| probe_use(whole, window.started, window.ended)).sum();
    let mut analysis = PathAnalysis {
        windows: collected.list,
        variants,
        problems,
        judged: exact || !whole.emulated,
        probe_operations,
        figures: Vec::new(),
        verdict: Verdict::nothing(),
    };
    analysis.figures = figures::figures(&analysis, whole, plan);
    analysis.verdict = verdict::verdict(&analysis, whole, plan);
    analysis
}

fn variants(
    windows: &[PathWindow],
    whole: Whole<'_>,
    plan: &PathMeasurement,
    problems: &mut Vec<String>,
) -> Vec<Variant> {
    let mut order: Vec<(PathVariant, ClockId)> = Vec::new();
    for window in windows {
        let key = (window.variant, window.clock_id);
        if !order.contains(&key) {
            order.push(key);
        }
    }
    let of_key = |(variant, clock_id): (PathVariant, ClockId)| {
        let mut by_session: BTreeMap<u32, Vec<&PathWindow>> = BTreeMap::new();
        for window in windows.iter().filter(|one| one.variant == variant && one.clock_id == clock_id) {
            by_session.entry(window.session).or_default().push(window);
        }
        let sessions = by_session.values().filter_map(|windows| {
            problems.extend(incomplete(windows));
            if windows.iter().any(|window| window.part != PathPart::Ladder && !window.is_whole()) {
                return None;
            }
            let sound: Vec<&PathWindow> =
                windows.iter().copied().filter(|window| window.is_whole()).collect();
            match session::session(&sound, Clocks::of(whole.record), plan.max_bias_ps) {
                Ok(session) => Some(session),
                Err(problem) => {
                    let title = windows.first().map_or_else(String::new, |window| window.session_title());
                    problems.push(format!("{title}: {problem}"));
                    None
                }
            }
        });
        variant_of(variant, clock_id, sessions.collect(), whole)
    };
    order.into_iter().map(of_key).collect()
}

/// What of a session is missing or does not fit together, as sentences.
fn incomplete(windows: &[&PathWindow]) -> Vec<String> {
    let mut problems: Vec<String> = windows
        .iter()
        .flat_map(|window| window.problems.iter().map(|problem| format!("{}: {problem}", window.title())))
        .collect();
    let unfinished: Vec<_> = windows.iter().filter(|window| window.done.is_none()).collect();
    match unfinished.as_slice() {
        [] => {}
        [one] => problems.push(format!("{}: the board did not come to its end", one.title())),
        [first, ..] => {
            let (count, of) = (unfinished.len(), windows.len());
            problems.push(format!(
                "{}: the board did not come to the end of {count} of {of} parts",
                first.session_title()
            ));
        }
    }
    problems
}

fn variant_of(
    variant: PathVariant,
    clock_id: ClockId,
    sessions: Vec<PathSession>,
    whole: Whole<'_>,
) -> Variant {
    let values = |of: fn(&PathSession) -> &SessionValue| sessions.iter().map(of).cloned().collect::<Vec<_>>();
    Variant {
        variant,
        clock_id,
        mean: estimate(&values(|session| &session.mean)),
        overhead: estimate(&values(|session| &session.overhead)),
        components: components(&sessions, Clocks::of(whole.record)),
        instructions: instructions(&sessions, whole),
        sessions,
    }
}

/// Bounds are the largest of the sessions; what the read overhead is uncertain by shrinks with their number.
fn components(sessions: &[PathSession], clocks: Clocks) -> Vec<Component> {
    let largest = |of: fn(&PathSession) -> Option<phase::BiasBound>| {
        sessions.iter().filter_map(of).map(|bound| bound.ps(clocks.counter)).max()
    };
    let bias = largest(|session| session.bias);
    let overhead_bias = largest(|session| session.overhead_bias);
    let errors: Vec<f64> = sessions.iter().filter_map(|session| session.overhead.standard_error()).collect();
    let error = errors.iter().map(|error| error * error).sum::<f64>().sqrt() / errors.len().max(1) as f64;
    let mut components = Vec::new();
    components.extend(bias.map(|ps| Component::bound("phase bias", ps as f64)));
    components.extend(overhead_bias.map(|ps| Component::bound("phase bias of the read overhead", ps as f64)));
    components.extend((!errors.is_empty()).then(|| Component::expanded("read overhead", 2.0 * error)));
    components
}

fn instructions(sessions: &[PathSession], whole: Whole<'_>) -> Instructions {
    let clocks = Clocks::of(whole.record);
    let counts = whole.record.plan.clock == Clock::Exact && clocks.cpu == clocks.counter;
    let (mut path, mut overhead) = (Histogram::default(), Histogram::default());
    for session in sessions {
        path.merge(&session.histogram);
        overhead.merge(&session.overhead_histogram);
    }
    let (Some(least), Some(most)) = (path.least(), path.most()) else { return Instructions::NotCounted };
    let (Some(own_least), Some(own_most)) = (overhead.least(), overhead.most()) else {
        return Instructions::NotCounted;
    };
    let range = (least.saturating_sub(own_most), most.saturating_sub(own_least));
    match range {
        _ if !counts => Instructions::NotCounted,
        (from, to) if from == to => Instructions::Always(from),
        (from, to) => Instructions::Varying(from, to),
    }
}
