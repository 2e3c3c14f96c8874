//! From what was asked for to a plan that the bench can do, refused before anything is touched where it cannot.

use anyhow::{Context, bail, ensure};
use ppsrig_wire::{ClockId, EdgeMode};

use crate::bench_file::BenchFile;
use crate::names::{Clock, Measurement};
use crate::plan::{CLOCK_IDS, EDGE_MODES, Plan};

/// Edges of the preamble: enough for a first rate and for a second labelling that agrees with the first.
pub(super) const PREAMBLE_EDGES: u32 = 4;
/// Nanoseconds from edge to edge of the preamble, which is aligned with the reference's pulses.
pub(super) const PREAMBLE_PERIOD_NS: u64 = 1_000_000_000;
/// Shortest time that the pin must be at its resting level between two edges.
const LEAST_REST_NS: u64 = 100_000;
const MOST_EDGES: u32 = 100_000_000;
const NS_PER_S: u64 = 1_000_000_000;
const MILLIHERTZ_PERIOD_NS: u64 = NS_PER_S * 1000;

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) edges: u32,
    pub(super) rate: Rate,
    pub(super) mode: EdgeMode,
    pub(super) clock_id: ClockId,
    pub(super) width_ms: Option<u32>,
    pub(super) sessions: u32,
    pub(super) seed: u64,
}

/// A rate in millihertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate(pub(super) u64);

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Reads a decimal number of hertz, exactly, to the millihertz.
pub(super) fn parse_rate(text: &str) -> Result<Rate, String> {
    let wanted = "give edges a second as a decimal number with at most three decimals, such as 10 or 0.5";
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(wanted.to_owned());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 3 {
        return Err(format!("finer than a millihertz; {wanted}"));
    }
    let thousandths: u64 = format!("{fraction:0<3}").parse().map_err(|_| wanted.to_owned())?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| "too fast".to_owned())? };
    let millihertz = whole.checked_mul(1000).and_then(|m| m.checked_add(thousandths)).ok_or("too fast")?;
    match millihertz {
        0 => Err("no edges would ever come; give more than 0".to_owned()),
        1_000_000_001.. => Err("too fast: a million edges a second is the most".to_owned()),
        _ => Ok(Rate(millihertz)),
    }
}

/// The mode of that name.
pub(super) fn parse_mode(name: &str) -> Result<EdgeMode, String> {
    by_name(EDGE_MODES, name)
}

/// The clock of that name.
pub(super) fn parse_clock_id(name: &str) -> Result<ClockId, String> {
    by_name(CLOCK_IDS, name)
}

fn by_name<T: Copy>(table: &[(T, &str)], name: &str) -> Result<T, String> {
    let found = table.iter().find(|(_, known)| *known == name);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let known: Vec<_> = table.iter().map(|(_, name)| *name).collect();
        format!("give one of {}", known.join(", "))
    })
}

/// The seed that was given, or one from the system. TOML holds integers below 2^63.
pub(super) fn seed(given: Option<u64>) -> anyhow::Result<u64> {
    if let Some(seed) = given {
        return Ok(seed);
    }
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes))
        .context("cannot read a seed from /dev/urandom; give one with --seed")?;
    Ok(u64::from_le_bytes(bytes) >> 1)
}

/// The plan, if this bench can do it.
pub(super) fn plan(asked: &Asked, bench: &BenchFile) -> anyhow::Result<Plan> {
    ensure!(asked.edges > 0, "--edges 0: nothing would be measured; give at least 1");
    ensure!(asked.edges <= MOST_EDGES, "--edges {}: more than {MOST_EDGES}; use --sessions", asked.edges);
    ensure!(asked.sessions > 0, "--sessions 0: nothing would be measured; give at least 1");
    let period_ns = (MILLIHERTZ_PERIOD_NS + asked.rate.0 / 2) / asked.rate.0;
    let width_ms = asked.width_ms.unwrap_or(bench.generator.width_ms);
    let width_ns = u64::from(width_ms) * 1_000_000;
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
    Ok(Plan {
        measure: vec![Measurement::Edge],
        clock: Clock::Live,
        mode: asked.mode,
        clock_id: asked.clock_id,
        edges: asked.edges,
        rate_millihertz: asked.rate.0,
        period_ns,
        width_ns,
        preamble_edges: PREAMBLE_EDGES,
        sessions: asked.sessions,
        seed: asked.seed,
        path: None,
        ctime: None,
    })
}

