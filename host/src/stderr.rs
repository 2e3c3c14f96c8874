//! The one place that writes lines to stderr. A terminal, a pipe or a disk behind stderr can go away in the middle of a
//! run; `eprintln!` would then panic with the generator still firing. What is told there is for people who watch, and
//! when nobody does, the work goes on. (`log` and the progress bar ignore such errors by themselves.)

use std::io::Write;

/// Writes a line to stderr. If it cannot be written, it is lost.
pub fn tell(line: &str) {
    // One write, so that lines of several processes do not mix.
    let _nobody_reads = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}
