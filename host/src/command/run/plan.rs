//! From what was asked for to a plan that the bench can do, refused before anything is touched where it cannot.

use anyhow::{Context, bail, ensure};
use ppsrig_wire::{ClockId, EdgeMode};

use super::{BoardArgs, board_plan};
use crate::bench_file::{BenchFile, EdgeTiming};
use crate::formats::decimal::Rate;
use crate::names::{Clock, Measurement};
use crate::night::plan::Measure;
use crate::plan::{CLOCK_IDS, EDGE_MODES, MOST_EDGES, PREAMBLE_PERIOD_NS, Plan};
use crate::random;

/// Edges of the preamble: enough for a first rate and for a second labelling that agrees with the first.
pub(super) const PREAMBLE_EDGES: u32 = 4;
/// Their preambles are a tenth of the edges that the analysis takes.
const MOST_SESSIONS: u32 = MOST_EDGES / 10 / PREAMBLE_EDGES;
/// Shortest time that the pin must be at its resting level between two edges.
const LEAST_REST_NS: u64 = 100_000;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const MILLIHERTZ_PERIOD_NS: u64 = NS_PER_S * 1000;

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) measure: &'a [Measurement],
    pub(super) clock: Clock,
    pub(super) clock_id: ClockId,
    pub(super) sessions: u32,
    pub(super) seed: u64,
    pub(super) edges: u32,
    pub(super) rate: Rate,
    pub(super) mode: EdgeMode,
    pub(super) width_ms: Option<u32>,
    pub(super) board: &'a BoardArgs,
}

/// The plan of one run of a night's measure: one session of each build, refused where `ppsrig run` would refuse it.
///
/// # Errors
/// What the bench cannot do, with the option that asks for it.
pub(in crate::command) fn of_measure(
    measure: &Measure,
    seed: u64,
    bench: &BenchFile,
) -> anyhow::Result<Plan> {
    let board = BoardArgs {
        variant: measure.variants.clone(),
        iterations: measure.iterations,
        dither: measure.dither,
        max_bias: None,
        raw_pairs: false,
        cores: measure.cores,
        operations: measure.operations,
    };
    let asked = Asked {
        measure: &[measure.measurement],
        clock: measure.clock,
        clock_id: measure.clock_id,
        sessions: 1,
        seed,
        edges: measure.edges,
        rate: Rate(measure.rate_millihertz),
        mode: measure.mode,
        width_ms: measure.width_ms,
        board: &board,
    };
    plan(&asked, bench)
}

/// The mode of that name.
pub(super) fn parse_mode(name: &str) -> Result<EdgeMode, String> {
    by_name(EDGE_MODES, name)
}

/// The clock of that name.
pub(in crate::command) fn parse_clock_id(name: &str) -> Result<ClockId, String> {
    by_name(CLOCK_IDS, name)
}

fn by_name<T: Copy>(table: &[(T, &str)], name: &str) -> Result<T, String> {
    let found = table.iter().find(|(_, known)| *known == name);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let known: Vec<_> = table.iter().map(|(_, name)| *name).collect();
        format!("give one of {}", known.join(", "))
    })
}

/// The seed that was given, or one from the system; in exact mode 1, since there every run is to be the same. TOML holds
/// integers below 2^63.
pub(in crate::command) fn seed(given: Option<u64>, clock: Clock) -> anyhow::Result<u64> {
    match (given, clock) {
        (Some(seed), _) => return Ok(seed),
        (None, Clock::Exact) => return Ok(1),
        (None, Clock::Live) => {}
    }
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .context("cannot read a seed from /dev/urandom; give one with --seed")?;
    Ok(u64::from_le_bytes(bytes) >> 1)
}

/// The plan, if this bench can do it.
pub(super) fn plan(asked: &Asked<'_>, bench: &BenchFile) -> anyhow::Result<Plan> {
    ensure!(asked.sessions > 0, "--sessions 0: nothing would be measured; give at least 1");
    check_measure(asked, bench)?;
    let measured = |measurement| asked.measure.contains(&measurement);
    let edge = measured(Measurement::Edge);
    let (period_ns, width_ns) = pulses(asked, bench);
    if edge {
        check_pulses(asked, period_ns, width_ns)?;
        check_source(asked, bench, period_ns)?;
    }
    let path = if measured(Measurement::Path) { Some(board_plan::path(asked, bench)?) } else { None };
    let ctime = if measured(Measurement::Ctime) { Some(board_plan::ctime(asked)?) } else { None };
    Ok(Plan {
        measure: asked.measure.to_vec(),
        clock: asked.clock,
        mode: asked.mode,
        clock_id: asked.clock_id,
        edges: if edge { asked.edges } else { 0 },
        rate_millihertz: asked.rate.0,
        period_ns,
        width_ns,
        preamble_edges: if edge { PREAMBLE_EDGES } else { 0 },
        sessions: asked.sessions,
        seed: asked.seed,
        path,
        ctime,
    })
}

