//! The keys of a bench file, what each may hold, and what must fit together.
//!
//! The keys stand here a second time beside the types in the parent module; a test writes a bench with serde and reads
//! it with this, so that they cannot part.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::place::{self, Chip};
use super::section::{Found, Section, Source, flag, integer, name, text, texts};
use super::{
    BenchFile, Board, BringUp, CommandBy, Dtr, EdgeName, EdgeTiming, Environment, Generator, GeneratorDriver,
    IntervalCounter, IntervalCounterDriver, Labgrid, Level, Limits, Line, Port, Problem, Reference,
    ReferenceDriver, SerialSignal, WeekRollover, Wiring,
};
use crate::units::Hertz;

const BAUD: RangeInclusive<i64> = 50..=12_000_000;
const HERTZ: RangeInclusive<i64> = 1_000..=10_000_000_000;
/// The preamble's edges are a second apart and have this width too.
const WIDTH_MS: RangeInclusive<i64> = 1..=999;
/// Output levels: what the instruments can do into a high impedance.
const MILLIVOLTS: RangeInclusive<i64> = -20_000..=20_000;
const LEAST_SWING_MV: i32 = 100;
/// No generator that is known here goes from -10 V to more than 10 V.
const MOST_SWING_MV: i32 = 20_000;
/// Edges are labelled by the arrival of their records, which a larger offset would move to another second.
const TRAIN_OFFSET_NS: RangeInclusive<i64> = 0..=10_000_000;
/// Up to a day: nobody waits longer for a receiver to settle.
const SECONDS: RangeInclusive<i64> = 0..=86_400;
/// Up to a second: further off a pulse begins another one.
const MAX_OFFSET_NS: RangeInclusive<i64> = 1..=1_000_000_000;
const EDGES: RangeInclusive<i64> = 0..=u32::MAX as i64;
/// Up to a second.
const UNCERTAINTY_PS: RangeInclusive<i64> = 0..=1_000_000_000_000;
/// Up to 100 km of cable. Negative where a calibration has taken another delay off.
const CABLE_PS: RangeInclusive<i64> = -500_000_000..=500_000_000;

/// Where the bench file lies, and what it can see from there.
struct Place<'p> {
    folder: &'p Path,
    exists: &'p dyn Fn(&Path) -> bool,
}

