//! The ladder: known delays put into the path, to see that the whole chain from board to figure measures them.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::analysis::fixed::Fixed;

/// One rung: a known delay and what was measured with it. In picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// The delay in CPU cycles.
    pub cycles: u32,
    /// The same in picoseconds.
    pub known: f64,
    /// What was measured, less what the path measures by itself.
    pub measured: f64,
    /// Standard deviation of what was measured with this rung, by its batches.
    pub sd: f64,
    /// Bound on its bias.
    pub bias: f64,
}

impl Rung {
    /// How far it is off, without its sign, in nanoseconds.
    #[must_use]
    pub fn off(&self) -> Option<Fixed> {
        Fixed::rounded_nanoseconds(self.residual().abs())
    }

    /// How far it is off, in picoseconds.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.measured - self.known
    }
}

/// A session's ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// The rungs, as measured.
    pub rungs: Vec<Rung>,
    /// Pairs behind them.
    pub pairs: u64,
    /// The straight line through them and the path itself; none with fewer than two rungs, or where a rung has no spread
    /// that could weigh it.
    pub line: Option<Line>,
}

/// A straight line, each point weighed by its own spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Measured over known: 1 if all is well.
    pub slope: f64,
    /// Half the 95 % interval of the slope.
    pub slope_half: f64,
    /// Probability of points at least so far off their line by chance, for information.
    pub p_value: f64,
}

impl Ladder {
    /// Of rungs; `path_sd` is the spread of what the path measures by itself, in picoseconds.
    #[must_use]
    pub fn new(rungs: Vec<Rung>, path_sd: f64, pairs: u64) -> Self {
        let own = Rung { cycles: 0, known: 0.0, measured: 0.0, sd: path_sd, bias: 0.0 };
        let line = line(&[&[own], rungs.as_slice()].concat());
        Self { rungs, pairs, line }
    }

    /// The rung that is furthest off.
    #[must_use]
    pub fn worst(&self) -> Option<&Rung> {
        self.rungs.iter().max_by(|a, b| a.residual().abs().total_cmp(&b.residual().abs()))
    }
}

fn line(points: &[Rung]) -> Option<Line> {
    let freedom = points.len().checked_sub(3)? + 1;
    if points.iter().any(|point| point.sd <= 0.0) {
        return None;
    }
    let weight = |point: &Rung| 1.0 / (point.sd * point.sd);
    let sum =
        |term: &dyn Fn(&Rung) -> f64| points.iter().map(|point| weight(point) * term(point)).sum::<f64>();
    let all = sum(&|_| 1.0);
    let (x, y) = (sum(&|point| point.known) / all, sum(&|point| point.measured) / all);
    let sxx = sum(&|point| (point.known - x).powi(2));
    if sxx <= 0.0 {
        return None;
    }
    let slope = sum(&|point| (point.known - x) * (point.measured - y)) / sxx;
    let squares = sum(&|point| (point.measured - y - slope * (point.known - x)).powi(2));
    let chance = ChiSquared::new(freedom as f64).ok()?;
    // The spreads are those of the points, so the slope's is known and not estimated from the residuals.
    Some(Line { slope, slope_half: 1.96 / sxx.sqrt(), p_value: chance.sf(squares) })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    fn ladder(random: &mut Random, slope: f64, sd: f64) -> Ladder {
        let own = random.normal() * sd;
        let rungs = (1..=8_u32).map(|rung| {
            let known = f64::from(11 * rung);
            Rung {
                cycles: 11 * rung,
                known,
                measured: slope * known + random.normal() * sd - own,
                sd,
                bias: 0.0,
            }
        });
        Ladder::new(rungs.collect(), sd, 800_000)
    }

    #[test]
    fn a_sound_ladder_has_slope_one_as_often_as_its_interval_says_and_uniform_p_values() {
        let mut random = Random(3);
        let lines: Vec<Line> = (0..1000).map(|_| ladder(&mut random, 1.0, 0.1).line.unwrap()).collect();
        let covered = lines.iter().filter(|line| (line.slope - 1.0).abs() <= line.slope_half).count();
        let unlikely = lines.iter().filter(|line| line.p_value < 0.1).count();
        assert!((920..=980).contains(&covered), "{covered}");
        assert!((70..=130).contains(&unlikely), "{unlikely}");
    }

    #[test]
    fn a_chain_that_measures_too_little_shows() {
        let ladder = ladder(&mut Random(4), 0.9, 0.1);
        let line = ladder.line.unwrap();
        assert!((line.slope + line.slope_half) < 0.95, "{line:?}");
        let worst = ladder.worst().unwrap();
        assert!(worst.cycles == 88 && (worst.residual() + 8.8).abs() < 0.5, "{worst:?}");
    }

    #[test]
    fn without_spread_there_are_residuals_and_no_line() {
        let ladder = ladder(&mut Random(5), 1.0, 0.0);
        assert_eq!(ladder.line, None);
        assert_eq!(ladder.worst().unwrap().residual(), 0.0);
        assert_eq!(Ladder::new(Vec::new(), 0.1, 0).worst(), None);
    }
}
