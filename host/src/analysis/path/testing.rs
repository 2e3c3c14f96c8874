//! Boards whose `path` and `ctime` are known to the cycle, for the tests of everything that judges them, and random
//! numbers that are the same on every machine.

use ppsrig_wire::{
    Capabilities, ClockId, CtimeCore, CtimeDone, FromBoard, Identity, Pair, Pairs, PathDone, PhaseCounts,
    TickCount, TickCounts,
};

use super::histogram::Histogram;
use crate::events::{BoardEvent, Recording, RigEvent, Stamped};
use crate::names::{Clock, CtimeVariant, Measurement, PathPart, PathVariant};
use crate::plan::{CtimeMeasurement, PathMeasurement, RunRecord, cycle_ps, ladder_delays, whole_tick_steps};
use crate::units::{Hertz, HostNanos};

/// SplitMix64.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        crate::random::next(&mut self.0)
    }

    /// Uniform below `limit`, to one part in 2^32 / limit.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// Normal with mean 0 and standard deviation 1: the sum of twelve uniform ones, less its mean.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
    }
}

/// A run of `path`, or of `ctime` where there are cores. The core runs at 1 GHz.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Variants with the cycles from read to read.
    pub variants: Vec<(PathVariant, u64)>,
    pub sessions: u32,
    pub iterations: u32,
    pub dither: bool,
    pub ladder: bool,
    pub raw_pairs: bool,
    pub clock: Clock,
    pub emulated: bool,
    pub counter_hz: u64,
    /// Cycles of the loop around a pair, without dither.
    pub loop_cycles: u64,
    /// Every `rare`th pair takes longer by so many cycles.
    pub rare: Option<(u32, u64)>,
    /// Alters the board's end of each variant's own window.
    pub done: fn(&mut PathDone),
    /// Cores of the inode workload.
    pub ctime_cores: Option<u8>,
    /// Ordering violations that its last core counts.
    pub violations: u64,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            variants: vec![
                (PathVariant::Indirect, 24),
                (PathVariant::Inline, 20),
                (PathVariant::InlineBiased, 17),
            ],
            sessions: 1,
            iterations: 100_000,
            dither: true,
            ladder: false,
            raw_pairs: false,
            clock: Clock::Exact,
            emulated: true,
            counter_hz: 12_500_000,
            loop_cycles: 76,
            rare: None,
            done: |_| {},
            ctime_cores: None,
            violations: 0,
        }
    }

    fn ratio(&self) -> u64 {
        1_000_000_000 / self.counter_hz
    }

    pub(crate) fn record(&self) -> RunRecord {
        let mut record: RunRecord = toml::from_str(include_str!("../synthetic.toml")).expect("a run record");
        let (cpu, counter) = (Hertz(1_000_000_000), Hertz(self.counter_hz));
        record.bench.board.cpu_hz = cpu;
        record.bench.board.counter_hz = counter;
        record.bench.board.emulated = self.emulated;
        record.plan.clock = self.clock;
        record.plan.edges = 0;
        record.plan.sessions = self.sessions;
        record.plan.measure = vec![Measurement::Path];
        record.plan.path = Some(PathMeasurement {
            variants: self.variants.iter().map(|(variant, _)| *variant).collect(),
            iterations: self.iterations,
            batches: 32,
            overhead_iterations: self.iterations,
            dither: self.dither,
            dither_steps: whole_tick_steps(cpu, counter) as u32,
            max_bias_ps: cycle_ps(cpu),
            ladder_delays: if self.ladder { ladder_delays(cpu, counter) } else { Vec::new() },
            ladder_iterations: self.iterations,
            raw_pairs: self.raw_pairs,
        });
        if let Some(cores) = self.ctime_cores {
            record.plan.measure.push(Measurement::Ctime);
            record.plan.ctime =
                Some(CtimeMeasurement { variants: CtimeVariant::ALL.to_vec(), cores, operations: 1_000_000 });
        }
        record
    }

    pub(crate) fn recording(&self) -> Recording {
        let mut board = Board { scene: self, recording: Recording::default(), window: 0, sequence: 0, at: 0 };
        let plan = self.record().plan.path.expect("path is measured");
        for session in 1..=self.sessions {
            for &(variant, cycles) in &self.variants {
                let seed = board.boot(session, variant.name());
                let mut random = Random(seed);
                let mut measure = |what, added, cycles, iterations| {
                    let part = Part { session, variant, what, added, cycles, iterations, seed };
                    board.measure(&part, &plan, &mut random);
                };
                measure(PathPart::Overhead, 0, 1, plan.overhead_iterations);
                measure(PathPart::Path, 0, cycles, plan.iterations);
                for &delay in &plan.ladder_delays {
                    let with_delay = cycles + u64::from(delay);
                    measure(PathPart::Ladder, delay, with_delay, plan.ladder_iterations);
                }
            }
        }
        if let Some(cores) = self.ctime_cores {
            for session in 1..=self.sessions {
                CtimeVariant::ALL.iter().for_each(|&variant| board.stamp_inodes(session, variant, cores));
            }
        }
        board.did(RigEvent::Finished);
        board.recording
    }
}

/// One part of a session, and how long it takes from read to read.
struct Part {
    session: u32,
    variant: PathVariant,
    what: PathPart,
    added: u32,
    cycles: u64,
    iterations: u32,
    seed: u64,
}

