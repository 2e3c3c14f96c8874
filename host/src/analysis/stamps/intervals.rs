//! Readings of a counter that gives intervals and no timestamps: which edge each belongs to.
//!
//! Such a reading is complete when channel B has come, and reaches the host later still. So the edge came at its arrival
//! less the interval, or earlier: with edges half a second apart or more, the host's clock tells which one it was. The
//! host's clock chooses the edge and enters no figure. Where B is the reference's pulse, the edge's time is that pulse
//! less the interval.

use std::collections::BTreeMap;

use super::super::anchor::Anchor;
use super::super::window::Window;
use super::{Echo, EdgeStamp, EdgeStamps, LATE_NS, NoEcho};
use crate::events::{IntervalChannel, IntervalEvent, IntervalReading, IntervalStamp, Stamped};
use crate::units::{PS_PER_S, Picos};

/// Edges closer than this cannot be told apart by the arrival of their readings, in picoseconds.
const APART_PS: i128 = PS_PER_S / 2;
/// A reading may reach the host by half a period later than it was complete. It may seem a quarter of one early, since
/// the host's clock is placed by the board's records, which are late themselves. What lies between could be either.
const LATE_PART: i128 = 2;
const EARLY_PART: i128 = 4;

/// The edges of a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<'a> {
    /// The first edge on the GPS time scale.
    pub start_ps: i128,
    pub period_ps: i128,
    pub edges: u32,
    pub anchor: &'a Anchor,
}

/// Finds each edge's reading. An edge to which two could belong has none.
pub(super) fn find(
    readings: &[Stamped<IntervalEvent>],
    window: &Window,
    grid: Grid<'_>,
    echo_wired: bool,
) -> EdgeStamps {
    let mut found: BTreeMap<u32, Option<IntervalReading>> = BTreeMap::new();
    if grid.period_ps < APART_PS {
        return EdgeStamps::new();
    }
    let end = window.closed.map_or(u64::MAX, |closed| closed.0.saturating_add(LATE_NS));
    let in_window = readings.iter().filter(|event| event.at >= window.opened && event.at.0 <= end);
    for event in in_window {
        let IntervalEvent::Interval(reading) = event.event else { continue };
        let complete = i128::from(event.at.0) * 1000 - grid.anchor.host_minus_gps_ns * 1000;
        let after = complete - reading.time.0.max(0) - grid.start_ps;
        let edge = (after + grid.period_ps / EARLY_PART).div_euclid(grid.period_ps);
        let soon_enough = after - edge * grid.period_ps <= grid.period_ps / LATE_PART;
        let Some(edge) = u32::try_from(edge).ok().filter(|&edge| edge < grid.edges && soon_enough) else {
            continue;
        };
        found.entry(edge).and_modify(|known| *known = None).or_insert(Some(reading));
    }
    let stamp = |edge: u32, reading: IntervalReading| {
        let nominal = grid.start_ps + i128::from(edge) * grid.period_ps;
        if echo_wired { echo(reading, grid.period_ps) } else { against_pulse(reading, nominal) }
    };
    found.into_iter().filter_map(|(edge, reading)| Some((edge, stamp(edge, reading?)))).collect()
}

/// As with timestamps, an echo lies surely behind its edge and before the middle of the slot.
fn echo(reading: IntervalReading, period_ps: i128) -> EdgeStamp {
    let width = reading.half_width.map_or(0, |width| width.0);
    let in_slot = reading.time.0 + width >= 0 && reading.time.0 + width <= period_ps / 2;
    let echo = if in_slot { Ok(Echo::Interval(reading)) } else { Err(NoEcho::NotInSlot) };
    EdgeStamp { edge: None, echo }
}

/// The whole second that puts the edge nearest to its nominal time, less the interval.
fn against_pulse(reading: IntervalReading, nominal_ps: i128) -> EdgeStamp {
    let pulse = (nominal_ps + reading.time.0 + PS_PER_S / 2).div_euclid(PS_PER_S) * PS_PER_S;
    let time = Picos(pulse - reading.time.0);
    let edge = IntervalStamp { channel: IntervalChannel::A, time, half_width: reading.half_width };
    EdgeStamp { edge: Some(edge), echo: Err(NoEcho::NotWired) }
}

