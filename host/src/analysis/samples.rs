//! Samples read from a file, as exact histograms: one session by variant and clock, in 32 batches.
//!
//! How many pairs a session has is known only at its end, and its batches are equal parts in order. So its differences are
//! kept on a `Tape`, one byte each, until the session ends; a session too long for that is folded into short pieces as
//! it comes, and its batches differ by one piece at most. Statistics are those of `path`: `histogram` and `estimate`.

mod tape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::tape::Tape;
use super::estimate::percentile_ranks;
use super::path::estimate::{SessionValue, effective_count};
use super::path::histogram::Histogram;
use crate::samples::{LeftOut, SampleFault, SampleKey, SampleSink};
use crate::units::Hertz;

/// Equal parts of a session.
pub const BATCHES: usize = 32;

/// Sessions that one file may hold.
const MOST_SESSIONS: usize = 65_536;

/// Lines that a file of histograms may have, so that they fit into memory.
const MOST_COUNTS: usize = 1 << 24;

/// Batches that a file of histograms may number.
const MOST_BATCHES: u16 = 1024;

/// Everything that a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleSet {
    /// By variant, clock and session, in the order of the file.
    pub sessions: Vec<SessionSamples>,
    /// The counter's declared rate, if the file says so.
    pub counter_hz: Option<Hertz>,
    /// Whether the board was emulated, if the file says so.
    pub emulated: Option<bool>,
    /// What of a damaged file was left out.
    pub left_out: LeftOut,
}

/// The samples of one session. Differences are in ticks of the counter and whole.
#[derive(Clone, Debug, Default)]
pub struct SessionSamples {
    /// Which one.
    pub key: SampleKey,
    /// Differences by batch, in the order in which they were taken.
    pub batches: Vec<Histogram>,
    /// Pairs whose second reading was smaller than their first: in no batch, and a sign that the counter is none.
    pub backwards: u64,
    /// Pairs whose difference does not fit 32 bits: in no batch, so that the mean is not known.
    pub overflow: u64,
    /// Whether its pairs were read, rather than their histograms.
    of_pairs: bool,
}

/// Of the same session, the same samples: whether they were read as pairs or as histograms makes no difference.
impl PartialEq for SessionSamples {
    fn eq(&self, other: &Self) -> bool {
        let all = |one: &Self| (one.key.clone(), one.backwards, one.overflow);
        all(self) == all(other) && self.batches == other.batches
    }
}

impl SessionSamples {
    /// All batches together.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        Histogram::of_all(&self.batches)
    }

    /// Pairs in the batches.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.batches.iter().map(Histogram::total).sum()
    }

    /// The mean difference with that of each batch, in ticks. None of nothing.
    #[must_use]
    pub fn mean_ticks(&self) -> Option<SessionValue> {
        SessionValue::mean_of(&self.batches)
    }

    /// The share of pairs between which the counter advanced: P(D >= 1).
    #[must_use]
    pub fn advanced(&self) -> Option<SessionValue> {
        SessionValue::advanced_of(&self.batches)
    }

    /// How many independent pairs the batches amount to. None where they do not differ.
    #[must_use]
    pub fn effective(&self) -> Option<f64> {
        effective_count(&self.batches)
    }

    /// Whether some pairs are in no batch, so that no figure can be had from the rest.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.backwards == 0 && self.overflow == 0
    }
}

/// A percentile of differences, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickPercentile {
    /// The difference of this rank.
    pub ticks: u32,
    /// Its 95 % interval by order statistics. None where n is too small.
    pub interval: Option<(u32, u32)>,
}

impl TickPercentile {
    /// By nearest rank. None below one tick, where a single difference says nothing, and where less than one pair is to
    /// be expected beyond.
    #[must_use]
    pub fn of(histogram: &Histogram, per_mille: u32) -> Option<Self> {
        let ranks = percentile_ranks(histogram.total(), per_mille)?;
        let ticks = histogram.of_rank(ranks.value).filter(|ticks| *ticks >= 1)?;
        let at = |rank| histogram.of_rank(rank);
        let interval = ranks.interval.and_then(|(low, high)| Some((at(low)?, at(high)?)));
        Some(Self { ticks, interval })
    }

