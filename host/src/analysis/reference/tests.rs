use proptest::prelude::*;

use super::*;
use crate::events::{LeapMessage, TimeMessage, TimeScale, WrongEpoch};

const FIRST: i64 = 1_400_000_000;
const SETTLE: u32 = 10;
const GUARD: u32 = 20;
const DEMANDS: Demands = Demands { settle_s: SETTLE, guard_s: GUARD, max_offset_ns: 1000 };

/// A receiver whose pulse of second `FIRST` is at 100 s of host time.
#[derive(Default)]
struct Receiver {
    events: Vec<Stamped<ReferenceEvent>>,
    end_ms: i64,
}

fn host(ms: i64) -> HostNanos {
    HostNanos((100_000 + ms).unsigned_abs() * 1_000_000)
}

impl Receiver {
    fn say(&mut self, ms: i64, source: TimeSource, second: i64, trust: Trust) {
        self.say_on(TimeScale::Utc, ms, source, second, trust);
    }

    fn say_on(&mut self, scale: TimeScale, ms: i64, source: TimeSource, second: i64, trust: Trust) {
        let message = TimeMessage { source, second: GpsSecond(FIRST + second), trust, qerr_ps: None, scale };
        self.events.push(Stamped { at: host(ms), event: ReferenceEvent::Time(message) });
        self.events.sort_by_key(|event| event.at);
        self.end_ms = self.end_ms.max(ms);
    }

    /// TIM-TP 920 ms before its pulse, RMC and ZDA 120 ms after it.
    fn pulse(&mut self, second: i64, trust: Trust) {
        self.say(second * 1000 - 920, TimeSource::UbxTimTp, second, trust);
        self.say(second * 1000 + 120, TimeSource::NmeaRmc, second, trust);
        self.say(second * 1000 + 120, TimeSource::NmeaZda, second, Trust::NotStated);
    }

    fn pulses(seconds: std::ops::Range<i64>, trust: impl Fn(i64) -> Trust) -> Self {
        let mut receiver = Self::default();
        seconds.for_each(|second| receiver.pulse(second, trust(second)));
        receiver
    }

    fn timeline(&self) -> ReferenceTimeline {
        ReferenceTimeline::new(&self.events, host(self.end_ms), DEMANDS)
    }

    /// The states as runs: the second at which each begins, from second 0 on.
    fn runs(&self) -> Vec<(i64, ReferenceState)> {
        let timeline = self.timeline();
        let mut runs: Vec<(i64, ReferenceState)> = Vec::new();
        for second in 0..200 {
            let (state, reason) = timeline.state(Nanos::at(GpsSecond(FIRST + second)));
            assert_eq!(state == ReferenceState::Locked, reason.is_empty(), "second {second}");
            if runs.last().is_none_or(|(_, last)| *last != state) {
                runs.push((second, state));
            }
        }
        runs
    }

    fn reason(&self, second: i64) -> String {
        self.timeline().state(Nanos::at(GpsSecond(FIRST + second))).1.to_owned()
    }
}

use ReferenceState::{Holdover, Locked, Settling, Unlocked};

const fn outage(from: i64, to: i64, trust: Trust) -> impl Fn(i64) -> Trust {
    move |second| if second >= from && second < to { trust } else { Trust::Locked }
}

#[test]
fn a_receiver_that_was_always_locked_needs_no_settling_and_its_end_is_no_loss() {
    assert_eq!(Receiver::pulses(0..60, |_| Trust::Locked).runs(), [(0, Locked)]);
}

#[test]
fn a_loss_counts_from_the_guard_before_it_to_the_settling_after_it() {
    let receiver = Receiver::pulses(0..120, outage(50, 55, Trust::Unlocked));
    assert_eq!(receiver.runs(), [(0, Locked), (30, Unlocked), (55, Settling), (65, Locked)]);
    assert_eq!(receiver.reason(49), "less than 20 s before a loss: TIM-TP says that it is not locked");
    assert_eq!(receiver.reason(50), "TIM-TP says that it is not locked");
    assert_eq!(receiver.reason(64), "less than 10 s after lock was regained");
}

