//! What a few edges tell of a bench before it is believed: which transition of a pulse the board sees and how wide it finds
//! it, and how each kind of time message stands against the pulse that it names.
//!
//! Pure functions over a recording, as everything here. `ppsrig check` fires the edges and says what follows.

use std::collections::BTreeMap;

use ppsrig_wire::{CaptureCounters, FromBoard};

use super::label::{FOLLOWS_NS, LAG_NS, LATE_NS};
use super::seconds::Reference;
use crate::events::{BoardEvent, Naming, Recording, ReferenceEvent, TimeSource, Trust};
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

/// Which transition the board captures when it is told to capture the leading one of a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// The leading one.
    AsDeclared,
    /// The trailing one: something between generator and board inverts.
    Inverted,
    /// Neither fits.
    Unclear,
}

/// A pulse as the board found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Which transition came first.
    pub polarity: Polarity,
    /// From the captures of the one direction to those of the other, in nanoseconds: the width, or the rest of the period.
    pub apart_ns: f64,
    /// How far that is from what it ought to be for this polarity, in nanoseconds.
    pub off_ns: f64,
    /// Largest distance of a capture from the median of its direction, in nanoseconds.
    pub spread_ns: f64,
}

/// Counter values of the captures in a window, as they arrived.
#[must_use]
pub fn captured(recording: &Recording, window: u32) -> Vec<(HostNanos, u64)> {
    let of = |event: &crate::events::Stamped<BoardEvent>| match &event.event {
        BoardEvent::Frame { message: FromBoard::Capture(capture), .. } if capture.window == window => {
            let counter = match capture.counters {
                CaptureCounters::Irq { capture } => capture,
                CaptureCounters::Poll { after, .. } => after,
            };
            Some((event.at, counter))
        }
        _ => None,
    };
    recording.board.iter().filter_map(of).collect()
}

/// Compares captures of both directions of pulses of one phase. `leading` and `trailing` are counter values of two trains of
/// the same period, both on the same grid; none without captures of both, or where the grid cannot be told.
#[must_use]
pub fn shape(
    leading: &[u64],
    trailing: &[u64],
    period_ticks: f64,
    period_ns: u64,
    width_ns: u64,
) -> Option<Shape> {
    let first = *leading.first()?;
    if trailing.is_empty() || period_ticks <= 0.0 {
        return None;
    }
    let ns = |ticks: f64| ticks / period_ticks * period_ns as f64;
    let phase = |value: &u64| ((i128::from(*value) - i128::from(first)) as f64).rem_euclid(period_ticks);
    // Phases of each train around that of its own first, so that none is cut in two by the period's end.
    let train = |values: &[u64]| {
        let own = phase(values.first()?);
        let half = period_ticks / 2.0;
        let around: Vec<f64> =
            values.iter().map(|value| (phase(value) - own + half).rem_euclid(period_ticks) - half).collect();
        let middle = median(&around)?;
        let spread = around.iter().map(|at| (at - middle).abs()).fold(0.0, f64::max);
        Some((own + middle, spread))
    };
    let ((lead, one), (trail, other)) = (train(leading)?, train(trailing)?);
    let apart_ns = ns((trail - lead).rem_euclid(period_ticks));
    let (period, width) = (period_ns as f64, width_ns as f64);
    let around = |wanted: f64| {
        let off = (apart_ns - wanted + period / 2.0).rem_euclid(period) - period / 2.0;
        (off.abs(), off)
    };
    let (declared, inverted) = (around(width), around(period - width));
    let near = (period - 2.0 * width).abs() / 4.0;
    let (polarity, off_ns) = match (declared.0 <= near, inverted.0 <= near) {
        (true, false) => (Polarity::AsDeclared, declared.1),
        (false, true) => (Polarity::Inverted, inverted.1),
        _ => (Polarity::Unclear, declared.1),
    };
    Some(Shape { polarity, apart_ns, off_ns, spread_ns: ns(one.max(other)) })
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// How one kind of time message stands against the pulse that it names, by arrivals at the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLag {
    /// The kind.
    pub source: TimeSource,
    /// Messages.
    pub n: usize,
    /// Nanoseconds behind the pulse, negative: before it. Against the record of an edge on the pulse that arrived soonest.
    pub median_ns: i64,
    /// The soonest.
    pub earliest_ns: i64,
    /// The latest.
    pub latest_ns: i64,
    /// How much later or sooner all of them, or the edges, might come before the second is ambiguous; negative: it is.
    pub margin_ns: i64,
}

