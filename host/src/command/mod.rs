//! One file a subcommand.

pub mod validate;
