//! The clocks against plain sequential models.

mod inodes;
mod polling;
mod properties;
mod snapshots;
mod threads;
