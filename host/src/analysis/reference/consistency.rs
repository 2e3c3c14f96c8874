//! Whether the seconds that a reference names fit one another and the host's clock.
//!
//! A message may arrive late, by a busy host or a long sentence before it, but never early; and messages that were held
//! up arrive together. So a second that comes earlier than the messages before it allow, and one that is named again,
//! are wrong, while a delay proves nothing.

use crate::events::{ReferenceEvent, Stamped, TimeMessage, TimeSource, Trust};
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
        let offsets =
            trusted(events).map(|(at, message)| (message.source, at, offset(at, message))).collect();
        Self { offsets }
    }

    /// The second that a message of this source names if it arrives now; none if no message was ever trusted.
    pub(super) fn second(&self, source: TimeSource, at: HostNanos) -> Option<GpsSecond> {
        let before = self.offsets.partition_point(|&(_, known, _)| known <= at);
        let (earlier, later) = self.offsets.split_at(before);
        let own = |&&(of, _, _): &&(TimeSource, HostNanos, i128)| of == source;
        let nearest = earlier.iter().rev().find(own).or_else(|| later.iter().find(own));
        // Another kind of message is off by a second at most, which the guard covers.
        let nearest = nearest.or_else(|| earlier.last()).or_else(|| later.first());
        let &(_, _, offset) = nearest?;
        let second = (i128::from(at.0) - offset + HALF).div_euclid(SECOND);
        i64::try_from(second).ok().map(GpsSecond)
    }

    /// The second that an untrusted message names, unless it cannot be.
    pub(super) fn plausible(&self, source: TimeSource, at: HostNanos, named: GpsSecond) -> GpsSecond {
        match self.second(source, at) {
            Some(expected) if expected.0.abs_diff(named.0) > 1 => expected,
            _ => named,
        }
    }
}

/// The seconds at which the messages contradict each other or the host's clock, with the reason.
pub(super) fn contradictions(events: &[Stamped<ReferenceEvent>]) -> Vec<(GpsSecond, String)> {
    let mut found = Vec::new();
    let [rmc, zda, tim_tp] = [TimeSource::NmeaRmc, TimeSource::NmeaZda, TimeSource::UbxTimTp].map(|source| {
        let own = stated(events).filter(|(_, message)| message.source == source);
        own.collect::<Vec<_>>()
    });
    // ZDA never says whether it is valid, so it is judged beside RMC only.
    found.extend(steps(&rmc));
    found.extend(steps(&tim_tp));
    found.extend(apart(&rmc, &zda));
    found
}

type Message<'e> = (HostNanos, &'e TimeMessage);

fn stated(events: &[Stamped<ReferenceEvent>]) -> impl Iterator<Item = Message<'_>> {
    events.iter().filter_map(|event| match &event.event {
        ReferenceEvent::Time(message) if message.trust != Trust::Unlocked => Some((event.at, message)),
        _ => None,
    })
}

fn trusted(events: &[Stamped<ReferenceEvent>]) -> impl Iterator<Item = Message<'_>> {
    stated(events).filter(|(_, message)| message.trust != Trust::NotStated)
}

fn offset(at: HostNanos, message: &TimeMessage) -> i128 {
    i128::from(at.0) - i128::from(message.second.0) * SECOND
}

/// Steps in the seconds that one source names.
fn steps(messages: &[Message<'_>]) -> Vec<(GpsSecond, String)> {
    let mut found = Vec::new();
    // Offsets of messages that were on time, since the last step.
    let mut on_time: Vec<i128> = Vec::new();
    for (index, &(at, message)) in messages.iter().enumerate() {
        let name = message.source.name();
        if let Some((_, before)) = index.checked_sub(1).map(|before| messages[before])
            && message.second <= before.second
        {
            let reason = format!("{name} named second {} after {}", message.second.0, before.second.0);
            found.push((before.second.plus(1), reason));
            on_time.clear();
        }
        let held_up =
            messages.get(index + 1).is_some_and(|&(next, _)| i128::from(next.0) - i128::from(at.0) < HALF);
        if held_up {
            continue;
        }
        let offset = offset(at, message);
        let recent = &on_time[on_time.len().saturating_sub(LOOK_BACK)..];
        if let Some(earliest) = recent.iter().min().filter(|&&earliest| offset < earliest - HALF) {
            let expected = i64::try_from((i128::from(at.0) - earliest + HALF).div_euclid(SECOND));
            let expected = expected.map_or(message.second, GpsSecond);
            let reason = format!("{name} named second {} when it was {}", message.second.0, expected.0);
            found.push((expected, reason));
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
