//! A train that runs by itself: nothing starts it and nothing ends it, so a window is held open for as long as the edges
//! that are wanted take. How many were due in it is counted by the analysis.

use std::time::Duration;

use super::PulseTrain;
use crate::rig::watch::Deadline;

/// How long a window is to stay open.
#[derive(Debug, Default)]
pub(super) struct Running {
    length: Duration,
    over: Option<Deadline>,
}

impl Running {
    pub(super) const fn prepare(&mut self, train: &PulseTrain) {
        self.length = train.duration();
        self.over = None;
    }

    pub(super) fn begin(&mut self) {
        self.over = Some(Deadline::after(self.length));
    }

    /// Whether enough of it went by; waits up to `wait` for that.
    pub(super) fn complete(&self, wait: Duration) -> bool {
        let Some(over) = self.over else { return false };
        if !over.passed() {
            std::thread::sleep(wait.min(over.left()));
        }
        over.passed()
    }
}
