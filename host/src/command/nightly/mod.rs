//! `ppsrig nightly`: a plan, done unattended.

pub(super) mod plan;
pub(super) mod told;
