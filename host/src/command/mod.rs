//! One file a subcommand.

pub mod replay;
