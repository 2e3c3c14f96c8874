//! The ppsrig program: reads the command line, does what it says, and turns errors into exit code 2.

#![deny(clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use ppsrig::command::{Cli, FAILED};
use ppsrig::stderr::tell;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn,probe_rs=off")).init();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Also --help and --version, whose exit code is 0. A closed stdout is no error.
            let _closed = error.print();
            return ExitCode::from(if error.use_stderr() { FAILED } else { 0 });
        }
    };
    cli.run().unwrap_or_else(|error| {
        let mut said = error.to_string();
        tell(&format!("error: {said}"));
        for cause in error.chain().skip(1).map(ToString::to_string) {
            if !said.contains(&cause) {
                tell(&format!("  because {cause}"));
                said = cause;
            }
        }
        ExitCode::from(FAILED)
    })
}
