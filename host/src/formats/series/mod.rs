//! Series of clock readings, whatever wrote them: to a [`Series`](crate::series::Series), pure and in bounded memory.
//!
//! A [`SeriesReader`] takes a file's bytes in pieces of any size: the first 64 KiB tell what kind it is ([`Kind`]), then a
//! decoder for that kind (`columns`, `ticc_log`, `ppstest`, `chrony`, `ntp`, `edges`) makes a row of each line, and `grid`
//! puts rows with time tags in their places. It holds 8 bytes a point, one line, and what waits for tau0 to be known.
//!
//! Strict: a line that is wrong ends it with line and column; lenient: it is counted by class. Either way what comes out is
//! right or nothing: a missing reading is a missing point, and where its place is unknown there is no series.

mod body;
mod chrony;
mod columns;
mod decimal;
mod decoder;
mod edges;
mod error;
mod grid;
mod kind;
mod lines;
mod ntp;
mod points;
mod ppstest;
mod reader;
mod row;
mod sources;
#[cfg(test)]
mod tests;
mod ticc_log;
mod trouble;

pub use self::columns::TagUnit;
pub use self::error::SeriesError;
pub use self::kind::Kind;
pub use self::lines::LINE_MAX;
pub use self::reader::{MOST_POINTS, Read, ReadOptions, SeriesReader};
pub use self::trouble::Class;

/// Seconds as a decimal number, exactly to the picosecond; for options on the command line.
///
/// # Errors
/// What is wrong with it.
pub fn parse_tau0(text: &str) -> Result<crate::units::Picos, String> {
    let wrong = || "give a positive number of seconds with at most 12 decimals, as 0.1".to_owned();
    match decimal::Decimal::prefix(text.as_bytes()) {
        Some((decimal, length)) if length == text.len() => match decimal.picoseconds(0) {
            Some(picoseconds) if picoseconds > 0 => Ok(crate::units::Picos(picoseconds.into())),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}