/// The lags of every kind of message. `pulses`: when records of edges on a pulse arrived, and the second of that pulse.
#[must_use]
pub fn message_lags(recording: &Recording, pulses: &[(HostNanos, GpsSecond)]) -> Vec<MessageLag> {
    let offset =
        |at: HostNanos, second: GpsSecond| i128::from(at.0) - i128::from(second.0) * i128::from(NS_PER_S);
    let Some(pulse) = pulses.iter().map(|&(at, second)| offset(at, second)).min() else { return Vec::new() };
    let mut lags: BTreeMap<TimeSource, Vec<i64>> = BTreeMap::new();
    for event in &recording.reference {
        let ReferenceEvent::Time(message) = &event.event else { continue };
        if message.trust != Trust::Unlocked
            && let Ok(lag) = i64::try_from(offset(event.at, message.second) - pulse)
        {
            lags.entry(message.source).or_default().push(lag);
        }
    }
    lags.into_iter().map(|(source, lags)| lag_of(source, lags)).collect()
}

fn lag_of(source: TimeSource, mut lags: Vec<i64>) -> MessageLag {
    lags.sort_unstable();
    let (earliest_ns, latest_ns) = (lags[0], lags[lags.len() - 1]);
    // Only the soonest of a kind counts for a label, so the late ones do no harm.
    let earliest = i128::from(earliest_ns);
    let second = i128::from(NS_PER_S);
    let margin = match source.naming() {
        Naming::Announces => (-earliest - LATE_NS).min(second + earliest),
        Naming::Confirms => (earliest - LAG_NS.start()).min(LAG_NS.end() - earliest),
        Naming::Follows => (FOLLOWS_NS - earliest).min(earliest + LATE_NS),
    };
    MessageLag {
        source,
        n: lags.len(),
        median_ns: lags[lags.len() / 2],
        earliest_ns,
        latest_ns,
        margin_ns: i64::try_from(margin).unwrap_or(i64::MIN),
    }
}

