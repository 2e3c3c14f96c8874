//! `ppsrig check`: is every instrument of a bench there and well, and are they wired as the bench file says? Opens them in
//! turn (`probing`), fires a few edges (`firing`), and says what it found and how sure that is (`findings`, `told`).

mod findings;
mod firing;
mod online;
mod ports;
mod probing;
mod told;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::{bench, say};
use crate::rig::watch::{Deadline, Watch};
use crate::stderr::tell;
use findings::Findings;

/// When the check ends by itself, whatever its parts are waiting for. It may take a minute: what is left is for switching the
/// generator off, closing a window and taking the bench down.
const ALLOWED: Duration = Duration::from_secs(50);

/// Checks that a bench is well before it is believed
///
/// Brings the bench up, attaches to the board, loads and starts its image, asks every instrument who it is and how it is, then
/// fires a few edges at 1 Hz, 200 ms wide where that can be set, and captures both transitions: polarity and width, which
/// second an edge belongs to and how far that is from ambiguity, quantisation errors, the counter's rate, the oscillators'
/// references, and the cables as declared.
///
/// Takes at most a minute; the generator's output is off afterwards, however it ends. Each line has its evidence and says
/// whether it is certain or likely; a line that is not good says what to try. What could not be checked says why.
///
/// A night whose golden image gives other figures than it should takes its bench offline; --back-online brings it back.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig check               the virtual bench
  ppsrig check bench.toml --json
  ppsrig check bench.toml --back-online    it was mended: nights may use it

Exit code: 0 all is well, 1 something is there but not well, 2 something cannot
be used or was not checked.")]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
    #[command(flatten)]
    wait: bench::Wait,
    /// Bring a bench back that is offline, if all of it is well
    #[arg(long)]
    back_online: bool,
    /// With --back-online: bring it back whatever the check finds
    #[arg(long, requires = "back_online")]
    force: bool,
    /// One JSON object in place of the table
    #[arg(long)]
    json: bool,
}

/// Checks a bench and prints the findings.
///
/// # Errors
/// If the bench file cannot be read, or the check is interrupted.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut bench = args.bench.read()?;
    let watch = Watch::new();
    watch.catch_signals().context("cannot catch signals")?;
    if !args.back_online {
        bench.warn_if_offline();
    }
    let _taken = bench.take("check", args.wait.duration(), &watch)?;
    let deadline = Deadline::after(ALLOWED);
    let timed = watch.until(deadline);
    let mut findings = Findings::default();
    findings.good("bench file", bench.file.display().to_string());
    if bench.declared.bring_up.is_some() {
        tell(bench::BRINGING_UP);
    }
    match bench.bring_up(None, &bench::How::default(), &timed) {
        Ok(up) => {
            if bench.declared.bring_up.is_some() {
                findings.good(
                    "bring-up",
                    if up.facts.is_empty() { "ready".to_owned() } else { up.facts.clone() },
                );
            }
            ports::look(&up.bench, &mut findings);
            probing::probe(&up.bench, deadline, &timed, &mut findings);
            firing::fire(&bench, &up, deadline, &timed, &mut findings);
        }
        Err(error) => findings.unusable("bring-up", format!("{error:#}")),
    }
    watch.check()?;
    if !args.back_online {
        say(&if args.json { format!("{}\n", findings.json()) } else { findings.table() })?;
        return Ok(ExitCode::from(findings.exit_code()));
    }
    let back = online::bring_back(&bench, findings.exit_code(), args.force)?;
    say(&if args.json {
        let mut json = findings.json();
        json["back_online"] = back.json();
        format!("{json}\n")
    } else {
        findings.table() + &back.text()
    })?;
    Ok(ExitCode::from(findings.exit_code()))
}
