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
const LATE_NS: i128 = 250 * MS;
/// A message that follows its pulse comes at most so long behind it.
const FOLLOWS_NS: i128 = 100 * MS;
/// RMC sooner after the edge than this, or later than the other, is near a whole second.
const LAG_NS: std::ops::RangeInclusive<i128> = 30 * MS..=900 * MS;
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::TimeScale;

    const FIRST: i64 = 1_400_000_000;

    /// A receiver whose pulse of second `FIRST` is at 100 s of host time.
    struct Bench {
        events: Vec<Stamped<ReferenceEvent>>,
    }

    fn pulse_ms(second: i64) -> i64 {
        100_000 + (second - FIRST) * 1000
    }

    fn at(ms: i64) -> HostNanos {
        HostNanos(u64::try_from(ms).unwrap() * 1_000_000)
    }

    impl Bench {
        /// Twenty seconds; TIM-TP `ahead_ms` before the pulse that it names, RMC `lag_ms` after it.
        fn new(ahead_ms: Option<i64>, lag_ms: Option<i64>) -> Self {
            let mut bench = Self { events: Vec::new() };
            for second in FIRST - 5..FIRST + 15 {
                if let Some(ahead) = ahead_ms {
                    bench.say(
                        pulse_ms(second) - ahead,
                        TimeSource::UbxTimTp,
                        second,
                        Some((second % 1000) as i32),
                    );
                }
                if let Some(lag) = lag_ms {
                    bench.say(pulse_ms(second) + lag, TimeSource::NmeaRmc, second, None);
                }
            }
            bench
        }

        fn say(&mut self, ms: i64, source: TimeSource, second: i64, qerr_ps: Option<i32>) {
            let message = TimeMessage {
                source,
                second: GpsSecond(second),
                trust: Trust::Locked,
                qerr_ps,
                scale: TimeScale::Utc,
            };
            self.events.push(Stamped { at: at(ms), event: ReferenceEvent::Time(message) });
            self.events.sort_by_key(|event| event.at);
        }

        fn label(&self, ms: i64) -> Result<i64, String> {
            SecondLabels::new(&self.events, false).label(at(ms)).map(|second| second.0)
        }
    }

    #[test]
    fn an_edge_is_labelled_between_announcement_and_confirmation() {
        let bench = Bench::new(Some(920), Some(120));
        for late in [0, 1, 5, 40, 75] {
            assert_eq!(bench.label(pulse_ms(FIRST + 3) + late), Ok(FIRST + 3), "{late} ms late");
        }
    }

    #[test]
    fn a_record_too_late_is_ambiguous_and_never_the_next_second() {
        let bench = Bench::new(Some(920), Some(120));
        for late in 91..330 {
            assert!(bench.label(pulse_ms(FIRST + 3) + late).is_err(), "{late} ms late");
        }
    }

    #[test]
    fn one_kind_of_message_is_enough_where_it_is_clear() {
        assert_eq!(Bench::new(Some(920), None).label(pulse_ms(FIRST) + 5), Ok(FIRST));
        assert_eq!(Bench::new(None, Some(120)).label(pulse_ms(FIRST) + 5), Ok(FIRST));
        assert_eq!(Bench::new(None, Some(700)).label(pulse_ms(FIRST) + 5), Ok(FIRST));
    }

    #[test]
    fn a_time_message_near_half_a_second_is_ambiguous_unless_tim_tp_decides() {
        let reason = Bench::new(None, Some(500)).label(pulse_ms(FIRST) + 5).unwrap_err();
        assert!(reason.contains("half a second"), "{reason}");
        assert_eq!(Bench::new(Some(920), Some(500)).label(pulse_ms(FIRST) + 5), Ok(FIRST));
    }

    #[test]
    fn a_lag_near_a_whole_second_is_ambiguous() {
        for lag in [5, 20, 950, 1000, 1020] {
            let reason = Bench::new(Some(920), Some(lag)).label(pulse_ms(FIRST) + 5).unwrap_err();
            assert!(reason.contains("whole second"), "{lag}: {reason}");
        }
    }

    #[test]
    fn a_lag_of_more_than_a_second_looks_like_a_wrong_second_and_is_ambiguous() {
        let reason = Bench::new(Some(920), Some(1120)).label(pulse_ms(FIRST) + 5).unwrap_err();
        assert!(reason.contains("disagree"), "{reason}");
    }

    #[test]
    fn an_announcement_shortly_before_its_pulse_is_ambiguous() {
        let reason = Bench::new(Some(100), Some(120)).label(pulse_ms(FIRST) + 5).unwrap_err();
        assert!(reason.contains("105 ms after a TIM-TP"), "{reason}");
    }

    #[test]
    fn messages_that_were_held_up_do_not_move_the_label() {
        let mut bench = Bench::new(Some(920), Some(120));
        for event in &mut bench.events[10..16] {
            event.at = HostNanos(event.at.0 + 2_500_000_000);
        }
        bench.events.sort_by_key(|event| event.at);
        assert_eq!(bench.label(pulse_ms(FIRST) + 5), Ok(FIRST));
    }

    #[test]
    fn messages_that_nobody_vouches_for_do_not_label() {
        let mut bench = Bench::new(Some(920), Some(120));
        for event in &mut bench.events {
            if let ReferenceEvent::Time(message) = &mut event.event {
                message.trust = Trust::Unlocked;
            }
        }
        bench.say(pulse_ms(FIRST) + 120, TimeSource::NmeaZda, FIRST, None);
        assert!(bench.label(pulse_ms(FIRST) + 5).unwrap_err().contains("no message"));
        assert!(Bench::new(Some(920), None).label(pulse_ms(FIRST + 40)).is_err());
    }

    #[test]
    fn quantisation_errors_are_joined_by_the_second_that_is_named() {
        let mut bench = Bench::new(Some(920), None);
        bench.events.remove(5);
        bench.say(1, TimeSource::UbxTimTp, FIRST + 1, Some(1));
        bench.say(2, TimeSource::UbxTimTp, FIRST + 2, Some(2));
        let labels = SecondLabels::new(&bench.events, false);
        assert_eq!(labels.qerr_ps(GpsSecond(FIRST)), None, "its message is missing");
        assert_eq!(labels.qerr_ps(GpsSecond(FIRST + 1)), Some(1), "said twice");
        assert_eq!(labels.qerr_ps(GpsSecond(FIRST + 3)), Some(3));
        bench.say(3, TimeSource::UbxTimTp, FIRST + 3, Some(4));
        assert_eq!(
            SecondLabels::new(&bench.events, false).qerr_ps(GpsSecond(FIRST + 3)),
            None,
            "two that disagree"
        );
    }

    proptest! {
        #[test]
        fn a_label_is_right_or_refused_whatever_the_delays(
            ahead in 260..1000_i64,
            lag in 0..900_i64,
            late in 0..240_i64,
            delays in prop::collection::vec(0..400_i64, 40),
        ) {
            let mut bench = Bench::new(Some(ahead), Some(lag));
            for (event, delay) in bench.events.iter_mut().zip(delays) {
                event.at = HostNanos(event.at.0 + delay.unsigned_abs() * 1_000_000);
            }
            // One message of each kind at least is on time.
            bench.say(pulse_ms(FIRST + 2) - ahead, TimeSource::UbxTimTp, FIRST + 2, None);
            bench.say(pulse_ms(FIRST + 2) + lag, TimeSource::NmeaRmc, FIRST + 2, None);
            if let Ok(second) = bench.label(pulse_ms(FIRST + 3) + late) {
                prop_assert_eq!(second, FIRST + 3);
            }
        }

        #[test]
        fn any_messages_are_taken_without_a_panic(
            events in prop::collection::vec((any::<u64>(), any::<i64>()), 0..20),
            arrival in any::<u64>(),
        ) {
            let mut bench = Bench { events: Vec::new() };
            for (at, second) in events {
                let source = if at % 2 == 0 { TimeSource::NmeaRmc } else { TimeSource::UbxTimTp };
                let message = TimeMessage { source, second: GpsSecond(second), trust: Trust::Locked, qerr_ps: None, scale: TimeScale::Utc };
                bench.events.push(Stamped { at: HostNanos(at), event: ReferenceEvent::Time(message) });
            }
            bench.events.sort_by_key(|event| event.at);
            let _any = SecondLabels::new(&bench.events, false).label(HostNanos(arrival));
        }
    }
}
