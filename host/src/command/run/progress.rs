//! What people see while a run goes on: a bar on a terminal, plain lines elsewhere. All of it on stderr.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::events::Burst;
use crate::rig::probe::Stage;
use crate::rig::session::Step;
use crate::stderr::tell;

/// From one plain line of a burst to the next.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// The message is cut to what the terminal leaves of a line, so that the line never wraps.
const BAR: &str = "{prefix:9} [{bar:16}] {pos}/{len} {wide_msg}";
/// On a terminal that is narrower than [`NARROW`].
const NARROW_BAR: &str = "{prefix} {pos}/{len} {wide_msg}";
/// Columns that hold a bar and any message.
const NARROW: u16 = 70;

/// Shows how far a run is.
pub(in crate::command) struct Progress {
    terminal: bool,
    bar: Option<ProgressBar>,
    began: Instant,
    told: Instant,
    /// When the first edge of the burst was captured.
    first: Option<Instant>,
}

impl Progress {
    /// Shows a bar if stderr is a terminal that can show one.
    pub(in crate::command) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let now = Instant::now();
        Self {
            terminal: std::io::stderr().is_terminal() && !dumb,
            bar: None,
            began: now,
            told: now,
            first: None,
        }
    }

    /// A line of its own, above the bar if there is one.
    pub(in crate::command) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(text)),
            None => tell(text),
        }
    }

    /// Shows a step of a session.
    pub(in crate::command) fn step(&mut self, step: &Step<'_>) {
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
            Step::Firing { burst, commanded, period, captured } => {
                self.firing(*burst, (*commanded, *period), *captured);
            }
            Step::Notice(text) => self.line(text),
            Step::Measuring { what, done, total } => self.measuring(what, *done, *total),
            Step::Measured(what) => {
                self.clear();
                self.line(&format!("{what}: done in {:.1} s", self.began.elapsed().as_secs_f64()));
            }
            Step::Fired(burst) => {
                self.clear();
                self.first = None;
                let seconds = self.began.elapsed().as_secs_f64();
                self.line(&format!("{} done in {seconds:.1} s", name_of(*burst)));
            }
        }
    }

    fn firing(&mut self, burst: Burst, (commanded, period): (u32, Duration), captured: u32) {
        let name = name_of(burst);
        let now = Instant::now();
        if captured == 0 {
            self.began = now;
        } else if self.first.is_none() {
            self.first = Some(now.checked_sub(period * (captured - 1)).unwrap_or(now));
        }
        let train = self.first.map(|first| due(commanded, period, now.saturating_duration_since(first)));
        if self.terminal {
            let bar = self.bar(name, commanded.into());
            bar.set_message(message(captured, train.map(|(_, left)| left)));
            bar.set_position(train.map_or(0, |(due, _)| due.into()));
        } else if let Some((due, left)) = train.filter(|_| self.told.elapsed() >= PLAIN_EVERY) {
            self.told = now;
            tell(&format!("{name}: {due} of {commanded} due, {}", message(captured, Some(left))));
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
            self.line(&format!("measuring: {done} of {total} parts, {message}"));
        }
    }

    fn bar(&mut self, name: &'static str, length: u64) -> &ProgressBar {
        if self.bar.as_ref().is_none_or(|bar| bar.prefix() != name) {
            self.clear();
        }
        self.bar.get_or_insert_with(|| {
            let wide = terminal_width().is_none_or(|columns| columns >= NARROW);
            let style = ProgressStyle::with_template(if wide { BAR } else { NARROW_BAR })
                .expect("the template is well-formed");
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

/// How many edges of a train are due this long after its first, and the time until its end. It fires as it was told, so
/// this holds also where edges are missed or captured twice.
fn due(commanded: u32, period: Duration, since_first: Duration) -> (u32, Duration) {
    let periods = since_first.as_nanos() / period.as_nanos().max(1);
    let due = u32::try_from(periods).unwrap_or(u32::MAX).saturating_add(1).min(commanded);
    (due, (period * commanded).saturating_sub(since_first))
}

/// "4 s left, 61 captured", once there are edges.
fn message(captured: u32, left: Option<Duration>) -> String {
    match left {
        None => "waiting for the reference".to_owned(),
        Some(left) => format!("{} left, {captured} captured", span(left)),
    }
}

/// "4 s", from a minute on "0:01:05".
fn span(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1000);
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

/// Columns of the terminal behind stderr.
fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_time_left_is_that_of_the_train_whatever_is_captured() {
        assert_eq!(due(100, 100 * MS, Duration::ZERO), (1, 10_000 * MS));
        assert_eq!(due(100, 100 * MS, 5050 * MS), (51, 4950 * MS));
        assert_eq!(due(100, 100 * MS, 99_000 * MS), (100, Duration::ZERO));
    }

    #[test]
    fn no_captures_are_waited_for_once_there_is_one() {
        assert!(message(0, None).starts_with("waiting"));
        assert_eq!(message(1, Some(4950 * MS)), "5 s left, 1 captured");
    }

    #[test]
    fn long_times_have_minutes_and_hours() {
        assert_eq!(span(Duration::from_secs(59)), "59 s");
        assert_eq!(span(Duration::from_secs(65)), "0:01:05");
        assert_eq!(span(Duration::from_secs(86_400 + 60)), "24:01:00");
    }

    #[test]
    fn any_message_fits_eighty_columns_beside_the_bar() {
        let most = crate::plan::MOST_EDGES;
        let longest = message(most, Some(Duration::from_secs(999 * 3600)));
        let around = format!("{:9} [{:16}] {most}/{most} ", "preamble", "");
        assert!(around.len() + longest.len() < 80, "{around}{longest}");
        assert!(around.len() + message(0, None).len() <= usize::from(NARROW), "{around}");
    }
}