/// What the tables said that must fit together.
#[derive(Default)]
struct Ties {
    /// Each port with the table that names it.
    ports: Vec<(&'static str, Found<String>)>,
    /// A value with `@run` in it.
    in_run: Vec<usize>,
    /// A port that is a resource of the labgrid place.
    in_place: Vec<usize>,
    echo: Option<Found<bool>>,
    /// The interval counter is a receiver, which may be the reference.
    marks_by_reference: bool,
}

/// Reads a bench from its text. `exists` tells whether a file that it names is there.
pub(super) fn parse(
    text: &str,
    folder: &Path,
    exists: &dyn Fn(&Path) -> bool,
) -> Result<BenchFile, Vec<Problem>> {
    let place = Place { folder, exists };
    let mut ties = Ties::default();
    let (mut source, table) = Source::new(text);
    let mut root = Section::root(&mut source, table);
    let board = root.required_table("board", |section| board(section, &place, &mut ties));
    let generator = root.required_table("generator", |section| generator(section, &place, &mut ties));
    let reference = root.required_table("reference", |section| reference(section, &place, &mut ties));
    let counter = root.table("interval-counter", |section| interval_counter(section, &place, &mut ties));
    let wiring = root.table("wiring", |section| wiring(section, &mut ties));
    let limits = root.table("limits", limits);
    let environment = root.table("environment", |section| environment(section, &place));
    let bring_up = root.table("bring-up", |section| bring_up(section, &place));
    let labgrid = root.table("labgrid", |section| labgrid(section, &place));
    root.report_unknown();
    check_ties(&mut source, &ties, counter.is_some(), bring_up.is_some(), labgrid.is_some());
    let problems = source.into_problems();
    let bench = || {
        Some(BenchFile {
            board: board??,
            generator: generator??,
            reference: reference??,
            interval_counter: counter.flatten(),
            wiring: wiring.unwrap_or_default(),
            limits: limits.unwrap_or_default(),
            environment: environment.unwrap_or_default(),
            bring_up: bring_up.flatten(),
            labgrid: labgrid.flatten(),
        })
    };
    if problems.is_empty() { bench().ok_or(problems) } else { Err(problems) }
}

fn board(section: &mut Section<'_, '_>, place: &Place<'_>, ties: &mut Ties) -> Option<Board> {
    let chip = section.required("chip", "a probe-rs chip name, or FILE:NAME", |value| chip(value, place));
    let probe =
        section.required("probe", "VID:PID[-INTERFACE][:SERIAL], as `ppsrig list` prints it", |value| {
            place::located_selector(&text(value)?, place.folder)
        });
    let image = section.required("image", "the ELF file to load", |value| path(value, place));
    let link = port(section, "link", "board", place, ties);
    let (link_line, link_dtr) = line_and_dtr(section, ("link-line", "link-dtr"), link.as_deref());
    let link_baud = section.required("link-baud", "the link's baud rate", integer(BAUD));
    let counter_hz = section.required("counter-hz", "the counter's declared rate in hertz", integer(HERTZ));
    let cpu_hz = section.required("cpu-hz", "the core's declared clock in hertz", integer(HERTZ));
    let emulated = section.optional("emulated", flag);
    let command_by =
        section.optional("command-by", name(&[("link", CommandBy::Link), ("memory", CommandBy::Memory)]));
    ties.in_run.extend(
        [&chip, &probe, &image]
            .into_iter()
            .flatten()
            .filter(|found| in_run(&found.value))
            .map(|found| found.line),
    );
    Some(Board {
        chip: chip?.value,
        probe: probe?.value,
        image: image?.value.into(),
        link: link?,
        link_baud: link_baud?.value,
        link_line,
        link_dtr,
        counter_hz: Hertz(counter_hz?.value),
        cpu_hz: Hertz(cpu_hz?.value),
        emulated: or_default(emulated),
        command_by: or_default(command_by),
    })
}

fn generator(section: &mut Section<'_, '_>, place: &Place<'_>, ties: &mut Ties) -> Option<Generator> {
    let drivers: Vec<_> = GeneratorDriver::ALL.iter().map(|driver| (driver.name(), *driver)).collect();
    let known: Vec<_> = drivers.iter().map(|(name, _)| *name).collect();
    let driver = section.required("driver", &known.join(", "), name(&drivers));
    // What a wrong driver could do is not known: then nothing is refused because of it.
    let kind = driver.as_ref().map(|driver| driver.value);
    let only = |fits: fn(GeneratorDriver) -> bool, why: &'static str| match kind {
        Some(kind) if !fits(kind) => Err(format!("{} {why}", kind.name())),
        _ => Ok(()),
    };
    let port = if kind.is_none_or(GeneratorDriver::has_port) {
        port(section, "port", "generator", place, ties)
    } else {
        section
            .optional::<()>("port", |_| Err("gpsdo-pulse has no port: nobody tells it anything".to_owned()));
        Some(String::new())
    };
    let (line, dtr) = line_and_dtr(section, ("line", "dtr"), port.as_deref().filter(|port| !port.is_empty()));
    let baud = section.optional("baud", integer(BAUD));
    let width_ms =
        section.required("width-ms", "how long an edge is active, in milliseconds", integer(WIDTH_MS));
    let edge =
        section.optional("edge", name(&[("rising", EdgeName::Rising), ("falling", EdgeName::Falling)]));
    let edge_uncertainty_ps = section.optional("edge-uncertainty-ps", integer(UNCERTAINTY_PS));
    let levels = "has levels that nobody sets";
    let high_mv = section.optional("high-mv", |value| {
        only(GeneratorDriver::has_levels, levels)?;
        integer::<i32>(MILLIVOLTS)(value)
    });
    let low_mv = section.optional("low-mv", |value| {
        only(GeneratorDriver::has_levels, levels)?;
        integer::<i32>(MILLIVOLTS)(value)
    });
    let offset_ns = section.optional("offset-ns", |value| {
        only(
            |kind| kind.timing() == EdgeTiming::OnPulse,
            "starts on no pulse that an offset could count from",
        )?;
        integer(TRAIN_OFFSET_NS)(value)
    });
    let is_serial = |kind| kind == GeneratorDriver::SerialLine;
    let signals: Vec<_> = SerialSignal::ALL.iter().map(|signal| (signal.name(), *signal)).collect();
    let needs_signal = kind.is_some_and(is_serial);
    let signal = if needs_signal {
        section.required("signal", "rts, dtr, txd-break or txd-byte", name(&signals))
    } else {
        section
            .optional("signal", |_| only(is_serial, "is no line of a serial adapter").and(Err(String::new())))
    };
    let asserted = section.optional("asserted", |value| {
        only(is_serial, "is no line of a serial adapter")?;
        name(&[("low", Level::Low), ("high", Level::High)])(value)
    });
    if needs_signal && signal.is_none() {
        return None;
    }
    check_swing(section, high_mv.as_ref(), low_mv.as_ref());
    Some(Generator {
        driver: driver?.value,
        port: port?,
        baud: baud.map_or(super::default_baud(), |found| found.value),
        line,
        dtr,
        width_ms: width_ms?.value,
        edge: or_default(edge),
        edge_uncertainty_ps: edge_uncertainty_ps.map(|found| found.value),
        high_mv: high_mv.map_or(super::default_high(), |found| found.value),
        low_mv: or_default(low_mv),
        offset_ns: or_default(offset_ns),
        signal: signal.map(|found| found.value),
        asserted: asserted.map(|found| found.value),
    })
}

