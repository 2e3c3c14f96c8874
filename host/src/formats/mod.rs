//! Pure parsers and writers, one file a format.
//!
//! Every decoder is incremental: `push(bytes, arrival)` returns the events that these bytes completed, and the events
//! are the same however the bytes were cut into reads. A decoder never fails and never panics: what cannot be read
//! becomes an event that says so, since the ledger needs it. `raw_log` is read whole, from a file; `series` reads files of
//! others, and stops at the first line that it cannot read.

pub mod calendar;
pub mod decimal;
pub mod figure_table;
pub mod foreign_text;
pub mod gpsdo;
pub mod interval_counter;
mod jackson;
pub mod link;
pub mod nmea;
pub mod picoseconds;
pub mod raw_log;
pub mod receiver;
pub mod run_csv;
pub mod samples_csv;
pub mod scpi;
pub mod series;
mod splitter;
pub mod spool;
pub mod tsip;
pub mod ubx;
pub mod utc;
