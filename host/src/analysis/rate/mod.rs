//! The counter's rate: ticks per GPS second, measured, with what it rests on.
//!
//! The rate is the difference of the two outermost readings over their span. Its uncertainty comes from reading the counter
//! (a tick) and from the edges' half-widths, and from the stability of the readings themselves ([`stability`]); over a span
//! that is too short for that, from how far an edge's time and its capture scatter. It never comes from the residuals of
//! a straight line, which only tell how well a line fits. What is wrong with the counter itself is named by [`faults`]
//! (by its readings alone) and [`steps`] (by its readings against the edges).

pub mod faults;
#[cfg(test)]
mod simulation;
pub mod stability;
pub mod steps;

use statrs::distribution::{ContinuousCDF, StudentsT};

use self::stability::Stability;
use self::steps::{Step, StepKind};
use super::fixed::Fixed;
use super::uncertainty::{Component, Kind, total};
use crate::events::Burst;
use crate::units::{Hertz, PS_PER_S};

/// A run is refused when the measured rate is certain to differ from the declared one by more than this.
pub const REFUSAL_PPM: f64 = 100.0;

/// Readings at either end that might as well have been the outermost.
const ENDPOINTS: usize = 5;

/// One reading of the counter at an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Number of the edge in its burst.
    pub edge: u32,
    /// The burst.
    pub burst: Burst,
    /// The counter, in half ticks.
    pub half_ticks: i128,
    /// Half the width of what the reading holds, in half ticks.
    pub half_width: i128,
    /// The edge's time, in picoseconds on the scale that all readings share.
    pub time_ps: i128,
    /// What is known of that time, if anything is: a bound or an expanded uncertainty.
    pub time_uncertainty: Option<Component>,
}

/// A measured rate: `half_ticks / 2` ticks in `span_ps`.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRate {
    /// Half ticks between the outermost readings.
    pub half_ticks: i128,
    /// Picoseconds between them.
    pub span_ps: i128,
    /// Expanded uncertainty (k = 2) of the rate, relative.
    pub u_relative: f64,
    /// Readings that it rests on.
    pub readings: usize,
    /// Where the edges' times come from.
    pub time_base: &'static str,
    /// How `u_relative` came about: components in picoseconds over the span.
    pub components: Vec<Component>,
    /// What the readings say of its stability. None over a span that is too short.
    pub stability: Option<Stability>,
}

impl CounterRate {
    /// The ratio to the declared rate, for people.
    #[must_use]
    pub fn ratio_of(&self, declared: Hertz, places: u8) -> Option<Fixed> {
        Fixed::rounded(self.ratio(declared), places)
    }

    /// The uncertainty in parts per million.
    #[must_use]
    pub fn u_ppm(&self, places: u8) -> Option<Fixed> {
        Fixed::rounded(self.u_relative * 1e6, places)
    }

    /// The span in seconds, to a millisecond.
    #[must_use]
    pub fn span_s(&self) -> Fixed {
        Fixed { scaled: (self.span_ps + 500_000_000).div_euclid(1_000_000_000), places: 3 }
    }

    /// Counts that were lost or gained between the outermost readings make their difference wrong by as much.
    pub fn allow_for(&mut self, steps: &[Step]) {
        let lost = steps.iter().map(|step| match step.kind {
            StepKind::Phase { ps, .. } => ps.abs(),
            StepKind::Frequency { .. } => 0.0,
        });
        let lost: f64 = lost.sum();
        if lost > 0.0 {
            self.components.push(Component::bound("steps of the counter", lost));
            self.u_relative = total(&self.components) / self.span_ps as f64;
        }
    }

    /// Ticks per GPS second, six places.
    #[must_use]
    pub fn hertz(&self) -> Fixed {
        let scaled = self.half_ticks.saturating_mul(PS_PER_S / 2).saturating_mul(1_000_000) / self.span_ps;
        Fixed { scaled, places: 6 }
    }

