//! One session of one variant: what it measured, and what makes it doubtful.

use super::collect::PathWindow;
use super::estimate::SessionValue;
use super::histogram::Histogram;
use super::ladder::{Ladder, Rung};
use super::phase::{BiasBound, Ratio};
use crate::names::PathPart;
use crate::plan::RunRecord;
use crate::units::Hertz;

/// The clocks of the board, as declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The core's.
    pub cpu: Hertz,
    /// The counter's.
    pub counter: Hertz,
}

impl Clocks {
    /// Of the bench.
    #[must_use]
    pub const fn of(record: &RunRecord) -> Self {
        Self { cpu: record.bench.board.cpu_hz, counter: record.bench.board.counter_hz }
    }

    /// Their ratio, where it can be used.
    #[must_use]
    pub fn ratio(self) -> Option<Ratio> {
        Ratio::of(self.cpu, self.counter)
    }

    /// One tick in picoseconds.
    #[must_use]
    pub fn tick_ps(self) -> f64 {
        1e12 / self.counter.0.max(1) as f64
    }

    /// One CPU cycle in picoseconds.
    #[must_use]
    pub fn cycle_ps(self) -> f64 {
        1e12 / self.cpu.0.max(1) as f64
    }
}

/// One session. Its values are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSession {
    /// Counts the variant's sessions from 1.
    pub number: u32,
    /// The path, less the read overhead.
    pub mean: SessionValue,
    /// Two reads back to back.
    pub overhead: SessionValue,
    /// The share of pairs between which the counter advanced.
    pub advanced: SessionValue,
    /// Bound on the path's bias, if its phases are known.
    pub bias: Option<BiasBound>,
    /// The same of the read overhead.
    pub overhead_bias: Option<BiasBound>,
    /// The known delays, if there were any.
    pub ladder: Option<Ladder>,
    /// Differences of the path, in ticks.
    pub histogram: Histogram,
    /// Those of the read overhead.
    pub overhead_histogram: Histogram,
    /// Independent pairs that the batches amount to.
    pub effective: Option<f64>,
    /// Why there is no verdict on it, as sentences.
    pub doubts: Vec<String>,
}

/// Judges a session by its windows, all of which are whole.
///
/// # Errors
/// What is missing, as a sentence.
pub fn session(windows: &[&PathWindow], clocks: Clocks, max_bias_ps: u64) -> Result<PathSession, String> {
    let part = |part: PathPart| windows.iter().copied().find(|window| window.part == part);
    let path = part(PathPart::Path).ok_or("the variant itself was not measured")?;
    let overhead = part(PathPart::Overhead).ok_or("the read overhead was not measured")?;
    let tick = clocks.tick_ps();
    let nothing = "not a single pair was taken";
    let of_overhead = SessionValue::mean_ticks(overhead).ok_or(nothing)?;
    let of_path = SessionValue::mean_ticks(path).ok_or(nothing)?;
    let judge = Judge { clocks, max_bias_ps };
    let rungs: Vec<&PathWindow> =
        windows.iter().copied().filter(|window| window.part == PathPart::Ladder).collect();
    Ok(PathSession {
        number: path.session,
        ladder: judge.ladder(&rungs, &of_path),
        mean: of_path.scaled(of_overhead.value, tick),
        overhead: of_overhead.scaled(0.0, tick),
        advanced: SessionValue::advanced(path).ok_or(nothing)?,
        bias: judge.bias(path),
        overhead_bias: judge.bias(overhead),
        histogram: path.histogram(),
        overhead_histogram: overhead.histogram(),
        effective: super::estimate::effective_count(&path.batches),
        doubts: [path, overhead]
            .into_iter()
            .flat_map(|window| judge.doubts(window))
            .chain(judge.coarse(windows).map(|doubt| format!("{}: {doubt}", path.title())))
            .collect(),
    })
}

/// Pairs that a common divisor of all differences needs.
const LEAST_PAIRS: u64 = 1000;

const fn common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

struct Judge {
    clocks: Clocks,
    max_bias_ps: u64,
}

impl Judge {
    fn bias(&self, window: &PathWindow) -> Option<BiasBound> {
        BiasBound::of(&window.phases, self.clocks.ratio()?)
    }