#[cfg(test)]
mod tests {
    use super::super::super::edge::analyse;
    use super::super::super::synthetic::Scene;
    use super::*;
    use crate::events::Recording;
    use ppsrig_wire::EdgeMode;

    /// What a counter without timestamps would have said of the same edges: A to B, when B has come.
    fn as_intervals(recording: &mut Recording) {
        let mut edge: Option<IntervalStamp> = None;
        let readings = std::mem::take(&mut recording.interval);
        for Stamped { at, event } in readings {
            let IntervalEvent::Stamp(stamp) = event else { continue };
            match stamp.channel {
                IntervalChannel::A => edge = Some(stamp),
                IntervalChannel::B => {
                    let Some(edge) = edge.take() else { continue };
                    let time = Picos(stamp.time.0 - edge.time.0);
                    let event = IntervalEvent::Interval(IntervalReading { time, half_width: None });
                    recording.interval.push(Stamped { at, event });
                }
            }
        }
    }

    #[test]
    fn an_echo_latency_is_the_same_with_intervals_as_with_timestamps() {
        let mut scene = Scene::new(EdgeMode::Irq, 20, 500);
        scene.echo = true;
        let mut recording = scene.recording();
        let latencies = |recording: &Recording| -> Vec<(Option<u32>, Option<i128>, Option<i128>)> {
            let analysis = analyse(&scene.record(), recording, &scene.reference());
            let of = |row: &crate::analysis::row::EdgeRow| {
                (row.commanded, row.interval_ps, row.echo.as_ref().map(|latency| latency.ps))
            };
            analysis.rows().map(of).collect()
        };
        let stamped = latencies(&recording);
        as_intervals(&mut recording);
        let measured = latencies(&recording);
        assert_eq!(stamped.len(), measured.len());
        assert!(measured.iter().filter(|row| row.2.is_some()).count() == 20);
        for (one, other) in stamped.iter().zip(&measured) {
            assert_eq!((one.0, one.1), (other.0, other.1));
            // The rate comes from other readings, and with it the way from capture to echo.
            assert!(
                one.2.zip(other.2).is_none_or(|(one, other)| (one - other).abs() < 100),
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn an_edge_with_two_readings_has_none_and_edges_too_close_have_none() {
        let mut scene = Scene::new(EdgeMode::Irq, 20, 500);
        scene.echo = true;
        let mut recording = scene.recording();
        as_intervals(&mut recording);
        let last = recording.interval.last().expect("there are readings").clone();
        recording.interval.push(last);
        let analysis = analyse(&scene.record(), &recording, &scene.reference());
        assert_eq!(analysis.rows().filter(|row| row.echo.is_some()).count(), 19);
        let mut scene = Scene::new(EdgeMode::Irq, 20, 100);
        scene.echo = true;
        let mut recording = scene.recording();
        as_intervals(&mut recording);
        let analysis = analyse(&scene.record(), &recording, &scene.reference());
        assert_eq!(analysis.rows().filter(|row| row.echo.is_some()).count(), 0);
    }

    #[test]
    fn against_the_pulse_an_edge_has_a_time() {
        let reading = |ps| IntervalReading { time: Picos(ps), half_width: None };
        let time = |ps, nominal| against_pulse(reading(ps), nominal).edge.map(|stamp| stamp.time.0);
        let second = PS_PER_S;
        assert_eq!(time(250_000_000_000, 99 * second + 750_000_000_000), Some(99 * second + 750_000_000_000));
        assert_eq!(time(40, 100 * second), Some(100 * second - 40));
        assert_eq!(time(second - 40, 100 * second), Some(100 * second + 40));
        assert_eq!(time(-40, 100 * second), Some(100 * second + 40));
    }
}
