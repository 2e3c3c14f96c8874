//! Recordings whose truth is known, for the tests of everything that judges recordings.
//!
//! The bench behaves like the virtual one: an edge reaches the pin tens of microseconds after its nominal time, known to
//! lie within [sent, answered]; the interval counter states half-widths; the board's counter follows the host's clock.

use std::collections::BTreeSet;
use std::ops::Range;

use ppsrig_wire::{
    Capabilities, Capture, CaptureCounters, CaptureTotals, EdgeMode, FromBoard, Heartbeat, Identity, Snapshot,
};

use super::class::Class;
use super::seconds::Reference;
use crate::events::{
    BoardEvent, Burst, IntervalChannel, IntervalEvent, IntervalStamp, Recording, RigEvent, Stamped,
};
use crate::plan::RunRecord;
use crate::units::{GpsSecond, HostNanos, Nanos, Picos};

/// GPS second of the recordings' first pulse.
pub(crate) const FIRST_SECOND: i64 = 1_480_000_000;
/// Host time of that pulse.
pub(crate) const FIRST_HOST_NS: i64 = 3_250_000_000;
const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
/// The true latency of an interrupt capture is this and a bit, in nanoseconds.
pub(crate) const LATENCY_NS: i64 = 90_000;

/// A run with its faults. Edge numbers are those of the measurement's burst.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub mode: EdgeMode,
    pub edges: u32,
    pub period_ms: i64,
    pub sessions: u32,
    pub echo: bool,
    pub interval_counter: bool,
    pub emulated: bool,
    /// The counter's true rate; 12.5 MHz is declared.
    pub counter_hz: i64,
    pub skipped: BTreeSet<u32>,
    pub preamble_skipped: BTreeSet<u32>,
    pub preamble_spurious_after: BTreeSet<u32>,
    pub spurious_after: BTreeSet<u32>,
    pub bounced: BTreeSet<u32>,
    /// So many milliseconds after the pulse before the one that starts it, a burst is armed.
    pub armed_ms: i64,
    /// The record's frame is damaged on the link.
    pub torn: BTreeSet<u32>,
    /// The board had no room for the record.
    pub dropped: BTreeSet<u32>,
    /// The whole frame vanishes.
    pub vanished: BTreeSet<u32>,
    /// Both transitions are captured: the other one so many milliseconds later.
    pub both_polarities_ms: Option<i64>,
    /// Edges from here on see a counter that runs backwards.
    pub reversed_from: Option<u32>,
    /// Edges from here on see a counter that stepped by so many nanoseconds.
    pub counter_step: Option<(u32, i64)>,
    /// Edges from here on see a counter that runs faster by so many parts per million.
    pub rate_step: Option<(u32, i64)>,
    /// Edges before this one see a counter that is 2^32 ahead.
    pub wraps_at: Option<u32>,
    /// These edges see a counter that stands still.
    pub stuck: Range<u32>,
    /// The counter advances by so many ticks at once.
    pub coarse: u64,
    /// The snapshot's clock steps by so many nanoseconds at this edge.
    pub clock_step: Option<(u32, i64)>,
    /// Probe operations around this edge.
    pub probe_at: Option<u32>,
    /// The link is silent while these edges come, and their records with it.
    pub silent: Range<u32>,
    /// The idle loop stands still for so many milliseconds at this edge.
    pub halted: Option<(u32, i64)>,
    /// Nothing is recorded from this edge on.
    pub cut_at: Option<u32>,
    /// The reference says that it is unlocked while these edges come.
    pub outage: Range<u32>,
}

impl Scene {
    pub(crate) fn new(mode: EdgeMode, edges: u32, period_ms: i64) -> Self {
        Self {
            mode,
            edges,
            period_ms,
            sessions: 1,
            echo: false,
            interval_counter: true,
            emulated: true,
            counter_hz: 12_500_000,
            skipped: BTreeSet::new(),
            preamble_skipped: BTreeSet::new(),
            preamble_spurious_after: BTreeSet::new(),
            spurious_after: BTreeSet::new(),
            armed_ms: 350,
            bounced: BTreeSet::new(),
            torn: BTreeSet::new(),
            dropped: BTreeSet::new(),
            vanished: BTreeSet::new(),
            both_polarities_ms: None,
            reversed_from: None,
            counter_step: None,
            rate_step: None,
            wraps_at: None,
            stuck: 0..0,
            coarse: 1,
            clock_step: None,
            probe_at: None,
            silent: 0..0,
            halted: None,
            cut_at: None,
            outage: 0..0,
        }
    }

