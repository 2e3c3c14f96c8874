//! Which GPS second an edge belongs to that is aligned with the pulse, by the arrival of its record at the host; and the
//! quantisation error of a pulse, by the second that its message names.
//!
//! An arrival is late by an unknown time and never early, and so are the messages. So the earliest that each kind of
//! message comes, relative to the second that it names, is taken from all of them around the edge, and the edge is put
//! between the message that announces its pulse and the one that confirms it. Where a message stands against its pulse is
//! data: [`TimeSource::naming`]. Where a delay that is not absurd would lead to another second, the edge is ambiguous.

use std::collections::{BTreeMap, BTreeSet};

use super::reference::consistency;
use crate::events::{Naming, ReferenceEvent, Stamped, TimeMessage, TimeSource, Trust};
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

/// The rule's short name, for the table.
pub const SECOND_RULE_NAME: &str = "by the reference's messages (in full: summary.json)";
/// The rule, for the report. Numbers as in the constants below.
pub const SECOND_RULE: &str = "an edge on the pulse of second g arrives after the TIM-TP or T2 that names g and before the one \
that names g + 1; before the RMC, NAV-TIMEUTC, NAV-TIMEGPS, NAV-PVT or ZDA that names g, at most a second; and within 100 ms \
before to 250 ms after the 8F-AB or A1-00 that names g; it is ambiguous within 250 ms after a TIM-TP or T2, within 30 ms before \
or 100 ms after an RMC and its like, further from an 8F-AB or A1-00, where any two disagree, where nothing but RMC and its like \
comes and that 400 to 600 ms after it, and before a lasting step in the seconds that the reference names; ZDA alone, which never \
says whether it is valid, gives no second";

const MS: i128 = 1_000_000;
const SECOND: i128 = NS_PER_S as i128;
/// Messages further than this from the edge say nothing about it.
const WINDOW_NS: u64 = 10 * NS_PER_S.unsigned_abs();
/// A record may be late by this: so soon after a TIM-TP it may belong to the pulse before.
pub(super) const LATE_NS: i128 = 250 * MS;
/// A message that follows its pulse comes at most so long behind it.
pub(super) const FOLLOWS_NS: i128 = 100 * MS;
/// RMC sooner after the edge than this, or later than the other, is near a whole second.
pub(super) const LAG_NS: std::ops::RangeInclusive<i128> = 30 * MS..=900 * MS;
/// RMC alone, near half a second, may as well name the next pulse.
const HALF_NS: std::ops::RangeInclusive<i128> = 400 * MS..=600 * MS;

/// The messages of a reference that was locked, or held over, by the second that they name.
#[derive(Clone, Debug, Default)]
pub struct SecondLabels {
    messages: BTreeMap<TimeSource, Vec<(HostNanos, GpsSecond)>>,
    /// Up to when what was named is known to be wrong, and why.
    wrong_until: Vec<(HostNanos, String)>,
    /// Why messages were left out that else would give seconds.
    left_out: Option<String>,
    /// None where two messages about one pulse disagree.
    qerr_ps: BTreeMap<GpsSecond, Option<i32>>,
}

/// What one kind of message says of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vote {
    source: TimeSource,
    second: GpsSecond,
    /// For one that confirms: how long behind the edge it comes.
    lag: Option<i128>,
}

impl SecondLabels {
    /// From what the reference said, in order of arrival. `disciplined`: the wired pulse is none that the receiver's
    /// quantisation errors describe.
    #[must_use]
    pub fn new(events: &[Stamped<ReferenceEvent>], disciplined: bool) -> Self {
        let mut labels = Self::default();
        let mut wrong_epoch = BTreeSet::new();
        for step in consistency::lasting_steps(events) {
            labels.wrong_until.push((step.at, step.reason));
        }
        for Stamped { at, event } in events {
            let message = match event {
                ReferenceEvent::Time(message) if message.trust != Trust::Unlocked => message,
                ReferenceEvent::WrongEpoch(wrong) if !wrong.corrected => {
                    wrong_epoch.insert(wrong.source);
                    labels.left_out.get_or_insert_with(|| wrong.words.clone());
                    continue;
                }
                _ => continue,
            };
            if wrong_epoch.contains(&message.source) {
                continue;
            }
            labels.messages.entry(message.source).or_default().push((*at, message.second));
            if message.source == TimeSource::UbxTimTp && !disciplined {
                labels.join_qerr(message);
            }
        }
        labels
    }