/// Both levels, each as given or by default.
fn check_swing(section: &mut Section<'_, '_>, high: Option<&Found<i32>>, low: Option<&Found<i32>>) {
    let Some(line) = low.or(high).map(|found| found.line) else { return };
    let high = high.map_or(super::default_high(), |high| high.value);
    let low = low.map_or(0, |low| low.value);
    let swing = high - low;
    if !(LEAST_SWING_MV..=MOST_SWING_MV).contains(&swing) {
        let what = format!(
            "`high-mv` = {high} and `low-mv` = {low} are {swing} mV apart; give {LEAST_SWING_MV} to {MOST_SWING_MV}"
        );
        section.report(line, &what);
    }
}

fn reference(section: &mut Section<'_, '_>, place: &Place<'_>, ties: &mut Ties) -> Option<Reference> {
    let drivers = name(&[
        ("nmea", ReferenceDriver::Nmea),
        ("ubx", ReferenceDriver::Ubx),
        ("tsip", ReferenceDriver::Tsip),
        ("hp-scpi", ReferenceDriver::HpScpi),
        ("jackson", ReferenceDriver::Jackson),
    ]);
    let driver = section.required("driver", "nmea, ubx, tsip, hp-scpi or jackson", drivers);
    let port = port(section, "port", "reference", place, ties);
    let (line, dtr) = line_and_dtr(section, ("line", "dtr"), port.as_deref());
    let baud = section.optional("baud", integer(BAUD));
    let settle_s = section.optional("settle-s", integer(SECONDS));
    let guard_s = section.optional("guard-s", integer(SECONDS));
    let max_offset_ns = section.optional("max-offset-ns", integer(MAX_OFFSET_NS));
    let rollovers = name(&[("refuse", WeekRollover::Refuse), ("correct", WeekRollover::Correct)]);
    let week_rollover = section.optional("week-rollover", rollovers);
    let disciplined = section.optional("disciplined", flag);
    Some(Reference {
        driver: driver?.value,
        port: port?,
        baud: baud.map_or(super::default_baud(), |found| found.value),
        line,
        dtr,
        settle_s: settle_s.map_or(super::default_settle(), |found| found.value),
        guard_s: guard_s.map_or(super::default_guard(), |found| found.value),
        max_offset_ns: max_offset_ns.map_or(super::default_max_offset(), |found| found.value),
        week_rollover: or_default(week_rollover),
        disciplined: or_default(disciplined),
    })
}

fn interval_counter(
    section: &mut Section<'_, '_>,
    place: &Place<'_>,
    ties: &mut Ties,
) -> Option<IntervalCounter> {
    let drivers: Vec<_> = IntervalCounterDriver::ALL.iter().map(|driver| (driver.name(), *driver)).collect();
    let known: Vec<_> = drivers.iter().map(|(name, _)| *name).collect();
    let driver = section.required("driver", &known.join(", "), name(&drivers));
    let port = port(section, "port", "interval-counter", place, ties);
    let (line, dtr) = line_and_dtr(section, ("line", "dtr"), port.as_deref());
    let baud = section.optional("baud", integer(BAUD));
    let kind = driver.as_ref().map(|driver| driver.value);
    ties.marks_by_reference = kind == Some(IntervalCounterDriver::TimTm2);
    // What one reading of another instrument is worth depends on its inputs' noise: nobody but its owner can say.
    let uncertainty_ps = match kind {
        None | Some(IntervalCounterDriver::Ticc) => section
            .optional("uncertainty-ps", integer(UNCERTAINTY_PS))
            .map_or(Some(super::default_ticc_uncertainty()), |found| Some(found.value)),
        Some(_) => section
            .required(
                "uncertainty-ps",
                "the expanded uncertainty (k = 2) of one reading in picoseconds",
                integer(UNCERTAINTY_PS),
            )
            .map(|found| found.value),
    };
    let states_half_width = section.optional("states-half-width", flag);
    let channels = section.optional("channels", letters);
    Some(IntervalCounter {
        driver: driver?.value,
        port: port?,
        baud: baud.map_or(super::default_baud(), |found| found.value),
        line,
        dtr,
        uncertainty_ps: uncertainty_ps?,
        channels: channels.map_or(super::default_channels(), |found| found.value),
        states_half_width: or_default(states_half_width),
    })
}

