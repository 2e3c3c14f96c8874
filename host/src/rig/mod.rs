//! The instruments of the bench, one file each.

pub mod bring_up;
pub mod generator;
pub mod guard;
pub mod holder;
pub mod image;
pub mod link;
pub mod port;
pub mod probe;
pub mod recorder;
pub mod scpi;
pub mod watch;

#[cfg(test)]
mod testing;
