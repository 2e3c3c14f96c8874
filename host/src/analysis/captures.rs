//! What the board captured in a window, and what became of the records that did not arrive.
//!
//! The board numbers its captures from 0 and counts them itself, so a missing number is a record that was lost, and
//! the frames around the gap tell how: damaged bytes and missing frame numbers mean that it was torn on the link;
//! without them the board dropped it, or a whole frame vanished.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use ppsrig_wire::{Capture, CaptureCounters, CaptureTotals, FromBoard, Heartbeat};

use super::class::Class;
use super::window::Window;
use crate::events::absence::{Absence, absences_of};
use crate::events::{BoardEvent, PortOwner, Recording, Stamped};
use crate::plan::MOST_EDGES;
use crate::units::HostNanos;

/// More missing records than this in a window is another board's numbering, or a damaged recording.
const MOST_MISSING: u32 = MOST_EDGES;

/// One capture as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When its record arrived.
    pub arrival: HostNanos,
    /// What the board sent.
    pub capture: Capture,
}

impl Captured {
    /// Whether it was polled.
    #[must_use]
    pub const fn is_poll(&self) -> bool {
        matches!(self.capture.counters, CaptureCounters::Poll { .. })
    }
}

/// A capture whose record did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRecord {
    /// Its capture number.
    pub number: u32,
    /// Torn or dropped.
    pub class: Class,
    /// Why.
    pub reason: Cow<'static, str>,
}

/// Everything that the board said about one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowCaptures {
    /// The captures that arrived, by number.
    pub arrived: Vec<Captured>,
    /// Those that did not, by number.
    pub missing: Vec<MissingRecord>,
    /// Heartbeats in order of arrival.
    pub heartbeats: Vec<(HostNanos, Heartbeat)>,
    /// When anything at all arrived in the window.
    pub signs_of_life: Vec<HostNanos>,
    /// The board's totals, if they arrived.
    pub totals: Option<CaptureTotals>,
    /// Captures by the board's own count, or as far as it was heard.
    pub count: u64,
    /// Contradictions, as sentences.
    pub problems: Vec<String>,
}

/// What was seen on the link since the last record of a window.
#[derive(Debug, Default)]
struct Gap {
    damaged: Option<&'static str>,
    frames: u64,
    /// That the link's port was away in between.
    away: Option<String>,
}

/// Collects what the board said about each window of `windows`, in the same order.
#[must_use]
pub fn captures(recording: &Recording, windows: &[Window]) -> (Vec<WindowCaptures>, Vec<String>) {
    let mut collector = Collector::new(windows);
    collector.absences = absences_of(recording, PortOwner::Link).collect();
    for event in &recording.board {
        collector.take(event);
    }
    collector.finish()
}

struct Collector<'a> {
    windows: &'a [Window],
    by_number: BTreeMap<u32, usize>,
    found: Vec<WindowCaptures>,
    current: Option<usize>,
    next: Vec<u32>,
    gap: Gap,
    sequence: Option<u16>,
    strangers: BTreeMap<u32, u64>,
    /// Those of the link that have not been met yet.
    absences: VecDeque<Absence>,
}

impl<'a> Collector<'a> {
    fn new(windows: &'a [Window]) -> Self {
        Self {
            windows,
            by_number: windows.iter().enumerate().map(|(index, window)| (window.number, index)).collect(),
            found: vec![WindowCaptures::default(); windows.len()],
            current: None,
            next: vec![0; windows.len()],
            gap: Gap::default(),
            sequence: None,
            strangers: BTreeMap::new(),
            absences: VecDeque::new(),
        }
    }

    fn take(&mut self, Stamped { at, event }: &Stamped<BoardEvent>) {
        let current = self.windows.iter().rposition(|window| window.opened <= *at);
        if current != self.current {
            // What was lost before a window was opened is none of its captures.
            self.current = current;
            self.gap = Gap::default();
        }
        if let Some(window) = current {
            self.found[window].signs_of_life.push(*at);
        }
        while self.absences.front().is_some_and(|absence| absence.from <= *at) {
            self.gap.away = self.absences.pop_front().map(|absence| absence.sentence());
        }
        match event {
            BoardEvent::Damaged { reason, .. } => self.gap.damaged = Some(*reason),
            BoardEvent::Frame { sequence, message } => {
                if let Some(last) = self.sequence.replace(*sequence) {
                    self.gap.frames += u64::from(sequence.wrapping_sub(last).wrapping_sub(1));
                }
                self.take_message(*at, message);
            }
        }
    }

    fn take_message(&mut self, at: HostNanos, message: &FromBoard) {
        let (number, captured) = match message {
            FromBoard::Capture(capture) => (capture.window, Some(capture)),
            FromBoard::Heartbeat(heartbeat) => (heartbeat.window, None),
            FromBoard::Totals(totals) => (totals.window, None),
            FromBoard::Identity(_) | FromBoard::Ack { .. } => return,
            FromBoard::TickCounts(_)
            | FromBoard::PhaseCounts(_)
            | FromBoard::Pairs(_)
            | FromBoard::PathDone(_)
            | FromBoard::CtimeDone(_)
            | FromBoard::JumpsDone(_) => return, // No part of a capture window.
        };
        let known = self.by_number.get(&number).copied();
        // A board that is still in a window of an earlier run tells nothing about this one.
        if known
            .map_or(self.windows.first(), |window| self.windows.get(window))
            .is_none_or(|of| at < of.begins)
        {
            return;
        }
        let Some(window) = known else {
            *self.strangers.entry(number).or_default() += u64::from(captured.is_some());
            return;
        };
        match message {
            FromBoard::Capture(capture) => {
                self.take_capture(window, Captured { arrival: at, capture: *capture })
            }
            FromBoard::Heartbeat(heartbeat) => self.found[window].heartbeats.push((at, *heartbeat)),
            FromBoard::Totals(totals) => self.take_totals(window, *totals),
            _ => {}
        }
    }

