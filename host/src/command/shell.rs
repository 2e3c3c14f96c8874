//! `ppsrig completions` and `ppsrig man`: what shells and man know of the command line, from its own definition.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use anyhow::Context;
use clap::{Command, CommandFactory, ValueHint};
use clap_complete::{Shell, generate};

use super::{Cli, say};

/// Prints the completions of a shell
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
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
fn offered() -> Command {
    let whole = Cli::command();
    let shown = whole.get_subcommands().filter(|one| !one.is_hide_set()).cloned();
    Command::new("ppsrig").version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}

/// Prints or writes manual pages.
///
/// # Errors
/// If they cannot be written.
pub fn man(args: &Man) -> anyhow::Result<ExitCode> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).context("cannot make the manual page")?;
        say(&with_examples(&String::from_utf8(page).context("the manual page is not UTF-8")?))?;
        return Ok(ExitCode::SUCCESS);
    };
    pages(dir)
        .with_context(|| format!("cannot write manual pages into {}; give another folder", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn pages(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)?;
    let command = Cli::command();
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let names = shown.map(|one| format!("ppsrig-{}.1", one.get_name())).chain(["ppsrig.1".to_owned()]);
    for path in names.map(|name| dir.join(name)) {
        fs::write(&path, with_examples(&fs::read_to_string(&path)?))?;
    }
    Ok(())
}

/// What follows the options of a page is its examples, and then words: the examples under their own heading, line by line.
fn with_examples(page: &str) -> String {
    const HEADING: &str = ".SH EXTRA\nExamples:\n";
    let Some((before, behind)) = page.split_once(HEADING) else { return page.to_owned() };
    let (examples, rest) = behind.split_once("\n\n").unwrap_or((behind, ""));
    let (examples, more) = match examples.find("\n.SH") {
        Some(at) => examples.split_at(at),
        None => (examples, ""),
    };
    format!("{before}.SH EXAMPLES\n.nf\n{}\n.fi\n.PP\n{}\n{rest}", examples.trim_end(), more.trim_start())
}

#[cfg(test)]
mod tests {
    use super::with_examples;

    #[test]
    fn examples_stand_line_by_line_under_their_own_heading() {
        let page = ".SH OPTIONS\nx\n.SH EXTRA\nExamples:\n  one\n  two\n\nExit code: 0\n.SH VERSION\nv\n";
        let expected =
            ".SH OPTIONS\nx\n.SH EXAMPLES\n.nf\n  one\n  two\n.fi\n.PP\n\nExit code: 0\n.SH VERSION\nv\n";
        assert_eq!(with_examples(page), expected);
        let without = with_examples(".SH EXTRA\nExamples:\n  one\n.SH VERSION\nv\n");
        assert_eq!(without, ".SH EXAMPLES\n.nf\n  one\n.fi\n.PP\n.SH VERSION\nv\n\n");
        assert_eq!(with_examples("plain\n"), "plain\n");
    }
}
