//! Decoding, pairing, ledger, calibration and statistics: pure functions over recorded events.

pub mod label;
pub mod reference;
