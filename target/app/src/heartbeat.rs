//! When the next heartbeat is due, and the longest time between two passes of the idle loop.

/// Heartbeats a second.
pub(crate) const BEATS_PER_SECOND: u64 = 4;

/// The heartbeat of one window.
#[derive(Debug)]
pub(crate) struct HeartbeatClock {
    period: u64,
    due: u64,
    last_pass: u64,
    longest_gap: u64,
    number: u32,
}

impl HeartbeatClock {
    /// Starts a window's heartbeat at `now`. `counter_hz` is the counter's declared rate.
    pub(crate) const fn start(counter_hz: u64, now: u64) -> Self {
        let period = if counter_hz < BEATS_PER_SECOND { 1 } else { counter_hz / BEATS_PER_SECOND };
        Self { period, due: now.wrapping_add(period), last_pass: now, longest_gap: 0, number: 0 }
    }

    /// Notes one pass of the idle loop, and says whether a heartbeat is due.
    pub(crate) fn pass(&mut self, now: u64) -> bool {
        self.longest_gap = self.longest_gap.max(now.saturating_sub(self.last_pass));
        self.last_pass = now;
        now >= self.due
    }

    /// The number and the longest gap to report; begins the next period on the same grid, leaving out what was missed.
    pub(crate) fn beat(&mut self, now: u64) -> (u32, u64) {
        let report = (self.number, self.longest_gap);
        let missed = now.saturating_sub(self.due) / self.period;
        self.due = self.due.saturating_add((missed + 1) * self.period);
        self.number = self.number.wrapping_add(1);
        self.longest_gap = 0;
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_stay_on_the_grid_when_one_is_late() {
        let mut clock = HeartbeatClock::start(400, 1_000);
        assert!(!clock.pass(1_099));
        assert!(clock.pass(1_130));
        assert_eq!(clock.beat(1_130), (0, 99));
        assert!(!clock.pass(1_199));
        assert!(clock.pass(1_200));
    }

    #[test]
    fn a_halt_shows_as_the_longest_gap_once_and_gives_one_beat() {
        let mut clock = HeartbeatClock::start(400, 0);
        clock.pass(10);
        assert!(clock.pass(950));
        assert_eq!(clock.beat(950), (0, 940));
        assert!(!clock.pass(951));
        assert!(clock.pass(1_000));
        assert_eq!(clock.beat(1_000), (1, 49));
    }
}
