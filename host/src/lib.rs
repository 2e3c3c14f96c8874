//! ppsrig measures how late a Cortex-A53 board takes a timestamp.
//!
//! Layers, top to bottom; a module imports only what stands below it:
//! `command` -> `rig`, `bundle`, `analysis`, `report`; `rig` -> `link`, `formats`, `events`; `bundle` -> `formats`,
//! `events`; `report` -> `formats` (writers), `analysis`, `events`, `units`; `analysis` -> `events`, `units`; `formats` -> `events`, `units`;
//! `plan_file` reads what `night` holds, as `bench_file` does; `history` stands beside `bundle`: it reads what bundles and nights say, and `report` shows it; `events` -> `names`, `units`; all of them may hold a `series` or `samples`. `command` and `rig` also use `stderr`. `analysis` and `formats` do no I/O and read no clock.
//!
//! A run is a recording followed by a replay: `rig` records into the bundle, and every figure is then computed by pure
//! functions over what the bundle holds.

// A lost line must not end a run: `stderr::tell`.
#![cfg_attr(not(test), deny(clippy::print_stderr))]

pub mod analysis;
pub mod bench_file;
pub mod bundle;
pub mod command;
pub mod events;
pub mod formats;
pub mod history;
pub mod names;
pub mod night;
pub mod plan;
pub mod plan_file;
pub mod random;
pub mod report;
pub mod rig;
pub mod samples;
pub mod series;
pub mod stderr;
pub mod units;
