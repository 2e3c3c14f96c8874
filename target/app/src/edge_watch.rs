//! Finds the edge in a stream of pin readings, for capturing by poll.

use ppsrig_wire::{CaptureCounters, EdgeDirection};

/// Watches pin readings, each taken between two counter reads, for one transition.
#[derive(Debug)]
pub struct EdgeWatch {
    new_level: bool,
    /// The counter before the latest reading that showed the old level; none until the old level was seen.
    before: Option<u64>,
}

impl EdgeWatch {
    /// Waits for the old level first, then for the edge.
    #[must_use]
    pub const fn new(direction: EdgeDirection) -> Self {
        Self { new_level: matches!(direction, EdgeDirection::Rising), before: None }
    }

    /// Takes one reading. The first reading at the new level after the old one closes the bracket; the watch then
    /// waits for the old level again.
    pub fn reading(&mut self, before: u64, level: bool, after: u64) -> Option<CaptureCounters> {
        if level == self.new_level {
            return self.before.take().map(|before| CaptureCounters::Poll { before, after });
        }
        self.before = Some(before);
        None
    }

    /// Whether the next reading may be the edge. While it may not, the firmware can take its time with other work.
    #[must_use]
    pub const fn armed(&self) -> bool {
        self.before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bracket_is_last_old_reading_to_first_new_reading() {
        let mut watch = EdgeWatch::new(EdgeDirection::Rising);
        assert_eq!(watch.reading(10, false, 11), None);
        assert_eq!(watch.reading(20, false, 21), None);
        assert_eq!(watch.reading(30, true, 31), Some(CaptureCounters::Poll { before: 20, after: 31 }));
        assert_eq!(watch.reading(40, true, 41), None, "one edge, one capture");
    }

    #[test]
    fn a_pin_that_begins_at_the_new_level_is_no_edge() {
        let mut watch = EdgeWatch::new(EdgeDirection::Falling);
        assert_eq!(watch.reading(10, false, 11), None);
        assert!(!watch.armed());
        assert_eq!(watch.reading(20, true, 21), None);
        assert!(watch.armed());
        assert_eq!(watch.reading(30, false, 31), Some(CaptureCounters::Poll { before: 20, after: 31 }));
    }

    proptest! {
        #[test]
        fn every_transition_is_captured_once_and_lies_in_its_bracket(levels in prop::collection::vec(any::<bool>(), 0..50)) {
            let mut watch = EdgeWatch::new(EdgeDirection::Rising);
            for (i, &level) in levels.iter().enumerate() {
                let (before, after) = (10 * i as u64, 10 * i as u64 + 1);
                let rose = level && i > 0 && !levels[i - 1];
                let expected = rose.then(|| CaptureCounters::Poll { before: before - 10, after });
                prop_assert_eq!(watch.reading(before, level, after), expected);
            }
        }
    }
}
