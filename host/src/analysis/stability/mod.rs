//! Stability of a clock: the Allan family and the time-interval errors, over a phase series.
//!
//! Definitions are those of NIST SP1065 (Riley, Handbook of Frequency Stability Analysis, 2008).

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