    fn join_qerr(&mut self, message: &TimeMessage) {
        self.qerr_ps
            .entry(message.second)
            .and_modify(|known| *known = known.filter(|&known| Some(known) == message.qerr_ps))
            .or_insert(message.qerr_ps);
    }

    /// The receiver's own account of how far off the pulse of `second` was, in picoseconds, positive: early. None if
    /// its message is missing: another pulse's value is worse than none.
    #[must_use]
    pub fn qerr_ps(&self, second: GpsSecond) -> Option<i32> {
        self.qerr_ps.get(&second).copied().flatten()
    }

    /// The second of an edge on the pulse, whose record arrived at `arrival`; by [`SECOND_RULE`].
    ///
    /// # Errors
    /// Why there is no second, or more than one, as a sentence for the ledger.
    pub fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String> {
        if let Some((_, reason)) = self.wrong_until.iter().find(|(until, _)| arrival < *until) {
            return Err(reason.clone());
        }
        let mut votes: Vec<Vote> = Vec::new();
        let mut zda = None;
        for (&source, messages) in &self.messages {
            let Some(offset) = earliest(messages, arrival) else { continue };
            let vote = vote(source, arrival, offset);
            if source == TimeSource::NmeaZda {
                // Nothing says whether it is valid: it may contradict, and never decides.
                zda = vote.ok();
            } else {
                votes.push(vote?);
            }
        }
        let Some(&first) = votes.first() else {
            let nothing = || "no message of a locked reference within 10 s".to_owned();
            return Err(self.left_out.clone().unwrap_or_else(nothing));
        };
        if let Some(other) = votes.iter().chain(&zda).find(|vote| vote.second != first.second) {
            let (one, two) =
                if other.source == TimeSource::UbxTimTp { (other, &first) } else { (&first, other) };
            return Err(format!(
                "the reference's messages disagree: {} says second {}, {} says {}",
                one.source.name(),
                one.second.0,
                two.source.name(),
                two.second.0
            ));
        }
        let half = |vote: &Vote| vote.lag.filter(|lag| HALF_NS.contains(lag));
        match votes.iter().find_map(|vote| Some((vote.source.name(), half(vote)?))) {
            Some((name, lag)) if votes.iter().all(|vote| vote.lag.is_some()) => Err(format!(
                "{name} comes {} ms after the edge, near half a second, without TIM-TP to decide",
                lag / MS
            )),
            _ => Ok(first.second),
        }
    }
}

/// The earliest arrival of a kind of message relative to the second that it names, in nanoseconds, around `arrival`.
fn earliest(messages: &[(HostNanos, GpsSecond)], arrival: HostNanos) -> Option<i128> {
    let from = messages.partition_point(|(at, _)| at.0 < arrival.0.saturating_sub(WINDOW_NS));
    let near = messages[from..].iter().take_while(|(at, _)| at.0 <= arrival.0.saturating_add(WINDOW_NS));
    near.map(|(at, second)| i128::from(at.0) - i128::from(second.0) * SECOND).min()
}

/// What one kind of message says of an edge, or why it says two things.
fn vote(source: TimeSource, arrival: HostNanos, offset: i128) -> Result<Vote, String> {
    let name = source.name();
    let since = i128::from(arrival.0) - offset;
    let (seconds, part) = (since.div_euclid(SECOND), since.rem_euclid(SECOND));
    match source.naming() {
        Naming::Announces if part < LATE_NS => {
            Err(format!("arrived {} ms after a {name}: it may belong to the pulse before", part / MS))
        }
        Naming::Announces => Ok(Vote { source, second: second(seconds), lag: None }),
        Naming::Confirms => {
            let lag = SECOND - part;
            if !LAG_NS.contains(&lag) {
                return Err(format!("{name} comes {} ms after the edge, near a whole second", lag / MS));
            }
            Ok(Vote { source, second: second(seconds + 1), lag: Some(lag) })
        }
        Naming::Follows => {
            let behind = since + FOLLOWS_NS;
            let part = behind.rem_euclid(SECOND);
            if part > FOLLOWS_NS + LATE_NS {
                return Err(format!(
                    "arrived {} ms after an {name}, too far from a pulse",
                    (part - FOLLOWS_NS) / MS
                ));
            }
            Ok(Vote { source, second: second(behind.div_euclid(SECOND)), lag: None })
        }
    }
}

/// Host times and GPS seconds are of 64 bits, so this fits but for recordings of nonsense.
fn second(count: i128) -> GpsSecond {
    GpsSecond(i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
