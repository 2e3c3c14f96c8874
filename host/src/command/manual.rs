//! Manual pages from the command line's own definition: `clap_mangen`'s sections, with examples line by line, the exit code
//! and the other pages under headings of their own.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::shell::offered;

const SECTION: &str = "1";

/// File names and pages, that of ppsrig itself first.
///
/// # Errors
/// Those of `clap_mangen`; memory takes everything.
pub(super) fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut whole = offered().disable_help_subcommand(true);
    whole.build();
    let commands: Vec<_> = std::iter::once(&whole).chain(whole.get_subcommands()).collect();
    let names: Vec<_> = commands.iter().map(|command| title(command)).collect();
    let commands = commands.into_iter();
    commands.map(|command| Ok((format!("{}.{SECTION}", title(command)), page(command, &names)?))).collect()
}

fn title(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &Command, all: &[String]) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).source(format!("ppsrig {}", env!("CARGO_PKG_VERSION")));
    let man = man.manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    render_after_help(&after).to_writer(&mut page)?;
    see_also(command, all).to_writer(&mut page)?;
    Ok(with_one_preamble(&String::from_utf8_lossy(&page)).into_bytes())
}

/// Each section was rendered with what a page begins with.
fn with_one_preamble(page: &str) -> String {
    let preamble = Roff::new().render();
    preamble.clone() + &page.replace(&preamble, "")
}

/// What stands below the options: examples line by line as they are, the rest as paragraphs under a heading that fits.
fn render_after_help(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut heading = "";
    let text = text.replace("\nExit code:", "\n\nExit code:");
    for paragraph in text.split("\n\n").map(str::trim_start).filter(|paragraph| !paragraph.trim().is_empty())
    {
        let (section, lines) = section_of(paragraph);
        if section == heading {
            roff.control("PP", []);
        } else {
            roff.control("SH", [section]);
        }
        heading = section;
        let verbatim = section == "EXAMPLES";
        roff.extend(if verbatim { literally(lines) } else { paragraph_of(lines) });
    }
    roff
}

fn section_of(paragraph: &str) -> (&'static str, &str) {
    if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
        ("EXAMPLES", examples)
    } else if paragraph.starts_with("Exit code:") {
        ("EXIT STATUS", paragraph)
    } else {
        ("NOTES", paragraph)
    }
}

fn literally(lines: &str) -> [Roff; 1] {
    let mut roff = Roff::new();
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
    [roff]
}

/// Each line that begins a statement of its own (`Word: ...`) stays one.
fn paragraph_of(lines: &str) -> [Roff; 1] {
    let mut roff = Roff::new();
    for (index, line) in lines.lines().enumerate() {
        let word = line.split(' ').next().unwrap_or_default();
        let begins = word.ends_with(':') || line.starts_with("Exit code:");
        if begins && index > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(line)]);
    }
    [roff]
}

fn see_also(command: &Command, all: &[String]) -> Roff {
    let own = title(command);
    let others = all.iter().filter(|name| **name != own);
    let others = others.filter(|name| command.has_subcommands() || name.as_str() == "ppsrig");
    let mut words = Vec::new();
    for name in others {
        if !words.is_empty() {
            words.push(roman(", "));
        }
        words.extend([bold(name.as_str()), roman(format!("({SECTION})"))]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    roff.text(words);
    roff
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::Cli;

    #[test]
    fn every_command_has_a_page_and_ppsrig_comes_first() {
        let pages = pages().expect("memory takes them");
        let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[0], "ppsrig.1");
        let first = String::from_utf8_lossy(&pages[0].1);
        assert_eq!(first.matches(".ds Aq").count(), 2, "one preamble: {first}");
        for command in Cli::command().get_subcommands() {
            let name = format!("ppsrig-{}.1", command.get_name());
            assert_eq!(names.contains(&name.as_str()), !command.is_hide_set(), "{name}");
        }
    }

    #[test]
    fn examples_keep_their_lines_and_exit_codes_have_a_section() {
        let text =
            "Examples:\n  ppsrig a    first\n  ppsrig b\n\nFormats: x,\ny.\nNoise: z\n\nExit code: 0 done.";
        let page = render_after_help(text).render();
        assert!(page.starts_with(&Roff::new().render()), "{page}");
        let page = page.split_once(".SH EXAMPLES").expect("it has that section").1;
        assert_eq!(
            page,
            "\n.nf\nppsrig a    first\nppsrig b\n.fi\n.SH NOTES\nFormats: x,\ny.\n.PP\nNoise: z\n.SH \"EXIT STATUS\"\n\
             Exit code: 0 done.\n"
        );
    }

    #[test]
    fn a_page_names_its_relatives() {
        let pages = pages().expect("memory takes them");
        let page = |name: &str| {
            let (_, page) = pages.iter().find(|(found, _)| found == name).expect("it is there");
            String::from_utf8_lossy(page).into_owned()
        };
        assert!(page("ppsrig.1").contains("ppsrig\\-run"), "{}", page("ppsrig.1"));
        assert!(
            page("ppsrig-run.1").ends_with(".SH \"SEE ALSO\"\n\\fBppsrig\\fR(1)\n"),
            "{}",
            page("ppsrig-run.1")
        );
    }
}
