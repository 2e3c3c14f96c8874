//! Whether the seconds that a reference names fit one another and the host's clock.
//!
//! A message may arrive late, by a busy host or a long sentence before it, but never early; and messages that were held
//! up arrive together. So a second that comes earlier than the messages before it allow, and one that is named again,
//! are wrong, while a delay proves nothing.

use std::collections::BTreeSet;

use crate::events::{ReferenceEvent, Stamped, TimeMessage, TimeScale, TimeSource, Trust};
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

const SECOND: i128 = NS_PER_S as i128;
/// As many messages before one are compared with it.
const LOOK_BACK: usize = 5;
/// Half a second: no label may move by more, and a message that is followed so soon was held up.
const HALF: i128 = SECOND / 2;
/// Both kinds of sentence follow their pulse by less than a second, so their lags differ by less than that too.
const SENTENCES_APART: i128 = 9 * SECOND / 10;

/// Where a second that is named cannot be, the host's clock tells which it is.
#[derive(Debug)]
pub(super) struct HostClock {
    /// Arrival of a trusted message minus the second that it named, in nanoseconds, by source.
    offsets: Vec<(TimeSource, HostNanos, i128)>,
}

impl HostClock {
    pub(super) fn new(events: &[Stamped<ReferenceEvent>]) -> Self {
        let of = |(at, message): Message<'_>| (message.source, at, offset(at, message));
        let mut offsets: Vec<_> = trusted(events).map(of).collect();
        if offsets.is_empty() {
            // A receiver that vouches in other messages than those that name seconds.
            offsets = stated(events).map(of).collect();
        }
        Self { offsets }
    }

    /// The second that a message of this source names if it arrives now; none if no message was ever trusted. Without a
    /// source: the second of whatever message is nearest, which may be the one beside.
    pub(super) fn second(&self, source: Option<TimeSource>, at: HostNanos) -> Option<GpsSecond> {
        let before = self.offsets.partition_point(|&(_, known, _)| known <= at);
        let (earlier, later) = self.offsets.split_at(before);
        let own = |&&(of, _, _): &&(TimeSource, HostNanos, i128)| Some(of) == source;
        let nearest = earlier.iter().rev().find(own).or_else(|| later.iter().find(own));
        // Another kind of message is off by a second at most, which the guard covers.
        let nearest = nearest.or_else(|| earlier.last()).or_else(|| later.first());
        let &(_, _, offset) = nearest?;
        let second = (i128::from(at.0) - offset + HALF).div_euclid(SECOND);
        i64::try_from(second).ok().map(GpsSecond)
    }

    /// The second that an untrusted message names, unless it cannot be.
    pub(super) fn plausible(&self, source: TimeSource, at: HostNanos, named: GpsSecond) -> GpsSecond {
        match self.second(Some(source), at) {
            Some(expected) if expected.0.abs_diff(named.0) > 1 => expected,
            _ => named,
        }
    }
}

/// The seconds at which the messages contradict each other or the host's clock, with the reason.
pub(super) fn contradictions(events: &[Stamped<ReferenceEvent>]) -> Vec<(GpsSecond, String)> {
    let mut found = Vec::new();
    for source in TimeSource::ALL {
        // ZDA never says whether it is valid, so it is judged beside RMC only.
        if source != TimeSource::NmeaZda {
            let steps = classified(events, source);
            found.extend(steps.iter().map(|step| (step.expected, step.reason.clone())));
            found.extend(beside_leap_seconds(&steps, events));
        }
    }
    let of = |source| of_source(events, source);
    found.extend(apart(&of(TimeSource::NmeaRmc), &of(TimeSource::NmeaZda)));
    found
}

/// A step in the seconds that one source names.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Step {
    /// When the first message behind it arrived.
    pub(in crate::analysis) at: HostNanos,
    /// The second that it ought to have named by the messages before it.
    pub(in crate::analysis) expected: GpsSecond,
    /// How many seconds more it named; 0 for a second that is named twice.
    by: i64,
    kind: StepKind,
    /// What happened, for the ledger.
    pub(in crate::analysis) reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepKind {
    /// It counts where it stands.
    Local,
    /// By one, around a leap second.
    Leap,
    /// From then on: what was named before it was wrong.
    Lasting,
}

/// A longer step of whole seconds is none of UTC's offset.
const CORRECTION_MAX: u64 = 60;
/// A step that another one stands beside so near, in messages, was that of a wrong message.
const LASTS: usize = 5;
/// A lasting step is a whole number of seconds to this.
const WHOLE: i128 = SECOND / 5;
/// A step by one so near to a leap second has to do with it, in seconds.
const LEAP_NEAR_S: i64 = 3600;

