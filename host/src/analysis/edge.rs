//! `edge`: pairing, ledger, calibration, ties and statistics of the generator's edges.
//!
//! From top to bottom: `verdict` over `figures` over `latency` over `session`, which for each window takes `captures`,
//! `anchor` (which second), `placement` (which edge), `pairing` (which class), `stamps` and `tie` (how late).

use super::Whole;
use super::captures::WindowCaptures;
use super::class::{Class, Ledger};
use super::figure::Figure;
use super::fixed::Fixed;
use super::latency::{Latencies, latencies};
use super::rate::CounterRate;
use super::reference::StateSpan;
use super::row::{EdgeRow, add_up};
use super::sawtooth::sawtooth;
use super::seconds::{Reference, Unaligned, past_leap_table};
use super::session::{Context, Session, judge};
use super::verdict::{Verdict, verdict};
use super::window::{Window, windows};
use crate::events::{Burst, Recording};
use crate::plan::RunRecord;
use crate::units::{Hertz, Nanos};

/// Everything that follows from a recording about edges.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeAnalysis {
    /// The sessions, with the ledger's lines.
    pub sessions: Vec<Session>,
    /// The preamble's ledger.
    pub preamble: Ledger,
    /// The measurement's ledger.
    pub edges: Ledger,
    /// Latencies by mode and tie.
    pub latencies: Vec<Latencies>,
    /// Every row of summary.csv.
    pub figures: Vec<Figure>,
    /// Probe operations while a capture window was open.
    pub probe_operations: u64,
    /// The rule by which an edge got its second.
    pub second_rule: String,
    /// What is to be said of the table of leap seconds, where the run is past its end.
    pub leap_table: Option<String>,
    /// What the reference was worth while edges were measured.
    pub reference_states: Vec<StateSpan>,
    /// What is worth saying of the reference beside the ledger.
    pub reference_notes: Vec<String>,
    /// The same of the interval counter.
    pub interval_counter_notes: Vec<String>,
    /// Why the recording is partial, if it is.
    pub partial: Option<String>,
    /// What it comes to.
    pub verdict: Verdict,
}

impl EdgeAnalysis {
    /// Every line of the ledger, in the order of edges.csv: the measurement's edges only.
    pub fn rows(&self) -> impl Iterator<Item = &EdgeRow> {
        self.sessions.iter().flat_map(|session| &session.rows)
    }

    /// Heartbeats that were heard in its windows.
    #[must_use]
    pub fn heartbeats(&self) -> u64 {
        self.sessions.iter().map(|session| session.heartbeats).sum()
    }

    /// The longest time for which the board's idle loop stood still, in milliseconds, by its heartbeats and the declared
    /// rate.
    #[must_use]
    pub fn longest_gap_ms(&self, counter: Hertz) -> Option<Fixed> {
        let ticks = self.sessions.iter().map(|session| session.longest_gap_ticks).max().unwrap_or(0);
        Fixed::rounded(ticks as f64 / counter.0.max(1) as f64 * 1e3, 3)
    }
}

/// Judges what a recording holds about edges.
#[must_use]
pub fn analyse(record: &RunRecord, recording: &Recording, reference: &dyn Reference) -> EdgeAnalysis {
    let windows = windows(recording);
    let (captures, strangers) = super::captures::captures(recording, &windows.list);
    let whole = Whole::new(record, recording);
    let context = Context { record, recording, reference, emulated: whole.emulated, end: whole.end };
    let sessions = sessions(context, &windows.list, &captures);
    let timing = record.bench.generator.driver.timing();
    let (runs, on_grid) = (timing.runs_by_itself(), timing.on_gps_grid());
    let preamble = ledger(Burst::Preamble, runs, &sessions, &windows.list, &captures);
    let mut edges = ledger(Burst::Edges, runs, &sessions, &windows.list, &captures);
    edges.problems.extend(windows.problems.iter().cloned());
    edges.problems.extend(strangers);
    let probe_operations = probe_operations(recording, &windows.list, context.end);
    let latencies = latencies(&sessions);
    let mut analysis = EdgeAnalysis {
        sessions,
        preamble,
        edges,
        latencies,
        figures: Vec::new(),
        probe_operations,
        second_rule: if on_grid { reference.rule() } else { Unaligned::RULE.to_owned() },
        leap_table: past_leap_table(&record.provenance.started_utc),
        reference_states: Vec::new(),
        reference_notes: reference_notes(record, recording, reference),
        interval_counter_notes: super::stamps::notes(recording),
        partial: whole.partial.map(str::to_owned),
        verdict: Verdict::nothing(),
    };
    if on_grid {
        analysis.reference_states = reference_states(&analysis, reference);
    }
    analysis.figures = super::figures::figures(&analysis, record);
    analysis.verdict = verdict(&analysis, record);
    analysis
}

