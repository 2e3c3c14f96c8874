//! ppsrig's side of a probe session: starts the child, watches its progress, and ends it when there is none.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::{Performed, ProbeError, Progress, Reply, Request, Stage, Task};
use crate::rig::watch::{Deadline, Watch};

/// How long a probe session may take from one line to the next. Writing a block takes milliseconds; attaching under
/// probe-rs's own time-outs up to a few seconds.
const STALLED: Duration = Duration::from_secs(7);
const LOOK: Duration = Duration::from_millis(50);
const KEPT_LINES: usize = 12;

/// Called with each step of a probe session.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);

/// Performs one task in a child process.
///
/// # Errors
/// [`ProbeError`]
pub fn perform(task: &Task, watch: &Watch, progress: OnProgress<'_>) -> Result<Performed, ProbeError> {
    let mut session = Session::start(task)?;
    let result = session.follow(task, watch, progress);
    session.end();
    result
}

enum Line {
    Reply(Reply),
    Noise(String),
}

struct Session {
    child: Child,
    lines: Receiver<Line>,
    noise: VecDeque<String>,
}

impl Session {
    fn start(task: &Task) -> Result<Self, ProbeError> {
        let mut child = Command::new(std::env::current_exe().map_err(ProbeError::Start)?)
            .arg("probe-worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(ProbeError::Start)?;
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let noise = sender.clone();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                log::info!(target: "ppsrig::probe", "{line}");
                if noise.send(Line::Noise(line)).is_err() {
                    return;
                }
            }
        });
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).map_or(Line::Noise(line), Line::Reply);
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let request = Request { version: env!("CARGO_PKG_VERSION").to_owned(), task: task.clone() };
        let mut text = serde_json::to_string(&request).expect("a request has string keys only");
        text.push('\n');
        // A child that has ended already is noticed by its missing last line. Its stdin stays open in `child`.
        let _ended = child.stdin.as_mut().expect("it is piped").write_all(text.as_bytes());
        Ok(Self { child, lines, noise: VecDeque::new() })
    }

    fn follow(
        &mut self,
        task: &Task,
        watch: &Watch,
        progress: OnProgress<'_>,
    ) -> Result<Performed, ProbeError> {
        let selector = selector_of(task);
        let mut doing = Stage::Attach.doing();
        let mut stalled = Deadline::after(STALLED);
        let mut performed = Performed::default();
        loop {
            watch.check()?;
            let line = match self.lines.recv_timeout(LOOK) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if !stalled.passed() => continue,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(ProbeError::Hung { selector, doing, allowed: STALLED });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died(selector, doing)),
            };
            match line {
                Line::Noise(line) => self.keep(line),
                Line::Reply(Reply::Progress(step)) => {
                    doing = step.stage.doing();
                    stalled = Deadline::after(STALLED);
                    progress(step);
                }
                Line::Reply(Reply::Probes(probes)) => performed.probes = probes,
                Line::Reply(Reply::Executed(executed)) => performed.executed.push(executed),
                Line::Reply(Reply::Done(report)) => return Ok(Performed { report, ..performed }),
                Line::Reply(Reply::Failed { reason, operations }) => {
                    return Err(ProbeError::Failed { reason, operations });
                }
            }
        }
    }

    fn keep(&mut self, line: String) {
        if self.noise.len() == KEPT_LINES {
            self.noise.pop_front();
        }
        self.noise.push_back(line);
    }

    fn died(&mut self, selector: String, doing: &'static str) -> ProbeError {
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let output = self.noise.iter().map(|line| format!("\n  {line}")).collect();
        ProbeError::Died { selector, doing, status, output }
    }

    /// The child ends by itself when its stdin closes; one that is stuck in probe-rs is killed.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        let grace = Deadline::after(Duration::from_secs(1));
        while !grace.passed() {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn selector_of(task: &Task) -> String {
    match task {
        Task::List => "list".to_owned(),
        Task::Attach(target) | Task::Load { target, .. } | Task::Trace { target, .. } => {
            target.selector.clone()
        }
    }
}
