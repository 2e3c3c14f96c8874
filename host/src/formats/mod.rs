//! Pure parsers and writers, one file a format.
//!
//! Every decoder is incremental: `push(bytes, arrival)` returns the events that these bytes completed, and the events
//! are the same however the bytes were cut into reads. A decoder never fails and never panics: what cannot be read
//! becomes an event that says so, since the ledger needs it. `raw_log` is read whole, from a file.

pub mod link;
pub mod raw_log;
