//! How many runs a plan asks for, and about how long they take: by what earlier steps took, else by arithmetic.

use std::collections::BTreeMap;
use std::time::Duration;

use super::NightPlan;
use super::plan::Measure;
use crate::names::{CtimeVariant, Measurement, PathVariant};

/// Bringing a bench up and loading the board, with a power cycle: between a few seconds and half a minute.
const BRING_UP: Duration = Duration::from_secs(10);
/// A preamble of four edges, the receiver's first message and the last stragglers.
const AROUND_EDGES: Duration = Duration::from_secs(10);
/// One pair of `path` with its dither, or one operation of `ctime`: what an emulator needs; a board is faster.
const PER_PAIR: Duration = Duration::from_micros(3);
/// The ladder of a live session.
const LADDER_PAIRS: u32 = 800_000;

/// What a step of each measure took before, by the measure's name.
pub type Taken = BTreeMap<String, Duration>;

/// How many runs, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Runs until the first verdicts, the health check among them.
    pub runs: u64,
    /// Runs if nothing is decided before.
    pub most_runs: u64,
    /// For the first.
    pub time: Duration,
    /// For the second.
    pub most_time: Duration,
}

/// What a plan comes to.
#[must_use]
pub fn expected(plan: &NightPlan, taken: &Taken) -> Expected {
    let images = plan.images.len() as u32;
    let health = plan.health.iter().map(|health| (&health.measure, 1, 1));
    let measures = plan.measures.iter().map(|one| (one, images * one.sessions, images * one.most_sessions));
    let none = Expected { runs: 0, most_runs: 0, time: Duration::ZERO, most_time: Duration::ZERO };
    health.chain(measures).fold(none, |sum, (measure, runs, most)| {
        let each = step(measure, taken);
        Expected {
            runs: sum.runs + u64::from(runs),
            most_runs: sum.most_runs + u64::from(most),
            time: sum.time + each * runs,
            most_time: sum.most_time + each * most,
        }
    })
}

/// How long one run of a measure takes.
#[must_use]
pub fn step(measure: &Measure, taken: &Taken) -> Duration {
    taken.get(&measure.name).copied().unwrap_or_else(|| by_arithmetic(measure))
}

fn by_arithmetic(measure: &Measure) -> Duration {
    let builds = |all: usize| match measure.variants.len() {
        0 => all as u32,
        some => some as u32,
    };
    match measure.measurement {
        Measurement::Edge => {
            let millihertz = measure.rate_millihertz.max(1);
            let edges = Duration::from_millis(u64::from(measure.edges) * 1_000_000 / millihertz);
            BRING_UP + AROUND_EDGES + edges
        }
        Measurement::Path => {
            let pairs = 2 * measure.iterations.min(1 << 30) + LADDER_PAIRS;
            (BRING_UP + PER_PAIR * pairs) * builds(PathVariant::ALL.len())
        }
        Measurement::Ctime => {
            let each = PER_PAIR.mul_f64(measure.operations as f64);
            (BRING_UP + each) * builds(CtimeVariant::ALL.len())
        }
    }
}

/// "about 12 min", as nobody needs it better.
#[must_use]
pub fn about(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("about {seconds} s"),
        seconds @ 90..5400 => format!("about {} min", seconds.div_ceil(60)),
        seconds => format!("about {}.{} h", seconds / 3600, seconds % 3600 / 360),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::night::testing::plan;

    #[test]
    fn runs_are_counted_for_each_image_and_a_time_that_was_measured_outweighs_arithmetic() {
        let mut plan = plan();
        plan.images.push(plan.images[0].clone());
        plan.measures[0].sessions = 3;
        plan.measures[0].most_sessions = 5;
        let taken = Taken::from([(plan.measures[0].name.clone(), Duration::from_secs(7))]);
        let found = expected(&plan, &taken);
        assert_eq!((found.runs, found.most_runs), (6, 10));
        assert_eq!((found.time.as_secs(), found.most_time.as_secs()), (42, 70));
        assert!(expected(&plan, &Taken::new()).time > Duration::from_secs(60));
    }

    #[test]
    fn times_are_told_as_people_do() {
        let told = [0, 89, 90, 5399, 5400, 36_000].map(|seconds| about(Duration::from_secs(seconds)));
        assert_eq!(
            told,
            ["about 0 s", "about 89 s", "about 2 min", "about 90 min", "about 1.5 h", "about 10.0 h"]
        );
    }
}