/// The steps after which a source that counts UTC went on otherwise than before: its UTC offset was corrected, and what it
/// named before was wrong.
pub(in crate::analysis) fn lasting_steps(events: &[Stamped<ReferenceEvent>]) -> Vec<Step> {
    let of_source = |source| classified(events, source);
    let sources = TimeSource::ALL.into_iter().filter(|source| *source != TimeSource::NmeaZda);
    sources.flat_map(of_source).filter(|step| step.kind == StepKind::Lasting).collect()
}

fn classified(events: &[Stamped<ReferenceEvent>], source: TimeSource) -> Vec<Step> {
    let messages = of_source(events, source);
    let mut found = steps(&messages);
    let leaps = leap_seconds(events);
    for index in 0..found.len() {
        let (position, by, expected) = (found[index].0, found[index].1.by, found[index].1.expected);
        let near = leaps.iter().find(|leap| leap.0.abs_diff(expected.0) <= LEAP_NEAR_S.unsigned_abs());
        if let Some(leap) = near.filter(|_| by.unsigned_abs() == 1) {
            let step = &mut found[index].1;
            step.kind = StepKind::Leap;
            step.reason += &format!(", around the leap second that is GPS second {}", leap.0);
            continue;
        }
        let beside =
            |(other, (at, _)): (usize, &(usize, Step))| other != index && at.abs_diff(position) <= LASTS;
        let alone = !found.iter().enumerate().any(beside);
        let on_utc = messages[position].1.scale == TimeScale::Utc;
        if by != 0 && by.unsigned_abs() <= CORRECTION_MAX && on_utc && alone && lasts(&messages, position, by)
        {
            let step = &mut found[index].1;
            step.kind = StepKind::Lasting;
            step.reason = format!(
                "{} jumped by {by:+} s at GPS second {}, when its UTC offset was corrected: the seconds that it named \
                 before were wrong",
                source.name(),
                messages[position].1.second.0
            );
        }
    }
    found.into_iter().map(|(_, step)| step).collect()
}

/// Whether the messages from a step on keep to it: their earliest offset differs from that of those before by `by` whole
/// seconds.
fn lasts(messages: &[Message<'_>], position: usize, by: i64) -> bool {
    let earliest = |range: &[Message<'_>]| range.iter().map(|&(at, message)| offset(at, message)).min();
    let before = &messages[position.saturating_sub(LOOK_BACK)..position];
    let behind = &messages[position..messages.len().min(position + LOOK_BACK)];
    match (earliest(before), earliest(behind)) {
        (Some(before), Some(after)) if behind.len() > 2 => {
            let source = messages[position].1.source;
            (before - after - i128::from(by) * SECOND).abs() < WHOLE + wander(source)
        }
        _ => false,
    }
}

/// Where a leap second is known to be.
fn leap_seconds(events: &[Stamped<ReferenceEvent>]) -> Vec<GpsSecond> {
    let mut leaps: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.event {
            ReferenceEvent::Leap(leap) => leap.at.filter(|_| leap.change.is_some_and(|change| change != 0)),
            _ => None,
        })
        .collect();
    leaps.sort_unstable();
    leaps.dedup();
    leaps
}

/// The seconds between a step beside a leap second and the step that takes it back, or the end.
fn beside_leap_seconds(steps: &[Step], events: &[Stamped<ReferenceEvent>]) -> Vec<(GpsSecond, String)> {
    let mut found = Vec::new();
    let mut off = 0;
    let mut open: Option<&Step> = None;
    let mut stretch = |from: &Step, to: GpsSecond| {
        let last = to.0.min(from.expected.plus(LEAP_NEAR_S).0);
        found.extend((from.expected.0..=last).map(|second| (GpsSecond(second), from.reason.clone())));
    };
    for step in steps.iter().filter(|step| step.kind == StepKind::Leap) {
        off += step.by.signum();
        match open.take() {
            Some(from) if off == 0 => stretch(from, step.expected),
            from => open = from.or((off != 0).then_some(step)),
        }
    }
    if let Some(from) = open {
        let last = stated(events).map(|(_, message)| message.second).max();
        stretch(from, last.unwrap_or(from.expected));
    }
    found
}

type Message<'e> = (HostNanos, &'e TimeMessage);

fn stated(events: &[Stamped<ReferenceEvent>]) -> impl Iterator<Item = Message<'_>> {
    let mut wrong = BTreeSet::new();
    events.iter().filter_map(move |event| match &event.event {
        ReferenceEvent::WrongEpoch(epoch) if !epoch.corrected => {
            wrong.insert(epoch.source);
            None
        }
        ReferenceEvent::Time(message)
            if message.trust != Trust::Unlocked && !wrong.contains(&message.source) =>
        {
            Some((event.at, message))
        }
        _ => None,
    })
}