    pub(crate) fn record(&self) -> RunRecord {
        let mut record: RunRecord = toml::from_str(include_str!("synthetic.toml")).expect("a run record");
        record.plan.mode = self.mode;
        record.plan.edges = self.edges;
        record.plan.period_ns = (self.period_ms * MS) as u64;
        record.plan.rate_millihertz = (1_000_000 / self.period_ms) as u64;
        record.plan.sessions = self.sessions;
        record.bench.board.emulated = self.emulated;
        record.bench.wiring.echo = self.echo;
        if !self.interval_counter {
            record.bench.interval_counter = None;
        }
        record
    }

    /// GPS second of the measurement's edge 0, in the first session.
    pub(crate) fn start(&self) -> i64 {
        FIRST_SECOND + 6
    }

    pub(crate) fn recording(&self) -> Recording {
        let mut tape =
            Tape { scene: self, recording: Recording::default(), sequence: 0, noise: 1, last_heard: 0 };
        let mut second = 0;
        for session in 1..=self.sessions {
            tape.session(session, second);
            second += 10 + i64::from(self.edges) * self.period_ms / 1000;
        }
        tape.rig(second * S, RigEvent::Finished);
        tape.recording.sort();
        if let Some(edge) = self.cut_at {
            let end = 6 * S + i64::from(edge) * self.period_ms * MS - MS;
            tape.recording.cut(HostNanos((FIRST_HOST_NS + end) as u64));
        }
        tape.recording
    }

    /// The seconds of which the reference says that it is unlocked.
    pub(crate) fn outage_seconds(&self) -> Range<i64> {
        let at = |edge: u32| self.start() + i64::from(edge) * self.period_ms / 1000;
        if self.outage.is_empty() { 0..0 } else { at(self.outage.start)..at(self.outage.end) }
    }

    pub(crate) fn reference(&self) -> Truth {
        let at = |edge: u32| self.start() * S + i64::from(edge) * self.period_ms * MS;
        Truth { outage: (!self.outage.is_empty()).then(|| at(self.outage.start)..at(self.outage.end)) }
    }
}

impl Recording {
    fn sort(&mut self) {
        self.rig.sort_by_key(|event| event.at);
        self.board.sort_by_key(|event| event.at);
        self.interval.sort_by_key(|event| event.at);
    }

    /// What a recording holds that was killed at `end`.
    pub(crate) fn cut(&mut self, end: HostNanos) {
        self.rig.retain(|event| event.at < end);
        self.board.retain(|event| event.at < end);
        self.reference.retain(|event| event.at < end);
        self.interval.retain(|event| event.at < end);
    }
}

/// When a recording ends.
pub(crate) fn end(recording: &Recording) -> HostNanos {
    super::window::recording_end(recording)
}

/// A reference that knows the truth: guard 2 s, settling 1 s.
pub(crate) struct Truth {
    outage: Option<Range<i64>>,
}

impl Reference for Truth {
    fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String> {
        Ok(GpsSecond(FIRST_SECOND + (arrival.0 as i64 - FIRST_HOST_NS).div_euclid(S)))
    }

    fn distrust(&self, at: Nanos) -> Option<(Class, String)> {
        let outage = self.outage.as_ref()?;
        if (outage.start - 2 * S..outage.end).contains(&at.0) {
            return Some((Class::Unlocked, "no lock".to_owned()));
        }
        (outage.end..outage.end + S).contains(&at.0).then(|| (Class::Settling, "settling".to_owned()))
    }

    fn qerr_ps(&self, _: GpsSecond) -> Option<i32> {
        Some(-1234)
    }

