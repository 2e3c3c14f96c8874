//! Whether the receiver's quantisation errors describe the pulses that are wired, by which sign and at which lag.
//!
//! Nothing is taken from the documents on trust: where the interval counter stamps edges of the generator on channel A and
//! the receiver's pulses on channel B, their difference shows the receiver's sawtooth, and the quantisation errors must
//! take it away: added to the pulse's stamp, each that of its own second. Differences from one second to the next are
//! looked at, so that neither an offset nor a steady drift counts. A disciplined pulse has none.

use std::collections::BTreeMap;

use super::seconds::Reference;
use super::stamps::trusted;
use crate::events::{IntervalChannel, IntervalEvent, Recording};
use crate::plan::RunRecord;
use crate::units::{GpsSecond, PS_PER_S};

/// Messages that may be meant for another pulse than they name, in seconds.
const LAGS: std::ops::RangeInclusive<i64> = -2..=2;
/// Fewer differences than this show no sawtooth.
const ENOUGH: usize = 20;
/// The variance must fall to this part of what it was.
const REDUCED: f64 = 0.5;
/// The next best lag or sign must leave so many times the variance.
const DECISIVE: f64 = 1.5;
/// An edge further from its pulse than this is none that starts with it, in picoseconds: 1 ms.
const NEAR_PS: i128 = PS_PER_S / 1000;

/// What the data say of the quantisation errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Sawtooth {
    /// They describe the pulses, as documented.
    Verified(Fit),
    /// Another lag or sign than the documented one fits: they are not used.
    Contradicted(Fit),
    /// It cannot be told, and why: they are not used.
    NotVerifiable(String),
}

/// The lag and sign that leave the least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The value of the message that names second g + lag belongs to the pulse of second g: 0 as documented.
    pub lag: i64,
    /// 1: added to the pulse's stamp, as documented; -1: taken off.
    pub sign: i8,
    /// Variance that is left of the differences, as a part of what it was.
    pub left: f64,
    /// Differences.
    pub n: usize,
}

impl Sawtooth {
    /// As a sentence for the report.
    #[must_use]
    pub fn sentence(&self) -> String {
        let of = |fit: &Fit| {
            let sign = if fit.sign > 0 { "added" } else { "taken off" };
            let left = fit.left * 100.0;
            format!("lag {} s, {sign}, {left:.1} % of the variance left over {} differences", fit.lag, fit.n)
        };
        match self {
            Self::Verified(fit) => {
                format!("quantisation errors verified against the interval counter: {}", of(fit))
            }
            Self::Contradicted(fit) => {
                format!("quantisation errors not used: what fits is not what is documented: {}", of(fit))
            }
            Self::NotVerifiable(why) => format!("quantisation errors not verifiable, and not used: {why}"),
        }
    }
}

/// Looks at a recording. None where no quantisation error is said, or none can be meant.
#[must_use]
pub fn sawtooth(record: &RunRecord, recording: &Recording, reference: &dyn Reference) -> Option<Sawtooth> {
    let bench = &record.bench;
    if bench.reference.is_disciplined() || !says_any(recording) {
        return None;
    }
    if bench.interval_counter.is_none() {
        return Some(not_verifiable("there is no interval counter"));
    }
    if bench.wiring.echo {
        return Some(not_verifiable("channel B has the board's echo, not the receiver's pulse"));
    }
    let intervals = intervals(recording, reference);
    let qerr = |second: i64| reference.qerr_ps(GpsSecond(second)).map(f64::from);
    Some(judge(&intervals, &qerr))
}

fn says_any(recording: &Recording) -> bool {
    recording.reference.iter().any(|event| match &event.event {
        crate::events::ReferenceEvent::Time(message) => message.qerr_ps.is_some(),
        _ => false,
    })
}

fn not_verifiable(why: &str) -> Sawtooth {
    Sawtooth::NotVerifiable(why.to_owned())
}

/// Edge minus pulse, in picoseconds, by the pulse's second.
fn intervals(recording: &Recording, reference: &dyn Reference) -> BTreeMap<i64, i128> {
    let stamps = trusted(recording).iter().filter_map(|event| match event.event {
        IntervalEvent::Stamp(stamp) => Some((event.at, stamp)),
        _ => None,
    });
    let (edges, pulses): (Vec<_>, Vec<_>) =
        stamps.partition(|(_, stamp)| stamp.channel == IntervalChannel::A);
    let mut edges: Vec<i128> = edges.into_iter().map(|(_, stamp)| stamp.time.0).collect();
    edges.sort_unstable();
    let nearest = |time: i128| {
        let behind = edges.partition_point(|&edge| edge < time);
        let beside = [behind.checked_sub(1), Some(behind)].into_iter().flatten();
        beside.filter_map(|at| edges.get(at)).map(|edge| edge - time).min_by_key(|apart| apart.abs())
    };
    let of = |(at, stamp): (_, crate::events::IntervalStamp)| {
        let apart = nearest(stamp.time.0).filter(|apart| apart.abs() <= NEAR_PS)?;
        Some((reference.label(at).ok()?.0, apart))
    };
    pulses.into_iter().filter_map(of).collect()
}

