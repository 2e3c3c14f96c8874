//! When an instrument's port was away: its adapter was unplugged, or its server had hung up. By what the rig recorded.

use super::{PortOwner, Recording, RigEvent};
use crate::units::HostNanos;

/// One time for which a port was away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// Whose port.
    pub owner: PortOwner,
    /// From when on.
    pub from: HostNanos,
    /// When it was back, if it came back.
    pub to: Option<HostNanos>,
    /// What the system said.
    pub reason: String,
}

impl Absence {
    /// Whether any of it falls between two times.
    #[must_use]
    pub fn overlaps(&self, from: HostNanos, to: HostNanos) -> bool {
        self.from <= to && self.to.is_none_or(|end| end >= from)
    }

    /// For the ledger and the report.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (owner, reason) = (self.owner, &self.reason);
        match self.to {
            Some(to) => {
                format!(
                    "the port of the {owner} was away for {:.1} s ({reason})",
                    to.seconds_since(self.from)
                )
            }
            None => format!("the port of the {owner} vanished and did not come back ({reason})"),
        }
    }
}

/// Every absence of a port, in order of their beginning.
#[must_use]
pub fn absences(recording: &Recording) -> Vec<Absence> {
    let mut found: Vec<Absence> = Vec::new();
    for event in &recording.rig {
        match &event.event {
            RigEvent::PortVanished { instrument, reason, .. } => {
                let (from, reason) = (event.at, reason.clone());
                found.push(Absence { owner: *instrument, from, to: None, reason });
            }
            RigEvent::PortReturned { instrument, .. } => {
                let open = found.iter_mut().rev().find(|absence| absence.owner == *instrument);
                if let Some(absence) = open.filter(|absence| absence.to.is_none()) {
                    absence.to = Some(event.at);
                }
            }
            _ => {}
        }
    }
    found
}

/// Those of one instrument.
pub fn absences_of(recording: &Recording, owner: PortOwner) -> impl Iterator<Item = Absence> {
    absences(recording).into_iter().filter(move |absence| absence.owner == owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Stamped;

    #[test]
    fn each_return_ends_the_last_absence_of_its_own_instrument() {
        let vanished = |at, instrument| Stamped {
            at: HostNanos(at),
            event: RigEvent::PortVanished { port: "/p".to_owned(), instrument, reason: "gone".to_owned() },
        };
        let returned = |at, instrument| Stamped {
            at: HostNanos(at),
            event: RigEvent::PortReturned { port: "/p".to_owned(), instrument, after_ms: 1 },
        };
        let recording = Recording {
            rig: vec![
                returned(1, PortOwner::Link),
                vanished(1_000_000_000, PortOwner::Link),
                vanished(2_000_000_000, PortOwner::Reference),
                returned(3_500_000_000, PortOwner::Link),
                returned(9_000_000_000, PortOwner::Link),
            ],
            ..Recording::default()
        };
        let found = absences(&recording);
        let sentences: Vec<_> = found.iter().map(Absence::sentence).collect();
        assert_eq!(
            sentences,
            [
                "the port of the link to the board was away for 2.5 s (gone)",
                "the port of the reference vanished and did not come back (gone)"
            ]
        );
        assert!(found[0].overlaps(HostNanos(3_000_000_000), HostNanos(4_000_000_000)));
        assert!(!found[0].overlaps(HostNanos(4_000_000_000), HostNanos(5_000_000_000)));
        assert!(found[1].overlaps(HostNanos(4_000_000_000), HostNanos(5_000_000_000)));
        assert_eq!(absences_of(&recording, PortOwner::Reference).count(), 1);
    }
}
