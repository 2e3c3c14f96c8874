use std::path::{Path, PathBuf};

use super::*;

const FULL: &str = r#"
[board]
chip = "../boards/virt.yaml:A53"
probe = "20B7:9DB1:unix:@run/swd.sock"
image = "../../build/firmware/virt.elf"
link = "@run/board.tty"
link-baud = 921_600
link-line = "8e1"
link-dtr = "off"
counter-hz = 12_500_000
cpu-hz = 1_000_000_000
emulated = true
command-by = "memory"
[generator]
driver = "scpi"
port = "rfc2217://generator.lab:5025"
baud = 9600
line = "7o1"
dtr = "on"
width-ms = 5
edge = "falling"
edge-uncertainty-ps = 1_000_000
high-mv = 1_800
low-mv = -100
offset-ns = 2_000
[reference]
driver = "ubx"
port = "/dev/ttyACM0"
baud = 38_400
line = "8n2"
dtr = "off"
settle-s = 11
guard-s = 22
max-offset-ns = 500
week-rollover = "correct"
disciplined = true
[interval-counter]
driver = "ticc"
port = "@run/ticc.tty"
baud = 57_600
line = "7e1"
dtr = "on"
uncertainty-ps = 121
states-half-width = true
channels = ["A", "B"]
[wiring]
echo = true
cable-generator-to-board-ps = 1
cable-generator-to-board-uncertainty-ps = 2
cable-generator-to-counter-ps = -3
cable-generator-to-counter-uncertainty-ps = 4
cable-board-to-counter-ps = 5
cable-board-to-counter-uncertainty-ps = 6
[limits]
missed = 1
spurious = 2
lost = 3
paired-min-percent = 80
[environment.temperature]
"the board's" = "/sys/class/thermal/thermal_zone0/temp"
[bring-up]
command = ["vbench", "--run-dir", "@run"]
[labgrid]
place = "a53-1"
coordinator = "lab:20408"
client = "/opt/labgrid/bin/labgrid-client"
"#;

const SMALL: &str = r#"
[board]
chip = "STM32MP257"
probe = "0d28:0204"
image = "/images/a53.elf"
link = "/dev/ttyUSB0"
link-baud = 115200
counter-hz = 40000000
cpu-hz = 1500000000
[generator]
driver = "scpi"
port = "/dev/ttyUSB1"
width-ms = 5
[reference]
driver = "nmea"
port = "/dev/ttyUSB2"
"#;

fn parsed(text: &str) -> Result<BenchFile, Vec<Problem>> {
    parse(text, Path::new("/repo/fixtures/benches"))
}

/// The problems as `line: text`, with 0 for no line.
fn problems(text: &str) -> Vec<String> {
    let list = parsed(text).expect_err("has problems");
    list.into_iter().map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.what)).collect()
}

/// The one problem of `SMALL` with one line put in place of another.
fn problem_with(line: &str, instead: &str) -> String {
    assert!(SMALL.contains(line), "{line}");
    let list = problems(&SMALL.replacen(line, instead, 1));
    assert_eq!(list.len(), 1, "{list:?}");
    list[0].clone()
}

#[test]
fn every_key_is_read_and_paths_are_absolute() {
    let bench = parsed(FULL).unwrap();
    assert_eq!(bench.board.chip, "/repo/fixtures/boards/virt.yaml:A53");
    assert_eq!(bench.board.probe, "20b7:9db1:unix:@run/swd.sock");
    assert_eq!(bench.board.image, PathBuf::from("/repo/build/firmware/virt.elf"));
    assert_eq!(bench.board.counter_hz, Hertz(12_500_000));
    assert_eq!(bench.board.command_by, CommandBy::Memory);
    assert_eq!(bench.generator.port, "rfc2217://generator.lab:5025");
    assert_eq!(bench.generator.port_settings().line.to_string(), "7o1");
    assert_eq!((bench.board.link_settings().dtr, bench.reference.dtr), (Dtr::Off, Dtr::Off));
    assert_eq!(bench.generator.edge, EdgeName::Falling);
    assert_eq!((bench.reference.settle_s, bench.reference.guard_s), (11, 22));
    assert_eq!(bench.wiring.cable_generator_to_counter_ps, -3);
    let zone = PathBuf::from("/sys/class/thermal/thermal_zone0/temp");
    assert_eq!(bench.environment.temperature, [("the board's".to_owned(), zone)].into());
    assert_eq!(bench.limits, Limits { missed: 1, spurious: 2, lost: 3, paired_min_percent: 80 });
}