fn judge(intervals: &BTreeMap<i64, i128>, qerr: &dyn Fn(i64) -> Option<f64>) -> Sawtooth {
    // Only seconds for which every lag has its messages: all fits stand on the same data.
    let complete = |second: &i64| LAGS.clone().all(|lag| qerr(second.saturating_add(lag)).is_some());
    let steps: Vec<(i64, f64)> = intervals
        .iter()
        .filter_map(|(&second, &interval)| {
            let next = second.checked_add(1)?;
            let step = intervals.get(&next)? - interval;
            (complete(&second) && complete(&next)).then_some((second, step as f64))
        })
        .collect();
    if steps.len() < ENOUGH {
        return Sawtooth::NotVerifiable(format!(
            "{} seconds in a row with edge, pulse and message, {ENOUGH} are needed",
            steps.len()
        ));
    }
    let before = variance(steps.iter().map(|(_, step)| *step));
    let fit = |lag: i64, sign: i8| {
        let corrected = steps.iter().map(|&(second, step)| {
            let error = |second: i64| qerr(second.saturating_add(lag)).unwrap_or(0.0);
            // The interval is edge minus pulse: what is added to the pulse is taken off it.
            step - f64::from(sign) * (error(second + 1) - error(second))
        });
        Fit { lag, sign, left: variance(corrected) / before, n: steps.len() }
    };
    let mut fits: Vec<Fit> = LAGS.flat_map(|lag| [1, -1].map(|sign| fit(lag, sign))).collect();
    fits.sort_by(|one, other| one.left.total_cmp(&other.left));
    let (best, next) = (fits[0], fits[1]);
    // Without any variance nothing is divided.
    if !best.left.is_finite() || best.left > REDUCED || next.left < DECISIVE * best.left {
        let sd_ns = before.sqrt() / 1000.0;
        return Sawtooth::NotVerifiable(format!(
            "from second to second edge and pulse differ by {sd_ns:.3} ns (sd), and no lag or sign takes half of that variance \
             away (the best leaves {:.0} %)",
            best.left * 100.0
        ));
    }
    if (best.lag, best.sign) == (0, 1) { Sawtooth::Verified(best) } else { Sawtooth::Contradicted(best) }
}

fn variance(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sawtooth of 20 ns with 3.7 ns a second.
    fn error(second: i64) -> f64 {
        (second * 3700).rem_euclid(20_001) as f64 - 10_000.0
    }

    /// Edges of a generator that runs 100 ppb fast with 100 ps of noise, against pulses whose stamps need `sign` times the
    /// error of the message that names `lag` seconds later.
    fn measured(lag: i64, sign: f64, noise_ps: i64) -> BTreeMap<i64, i128> {
        let of = |second: i64| {
            let noise = (second * 7919 % 211 - 105) * noise_ps / 105;
            let true_pulse = 5_000.0 + 100_000.0 * second as f64;
            (second, (true_pulse + sign * error(second + lag)) as i128 + i128::from(noise))
        };
        (100..200).map(of).collect()
    }

    #[test]
    fn the_documented_sign_and_lag_are_verified_on_the_data() {
        let Sawtooth::Verified(fit) = judge(&measured(0, 1.0, 100), &|second| Some(error(second))) else {
            panic!("not verified")
        };
        assert_eq!((fit.lag, fit.sign, fit.n), (0, 1, 99));
        assert!(fit.left < 0.01, "{fit:?}");
    }

    #[test]
    fn another_lag_or_sign_contradicts() {
        for (lag, sign) in [(1, 1), (-1, 1), (0, -1), (2, -1), (-2, 1)] {
            let found = judge(&measured(lag, sign.into(), 100), &|second| Some(error(second)));
            assert!(
                matches!(found, Sawtooth::Contradicted(fit) if (fit.lag, fit.sign) == (lag, sign as i8)),
                "{lag} {sign}: {found:?}"
            );
        }
    }

    #[test]
    fn a_sawtooth_that_cannot_be_seen_is_not_verifiable() {
        let noisy = judge(&measured(0, 1.0, 1_000_000), &|second| Some(error(second)));
        assert!(noisy.sentence().contains("not used"), "{noisy:?}");
        assert!(matches!(noisy, Sawtooth::NotVerifiable(_)));
        let none = judge(&measured(0, 0.0, 100), &|second| Some(error(second)));
        assert!(matches!(none, Sawtooth::NotVerifiable(_)), "a disciplined pulse: {none:?}");
        let still = judge(&(0..50).map(|second| (second, 7)).collect(), &|_| Some(0.0));
        assert!(matches!(still, Sawtooth::NotVerifiable(_)));
    }

    #[test]
    fn seconds_whose_message_is_missing_do_not_count() {
        // One TIM-TP in ten is missing, and its neighbours up to two seconds away with it.
        let sparse = |second: i64| (second % 10 != 0).then(|| error(second));
        let Sawtooth::Verified(fit) = judge(&measured(0, 1.0, 100), &sparse) else { panic!("not verified") };
        assert!(fit.n < 60, "{fit:?}");
        let few = judge(&measured(0, 1.0, 100), &|second| (second % 5 != 0).then(|| error(second)));
        assert!(matches!(few, Sawtooth::NotVerifiable(_)), "{few:?}");
    }
}
