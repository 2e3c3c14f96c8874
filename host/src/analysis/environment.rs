//! Temperatures beside the instruments, as they were recorded: nothing is computed from them.

use std::collections::BTreeMap;

use super::fixed::Fixed;
use crate::events::{Recording, RigEvent};
use crate::units::HostNanos;

/// Nanoseconds up to which a reading stands for a moment: one and a half times the distance of two.
const NEAR_NS: u64 = 15_000_000_000;

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Thousandths of a degree Celsius by name, in order of time.
    pub temperatures: BTreeMap<String, Vec<(HostNanos, i32)>>,
    /// Why one could not be read, by name.
    pub unreadable: Vec<(String, String)>,
}

impl Environment {
    /// Of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut environment = Self::default();
        for event in &recording.rig {
            match &event.event {
                RigEvent::Temperature { name, millicelsius } => {
                    let readings = environment.temperatures.entry(name.clone()).or_default();
                    readings.push((event.at, *millicelsius));
                }
                RigEvent::TemperatureUnreadable { name, reason } => {
                    environment.unreadable.push((name.clone(), reason.clone()));
                }
                _ => {}
            }
        }
        environment
    }

    /// The readings nearest to a moment by name, in degrees Celsius; those that are too far from it are left out.
    #[must_use]
    pub fn near(&self, at: HostNanos) -> Vec<(&str, Fixed)> {
        let nearest = |readings: &[(HostNanos, i32)]| {
            let nearest = readings.iter().min_by_key(|(read, _)| read.0.abs_diff(at.0))?;
            (nearest.0.0.abs_diff(at.0) <= NEAR_NS).then_some(celsius(nearest.1))
        };
        let named = self.temperatures.iter();
        named.filter_map(|(name, readings)| Some((name.as_str(), nearest(readings)?))).collect()
    }
}

fn celsius(millicelsius: i32) -> Fixed {
    Fixed { scaled: i128::from(millicelsius), places: 3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Stamped;

    #[test]
    fn a_moment_has_the_nearest_reading_and_none_from_far_away() {
        let read = |s: u64, millicelsius| Stamped {
            at: HostNanos(s * 1_000_000_000),
            event: RigEvent::Temperature { name: "board".to_owned(), millicelsius },
        };
        let recording = Recording { rig: vec![read(0, 40_000), read(10, 41_250)], ..Recording::default() };
        let environment = Environment::of(&recording);
        let near = |s: u64| {
            let near = environment.near(HostNanos(s * 1_000_000_000));
            near.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>()
        };
        assert_eq!([near(4), near(9), near(25)], [["board 40.000"], ["board 41.250"], ["board 41.250"]]);
        assert_eq!(near(26), Vec::<String>::new());
    }
}