    /// What a latency with this difference can be, in ticks: longer than the first and shorter than the second.
    #[must_use]
    pub fn bracket(self) -> (u32, u64) {
        (self.ticks.saturating_sub(1), u64::from(self.ticks) + 1)
    }
}

/// Takes the samples of a file.
#[derive(Debug, Default)]
pub struct Collector {
    done: Vec<SessionSamples>,
    places: BTreeMap<SampleKey, usize>,
    /// The session that is being read, which is the last one unless the file holds histograms.
    current: Option<usize>,
    tape: Tape,
    /// Lines of histograms so far.
    counts: usize,
    fault: Option<SampleFault>,
}

impl Collector {
    /// The sessions.
    ///
    /// # Errors
    /// [`SampleFault`].
    pub fn finish(mut self) -> Result<Vec<SessionSamples>, SampleFault> {
        self.health()?;
        self.settle();
        self.health()?;
        self.done.retain(|session| session.n() > 0 || !session.is_whole());
        Ok(self.done)
    }

    /// Puts what is on the tape into its session.
    fn settle(&mut self) {
        let Some(session) = self.current.and_then(|place| self.done.get_mut(place)) else { return };
        if self.tape.is_empty() {
            return;
        }
        let tape = std::mem::take(&mut self.tape);
        session.of_pairs = true;
        session.backwards += tape.backwards;
        session.overflow += tape.overflow;
        match tape.batches(BATCHES) {
            Some(batches) => session.batches = batches,
            None => self.fault = Some(SampleFault::Spread { key: session.key.clone() }),
        }
    }
}

impl SampleSink for Collector {
    fn session(&mut self, key: &SampleKey) -> Result<(), SampleFault> {
        if self.current.is_some_and(|place| self.done[place].key == *key) {
            return Ok(());
        }
        self.health()?;
        self.settle();
        self.health()?;
        self.current = Some(match self.places.get(key) {
            // Histograms may come in any order; pairs have no place in a session whose batches are made.
            Some(&place) if self.done[place].of_pairs => return Err(SampleFault::Resumed(key.clone())),
            Some(&place) => place,
            None if self.done.len() == MOST_SESSIONS => {
                return Err(SampleFault::Sessions { most: MOST_SESSIONS });
            }
            None => {
                self.places.insert(key.clone(), self.done.len());
                self.done.push(SessionSamples { key: key.clone(), ..SessionSamples::default() });
                self.done.len() - 1
            }
        });
        Ok(())
    }

    #[inline]
    fn pair(&mut self, pre: u64, snapshot: u64) {
        self.tape.pair(pre, snapshot);
    }

    fn records(&mut self, records: &[u8]) {
        self.tape.records(records);
    }

    fn counted(&mut self, batch: u16, ticks: u32, count: u64) {
        let Some(session) = self.current.and_then(|place| self.done.get_mut(place)) else { return };
        self.counts += 1;
        if self.counts > MOST_COUNTS {
            self.fault = Some(SampleFault::Spread { key: session.key.clone() });
            return;
        }
        if batch >= MOST_BATCHES {
            self.fault = Some(SampleFault::Batch { key: session.key.clone(), batch, most: MOST_BATCHES });
            return;
        }
        if session.batches.len() <= usize::from(batch) {
            session.batches.resize(usize::from(batch) + 1, Histogram::default());
        }
        session.batches[usize::from(batch)].add(ticks, count);
    }

    fn health(&self) -> Result<(), SampleFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let Some(session) = self.current.and_then(|place| self.done.get(place)) else { return Ok(()) };
        if self.tape.too_wide() {
            return Err(SampleFault::Spread { key: session.key.clone() });
        }
        Ok(())
    }
}
