//! Stability of a clock: the Allan family and the time-interval errors, over a phase series.
//!
//! Definitions are those of NIST SP1065 (Riley, Handbook of Frequency Stability Analysis, 2008).
//!
//! A [`Series`](crate::series::Series) is looked at once ([`Prepared`]), then every deviation at every averaging time is
//! a pure function of that ([`estimate`]). [`analyse`] does all that a user asks for.

mod allan;
mod analyse;
mod differences;
mod edf;
#[cfg(test)]
mod edf_tests;
mod error;
mod interval;
#[cfg(test)]
mod kernels_tests;
mod mod_total;
mod mtie;
#[cfg(test)]
mod nbs14_tests;
mod noise;
#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod oracle;
mod outliers;
mod prepared;
mod simd;
#[cfg(test)]
mod simulated;
mod squares;
mod sums;
mod taus;
mod theo1;
mod total;
#[cfg(test)]
mod totals_tests;

pub use self::analyse::{Finding, LeftOut, NoInterval, Options, Report, analyse};
pub use self::edf::{edf, gapless_points};
pub use self::error::StabilityError;
pub use self::interval::chi_squared;
pub use self::noise::identify;
pub use self::prepared::{Prepared, View};
pub use self::simd::Instructions;
pub use self::taus::{Taus, taus};

/// A measure of stability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deviation {
    /// Allan deviation.
    Adev,
    /// Overlapping Allan deviation.
    Oadev,
    /// Modified Allan deviation.
    Mdev,
    /// Time deviation, in seconds.
    Tdev,
    /// Hadamard deviation.
    Hdev,
    /// Overlapping Hadamard deviation.
    Ohdev,
    /// Total deviation.
    Totdev,
    /// Maximum time interval error, in seconds.
    Mtie,
    /// Root mean square time interval error, in seconds.
    Tierms,
    /// Modified total deviation.
    Mtotdev,
    /// Time total deviation, in seconds.
    Ttotdev,
    /// Hadamard total deviation.
    Htotdev,
    /// Theoretical variance #1, as a deviation, at 0.75 times its averaging time.
    Theo1,
}

impl Deviation {
    /// All of them. The first nine are what is computed unless something else is asked for.
    pub const ALL: [Self; 13] = [
        Self::Adev,
        Self::Oadev,
        Self::Mdev,
        Self::Tdev,
        Self::Hdev,
        Self::Ohdev,
        Self::Totdev,
        Self::Mtie,
        Self::Tierms,
        Self::Mtotdev,
        Self::Ttotdev,
        Self::Htotdev,
        Self::Theo1,
    ];

    /// What is computed unless something else is asked for.
    #[must_use]
    pub fn usual() -> &'static [Self] {
        &Self::ALL[..9]
    }

    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adev => "adev",
            Self::Oadev => "oadev",
            Self::Mdev => "mdev",
            Self::Tdev => "tdev",
            Self::Hdev => "hdev",
            Self::Ohdev => "ohdev",
            Self::Totdev => "totdev",
            Self::Mtie => "mtie",
            Self::Tierms => "tierms",
            Self::Mtotdev => "mtotdev",
            Self::Ttotdev => "ttotdev",
            Self::Htotdev => "htotdev",
            Self::Theo1 => "theo1",
        }
    }

    /// Whether it is a time in seconds; the others are dimensionless.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Tdev | Self::Mtie | Self::Tierms | Self::Ttotdev)
    }
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Deviation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|one| one.name()).collect();
            format!("give one of {}", known.join(", "))
        })
    }
}

/// One deviation at one averaging time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How many terms it is the mean of; for MTIE, how many windows it is the maximum of.
    pub n: u64,
    /// Dimensionless, or in seconds.
    pub value: f64,
}

/// One line of the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The measure.
    pub deviation: Deviation,
    /// Averaging factor: points that one averaging time spans.
    pub m: u64,
    /// Averaging time in seconds.
    pub tau_s: f64,
    /// How many terms, and the value.
    pub estimate: Estimate,
    /// Power law of the noise there, S_y(f) ~ f^alpha: 2 (white phase) to -2 (random walk of frequency).
    pub alpha: Option<i32>,
    /// The interval at the asked confidence, by chi-squared; none where no such interval is known.
    pub interval: Option<(f64, f64)>,
}

/// One deviation at the averaging time of `m` points; none where there is no term, or where it is not known for a series
/// with gaps.
#[must_use]
pub fn estimate(deviation: Deviation, phase: &Prepared<'_>, m: usize) -> Option<Estimate> {
    if m == 0 {
        return None;
    }
    estimates(deviation, phase, &[m]).pop().flatten()
}

/// One deviation at each of a rising list of averaging factors, 1 or more: the same as [`estimate`] of each, in less time.
#[must_use]
pub fn estimates(deviation: Deviation, phase: &Prepared<'_>, factors: &[usize]) -> Vec<Option<Estimate>> {
    match deviation {
        Deviation::Adev
        | Deviation::Oadev
        | Deviation::Mdev
        | Deviation::Tdev
        | Deviation::Hdev
        | Deviation::Ohdev
        | Deviation::Tierms => allan::estimates(deviation, phase, factors),
        Deviation::Mtie => mtie::estimates(phase, factors),
        Deviation::Totdev => total::totdevs(phase, factors),
        Deviation::Mtotdev => each(factors, |m| mod_total::mtotdev(phase, m)),
        Deviation::Ttotdev => each(factors, |m| mod_total::ttotdev(phase, m)),
        Deviation::Htotdev => each(factors, |m| mod_total::htotdev(phase, m)),
        Deviation::Theo1 => each(factors, |m| theo1::theo1(phase, m)),
    }
}

/// One by one.
fn each(factors: &[usize], one: impl Fn(usize) -> Option<Estimate>) -> Vec<Option<Estimate>> {
    factors.iter().map(|m| one(*m)).collect()
}
