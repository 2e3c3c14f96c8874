//! The instruments of the bench, one file each.

pub mod holder;
pub mod port;
pub mod recorder;
pub mod watch;

#[cfg(test)]
mod testing;
