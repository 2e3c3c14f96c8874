//! Whole recordings whose reference is at fault, judged as they are in a replay: the ledger that each fault must give.
//!
//! The virtual bench shows the same faults end to end: `fixtures/scenarios`.

use std::collections::BTreeSet;

use ppsrig_wire::EdgeMode;

use super::class::{Class, Ledger};
use super::edge::{EdgeAnalysis, analyse};
use super::seconds::recorded;
use super::synthetic::{FIRST_HOST_NS, FIRST_SECOND, Scene, end};
use crate::events::{
    Burst, LeapMessage, ReferenceEvent, Stamped, StateMessage, StateSource, TimeMessage, TimeScale,
    TimeSource, Trust, WrongEpoch,
};
use crate::units::{GpsSecond, HostNanos};

const EDGES: u32 = 20;
const MS: i64 = 1_000_000;

/// One kind of message: which second it names for each pulse after the first, and how long after it, in milliseconds.
struct Kind {
    source: TimeSource,
    scale: TimeScale,
    named: Box<dyn Fn(i64) -> i64>,
    after_ms: Box<dyn Fn(i64) -> i64>,
}

fn kind(source: TimeSource, after_ms: impl Fn(i64) -> i64 + 'static) -> Kind {
    let scale = if source == TimeSource::UbxTimTp { TimeScale::Gps } else { TimeScale::Utc };
    Kind { source, scale, named: Box::new(|pulse| pulse), after_ms: Box::new(after_ms) }
}

fn rmc(after_ms: i64) -> Kind {
    kind(TimeSource::NmeaRmc, move |_| after_ms)
}

/// 920 ms before its pulse.
fn tim_tp() -> Kind {
    kind(TimeSource::UbxTimTp, |_| -920)
}

impl Kind {
    fn naming(self, named: impl Fn(i64) -> i64 + 'static) -> Self {
        Self { named: Box::new(named), ..self }
    }
}

struct Story {
    scene: Scene,
    kinds: Vec<Kind>,
    /// In front of everything.
    said_first: Vec<ReferenceEvent>,
    locked: Box<dyn Fn(i64) -> bool>,
    /// Pulses whose TIM-TP does not come.
    missing: BTreeSet<i64>,
}

/// The pulse of the measurement's edge 0, counted from the recording's first.
const START: i64 = 6;

impl Story {
    fn new(kinds: Vec<Kind>) -> Self {
        let scene = Scene::new(EdgeMode::Irq, EDGES, 1000);
        let (said_first, missing) = (Vec::new(), BTreeSet::new());
        Self { scene, kinds, said_first, locked: Box::new(|_| true), missing }
    }

    fn reference(&self, until: HostNanos) -> Vec<Stamped<ReferenceEvent>> {
        let first = self.said_first.iter().map(|event| Stamped { at: HostNanos(0), event: event.clone() });
        let mut events: Vec<_> = first.collect();
        for pulse in -2.. {
            let at = |after_ms: i64| FIRST_HOST_NS + pulse * 1000 * MS + after_ms * MS;
            if at(-2000) > until.0 as i64 {
                break;
            }
            for kind in &self.kinds {
                let is_tim_tp = kind.source == TimeSource::UbxTimTp;
                if is_tim_tp && self.missing.contains(&pulse) {
                    continue;
                }
                let message = TimeMessage {
                    source: kind.source,
                    second: GpsSecond(FIRST_SECOND + (kind.named)(pulse)),
                    trust: if (self.locked)(pulse) { Trust::Locked } else { Trust::Unlocked },
                    qerr_ps: is_tim_tp.then_some(pulse as i32),
                    scale: kind.scale,
                };
                let at = HostNanos(at((kind.after_ms)(pulse)).max(1).unsigned_abs());
                events.push(Stamped { at, event: ReferenceEvent::Time(message) });
            }
        }
        events.sort_by_key(|event| event.at);
        events
    }

    fn judge(&self) -> EdgeAnalysis {
        let (record, mut recording) = (self.scene.record(), self.scene.recording());
        recording.reference = self.reference(end(&recording));
        let reference = recorded(&record, &recording);
        let analysis = analyse(&record, &recording, &reference);
        assert_eq!(analysis.edges.imbalances(), Vec::<String>::new());
        analysis
    }
}

type Counts = Vec<(Class, u64)>;

fn commanded(ledger: &Ledger) -> Counts {
    let of = |class| (class, ledger.commanded.count(class));
    Class::ALL.into_iter().map(of).filter(|(_, count)| *count > 0).collect()
}

fn captured(ledger: &Ledger) -> Counts {
    let of = |class| (class, ledger.captured.count(class));
    Class::ALL.into_iter().map(of).filter(|(_, count)| *count > 0).collect()
}