#[test]
fn a_boundary_belongs_to_the_nanosecond() {
    let timeline = Receiver::pulses(0..120, outage(50, 55, Trust::Unlocked)).timeline();
    let state = |second: i64, ns: i64| timeline.state(Nanos::at(GpsSecond(FIRST + second)).plus(ns)).0;
    assert_eq!((state(30, -1), state(30, 0)), (Locked, Unlocked));
    assert_eq!((state(55, -1), state(55, 0)), (Unlocked, Settling));
    assert_eq!((state(65, -1), state(65, 0)), (Settling, Locked));
}

#[test]
fn a_receiver_whose_first_message_is_not_locked_settles() {
    let receiver = Receiver::pulses(0..60, outage(0, 7, Trust::Unlocked));
    assert_eq!(receiver.runs(), [(0, Unlocked), (7, Settling), (17, Locked)]);
    assert!(receiver.reason(0).starts_with("TIM-TP"), "there was no lock to guard");
    assert_eq!(Receiver::pulses(5..60, |_| Trust::Locked).runs(), [(0, Unlocked), (5, Locked)]);
}

#[test]
fn a_second_loss_while_settling_is_a_loss() {
    let receiver = Receiver::pulses(0..120, |second| {
        if (50..55).contains(&second) || (58..60).contains(&second) { Trust::Unlocked } else { Trust::Locked }
    });
    assert_eq!(receiver.runs(), [(0, Locked), (30, Unlocked), (60, Settling), (70, Locked)]);
}

#[test]
fn holdover_is_a_state_of_its_own_and_a_loss() {
    let receiver = Receiver::pulses(0..120, outage(50, 55, Trust::Holdover));
    assert_eq!(receiver.runs(), [(0, Locked), (30, Holdover), (55, Settling), (65, Locked)]);
    let receiver = Receiver::pulses(0..120, |second| match second {
        50..55 => Trust::Holdover,
        55..60 => Trust::Unlocked,
        _ => Trust::Locked,
    });
    assert_eq!(receiver.runs(), [(0, Locked), (30, Holdover), (55, Unlocked), (60, Settling), (70, Locked)]);
}

#[test]
fn one_source_that_denies_the_lock_outweighs_the_other() {
    for denies in [TimeSource::NmeaRmc, TimeSource::UbxTimTp] {
        let mut receiver = Receiver::pulses(0..120, |_| Trust::Locked);
        for event in &mut receiver.events {
            if let ReferenceEvent::Time(message) = &mut event.event
                && message.source == denies
                && message.second == GpsSecond(FIRST + 50)
            {
                message.trust = Trust::Unlocked;
            }
        }
        assert_eq!(
            receiver.runs(),
            [(0, Locked), (30, Unlocked), (51, Settling), (61, Locked)],
            "{denies:?}"
        );
    }
}

#[test]
fn zda_never_vouches() {
    let mut receiver = Receiver::default();
    for second in 0..60 {
        receiver.say(second * 1000 + 120, TimeSource::NmeaZda, second, Trust::NotStated);
    }
    assert_eq!(receiver.runs(), [(0, Unlocked)]);
    assert_eq!(receiver.reason(30), "no message said that the reference was locked");
    // Nor does it bridge a gap.
    let mut receiver = Receiver::pulses(0..120, |_| Trust::Locked);
    receiver.events.retain(|event| match &event.event {
        ReferenceEvent::Time(message) => {
            message.source == TimeSource::NmeaZda || !(50..60).contains(&(message.second.0 - FIRST))
        }
        _ => true,
    });
    assert_eq!(receiver.runs(), [(0, Locked), (29, Unlocked), (60, Settling), (70, Locked)]);
}

#[test]
fn a_hiccup_of_missing_messages_is_no_loss_and_a_gap_is_one_from_the_last_message_on() {
    let with_gap = |missing: i64| {
        let mut receiver = Receiver::default();
        (0..50).chain(50 + missing..120).for_each(|second| receiver.pulse(second, Trust::Locked));
        receiver
    };
    assert_eq!(with_gap(2).runs(), [(0, Locked)]);
    assert_eq!(with_gap(3).runs(), [(0, Locked), (29, Unlocked), (53, Settling), (63, Locked)]);
    assert_eq!(with_gap(3).reason(49), "no message for 4 s");
}

