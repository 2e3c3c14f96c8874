//! The capture windows of a run, from what the rig did.

use std::collections::BTreeMap;

use crate::events::{Burst, Recording, RigEvent, Stamped};
use crate::plan::MOST_EDGES;
use crate::units::HostNanos;

/// Most edges of all preambles of a run: thousands of sessions.
const MOST_PREAMBLE_EDGES: u32 = MOST_EDGES / 10;
/// The purpose under which the rig records that it loads the board.
const LOAD: &str = "load";

/// One capture window, with the burst that was fired into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its number, chosen by the rig.
    pub number: u32,
    /// Preamble or measurement.
    pub burst: Burst,
    /// The session that it belongs to.
    pub session: u32,
    /// What the board sends of it comes after this: the end of loading, or of the window before. An earlier frame of this
    /// number is of an earlier run, whose windows have the same numbers.
    pub begins: HostNanos,
    /// When the board had acknowledged it. What it captured at once may have arrived shortly before.
    pub opened: HostNanos,
    /// When it was closed.
    pub closed: Option<HostNanos>,
    /// The burst, once the generator was armed.
    pub arming: Option<Arming>,
    /// Why the generator could not be used any more.
    pub generator_failed: Option<String>,
    /// Up to here the burst was waited for.
    pub awaited: Option<HostNanos>,
    /// When the host commanded each edge, where it commands them one by one.
    pub host_edges: BTreeMap<u32, HostNanos>,
}

/// How a burst was armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arming {
    /// Edges commanded.
    pub cycles: u32,
    /// Nanoseconds from edge to edge.
    pub period_ns: u64,
    /// Just before the command was sent.
    pub sent: HostNanos,
    /// When it was acknowledged.
    pub acknowledged: HostNanos,
}

/// The windows of a run in order of opening, and what contradicts itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// In order of opening.
    pub list: Vec<Window>,
    /// Contradictions, as sentences.
    pub problems: Vec<String>,
    /// When the board was last loaded, or a window closed.
    quiet_since: HostNanos,
}

/// Collects the windows of a recording.
#[must_use]
pub fn windows(recording: &Recording) -> Windows {
    let mut windows = Windows::default();
    for event in &recording.rig {
        windows.take(event);
    }
    windows
}

impl Windows {
    fn take(&mut self, Stamped { at, event }: &Stamped<RigEvent>) {
        match event {
            RigEvent::SessionStarted { .. } => self.quiet_since = *at,
            RigEvent::ProbeUsed { purpose, .. } if purpose == LOAD => self.quiet_since = *at,
            RigEvent::WindowOpened { window, burst, session } => self.open(*window, *burst, *session, *at),
            RigEvent::GeneratorArmed { window, cycles, period_ns, sent, .. } => {
                let arming =
                    Arming { cycles: *cycles, period_ns: *period_ns, sent: *sent, acknowledged: *at };
                self.arm(*window, arming);
            }
            RigEvent::GeneratorFailed { window, reason } => {
                if let Some(window) = self.find(*window) {
                    window.generator_failed = Some(reason.clone());
                    window.awaited = Some(*at);
                }
            }
            RigEvent::GeneratorDone { window } => {
                if let Some(window) = self.find(*window) {
                    window.awaited = Some(*at);
                }
            }
            RigEvent::EdgesCommanded { window, first, sent } => {
                if let Some(window) = self.find(*window) {
                    window.host_edges.extend((*first..).zip(sent.iter().copied()));
                }
            }
            RigEvent::WindowClosed { window } => {
                self.quiet_since = *at;
                if let Some(window) = self.find(*window) {
                    window.closed = Some(*at);
                }
            }
            _ => {}
        }
    }

    fn find(&mut self, number: u32) -> Option<&mut Window> {
        self.list.iter_mut().find(|window| window.number == number)
    }

    fn open(&mut self, number: u32, burst: Burst, session: u32, opened: HostNanos) {
        if self.find(number).is_some() {
            self.problems.push(format!("the rig opened window {number} twice"));
            return;
        }
        self.list.push(Window {
            number,
            burst,
            session,
            begins: self.quiet_since,
            opened,
            closed: None,
            arming: None,
            generator_failed: None,
            awaited: None,
            host_edges: BTreeMap::new(),
        });
    }

    fn arm(&mut self, number: u32, arming: Arming) {
        let burst = self.find(number).map(|window| window.burst);
        let most = if burst == Some(Burst::Preamble) { MOST_PREAMBLE_EDGES } else { MOST_EDGES };
        let alike = self.list.iter().filter(|window| Some(window.burst) == burst);
        let commanded: u64 =
            alike.filter_map(|window| window.arming).map(|arming| u64::from(arming.cycles)).sum();
        let problem = if arming.period_ns == 0 || i64::try_from(arming.period_ns).is_err() {
            Some(format!("a burst with a period of {} ns was armed for window {number}", arming.period_ns))
        } else if commanded + u64::from(arming.cycles) > u64::from(most) {
            Some(format!(
                "{} edges were commanded for window {number}, after {commanded} before; a run has {most} at most",
                arming.cycles
            ))
        } else {
            match self.find(number) {
                None => Some(format!("a burst was armed for window {number}, which was never opened")),
                Some(Window { arming: Some(_), .. }) => {
                    Some(format!("two bursts were armed for window {number}"))
                }
                Some(window) => {
                    window.arming = Some(arming);
                    None
                }
            }
        };
        self.problems.extend(problem);
    }
}

/// When the recording ended: the latest time in it.
#[must_use]
pub fn recording_end(recording: &Recording) -> HostNanos {
    let last = [
        recording.rig.last().map(|event| event.at),
        recording.board.last().map(|event| event.at),
        recording.reference.last().map(|event| event.at),
        recording.interval.last().map(|event| event.at),
    ];
    last.into_iter().flatten().max().unwrap_or(HostNanos(0))
}
