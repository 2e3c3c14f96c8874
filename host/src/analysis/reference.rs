//! Whether the reference could be trusted at a GPS time: locked, unlocked, settling or in holdover.
//!
//! A receiver tells of a loss too late, so each loss counts from `guard` seconds before it; and it needs `settle` seconds
//! after lock was regained. A message counts for the second that it names, not for its arrival, but for one that is
//! unlocked and names a second that cannot be: that one counts for the second which the host's clock says. One source
//! that denies a lock outweighs another that claims it, and what has no validity field, as ZDA, never claims one. What a
//! reference says of its own state without naming a second counts for the second at which it arrives; a pulse that is
//! further off than the bench file's limit by its own account is refused whatever else is said.

use std::collections::BTreeMap;

use crate::events::{ReferenceEvent, Stamped, StateMessage, StateSource, TimeSource, Trust};
use crate::units::{GpsSecond, HostNanos, Nanos};

pub(super) mod consistency;

/// More seconds than this between two messages are a loss.
const GAP_S: i64 = 3;
/// Nobody reads more notes.
const MOST_NOTES: usize = 20;

/// What makes a reference good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Seconds after lock was regained for which it is not trusted yet.
    pub settle_s: u32,
    /// Seconds before each loss that are not trusted either.
    pub guard_s: u32,
    /// Largest distance of its pulse from the satellites' time, in nanoseconds.
    pub max_offset_ns: u32,
}

/// What the reference was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReferenceState {
    /// Locked to the satellites, and settled.
    Locked,
    /// Runs on its own oscillator, by its own account.
    Holdover,
    /// Locked again, but not for long enough.
    Settling,
    /// Not to be trusted.
    Unlocked,
}

impl ReferenceState {
    /// As reports name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Holdover => "holdover",
            Self::Settling => "settling",
            Self::Unlocked => "unlocked",
        }
    }
}

/// What the reference was worth from one second up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSpan {
    /// The first second.
    pub from: GpsSecond,
    /// The first second behind it.
    pub to: GpsSecond,
    /// The state.
    pub state: ReferenceState,
    /// Why; empty when it was locked.
    pub reason: String,
}

/// The reference's state over a whole recording.
#[derive(Clone, Debug)]
pub struct ReferenceTimeline {
    /// What begins at a second, until the next one.
    states: BTreeMap<GpsSecond, (ReferenceState, String)>,
}

/// What the messages say of one second.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Locked,
    Holdover,
    /// With the reason.
    Unlocked(String),
}

impl Word {
    /// One that denies the lock outweighs one that claims it.
    const fn weight(&self) -> u8 {
        match self {
            Self::Locked => 0,
            Self::Holdover => 1,
            Self::Unlocked(_) => 2,
        }
    }
}

impl ReferenceTimeline {
    /// From what the reference said, in order of arrival. `covered_until` is the host time of the last thing that needs
    /// the reference, a capture or the end of a window: a reference that had fallen silent by then was lost. That a
    /// recording ends is no loss.
    #[must_use]
    pub fn new(events: &[Stamped<ReferenceEvent>], covered_until: HostNanos, demands: Demands) -> Self {
        let mut words = words(events, demands.max_offset_ns);
        mark_corrections(&mut words, events);
        mark_gaps(&mut words);
        mark_silence(&mut words, events, covered_until);
        let mut timeline = Self { states: BTreeMap::new() };
        let start = match words.first_key_value() {
            None => "no message said that the reference was locked",
            Some(_) => "before the reference's first message",
        };
        timeline.states.insert(GpsSecond(i64::MIN), (ReferenceState::Unlocked, start.to_owned()));
        let losses = losses(&words);
        if let Some((&first, _)) = words.first_key_value() {
            timeline.paint(first, None, ReferenceState::Locked, "");
        }
        for state in [ReferenceState::Holdover, ReferenceState::Settling, ReferenceState::Unlocked] {
            for loss in &losses {
                timeline.paint_loss(loss, state, i64::from(demands.settle_s), i64::from(demands.guard_s));
            }
        }
        timeline
    }

    /// The state at a GPS time, with its reason; the reason is empty when it was locked.
    #[must_use]
    pub fn state(&self, at: Nanos) -> (ReferenceState, &str) {
        let entry = self.states.range(..=at.second()).next_back();
        entry.map_or((ReferenceState::Unlocked, ""), |(_, (state, reason))| (*state, reason))
    }

    /// The states from one second up to another.
    #[must_use]
    pub fn spans(&self, from: GpsSecond, to: GpsSecond) -> Vec<StateSpan> {
        let mut spans: Vec<StateSpan> = Vec::new();
        let begun = self.states.range(..=from).next_back().map(|(_, entry)| (from, entry));
        let later = self.states.range(from.plus(1)..).map(|(second, entry)| (*second, entry));
        for (second, (state, reason)) in begun.into_iter().chain(later).take_while(|(second, _)| *second < to)
        {
            if let Some(before) = spans.last_mut() {
                before.to = second;
            }
            spans.push(StateSpan { from: second, to, state: *state, reason: reason.clone() });
        }
        spans
    }

