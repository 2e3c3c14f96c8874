//! What the analysis asks the reference: which second, could it be trusted, what was its quantisation error.
//!
//! A trait, so that pairing can be tested against a reference whose truth is known.

use ppsrig_wire::FromBoard;

use super::class::Class;
use super::label::{SECOND_RULE, SecondLabels};
use super::reference::{Demands, ReferenceState, ReferenceTimeline, StateSpan, notes};
use crate::events::{BoardEvent, Recording, RigEvent};
use crate::plan::RunRecord;
use crate::units::{GpsSecond, HostNanos, LEAP_TABLE_END, NS_PER_S, Nanos};

/// The reference, as far as the analysis needs it.
pub trait Reference {
    /// The second that begins at the pulse to which an edge belongs whose record arrived at `arrival`.
    ///
    /// # Errors
    /// Why there is no one such second, as a sentence for the ledger.
    fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String>;

    /// Why the reference could not be trusted at `at`: its class, which is one of unlocked, settling and holdover,
    /// and the reason. None when it could be trusted.
    fn distrust(&self, at: Nanos) -> Option<(Class, String)>;

    /// What the receiver said of the pulse at which `second` begins.
    fn qerr_ps(&self, second: GpsSecond) -> Option<i32>;

    /// The rule behind [`Reference::label`], as a sentence for the report.
    fn rule(&self) -> String;

    /// What it was worth from one second to another, in order and without a gap. Empty where that is not known.
    fn spans(&self, _: GpsSecond, _: GpsSecond) -> Vec<StateSpan> {
        Vec::new()
    }

    /// What is worth saying of it beside the ledger.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// In place of the reference, where edges have nothing to do with its pulse: seconds are counted from the first capture of
/// a preamble, by arrival, only to tell its edges apart. No such second is ever shown.
#[derive(Clone, Copy, Debug)]
pub struct Unaligned {
    /// When the record of that capture arrived.
    pub first: HostNanos,
}

impl Unaligned {
    /// The rule, for the table and the report.
    pub const RULE: &str = "none: edges have nothing to do with the reference's pulse";
}

impl Reference for Unaligned {
    fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String> {
        let since = i128::from(arrival.0) - i128::from(self.first.0) + i128::from(NS_PER_S / 2);
        Ok(GpsSecond(i64::try_from(since.div_euclid(i128::from(NS_PER_S))).unwrap_or(i64::MAX)))
    }

    fn distrust(&self, _: Nanos) -> Option<(Class, String)> {
        None
    }

    fn qerr_ps(&self, _: GpsSecond) -> Option<i32> {
        None
    }

    fn rule(&self) -> String {
        Self::RULE.to_owned()
    }
}

/// The reference as it was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    labels: SecondLabels,
    timeline: ReferenceTimeline,
    notes: Vec<String>,
}

/// What a recording says of its reference.
#[must_use]
pub fn recorded(record: &RunRecord, recording: &Recording) -> Recorded {
    let reference = &record.bench.reference;
    let demands = Demands {
        settle_s: reference.settle_s,
        guard_s: reference.guard_s,
        max_offset_ns: reference.max_offset_ns,
    };
    Recorded {
        labels: SecondLabels::new(&recording.reference, reference.is_disciplined()),
        timeline: ReferenceTimeline::new(&recording.reference, needed_until(recording), demands),
        notes: notes(&recording.reference),
    }
}

/// The last capture or end of a window: up to here the reference was needed.
fn needed_until(recording: &Recording) -> HostNanos {
    let closed = recording
        .rig
        .iter()
        .filter(|event| matches!(event.event, RigEvent::WindowClosed { .. }))
        .map(|event| event.at);
    let captured = recording
        .board
        .iter()
        .filter(|event| matches!(&event.event, BoardEvent::Frame { message: FromBoard::Capture(_), .. }));
    closed.chain(captured.map(|event| event.at)).max().unwrap_or(HostNanos(0))
}

impl Reference for Recorded {
    fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String> {
        self.labels.label(arrival)
    }

    fn distrust(&self, at: Nanos) -> Option<(Class, String)> {
        let (state, reason) = self.timeline.state(at);
        let class = match state {
            ReferenceState::Locked => return None,
            ReferenceState::Unlocked => Class::Unlocked,
            ReferenceState::Settling => Class::Settling,
            ReferenceState::Holdover => Class::Holdover,
        };
        Some((class, reason.to_owned()))
    }

    fn qerr_ps(&self, second: GpsSecond) -> Option<i32> {
        self.labels.qerr_ps(second)
    }

    fn spans(&self, from: GpsSecond, to: GpsSecond) -> Vec<StateSpan> {
        self.timeline.spans(from, to)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn rule(&self) -> String {
        format!(
            "{SECOND_RULE}; a burst starts on the pulse after its arming, and its captures have to agree; edges of the \
             measurement follow from the preamble's by counter differences"
        )
    }
}

/// What a run of this day (year-month-day, or a time that begins with it) has to say of the table of leap seconds, if it is
/// past its end.
#[must_use]
pub fn past_leap_table(utc: &str) -> Option<String> {
    let day = utc
        .get(..LEAP_TABLE_END.len())
        .filter(|day| day.starts_with(|first: char| first.is_ascii_digit()))?;
    (day > LEAP_TABLE_END).then(|| {
        format!(
            "the table of leap seconds is complete up to {LEAP_TABLE_END} only, and the run is of {day}: if a leap second has \
             come since, every second that UTC messages name is off by one; a newer ppsrig knows"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_past_the_end_of_the_table_of_leap_seconds_says_so() {
        assert_eq!(past_leap_table("2026-12-28T23:59:59Z"), None);
        assert_eq!(past_leap_table("2026-11-30T21:00:00Z"), None);
        assert!(past_leap_table("2026-12-29T00:00:00Z").unwrap().contains("complete up to 2026-12-28"));
        assert_eq!(past_leap_table("unknown time"), None);
    }
}