/// The second of each captured edge on a pulse that has one by its arrival alone; a record that was held up has none. The
/// counter, `period_ticks` from edge to edge, tells whether they are seconds of one train.
///
/// # Errors
/// Why the first has none, if none has; that they contradict one another. A sentence for the report.
pub fn labelled(
    captures: &[(HostNanos, u64)],
    period_ticks: f64,
    reference: &dyn Reference,
) -> Result<Vec<(HostNanos, GpsSecond)>, String> {
    let mut refusal = None;
    let mut labels = Vec::new();
    for &(at, counter) in captures {
        match reference.label(at) {
            Ok(second) => labels.push((at, second, counter)),
            Err(why) => _ = refusal.get_or_insert(why),
        }
    }
    let Some(&(_, first, since)) = labels.first() else {
        return Err(refusal.unwrap_or_else(|| "no edge was captured".to_owned()));
    };
    let index =
        |counter: u64| ((i128::from(counter) - i128::from(since)) as f64 / period_ticks).round() as i64;
    match labels.iter().find(|(_, second, counter)| second.0 != first.0 + index(*counter)) {
        Some((_, other, counter)) => Err(format!(
            "the edges contradict one another: one is of second {}, and the one {} periods behind it of second {}",
            first.0,
            index(*counter),
            other.0
        )),
        None => Ok(labels.into_iter().map(|(at, second, _)| (at, second)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Stamped, TimeMessage, TimeScale};

    const HZ: f64 = 12_500_000.0;
    const MS: u64 = 12_500;

    /// Edges a second apart, `late_ms` behind the grid, with a little jitter.
    fn train(from_s: u64, late_ms: u64) -> Vec<u64> {
        (from_s..from_s + 4).map(|s| 7_000_000 + s * 1000 * MS + late_ms * MS + s * 31 % 100).collect()
    }

    fn judged(leading: &[u64], trailing: &[u64]) -> Shape {
        shape(leading, trailing, HZ, 1_000_000_000, 200_000_000).expect("there are captures")
    }

    #[test]
    fn a_pulse_of_the_declared_polarity_is_as_wide_as_it_was_told() {
        let shape = judged(&train(0, 0), &train(9, 200));
        assert_eq!(shape.polarity, Polarity::AsDeclared);
        assert!((shape.apart_ns - 2e8).abs() < 2e4 && shape.spread_ns < 1e4, "{shape:?}");
    }

    #[test]
    fn an_inverted_pulse_shows_the_rest_of_its_period() {
        let shape = judged(&train(0, 200), &train(9, 0));
        assert_eq!(shape.polarity, Polarity::Inverted);
        assert!((shape.apart_ns - 8e8).abs() < 2e4 && shape.off_ns.abs() < 2e4, "{shape:?}");
    }

    #[test]
    fn a_pulse_that_fits_neither_is_unclear_and_without_captures_there_is_nothing_to_say() {
        assert_eq!(judged(&train(0, 0), &train(9, 500)).polarity, Polarity::Unclear);
        assert_eq!(shape(&[], &train(0, 0), HZ, 1, 1), None);
        assert_eq!(shape(&train(0, 0), &[], HZ, 1, 1), None);
    }

    #[test]
    fn a_train_around_the_end_of_the_period_is_not_cut_in_two() {
        let leading = [1000, 12_500_990, 25_001_010];
        let trailing = [100_000_995 + 200 * MS, 112_501_005 + 200 * MS];
        let shape = judged(&leading, &trailing);
        assert!((shape.apart_ns - 2e8).abs() < 1e4 && shape.spread_ns < 1e4, "{shape:?}");
    }

    fn message(source: TimeSource, second: i64, at_ms: i64) -> Stamped<ReferenceEvent> {
        let (trust, scale) = (Trust::Locked, TimeScale::Gps);
        let message = TimeMessage { source, second: GpsSecond(second), trust, qerr_ps: None, scale };
        Stamped { at: HostNanos(at_ms as u64 * 1_000_000), event: ReferenceEvent::Time(message) }
    }

    #[test]
    fn each_kind_of_message_has_its_own_lag_and_its_own_distance_from_ambiguity() {
        let pulse = |s: i64| 1000 * (s - 100);
        let mut recording = Recording::default();
        for s in 101..105 {
            recording.reference.push(message(TimeSource::UbxTimTp, s + 1, pulse(s) + 80));
            recording.reference.push(message(TimeSource::NmeaRmc, s, pulse(s) + 120 + s % 2));
        }
        let edges: Vec<_> =
            (102..104).map(|s| (HostNanos(pulse(s) as u64 * 1_000_000), GpsSecond(s))).collect();
        let lags = message_lags(&recording, &edges);
        let of = |source| *lags.iter().find(|lag| lag.source == source).expect("it came");
        let (rmc, tim_tp) = (of(TimeSource::NmeaRmc), of(TimeSource::UbxTimTp));
        assert_eq!((rmc.earliest_ns, rmc.latest_ns), (120_000_000, 121_000_000));
        assert_eq!((rmc.margin_ns, rmc.n), (90_000_000, 4));
        assert_eq!((tim_tp.median_ns, tim_tp.margin_ns), (-920_000_000, 80_000_000));
        assert!(message_lags(&recording, &[]).is_empty());
    }

    /// Labels by the nearest whole second, but for what comes late.
    struct Nearest;

    impl Reference for Nearest {
        fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String> {
            match arrival.0 % 1_000_000_000 {
                0..250_000_000 => Ok(GpsSecond((arrival.0 / 1_000_000_000) as i64)),
                _ => Err("late".to_owned()),
            }
        }

        fn distrust(&self, _: crate::units::Nanos) -> Option<(crate::analysis::class::Class, String)> {
            None
        }

        fn qerr_ps(&self, _: GpsSecond) -> Option<i32> {
            None
        }

        fn rule(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn a_record_that_was_held_up_costs_its_own_second_only_and_seconds_that_jump_are_refused() {
        let at = |ms: u64| HostNanos(ms * 1_000_000);
        let tick = |s: u64| 500 + s * 1000 * MS;
        let edges = [(at(5300), tick(0)), (at(6001), tick(1)), (at(7002), tick(2))];
        let seconds = labelled(&edges, HZ, &Nearest).expect("two of them have one");
        assert_eq!(seconds.iter().map(|(_, second)| second.0).collect::<Vec<_>>(), [6, 7]);
        assert_eq!(labelled(&edges[..1], HZ, &Nearest), Err("late".to_owned()));
        let jumped = [(at(6001), tick(1)), (at(9001), tick(2))];
        assert!(labelled(&jumped, HZ, &Nearest).expect_err("they jump").contains("contradict"));
    }

    #[test]
    fn a_message_near_the_next_pulse_is_ambiguous() {
        let mut recording = Recording::default();
        recording.reference.push(message(TimeSource::NmeaRmc, 101, 1950));
        let lags = message_lags(&recording, &[(HostNanos(1_000_000_000), GpsSecond(101))]);
        assert!(lags[0].margin_ns < 0, "{lags:?}");
    }
}