    fn rule(&self) -> String {
        "the truth".to_owned()
    }
}

struct Tape<'a> {
    scene: &'a Scene,
    recording: Recording,
    sequence: u16,
    noise: u64,
    /// When the last record was sent, as the host hears it.
    last_heard: i64,
}

/// What the board counted in a window so far.
#[derive(Default)]
struct Count {
    captured: u32,
    dropped: u32,
}

impl Tape<'_> {
    /// A number of 0..below.
    fn noise(&mut self, below: i64) -> i64 {
        self.noise =
            self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.noise >> 33) % below as u64) as i64
    }

    fn host(after_ns: i64) -> HostNanos {
        HostNanos((FIRST_HOST_NS + after_ns) as u64)
    }

    fn rig(&mut self, after_ns: i64, event: RigEvent) {
        self.recording.rig.push(Stamped { at: Self::host(after_ns), event });
    }

    fn send(&mut self, after_ns: i64, message: FromBoard) {
        self.last_heard = after_ns;
        self.recording.board.push(Stamped {
            at: Self::host(after_ns),
            event: BoardEvent::Frame { sequence: self.sequence, message },
        });
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// The counter at a time, in ticks.
    fn ticks(&self, after_ns: i64) -> u64 {
        let ticks =
            (i128::from(after_ns) + 100 * i128::from(S)) * i128::from(self.scene.counter_hz) / i128::from(S);
        u64::try_from(ticks).expect("time begins after power-on")
    }

    fn session(&mut self, session: u32, second: i64) {
        let at = second * S;
        self.rig(at - 3 * S, RigEvent::SessionStarted { session, seed: 7 });
        let began = Self::host(at - 2 * S - 900 * MS);
        self.rig(at - 2 * S, RigEvent::ProbeUsed { purpose: "load".to_owned(), began, operations: 1000 });
        let capabilities = Capabilities::EDGE_IRQ.with(Capabilities::EDGE_POLL).with(Capabilities::ECHO);
        self.send(
            at - S,
            FromBoard::Identity(Identity {
                protocol: 1,
                command: 0,
                declared_counter_hz: 12_500_000,
                midr: 0x410f_d034,
                exception_level: 1,
                capabilities: if self.scene.emulated {
                    capabilities.with(Capabilities::EMULATED)
                } else {
                    capabilities
                },
                git_hash: heapless_from("0123abcd"),
                board: heapless_from("virt"),
            }),
        );
        self.window(session, 2 * session - 1, Burst::Preamble, at, 4, 1000);
        self.window(session, 2 * session, Burst::Edges, at + 5 * S, self.scene.edges, self.scene.period_ms);
    }

    fn window(&mut self, session: u32, window: u32, burst: Burst, at: i64, cycles: u32, period_ms: i64) {
        self.rig(at + 300 * MS, RigEvent::WindowOpened { window, burst, session });
        self.rig(
            at + (self.scene.armed_ms + 5) * MS,
            RigEvent::GeneratorArmed {
                window,
                cycles,
                period_ns: (period_ms * MS) as u64,
                width_ns: 5_000_000,
                sent: Self::host(at + self.scene.armed_ms * MS),
            },
        );
        let first = at + S;
        let last = first + i64::from(cycles.max(1) - 1) * period_ms * MS;
        let mut count = Count::default();
        let mut beats = (0..).map(|number| (number, at + 400 * MS + i64::from(number) * 250 * MS)).peekable();
        for edge in 0..cycles {
            let nominal = first + i64::from(edge) * period_ms * MS;
            while let Some((number, time)) = beats.next_if(|(_, time)| *time < nominal) {
                self.heartbeat(window, burst, number, time, &count);
            }
            self.edge(window, burst, edge, nominal, &mut count);
        }
        while let Some((number, time)) = beats.next_if(|(_, time)| *time < last + 600 * MS) {
            self.heartbeat(window, burst, number, time, &count);
        }
        self.rig(last + 20 * MS, RigEvent::GeneratorDone { window });
        self.send(
            last + 650 * MS,
            FromBoard::Totals(CaptureTotals {
                command: 1,
                window,
                captured: count.captured,
                dropped: count.dropped,
                counter: self.ticks(last + 650 * MS),
            }),
        );
        self.rig(last + 660 * MS, RigEvent::WindowClosed { window });
    }

    fn heartbeat(&mut self, window: u32, burst: Burst, number: u32, time: i64, count: &Count) {
        let edge_time = |edge: u32| 6 * S + i64::from(edge) * self.scene.period_ms * MS;
        let silent = edge_time(self.scene.silent.start)..edge_time(self.scene.silent.end);
        if burst == Burst::Edges && silent.contains(&time) {
            return;
        }
        let halted = self.scene.halted.filter(|(edge, _)| {
            burst == Burst::Edges && (edge_time(*edge)..edge_time(*edge) + 250 * MS).contains(&time)
        });
        let gap_ms = halted.map_or(0, |(_, ms)| ms);
        self.send(
            time,
            FromBoard::Heartbeat(Heartbeat {
                window,
                number,
                counter: self.ticks(time),
                captured: count.captured,
                dropped: count.dropped,
                longest_gap_ticks: (gap_ms * self.scene.counter_hz / 1000) as u64 + 20,
            }),
        );
    }

    fn edge(&mut self, window: u32, burst: Burst, edge: u32, nominal: i64, count: &mut Count) {
        let main = burst == Burst::Edges;
        let skipped = if main { &self.scene.skipped } else { &self.scene.preamble_skipped };
        if !skipped.contains(&edge) {
            self.pin(window, burst, edge, nominal, count, false);
            if main && self.scene.bounced.contains(&edge) {
                self.pin(window, burst, edge, nominal + 12 * MS, count, true);
            }
        }
        if let Some(ms) = self.scene.both_polarities_ms.filter(|_| main) {
            self.pin(window, burst, edge, nominal + ms * MS, count, true);
        }
        let spurious = if main { &self.scene.spurious_after } else { &self.scene.preamble_spurious_after };
        if spurious.contains(&edge) {
            let period_ms = if main { self.scene.period_ms } else { 1000 };
            self.pin(window, burst, edge, nominal + period_ms * MS / 2, count, true);
        }
        if main && self.scene.probe_at == Some(edge) {
            let began = Self::host(nominal - MS);
            self.rig(nominal + MS, RigEvent::ProbeUsed { purpose: "peek".to_owned(), began, operations: 3 });
        }
    }

    /// One transition of the pin, in whatever way it came about.
    fn pin(&mut self, window: u32, burst: Burst, edge: u32, nominal: i64, count: &mut Count, extra: bool) {
        let pin = nominal + 20_000 + self.noise(60_000);
        self.stamp(IntervalChannel::A, nominal + 45_000, 40_000);
        let number = count.captured;
        count.captured += 1;
        let poll = burst == Burst::Edges
            && match self.scene.mode {
                EdgeMode::Irq => false,
                EdgeMode::Poll => true,
                EdgeMode::Alternate => number.is_multiple_of(2),
            };
        let latency = LATENCY_NS + self.noise(20_000);
        let raised = pin + latency + 30_000;
        if self.scene.echo {
            let error = self.noise(10_000) - 5000;
            self.stamp(IntervalChannel::B, raised + error, 5000);
        }
        let capture = self.capture(window, number, burst, edge, pin, latency, poll);
        self.deliver(burst, edge, pin + 3 * MS, capture, count, extra);
    }

    #[expect(clippy::too_many_arguments, reason = "a table of facts about one edge")]
    fn capture(
        &mut self,
        window: u32,
        number: u32,
        burst: Burst,
        edge: u32,
        pin: i64,
        latency: i64,
        poll: bool,
    ) -> Capture {
        let reach = |first: Option<u32>| burst == Burst::Edges && first.is_some_and(|first| edge >= first);
        let step = self.scene.counter_step.filter(|(first, _)| reach(Some(*first))).map_or(0, |(_, ns)| ns);
        let edge_time = |edge: u32| 6 * S + i64::from(edge) * self.scene.period_ms * MS;
        let seen = |time: i64| {
            let time = match self.scene.rate_step {
                Some((first, ppm)) if reach(Some(first)) => {
                    time + (time - edge_time(first)) * ppm / 1_000_000
                }
                _ if burst == Burst::Edges && self.scene.stuck.contains(&edge) => {
                    edge_time(self.scene.stuck.start)
                }
                _ => time,
            };
            let wrapped = self.scene.wraps_at.is_some_and(|first| !reach(Some(first)));
            let ticks = self.ticks(time + step) / self.scene.coarse * self.scene.coarse
                + if wrapped { 1 << 32 } else { 0 };
            if reach(self.scene.reversed_from) { 3_000_000_000 - ticks } else { ticks }
        };
        let clock = self.scene.clock_step.filter(|(first, _)| reach(Some(*first))).map_or(0, |(_, ns)| ns);
        let counters = if poll {
            CaptureCounters::Poll { before: seen(pin - 1500), after: seen(pin + 2500) }
        } else {
            CaptureCounters::Irq { capture: seen(pin + latency) }
        };
        let snapshot =
            (!poll).then(|| Snapshot { counter: seen(pin + latency + 500), time_ns: pin + latency + clock });
        let raised = pin + latency + 30_000;
        let echo = Some((seen(raised - 1000), seen(raised + 1000)));
        Capture { window, number, counters, snapshot, echo }
    }

    fn deliver(
        &mut self,
        burst: Burst,
        edge: u32,
        at: i64,
        capture: Capture,
        count: &mut Count,
        extra: bool,
    ) {
        let main = burst == Burst::Edges && !extra;
        let scene = self.scene;
        if main && scene.dropped.contains(&edge) {
            count.dropped += 1;
        } else if main && scene.vanished.contains(&edge) {
            self.sequence = self.sequence.wrapping_add(1);
        } else if main && scene.torn.contains(&edge) {
            self.sequence = self.sequence.wrapping_add(1);
            let event = BoardEvent::Damaged { bytes: 20, reason: "bytes were lost" };
            self.recording.board.push(Stamped { at: Self::host(at), event });
        } else if main && scene.silent.contains(&edge) {
            // The link holds the record back until it has recovered.
            let recovered = 6 * S + (2 * i64::from(scene.silent.end) - 1) * scene.period_ms * MS / 2;
            self.send(recovered + i64::from(edge) * MS, FromBoard::Capture(capture));
        } else {
            self.send(at, FromBoard::Capture(capture));
        }
    }

    fn stamp(&mut self, channel: IntervalChannel, after_ns: i64, half_width_ns: i64) {
        if !self.scene.interval_counter {
            return;
        }
        // Its scale begins anywhere.
        let time = Picos((i128::from(after_ns) + 777 * i128::from(S)) * 1000 + 321);
        let half_width = Some(Picos(i128::from(half_width_ns) * 1000));
        self.recording.interval.push(Stamped {
            at: Self::host(after_ns + 2 * MS),
            event: IntervalEvent::Stamp(IntervalStamp { channel, time, half_width }),
        });
    }
}

fn heapless_from<const N: usize>(text: &str) -> heapless::String<N> {
    heapless::String::try_from(text).expect("a short name")
}

/// Takes captures out of a recording as if they had never been, and numbers the rest anew.
pub(crate) fn without(recording: &mut Recording, gone: &[(u32, u32)]) {
    let before = |window: u32, number: u32| {
        gone.iter().filter(|(of, one)| *of == window && *one < number).count() as u32
    };
    let mut sequence = 0;
    recording.board.retain_mut(|event| {
        let BoardEvent::Frame { sequence: own, message } = &mut event.event else { return true };
        match message {
            FromBoard::Capture(capture) if gone.contains(&(capture.window, capture.number)) => return false,
            FromBoard::Capture(capture) => capture.number -= before(capture.window, capture.number),
            FromBoard::Heartbeat(beat) => beat.captured -= before(beat.window, beat.captured),
            FromBoard::Totals(totals) => totals.captured -= before(totals.window, totals.captured),
            _ => {}
        }
        *own = sequence;
        sequence = sequence.wrapping_add(1);
        true
    });
}