    /// A counter that advances by several ticks at once: no difference of the session is anything but a multiple of them.
    /// With dither over whole ticks a counter of single ticks shows both neighbours of every latency.
    fn coarse(&self, windows: &[&PathWindow]) -> Option<String> {
        if self.clocks.ratio().is_some_and(|ratio| ratio.is_whole()) {
            return None;
        }
        let histograms: Vec<Histogram> = windows.iter().map(|window| window.histogram()).collect();
        let ticks = || histograms.iter().flat_map(|histogram| histogram.iter().map(|(ticks, _)| ticks));
        let (divisor, pairs) =
            (ticks().fold(0, common_divisor), histograms.iter().map(Histogram::total).sum::<u64>());
        (divisor > 1 && pairs >= LEAST_PAIRS && ticks().any(|ticks| ticks == 0)).then(|| {
            format!(
                "every difference is a multiple of {divisor} ticks: the counter advances by as much at once, and dither over \
                 single ticks does not make its phase uniform"
            )
        })
    }

    /// Why a window has no verdict.
    fn doubts(&self, window: &PathWindow) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.clocks.ratio() {
            None => doubts.push(format!(
                "phases repeat too rarely at {} and {} for a bound on the bias",
                self.clocks.cpu, self.clocks.counter
            )),
            // Every latency of whole cycles is one of whole ticks.
            Some(ratio) if ratio.is_whole() => {}
            Some(ratio) => doubts.extend(self.phase_doubts(window, ratio)),
        }
        if let Some(done) = window.done.filter(|done| done.overflow > 0) {
            doubts.push(format!(
                "{} pairs were too long to be counted, so the mean is not known",
                done.overflow
            ));
        }
        doubts.into_iter().map(|doubt| format!("{}: {doubt}", window.title())).collect()
    }

    fn phase_doubts(&self, window: &PathWindow, ratio: Ratio) -> Vec<String> {
        let mut doubts = Vec::new();
        let done = window.done.unwrap_or_else(|| unreachable!("only whole windows are judged"));
        if !window.dither {
            doubts.push("dither is off: a loop in step with the counter would go unseen".to_owned());
        } else if !window.dither_steps.is_multiple_of(ratio.cycles) || window.dither_steps == 0 {
            doubts.push(format!(
                "dither over {} cycles is not one over whole ticks, which repeat after {}",
                window.dither_steps, ratio.cycles
            ));
        } else if done.dither_cycles != window.dither_steps - 1 {
            doubts.push(format!(
                "the longest random delay is {} cycles more than the shortest, not {}: its steps are not one cycle",
                done.dither_cycles,
                window.dither_steps - 1
            ));
        }
        match (done.phase_disagreements, self.bias(window)) {
            (1.., _) => doubts.push(format!(
                "cycle counter and counter came apart in {} pairs, so the phases say nothing",
                done.phase_disagreements
            )),
            (0, None) => doubts.push("its phases are not known".to_owned()),
            (0, Some(bound)) if bound.exceeds(self.max_bias_ps, self.clocks.counter) => {
                let (ns, most) = (bound.ps(self.clocks.counter) as f64 / 1e3, self.max_bias_ps as f64 / 1e3);
                doubts.push(format!("the phases allow a bias of {ns:.3} ns, more than {most:.3} ns"));
            }
            (0, Some(_)) => {}
        }
        doubts
    }

    fn ladder(&self, windows: &[&PathWindow], path: &SessionValue) -> Option<Ladder> {
        let tick = self.clocks.tick_ps();
        let rungs: Vec<Rung> = windows
            .iter()
            .filter_map(|window| {
                let value = SessionValue::mean_ticks(window)?.scaled(path.value, tick);
                Some(Rung {
                    cycles: window.added_delay,
                    known: f64::from(window.added_delay) * self.clocks.cycle_ps(),
                    measured: value.value,
                    sd: value.standard_error()?,
                    bias: self.bias(window).map_or(0.0, |bound| bound.ps(self.clocks.counter) as f64),
                })
            })
            .collect();
        let pairs = windows.iter().map(|window| window.histogram().total()).sum();
        let path_sd = path.clone().scaled(0.0, tick).standard_error()?;
        (!rungs.is_empty()).then(|| Ladder::new(rungs, path_sd, pairs))
    }
}