#[test]
fn a_reference_that_falls_silent_while_it_is_needed_is_lost() {
    let receiver = Receiver::pulses(0..60, |_| Trust::Locked);
    let state = |covered_until: i64, second: i64| {
        let timeline = ReferenceTimeline::new(&receiver.events, host(covered_until), DEMANDS);
        timeline.state(Nanos::at(GpsSecond(FIRST + second))).0
    };
    assert_eq!(state(62_000, 61), Locked);
    assert_eq!((state(63_200, 38), state(63_200, 39), state(63_200, 61)), (Locked, Unlocked, Unlocked));
}

#[test]
fn a_void_message_counts_for_the_second_that_the_hosts_clock_says() {
    let mut receiver = Receiver::pulses(0..120, |_| Trust::Locked);
    let void = ReferenceEvent::Void { source: TimeSource::NmeaRmc };
    receiver.events.push(Stamped { at: host(50_150), event: void.clone() });
    receiver.events.sort_by_key(|event| event.at);
    assert_eq!(receiver.runs(), [(0, Locked), (30, Unlocked), (51, Settling), (61, Locked)]);
    assert_eq!(receiver.reason(50), "RMC says that the receiver knows no time");
    let alone = Receiver { events: vec![Stamped { at: host(0), event: void }], end_ms: 0 };
    assert_eq!(alone.runs(), [(0, Unlocked)]);
}

#[test]
fn a_void_message_with_a_nonsense_time_does_not_go_astray() {
    // What a receiver names at power-on: years from the truth.
    let mut receiver = Receiver::default();
    for second in 0..120 {
        let nonsense = second < 20;
        let (named, trust) =
            if nonsense { (second + 1_000_000_000, Trust::Unlocked) } else { (second, Trust::Locked) };
        receiver.say(second * 1000 + 120, TimeSource::NmeaRmc, named, trust);
    }
    assert_eq!(receiver.runs(), [(0, Unlocked), (20, Settling), (30, Locked)]);
}

#[test]
fn what_was_named_before_the_utc_offset_was_corrected_is_not_believed() {
    // From second 50 on the receiver names another second, as when it learns of the leap seconds.
    for (by, first_named, settling) in [(1, 51, 51), (2, 52, 51), (-1, 49, 51), (-2, 48, 51)] {
        let mut receiver = Receiver::default();
        (0..120).for_each(|second| {
            let named = if second < 50 { second } else { second + by };
            receiver.say(second * 1000 + 120, TimeSource::NmeaRmc, named, Trust::Locked);
        });
        let settled = settling + i64::from(SETTLE);
        let expected =
            [(0, Unlocked), (settling.max(first_named), Settling), (settled.max(first_named + 10), Locked)];
        assert_eq!(receiver.runs(), expected, "{by:+}");
        let reason = format!("RMC jumped by {by:+} s at GPS second {}, when its UTC", FIRST + first_named);
        assert!(receiver.reason(3).starts_with(&reason), "{}", receiver.reason(3));
    }
}

#[test]
fn seconds_on_the_gps_scale_that_step_and_one_wrong_message_are_a_loss_where_they_are() {
    let mut stepped = Receiver::default();
    (0..120).for_each(|second| {
        let named = if second < 50 { second } else { second + 2 };
        stepped.say_on(TimeScale::Gps, second * 1000 - 920, TimeSource::UbxTimTp, named, Trust::Locked);
    });
    assert_eq!(stepped.runs()[..2], [(0, Locked), (30, Unlocked)]);
    let mut once = Receiver::default();
    (0..120).for_each(|second| {
        let named = if second == 50 { 52 } else { second };
        once.say(second * 1000 + 120, TimeSource::NmeaRmc, named, Trust::Locked);
    });
    assert_eq!(once.runs()[..2], [(0, Locked), (30, Unlocked)]);
}

/// RMC around a leap second at second 50, named as `named` says.
fn around_a_leap_second(named: impl Fn(i64) -> i64) -> Receiver {
    let mut receiver = Receiver::default();
    (0..120).for_each(|second| {
        receiver.say(second * 1000 + 120, TimeSource::NmeaRmc, named(second), Trust::Locked);
    });
    let at = Some(GpsSecond(FIRST + 50));
    let leap = LeapMessage { source: "table", gps_minus_utc: None, change: Some(1), at };
    receiver.events.insert(0, Stamped { at: host(0), event: ReferenceEvent::Leap(leap) });
    receiver
}

