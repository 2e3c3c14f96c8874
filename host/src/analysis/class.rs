//! The classes of the edge ledger, as `results/README.md` explains them, and the sums that have to come out even.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What became of a commanded or a captured edge. The order is that of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Commanded and captured belong together.
    Paired,
    /// Commanded, but no capture within the window.
    Missed,
    /// Commanded, and its record was torn or dropped.
    Lost,
    /// Captured, but no command belongs to it.
    Spurious,
    /// A second capture of the same edge.
    Duplicate,
    /// A captured edge whose record arrived damaged.
    Torn,
    /// A captured edge whose record never arrived.
    Dropped,
    /// Two labellings are possible.
    Ambiguous,
    /// The reference had lost its lock, or was about to.
    Unlocked,
    /// The reference had regained its lock just before.
    Settling,
    /// The reference ran on its own oscillator.
    Holdover,
    /// The core was halted, the link stalled, or a clock stepped.
    Disturbed,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 12] = [
        Self::Paired,
        Self::Missed,
        Self::Lost,
        Self::Spurious,
        Self::Duplicate,
        Self::Torn,
        Self::Dropped,
        Self::Ambiguous,
        Self::Unlocked,
        Self::Settling,
        Self::Holdover,
        Self::Disturbed,
    ];

    /// The name in the CSV files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paired => "paired",
            Self::Missed => "missed",
            Self::Lost => "lost",
            Self::Spurious => "spurious",
            Self::Duplicate => "duplicate",
            Self::Torn => "torn",
            Self::Dropped => "dropped",
            Self::Ambiguous => "ambiguous",
            Self::Unlocked => "unlocked",
            Self::Settling => "settling",
            Self::Holdover => "holdover",
            Self::Disturbed => "disturbed",
        }
    }

    /// Whether a commanded edge can end here.
    #[must_use]
    pub const fn on_commanded_side(self) -> bool {
        !matches!(self, Self::Spurious | Self::Duplicate | Self::Torn | Self::Dropped)
    }

    /// Whether a captured edge can end here.
    #[must_use]
    pub const fn on_captured_side(self) -> bool {
        !matches!(self, Self::Missed | Self::Lost)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many edges ended in each class, on one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    counts: [u64; Class::ALL.len()],
}

impl Side {
    /// One more edge in this class.
    pub fn add(&mut self, class: Class) {
        self.counts[class as usize] += 1;
    }

    /// How many edges ended in this class.
    #[must_use]
    pub fn count(&self, class: Class) -> u64 {
        self.counts[class as usize]
    }

    /// How many edges ended in any class.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Both sides of a ledger, with what each has to add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Commanded edges by class.
    pub commanded: Side,
    /// Captured edges by class.
    pub captured: Side,
    /// Edges that the generator was told to fire.
    pub commanded_count: u64,
    /// Captures that the board counted.
    pub captured_count: u64,
    /// Whether every window's totals arrived. Without, the count is that of the last heartbeat or capture.
    pub counted_by_board: bool,
    /// What contradicts itself in the recording, beyond the sums.
    pub problems: Vec<String>,
}

impl Ledger {
    /// Everything that keeps the ledger from balancing, as sentences; empty when it balances.
    #[must_use]
    pub fn imbalances(&self) -> Vec<String> {
        let mut found = self.problems.clone();
        let sides = [
            ("commanded", &self.commanded, self.commanded_count, "were commanded"),
            ("captured", &self.captured, self.captured_count, "were captured by the board's own count"),
        ];
        for (name, side, expected, what) in sides {
            if side.total() != expected {
                found.push(format!(
                    "{name} side: {expected} edges {what}, {} are in the ledger",
                    side.total()
                ));
            }
        }
        let (commanded, captured) = (self.commanded.count(Class::Paired), self.captured.count(Class::Paired));
        if commanded != captured {
            found.push(format!("{commanded} commanded edges are paired with {captured} captured ones"));
        }
        found
    }
}
