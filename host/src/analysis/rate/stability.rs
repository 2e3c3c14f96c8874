//! How far the counter's rate wanders over the span of its measurement, by the stability of the very same readings.
//!
//! The measure is the overlapping Allan deviation at the longest averaging time whose equivalent degrees of freedom are ten
//! or more, extended to the whole span by the slope of the noise there. White phase noise (quantisation, latency) falls
//! fastest with the averaging time and is taken off first, as it is at the shortest one; what is in excess of it is told
//! apart by its own slope, and taken for a random walk of frequency where it shows too late to have one. Where nothing
//! shows in excess at that averaging time, a quarter of the span is looked at, and as much of a random walk is allowed for
//! as would not show there either. (The lag-1 autocorrelation calls a walk that emerges late white, and then the interval
//! holds the truth in every second run only: `simulation`.)
//!
//! What the rate is known for is the counter's frequency at either end of the span: for white phase and white frequency
//! noise that is its frequency at any time, for a random walk of frequency it is not.

use serde::Serialize;

use super::{Reading, student_975};

use crate::analysis::stability::{Deviation, Estimate, Prepared, edf, estimate, gapless_points};
use crate::series::{MISSING_PS, Phase, Series};

/// Fewest equivalent degrees of freedom of a deviation that is believed.
const LEAST_FREEDOM: f64 = 10.0;
/// Shortest averaging factor from which a slope can be told.
const LEAST_FACTOR: usize = 8;
/// A slope is told over these factors of the averaging time; over the first one, or none is.
const SLOPE_OVER: [usize; 2] = [4, 16];
/// So much steeper than estimated a slope is taken before it is rounded: one that is taken too shallow makes the
/// uncertainty too small, one that is taken too steep only makes it larger.
const STEEPER: f64 = 0.45;
/// An excess over white phase noise shows from so many of its standard deviations on.
const SHOWS: f64 = 4.0;
/// A reading that lies further from the grid than this part of a period is no point of the series.
const OFF_GRID: i128 = 8;
/// A grid with more places than this for each reading has gaps that nothing can be said over.
const SPARSE: usize = 20;

/// What the readings say about the stability of the counter's rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Averaging time of the deviation, in seconds.
    pub tau_s: f64,
    /// Terms that it is the mean of.
    pub n: u64,
    /// The overlapping Allan deviation there.
    pub oadev: f64,
    /// Its equivalent degrees of freedom.
    pub edf: f64,
    /// Power law of the noise there, S_y(f) ~ f^alpha: 2 (white phase) to -2 (random walk of frequency).
    pub alpha: i32,
    /// The deviation, extended to the span.
    pub at_span: f64,
}

impl Stability {
    /// Half the 95 % interval of the rate, relative.
    #[must_use]
    pub fn u_relative(&self) -> f64 {
        student_975(self.edf) * self.at_span
    }

    /// As the report says it.
    #[must_use]
    pub fn text(&self) -> String {
        let noise = match self.alpha {
            1.. => "white phase noise",
            0 => "white frequency noise",
            -1 => "flicker frequency noise",
            ..=-2 => "a random walk of frequency",
        };
        format!(
            "OADEV {:.3e} at {} s (n {}, edf {:.0}), {noise}; {:.3e} at the span",
            self.oadev, self.tau_s, self.n, self.edf, self.at_span
        )
    }

    /// Of readings, `picoseconds` being what the counter says of a difference of its half ticks. None where the span is too
    /// short for any averaging time with enough degrees of freedom, or the readings are on no even grid.
    #[must_use]
    pub fn of(readings: &[Reading], picoseconds: impl Fn(i128) -> i128) -> Option<Self> {
        let series = grid(readings, &picoseconds)?;
        let phase = Prepared::new(&series).ok()?;
        let (first, last) = (readings.first()?, readings.last()?);
        let span_s = (last.time_ps - first.time_ps) as f64 / 1e12;
        let deviations = Deviations::new(&phase, picoseconds(2) as f64 * 1e-12)?;
        let longest = deviations.longest()?;
        let at = if deviations.shows(longest) {
            deviations.extended(longest)
        } else {
            deviations.at_a_quarter(phase.len())
        };
        let Reach { m, edf, alpha, white, excess, slope } = at?;
        let tau_s = m as f64 * phase.tau0_s();
        let further = (span_s / tau_s).max(1.0);
        let at_span = (white / (further * further) + excess * further.powi(slope)).sqrt();
        let Estimate { n, value: oadev } = estimate(Deviation::Oadev, &phase, m)?;
        Some(Self { tau_s, n, oadev, edf, alpha, at_span })
    }
}

/// Allan variances of one series.
struct Deviations<'a> {
    phase: &'a Prepared<'a>,
    tick_s: f64,
    /// The Allan variance at the shortest averaging time, and its terms.
    shortest: (f64, u64),
}

/// What is to be extended to the span: white phase noise and the excess over it, as variances at an averaging factor.
struct Reach {
    m: usize,
    edf: f64,
    alpha: i32,
    white: f64,
    excess: f64,
    /// How the excess goes with the averaging time: its exponent, of the variance.
    slope: i32,
}

