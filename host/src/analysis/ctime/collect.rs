//! The runs of the inode timestamp workload, and what of them is missing.

use std::collections::BTreeMap;

use ppsrig_wire::{CtimeCore, CtimeDone, FromBoard};

use crate::events::{BoardEvent, Recording, RigEvent};
use crate::names::CtimeVariant;
use crate::units::{Hertz, HostNanos};

/// One run of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtimeWindow {
    /// Its number.
    pub number: u32,
    /// Counts the variant's sessions from 1.
    pub session: u32,
    /// The build.
    pub variant: CtimeVariant,
    /// Cores that were asked for.
    pub cores: u8,
    /// Operations that were asked for, of all cores together.
    pub operations: u64,
    /// The session's seed.
    pub seed: u64,
    /// When the board was told.
    pub started: HostNanos,
    /// When the board's end of it arrived.
    pub ended: Option<HostNanos>,
    /// What the cores did.
    pub done: Option<CtimeDone>,
}

impl CtimeWindow {
    fn cores(&self) -> &[CtimeCore] {
        self.done.as_ref().map_or(&[], |done| done.cores.as_slice())
    }

    fn sum(&self, of: impl Fn(&CtimeCore) -> u64) -> u64 {
        self.cores().iter().map(of).fold(0, u64::saturating_add)
    }

    /// Operations that were done.
    #[must_use]
    pub fn done_operations(&self) -> u64 {
        self.sum(|core| core.operations)
    }

    /// Coarse stamps that were earlier than a fine-grained one before them.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.sum(|core| core.ordering_violations)
    }

    /// Fine-grained stamps.
    #[must_use]
    pub fn fine_stamps(&self) -> u64 {
        self.sum(|core| core.fine_stamps)
    }

    /// Operations a second of all cores together, by the core that took longest. None if no time passed.
    #[must_use]
    pub fn operations_per_second(&self, counter: Hertz) -> Option<f64> {
        let longest = self.cores().iter().map(|core| core.elapsed_ticks).max().filter(|ticks| *ticks > 0)?;
        Some(self.done_operations() as f64 * counter.0 as f64 / longest as f64)
    }

    /// Instructions for an operation. An emulator runs its cores by turns on one virtual clock, and each core's count is
    /// that of all of them: then the longest counts. None where the cores do not count.
    #[must_use]
    pub fn instructions_per_operation(&self, emulated: bool) -> Option<f64> {
        let counts = self.cores().iter().map(|core| core.instructions).collect::<Option<Vec<u64>>>()?;
        let all = if emulated {
            counts.into_iter().max()?
        } else {
            counts.into_iter().fold(0, u64::saturating_add)
        };
        let operations = self.done_operations();
        (operations > 0).then(|| all as f64 / operations as f64)
    }

    /// What is missing or does not fit together.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let title = format!("{} on {} cores, session {}", self.variant, self.cores, self.session);
        let Some(done) = &self.done else {
            return Some(format!("{title}: the board did not come to its end"));
        };
        let operations = self.done_operations();
        if done.cores.len() != usize::from(self.cores) {
            return Some(format!("{title}: {} cores ran it", done.cores.len()));
        }
        (operations != self.operations)
            .then(|| format!("{title}: {operations} operations were done of {}", self.operations))
    }

    /// Whether everything arrived and fits together.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problem().is_none()
    }
}

/// The runs of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CtimeWindows {
    /// In the order in which the board was told.
    pub list: Vec<CtimeWindow>,
    /// What concerns no one run, as sentences.
    pub problems: Vec<String>,
}

/// Collects the runs of a recording.
#[must_use]
pub fn windows(recording: &Recording) -> CtimeWindows {
    let mut windows = CtimeWindows::default();
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for event in &recording.rig {
        let RigEvent::CtimeStarted { window, session, variant, cores, operations, seed } = event.event else {
            continue;
        };
        if places.insert(window, windows.list.len()).is_some() {
            windows.problems.push(format!("the rig started window {window} twice"));
        }
        let (started, ended, done) = (event.at, None, None);
        let number = window;
        windows.list.push(CtimeWindow {
            number,
            session,
            variant,
            cores,
            operations,
            seed,
            started,
            ended,
            done,
        });
    }
    for event in &recording.board {
        let BoardEvent::Frame { message: FromBoard::CtimeDone(done), .. } = &event.event else { continue };
        match places.get(&done.window).map(|&place| &mut windows.list[place]) {
            Some(window) if window.done.is_none() => {
                window.done = Some(done.clone());
                window.ended = Some(event.at);
            }
            Some(_) => {}
            None => {
                windows.problems.push(format!("the board ran window {}, which nobody started", done.window))
            }
        }
    }
    windows
}