    /// Measured over declared.
    #[must_use]
    pub fn ratio(&self, declared: Hertz) -> f64 {
        self.half_ticks as f64 / 2.0 / declared.0 as f64 / (self.span_ps as f64 / PS_PER_S as f64)
    }

    /// A difference of counter values as picoseconds, rounded to the nearest.
    #[must_use]
    pub fn picoseconds(&self, half_ticks: i128) -> i128 {
        let product = half_ticks.saturating_mul(self.span_ps);
        let half = self.half_ticks / 2;
        product.saturating_add(half * product.signum() * self.half_ticks.signum()) / self.half_ticks
    }

    /// One tick in picoseconds.
    #[must_use]
    pub fn tick_ps(&self) -> f64 {
        2.0 * self.span_ps as f64 / self.half_ticks as f64
    }

    /// Why the declared rate is refused, if it is.
    #[must_use]
    pub fn refusal(&self, declared: Hertz) -> Option<String> {
        let ratio = self.ratio(declared);
        let off = ((ratio - 1.0).abs() - self.u_relative) * 1e6;
        (off > REFUSAL_PPM || !ratio.is_finite()).then(|| {
            format!(
                "the counter runs at {} Hz, declared are {}: ratio {ratio:.6} (U {:.1} ppm), more than {REFUSAL_PPM} ppm \
                 off; set counter-hz in the bench file to what the board really has, or mend its CNTFRQ",
                self.hertz(),
                declared,
                self.u_relative * 1e6
            )
        })
    }
}

/// Measures the rate. `period_ps` is the longest one of the bursts, `granularity` the ticks by which the counter advances
/// at once. None with fewer than two readings, or when the counter did not advance.
#[must_use]
pub fn measure(
    readings: &[Reading],
    time_base: &'static str,
    period_ps: i128,
    granularity: i128,
) -> Option<CounterRate> {
    let (first, last) = (readings.first()?, readings.last()?);
    let half_ticks = last.half_ticks - first.half_ticks;
    let span_ps = last.time_ps - first.time_ps;
    if half_ticks <= 0 || span_ps <= 0 {
        return None;
    }
    let half_tick_ps = span_ps as f64 / half_ticks as f64;
    let width = (first.half_width + last.half_width + 2 * granularity) as f64 * half_tick_ps;
    let mut components = vec![Component::bound("counter readings", width)];
    components.extend(edge_times(readings));
    let mut rate = CounterRate {
        half_ticks,
        span_ps,
        u_relative: 0.0,
        readings: readings.len(),
        time_base,
        components,
        stability: None,
    };
    rate.stability = Stability::of(readings, |half_ticks| rate.picoseconds(half_ticks));
    let scatter = scatter(readings, half_tick_ps, period_ps, rate.stability);
    rate.components.extend(scatter);
    rate.u_relative = total(&rate.components) / span_ps as f64;
    Some(rate)
}

/// What is known of the outermost edges' times, over the span. Where it is not known of one of them, the least known of all
/// readings stands in; none where nothing is known of any, as on a generator's nominal grid.
fn edge_times(readings: &[Reading]) -> Option<Component> {
    let known = readings.iter().filter_map(|reading| reading.time_uncertainty);
    let least = known.max_by(|one, other| one.ps.abs().total_cmp(&other.ps.abs()))?;
    let one = readings.first()?.time_uncertainty.unwrap_or(least);
    let other = readings.last()?.time_uncertainty.unwrap_or(least);
    Some(match (one.kind, other.kind) {
        (Kind::Expanded, Kind::Expanded) => Component::expanded("edges' times", one.ps.hypot(other.ps)),
        _ => Component::bound("edge half-widths", one.ps.abs() + other.ps.abs()),
    })
}