#[test]
fn a_leap_second_that_is_inserted_is_a_second_like_any_other() {
    let receiver = around_a_leap_second(|second| second);
    assert_eq!(receiver.runs(), [(0, Locked)]);
    let notes = notes(&receiver.events);
    assert_eq!(notes, ["table: a leap second is inserted, GPS second 1400000050"]);
}

#[test]
fn a_receiver_that_is_a_second_off_around_a_leap_second_is_not_believed_there() {
    // It leaves 23:59:60 out and notices seven seconds later.
    let receiver =
        around_a_leap_second(|second| if (50..57).contains(&second) { second + 1 } else { second });
    assert_eq!(receiver.runs(), [(0, Locked), (30, Unlocked), (59, Settling), (69, Locked)]);
    let reason = receiver.reason(54);
    assert!(reason.ends_with("around the leap second that is GPS second 1400000050"), "{reason}");
    // It never notices.
    let receiver = around_a_leap_second(|second| if second >= 50 { second + 1 } else { second });
    assert_eq!(receiver.runs(), [(0, Locked), (30, Unlocked)]);
}

fn state(source: StateSource, trust: Trust, offset_ps: Option<i64>) -> ReferenceEvent {
    ReferenceEvent::State(StateMessage { source, trust, offset_ps, words: "its words".to_owned() })
}

/// A TSIP receiver: 8F-AB 20 ms after its pulse, and its state 40 ms after it.
fn trimble(health: impl Fn(i64) -> (Trust, i64)) -> Receiver {
    let mut receiver = Receiver::default();
    for second in 0..120 {
        receiver.say(second * 1000 + 20, TimeSource::TsipPrimary, second, Trust::NotStated);
        let (trust, offset_ps) = health(second);
        let event = state(StateSource::TsipSupplemental, trust, Some(offset_ps));
        receiver.events.push(Stamped { at: host(second * 1000 + 40), event });
    }
    receiver
}

#[test]
fn a_state_without_a_second_counts_for_the_one_at_which_it_comes() {
    assert_eq!(trimble(|_| (Trust::Locked, 0)).runs(), [(0, Locked)]);
    let lost = trimble(|second| (outage(50, 55, Trust::Unlocked)(second), 0));
    assert_eq!(lost.runs(), [(0, Locked), (30, Unlocked), (55, Settling), (65, Locked)]);
    assert_eq!(lost.reason(52), "8F-AC: its words");
    let held = trimble(|second| (outage(50, 55, Trust::Holdover)(second), 0));
    assert_eq!(held.runs(), [(0, Locked), (30, Holdover), (55, Settling), (65, Locked)]);
    assert_eq!(trimble(|_| (Trust::NotStated, 0)).runs(), [(0, Unlocked)], "nothing vouches");
}

#[test]
fn a_pulse_that_is_far_off_is_refused_whatever_the_alarms_say() {
    let off = trimble(|_| (Trust::Locked, 37_412_801));
    assert_eq!(off.runs(), [(0, Unlocked)]);
    assert_eq!(
        off.reason(5),
        "by 8F-AC its pulse is off by 37412.8 ns or up to that, more than max-offset-ns = 1000"
    );
    assert_eq!(trimble(|_| (Trust::Locked, -1_000_000)).runs(), [(0, Locked)], "the limit itself is within");
    assert_eq!(trimble(|_| (Trust::Locked, -1_000_001)).runs(), [(0, Unlocked)]);
}

#[test]
fn a_week_number_that_rolled_over_refuses_what_it_dates_and_is_noted() {
    let mut receiver = Receiver::pulses(0..60, |_| Trust::Locked);
    let words = "RMC names 2007-04-17".to_owned();
    let wrong = WrongEpoch { source: TimeSource::NmeaRmc, words: words.clone(), corrected: false };
    receiver.events.insert(0, Stamped { at: host(-1000), event: ReferenceEvent::WrongEpoch(wrong.clone()) });
    assert_eq!(receiver.runs(), [(0, Unlocked)]);
    assert_eq!(receiver.reason(30), words);
    receiver.events[0].event = ReferenceEvent::WrongEpoch(WrongEpoch { corrected: true, ..wrong });
    assert_eq!(receiver.runs(), [(0, Locked)]);
    assert_eq!(notes(&receiver.events), [words]);
}

