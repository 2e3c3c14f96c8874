//! The measuring windows of `path` with what the board counted in them, and what of that is missing.
//!
//! A window is whole when every pair that the board says it took is in one of its histograms, and once in the phase
//! histogram. One that is not whole gives no figure.

use std::collections::BTreeMap;

use ppsrig_wire::{ClockId, FromBoard, Pair, PathDone};

use super::histogram::Histogram;
use crate::events::{BoardEvent, Recording, RigEvent, Stamped};
use crate::names::{self, PathPart, PathVariant};
use crate::units::HostNanos;

/// One measuring window.
#[derive(Clone, Debug, PartialEq)]
pub struct PathWindow {
    /// Its number.
    pub number: u32,
    /// Counts the variant's sessions from 1.
    pub session: u32,
    /// The build that was measured.
    pub variant: PathVariant,
    /// The clock that was asked for.
    pub clock_id: ClockId,
    /// What of the session it is.
    pub part: PathPart,
    /// Known delay in the path, in CPU cycles.
    pub added_delay: u32,
    /// Pairs that were asked for.
    pub iterations: u32,
    /// Whether a random delay came before each pair.
    pub dither: bool,
    /// Steps that it is uniform over.
    pub dither_steps: u32,
    /// The session's seed.
    pub seed: u64,
    /// When the board was told.
    pub started: HostNanos,
    /// When the board's end of it arrived.
    pub ended: Option<HostNanos>,
    /// Differences by batch, in ticks.
    pub batches: Vec<Histogram>,
    /// Pairs by phase: PMCCNTR modulo the clocks' ratio.
    pub phases: Vec<u64>,
    /// Every pair by number, if they were sent.
    pub pairs: BTreeMap<u32, Pair>,
    /// The board's end.
    pub done: Option<PathDone>,
    /// What does not fit together, as sentences.
    pub problems: Vec<String>,
}

impl PathWindow {
    /// All batches together.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        Histogram::of_all(&self.batches)
    }

    /// Whether everything arrived and fits together.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.done.is_some() && self.problems.is_empty()
    }

    /// What it is, for sentences.
    #[must_use]
    pub fn title(&self) -> String {
        let rung = match self.part {
            PathPart::Ladder => format!(" of {} cycles", self.added_delay),
            PathPart::Overhead | PathPart::Path => String::new(),
        };
        format!("{}, {}{rung}", self.session_title(), self.part)
    }

    /// The session that it belongs to, for sentences.
    #[must_use]
    pub fn session_title(&self) -> String {
        format!("{} {}, session {}", self.variant, names::of_clock(self.clock_id), self.session)
    }

    fn take(&mut self, at: HostNanos, message: &FromBoard, bins: usize) {
        match message {
            FromBoard::TickCounts(piece) => match self.batches.get_mut(usize::from(piece.batch)) {
                Some(batch) => {
                    piece.entries.iter().for_each(|entry| batch.add(entry.ticks, entry.count.into()));
                }
                None => self.problems.push(format!("the board counted in batch {}", piece.batch)),
            },
            FromBoard::PhaseCounts(piece) => {
                self.phases.resize(bins, 0);
                for (count, bin) in piece.counts.iter().zip(u64::from(piece.first)..) {
                    match usize::try_from(bin).ok().and_then(|bin| self.phases.get_mut(bin)) {
                        Some(phase) => *phase += u64::from(*count),
                        None => self.problems.push(format!("the board counted in phase {bin} of {bins}")),
                    }
                }
            }
            FromBoard::Pairs(piece) => {
                self.pairs.extend((piece.first..=u32::MAX).zip(piece.pairs.iter().copied()));
            }
            FromBoard::PathDone(done) if self.done.is_none() => {
                self.done = Some(*done);
                self.ended = Some(at);
            }
            _ => {}
        }
    }

    /// Holds the histograms against the board's own count.
    fn check(&mut self, raw_pairs: bool) {
        // A corrupted recording has one of them a message; the first ones say it all.
        self.problems.truncate(3);
        let Some(done) = self.done else { return };
        let (taken, counted) = (u64::from(done.iterations), self.histogram().total());
        if done.iterations != self.iterations {
            let problem = format!("the board took {} pairs of {}", done.iterations, self.iterations);
            self.problems.push(problem);
        }
        if counted + u64::from(done.overflow) != taken {
            let overflow = match done.overflow {
                0 => String::new(),
                pairs => format!(" and {pairs} too long for them"),
            };
            let problem = format!("{counted} pairs arrived in the batches{overflow}, of {taken} taken");
            self.problems.push(problem);
        }
        let phases: u64 = self.phases.iter().sum();
        if phases != taken {
            self.problems.push(format!("{phases} of {taken} phases arrived"));
        }
        if done.invalid > 0 {
            let problem = format!("the snapshot was not valid in {} pairs of {taken}", done.invalid);
            self.problems.push(problem);
        }
        self.check_batches(done);
        if raw_pairs && self.part == PathPart::Path {
            self.check_pairs(done);
        }
    }

    /// Sizes differ by at most one.
    fn check_batches(&mut self, done: PathDone) {
        let count = self.batches.len().max(1) as u64;
        let least = u64::from(done.iterations) / count;
        let fits = |batch: &Histogram| (least..=least + 1).contains(&batch.total());
        if done.overflow == 0 && !self.batches.iter().all(fits) && self.problems.is_empty() {
            self.problems.push("the batches are not equal parts".to_owned());
        }
    }

    fn check_pairs(&mut self, done: PathDone) {
        if self.pairs.len() != done.iterations as usize {
            let problem = format!("{} of {} raw pairs arrived", self.pairs.len(), done.iterations);
            self.problems.push(problem);
            return;
        }
        let mut deltas = Histogram::default();
        self.pairs.values().for_each(|pair| deltas.add(pair.delta, 1));
        if done.overflow == 0 && deltas != self.histogram() {
            self.problems.push("the raw pairs and the histograms do not agree".to_owned());
        }
    }
}

