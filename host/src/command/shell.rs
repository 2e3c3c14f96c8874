//! `ppsrig completions` and `ppsrig man`: what shells and man know of the command line, from its own definition.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory, ValueHint};
use clap_complete::{Shell, generate};

use super::manual;
use super::{Cli, say};
use crate::bundle::write_file;

/// Prints what a shell needs to complete the command line
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(ppsrig completions bash)
  ppsrig completions bash > ~/.local/share/bash-completion/completions/ppsrig
  ppsrig completions zsh > ~/.zfunc/_ppsrig
  ppsrig completions fish > ~/.config/fish/completions/ppsrig.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the manual page, or writes all of them into a folder
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig man | man -l -
  ppsrig man ~/.local/share/man/man1    then: man ppsrig-run")]
pub struct Man {
    /// Folder for the page of ppsrig and one of each subcommand; made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

/// Prints completions.
///
/// # Errors
/// If stdout takes nothing.
pub fn completions(args: &Completions) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    generate(args.shell, &mut offered(), "ppsrig", &mut script);
    say(&String::from_utf8(script).context("a completion script is not UTF-8")?)?;
    Ok(ExitCode::SUCCESS)
}

/// The command line without what ppsrig only says to itself, which `clap_complete` would offer.
pub(super) fn offered() -> Command {
    let whole = Cli::command();
    let shown = whole.get_subcommands().filter(|one| !one.is_hide_set()).cloned();
    let command = Command::new("ppsrig").version(env!("CARGO_PKG_VERSION")).subcommand_required(true);
    let command = command.about(whole.get_about().cloned().unwrap_or_default());
    let command = command.long_about(whole.get_long_about().cloned().unwrap_or_default());
    command.after_help(whole.get_after_help().cloned().unwrap_or_default()).subcommands(shown)
}

/// Prints the page of ppsrig itself, or writes all of them into the folder.
///
/// # Errors
/// If a page cannot be written.
pub fn man(args: &Man) -> anyhow::Result<ExitCode> {
    let pages = manual::pages().context("cannot make the manual pages")?;
    match (&args.dir, pages.first()) {
        (Some(dir), _) => {
            for (name, page) in &pages {
                write_file(dir, name, |file| file.write_all(page))?;
            }
        }
        (None, Some((_, page))) => say(&String::from_utf8_lossy(page))?,
        (None, None) => {}
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_completes_every_command_but_the_hidden_ones() {
        for &shell in Shell::value_variants() {
            let mut script = Vec::new();
            generate(shell, &mut offered(), "ppsrig", &mut script);
            let script = String::from_utf8(script).expect("it is text");
            for command in Cli::command().get_subcommands() {
                let offered = script.contains(command.get_name());
                assert_eq!(offered, !command.is_hide_set(), "{shell}: {}", command.get_name());
            }
        }
    }
}