#[test]
fn notes_are_told_once_and_a_change_of_the_utc_offset_is_one() {
    let mut receiver = Receiver::default();
    for (ms, difference) in [(0, 16), (1000, 16), (2000, 18)] {
        let leap = LeapMessage { source: "8F-AB", gps_minus_utc: Some(difference), change: None, at: None };
        receiver.events.push(Stamped { at: host(ms), event: ReferenceEvent::Leap(leap) });
        let event = state(StateSource::UbxMon, Trust::NotStated, None);
        receiver.events.push(Stamped { at: host(ms), event });
    }
    assert_eq!(notes(&receiver.events), ["MON: its words", "8F-AB: GPST - UTC changed from 16 to 18 s"]);
}

#[test]
fn sentences_that_name_different_seconds_are_a_loss() {
    let mut receiver = Receiver::default();
    for second in 0..120 {
        receiver.say(second * 1000 + 120, TimeSource::NmeaRmc, second, Trust::Locked);
        receiver.say(second * 1000 + 130, TimeSource::NmeaZda, second + 2, Trust::NotStated);
    }
    assert!(receiver.runs().iter().all(|(_, state)| *state == Unlocked), "{:?}", receiver.runs());
    assert_eq!(receiver.reason(40), "RMC and ZDA name different seconds");
}

#[test]
fn messages_that_were_held_up_are_no_loss() {
    for (from, to) in [(0, 3), (50, 52), (50, 53), (58, 60)] {
        let mut receiver = Receiver::pulses(0..60, |_| Trust::Locked);
        let released = host(to * 1000 + 100);
        for event in &mut receiver.events {
            if event.at >= host(from * 1000) && event.at < released {
                event.at = released;
            }
        }
        assert_eq!(receiver.runs(), [(0, Locked)], "held up from {from} to {to}");
    }
}

#[test]
fn a_backlog_that_arrives_when_the_port_is_opened_is_no_loss() {
    let mut receiver = Receiver::pulses(0..60, |_| Trust::Locked);
    let opened = host(9_700);
    receiver.events.iter_mut().for_each(|event| event.at = event.at.max(opened));
    assert_eq!(receiver.runs(), [(0, Locked)]);
}

#[test]
fn without_any_message_nothing_is_locked() {
    assert_eq!(Receiver::default().runs(), [(0, Unlocked)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_second_is_locked_that_the_rule_excludes(trusts in prop::collection::vec(0..8_u8, 1..120)) {
        let trust = |second: i64| if trusts[second as usize] == 0 { Trust::Unlocked } else { Trust::Locked };
        let count = trusts.len() as i64;
        let timeline = Receiver::pulses(0..count, trust).timeline();
        for second in 0..count {
            let state = timeline.state(Nanos::at(GpsSecond(FIRST + second))).0;
            let unlocked = |second: i64| (0..count).contains(&second) && trust(second) == Trust::Unlocked;
            // The guard stands before a loss of a lock that was there.
            let guarded = (second + 1..=second + i64::from(GUARD)).any(|loss| unlocked(loss) && loss > 0 && !unlocked(loss - 1));
            let settling = (second - i64::from(SETTLE)..second).any(unlocked);
            let expected = match () {
                () if unlocked(second) || guarded => Unlocked,
                () if settling => Settling,
                () => Locked,
            };
            prop_assert_eq!(state, expected, "second {}", second);
        }
    }

    #[test]
    fn any_messages_are_taken_without_a_panic(
        messages in prop::collection::vec((any::<u64>(), any::<i64>(), 0..12_u8), 0..40),
        until in any::<u64>(),
    ) {
        let mut events: Vec<_> = messages.iter().map(|&(at, second, kind)| {
            let source = [TimeSource::NmeaRmc, TimeSource::NmeaZda, TimeSource::UbxTimTp][usize::from(kind % 3)];
            let trust = [Trust::Locked, Trust::Unlocked, Trust::Holdover, Trust::NotStated][usize::from(kind / 3)];
            let message = TimeMessage { source, second: GpsSecond(second), trust, qerr_ps: None, scale: TimeScale::Utc };
            Stamped { at: HostNanos(at), event: ReferenceEvent::Time(message) }
        }).collect();
        events.sort_by_key(|event| event.at);
        let timeline = ReferenceTimeline::new(&events, HostNanos(until), DEMANDS);
        let _any = (timeline.state(Nanos(0)), timeline.state(Nanos(i64::MAX)), timeline.state(Nanos(i64::MIN)));
    }
}