struct Board<'a> {
    scene: &'a Scene,
    recording: Recording,
    window: u32,
    sequence: u16,
    at: u64,
}

impl Board<'_> {
    fn now(&mut self) -> HostNanos {
        self.at += 1_000_000;
        HostNanos(self.at)
    }

    fn did(&mut self, event: RigEvent) {
        let at = self.now();
        self.recording.rig.push(Stamped { at, event });
    }

    fn says(&mut self, message: FromBoard) {
        let at = self.now();
        let event = BoardEvent::Frame { sequence: self.sequence, message };
        self.sequence = self.sequence.wrapping_add(1);
        self.recording.board.push(Stamped { at, event });
    }

    fn boot(&mut self, session: u32, variant: &str) -> u64 {
        let seed = variant
            .bytes()
            .fold(u64::from(session), |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        self.did(RigEvent::SessionStarted { session, seed });
        let began = self.now();
        self.did(RigEvent::ProbeUsed { purpose: "load".to_owned(), began, operations: 900 });
        let none = Capabilities(0);
        self.says(FromBoard::Identity(Identity {
            protocol: 1,
            command: 0,
            declared_counter_hz: self.scene.counter_hz,
            midr: 0x410f_d034,
            exception_level: 1,
            capabilities: if self.scene.emulated { Capabilities::EMULATED } else { none },
            git_hash: heapless::String::new(),
            board: heapless::String::new(),
        }));
        seed
    }

    fn measure(&mut self, part: &Part, plan: &PathMeasurement, random: &mut Random) {
        self.window += 1;
        self.did(RigEvent::PathStarted {
            window: self.window,
            session: part.session,
            variant: part.variant,
            clock_id: ClockId::Realtime,
            what: part.what,
            added_delay: part.added,
            iterations: part.iterations,
            batches: plan.batches,
            dither: plan.dither,
            dither_steps: plan.dither_steps,
            seed: part.seed,
        });
        let ratio = self.scene.ratio();
        let mut batches = vec![Histogram::default(); usize::from(plan.batches)];
        let mut phases = vec![0_u32; ratio as usize];
        let mut pairs = Vec::new();
        let mut now = 0;
        for number in 0..part.iterations {
            now += self.scene.loop_cycles;
            now += if plan.dither { u64::from(random.below(plan.dither_steps)) } else { 0 };
            let rare = self.scene.rare.filter(|(every, _)| number % every == 0);
            let cycles = part.cycles + rare.map_or(0, |(_, longer)| longer);
            let (pre, delta) = (now / ratio, ((now % ratio + cycles) / ratio) as u32);
            let batch = u64::from(number) * u64::from(plan.batches) / u64::from(part.iterations);
            batches[batch as usize].add(delta, 1);
            phases[(now % ratio) as usize] += 1;
            pairs.push(Pair { pre, delta });
        }
        self.send(&batches, &phases);
        if plan.raw_pairs && part.what == PathPart::Path {
            for (piece, first) in pairs.chunks(14).zip((0..).step_by(14)) {
                let pairs = piece.iter().copied().collect();
                self.says(FromBoard::Pairs(Pairs { window: self.window, first, pairs }));
            }
        }
        let mut done = PathDone {
            window: self.window,
            iterations: part.iterations,
            phase_disagreements: 0,
            overflow: 0,
            invalid: 0,
            dither_cycles: plan.dither_steps - 1,
            instructions: None,
        };
        if part.what == PathPart::Path {
            (self.scene.done)(&mut done);
        }
        self.says(FromBoard::PathDone(done));
    }

    fn send(&mut self, batches: &[Histogram], phases: &[u32]) {
        let window = self.window;
        for (histogram, batch) in batches.iter().zip(0..) {
            let entries: Vec<TickCount> = histogram
                .iter()
                .map(|(ticks, count)| TickCount { ticks, count: count.try_into().expect("few") })
                .collect();
            for piece in entries.chunks(16) {
                let entries = piece.iter().copied().collect();
                self.says(FromBoard::TickCounts(TickCounts { window, batch, entries }));
            }
        }
        for (piece, first) in phases.chunks(32).zip((0..).step_by(32)) {
            let counts = piece.iter().copied().collect();
            self.says(FromBoard::PhaseCounts(PhaseCounts { window, first, counts }));
        }
    }

    fn stamp_inodes(&mut self, session: u32, variant: CtimeVariant, cores: u8) {
        let seed = self.boot(session, variant.name());
        self.window += 1;
        let (window, operations) = (self.window, 1_000_000);
        self.did(RigEvent::CtimeStarted { window, session, variant, cores, operations, seed });
        let instructions = match variant {
            CtimeVariant::Coarse => 100,
            CtimeVariant::Multigrain => 110,
            CtimeVariant::MultigrainFloor => 104,
        };
        let share = operations / u64::from(cores);
        let core = |index: u8| CtimeCore {
            operations: share + u64::from(u64::from(index) < operations % u64::from(cores)),
            // On one virtual clock each core counts what all of them execute.
            instructions: Some(operations * instructions),
            ordering_violations: if index + 1 == cores { self.scene.violations } else { 0 },
            fine_stamps: 10,
            elapsed_ticks: operations * instructions / self.scene.ratio(),
        };
        let cores = (0..cores).map(core).collect();
        self.says(FromBoard::CtimeDone(CtimeDone { window, cores }));
    }
}