#[test]
fn what_serde_writes_this_reads_so_that_no_key_is_forgotten() {
    for text in [FULL, SMALL] {
        let bench = parsed(text).unwrap();
        let written = toml::to_string(&bench).unwrap();
        assert_eq!(parsed(&written), Ok(bench.clone()), "{written}");
        assert_eq!(toml::from_str::<BenchFile>(&written), Ok(bench), "{written}");
    }
    let serde_keys = toml::to_string(&parsed(FULL).unwrap()).unwrap().lines().count();
    let asked_keys = FULL.lines().filter(|line| !line.is_empty()).count();
    let blank =
        toml::to_string(&parsed(FULL).unwrap()).unwrap().lines().filter(|line| line.is_empty()).count();
    assert_eq!(serde_keys - blank, asked_keys, "FULL sets every key that there is");
}

#[test]
fn temperatures_have_names_of_the_benchs_own_and_files() {
    let with = |line: &str| format!("{SMALL}[environment]\n{line}\n");
    let good = parsed(&with("temperature = { board = \"t/b\", rack = \"/r\" }")).unwrap();
    let files: Vec<_> = good.environment.temperature.values().map(|path| path.to_string_lossy()).collect();
    assert_eq!(files, ["/repo/fixtures/benches/t/b", "/r"]);
    let refused = |line: &str| problems(&with(line)).join("; ");
    assert!(refused("temperature = { board = 5 }").contains("`board`: must be a text"));
    assert!(refused("temperature = \"/t\"").contains("must be a table"));
    assert!(refused("humidity = 5").contains("unknown key `humidity`"));
}

#[test]
fn what_is_left_out_has_its_documented_default() {
    let bench = parsed(SMALL).unwrap();
    assert_eq!((bench.reference.settle_s, bench.reference.guard_s, bench.reference.baud), (10, 20, 115_200));
    assert_eq!((bench.generator.edge, bench.generator.edge_uncertainty_ps), (EdgeName::Rising, None));
    assert_eq!((bench.limits.clone(), bench.wiring.clone()), (Limits::default(), Wiring::default()));
    assert_eq!((bench.interval_counter, bench.bring_up), (None, None));
    let counter = format!("{SMALL}[interval-counter]\ndriver = \"ticc\"\nport = \"/dev/ttyACM1\"\n");
    assert_eq!(parsed(&counter).unwrap().interval_counter.unwrap().uncertainty_ps, 120);
}