    /// The state from one second on, up to another or for ever, whatever it was.
    fn paint(&mut self, from: GpsSecond, to: Option<GpsSecond>, state: ReferenceState, reason: &str) {
        if let Some(to) = to {
            if to <= from {
                return;
            }
            let behind = self.states.range(..=to).next_back().map(|(_, entry)| entry.clone());
            let painted: Vec<_> = self.states.range(from..to).map(|(&second, _)| second).collect();
            painted.iter().for_each(|second| drop(self.states.remove(second)));
            behind.into_iter().for_each(|entry| drop(self.states.insert(to, entry)));
        } else {
            self.states.split_off(&from);
        }
        self.states.insert(from, (state, reason.to_owned()));
    }

    /// Paints what of a loss has this state. The states are painted in turn, so that the graver one wins.
    fn paint_loss(&mut self, loss: &Loss, state: ReferenceState, settle: i64, guard: i64) {
        if state == ReferenceState::Settling {
            if let Some(regained) = loss.regained {
                let reason = format!("less than {settle} s after lock was regained");
                self.paint(regained, Some(regained.plus(settle)), state, &reason);
            }
            return;
        }
        for (index, part) in loss.parts.iter().enumerate() {
            if part.state != state {
                continue;
            }
            if index == 0 && loss.had_lock {
                let reason = format!("less than {guard} s before a loss: {}", part.reason);
                self.paint(part.from.plus(-guard), Some(part.from), state, &reason);
            }
            let to = loss.parts.get(index + 1).map(|next| next.from).or(loss.regained);
            self.paint(part.from, to, state, &part.reason);
        }
    }
}

/// One stretch without lock.
#[derive(Debug)]
struct Loss {
    parts: Vec<Part>,
    /// The first second with lock again.
    regained: Option<GpsSecond>,
    /// Whether there was a lock before.
    had_lock: bool,
}

#[derive(Debug)]
struct Part {
    from: GpsSecond,
    state: ReferenceState,
    reason: String,
}

fn losses(words: &BTreeMap<GpsSecond, Word>) -> Vec<Loss> {
    let mut losses: Vec<Loss> = Vec::new();
    let mut open: Option<Loss> = None;
    let mut had_lock = false;
    for (&second, word) in words {
        let (state, reason) = match word {
            Word::Locked => {
                if let Some(mut loss) = open.take() {
                    loss.regained = Some(second);
                    losses.push(loss);
                }
                had_lock = true;
                continue;
            }
            Word::Holdover => (ReferenceState::Holdover, "the receiver runs on its own oscillator"),
            Word::Unlocked(reason) => (ReferenceState::Unlocked, reason.as_str()),
        };
        let loss = open.get_or_insert_with(|| Loss { parts: Vec::new(), regained: None, had_lock });
        if loss.parts.last().is_none_or(|part| (part.state, part.reason.as_str()) != (state, reason)) {
            loss.parts.push(Part { from: second, state, reason: reason.to_owned() });
        }
    }
    losses.extend(open);
    losses
}

/// What is said of each second.
fn words(events: &[Stamped<ReferenceEvent>], max_offset_ns: u32) -> BTreeMap<GpsSecond, Word> {
    let mut words: BTreeMap<GpsSecond, Word> = BTreeMap::new();
    let mut say = |second, word: Word| {
        let known = words.entry(second).or_insert(Word::Locked);
        if word.weight() > known.weight() {
            *known = word;
        }
    };
    let clock = consistency::HostClock::new(events);
    let mut wrong_epoch: BTreeMap<TimeSource, &str> = BTreeMap::new();
    for Stamped { at, event } in events {
        match event {
            ReferenceEvent::Time(message) if wrong_epoch.contains_key(&message.source) => {
                let second = clock.second(None, *at).unwrap_or(message.second);
                say(second, Word::Unlocked(wrong_epoch[&message.source].to_owned()));
            }
            ReferenceEvent::Time(message) => match message.trust {
                Trust::Locked => say(message.second, Word::Locked),
                Trust::Holdover => say(message.second, Word::Holdover),
                Trust::Unlocked => {
                    let reason = format!("{} says that it is not locked", message.source.name());
                    say(clock.plausible(message.source, *at, message.second), Word::Unlocked(reason));
                }
                Trust::NotStated => {}
            },
            ReferenceEvent::Void { source } => {
                let reason = format!("{} says that the receiver knows no time", source.name());
                clock
                    .second(Some(*source), *at)
                    .into_iter()
                    .for_each(|second| say(second, Word::Unlocked(reason.clone())));
            }
            ReferenceEvent::State(state) => {
                if let (Some(second), Some(word)) = (clock.past(*at), state_word(state, max_offset_ns)) {
                    say(second, word);
                }
            }
            ReferenceEvent::WrongEpoch(wrong) if !wrong.corrected => {
                wrong_epoch.insert(wrong.source, &wrong.words);
            }
            ReferenceEvent::WrongEpoch(_) | ReferenceEvent::Leap(_) | ReferenceEvent::Refused { .. } => {}
        }
    }
    for (second, reason) in consistency::contradictions(events) {
        say(second, Word::Unlocked(reason));
    }
    words
}

