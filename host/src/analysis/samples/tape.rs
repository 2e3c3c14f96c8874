//! The differences of one session in the order in which they were taken, one byte each, until they can be cut into
//! equal parts.

use std::mem;

use crate::analysis::path::histogram::Histogram;
use crate::samples::split;

/// Stands on the tape for a difference of this many ticks or more, which is kept beside it.
const LONG: u8 = u8::MAX;

/// How much is kept. The memory of a session is bounded by it, however long the session is.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Differences that the tape holds before it is folded into pieces.
    tape: usize,
    /// Those of them that are kept beside it.
    long: usize,
    /// Pairs of a piece, to begin with.
    piece: u64,
    /// Pieces before neighbours are joined.
    pieces: usize,
    /// Entries that all pieces together may have before neighbours are joined.
    entries: usize,
    /// Pieces that are not joined any more: batches are made of them.
    fewest: usize,
}

/// 16 MiB of tape, and pieces of 1/64 of a batch.
const LIMITS: Limits =
    Limits { tape: 1 << 24, long: 1 << 20, piece: 1 << 12, pieces: 4096, entries: 1 << 22, fewest: 64 };

/// Differences in order.
#[derive(Debug)]
pub(super) struct Tape {
    limits: Limits,
    bytes: Vec<u8>,
    /// Those that do not fit a byte, in their order.
    long: Vec<u32>,
    folded: Folded,
    /// Pairs whose second reading was smaller.
    pub(super) backwards: u64,
    /// Pairs whose difference does not fit.
    pub(super) overflow: u64,
}

impl Default for Tape {
    fn default() -> Self {
        Self::new(LIMITS)
    }
}

/// What the tape held before, in pieces of `size` pairs but for the last one.
#[derive(Debug)]
struct Folded {
    limits: Limits,
    size: u64,
    pieces: Vec<Histogram>,
    entries: usize,
    /// Pairs in the last piece.
    last: u64,
}

impl Tape {
    fn new(limits: Limits) -> Self {
        let folded = Folded { limits, size: limits.piece, pieces: Vec::new(), entries: 0, last: 0 };
        Self { limits, bytes: Vec::new(), long: Vec::new(), folded, backwards: 0, overflow: 0 }
    }

    /// Whether nothing was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.folded.pieces.is_empty() && self.backwards == 0 && self.overflow == 0
    }

    /// Whether there are too many different differences to go on.
    pub(super) fn too_wide(&self) -> bool {
        self.folded.is_too_wide()
    }

    /// Takes one pair.
    #[inline]
    pub(super) fn pair(&mut self, pre: u64, snapshot: u64) {
        let difference = snapshot.wrapping_sub(pre);
        if difference < u64::from(LONG) && snapshot >= pre {
            self.bytes.push(difference as u8);
            if self.bytes.len() < self.limits.tape {
                return;
            }
        } else {
            self.rare(pre, snapshot);
        }
        if self.bytes.len() >= self.limits.tape || self.long.len() >= self.limits.long {
            self.fold();
        }
    }

    /// Takes pairs of 16 bytes, both readings little-endian.
    pub(super) fn records(&mut self, records: &[u8]) {
        const STEP: usize = 512;
        for step in records.as_chunks::<16>().0.chunks(STEP) {
            let mut short = [0_u8; STEP];
            let mut all = 0;
            for (record, byte) in step.iter().zip(&mut short) {
                let [pre, snapshot] = split(record);
                let difference = snapshot.wrapping_sub(pre);
                *byte = difference as u8;
                // Adding one makes a bit above the byte of everything from `LONG` on.
                all |= difference.wrapping_add(1) | difference | (u64::from(snapshot < pre) << 63);
            }
            if all < u64::from(LONG) + 1 && self.bytes.len() + step.len() < self.limits.tape {
                self.bytes.extend_from_slice(&short[..step.len()]);
            } else {
                for record in step {
                    let [pre, snapshot] = split(record);
                    self.pair(pre, snapshot);
                }
            }
        }
    }

    #[cold]
    fn rare(&mut self, pre: u64, snapshot: u64) {
        match snapshot.checked_sub(pre).map(u32::try_from) {
            None => self.backwards += 1,
            Some(Err(_)) => self.overflow += 1,
            Some(Ok(difference)) => {
                self.bytes.push(LONG);
                self.long.push(difference);
            }
        }
    }

    #[cold]
    fn fold(&mut self) {
        let (bytes, long) = (mem::take(&mut self.bytes), mem::take(&mut self.long));
        let mut long = long.into_iter();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() && !self.folded.is_too_wide() {
            rest = self.folded.take(rest, &mut long);
        }
    }

    /// The session in equal parts, the larger ones first. None if there are too many different differences.
    pub(super) fn batches(mut self, parts: usize) -> Option<Vec<Histogram>> {
        if !self.folded.pieces.is_empty() {
            self.fold();
            return self.folded.batches(parts);
        }
        let (least, larger) = (self.bytes.len() / parts, self.bytes.len() % parts);
        let mut long = self.long.iter().copied();
        let mut rest = self.bytes.as_slice();
        let cut = |part: usize| {
            let (own, left) = rest.split_at(least + usize::from(part < larger));
            rest = left;
            count(own, &mut long)
        };
        Some((0..parts).map(cut).collect())
    }
}

