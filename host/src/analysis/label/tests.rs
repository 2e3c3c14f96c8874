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

/// Twenty seconds of one kind of message, so long after the pulse that it names.
fn only(source: TimeSource, after_ms: impl Fn(i64) -> i64) -> Bench {
    let mut bench = Bench { events: Vec::new() };
    for second in FIRST - 5..FIRST + 15 {
        bench.say(pulse_ms(second) + after_ms(second), source, second, None);
    }
    bench
}

#[test]
fn a_message_that_follows_its_pulse_stands_for_it() {
    for after in [5, 20, 35, 60] {
        let bench = only(TimeSource::TsipPrimary, |_| after);
        for late in [0, 1, 10, 50, 200] {
            assert_eq!(bench.label(pulse_ms(FIRST + 3) + late), Ok(FIRST + 3), "{after} {late}");
        }
        for late in 350..850 {
            assert!(bench.label(pulse_ms(FIRST + 3) + late).is_err(), "{after} {late}");
        }
    }
    let late = only(TimeSource::TsipPrimary, |_| 300);
    assert!(late.label(pulse_ms(FIRST)).is_err(), "too late for its kind");
}

#[test]
fn a_time_code_that_is_asked_for_at_any_phase_announces_its_pulse() {
    // Asked every 1.07 s: the phase moves on by 70 ms a round.
    let bench = only(TimeSource::HpTimeCode, |second| -980 + (second * 70).rem_euclid(960));
    for late in [0, 5, 15] {
        assert_eq!(bench.label(pulse_ms(FIRST + 3) + late), Ok(FIRST + 3), "{late} ms late");
    }
    assert!(bench.label(pulse_ms(FIRST + 3) + 100).is_err(), "the next time code may have been there");
    let reason = only(TimeSource::HpTimeCode, |_| -30).label(pulse_ms(FIRST)).unwrap_err();
    assert!(reason.contains("after a T2"), "{reason}");
}

#[test]
fn all_kinds_have_to_agree_and_zda_decides_nothing() {
    assert!(only(TimeSource::NmeaZda, |_| 120).label(pulse_ms(FIRST) + 5).is_err());
    for source in
        [TimeSource::NmeaZda, TimeSource::UbxNavTimeUtc, TimeSource::UbxNavTimeGps, TimeSource::UbxNavPvt]
    {
        let mut bench = Bench::new(Some(920), Some(120));
        for second in FIRST - 5..FIRST + 15 {
            bench.say(pulse_ms(second) + 130, source, second, None);
        }
        assert_eq!(bench.label(pulse_ms(FIRST) + 5), Ok(FIRST), "{source:?}");
        for second in FIRST - 5..FIRST + 15 {
            bench.say(pulse_ms(second) + 140, source, second + 2, None);
        }
        let reason = bench.label(pulse_ms(FIRST) + 5).unwrap_err();
        assert!(reason.contains("disagree"), "{source:?}: {reason}");
    }
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