fn all(class: Class) -> Counts {
    vec![(class, u64::from(EDGES))]
}

/// The reason of the measurement's edge.
fn reason(analysis: &EdgeAnalysis, edge: u32) -> String {
    let mut rows = analysis.rows().filter(|row| row.burst == Burst::Edges);
    rows.find(|row| row.commanded == Some(edge)).expect("every edge has a row").reason.to_string()
}

#[test]
fn a_time_message_300_ms_late_is_late_and_no_more() {
    for kinds in [vec![tim_tp(), rmc(300)], vec![rmc(300)]] {
        let analysis = Story::new(kinds).judge();
        assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    }
}

#[test]
fn a_time_message_1050_ms_late_would_name_the_wrong_second_and_is_ambiguous() {
    let analysis = Story::new(vec![tim_tp(), rmc(1050)]).judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Ambiguous));
    assert!(reason(&analysis, 3).contains("disagree"), "{}", reason(&analysis, 3));
}

#[test]
fn a_time_message_that_wanders_around_half_a_second_needs_another_to_decide() {
    let wandering = || kind(TimeSource::NmeaRmc, |pulse| 420 + pulse.rem_euclid(5) * 40);
    let analysis = Story::new(vec![wandering()]).judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Ambiguous));
    assert!(reason(&analysis, 3).contains("near half a second"), "{}", reason(&analysis, 3));
    let analysis = Story::new(vec![tim_tp(), wandering()]).judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
}

#[test]
fn both_edges_at_10_percent_duty_are_duplicates_and_at_50_percent_the_preamble_tells_them_apart() {
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.scene.both_polarities_ms = Some(100);
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    assert_eq!(captured(&analysis.edges), [(Class::Paired, 20), (Class::Duplicate, 20)]);
    story.scene.both_polarities_ms = Some(500);
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    assert_eq!(captured(&analysis.edges), [(Class::Paired, 20), (Class::Spurious, 20)]);
    // An edge without a capture between two of the other polarity may be either's.
    story.scene.skipped = [7].into();
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), [(Class::Paired, 19), (Class::Ambiguous, 1)]);
}

/// A leap second at this edge of the measurement.
fn leap_at(edge: i64) -> ReferenceEvent {
    let at = Some(GpsSecond(FIRST_SECOND + START + edge));
    ReferenceEvent::Leap(LeapMessage { source: "table", gps_minus_utc: None, change: Some(1), at })
}

#[test]
fn a_leap_second_that_is_inserted_right_is_noted_and_excludes_nothing() {
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.said_first = vec![leap_at(10)];
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    assert!(
        analysis.reference_notes[0].contains("a leap second is inserted"),
        "{:?}",
        analysis.reference_notes
    );
}

#[test]
fn a_receiver_that_is_a_second_off_around_the_leap_second_excludes_the_edges_there() {
    let leap = START + 10;
    let late = move |pulse| if (leap..leap + 4).contains(&pulse) { pulse + 1 } else { pulse };
    let mut story = Story::new(vec![tim_tp(), rmc(120).naming(late)]);
    story.said_first = vec![leap_at(10)];
    let analysis = story.judge();
    // Guard 3 s before edge 10, wrong for four, one or two at the step back, settling for two.
    let counts = commanded(&analysis.edges);
    let of = |class| counts.iter().find(|(one, _)| *one == class).map_or(0, |(_, count)| *count);
    assert_eq!(of(Class::Settling), 2, "{counts:?}");
    assert!((7..=9).contains(&of(Class::Unlocked)), "{counts:?}");
    assert_eq!(of(Class::Paired) + of(Class::Unlocked) + of(Class::Settling), u64::from(EDGES));
    assert!(reason(&analysis, 11).contains("around the leap second"), "{}", reason(&analysis, 11));
}

#[test]
fn a_utc_offset_that_is_corrected_in_mid_run_takes_the_seconds_before_it_away() {
    for by in [2, -2] {
        let corrected = move |pulse| if pulse < START + 8 { pulse + by } else { pulse };
        // Nothing but UTC: the preamble's seconds were wrong, and with them all that hang on it.
        let mut tp = tim_tp().naming(corrected);
        tp.scale = TimeScale::Utc;
        let analysis = Story::new(vec![tp, rmc(120).naming(corrected)]).judge();
        assert_eq!(commanded(&analysis.edges), all(Class::Ambiguous), "{by}");
        assert!(reason(&analysis, 3).contains("its UTC offset was corrected"), "{}", reason(&analysis, 3));
        assert!(analysis.reference_notes.iter().any(|note| note.contains("UTC offset was corrected")));
        // The pulses are named on the GPS scale as well: the two never agreed before.
        let analysis = Story::new(vec![tim_tp(), rmc(120).naming(corrected)]).judge();
        assert_eq!(commanded(&analysis.edges), all(Class::Ambiguous), "{by}");
    }
}