/// What a reference's own account comes to; none if it neither claims nor denies a lock.
fn state_word(state: &StateMessage, max_offset_ns: u32) -> Option<Word> {
    let name = state.source.name();
    let limit_ps = u64::from(max_offset_ns) * 1000;
    if let Some(offset) = state.offset_ps.filter(|offset| offset.unsigned_abs() > limit_ps) {
        let ns = offset as f64 / 1000.0;
        return Some(Word::Unlocked(format!(
            "by {name} its pulse is off by {ns:.1} ns or up to that, more than max-offset-ns = {max_offset_ns}"
        )));
    }
    match state.trust {
        Trust::Locked => Some(Word::Locked),
        Trust::Holdover => Some(Word::Holdover),
        Trust::Unlocked => Some(Word::Unlocked(format!("{name}: {}", state.words))),
        Trust::NotStated => None,
    }
}

/// What was named before the UTC offset was corrected was wrong, all of it.
fn mark_corrections(words: &mut BTreeMap<GpsSecond, Word>, events: &[Stamped<ReferenceEvent>]) {
    for step in consistency::lasting_steps(events) {
        let before: Vec<_> = words.range(..=step.expected).map(|(&second, _)| second).collect();
        before.into_iter().for_each(|second| drop(words.insert(second, Word::Unlocked(step.reason.clone()))));
    }
}

/// What is worth saying of the reference beside the ledger: leap seconds, dates, antennas; each once.
#[must_use]
pub fn notes(events: &[Stamped<ReferenceEvent>]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut say = |note: String| {
        if notes.len() < MOST_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    };
    let mut differences: BTreeMap<&str, i16> = BTreeMap::new();
    for event in events {
        match &event.event {
            ReferenceEvent::State(state)
                if state.trust == Trust::NotStated
                    && state.source != StateSource::UbxTimeAccuracy
                    && !state.words.is_empty() =>
            {
                say(format!("{}: {}", state.source.name(), state.words));
            }
            ReferenceEvent::WrongEpoch(wrong) => say(wrong.words.clone()),
            ReferenceEvent::Leap(leap) => {
                let place = leap.at.map_or(String::new(), |at| format!(", GPS second {}", at.0));
                match leap.change {
                    Some(change) if change > 0 => {
                        say(format!("{}: a leap second is inserted{place}", leap.source))
                    }
                    Some(change) if change < 0 => {
                        say(format!("{}: a second is left out{place}", leap.source))
                    }
                    _ => {}
                }
                if let Some(now) = leap.gps_minus_utc
                    && let Some(before) = differences.insert(leap.source, now).filter(|before| *before != now)
                {
                    say(format!("{}: GPST - UTC changed from {before} to {now} s", leap.source));
                }
            }
            _ => {}
        }
    }
    consistency::lasting_steps(events).into_iter().for_each(|step| say(step.reason));
    notes
}

/// Where messages are missing for longer than a hiccup, the lock is lost from the last one on.
fn mark_gaps(words: &mut BTreeMap<GpsSecond, Word>) {
    let seconds: Vec<_> = words.keys().copied().collect();
    for pair in seconds.windows(2) {
        let silent = pair[1].0.saturating_sub(pair[0].0);
        if silent > GAP_S {
            deny(words, pair[0], format!("no message for {silent} s"));
        }
    }
}

/// The reference fell silent while it was still needed.
fn mark_silence(
    words: &mut BTreeMap<GpsSecond, Word>,
    events: &[Stamped<ReferenceEvent>],
    covered_until: HostNanos,
) {
    let vouching = |event: &&Stamped<ReferenceEvent>| match &event.event {
        ReferenceEvent::Time(message) => message.trust != Trust::NotStated,
        ReferenceEvent::State(state) => state.trust != Trust::NotStated,
        ReferenceEvent::Void { .. } => true,
        ReferenceEvent::Leap(_) | ReferenceEvent::WrongEpoch(_) | ReferenceEvent::Refused { .. } => false,
    };
    let last = events.iter().rev().find(vouching);
    if let (Some(last), Some((&second, _))) = (last, words.last_key_value())
        && covered_until.seconds_since(last.at) > GAP_S as f64
    {
        deny(words, second, "no message from here on".to_owned());
    }
}

fn deny(words: &mut BTreeMap<GpsSecond, Word>, second: GpsSecond, reason: String) {
    let word = words.entry(second).or_insert(Word::Locked);
    if !matches!(word, Word::Unlocked(_)) {
        *word = Word::Unlocked(reason);
    }
}

#[cfg(test)]
mod tests;