#[test]
fn every_problem_is_reported_at_once_with_its_line() {
    let text = r#"[board]
chip = "a53"
probe = "nonsense"
conter-hz = 12_500_000
link = "ttyUSB0"
link-baud = "fast"
cpu-hz = 0
image = ""
[genrator]
[reference]
driver = "ubx2"
port = "@run/gps.tty"
settle-s = -1
[wiring]
echo = true
[limits]
paired-min-percent = 101
"#;
    let expected = [
        "1: [board] missing key `counter-hz`: the counter's declared rate in hertz",
        "3: [board] `probe`: `nonsense` is no probe selector: it has the form VID:PID[-INTERFACE][:SERIAL], as `ppsrig list` prints it",
        "4: [board] unknown key `conter-hz`; did you mean `counter-hz`?",
        "5: [board] `link`: `ttyUSB0` is no path of a device; did you mean `/dev/ttyUSB0`?",
        "6: [board] `link-baud`: must be a whole number, not a text",
        "7: [board] `cpu-hz`: 0 is not between 1000 and 10000000000",
        "8: [board] `image`: a path is empty",
        "9: unknown table `genrator`; did you mean `generator`?",
        "11: [reference] `driver`: unknown `ubx2`; did you mean `ubx`? known: nmea, ubx, tsip, hp-scpi, jackson",
        "12: `@run` is a new folder for each run, and there is no [bring-up] that would put anything into it",
        "13: [reference] `settle-s`: -1 is not between 0 and 86400",
        "15: [wiring] `echo` is wired to an interval counter, and there is no [interval-counter]",
        "17: [limits] `paired-min-percent`: 101 is not between 0 and 100",
        "0: missing table [generator]",
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn a_line_that_is_no_toml_is_reported_without_guesses_about_what_it_hides() {
    let text =
        SMALL.replace("link-baud = 115200", "link-baud = 115 200").replace("width-ms = 5", "width_ms = 5");
    let list = problems(&text);
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(list[0].starts_with("7: "), "{list:?}");
    assert_eq!(list[1], "13: [generator] unknown key `width_ms`; did you mean `width-ms`?");
    assert!(problems(&SMALL.replace("[reference]", "[board]"))[0].contains("duplicate"));
}

#[test]
fn a_single_mistake_gives_a_single_problem() {
    for (line, instead, expected) in [
        ("/dev/ttyUSB2", "/dev/ttyUSB1", "[reference] port `/dev/ttyUSB1` is that of [generator] already"),
        ("/dev/ttyUSB2", "@runner/x", "the only placeholder is `@run`"),
        ("/dev/ttyUSB2", "tcp://host", "not of the form tcp://host:port"),
        ("width-ms = 5", "width-ms = 0", "0 is not between 1 and 999"),
        ("width-ms = 5", "width-ms = 1000", "1000 is not between 1 and 999"),
        ("width-ms = 5", "width-ms = 5.0", "a whole number, not a number with a fraction"),
        ("width-ms = 5", "width-ms = 5\nwidth = 3", "unknown key `width`"),
        ("width-ms = 5", "width-ms = 99999999999999999999", "is not between"),
        ("link-baud = 115200", "link-baud = 0", "0 is not between 50 and 12000000"),
        ("counter-hz = 40000000", "counter-hz = 0", "0 is not between"),
        ("counter-hz = 40000000", "counter-hz = -40", "-40 is not between"),
        ("chip = \"STM32MP257\"", "chip = \"\"", "neither a probe-rs chip name nor FILE:NAME"),
        ("chip = \"STM32MP257\"", "", "[board] missing key `chip`"),
        ("[board]", "colour = 3\n[board]", "unknown key `colour`; known here: board, generator"),
        ("0d28:0204", "0d28:0204:unix:/ABC", "the system allows 107"),
    ] {
        let instead = instead.replace("ABC", &"a".repeat(107));
        let problem = problem_with(line, &instead);
        assert!(problem.contains(expected), "{instead}: {problem}");
    }
    let list = problems(&format!("{SMALL}[bring-up]\ncommand = []\n"));
    assert!(list[0].contains("the program's name is missing"), "{list:?}");
    let list = problems(&format!("board = 3\n{}", SMALL.replace("[board]", "[limits.x]")));
    assert!(list.iter().any(|problem| problem == "1: `board` must be a table, [board]"), "{list:?}");
}

#[test]
fn line_settings_where_the_port_has_no_line_are_a_problem() {
    let usbtmc = SMALL.replace("/dev/ttyUSB1\"", "/dev/usbtmc0\"\ndtr = \"on\"");
    let tcp = usbtmc.replace("/dev/ttyUSB2\"", "tcp://a:1\"\nline = \"7o1\"");
    let list = problems(&tcp);
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(list[0].contains("[generator] `dtr`: /dev/usbtmc0 has no modem lines"), "{list:?}");
    assert!(list[1].contains("[reference] `line`: tcp://a:1 has no line settings"), "{list:?}");
    let defaults = tcp.replace("\"7o1\"", "\"8n1\"").replace("\"on\"", "\"keep\"");
    assert!(parsed(&defaults).is_ok());
    let list = problems(&SMALL.replace("/dev/ttyUSB2\"", "/dev/ttyUSB2\"\nline = \"9n1\"\ndtr = \"up\""));
    assert!(list[0].contains("`line`: `9n1` is no line setting"), "{list:?}");
    assert!(list[1].contains("unknown `up`; known: keep, on, off"), "{list:?}");
}

#[test]
fn ports_of_a_labgrid_place_need_the_place() {
    let ports =
        SMALL.replace("/dev/ttyUSB0", "@labgrid/RawSerialPort").replace("/dev/ttyUSB2", "@labgrid/a;b $(c)");
    let list = problems(&ports);
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(list[0].contains("there is no [labgrid] that names one"), "{list:?}");
    let bench = parsed(&format!("{ports}[labgrid]\nplace = \"-x; touch y\"\n")).unwrap();
    assert_eq!(labgrid_resource(&bench.board.link), Some("RawSerialPort"));
    assert_eq!(labgrid_resource(&bench.reference.port), Some("a;b $(c)"));
    let labgrid = bench.labgrid.expect("it is there");
    assert_eq!((labgrid.place.as_str(), labgrid.client.as_str()), ("-x; touch y", "labgrid-client"));
    for (place, expected) in [("\"\"", "is empty"), ("\"a\\nb\"", "control byte"), ("3", "must be a text")] {
        let list = problems(&format!("{SMALL}[labgrid]\nplace = {place}\n"));
        assert!(list.len() == 1 && list[0].contains(expected), "{list:?}");
    }
}

#[test]
fn a_bring_up_program_with_a_slash_is_relative_to_the_file() {
    let text = format!("{SMALL}[bring-up]\ncommand = [\"../power.sh\", \"on\"]\n");
    assert_eq!(parsed(&text).unwrap().bring_up.unwrap().command, ["/repo/fixtures/power.sh", "on"]);
}

#[test]
fn a_chip_description_that_is_not_there_is_one_of_the_problems() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.toml");
    std::fs::write(&file, FULL.replace("../boards/", "").replace("width-ms = 5", "width-ms = 0")).unwrap();
    let BenchFileError::Invalid(problems) = read(&file).unwrap_err() else { panic!("is read") };
    let lines: Vec<_> = problems.list.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(3), Some(20)], "{problems}");
    assert!(problems.to_string().starts_with(&format!("{}:3: [board] `chip`: there is no", file.display())));
    std::fs::write(folder.path().join("virt.yaml"), "").unwrap();
    std::fs::write(&file, FULL.replace("../boards/", "")).unwrap();
    assert!(read(&file).unwrap().board.chip.ends_with("/virt.yaml:A53"));
}