fn check_measure(asked: &Asked<'_>, bench: &BenchFile) -> anyhow::Result<()> {
    for (index, measurement) in asked.measure.iter().enumerate() {
        ensure!(!asked.measure[..index].contains(measurement), "--measure: {measurement} is there twice");
    }
    if asked.clock == Clock::Live {
        return Ok(());
    }
    ensure!(
        !asked.measure.contains(&Measurement::Edge),
        "--clock exact: it counts instructions and takes no edges; measure path or ctime, or use --clock live for edge"
    );
    ensure!(
        bench.board.emulated && bench.bring_up.is_some(),
        "--clock exact: only an emulated board that the bench file brings up can count instructions; use --clock live"
    );
    Ok(())
}

/// What the source of the edges cannot do, or cannot be believed to do.
fn check_source(asked: &Asked<'_>, bench: &BenchFile, period_ns: u64) -> anyhow::Result<()> {
    let driver = bench.generator.driver;
    ensure!(
        driver.timing() != EdgeTiming::EachPulse || period_ns == PREAMBLE_PERIOD_NS,
        "--rate {}: {} has one edge a second, which nobody commands; give --rate 1",
        asked.rate,
        driver.name()
    );
    ensure!(
        driver.timing() != EdgeTiming::HostTimed
            || bench.interval_counter.is_some()
            || asked.mode == EdgeMode::Alternate,
        "generator {}: its edges are host-timed, late by milliseconds: without an interval counter that times them \
         only --mode alternate says how late a capture is",
        driver.name()
    );
    Ok(())
}

/// Nanoseconds from edge to edge and of a pulse.
fn pulses(asked: &Asked<'_>, bench: &BenchFile) -> (u64, u64) {
    let period_ns = (MILLIHERTZ_PERIOD_NS + asked.rate.0 / 2) / asked.rate.0;
    let width_ms = asked.width_ms.unwrap_or(bench.generator.width_ms);
    (period_ns, u64::from(width_ms) * NS_PER_MS)
}

fn check_pulses(asked: &Asked<'_>, period_ns: u64, width_ns: u64) -> anyhow::Result<()> {
    ensure!(asked.edges > 0, "--edges 0: nothing would be measured; give at least 1");
    ensure!(
        asked.sessions <= MOST_SESSIONS,
        "--sessions {}: the analysis of a run takes {MOST_SESSIONS}; make several runs of it",
        asked.sessions
    );
    let total = u64::from(asked.edges) * u64::from(asked.sessions);
    ensure!(
        total <= u64::from(MOST_EDGES),
        "--edges {} in --sessions {}: {total} edges, and the analysis of a run takes {MOST_EDGES}; make several runs of it",
        asked.edges,
        asked.sessions
    );
    let width_ms = width_ns / NS_PER_MS;
    ensure!(width_ms > 0, "--width-ms 0: a pulse needs a width; give at least 1");
    if width_ns + LEAST_REST_NS > period_ns {
        let most = MILLIHERTZ_PERIOD_NS / (width_ns + LEAST_REST_NS);
        bail!(
            "--rate {}: {} ns from edge to edge do not hold a pulse of {width_ms} ms; give at most --rate {}, or a \
             narrower --width-ms",
            asked.rate,
            period_ns,
            Rate(most)
        );
    }
    ensure!(
        width_ns + LEAST_REST_NS <= PREAMBLE_PERIOD_NS,
        "--width-ms {width_ms}: the preamble that labels the seconds has an edge a second; give less than 1000"
    );
    Ok(())
}