fn of_source(events: &[Stamped<ReferenceEvent>], source: TimeSource) -> Vec<Message<'_>> {
    stated(events).filter(|(_, message)| message.source == source).collect()
}

fn trusted(events: &[Stamped<ReferenceEvent>]) -> impl Iterator<Item = Message<'_>> {
    stated(events).filter(|(_, message)| message.trust != Trust::NotStated)
}

fn offset(at: HostNanos, message: &TimeMessage) -> i128 {
    i128::from(at.0) - i128::from(message.second.0) * SECOND
}

/// A time code that is sent when it is asked for stands anywhere in the second before its pulse.
const fn wander(source: TimeSource) -> i128 {
    match source {
        TimeSource::HpTimeCode => SECOND,
        _ => 0,
    }
}

/// Steps in the seconds that one source names, each with the position of the first message behind it.
fn steps(messages: &[Message<'_>]) -> Vec<(usize, Step)> {
    let mut found = Vec::new();
    // Offsets of messages that were on time, since the last step.
    let mut on_time: Vec<i128> = Vec::new();
    for (index, &(at, message)) in messages.iter().enumerate() {
        let name = message.source.name();
        let by_clock = |earliest: i128| {
            let expected = i64::try_from((i128::from(at.0) - earliest + HALF).div_euclid(SECOND));
            expected.map_or(message.second, GpsSecond)
        };
        let mut step = |expected: GpsSecond, by: i64, reason| {
            found.push((index, Step { at, expected, by, kind: StepKind::Local, reason }));
        };
        let recent = on_time[on_time.len().saturating_sub(LOOK_BACK)..].iter().min().copied();
        if let Some((_, before)) = index.checked_sub(1).map(|before| messages[before])
            && message.second <= before.second
        {
            let reason = format!("{name} named second {} after {}", message.second.0, before.second.0);
            let by = recent.map_or(0, |earliest| message.second.0.saturating_sub(by_clock(earliest).0));
            step(before.second.plus(1), by, reason);
            on_time.clear();
        }
        let held_up =
            messages.get(index + 1).is_some_and(|&(next, _)| i128::from(next.0) - i128::from(at.0) < HALF);
        if held_up {
            continue;
        }
        let offset = offset(at, message);
        let recent = &on_time[on_time.len().saturating_sub(LOOK_BACK)..];
        let early = HALF + wander(message.source);
        if let Some(&earliest) = recent.iter().min().filter(|&&earliest| offset < earliest - early) {
            let expected = by_clock(earliest);
            let reason = format!("{name} named second {} when it was {}", message.second.0, expected.0);
            step(expected, message.second.0.saturating_sub(expected.0), reason);
            on_time.clear();
        }
        on_time.push(offset);
    }
    found
}

/// Seconds at which RMC and ZDA name different ones.
fn apart(rmc: &[Message<'_>], zda: &[Message<'_>]) -> Vec<(GpsSecond, String)> {
    let (rmc, zda) = (on_time(rmc), on_time(zda));
    let earliest = |messages: &[(HostNanos, GpsSecond, i128)], at: HostNanos| {
        let before = messages.partition_point(|&(known, _, _)| known <= at);
        messages[before.saturating_sub(LOOK_BACK)..before].iter().map(|&(_, _, offset)| offset).min()
    };
    let differs = |&(at, second, _): &(HostNanos, GpsSecond, i128)| {
        let apart = (earliest(&rmc, at)? - earliest(&zda, at)?).abs();
        (apart > SENTENCES_APART).then(|| (second, "RMC and ZDA name different seconds".to_owned()))
    };
    rmc.iter().chain(&zda).filter_map(differs).collect()
}

/// The messages that were not held up, each with its second and offset.
fn on_time(messages: &[Message<'_>]) -> Vec<(HostNanos, GpsSecond, i128)> {
    let of = |(index, &(at, message)): (usize, &Message<'_>)| {
        (!held_up(messages, index)).then(|| (at, message.second, offset(at, message)))
    };
    messages.iter().enumerate().filter_map(of).collect()
}

/// Whether the next one follows so soon that this one was late.
fn held_up(messages: &[Message<'_>], index: usize) -> bool {
    let next = messages.get(index + 1);
    next.is_some_and(|(next, _)| i128::from(next.0) - i128::from(messages[index].0.0) < HALF)
}