#[test]
fn what_is_no_bench_file_is_refused_by_its_nature() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read(folder.path()), Err(BenchFileError::Folder(_))));
    assert!(matches!(read(&folder.path().join("none.toml")), Err(BenchFileError::Missing(_))));
    assert!(matches!(read(Path::new("/dev/null")), Err(BenchFileError::NotAFile(_))));
    let file = folder.path().join("bench.toml");
    std::fs::write(&file, b"# caf\xe9\n").unwrap();
    assert!(matches!(read(&file), Err(BenchFileError::NotText { byte: 5, .. })));
    std::fs::write(&file, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(matches!(read(&file), Err(BenchFileError::TooLong(_))));
    std::fs::write(&file, "").unwrap();
    let BenchFileError::Invalid(problems) = read(&file).unwrap_err() else { panic!("is read") };
    assert_eq!(problems.list.len(), 3, "{problems}");
}

#[test]
fn run_is_put_in_place_everywhere() {
    let bench = parsed(FULL).unwrap();
    let expanded = bench.expand(Path::new("/tmp/r1")).unwrap();
    assert_eq!(expanded.board.probe, "20b7:9db1:unix:/tmp/r1/swd.sock");
    assert_eq!(expanded.board.link, "/tmp/r1/board.tty");
    assert_eq!(expanded.interval_counter.as_ref().unwrap().port, "/tmp/r1/ticc.tty");
    assert_eq!(expanded.bring_up.as_ref().unwrap().command, ["vbench", "--run-dir", "/tmp/r1"]);
    assert!(!toml::to_string(&expanded).unwrap().contains("@run"));
    let small = parsed(SMALL).unwrap();
    assert_eq!(small.expand(Path::new("/tmp/r1")).unwrap(), small);
}

#[test]
fn a_run_folder_in_which_no_socket_fits_is_refused() {
    let bench = parsed(FULL).unwrap();
    let tail = "/swd.sock".len();
    let fits = format!("/{}", "r".repeat(107 - 1 - tail));
    assert!(bench.expand(Path::new(&fits)).is_ok());
    let error = bench.expand(Path::new(&format!("{fits}r"))).unwrap_err();
    assert!(error.to_string().contains("108 bytes"), "{error}");
}

#[test]
fn only_run_as_a_component_is_a_placeholder() {
    let text = format!(
        "{SMALL}[bring-up]\ncommand = [\"up\", \"--a=@run/x\", \"@runner\", \"@run:@run\", \"user@run\"]\n"
    );
    let command = parsed(&text).unwrap().expand(Path::new("/r")).unwrap().bring_up.unwrap().command;
    assert_eq!(command, ["up", "--a=/r/x", "@runner", "/r:/r", "user@run"]);
}

