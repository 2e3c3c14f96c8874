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
}

impl Progress {
    /// Shows a bar if stderr is a terminal that can show one.
    pub(super) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let now = Instant::now();
        Self { terminal: std::io::stderr().is_terminal() && !dumb, bar: None, began: now, told: now }
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
            Step::Fired(burst) => {
                self.clear();
                let seconds = self.began.elapsed().as_secs_f64();
                self.line(&format!("{} done in {seconds:.1} s", name_of(*burst)));
            }
        }
    }

    fn firing(&mut self, burst: Burst, commanded: u32, captured: u32) {
        let name = name_of(burst);
        if captured == 0 {
            self.began = Instant::now();
        }
        let message = pace(commanded, captured, self.began.elapsed());
        if self.terminal {
            let bar = self.bar(name, commanded.into());
            bar.set_position(captured.into());
            bar.set_message(message);
        } else if self.told.elapsed() >= PLAIN_EVERY && captured > 0 {
            self.told = Instant::now();
            eprintln!("{name}: {captured} of {commanded} captured, {message}");
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

/// "9.8/s, 4 s left", from the first capture on.
fn pace(commanded: u32, captured: u32, since_first: Duration) -> String {
    if captured < 2 {
        return "waiting for the reference's pulse".to_owned();
    }
    let rate = f64::from(captured - 1) / since_first.as_secs_f64().max(1e-3);
    let left = f64::from(commanded.saturating_sub(captured)) / rate.max(1e-9);
    format!("{rate:.1}/s, {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_known_from_the_second_capture_on() {
        assert!(pace(100, 1, Duration::from_secs(1)).starts_with("waiting"));
        assert_eq!(pace(101, 51, Duration::from_secs(5)), "10.0/s, 5 s left");
    }
}
