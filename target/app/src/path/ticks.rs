//! The exact histogram of one batch's tick differences.

use heapless::Vec;
use ppsrig_wire::{TICK_ENTRIES, TickCount};

/// Differences below this have a place of their own: on a board, all of them.
const DENSE: usize = 4096;
/// Differences from there on that are remembered one by one: an emulator's thread that was put aside makes some.
const SPARSE: usize = 256;

/// Counts how often each difference was seen.
#[derive(Debug)]
pub(super) struct TickHistogram {
    dense: [u32; DENSE],
    /// By rising ticks.
    sparse: Vec<TickCount, SPARSE>,
    overflow: u32,
    /// The next entry to be taken out: an index into `dense`, then into `sparse`.
    cursor: usize,
}

impl TickHistogram {
    pub(super) const fn new() -> Self {
        Self { dense: [0; DENSE], sparse: Vec::new(), overflow: 0, cursor: 0 }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.dense.fill(0);
        self.sparse.clear();
        self.overflow = 0;
        self.cursor = 0;
    }

    /// Counts one difference.
    #[inline]
    pub(super) fn count(&mut self, ticks: u64) {
        match usize::try_from(ticks).ok().and_then(|ticks| self.dense.get_mut(ticks)) {
            Some(count) => *count += 1,
            None => self.count_sparse(ticks),
        }
    }

    #[cold]
    fn count_sparse(&mut self, ticks: u64) {
        let Ok(ticks) = u32::try_from(ticks) else {
            self.overflow += 1;
            return;
        };
        match self.sparse.binary_search_by_key(&ticks, |entry| entry.ticks) {
            Ok(at) => self.sparse[at].count += 1,
            Err(at) => {
                if self.sparse.insert(at, TickCount { ticks, count: 1 }).is_err() {
                    self.overflow += 1;
                }
            }
        }
    }

    /// How many differences found no place.
    pub(super) const fn overflow(&self) -> u32 {
        self.overflow
    }

    /// The next entries by rising ticks; empty when all were taken.
    pub(super) fn piece(&mut self) -> Vec<TickCount, TICK_ENTRIES> {
        let mut entries = Vec::new();
        while !entries.is_full() {
            let Some(entry) = self.entry(self.cursor) else { break };
            self.cursor += 1;
            if entry.count > 0 {
                let _room = entries.push(entry);
            }
        }
        entries
    }

    fn entry(&self, index: usize) -> Option<TickCount> {
        match self.dense.get(index) {
            Some(&count) => Some(TickCount { ticks: index as u32, count }),
            None => self.sparse.get(index - DENSE).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn all(histogram: &mut TickHistogram) -> std::vec::Vec<(u32, u32)> {
        let mut entries = std::vec::Vec::new();
        loop {
            let piece = histogram.piece();
            if piece.is_empty() {
                return entries;
            }
            entries.extend(piece.iter().map(|entry| (entry.ticks, entry.count)));
        }
    }

    #[test]
    fn what_finds_no_place_is_counted() {
        let mut histogram = TickHistogram::new();
        (0..SPARSE as u64 + 3).for_each(|i| histogram.count(DENSE as u64 + i));
        histogram.count(1 << 32);
        histogram.count(DENSE as u64);
        assert_eq!(histogram.overflow(), 4);
        assert_eq!(all(&mut histogram).len(), SPARSE);
        histogram.clear();
        assert_eq!((histogram.overflow(), all(&mut histogram)), (0, std::vec![]));
    }

    proptest! {
        #[test]
        fn every_difference_is_counted_once(
            ticks in prop::collection::vec(prop_oneof![0u64..40, 4090u64..4100, 0..1u64 << 20], 0..200)
        ) {
            let mut histogram = TickHistogram::new();
            let mut expected = BTreeMap::new();
            for &ticks in &ticks {
                histogram.count(ticks);
                *expected.entry(ticks as u32).or_insert(0) += 1;
            }
            prop_assert_eq!(histogram.overflow(), 0);
            prop_assert_eq!(all(&mut histogram), expected.into_iter().collect::<std::vec::Vec<_>>());
        }
    }
}
