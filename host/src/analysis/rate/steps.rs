//! Steps of the counter against the edges: counts that were lost or gained, and a rate that changed.
//!
//! The rule. The edges of a burst are put into blocks, 16 to 64 of at least six edges each, and of each block the median is
//! taken of how late the counter is. A phase step shows between two neighbouring blocks, beside the slopes on either
//! side; a frequency step between the slopes over two blocks before and two behind. Each of the two is compared with its
//! own median over all blocks: `10 + 240 / blocks` times as much is a step. Whatever the edges scatter by is in that
//! median, so that no jitter crosses the threshold: with white phase noise, white frequency noise and a random walk of
//! frequency fewer than one clean run in 1000 has a step (`simulation` runs them; flicker noise is not among them).
//! Of the two, what explains more is named, taken out, and the search goes on.

use super::{CounterRate, Reading};
use crate::analysis::fixed::Fixed;

/// Blocks of a burst, at least and at most.
const BLOCKS: (usize, usize) = (16, 64);
/// Edges of a block, at least.
const EDGES: usize = 6;
/// Most steps that are told of a burst.
const MOST: usize = 8;
/// On an emulated board a host that stalls looks the same as a step that is shorter than this, in picoseconds.
pub const STALL_PS: f64 = 50e9;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The first edge behind it.
    pub edge: u32,
    /// Seconds from the first edge of the burst to it.
    pub after_s: f64,
    /// What stepped.
    pub kind: StepKind,
}

/// What stepped, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepKind {
    /// Counts that were gained, or lost if negative.
    Phase {
        /// In ticks.
        ticks: i128,
        /// In picoseconds.
        ps: f64,
    },
    /// The rate changed.
    Frequency {
        /// Before it, in hertz.
        before: Fixed,
        /// Behind it, in hertz.
        after: Fixed,
        /// Relative change in parts per million.
        ppm: f64,
    },
}

/// What a search found, and what it could have found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// In order of time.
    pub steps: Vec<Step>,
    /// The smallest phase step that would have been found, in ticks; none where there were too few edges to look.
    pub least_ticks: Option<i128>,
    /// The smallest frequency step, in parts per million.
    pub least_ppm: Option<f64>,
}

/// Edges that a search needs.
pub const LEAST_EDGES: usize = BLOCKS.0 * EDGES;

/// Looks for steps among the readings of one burst.
#[must_use]
pub fn find(readings: &[Reading], rate: &CounterRate, emulated: bool) -> Search {
    let Some(mut series) = Series::new(readings, rate) else { return Search::default() };
    let floor_ps = if emulated { STALL_PS } else { 2.0 * rate.tick_ps() };
    let mut search = Search::default();
    while search.steps.len() < MOST {
        let statistics = series.statistics();
        if search.least_ticks.is_none() {
            let least = statistics.phase_threshold.max(floor_ps) / rate.tick_ps();
            search.least_ticks = Some(least.ceil() as i128);
            let over = series.span_s() / 2.0;
            search.least_ppm = Some(statistics.frequency_threshold.max(floor_ps / over) * 1e-6);
        }
        let Some(step) = series.step(&statistics, floor_ps) else { break };
        search.steps.push(series.take_out(step, rate));
    }
    search.steps.sort_by(|one, other| one.after_s.total_cmp(&other.after_s));
    search
}

/// How late the counter is at each edge.
struct Series<'a> {
    readings: &'a [Reading],
    /// Seconds after the first edge.
    time_s: Vec<f64>,
    /// Picoseconds by which the counter, at the measured rate, is ahead of the edges.
    ahead_ps: Vec<f64>,
    blocks: usize,
}

/// The two statistics at their largest.
struct Statistics {
    /// Medians of the blocks: time in seconds, picoseconds ahead.
    medians: Vec<(f64, f64)>,
    /// The first of the two blocks, and the phase step between them.
    phase: (usize, f64),
    phase_threshold: f64,
    /// The block behind which the slope changes, and by how much, in picoseconds a second.
    frequency: (usize, f64),
    frequency_threshold: f64,
}