/// Seed of one session: SplitMix64 of run seed, session index and variant, so that sessions differ and can be repeated.
pub(in crate::command) fn session_seed(run_seed: u64, session: u32, variant: &str) -> u64 {
    let mut state = random::first(run_seed);
    state = random::first(state ^ u64::from(session));
    variant.bytes().fold(state, |state, byte| random::first(state ^ u64::from(byte)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const BENCH: &str = r#"
        [board]
        chip = "BCM2711"
        probe = "0d28:0204"
        image = "/x.elf"
        link = "/dev/ttyUSB0"
        link-baud = 921600
        counter-hz = 54000000
        cpu-hz = 1500000000
        [generator]
        driver = "scpi"
        port = "/dev/ttyUSB1"
        width-ms = 5
        [reference]
        driver = "ubx"
        port = "/dev/ttyACM0"
    "#;

    pub(in crate::command::run) fn bench() -> BenchFile {
        toml::from_str(BENCH).expect("it is a bench")
    }

    pub(in crate::command::run) fn board_args() -> BoardArgs {
        BoardArgs {
            variant: Vec::new(),
            iterations: 1_000_000,
            dither: true,
            max_bias: None,
            raw_pairs: false,
            cores: 1,
            operations: 1000,
        }
    }

    pub(in crate::command::run) fn asked(board: &BoardArgs) -> Asked<'_> {
        Asked {
            measure: &[Measurement::Edge],
            clock: Clock::Live,
            clock_id: ClockId::Realtime,
            sessions: 1,
            seed: 7,
            edges: 100,
            rate: Rate(10_000),
            mode: EdgeMode::Irq,
            width_ms: None,
            board,
        }
    }

    fn planned(change: impl FnOnce(&mut Asked<'_>)) -> anyhow::Result<Plan> {
        let board = board_args();
        let mut asked = asked(&board);
        change(&mut asked);
        plan(&asked, &bench())
    }

    #[test]
    fn what_a_source_of_edges_cannot_do_is_refused_before_anything_is_touched() {
        let planned = |driver, rate, mode| {
            let board = board_args();
            let asked = Asked { rate: Rate(rate), mode, ..asked(&board) };
            let mut bench = bench();
            bench.generator.driver = driver;
            plan(&asked, &bench).map(|_| ()).map_err(|error| error.to_string())
        };
        use crate::bench_file::GeneratorDriver::{FeeltechFy6900, GpsdoPulse, SerialLine};
        assert!(planned(GpsdoPulse, 2_000, EdgeMode::Irq).unwrap_err().contains("give --rate 1"));
        assert_eq!(planned(GpsdoPulse, 1_000, EdgeMode::Irq), Ok(()));
        let untimed = planned(SerialLine, 2_000, EdgeMode::Irq).unwrap_err();
        assert!(untimed.contains("host-timed") && untimed.contains("--mode alternate"), "{untimed}");
        assert_eq!(planned(SerialLine, 2_000, EdgeMode::Alternate), Ok(()));
        assert_eq!(planned(FeeltechFy6900, 2_000, EdgeMode::Irq), Ok(()));
    }

    #[test]
    fn a_plan_takes_its_width_from_the_bench_unless_told() {
        let plan = planned(|_| {}).expect("the bench can do it");
        assert_eq!((plan.period_ns, plan.width_ns), (100_000_000, 5_000_000));
        let plan = planned(|asked| asked.width_ms = Some(20)).expect("the bench can do it");
        assert_eq!(plan.width_ns, 20_000_000);
    }

    #[test]
    fn a_rate_that_the_width_does_not_allow_is_refused_with_the_fastest_that_it_does() {
        let at = |millihertz| planned(|asked| (asked.rate, asked.width_ms) = (Rate(millihertz), Some(20)));
        let error = at(100_000).expect_err("too fast").to_string();
        assert!(error.contains("20 ms") && error.contains("--rate 49.751"), "{error}");
        at(49_751).expect("as it said");
    }

    #[test]
    fn nothing_to_measure_is_refused() {
        assert!(planned(|asked| asked.edges = 0).is_err());
        assert!(planned(|asked| asked.sessions = 0).is_err());
        assert!(planned(|asked| asked.width_ms = Some(0)).is_err());
        assert!(planned(|asked| (asked.rate, asked.width_ms) = (Rate(500), Some(1500))).is_err());
    }

    #[test]
    fn exact_takes_no_edges_and_needs_an_emulated_board() {
        let edge = planned(|asked| asked.clock = Clock::Exact).expect_err("no edges").to_string();
        assert!(edge.contains("takes no edges"), "{edge}");
        let path = &[Measurement::Path];
        let hardware = planned(|asked| (asked.clock, asked.measure) = (Clock::Exact, path));
        assert!(hardware.expect_err("it is hardware").to_string().contains("emulated"));
    }

    #[test]
    fn what_is_measured_twice_is_refused() {
        let twice = &[Measurement::Path, Measurement::Path];
        assert!(planned(|asked| asked.measure = twice).is_err());
    }

    #[test]
    fn the_seed_of_an_exact_run_is_always_the_same() {
        assert_eq!(seed(None, Clock::Exact).expect("no system is asked"), 1);
        assert_eq!(seed(Some(9), Clock::Exact).expect("it was given"), 9);
    }

    #[test]
    fn more_edges_than_the_analysis_takes_are_refused_with_its_limit() {
        assert!(planned(|asked| asked.edges = MOST_EDGES).is_ok());
        assert!(planned(|asked| asked.edges = MOST_EDGES + 1).is_err());
        assert!(planned(|asked| (asked.edges, asked.sessions) = (1, MOST_SESSIONS)).is_ok());
        assert!(planned(|asked| (asked.edges, asked.sessions) = (1, MOST_SESSIONS + 1)).is_err());
        let error =
            planned(|asked| (asked.edges, asked.sessions) = (MOST_EDGES / 2, 3)).expect_err("too many");
        let error = error.to_string();
        assert!(error.contains("1500000 edges") && error.contains("takes 1000000"), "{error}");
    }

    #[test]
    fn session_seeds_differ_by_session_and_variant() {
        let seeds = [(1, "edge"), (2, "edge"), (1, "path")]
            .map(|(session, variant)| session_seed(9, session, variant));
        assert!(seeds[0] != seeds[1] && seeds[0] != seeds[2]);
        assert_eq!(seeds[0], session_seed(9, 1, "edge"));
    }
}