#[test]
fn the_shipped_benches_are_good() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/benches");
    let mut benches = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let bench =
                parse(&text, &folder).unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display()));
            // Real benches are up.
            if let Some(bring_up) = &bench.bring_up {
                assert_eq!(bench.wiring.echo, bring_up.command.iter().any(|word| word == "--echo"));
                benches += 1;
            }
        }
    }
    assert!(benches >= 2);
}

#[test]
fn what_a_source_of_edges_does_not_have_is_refused_with_its_line() {
    let section = |more: &str| {
        let (before, rest) = SMALL.split_once("[generator]").unwrap();
        let (_, behind) = rest.split_once("[reference]").unwrap();
        parsed(&format!("{before}[generator]\nwidth-ms = 5\n{more}\n[reference]{behind}"))
    };
    let serial = "driver = \"serial-line\"\nport = \"/dev/ttyUSB1\"";
    let pulse = "driver = \"gpsdo-pulse\"";
    let rigol = "driver = \"rigol-dg\"\nport = \"usbtmc:/dev/usbtmc0\"";
    for (text, problem) in [
        (format!("{serial}\n"), "missing key `signal`"),
        (format!("{serial}\nsignal = \"cts\""), "unknown `cts`"),
        (format!("{serial}\nsignal = \"rts\"\nhigh-mv = 5000"), "levels that nobody sets"),
        (format!("{serial}\nsignal = \"rts\"\noffset-ns = 5"), "starts on no pulse"),
        (format!("{pulse}\nport = \"/dev/ttyUSB1\""), "has no port"),
        (format!("{rigol}\nsignal = \"rts\""), "rigol-dg is no line of a serial adapter"),
        (format!("{rigol}\nlow-mv = 3250"), "`high-mv` = 3300 and `low-mv` = 3250 are 50 mV apart"),
        (format!("{rigol}\nhigh-mv = -5000"), "`high-mv` = -5000 and `low-mv` = 0 are -5000 mV apart"),
        (format!("{rigol}\nhigh-mv = 20000\nlow-mv = -20000"), "are 40000 mV apart; give 100 to 20000"),
        (format!("{rigol}\noffset-ns = 20_000_000"), "not between 0 and 10000000"),
    ] {
        let problems = section(&text).unwrap_err();
        assert!(problems.iter().any(|one| one.what.contains(problem)), "{text}: {problems:?}");
    }
    for text in [
        format!("{serial}\nsignal = \"txd-break\"\nasserted = \"high\""),
        pulse.to_owned(),
        format!("{rigol}\nhigh-mv = 1800\nlow-mv = 0"),
    ] {
        let bench = section(&text).unwrap();
        let written = toml::to_string(&bench).unwrap();
        assert_eq!(toml::from_str::<BenchFile>(&written), Ok(bench), "{written}");
    }
}

#[test]
fn every_bench_file_of_the_source_tree_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/benches");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the source tree has it") {
        let file = entry.expect("it is readable").path();
        if file.extension().is_some_and(|ending| ending == "toml") {
            read(&file).unwrap_or_else(|error| panic!("{error}"));
            names.push(file.file_stem().expect("it has a name").to_string_lossy().into_owned());
        }
    }
    names.sort();
    for expected in ["gpsdo-ticc", "scpi-ublox", "serial-adapter", "virtual", "virtual-pps"] {
        assert!(names.iter().any(|name| name == expected), "{names:?}");
    }
}

#[test]
fn one_mistake_is_one_problem_and_makes_no_other_key_unknown() {
    let counter = |lines: &str| format!("{SMALL}[interval-counter]\nport = \"/dev/ttyACM1\"\n{lines}");
    for (text, wanted) in [
        (counter("driver = \"53230a\"\nuncertainty-ps = 50\nchannels = [\"A\", \"B\"]"), "53230a"),
        (counter("driver = \"sr620\"\nstates-half-width = false"), "uncertainty-ps"),
        (SMALL.replacen("driver = \"scpi\"", "driver = \"serial-line\"\nasserted = \"low\"", 1), "signal"),
    ] {
        let problems = parsed(&text).expect_err("it has one");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].what.contains(wanted), "{problems:?}");
    }
}