/// Seed of one session: SplitMix64 of run seed, session index and variant, so that sessions differ and can be repeated.
pub(super) fn session_seed(run_seed: u64, session: u32, variant: &str) -> u64 {
    let mut state = split_mix(run_seed);
    state = split_mix(state ^ u64::from(session));
    variant.bytes().fold(state, |state, byte| split_mix(state ^ u64::from(byte)))
}

/// One output of SplitMix64 (Steele, Lea and Flood 2014).
const fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
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

    fn asked() -> Asked {
        let (mode, clock_id) = (EdgeMode::Irq, ClockId::Realtime);
        Asked { edges: 100, rate: Rate(10_000), mode, clock_id, width_ms: None, sessions: 1, seed: 7 }
    }

    fn planned(asked: &Asked) -> anyhow::Result<Plan> {
        plan(asked, &toml::from_str(BENCH).expect("it is a bench"))
    }

    #[test]
    fn rates_are_exact_to_the_millihertz() {
        for (text, millihertz) in
            [("10", 10_000), ("0.5", 500), (".25", 250), ("3.", 3000), ("1.500000", 1500)]
        {
            assert_eq!(parse_rate(text), Ok(Rate(millihertz)), "{text}");
        }
        for text in ["0", "0.000", "", ".", "-1", "1e3", "0.0001", "ten", "9999999", "99999999999999999999"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        assert_eq!(Rate(10_000).to_string(), "10");
        assert_eq!(Rate(1).to_string(), "0.001");
    }

    #[test]
    fn a_plan_takes_its_width_from_the_bench_unless_told() {
        let plan = planned(&asked()).expect("the bench can do it");
        assert_eq!((plan.period_ns, plan.width_ns), (100_000_000, 5_000_000));
        let plan = planned(&Asked { width_ms: Some(20), ..asked() }).expect("the bench can do it");
        assert_eq!(plan.width_ns, 20_000_000);
    }

    #[test]
    fn a_rate_that_the_width_does_not_allow_is_refused_with_the_fastest_that_it_does() {
        let error =
            planned(&Asked { rate: Rate(100_000), width_ms: Some(20), ..asked() }).expect_err("too fast");
        let error = error.to_string();
        assert!(error.contains("20 ms") && error.contains("--rate 49.751"), "{error}");
        planned(&Asked { rate: Rate(49_751), width_ms: Some(20), ..asked() }).expect("as it said");
    }

    #[test]
    fn nothing_to_measure_is_refused() {
        assert!(planned(&Asked { edges: 0, ..asked() }).is_err());
        assert!(planned(&Asked { sessions: 0, ..asked() }).is_err());
        assert!(planned(&Asked { width_ms: Some(0), ..asked() }).is_err());
        assert!(planned(&Asked { width_ms: Some(1500), rate: Rate(500), ..asked() }).is_err());
    }

    #[test]
    fn split_mix_gives_the_published_first_output_of_seed_1234567() {
        assert_eq!(split_mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn session_seeds_differ_by_session_and_variant() {
        let seeds = [(1, "edge"), (2, "edge"), (1, "path")]
            .map(|(session, variant)| session_seed(9, session, variant));
        assert!(seeds[0] != seeds[1] && seeds[0] != seeds[2]);
        assert_eq!(seeds[0], session_seed(9, 1, "edge"));
    }
}
