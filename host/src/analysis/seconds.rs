//! What the analysis asks the reference: which second, could it be trusted, what was its quantisation error.
//!
//! A trait, so that pairing can be tested against a reference whose truth is known.

use super::class::Class;
use crate::units::{GpsSecond, HostNanos, Nanos};

/// The reference, as far as the analysis needs it.
pub trait Reference {
    /// The second that begins at the pulse to which an edge belongs whose record arrived at `arrival`.
    ///
    /// # Errors
    /// Why there is no one such second, as a sentence for the ledger.
    fn label(&self, arrival: HostNanos) -> Result<GpsSecond, String>;

    /// Why the reference could not be trusted at `at`: its class, which is one of unlocked, settling and holdover,
    /// and the reason. None when it could be trusted.
    fn distrust(&self, at: Nanos) -> Option<(Class, String)>;

    /// What the receiver said of the pulse at which `second` begins.
    fn qerr_ps(&self, second: GpsSecond) -> Option<i32>;

    /// The rule behind [`Reference::label`], as a sentence for the report.
    fn rule(&self) -> String;
}

/// Placeholder
pub fn recorded(_: &crate::plan::RunRecord, _: &crate::events::Recording) -> NoReference {
    NoReference
}
/// x
pub struct NoReference;
impl Reference for NoReference {
    fn label(&self, _: HostNanos) -> Result<GpsSecond, String> {
        Err("no reference".into())
    }
    fn distrust(&self, _: Nanos) -> Option<(Class, String)> {
        None
    }
    fn qerr_ps(&self, _: GpsSecond) -> Option<i32> {
        None
    }
    fn rule(&self) -> String {
        String::new()
    }
}
