//! Whether the reference could be trusted at a GPS time: locked, unlocked, settling or in holdover.
//!
//! A receiver tells of a loss too late, so each loss counts from `guard` seconds before it; and it needs `settle` seconds
//! after lock was regained. A message counts for the second that it names, not for its arrival, but for one that is
//! unlocked and names a second that cannot be: that one counts for the second which the host's clock says. One source
//! that denies a lock outweighs another that claims it, and ZDA, which has no validity field, never claims one.

use std::collections::BTreeMap;

use crate::events::{ReferenceEvent, Stamped, Trust};
use crate::units::{GpsSecond, HostNanos, Nanos};

mod consistency;

/// More seconds than this between two messages are a loss.
const GAP_S: i64 = 3;

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
    pub fn new(
        events: &[Stamped<ReferenceEvent>],
        covered_until: HostNanos,
        settle_s: u32,
        guard_s: u32,
    ) -> Self {
        let mut words = words(events);
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
                timeline.paint_loss(loss, state, i64::from(settle_s), i64::from(guard_s));
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
fn words(events: &[Stamped<ReferenceEvent>]) -> BTreeMap<GpsSecond, Word> {
    let mut words: BTreeMap<GpsSecond, Word> = BTreeMap::new();
    let mut say = |second, word: Word| {
        let known = words.entry(second).or_insert(Word::Locked);
        if word.weight() > known.weight() {
            *known = word;
        }
    };
    let clock = consistency::HostClock::new(events);
    for Stamped { at, event } in events {
        match event {
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
                    .second(*source, *at)
                    .into_iter()
                    .for_each(|second| say(second, Word::Unlocked(reason.clone())));
            }
            ReferenceEvent::Refused { .. } => {}
        }
    }
    for (second, reason) in consistency::contradictions(events) {
        say(second, Word::Unlocked(reason));
    }
    words
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
        ReferenceEvent::Void { .. } => true,
        ReferenceEvent::Refused { .. } => false,
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