/// From the first edge to the last.
fn reference_states(analysis: &EdgeAnalysis, reference: &dyn Reference) -> Vec<StateSpan> {
    let times = || analysis.rows().filter(|row| row.burst == Burst::Edges).filter_map(|row| row.gpst_ns);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return Vec::new() };
    reference.spans(Nanos(first).second(), Nanos(last).second().plus(1))
}

fn reference_notes(record: &RunRecord, recording: &Recording, reference: &dyn Reference) -> Vec<String> {
    let mut notes = reference.notes();
    notes.extend(sawtooth(record, recording, reference).map(|sawtooth| sawtooth.sentence()));
    notes
}

fn sessions(context: Context<'_>, windows: &[Window], captures: &[WindowCaptures]) -> Vec<Session> {
    let mut numbers: Vec<u32> = windows.iter().map(|window| window.session).collect();
    numbers.dedup();
    let of_session = |number: u32| {
        let of_session = windows.iter().zip(captures).filter(|(window, _)| window.session == number);
        judge(context, number, &of_session.collect::<Vec<_>>())
    };
    numbers.into_iter().map(of_session).collect()
}

/// The ledger of one kind of burst: what its lines add up to, and what they have to. `runs`: the source runs by itself, so
/// as many edges were commanded as were due while the windows were open.
fn ledger(
    burst: Burst,
    runs: bool,
    sessions: &[Session],
    windows: &[Window],
    captures: &[WindowCaptures],
) -> Ledger {
    let of_burst = || windows.iter().zip(captures).filter(|(window, _)| window.burst == burst);
    let cycles = of_burst().filter_map(|(window, _)| window.arming).map(|arming| u64::from(arming.cycles));
    let due = sessions.iter().flat_map(|session| &session.due).filter(|(of, _)| *of == burst);
    Ledger {
        commanded_count: if runs { due.map(|(_, due)| u64::from(*due)).sum() } else { cycles.sum() },
        captured_count: of_burst().map(|(_, captures)| captures.count).sum(),
        counted_by_board: of_burst().all(|(_, captures)| captures.totals.is_some()),
        problems: of_burst().flat_map(|(_, captures)| captures.problems.iter().cloned()).collect(),
        ..add_up(sessions.iter().flat_map(|session| &session.rows), burst)
    }
}

/// What the preamble says about the counter's rate.
#[derive(Clone, Debug, PartialEq)]
pub enum RateCheck {
    /// As declared, within its uncertainty.
    Good(CounterRate),
    /// Certainly not as declared, or running backwards: the run must not go on.
    Refused(String),
    /// Not measured, and why: the run must not go on either.
    NotMeasured(String),
}

/// Checks the counter's rate on what a session has recorded so far.
#[must_use]
pub fn check_rate(
    record: &RunRecord,
    recording: &Recording,
    reference: &dyn Reference,
    session: u32,
) -> RateCheck {
    let analysis = analyse(record, recording, reference);
    let Some(session) = analysis.sessions.into_iter().find(|one| one.number == session) else {
        return RateCheck::NotMeasured(format!("session {session} has no capture window yet"));
    };
    if let Some(reversal) = session.reversal {
        return RateCheck::Refused(reversal);
    }
    match session.rate {
        Some(rate) => match rate.refusal(record.bench.board.counter_hz) {
            Some(refusal) => RateCheck::Refused(refusal),
            None => RateCheck::Good(rate),
        },
        None => RateCheck::NotMeasured(session.without_rate().map(str::to_owned).unwrap_or_else(|| {
            let preamble = &analysis.preamble;
            let mut rows = session.rows.iter().filter(|row| row.burst == Burst::Preamble);
            let unpaired = rows.find(|row| row.class != Class::Paired);
            let why = unpaired.map(|row| format!("; the first: {}, {}", row.class.name(), row.reason));
            format!(
                "fewer than two edges of the preamble paired: {} commanded, {} captured{}",
                preamble.commanded_count,
                preamble.captured_count,
                why.unwrap_or_default()
            )
        })),
    }
}

fn probe_operations(recording: &Recording, windows: &[Window], end: crate::units::HostNanos) -> u64 {
    let uses = windows.iter().flat_map(|window| super::disturbance::probe_uses(recording, window, end));
    uses.map(|(_, _, operations)| operations).fold(0, u64::saturating_add)
}
