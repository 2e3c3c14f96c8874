//! `ppsrig validate`: says every problem of a bench file at once, or what the bench is.

use std::path::Path;
use std::process::ExitCode;

use super::bench;
use crate::bench_file::{BenchFile, Chip, CommandBy, ReferenceDriver};

/// Checks a bench file
///
/// Nothing is opened but the file: `ppsrig check` looks whether the instruments are there.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig validate            the virtual bench of the source tree
  ppsrig validate bench.toml")]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
}

/// Prints `BENCH: good` and a short description of the bench.
///
/// # Errors
/// Every problem of the file, one a line.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let bench = args.bench.read()?;
    let description = description(&bench.declared, &|path| path.exists());
    super::say(&format!("{}: good\n{description}", bench.file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// One line an instrument, for people.
fn description(bench: &BenchFile, exists: &dyn Fn(&Path) -> bool) -> String {
    let board = &bench.board;
    let chip = match Chip::parse(&board.chip) {
        Ok(Chip::Description { file, name }) => format!("{name} of {}", file.display()),
        _ => board.chip.clone(),
    };
    let image = &board.image;
    let unbuilt = if exists(image) { "" } else { " (not there yet)" };
    let by = match board.command_by {
        CommandBy::Link => "",
        CommandBy::Memory => ", first command through the probe",
    };
    let emulated = if board.emulated { ", emulated" } else { "" };
    let mut lines = vec![
        ("board", format!("{chip}, counter declared {}{emulated}{by}", board.counter_hz)),
        ("probe", board.probe.clone()),
        ("image", format!("{}{unbuilt}", image.display())),
        ("link", format!("{} at {} baud", board.link, board.link_baud)),
        ("generator", format!("SCPI on {}, {} ms wide", bench.generator.port, bench.generator.width_ms)),
        ("reference", reference(bench)),
    ];
    lines.push((
        "interval counter",
        match &bench.interval_counter {
            Some(counter) => {
                format!("{} on {}, channel B: {}", counter.driver.name(), counter.port, channel_b(bench))
            }
            None => "none".to_owned(),
        },
    ));
    lines.push((
        "bring-up",
        match &bench.bring_up {
            Some(bring_up) => bring_up.command.join(" "),
            None => "none, it is up".to_owned(),
        },
    ));
    lines.iter().map(|(name, value)| format!("  {name:<17}{value}\n")).collect()
}

fn reference(bench: &BenchFile) -> String {
    let reference = &bench.reference;
    let driver = match reference.driver {
        ReferenceDriver::Nmea => "NMEA",
        ReferenceDriver::Ubx => "UBX with TIM-TP",
    };
    format!("{driver} on {}, settles {} s, guard {} s", reference.port, reference.settle_s, reference.guard_s)
}

const fn channel_b(bench: &BenchFile) -> &'static str {
    if bench.wiring.echo { "the board's echo" } else { "the reference's PPS" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_described_instrument_by_instrument() {
        let folder = Path::new("/repo/fixtures/benches");
        let text = include_str!("../../../fixtures/benches/virtual.toml");
        let bench = crate::bench_file::parse(text, folder).unwrap();
        let expected = "  board            QemuVirtA53 of /repo/fixtures/boards/qemu-virt-a53.yaml, \
             counter declared 12500000 Hz, emulated
  probe            20b7:9db1:unix:@run/swd.sock
  image            /repo/build/firmware/virt.elf (not there yet)
  link             @run/board.tty at 921600 baud
  generator        SCPI on @run/generator.tty, 5 ms wide
  reference        UBX with TIM-TP on @run/gps.tty, settles 3 s, guard 2 s
  interval counter ticc on @run/ticc.tty, channel B: the board's echo
  bring-up         vbench --run-dir @run --echo
";
        assert_eq!(description(&bench, &|_| false), expected);
        assert!(!description(&bench, &|_| true).contains("not there yet"));
    }
}