fn wiring(section: &mut Section<'_, '_>, ties: &mut Ties) -> Wiring {
    ties.echo = section.optional("echo", flag);
    let cable = |section: &mut Section<'_, '_>, key| {
        section.optional(key, integer(CABLE_PS)).map_or(0, |found| found.value)
    };
    let uncertainty = |section: &mut Section<'_, '_>, key| {
        section.optional(key, integer(UNCERTAINTY_PS)).map_or(0, |found| found.value)
    };
    Wiring {
        echo: ties.echo.as_ref().is_some_and(|echo| echo.value),
        cable_generator_to_board_ps: cable(section, "cable-generator-to-board-ps"),
        cable_generator_to_board_uncertainty_ps: uncertainty(
            section,
            "cable-generator-to-board-uncertainty-ps",
        ),
        cable_generator_to_counter_ps: cable(section, "cable-generator-to-counter-ps"),
        cable_generator_to_counter_uncertainty_ps: uncertainty(
            section,
            "cable-generator-to-counter-uncertainty-ps",
        ),
        cable_board_to_counter_ps: cable(section, "cable-board-to-counter-ps"),
        cable_board_to_counter_uncertainty_ps: uncertainty(section, "cable-board-to-counter-uncertainty-ps"),
    }
}

fn limits(section: &mut Section<'_, '_>) -> Limits {
    let default = Limits::default();
    let mut edges = |key, default| section.optional(key, integer(EDGES)).map_or(default, |found| found.value);
    Limits {
        missed: edges("missed", default.missed),
        spurious: edges("spurious", default.spurious),
        lost: edges("lost", default.lost),
        paired_min_percent: section
            .optional("paired-min-percent", integer(0..=100))
            .map_or(default.paired_min_percent, |found| found.value),
    }
}

/// The names are the bench's own.
fn environment(section: &mut Section<'_, '_>, place: &Place<'_>) -> Environment {
    let files = |section: &mut Section<'_, '_>| section.named(|value| Ok(path(value, place)?.into()));
    Environment { temperature: section.table("temperature", files).unwrap_or_default() }
}

fn bring_up(section: &mut Section<'_, '_>, place: &Place<'_>) -> Option<BringUp> {
    let command = section.required("command", "program and arguments, a list of texts", |value| {
        let mut command = texts(value)?;
        let program = command.first_mut().filter(|program| !program.is_empty());
        let program =
            program.ok_or("the program's name is missing: program and arguments, a list of texts")?;
        // A bare name is looked for beside ppsrig and on PATH.
        if program.contains('/') {
            *program = place::located(program, place.folder)?;
        }
        Ok(command)
    });
    Some(BringUp { command: command?.value })
}

fn labgrid(section: &mut Section<'_, '_>, place: &Place<'_>) -> Option<Labgrid> {
    let name = section.required("place", "the place's whole name, as in `labgrid-client places`", one_line);
    let coordinator = section.optional("coordinator", one_line);
    let client = section.optional("client", |value| {
        let client = one_line(value)?;
        // A bare name is looked for on PATH.
        if client.contains('/') { place::located(&client, place.folder) } else { Ok(client) }
    });
    Some(Labgrid {
        place: name?.value,
        coordinator: coordinator.map(|found| found.value),
        client: client.map_or_else(super::default_client, |found| found.value),
    })
}

/// A text that can be an argument and be shown: not empty, without control bytes.
fn one_line(value: &DeValue<'_>) -> Result<String, String> {
    let text = text(value)?;
    match text.chars().find(|letter| letter.is_control()) {
        Some(letter) => Err(format!("has the control byte {letter:?}")),
        None if text.is_empty() => Err("is empty".to_owned()),
        None => Ok(text),
    }
}

/// A list of two one-letter texts.
fn letters(value: &DeValue<'_>) -> Result<[char; 2], String> {
    let texts = texts(value)?;
    let letter = |text: &String| {
        let mut letters = text.chars();
        letters.next().filter(|letter| letter.is_ascii_graphic() && letters.next().is_none())
    };
    match &texts.iter().map(letter).collect::<Vec<_>>()[..] {
        &[Some(edge), Some(other)] if edge != other => Ok([edge, other]),
        _ => Err("two different letters, as [\"A\", \"B\"]: the edge's channel and the other one".to_owned()),
    }
}

