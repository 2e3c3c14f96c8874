//! The rows of summary.csv about `path`, in their order: by variant, then what concerns all of them.

use super::estimate::{SessionValue, estimate};
use super::histogram::Histogram;
use super::session::Clocks;
use super::verdict::in_doubt;
use super::{Instructions, PathAnalysis, Variant};
use crate::analysis::Whole;
use crate::analysis::estimate::{Interval, percentile_ranks};
use crate::analysis::figure::Figure;
use crate::analysis::figures::{declared_rate, probe_transactions};
use crate::analysis::fixed::Fixed;
use crate::analysis::uncertainty::total;
use crate::names::{self, Measurement};
use crate::plan::PathMeasurement;

/// Percentiles by name, in thousandths.
const PERCENTILES: [(&str, u32); 4] = [("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999)];

/// Every figure of `path`.
#[must_use]
pub fn figures(analysis: &PathAnalysis, whole: Whole<'_>, plan: &PathMeasurement) -> Vec<Figure> {
    let clocks = Clocks::of(whole.record);
    let of_variant = |variant: &Variant| {
        let all = variant.sessions.iter().fold(Histogram::default(), |mut all, session| {
            all.merge(&session.histogram);
            all
        });
        let rows = Rows { variant, clocks, plan, judged: analysis.judged, all };
        rows.figures()
    };
    let mut figures: Vec<Figure> = analysis.variants.iter().flat_map(of_variant).collect();
    figures.push(declared_rate(Measurement::Path, whole));
    figures.push(probe_transactions(Measurement::Path, analysis.probe_operations, whole));
    figures
}

struct Rows<'a> {
    variant: &'a Variant,
    clocks: Clocks,
    plan: &'a PathMeasurement,
    judged: bool,
    /// The differences of all sessions, in ticks.
    all: Histogram,
}

impl Rows<'_> {
    fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![self.mean(), self.deviation(), self.extreme("min", self.all.least())];
        figures.extend(PERCENTILES.map(|(name, per_mille)| self.percentile(name, per_mille)));
        figures.push(self.extreme("max", self.all.most()));
        figures.extend(self.tail());
        figures.push(self.advanced());
        figures.push(self.bias_bound());
        figures.push(Figure { value: ps(self.clocks.tick_ps()), ..self.figure("resolution", "ns") });
        figures.push(self.effective());
        figures.extend(self.ladder());
        figures.extend(self.instructions());
        figures.push(self.overhead());
        figures
    }

    fn figure(&self, metric: &str, unit: &'static str) -> Figure {
        Figure {
            clock_id: names::of_clock(self.variant.clock_id),
            n: self.all.total(),
            sessions: self.variant.sessions.len() as u64,
            ..Figure::of(Measurement::Path, self.variant.variant.name(), metric, unit)
        }
    }

    fn verdict(&self, doubtful: bool) -> &'static str {
        match (self.judged && !self.variant.sessions.is_empty(), doubtful) {
            (false, _) => "",
            (true, true) => "invalid",
            (true, false) => "passed",
        }
    }

    fn mean(&self) -> Figure {
        Figure {
            value: self.variant.mean.and_then(|mean| ps(mean.value)),
            interval: self.variant.mean.and_then(|mean| interval(mean.interval)),
            uncertainty: self.variant.mean.and_then(|_| ps(total(&self.variant.components))),
            verdict: self.verdict(in_doubt(self.variant)),
            ..self.figure("mean", "ns")
        }
    }

    /// Of single differences, what the ticks add to it included.
    fn deviation(&self) -> Figure {
        let deviation = self.all.deviation().and_then(|ticks| ps(ticks * self.clocks.tick_ps()));
        Figure { value: deviation, ..self.figure("sd", "ns") }
    }

    /// One difference less the read overhead. Below one tick it says nothing, and is none.
    fn location(&self, ticks: Option<u32>) -> Option<Fixed> {
        let ticks = ticks.filter(|ticks| *ticks >= 1)?;
        ps(f64::from(ticks) * self.clocks.tick_ps() - self.variant.overhead?.value)
    }

    /// A single difference is known to a tick, unless the counter advances with every cycle.
    fn location_uncertainty(&self) -> Option<Fixed> {
        let whole = self.clocks.ratio().is_some_and(|ratio| ratio.is_whole());
        let tick = if whole { 0.0 } else { self.clocks.tick_ps() };
        ps(tick + total(&self.variant.components))
    }

    fn extreme(&self, metric: &str, ticks: Option<u32>) -> Figure {
        let value = self.location(ticks);
        let uncertainty = value.and_then(|_| self.location_uncertainty());
        Figure { value, uncertainty, ..self.figure(metric, "ns") }
    }

    fn percentile(&self, metric: &str, per_mille: u32) -> Figure {
        let ranks = percentile_ranks(self.all.total(), per_mille);
        let at = |rank: u64| self.location(self.all.of_rank(rank));
        let value = ranks.and_then(|ranks| at(ranks.value));
        let between = ranks.and_then(|ranks| ranks.interval).filter(|_| value.is_some());
        Figure {
            value,
            interval: between.and_then(|(low, high)| Some((at(low)?, at(high)?))),
            uncertainty: value.and_then(|_| self.location_uncertainty()),
            ..self.figure(metric, "ns")
        }
    }

    /// Pairs of two ticks more than the median, or longer: what lies between is quantisation.
    fn tail(&self) -> Option<Figure> {
        let median = self.all.of_rank(percentile_ranks(self.all.total(), 500)?.value)?;
        let from = median.saturating_add(2);
        let counts: Vec<u64> =
            self.variant.sessions.iter().map(|session| session.histogram.at_least(from)).collect();
        Some(
            self.figure("tail_count", "pairs").of_tail(format!("pairs of >={from} ticks a session"), &counts),
        )
    }

    fn advanced(&self) -> Figure {
        let shares: Vec<SessionValue> =
            self.variant.sessions.iter().map(|session| session.advanced.clone()).collect();
        let share = estimate(&shares);
        let six = |value: f64| Fixed::rounded(value, 6);
        Figure {
            value: share.and_then(|share| six(share.value)),
            interval: share
                .and_then(|share| share.interval)
                .and_then(|(low, high)| Some((six(low.max(0.0))?, six(high.min(1.0))?))),
            ..self.figure("p_ge_1", "1")
        }
    }

    fn bias_bound(&self) -> Figure {
        let bounds = self.variant.sessions.iter().filter_map(|session| session.bias);
        let largest = bounds.clone().map(|bound| bound.ps(self.clocks.counter)).max();
        let exceeds = bounds.clone().any(|bound| bound.exceeds(self.plan.max_bias_ps, self.clocks.counter));
        let unknown = bounds.count() < self.variant.sessions.len();
        Figure {
            value: largest.and_then(|ps| i128::try_from(ps).ok()).map(Fixed::nanoseconds),
            verdict: self.verdict(exceeds || unknown),
            ..self.figure("bias_bound", "ns")
        }
    }

    fn effective(&self) -> Figure {
        let sessions = self.variant.sessions.iter().map(|session| session.effective);
        let sum = sessions.sum::<Option<f64>>().filter(|sum| *sum > 0.0);
        Figure { value: sum.and_then(|sum| Fixed::rounded(sum, 0)), ..self.figure("n_eff", "pairs") }
    }

    /// The rung that is furthest off, over all sessions.
    fn ladder(&self) -> Option<Figure> {
        let ladders = self.variant.sessions.iter().filter_map(|session| {
            let ladder = session.ladder.as_ref()?;
            let own = session.bias.map_or(0.0, |bound| bound.ps(self.clocks.counter) as f64);
            Some((ladder.worst()?, own, ladder.pairs))
        });
        let pairs = ladders.clone().map(|(.., pairs)| pairs).sum();
        let sessions = ladders.clone().count() as u64;
        let (worst, own, _) =
            ladders.max_by(|(a, ..), (b, ..)| a.residual().abs().total_cmp(&b.residual().abs()))?;
        Some(Figure {
            n: pairs,
            sessions,
            value: ps(worst.residual().abs()),
            uncertainty: ps(worst.bias + own),
            ..self.figure("ladder_residual", "ns")
        })
    }

    fn instructions(&self) -> Option<Figure> {
        let figure = self.figure("instructions", "instructions");
        match self.variant.instructions {
            Instructions::NotCounted => None,
            Instructions::Varying(..) => Some(Figure { verdict: self.verdict(true), ..figure }),
            Instructions::Always(count) => {
                let count = Fixed::whole(count.into());
                Some(Figure {
                    value: Some(count),
                    interval: Some((count, count)),
                    uncertainty: Some(Fixed::whole(0)),
                    verdict: self.verdict(false),
                    ..figure
                })
            }
        }
    }

    fn overhead(&self) -> Figure {
        let bounds = self.variant.sessions.iter().filter_map(|session| session.overhead_bias);
        let bias = bounds.map(|bound| bound.ps(self.clocks.counter)).max();
        let pairs = self.variant.sessions.iter().map(|session| session.overhead_histogram.total());
        Figure {
            n: pairs.sum(),
            value: self.variant.overhead.and_then(|overhead| ps(overhead.value)),
            interval: self.variant.overhead.and_then(|overhead| interval(overhead.interval)),
            uncertainty: bias.and_then(|bias| i128::try_from(bias).ok()).map(Fixed::nanoseconds),
            ..self.figure("read_overhead", "ns")
        }
    }
}

/// Picoseconds, to be printed as nanoseconds with three places.
fn ps(value: f64) -> Option<Fixed> {
    Fixed::rounded(value, 0).map(|ps| Fixed::nanoseconds(ps.scaled))
}

fn interval(of: Option<Interval>) -> Option<(Fixed, Fixed)> {
    let (low, high) = of?;
    Some((ps(low)?, ps(high)?))
}
