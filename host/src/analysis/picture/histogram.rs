//! Histograms: latencies in bins, ticks and phases as they were counted.

use super::{Axis, Bar, Unit};
use crate::analysis::latency::Latencies;
use crate::analysis::path::Variant;
use crate::analysis::path::collect::PathWindow;
use crate::analysis::path::histogram::Histogram as Ticks;
use crate::names::PathPart;

/// Bins of a latency histogram at most.
const BINS: usize = 120;
/// A unit as wide as a tick has a bar for each up to so many.
const TICKS: u32 = 200;

/// Bars over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// What is counted by.
    pub x: Axis,
    /// Counts, by decades.
    pub y: Axis,
    /// The bars that are not empty, rising.
    pub bars: Vec<Bar>,
}

impl Histogram {
    fn new(x: Axis, counted: &str, bars: Vec<Bar>) -> Self {
        let most = bars.iter().map(|bar| bar.count).fold(0.0, f64::max);
        Self { x, y: Axis::counts(counted, most), bars }
    }
}

/// The latencies of a mode by a tie. None without a tie.
#[must_use]
pub fn of_latencies(latencies: &Latencies) -> Option<Histogram> {
    let mut values = latencies.sample.values();
    values.sort_unstable();
    let (least, most) = (*values.first()?, *values.last()?);
    let unit = Unit::of(least.abs().max(most.abs()));
    let x = Axis::fitting(format!("latency, {}", unit.name), unit.of_ps(least), unit.of_ps(most));
    let edges = x.parts(bins(values.len()));
    let mut bars: Vec<Bar> =
        edges.windows(2).map(|pair| Bar { from: pair[0], to: pair[1], count: 0.0 }).collect();
    for value in values {
        let value = unit.of_ps(value);
        let place = bars.partition_point(|bar| bar.to <= value).min(bars.len() - 1);
        bars[place].count += 1.0;
    }
    bars.retain(|bar| bar.count > 0.0);
    Some(Histogram::new(x, "edges", bars))
}

/// More values can fill more bins.
fn bins(values: usize) -> usize {
    ((values as f64).sqrt() * 2.0).ceil().clamp(10.0, BINS as f64) as usize
}

/// By how many ticks the counter advanced between the two reads of a build, all sessions together.
#[must_use]
pub fn of_ticks(variant: &Variant) -> Option<Histogram> {
    let mut all = Ticks::default();
    variant.sessions.iter().for_each(|session| all.merge(&session.histogram));
    let (least, most) = (all.least()?, all.most()?);
    let title = "D, ticks of the counter";
    if most - least <= TICKS {
        let bars = all.iter().map(|(ticks, count)| bar(f64::from(ticks), count)).collect();
        let (from, to) = (f64::from(least) - 1.0, f64::from(most) + 1.0);
        return Some(Histogram::new(Axis { title: title.to_owned(), from, to, log: false }, "pairs", bars));
    }
    let x = Axis::decades(title, f64::from(least).max(0.5), f64::from(most));
    let edges = x.parts(BINS);
    let count = |pair: &[f64]| {
        let inside = all.iter().filter(|(ticks, _)| (pair[0]..pair[1]).contains(&f64::from(*ticks).max(0.5)));
        Bar { from: pair[0], to: pair[1], count: inside.map(|(_, count)| count as f64).sum() }
    };
    let bars = edges.windows(2).map(count).filter(|bar| bar.count > 0.0).collect();
    Some(Histogram::new(x, "pairs", bars))
}

fn bar(centre: f64, count: u64) -> Bar {
    Bar { from: centre - 0.5, to: centre + 0.5, count: count as f64 }
}

/// In how many pairs of a build the caller's read fell into each phase, one bin a CPU cycle, with the count that each bin
/// would have if they were uniform. Counts are shown as they are: what matters is how far they are from each other.
#[must_use]
pub fn of_phases(windows: &[PathWindow], variant: &Variant) -> Option<(Histogram, f64)> {
    let of_variant = windows.iter().filter(|window| {
        window.variant == variant.variant
            && window.clock_id == variant.clock_id
            && window.part == PathPart::Path
            && window.is_whole()
    });
    let mut sums: Vec<u64> = Vec::new();
    for window in of_variant {
        sums.resize(sums.len().max(window.phases.len()), 0);
        sums.iter_mut().zip(&window.phases).for_each(|(sum, count)| *sum += count);
    }
    let total: u64 = sums.iter().sum();
    // A counter that advances with every cycle has one phase.
    if sums.len() < 2 || total == 0 {
        return None;
    }
    let bars: Vec<Bar> = sums.iter().enumerate().map(|(phase, count)| bar(phase as f64, *count)).collect();
    let most = bars.iter().map(|bar| bar.count).fold(0.0, f64::max);
    let title = "phase at the caller's read, CPU cycles".to_owned();
    let x = Axis { title, from: -1.0, to: sums.len() as f64, log: false };
    let y = Axis { title: "pairs".to_owned(), from: 0.0, to: most * 1.1, log: false };
    Some((Histogram { x, y, bars }, total as f64 / sums.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::estimate::Sample;
    use crate::analysis::row::Mode;
    use crate::analysis::tie::Tie;

    fn latencies(values: &[i128]) -> Latencies {
        let sample = Sample { sessions: vec![values.to_vec()] };
        let n = values.len() as u64;
        Latencies { mode: Mode::Irq, tie: Tie::Echo, sample, n, components: Vec::new(), figures: Vec::new() }
    }

    #[test]
    fn every_latency_is_in_a_bin_the_first_and_the_last_too() {
        let values: Vec<i128> = (0..1000).map(|k| 90_000_000 + k * k * 50_000).collect();
        let histogram = of_latencies(&latencies(&values)).unwrap();
        assert!(histogram.x.log, "{:?}", histogram.x);
        assert!((histogram.bars.iter().map(|bar| bar.count).sum::<f64>() - 1000.0).abs() < 1e-9);
        assert!(histogram.y.from > 0.0 && histogram.y.log);
        let one = of_latencies(&latencies(&[-5])).unwrap();
        assert_eq!((one.bars.len(), one.bars[0].count), (1, 1.0));
        assert!(of_latencies(&latencies(&[])).is_none());
    }
}
