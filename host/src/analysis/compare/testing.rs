//! Sides whose truth is known, for the tests of everything that compares.

use super::group::{Conditions, Group, Key, Quantity, Session, Singles, Values};
use super::{Options, Side, Source};
use crate::analysis::path::histogram::Histogram;
use crate::analysis::path::testing::Random;
use crate::names::Measurement;

/// The options unless a test says otherwise.
pub(crate) const OPTIONS: Options = Options { alpha: super::ALPHA, margin_ns: Some(0.0) };

/// A key of `path indirect` on a real board.
pub(crate) fn key() -> Key {
    Key {
        measurement: Some(Measurement::Path),
        variant: "indirect".to_owned(),
        tie: String::new(),
        quantity: Quantity::Mean,
        conditions: Conditions {
            clock: Some("live".to_owned()),
            clock_id: Some("realtime".to_owned()),
            cores: Some("1".to_owned()),
            board: Some("a53".to_owned()),
            counter_hz: Some("12500000".to_owned()),
            emulated: Some(false),
            ..Conditions::default()
        },
    }
}

/// A session with this value, begun at this time.
pub(crate) fn session(number: usize, value: f64, when: Option<i128>) -> Session {
    let number = number as u32 + 1;
    Session { source: 0, number, when, seed: None, n: 1_000_000, value, singles: Singles::Unknown }
}

/// A group of these sessions.
pub(crate) fn group(key: Key, sessions: Vec<Session>) -> Group {
    Group::new(key, Values::Sessions(sessions))
}

/// A side with these groups, of a source of this name.
pub(crate) fn side(name: &str, groups: Vec<Group>) -> Side {
    let mut side = Side::default();
    let (name, fingerprint) = (name.to_owned(), name.to_owned());
    side.add(Source { name, fingerprint, kind: "bundle", ..Source::default() }, groups);
    side
}

/// A side whose sessions have these values, without times.
pub(crate) fn plain(name: &str, values: &[f64]) -> Side {
    let sessions = values.iter().enumerate().map(|(number, value)| session(number, *value, None));
    side(name, vec![group(key(), sessions.collect())])
}

/// Runs of two sides in which each session differs from the next boot by one spread, normally distributed.
pub(crate) struct Boots {
    pub random: Random,
    /// What the mean moves by from one session to the next.
    pub drift: f64,
    /// Sessions take turns, or come one side after the other.
    pub turns: bool,
}

impl Boots {
    /// Both sides, the new one off by `shift` spreads.
    pub(crate) fn sides(&mut self, count: usize, shift: f64) -> (Side, Side) {
        let mut of = |first: usize, shift: f64| {
            let sessions = (0..count).map(|number| {
                let at = if self.turns { 2 * number + first } else { number + first * count };
                let value = 45.0 + shift + self.drift * at as f64 + self.random.normal();
                session(number, value, Some(at as i128))
            });
            group(key(), sessions.collect())
        };
        let (base, new) = (of(0, 0.0), of(1, shift));
        (side("base", vec![base]), side("new", vec![new]))
    }
}

/// A session of so many reads at 45 ns, 80 ns a tick: uniform phases, and a share of reads that take longer by a Pareto
/// law (80 ns, exponent 1.5). Only the rare ones are drawn one by one.
pub(crate) fn tailed(random: &mut Random, number: usize, reads: u64, share: f64) -> Session {
    let mut histogram = Histogram::default();
    let uniform = |random: &mut Random| (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    let mean = reads as f64 * share;
    let rare = (mean + mean.sqrt() * random.normal()).round().max(0.0) as u64;
    for _ in 0..rare {
        let longer = 80.0 * (1.0 - uniform(random)).powf(-1.0 / 1.5);
        histogram.add((uniform(random) + (45.0 + longer) / 80.0).min(1e6) as u32, 1);
    }
    let common = reads - rare;
    let (ones, sd) = (common as f64 * 45.0 / 80.0, (common as f64 * 0.25).sqrt());
    let ones = (ones + sd * random.normal()).round() as u64;
    histogram.add(0, common - ones);
    histogram.add(1, ones);
    let value = histogram.mean().expect("there are reads") * 80.0;
    Session { n: reads, singles: Singles::Ticks(histogram), ..session(number, value, None) }
}