/// A step at a place of the series.
enum Found {
    /// From this reading on, by so many picoseconds.
    Phase { from: usize, ps: f64 },
    /// At this time, from one slope to another.
    Frequency { at_s: f64, before: f64, after: f64 },
}

impl<'a> Series<'a> {
    fn new(readings: &'a [Reading], rate: &CounterRate) -> Option<Self> {
        let first = readings.first().filter(|_| readings.len() >= LEAST_EDGES)?;
        let after = |reading: &Reading| reading.time_ps - first.time_ps;
        let ahead = |reading: &Reading| {
            (rate.picoseconds(reading.half_ticks - first.half_ticks) - after(reading)) as f64
        };
        Some(Self {
            readings,
            time_s: readings.iter().map(|reading| after(reading) as f64 * 1e-12).collect(),
            ahead_ps: readings.iter().map(ahead).collect(),
            blocks: (readings.len() / EDGES).clamp(BLOCKS.0, BLOCKS.1),
        })
    }

    fn span_s(&self) -> f64 {
        self.time_s.last().copied().unwrap_or(0.0)
    }

    /// The first reading of a block; of the one behind the last, their number.
    fn start(&self, block: usize) -> usize {
        block * self.readings.len() / self.blocks
    }

    fn statistics(&self) -> Statistics {
        let of_block = |block: usize| {
            let range = self.start(block)..self.start(block + 1);
            (median(&self.time_s[range.clone()]), median(&self.ahead_ps[range]))
        };
        let medians: Vec<(f64, f64)> = (0..self.blocks).map(of_block).collect();
        let slope = |from: usize, to: usize| slope(medians[from], medians[to]);
        let phases = (1..self.blocks - 2).map(|block| {
            let beside = f64::midpoint(slope(block - 1, block), slope(block + 1, block + 2));
            let ((t0, x0), (t1, x1)) = (medians[block], medians[block + 1]);
            (block, x1 - x0 - beside * (t1 - t0))
        });
        let slopes =
            (2..self.blocks - 3).map(|block| (block, slope(block + 1, block + 3) - slope(block - 2, block)));
        let (phase, phase_threshold) = self.largest(phases.collect());
        let (frequency, frequency_threshold) = self.largest(slopes.collect());
        Statistics { phase, phase_threshold, frequency, frequency_threshold, medians }
    }

