//! The command line: one file a subcommand.

pub mod bench;
pub mod check;
pub mod compare;
pub mod flash;
pub mod history;
pub mod list;
mod manual;
pub mod nightly;
pub mod replay;
pub mod run;
pub mod samples;
pub mod shell;
pub mod stability;
pub mod trace;
pub mod validate;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};

use crate::bench_file::Labgrid;
use crate::rig::{guard, labgrid, probe};

/// Exit code of a command that could not be done.
pub const FAILED: u8 = 2;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("PPSRIG_GIT"), ")");

/// Measures how late a Cortex-A53 board takes a timestamp.
///
/// ppsrig loads the board through a debug probe, has a reference generator fire PPS edges over serial, collects the
/// board's counter values, ties them to GPS time, and answers with latency statistics, a verdict and CSV.
#[derive(Debug, Parser)]
#[command(name = "ppsrig", version = env!("CARGO_PKG_VERSION"), long_version = VERSION, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  ppsrig run                 a run on the virtual bench
  ppsrig check bench.toml    is every instrument of a bench there and well?
  ppsrig run bench.toml --edges 1000 --rate 100
  ppsrig run --measure path --clock exact --counter-hz 1000000000
  ppsrig replay results/2026-11-30T18-15-00Z-virtual
  ppsrig compare results/BEFORE --with results/AFTER
  ppsrig trace               what runs between the two reads of a snapshot
  ppsrig stability FILE      how stable a clock is, from what recorded it
  ppsrig nightly plan.toml   a whole night of runs, compared and judged
  ppsrig history             what all runs and nights have given

Data goes to stdout, everything else to stderr. RUST_LOG=info says more.
Exit code: 0 passed, 1 a limit was exceeded or a comparison says worse, 2 it
could not be done, 3 no verdict. A run does not judge live figures of an
emulated board for path and ctime: 0.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Check(check::Args),
    Flash(flash::Args),
    Replay(replay::Args),
    Compare(compare::Args),
    Trace(trace::Args),
    Stability(stability::Args),
    Nightly(nightly::Args),
    History(history::Args),
    List(list::Args),
    Validate(validate::Args),
    Completions(shell::Completions),
    Man(shell::Man),
    /// One probe session, as a child of another ppsrig
    #[command(hide = true)]
    ProbeWorker,
    /// Ends a bring-up command when ppsrig ends
    #[command(hide = true)]
    Guard {
        /// Folder to remove at the end
        #[arg(long)]
        scratch: Option<PathBuf>,
        /// Program and arguments
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Acquires a labgrid place, and releases it when ppsrig ends
    #[command(hide = true)]
    PlaceGuard {
        #[arg(long)]
        place: String,
        #[arg(long)]
        client: String,
        #[arg(long)]
        coordinator: Option<String>,
        #[arg(long)]
        file: PathBuf,
        #[arg(long)]
        wait: u64,
    },
}

impl Cli {
    /// Does what the command line asks for.
    ///
    /// # Errors
    /// Whatever keeps it from being done; its causes say on what, and what to try.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        match &self.command {
            Command::Run(args) => run::run(args),
            Command::Check(args) => check::run(args),
            Command::Flash(args) => flash::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Compare(args) => compare::run(args),
            Command::Trace(args) => trace::run(args),
            Command::Stability(args) => stability::run(args),
            Command::Nightly(args) => nightly::run(args),
            Command::History(args) => history::run(args),
            Command::List(args) => list::run(args),
            Command::Validate(args) => validate::run(args),
            Command::Completions(args) => shell::completions(args),
            Command::Man(args) => shell::man(args),
            Command::ProbeWorker => Ok(probe::worker::run()),
            Command::Guard { scratch, command } => Ok(guard::run(command, scratch.as_deref())),
            Command::PlaceGuard { place, client, coordinator, file, wait } => {
                let (place, client, coordinator) = (place.clone(), client.clone(), coordinator.clone());
                let labgrid = Labgrid { place, coordinator, client };
                let (file, wait) = (file.clone(), Duration::from_secs(*wait));
                Ok(labgrid::guard::run(&labgrid::guard::Order { labgrid, file, wait }))
            }
        }
    }
}

/// Prints data on stdout; a reader that has gone away is no error.
fn say(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn examples_are_not_wrapped_on_eighty_columns() {
        let command = super::Cli::command();
        for command in command.get_subcommands().chain([&command]) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let long = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{}", command.get_name());
        }
    }
}