/// What the scatter and the wandering of the readings make the rate uncertain by, in picoseconds over the span.
fn scatter(
    readings: &[Reading],
    half_tick_ps: f64,
    period_ps: i128,
    stability: Option<Stability>,
) -> Vec<Component> {
    // Pairing allows no edge to be further away than this.
    let most = period_ps as f64 / 2.0;
    let outermost = endpoint_choice_ps(readings, half_tick_ps).min(most);
    if let (Some(stability), Some(first), Some(last)) = (stability, readings.first(), readings.last()) {
        let wander = stability.u_relative() * (last.time_ps - first.time_ps) as f64;
        let mut parts = vec![Component::expanded("stability", wander)];
        parts.extend((outermost > wander).then(|| Component::expanded("outermost edges", outermost)));
        return parts;
    }
    vec![match jitter_ps(readings, half_tick_ps) {
        None => Component::bound("edge jitter (not measured: half a period)", most),
        Some(sd) => {
            let t = student_975(readings.len() as f64 - 2.0);
            let jitter = (t * sd * std::f64::consts::SQRT_2).max(outermost);
            Component::expanded("edge jitter", jitter.min(most))
        }
    }]
}

/// Standard deviation of single edges in picoseconds, from how far each lies off the line through its two neighbours:
/// no slope enters. None with fewer than three.
fn jitter_ps(readings: &[Reading], half_tick_ps: f64) -> Option<f64> {
    let squares: Vec<f64> = readings
        .windows(3)
        .filter_map(|three| {
            let [left, middle, right] = three else { return None };
            let span = (right.time_ps - left.time_ps) as f64;
            let weight = (middle.time_ps - left.time_ps) as f64 / span;
            let by_counter = (middle.half_ticks - left.half_ticks) as f64
                - weight * (right.half_ticks - left.half_ticks) as f64;
            let variance = 1.0 + weight * weight + (1.0 - weight) * (1.0 - weight);
            let off = by_counter * half_tick_ps;
            (span > 0.0).then_some(off * off / variance)
        })
        .collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// How far the difference moves when another of the outermost readings is taken, in picoseconds. Latencies have a tail
/// that a standard deviation does not know, and the first or last edge may lie in it.
fn endpoint_choice_ps(readings: &[Reading], half_tick_ps: f64) -> f64 {
    let count = ENDPOINTS.min(readings.len() / 2);
    let off = |from: &Reading, to: &Reading| {
        let by_counter = (to.half_ticks - from.half_ticks) as f64 * half_tick_ps;
        let by_time = (to.time_ps - from.time_ps) as f64;
        // Extended to the whole span: a shorter one moves the rate by more.
        let span = (readings[readings.len() - 1].time_ps - readings[0].time_ps) as f64;
        if by_time > 0.0 { ((by_counter - by_time) * span / by_time).abs() } else { 0.0 }
    };
    let (first, last) = (&readings[..count], &readings[readings.len() - count..]);
    first.iter().flat_map(|from| last.iter().map(move |to| off(from, to))).fold(0.0, f64::max)
}

/// Student's t at 0.975, for at least one degree of freedom.
pub(super) fn student_975(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(count: i128, half_ticks_per_s: i128, jitter_half_ticks: &[i128]) -> Vec<Reading> {
        (0..count)
            .map(|index| Reading {
                edge: index as u32,
                burst: Burst::Edges,
                half_ticks: index * half_ticks_per_s
                    + jitter_half_ticks[index as usize % jitter_half_ticks.len()],
                half_width: 0,
                time_ps: index * PS_PER_S,
                time_uncertainty: Some(Component::bound("", 0.0)),
            })
            .collect()
    }

    #[test]
    fn the_rate_is_the_endpoints_difference_over_the_span() {
        let rate = measure(&readings(4, 25_000_000, &[0]), "nominal", PS_PER_S, 1).unwrap();
        assert_eq!(rate.hertz().to_string(), "12500000.000000");
        assert!((rate.ratio(Hertz(12_500_000)) - 1.0).abs() < 1e-12);
        assert_eq!(rate.refusal(Hertz(12_500_000)), None);
        assert_eq!(rate.picoseconds(2), 80_000);
        assert_eq!(rate.picoseconds(-2), -80_000);
    }

    #[test]
    fn a_rate_off_by_sixteen_is_refused_with_its_ratio() {
        let rate = measure(&readings(4, 1_562_500, &[0]), "nominal", PS_PER_S, 1).unwrap();
        let message = rate.refusal(Hertz(12_500_000)).unwrap();
        assert!(message.contains("ratio 0.062500"), "{message}");
        assert!(message.contains("781250.000000 Hz"), "{message}");
    }

    #[test]
    fn two_edges_cannot_tell_their_jitter_but_a_factor_of_sixteen_is_refused_all_the_same() {
        let good = measure(&readings(2, 25_000_000, &[0, 25_000]), "nominal", PS_PER_S, 1).unwrap();
        assert_eq!(good.refusal(Hertz(12_500_000)), None);
        let bad = measure(&readings(2, 1_562_500, &[0]), "nominal", PS_PER_S, 1).unwrap();
        assert!(bad.refusal(Hertz(12_500_000)).is_some());
    }

    #[test]
    fn a_small_error_is_refused_only_when_it_is_certain() {
        // 150 ppm off: certain with quiet edges, uncertain with edges that scatter by a millisecond.
        let quiet = measure(&readings(5, 25_003_750, &[0]), "nominal", PS_PER_S, 1).unwrap();
        assert!(quiet.refusal(Hertz(12_500_000)).is_some());
        let noisy = measure(&readings(5, 25_003_750, &[0, 25_000]), "nominal", PS_PER_S, 1).unwrap();
        assert_eq!(noisy.refusal(Hertz(12_500_000)), None);
    }

    #[test]
    fn an_outermost_edge_in_the_tail_is_within_the_uncertainty() {
        let mut late = readings(120, 25_000_000, &[0, 100, 50]);
        // 2 ms, a hundred times what the others scatter by.
        late[0].half_ticks += 50_000;
        let rate = measure(&late, "nominal", PS_PER_S, 1).unwrap();
        let off = (rate.ratio(Hertz(12_500_000)) - 1.0).abs();
        assert!(off > 1e-5 && off <= rate.u_relative, "{off} {}", rate.u_relative);
    }

    #[test]
    fn what_is_known_of_the_edges_times_keeps_its_kind_and_an_unknown_one_is_no_better_than_the_rest() {
        let with = |one: Option<Component>, middle: Option<Component>, other: Option<Component>| {
            let mut readings = readings(3, 25_000_000, &[0]);
            for (reading, time) in readings.iter_mut().zip([one, middle, other]) {
                reading.time_uncertainty = time;
            }
            edge_times(&readings)
        };
        let (bound, expanded) = (|ps| Some(Component::bound("", ps)), |ps| Some(Component::expanded("", ps)));
        assert_eq!(with(None, None, None), None);
        assert_eq!(
            with(expanded(30.0), None, expanded(40.0)),
            Some(Component::expanded("edges' times", 50.0))
        );
        let added = Some(Component::bound("edge half-widths", 70.0));
        assert_eq!(with(bound(30.0), bound(9.0), bound(40.0)), added);
        assert_eq!(with(None, bound(40.0), bound(30.0)), added);
        assert_eq!(with(expanded(30.0), None, bound(40.0)), added);
    }

    #[test]
    fn a_counter_that_stands_still_or_runs_backwards_has_no_rate() {
        assert_eq!(measure(&readings(3, 0, &[0]), "nominal", PS_PER_S, 1), None);
        assert_eq!(measure(&readings(3, -25_000_000, &[0]), "nominal", PS_PER_S, 1), None);
        assert_eq!(measure(&readings(1, 25_000_000, &[0]), "nominal", PS_PER_S, 1), None);
    }
}
