//! The instruments of the bench, one file each, and what is done with them in a session.

pub mod bring_up;
pub mod dialogue;
pub mod environment;
pub mod generator;
pub mod guard;
pub mod holder;
pub mod hook;
pub mod image;
pub mod interval_counter;
pub mod labgrid;
pub mod lease;
pub mod link;
pub mod measuring;
pub mod port;
pub mod probe;
pub mod recorder;
pub mod reference;
pub mod session;
pub mod symbols;
pub mod trace;
pub mod watch;

#[cfg(test)]
mod testing;