impl Folded {
    fn is_too_wide(&self) -> bool {
        self.entries > self.limits.entries
    }

    /// Puts as much into the last piece as it still takes, or into a new one, and returns what is left.
    fn take<'a>(&mut self, bytes: &'a [u8], long: &mut impl Iterator<Item = u32>) -> &'a [u8] {
        if self.pieces.is_empty() || self.last == self.size {
            if self.pieces.len() >= self.limits.pieces {
                self.join();
            }
            self.pieces.push(Histogram::default());
            self.last = 0;
        }
        let room = usize::try_from(self.size - self.last).unwrap_or(usize::MAX);
        let (own, left) = bytes.split_at(room.min(bytes.len()));
        let Some(piece) = self.pieces.last_mut() else { return left };
        let before = piece.distinct();
        piece.merge(&count(own, long));
        self.entries += piece.distinct() - before;
        self.last += own.len() as u64;
        while self.is_too_wide() && self.pieces.len() > self.limits.fewest {
            self.join();
        }
        left
    }

    /// Joins each two neighbours.
    fn join(&mut self) {
        let odd = !self.pieces.len().is_multiple_of(2);
        self.pieces = self.pieces.chunks(2).map(Histogram::of_all).collect();
        // The last piece may be short: alone, or as the second of two.
        self.last += if odd { 0 } else { self.size };
        self.size *= 2;
        self.entries = self.pieces.iter().map(Histogram::distinct).sum();
    }

    fn batches(self, parts: usize) -> Option<Vec<Histogram>> {
        if self.is_too_wide() {
            return None;
        }
        let total: u128 = self.pieces.iter().map(|piece| u128::from(piece.total())).sum();
        let mut batches = vec![Histogram::default(); parts];
        let mut before = 0_u128;
        for piece in &self.pieces {
            let own = u128::from(piece.total());
            // A piece belongs to the batch that its middle lies in.
            let batch = (2 * before + own) * parts as u128 / (2 * total).max(1);
            batches[usize::try_from(batch).unwrap_or(usize::MAX).min(parts - 1)].merge(piece);
            before += own;
        }
        Some(batches)
    }
}

/// Counts bytes of the tape; four counts side by side, since equal neighbours would wait for one another.
fn count(bytes: &[u8], long: &mut impl Iterator<Item = u32>) -> Histogram {
    let mut counts = [[0_u64; 256]; 4];
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        for (count, byte) in counts.iter_mut().zip(four) {
            count[usize::from(*byte)] += 1;
        }
    }
    rest.iter().for_each(|byte| counts[0][usize::from(*byte)] += 1);
    let of_byte = |byte: u8| counts.iter().map(|count| count[usize::from(byte)]).sum::<u64>();
    let mut histogram = Histogram::default();
    (0..LONG).for_each(|byte| histogram.add(u32::from(byte), of_byte(byte)));
    (0..of_byte(LONG)).zip(long).for_each(|(_, difference)| histogram.add(difference, 1));
    histogram
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Limits = Limits { tape: 64, long: 16, piece: 2, pieces: 32, entries: 60, fewest: 8 };

    fn tape(differences: &[u32]) -> Tape {
        let mut tape = Tape::new(SMALL);
        differences.iter().for_each(|&ticks| tape.pair(0, ticks.into()));
        tape
    }

    proptest! {
        #[test]
        fn a_folded_tape_holds_every_difference_in_parts_in_order(
            differences in prop::collection::vec(prop_oneof![9 => 0..2_u32, 1 => 255..258_u32], 64..3000),
        ) {
            let batches = tape(&differences).batches(4).unwrap();
            let mut expected = Histogram::default();
            differences.iter().for_each(|&ticks| expected.add(ticks, 1));
            prop_assert_eq!(Histogram::of_all(&batches), expected);
            // In order: each part holds what stands there.
            let mut at = 0;
            for batch in &batches {
                let size = usize::try_from(batch.total()).unwrap();
                let mut own = Histogram::default();
                differences[at..at + size].iter().for_each(|&ticks| own.add(ticks, 1));
                prop_assert_eq!(batch, &own);
                at += size;
            }
            // Never fewer than a quarter of `pieces` of them, so a piece is at most an eighth of all; half of one each side.
            let most = differences.len().div_ceil(8).max(4);
            let quarter = differences.len() / 4;
            prop_assert!(batches.iter().all(|batch| batch.total().abs_diff(quarter as u64) <= most as u64));
        }
    }

    #[test]
    fn a_tape_with_too_many_different_differences_has_no_batches_and_stops_growing() {
        let spread: Vec<u32> = (0..100_000).collect();
        let tape = tape(&spread);
        assert!(tape.too_wide() && tape.folded.pieces.len() <= SMALL.fewest);
        assert!(tape.folded.entries <= SMALL.entries + 64);
        assert_eq!(tape.batches(4), None);
    }
}