impl<'a> Deviations<'a> {
    fn new(phase: &'a Prepared<'a>, tick_s: f64) -> Option<Self> {
        let Estimate { n, value } = estimate(Deviation::Oadev, phase, 1)?;
        Some(Self { phase, tick_s, shortest: (value * value, n) })
    }

    /// The longest octave that has degrees of freedom enough whatever the noise is. None if it is too short.
    fn longest(&self) -> Option<usize> {
        let octaves = (0..usize::BITS - 2).map(|power| 1_usize << power);
        let within: Vec<usize> = octaves.take_while(|m| 2 * m < self.phase.len()).collect();
        let enough = |m: &usize| [-2, -1, 0].iter().all(|alpha| self.freedom(*alpha, *m) >= LEAST_FREEDOM);
        within.into_iter().rev().take_while(|m| *m >= LEAST_FACTOR).find(enough)
    }

    fn freedom(&self, alpha: i32, m: usize) -> f64 {
        let (terms, m) = (estimate(Deviation::Oadev, self.phase, m).map_or(0, |one| one.n), m as u64);
        let points = gapless_points(Deviation::Oadev, m, terms);
        points.and_then(|points| edf(Deviation::Oadev, alpha, m, points)).unwrap_or(0.0)
    }

    /// White phase noise at an averaging factor, as far as there is no other at the shortest.
    fn white(&self, m: usize) -> f64 {
        self.shortest.0 / (m * m) as f64
    }

    fn excess(&self, m: usize) -> f64 {
        estimate(Deviation::Oadev, self.phase, m).map_or(0.0, |one| one.value * one.value) - self.white(m)
    }

    /// The least excess that shows: white phase noise keeps half as many degrees of freedom as there are terms.
    fn least(&self, m: usize) -> f64 {
        SHOWS * (4.0 / self.shortest.1 as f64).sqrt() * self.white(m)
    }

    fn shows(&self, m: usize) -> bool {
        self.excess(m) > self.least(m)
    }

    /// Whether the excess is more than white phase noise, and more than quantisation can come to where it is not white: its
    /// second differences have a mean square of 16/12 of a tick's at most. Less of it has no slope of its own.
    fn rules(&self, m: usize) -> bool {
        let quantisation = 2.0 / 3.0 * (self.tick_s / (m as f64 * self.phase.tau0_s())).powi(2);
        m > 1 && self.excess(m) > (1.5 * self.white(m)).max(quantisation)
    }

    fn extended(&self, m: usize) -> Option<Reach> {
        let excess = self.excess(m);
        let slope = |shorter: usize| (excess / self.excess(shorter)).ln() / (m as f64 / shorter as f64).ln();
        let slope = if self.rules(m / SLOPE_OVER[0]) {
            let slopes =
                SLOPE_OVER.map(|over| m / over).into_iter().filter(|shorter| self.rules(*shorter)).map(slope);
            let steepest = slopes.fold(f64::NEG_INFINITY, f64::max);
            ((steepest + STEEPER).round() as i32).clamp(-1, 1)
        } else {
            1
        };
        let alpha = -1 - slope;
        Some(Reach { m, edf: self.freedom(alpha, m), alpha, white: self.white(m), excess, slope })
    }

    fn at_a_quarter(&self, points: usize) -> Option<Reach> {
        let m = points / 4;
        let (white, least, shows) = (self.white(m), self.least(m), self.shows(m));
        let (edf, alpha) = if shows { (self.freedom(-2, m).max(1.0), -2) } else { (LEAST_FREEDOM, 2) };
        Some(Reach { m, edf, alpha, white, excess: self.excess(m).max(least), slope: 1 })
    }
}

/// The phase of the counter against the edges on an even grid: missing where no edge was paired.
fn grid(readings: &[Reading], picoseconds: &impl Fn(i128) -> i128) -> Option<Series> {
    let first = readings.first()?;
    let mut steps: Vec<i128> = readings.windows(2).map(|two| two[1].time_ps - two[0].time_ps).collect();
    steps.sort_unstable();
    let tau0 = *steps.get(steps.len() / 2).filter(|step| **step > 0)?;
    let mut phase: Vec<i64> = Vec::with_capacity(readings.len());
    for reading in readings {
        let after = reading.time_ps - first.time_ps;
        let place = (after + tau0 / 2).div_euclid(tau0);
        let near = (after - place * tau0).abs() <= tau0 / OFF_GRID;
        let index = usize::try_from(place).ok().filter(|index| *index < SPARSE * readings.len())?;
        if !near || index < phase.len() {
            continue;
        }
        phase.resize(index, MISSING_PS);
        phase.push(i64::try_from(picoseconds(reading.half_ticks - first.half_ticks) - after).ok()?);
    }
    let missing = phase.iter().filter(|value| **value == MISSING_PS).count();
    Some(Series { phase: Phase::Picoseconds(phase), tau0_s: tau0 as f64 / 1e12, missing })
}
