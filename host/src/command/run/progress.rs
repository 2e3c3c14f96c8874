//! What people see while a run goes on: a bar on a terminal, plain lines elsewhere. All of it on stderr.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::events::Burst;
use crate::rig::probe::Stage;
use crate::rig::session::Step;

/// From one plain line of a burst to the next.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
const BAR: &str = "{prefix:9} [{bar:30}] {pos}/{len} {msg}";

/// Shows how far a run is.
pub(super) struct Progress {
    terminal: bool,
    bar: Option<ProgressBar>,
    began: Instant,
    told: Instant,
    seen: Seen,
}

/// The captures of one burst, by the host's clock: good enough for a preview.
#[derive(Clone, Copy, Default)]
struct Seen {
    captured: u32,
    /// When the first ones were seen, and how many.
    first: Option<(u32, Instant)>,
    last: Option<Instant>,
}

impl Seen {
    fn update(&mut self, captured: u32, now: Instant) {
        if captured > self.captured {
            self.captured = captured;
            self.first.get_or_insert((captured, now));
            self.last = Some(now);
        }
    }

    /// Captures from the first to the last seen, and the time between them.
    fn pace(&self) -> Option<(u32, Duration)> {
        let ((count, first), last) = (self.first?, self.last?);
        let captures = self.captured - count;
        (captures > 0).then(|| (captures, last.saturating_duration_since(first)))
    }
}

impl Progress {
    /// Shows a bar if stderr is a terminal that can show one.
    pub(super) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let now = Instant::now();
        Self {
            terminal: std::io::stderr().is_terminal() && !dumb,
            bar: None,
            began: now,
            told: now,
            seen: Seen::default(),
        }
    }

    /// A line of its own, above the bar if there is one.
    pub(super) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Shows a step of a session.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Loading(progress) if progress.total > 0 => {
                let name = if progress.stage == Stage::Verify { "verify" } else { "load" };
                if self.terminal {
                    let bar = self.bar(name, progress.total);
                    bar.set_position(progress.done);
                    bar.set_message("bytes");
                }
            }
            Step::Loading(_) => {}
            Step::Loaded(report) => {
                self.clear();
                self.line(&format!(
                    "loaded {} bytes, verified, in {:.2} s; {} probe operations",
                    report.bytes,
                    (report.attach_ns + report.write_ns + report.verify_ns) as f64 / 1e9,
                    report.operations
                ));
            }
            Step::Identified(identity) => self.line(&format!(
                "board {}, firmware {}, EL{}, counter declared {} Hz",
                identity.board, identity.git_hash, identity.exception_level, identity.declared_counter_hz
            )),
            Step::Firing { burst, commanded, captured } => self.firing(*burst, *commanded, *captured),
            Step::Measuring { what, done, total } => self.measuring(what, *done, *total),
            Step::Measured(what) => {
                self.clear();
                self.line(&format!("{what}: done in {:.1} s", self.began.elapsed().as_secs_f64()));
            }
            Step::Fired(burst) => {
                self.clear();
                self.seen = Seen::default();
                let seconds = self.began.elapsed().as_secs_f64();
                self.line(&format!("{} done in {seconds:.1} s", name_of(*burst)));
            }
        }
    }

    fn firing(&mut self, burst: Burst, commanded: u32, captured: u32) {
        let name = name_of(burst);
        let now = Instant::now();
        if captured == 0 {
            self.began = now;
        }
        self.seen.update(captured, now);
        let message = pace(commanded, captured, self.seen.pace());
        if self.terminal {
            let bar = self.bar(name, commanded.into());
            bar.set_position(captured.into());
            bar.set_message(message);
        } else if self.told.elapsed() >= PLAIN_EVERY && captured > 0 {
            self.told = now;
            eprintln!("{name}: {captured} of {commanded} captured, {message}");
        }
    }

    fn measuring(&mut self, what: &str, done: u64, total: u64) {
        if done == 0 {
            self.began = Instant::now();
            self.told = self.began;
        }
        let taken = self.began.elapsed().as_secs_f64();
        let message = match done {
            0 => what.to_owned(),
            done => format!("{what}, {:.0} s left", taken / done as f64 * total.saturating_sub(done) as f64),
        };
        if self.terminal {
            let bar = self.bar("measuring", total);
            bar.set_position(done);
            bar.set_message(message);
        } else if self.told.elapsed() >= PLAIN_EVERY && done > 0 {
            self.told = Instant::now();
            eprintln!("measuring: {done} of {total} parts, {message}");
        }
    }

    fn bar(&mut self, name: &'static str, length: u64) -> &ProgressBar {
        if self.bar.as_ref().is_none_or(|bar| bar.prefix() != name) {
            self.clear();
        }
        self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(BAR).expect("the template is well-formed");
            ProgressBar::new(length).with_style(style.progress_chars("=> ")).with_prefix(name)
        })
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

const fn name_of(burst: Burst) -> &'static str {
    match burst {
        Burst::Preamble => "preamble",
        Burst::Edges => "edges",
    }
}

/// "9.8/s, 4 s left", from the second sight of captures on.
fn pace(commanded: u32, captured: u32, seen: Option<(u32, Duration)>) -> String {
    let Some((captures, taken)) = seen else {
        let waiting = if captured == 0 { "waiting for the reference's pulse" } else { "" };
        return waiting.to_owned();
    };
    let rate = f64::from(captures) / taken.as_secs_f64().max(1e-3);
    let left = f64::from(commanded.saturating_sub(captured)) / rate.max(1e-9);
    format!("{rate:.1}/s, {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_that_between_the_first_and_the_last_capture_seen() {
        let start = Instant::now();
        let mut seen = Seen::default();
        assert!(pace(101, 0, seen.pace()).starts_with("waiting"));
        seen.update(1, start);
        assert_eq!(seen.pace(), None);
        seen.update(51, start + Duration::from_secs(5));
        // Time without a capture does not slow the pace down.
        seen.update(51, start + Duration::from_secs(9));
        assert_eq!(pace(101, 51, seen.pace()), "10.0/s, 5 s left");
    }
}