fn chip(value: &DeValue<'_>, place: &Place<'_>) -> Result<String, String> {
    let text = text(value)?;
    let Chip::Description { file, name } = Chip::parse(&text)? else {
        return Ok(text);
    };
    let file = place::located(&file.to_string_lossy(), place.folder)?;
    if !in_run(&file) && !(place.exists)(Path::new(&file)) {
        return Err(format!("there is no chip description {file}"));
    }
    Ok(format!("{file}:{name}"))
}

fn path(value: &DeValue<'_>, place: &Place<'_>) -> Result<String, String> {
    place::located(&text(value)?, place.folder)
}

/// A key that holds a port.
fn port(
    section: &mut Section<'_, '_>,
    key: &'static str,
    table: &'static str,
    place: &Place<'_>,
    ties: &mut Ties,
) -> Option<String> {
    let forms = "a tty, tcp://host:port, rfc2217://host:port, usbtmc:/dev/usbtmc0 or @labgrid/NAME";
    let found = section.required(key, forms, |value| {
        let located = |path: PathBuf| place::located(&path.to_string_lossy(), place.folder);
        let resource = super::labgrid_resource(value.as_str().unwrap_or_default());
        if resource.is_some_and(|name| !name.is_empty()) {
            return one_line(value);
        }
        Ok(match Port::parse(&text(value)?)? {
            Port::Tty(path) => located(path)?,
            Port::Usbtmc(path) => Port::Usbtmc(located(path)?.into()).to_string(),
            server @ (Port::Tcp { .. } | Port::Rfc2217 { .. }) => server.to_string(),
        })
    })?;
    if in_run(&found.value) {
        ties.in_run.push(found.line);
    }
    if super::labgrid_resource(&found.value).is_some() {
        ties.in_place.push(found.line);
    }
    ties.ports.push((table, found.clone()));
    Some(found.value)
}

/// The keys for the line of a port, which not every kind of port has.
fn line_and_dtr(
    section: &mut Section<'_, '_>,
    (line_key, dtr_key): (&'static str, &'static str),
    port: Option<&str>,
) -> (Line, Dtr) {
    let without = port.and_then(|port| Port::parse(port).ok()).filter(|port| !port.has_line());
    let fits = |changed: bool, what: &str| match &without {
        Some(port) if changed => Err(format!(
            "{port} has no {what} that ppsrig could set; a serial port behind TCP has it as rfc2217://"
        )),
        _ => Ok(()),
    };
    let line = section.optional(line_key, |value| {
        let line: Line = text(value)?.parse()?;
        fits(line != Line::default(), "line settings").map(|()| line)
    });
    let dtr = section.optional(dtr_key, |value| {
        let dtr = name(&[("keep", Dtr::Keep), ("on", Dtr::On), ("off", Dtr::Off)])(value)?;
        fits(dtr != Dtr::Keep, "modem lines").map(|()| dtr)
    });
    (or_default(line), or_default(dtr))
}

fn check_ties(
    source: &mut Source<'_>,
    ties: &Ties,
    has_counter: bool,
    has_bring_up: bool,
    has_labgrid: bool,
) {
    if !has_labgrid {
        for line in &ties.in_place {
            let what =
                "`@labgrid/` is a resource of a labgrid place, and there is no [labgrid] that names one";
            source.report(*line, what.to_owned());
        }
    }
    for (index, (table, found)) in ties.ports.iter().enumerate() {
        let taken = ties.ports[..index].iter().find(|(_, other)| other.value == found.value);
        // A receiver's time marks come on the port of its other messages.
        let shared =
            |other: &str| ties.marks_by_reference && (other, *table) == ("reference", "interval-counter");
        if let Some((other, _)) = taken.filter(|(other, _)| !shared(other)) {
            source
                .report(found.line, format!("[{table}] port `{}` is that of [{other}] already", found.value));
        }
    }
    if let Some(echo) = ties.echo.as_ref().filter(|echo| echo.value && !has_counter) {
        let what = "[wiring] `echo` is wired to an interval counter, and there is no [interval-counter]";
        source.report(echo.line, what.to_owned());
    }
    if !has_bring_up {
        for line in &ties.in_run {
            let what = "`@run` is a new folder for each run, and there is no [bring-up] that would put anything into it";
            source.report(*line, what.to_owned());
        }
    }
}

fn in_run(text: &str) -> bool {
    text.starts_with("@run") || text.contains(":@run")
}

fn or_default<T: Default>(found: Option<Found<T>>) -> T {
    found.map(|found| found.value).unwrap_or_default()
}