    /// The largest of the values, and what it has to reach.
    fn largest(&self, values: Vec<(usize, f64)>) -> ((usize, f64), f64) {
        let sizes: Vec<f64> = values.iter().map(|(_, value)| value.abs()).collect();
        let threshold = (10.0 + 240.0 / self.blocks as f64) * median(&sizes);
        let largest = values.into_iter().max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()));
        (largest.unwrap_or((0, 0.0)), threshold)
    }

    fn step(&self, found: &Statistics, floor_ps: f64) -> Option<Found> {
        let ((block, phase), (behind, slope)) = (found.phase, found.frequency);
        let block_s = self.span_s() / self.blocks as f64;
        let is_phase = phase.abs() > found.phase_threshold && phase.abs() >= floor_ps;
        let is_frequency = slope.abs() > found.frequency_threshold;
        // A phase step moves the slopes over two blocks by half of itself a block; a frequency step moves the phase
        // between two blocks by half of what it comes to in one.
        match phase.abs() > slope.abs() * block_s {
            true if is_phase => Some(self.phase_step(block, phase, &found.medians)),
            false if is_frequency => self.frequency_step(behind, &found.medians, floor_ps),
            _ => None,
        }
    }

    /// The place among the edges of the two blocks that parts them best, and the step there.
    fn phase_step(&self, block: usize, about: f64, medians: &[(f64, f64)]) -> Found {
        let range = self.start(block)..self.start(block + 2);
        let outer = self.start(block - 1)..self.start(block + 3);
        let slope = beside(block, medians);
        let level =
            |index: usize| self.ahead_ps[index] - slope * (self.time_s[index] - self.time_s[range.start]);
        let sides = |split: usize| {
            let of = |range: std::ops::Range<usize>| median(&range.map(level).collect::<Vec<_>>());
            (of(outer.start..split), of(split..outer.end))
        };
        let (left, right) = sides(self.start(block + 1));
        let centre = f64::midpoint(left, right);
        let (mut sum, mut most, mut from) = (0.0, 0.0, range.start);
        for index in range.clone() {
            // An edge on the early side of the centre speaks for a later split; none speaks louder than the step itself.
            sum += ((centre - level(index)) * about.signum()).clamp(-about.abs(), about.abs());
            if sum > most {
                (most, from) = (sum, index + 1);
            }
        }
        let (left, right) = sides(from);
        Found::Phase { from, ps: right - left }
    }

    /// Where the lines through the blocks on either side meet. None if it comes to less than the floor on the shorter side.
    fn frequency_step(&self, block: usize, medians: &[(f64, f64)], floor_ps: f64) -> Option<Found> {
        let (early, late) = (&medians[..block], &medians[block + 2..]);
        let (before, after) = (theil_sen(early), theil_sen(late));
        let level = |points: &[(f64, f64)], slope: f64| {
            median(&points.iter().map(|(t, x)| x - slope * t).collect::<Vec<_>>())
        };
        let meeting = (level(early, before) - level(late, after)) / (after - before);
        let near = medians[block - 1].0..=medians[(block + 2).min(medians.len() - 1)].0;
        let at_s =
            if meeting.is_finite() { meeting.clamp(*near.start(), *near.end()) } else { medians[block].0 };
        let shorter = at_s.min(self.span_s() - at_s);
        ((after - before).abs() * shorter >= floor_ps).then_some(Found::Frequency { at_s, before, after })
    }

    fn take_out(&mut self, found: Found, rate: &CounterRate) -> Step {
        match found {
            Found::Phase { from, ps } => {
                self.ahead_ps[from..].iter_mut().for_each(|ahead| *ahead -= ps);
                let ticks = (ps / rate.tick_ps()).round() as i128;
                self.told(from, StepKind::Phase { ticks, ps })
            }
            Found::Frequency { at_s, before, after } => {
                for (ahead, time) in self.ahead_ps.iter_mut().zip(&self.time_s) {
                    *ahead -= (after - before) * (time - at_s).max(0.0);
                }
                let behind = self.time_s.partition_point(|time| *time < at_s).min(self.readings.len() - 1);
                let hertz = |slope: f64| {
                    let mean = rate.hertz();
                    let off = Fixed::rounded(slope * 1e-12 * mean.to_f64(), mean.places);
                    Fixed { scaled: mean.scaled + off.map_or(0, |off| off.scaled), ..mean }
                };
                let ppm = (after - before) * 1e-6;
                self.told(behind, StepKind::Frequency { before: hertz(before), after: hertz(after), ppm })
            }
        }
    }

    fn told(&self, index: usize, kind: StepKind) -> Step {
        Step { edge: self.readings[index].edge, after_s: self.time_s[index], kind }
    }
}

fn slope((t0, x0): (f64, f64), (t1, x1): (f64, f64)) -> f64 {
    if t1 > t0 { (x1 - x0) / (t1 - t0) } else { 0.0 }
}

/// The slope on either side of a phase step that lies in this block or the next, as near as it does not touch them.
fn beside(block: usize, medians: &[(f64, f64)]) -> f64 {
    let early = block.checked_sub(3).map(|from| slope(medians[from], medians[block - 1]));
    let late = medians.get(block + 4).map(|to| slope(medians[block + 2], *to));
    match (early, late) {
        (Some(early), Some(late)) => f64::midpoint(early, late),
        (one, other) => one.or(other).unwrap_or(0.0),
    }
}

/// The median slope of all pairs of points.
fn theil_sen(points: &[(f64, f64)]) -> f64 {
    let slopes = points
        .iter()
        .enumerate()
        .flat_map(|(index, (t0, x0))| points[index + 1..].iter().map(move |(t1, x1)| (x1 - x0) / (t1 - t0)));
    median(&slopes.filter(|slope| slope.is_finite()).collect::<Vec<_>>())
}

/// The middle value, or the mean of the two; 0 of nothing.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let (_, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}
