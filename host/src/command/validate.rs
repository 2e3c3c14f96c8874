//! `ppsrig validate`: says every problem of a bench file or a plan at once, or what it is.

use std::path::Path;
use std::process::ExitCode;

use super::{bench, nightly};
use crate::bench_file::{BenchFile, Chip, CommandBy, Dtr, EdgeTiming, Line, Port, ReferenceDriver};
use crate::night::expected::{Taken, expected};
use crate::plan_file;

/// Checks a bench file, or a plan for nights
///
/// Nothing is opened but the file, and of a plan its bench file, its baselines and those of its images that are built: `ppsrig
/// check` looks whether the instruments are there. A plan that is valid can be run: its measures are asked of the same functions
/// that `ppsrig run` asks, its images and baselines are read as `ppsrig nightly` reads them.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppsrig validate            the virtual bench
  ppsrig validate bench.toml
  ppsrig validate plan.toml  and how many runs a night has, and how long")]
pub struct Args {
    #[command(flatten)]
    bench: bench::Args,
}

/// Prints `FILE: good` and a short description of the bench, or of the plan.
///
/// # Errors
/// Every problem of the file, one a line.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(file) = args.bench.bench.as_deref().filter(|file| is_plan(file)) {
        let (plan, bench) = nightly::plan::read(file)?;
        nightly::plan::readable(&plan, &bench, nightly::plan::Missing::Allowed)?;
        let expected = expected(&plan, &Taken::new());
        let description = nightly::told::description(&plan, &expected);
        super::say(&format!("{}: good\n{description}", file.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bench = args.bench.read()?;
    let description = description(&bench.declared, &|path| path.exists());
    super::say(&format!("{}: good\n{description}", bench.file.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// What cannot be read is left to the reader of benches, which says why.
fn is_plan(file: &Path) -> bool {
    plan_file::read_text(file).is_ok_and(|text| plan_file::is_plan(&text))
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
        (
            "link",
            format!("{} at {} baud{}", board.link, board.link_baud, line(board.link_line, board.link_dtr)),
        ),
        ("generator", {
            let generator = &bench.generator;
            let line = line(generator.line, generator.dtr);
            let (driver, timing) = (generator.driver, generator.driver.timing().words());
            let on = if driver.has_port() { format!(" on {}{line}", generator.port) } else { String::new() };
            format!("{}{on}, {} ms wide, {timing}", driver.name(), generator.width_ms)
        }),
        ("reference", reference(bench)),
    ];
    lines.push((
        "interval counter",
        match &bench.interval_counter {
            Some(counter) => {
                let line = line(counter.line, counter.dtr);
                format!(
                    "{} on {}{line}, channel B: {}",
                    counter.driver.name(),
                    counter.port,
                    channel_b(bench)
                )
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
    if let Some(labgrid) = &bench.labgrid {
        let coordinator = labgrid.coordinator.as_deref().unwrap_or("LG_COORDINATOR's or the local one");
        lines.push((
            "labgrid",
            format!("place {}, acquired for each run; coordinator: {coordinator}", labgrid.place),
        ));
    }
    let hints = hints(bench);
    lines.extend(hints.iter().map(|hint| ("hint", hint.clone())));
    lines.iter().map(|(name, value)| format!("  {name:<17}{value}\n")).collect()
}

/// What is no mistake, and will be one some day.
fn hints(bench: &BenchFile) -> Vec<String> {
    let host_timed = bench.generator.driver.timing() == EdgeTiming::HostTimed;
    let untimed = (host_timed && bench.interval_counter.is_none()).then(|| {
        "the generator's edges are host-timed and no interval counter times them: `ppsrig run` takes them with \
         --mode alternate only"
            .to_owned()
    });
    let counter = bench.interval_counter.as_ref().map(|counter| counter.port.as_str());
    let ports =
        [Some(bench.board.link.as_str()), Some(&bench.generator.port), Some(&bench.reference.port), counter];
    let replug = ports.into_iter().flatten().filter_map(|port| Port::parse(port).ok()?.replug_hint());
    untimed.into_iter().chain(replug).collect()
}

/// A line that is set to something else than is usual, and a modem line that is.
fn line(line: Line, dtr: Dtr) -> String {
    let line = if line == Line::default() { String::new() } else { format!(" {line}") };
    let dtr = match dtr {
        Dtr::Keep => "",
        Dtr::On => ", DTR on",
        Dtr::Off => ", DTR off",
    };
    line + dtr
}

fn reference(bench: &BenchFile) -> String {
    let reference = &bench.reference;
    let driver = match reference.driver {
        ReferenceDriver::Nmea => "NMEA",
        ReferenceDriver::Ubx => "UBX with TIM-TP",
        ReferenceDriver::Tsip => "TSIP",
        ReferenceDriver::HpScpi => "HP SCPI",
        ReferenceDriver::Jackson => "Jackson Labs",
    };
    let line = line(reference.line, reference.dtr);
    let (port, settle, guard) = (&reference.port, reference.settle_s, reference.guard_s);
    format!("{driver} on {port}{line}, settles {settle} s, guard {guard} s")
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
  generator        scpi on @run/generator.tty, 5 ms wide, starts on the reference's pulse
  reference        UBX with TIM-TP on @run/gps.tty, settles 3 s, guard 2 s
  interval counter ticc on @run/ticc.tty, channel B: the board's echo
  bring-up         vbench --run-dir @run --echo
";
        assert_eq!(description(&bench, &|_| false), expected);
        assert!(!description(&bench, &|_| true).contains("not there yet"));
    }

    #[test]
    fn a_labgrid_place_is_shown_with_its_coordinator() {
        let text = include_str!("../../../fixtures/benches/virtual.toml");
        let text = text.replace("@run/board.tty", "@labgrid/console") + "[labgrid]\nplace = \"a53-1\"\n";
        let bench = |text: &str| crate::bench_file::parse(text, Path::new("/repo/fixtures/benches")).unwrap();
        let shown = description(&bench(&text), &|_| true);
        assert!(shown.contains("  link             @labgrid/console at 921600 baud\n"), "{shown}");
        assert!(
            shown.contains("  labgrid          place a53-1, acquired for each run; coordinator: LG_COORD"),
            "{shown}"
        );
        let shown = description(&bench(&(text + "coordinator = \"lab:1\"\n")), &|_| true);
        assert!(shown.contains("coordinator: lab:1\n"), "{shown}");
    }

    #[test]
    fn a_name_that_does_not_last_and_a_line_that_is_not_usual_are_shown() {
        let text = include_str!("../../../fixtures/benches/virtual.toml");
        let text = text.replace("\"@run/gps.tty\"", "\"/dev/ttyUSB3\"\nline = \"7o1\"\ndtr = \"off\"");
        let bench = crate::bench_file::parse(&text, Path::new("/repo/fixtures/benches")).unwrap();
        let shown = description(&bench, &|_| true);
        assert!(shown.contains("on /dev/ttyUSB3 7o1, DTR off, settles"), "{shown}");
        assert!(shown.contains("  hint             /dev/ttyUSB3 may be another adapter"), "{shown}");
        assert_eq!(shown.matches("  hint").count(), 1);
    }
}