/// The counter at a pair's read inside the snapshot function. It has 64 bits, and goes on at zero.
#[must_use]
pub fn counter_snapshot(pair: &Pair) -> u64 {
    pair.pre.wrapping_add(pair.delta.into())
}

/// The windows of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathWindows {
    /// In the order in which the board was told.
    pub list: Vec<PathWindow>,
    /// What concerns no one window, as sentences.
    pub problems: Vec<String>,
}

/// Collects the windows of a recording. `bins` is the number of phases, of which there are none if the clocks' ratio
/// cannot be used.
#[must_use]
pub fn windows(recording: &Recording, bins: usize, raw_pairs: bool) -> PathWindows {
    let mut windows = PathWindows::default();
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for event in &recording.rig {
        if let Some(window) = started(event) {
            let number = window.number;
            if places.insert(number, windows.list.len()).is_some() {
                windows.problems.push(format!("the rig started window {number} twice"));
            }
            windows.list.push(window);
        }
    }
    let mut strangers = 0_u64;
    for event in &recording.board {
        let BoardEvent::Frame { message, .. } = &event.event else { continue };
        let Some(number) = window_of(message) else { continue };
        match places.get(&number) {
            Some(&place) => windows.list[place].take(event.at, message, bins),
            None => strangers += 1,
        }
    }
    if strangers > 0 {
        windows.problems.push(format!("{strangers} messages of windows that the rig never started"));
    }
    windows.list.iter_mut().for_each(|window| window.check(raw_pairs));
    windows
}

const fn window_of(message: &FromBoard) -> Option<u32> {
    match message {
        FromBoard::TickCounts(piece) => Some(piece.window),
        FromBoard::PhaseCounts(piece) => Some(piece.window),
        FromBoard::Pairs(piece) => Some(piece.window),
        FromBoard::PathDone(done) => Some(done.window),
        _ => None,
    }
}

fn started(event: &Stamped<RigEvent>) -> Option<PathWindow> {
    let RigEvent::PathStarted {
        window,
        session,
        variant,
        clock_id,
        what,
        added_delay,
        iterations,
        batches,
        dither,
        dither_steps,
        seed,
    } = event.event
    else {
        return None;
    };
    Some(PathWindow {
        number: window,
        session,
        variant,
        clock_id,
        part: what,
        added_delay,
        iterations,
        dither,
        dither_steps,
        seed,
        started: event.at,
        ended: None,
        batches: vec![Histogram::default(); usize::from(batches)],
        phases: Vec::new(),
        pairs: BTreeMap::new(),
        done: None,
        problems: Vec::new(),
    })
}