    fn take_capture(&mut self, window: usize, captured: Captured) {
        let (number, next) = (captured.capture.number, self.next[window]);
        let found = &mut self.found[window];
        if number < next {
            // The first one tells it all.
            if found.problems.is_empty() {
                found.problems.push(format!(
                    "window {}: capture {number} arrived after capture {}; the board started its count again",
                    captured.capture.window,
                    next.saturating_sub(1)
                ));
            }
            return;
        }
        self.fill(window, number);
        self.found[window].arrived.push(captured);
        self.next[window] = number.saturating_add(1);
    }

    fn take_totals(&mut self, window: usize, totals: CaptureTotals) {
        // Totals are answered again when the command was repeated; the last word counts, the sums must agree.
        if let Some(before) = self.found[window].totals
            && (before.captured, before.dropped) != (totals.captured, totals.dropped)
        {
            self.found[window].problems.push(format!(
                "window {}: the board counted {} captures, then {}",
                totals.window, before.captured, totals.captured
            ));
        }
        self.fill(window, totals.captured);
        self.next[window] = self.next[window].max(totals.captured);
        self.found[window].totals = Some(totals);
    }

    /// Every number from the last record up to `end` is missing: says how each was lost.
    fn fill(&mut self, window: usize, end: u32) {
        let gap = std::mem::take(&mut self.gap);
        let first = self.next[window];
        let missing = end.saturating_sub(first);
        let found = &mut self.found[window];
        if missing as usize + found.missing.len() > MOST_MISSING as usize {
            // The first one tells it all.
            if found.problems.is_empty() {
                found.problems.push(format!(
                    "window {}: {missing} records are missing before capture {end}; this is no gap of one recording",
                    self.windows[window].number
                ));
            }
            return;
        }
        found.missing.extend((first..end).zip(0u64..).map(|(number, index)| {
            let (class, reason) = fate(&gap, index);
            MissingRecord { number, class, reason }
        }));
    }

    fn finish(mut self) -> (Vec<WindowCaptures>, Vec<String>) {
        for window in 0..self.found.len() {
            self.close(window);
        }
        let strangers =
            self.strangers.iter().filter(|(_, captures)| **captures > 0).map(|(window, captures)| {
                format!("the board sent {captures} captures of window {window}, which the rig never opened")
            });
        let strangers = strangers.collect();
        (self.found, strangers)
    }

    /// Settles the count of one window: by its totals, else by the last heartbeat that was heard.
    fn close(&mut self, window: usize) {
        let heard = self.found[window].heartbeats.iter().map(|(_, heartbeat)| heartbeat.captured).max();
        let heard = heard.unwrap_or(0);
        if self.found[window].totals.is_none() && heard > self.next[window] {
            self.gap = Gap { damaged: Some(CUT), frames: u64::from(u32::MAX), away: None };
            self.fill(window, heard);
            self.next[window] = heard;
        }
        let number = self.windows[window].number;
        let found = &mut self.found[window];
        found.count = u64::from(self.next[window]);
        let Some(totals) = found.totals else {
            return;
        };
        found.count = u64::from(totals.captured);
        let gone = found.missing.len() as u64;
        if u64::from(totals.dropped) > gone {
            found.problems.push(format!(
                "window {number}: the board counted {} dropped records, but only {gone} are missing",
                totals.dropped
            ));
        }
        if heard > totals.captured {
            found.problems.push(format!(
                "window {number}: a heartbeat counted {heard} captures, the totals {}",
                totals.captured
            ));
        }
    }
}

const CUT: &str = "the recording ended before its record arrived";

/// What became of the missing record at `index` in its gap: as many were torn as frames are missing beside damage.
fn fate(gap: &Gap, index: u64) -> (Class, Cow<'static, str>) {
    match gap.damaged {
        Some(CUT) => (Class::Dropped, Cow::Borrowed(CUT)),
        // Only the frame that was under way when the port vanished, or when it came back, can have arrived in part.
        reason if gap.away.is_some() && (reason.is_none() || index > 0) => {
            let away = gap.away.clone().unwrap_or_default();
            (Class::Dropped, Cow::Owned(format!("its frame never arrived: {away}")))
        }
        Some(reason) if index < gap.frames.max(1) => {
            (Class::Torn, Cow::Owned(format!("its record arrived damaged: {reason}")))
        }
        _ if index < gap.frames => {
            (Class::Dropped, Cow::Borrowed("its frame never arrived, by the frames' own numbers"))
        }
        _ => (Class::Dropped, Cow::Borrowed("the board had no room for its record")),
    }
}
