//! Which of the commanded edges without a capture were lost with their records, and which were never captured.
//!
//! Between two edges that paired, the board's numbers tell how many records are missing. If no more edges than that are
//! unseen there, all of them were captured and their records lost. If more are, nobody can tell which ones.

use std::collections::BTreeMap;

use super::captures::WindowCaptures;

/// What is known of the commanded edges without a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    fate: BTreeMap<usize, Fate>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Lost,
    /// So many edges are unseen here, and so many records missing.
    Doubtful {
        edges: usize,
        records: usize,
    },
}

impl Unseen {
    /// Whether the edge was captured and its record lost.
    #[must_use]
    pub fn is_lost(&self, edge: usize) -> bool {
        self.fate.get(&edge) == Some(&Fate::Lost)
    }

    /// Whether missing records explain, or may explain, that the edge has no capture.
    #[must_use]
    pub fn is_explained(&self, edge: usize) -> bool {
        self.fate.contains_key(&edge)
    }

    /// Why it is not known whether the edge was captured.
    #[must_use]
    pub fn doubt(&self, edge: usize) -> Option<String> {
        match self.fate.get(&edge) {
            Some(Fate::Doubtful { edges, records }) => Some(format!(
                "{edges} edges in a row have no capture, but only {records} records are missing there"
            )),
            _ => None,
        }
    }
}

/// Settles the fate of every edge without an owner.
#[must_use]
pub fn unseen(owner: &[Option<usize>], captures: &WindowCaptures) -> Unseen {
    let mut found = Unseen::default();
    if captures.missing.is_empty() {
        return found;
    }
    let missing: Vec<u32> = captures.missing.iter().map(|record| record.number).collect();
    let between = |from: Option<u32>, to: Option<u32>| {
        let first = missing.partition_point(|&number| from.is_some_and(|from| number <= from));
        let last = missing.partition_point(|&number| to.is_none_or(|to| number < to));
        last.saturating_sub(first)
    };
    let mut run = Vec::new();
    let mut from = None;
    for (edge, owner) in owner.iter().enumerate() {
        match owner {
            None => run.push(edge),
            Some(index) => {
                let to = captures.arrived[*index].capture.number;
                found.settle(&run, between(from, Some(to)), false);
                run.clear();
                from = Some(to);
            }
        }
    }
    found.settle(&run, between(from, None), captures.totals.is_none());
    found
}

impl Unseen {
    /// `cut`: nothing follows because the recording ended, so that the first ones are the lost ones.
    fn settle(&mut self, run: &[usize], records: usize, cut: bool) {
        if records == 0 {
            return;
        }
        let all = run.len() <= records;
        let fate = if all || cut { Fate::Lost } else { Fate::Doubtful { edges: run.len(), records } };
        let affected = if cut { records } else { run.len() };
        self.fate.extend(run.iter().take(affected).map(|&edge| (edge, fate)));
    }
}