#[test]
fn a_date_1024_weeks_off_is_not_believed_unless_the_bench_file_has_it_corrected() {
    let words = "RMC names 2007-04-16, 1024 weeks from 2026-11-30".to_owned();
    let wrong = |source, corrected| {
        ReferenceEvent::WrongEpoch(WrongEpoch { source, words: words.clone(), corrected })
    };
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.said_first = vec![wrong(TimeSource::UbxTimTp, false), wrong(TimeSource::NmeaRmc, false)];
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Ambiguous));
    assert_eq!(reason(&analysis, 3), words);
    story.said_first = vec![wrong(TimeSource::UbxTimTp, true), wrong(TimeSource::NmeaRmc, true)];
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    assert_eq!(analysis.reference_notes[0], words, "named all the same");
    // One of two: the pulses are named right, and the reference is not believed.
    story.said_first = vec![wrong(TimeSource::NmeaRmc, false)];
    assert_eq!(commanded(&story.judge().edges), all(Class::Unlocked));
}

#[test]
fn pulses_that_go_on_without_lock_are_unlocked_from_the_guard_on() {
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.locked = Box::new(|pulse| !(START + 10..START + 14).contains(&pulse));
    let analysis = story.judge();
    let expected = vec![(Class::Paired, 11), (Class::Unlocked, 7), (Class::Settling, 2)];
    assert_eq!(commanded(&analysis.edges), expected);
    assert_eq!(captured(&analysis.edges), expected);
}

#[test]
fn a_pulse_far_off_by_the_receivers_own_account_is_refused() {
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.said_first = vec![ReferenceEvent::State(StateMessage {
        source: StateSource::TsipSupplemental,
        trust: Trust::Locked,
        offset_ps: Some(37_412_800),
        words: String::new(),
    })];
    // Said once, before the first edge: it counts for its own second only.
    assert_eq!(commanded(&story.judge().edges), all(Class::Paired));
    story.kinds = vec![kind(TimeSource::TsipPrimary, |_| 20)];
    let (record, mut recording) = (story.scene.record(), story.scene.recording());
    let state = story.said_first[0].clone();
    story.said_first.clear();
    recording.reference = story.reference(end(&recording));
    let states: Vec<_> = recording
        .reference
        .iter()
        .map(|event| Stamped { at: HostNanos(event.at.0 + 20_000_000), event: state.clone() })
        .collect();
    recording.reference.extend(states);
    recording.reference.sort_by_key(|event| event.at);
    let analysis = analyse(&record, &recording, &recorded(&record, &recording));
    assert_eq!(commanded(&analysis.edges), all(Class::Unlocked));
    assert!(reason(&analysis, 3).contains("37412.8 ns"), "{}", reason(&analysis, 3));
}

#[test]
fn a_missing_tim_tp_drops_the_error_of_its_pulse_and_no_edge() {
    let qerr = |story: &Story| {
        let analysis = story.judge();
        assert_eq!(commanded(&analysis.edges), all(Class::Paired));
        let mut rows = analysis.rows().filter(|row| row.burst == Burst::Edges);
        rows.next().expect("edge 0").qerr_ps
    };
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    assert_eq!(qerr(&story), Some(START as i32), "that of the pulse that starts the burst");
    story.missing = [START].into();
    assert_eq!(qerr(&story), None, "and never another one's");
}

#[test]
fn the_errors_of_a_disciplined_pulse_are_nobodys() {
    let story = Story::new(vec![tim_tp(), rmc(120)]);
    let (mut record, mut recording) = (story.scene.record(), story.scene.recording());
    record.bench.reference.disciplined = true;
    recording.reference = story.reference(end(&recording));
    let analysis = analyse(&record, &recording, &recorded(&record, &recording));
    assert_eq!(commanded(&analysis.edges), all(Class::Paired));
    assert!(analysis.rows().all(|row| row.qerr_ps.is_none()));
    assert!(analysis.reference_notes.is_empty(), "nothing to verify: {:?}", analysis.reference_notes);
}

#[test]
fn one_missing_and_one_spurious_pulse_are_one_of_each() {
    let mut story = Story::new(vec![tim_tp(), rmc(120)]);
    story.scene.skipped = [7].into();
    story.scene.spurious_after = [12].into();
    let analysis = story.judge();
    assert_eq!(commanded(&analysis.edges), [(Class::Paired, 19), (Class::Missed, 1)]);
    assert_eq!(captured(&analysis.edges), [(Class::Paired, 19), (Class::Spurious, 1)]);
}
