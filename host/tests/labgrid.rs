//! A bench that is a labgrid place, with labgrid's own coordinator, exporter and client, and the ser2net that an exporter
//! starts. They are where `./setup.sh --tests` puts them, or in the folder that PPSRIG_TEST_TOOLS names.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use common::{PATIENCE, Place, bench_with, bench_without_bring_up, refusal, text, virtual_bench};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A program of labgrid.
fn tool(name: &str) -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/tools/venv");
    let folder = std::env::var_os("PPSRIG_TEST_TOOLS").map_or_else(built, PathBuf::from);
    let program = folder.join("bin").join(name);
    assert!(program.is_file(), "{} is missing: run ./setup.sh --tests", program.display());
    program
}

/// A port that no connection's own end can have meanwhile: the system gives those out from 32768 on.
fn free_port() -> u16 {
    static ASKED: AtomicU16 = AtomicU16::new(0);
    let of_process = u16::try_from(std::process::id() % 10_000).expect("it is less");
    // Further on at each call: nothing listens yet on the port that was given before.
    let first = (of_process + 100 * ASKED.fetch_add(1, Ordering::Relaxed)) % 10_000;
    let mut candidates = (0..10_000).map(|n| 20_500 + (first + n) % 10_000);
    candidates.find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok()).expect("a port is free")
}

/// A process with everything that it starts, ended when this is dropped.
struct Group(Child);

impl Group {
    fn start(command: &mut Command) -> Self {
        let command = command.process_group(0).stdin(Stdio::null());
        Self(command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).expect("an id is positive");
        let _ended = kill_process_group(group, Signal::KILL);
        let _reaped = self.0.wait();
    }
}

/// A coordinator with an exporter.
struct Lab {
    place: Place,
    coordinator: String,
    _servers: [Group; 2],
}

impl Lab {
    /// Starts both, and waits until the coordinator knows so many resources.
    fn new(resources: &str, count: usize) -> Self {
        let place = Place::new();
        let coordinator = format!("127.0.0.1:{}", free_port());
        let log = |name: &str| std::fs::File::create(place.path().join(name)).expect("it is writable");
        let start = |name: &str, arguments: &[&str]| {
            let mut command = Command::new(tool(name));
            // The coordinator keeps its places in the folder in which it runs.
            command.args(arguments).current_dir(place.path());
            Group::start(command.stdout(log(&format!("{name}.out"))).stderr(log(&format!("{name}.err"))))
        };
        let exported = place.file("exporter.yaml", resources);
        let exported = exported.to_str().expect("it is text");
        let coordinates = start("labgrid-coordinator", &["-l", &coordinator]);
        // An exporter that finds no coordinator ends.
        let started = Instant::now();
        while TcpStream::connect(&coordinator).is_err() {
            assert!(started.elapsed() < PATIENCE, "no coordinator");
            std::thread::sleep(Duration::from_millis(20));
        }
        let exports = start(
            "labgrid-exporter",
            &["-c", &coordinator, "-n", "lab", "--hostname", "127.0.0.1", exported],
        );
        let servers = [coordinates, exports];
        let lab = Self { place, coordinator, _servers: servers };
        let known =
            || lab.client("rig", &["resources"]).lines().filter(|line| line.starts_with("lab/")).count();
        lab.wait_until("the exporter is there", || known() == count);
        lab
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            let said = |name| std::fs::read_to_string(self.place.path().join(name)).unwrap_or_default();
            let said = said("labgrid-coordinator.err") + &said("labgrid-exporter.err");
            assert!(started.elapsed() < PATIENCE, "not so: {what}; {said}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What labgrid's client prints for a user.
    fn client(&self, user: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(tool("labgrid-client"));
        command.env("LG_COORDINATOR", &self.coordinator).env("LG_USERNAME", user).env("LG_HOSTNAME", "lab7");
        let output = command.args(arguments).stdin(Stdio::null()).output().expect("it starts");
        text(&output.stdout) + &text(&output.stderr)
    }

    /// Makes a place of a group of the exporter.
    fn create(&self, place: &str, group: &str) {
        let at = format!("--place={place}");
        self.client("rig", &[&at, "create"]);
        let said = self.client("rig", &[&at, "add-match", &format!("lab/{group}/*")]);
        assert!(!said.contains("rror"), "{said}");
    }

    fn holder(&self, place: &str) -> Option<String> {
        let who = self.client("rig", &["who"]);
        let line = who.lines().find(|line| line.contains(&format!(" {place} ")))?;
        line.split_whitespace().next().map(str::to_owned)
    }

    /// A bench file with `[labgrid]`.
    fn bench(&self, name: &str, bench: &str, place: &str) -> PathBuf {
        let (client, coordinator) = (tool("labgrid-client"), &self.coordinator);
        let labgrid = format!(
            "[labgrid]\nplace = '{place}'\ncoordinator = \"{coordinator}\"\nclient = \"{}\"\n",
            client.display()
        );
        self.place.file(name, format!("{bench}\n{labgrid}"))
    }

    /// The user `rig` with ppsrig.
    fn ppsrig(&self, arguments: &[&str], bench: &Path) -> Command {
        let mut command = self.place.ppsrig(arguments.iter().map(AsRef::as_ref).chain([bench.as_os_str()]));
        command.env("LG_USERNAME", "rig").env("LG_HOSTNAME", "lab7");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A bench that never comes up, with these ports.
fn never_ready(link: &str) -> String {
    let command = "[\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]";
    bench_with(&[
        (command, "[\"sh\", \"-c\", \"exec sleep 600\"]"),
        ("../../build/firmware/virt.elf", "@run/later.elf"),
        ("@run/board.tty", link),
    ])
}

/// A command that holds its place, waiting for a bench that never comes up, and what it said so far.
fn holding(mut command: Command) -> (Child, String) {
    let mut child = command.spawn().expect("ppsrig starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains("bringing the bench up") {
        assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
    }
    (child, said)
}

fn pid(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).expect("an id is positive")
}

/// Passes bytes between a terminal and whoever connects: a serial port server of one's own.
fn serve(tty: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let open = || std::fs::File::options().read(true).write(true).open(&tty);
            let (Ok(mut from), Ok(mut to)) = (open(), open()) else { return };
            let mut back: TcpStream = connection.try_clone().expect("it is open");
            std::thread::spawn(move || std::io::copy(&mut &connection, &mut to));
            std::thread::spawn(move || std::io::copy(&mut from, &mut back));
        }
    });
    port
}

#[test]
fn a_run_goes_through_the_exported_serial_ports_and_the_place_is_free_afterwards() {
    let _turn = virtual_bench();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    assert!(
        folders.any(|folder| folder.join("ser2net").is_file()),
        "ser2net is missing: run ./setup.sh --tests"
    );
    let run = tempfile::Builder::new().prefix("ppsv").tempdir_in("/tmp").expect("a temporary folder");
    let vbench = Path::new(env!("CARGO_BIN_EXE_ppsrig")).with_file_name("vbench");
    let mut command = Command::new(vbench);
    command.arg("--run-dir").arg(run.path()).arg("--echo").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut bench = Group::start(&mut command);
    let mut ready = String::new();
    BufReader::new(bench.0.stdout.take().expect("it is piped")).read_line(&mut ready).expect("it is text");
    assert!(ready.starts_with("READY"), "{ready}");
    let tty = |name: &str| run.path().join(name).canonicalize().expect("the bench is up");
    let lab = Lab::new(
        &format!(
            "a53:\n  RawSerialPort: {{port: {}, speed: 115200}}\n  gps: {{cls: NetworkSerialPort, host: 127.0.0.1, \
             port: {}, protocol: raw, speed: 9600}}\n",
            tty("board.tty").display(),
            serve(tty("gps.tty"))
        ),
        2,
    );
    lab.create("a53-1", "a53");
    let declared = bench_without_bring_up(run.path());
    let path = |name: &str| run.path().join(name).display().to_string();
    let declared = declared
        .replace(&path("board.tty"), "@labgrid/RawSerialPort")
        .replace(&path("gps.tty"), "@labgrid/gps");
    let file = lab.bench("bench.toml", &declared, "a53-1");
    let arguments = ["run", "--edges", "4", "--rate", "2", "--width-ms", "250", "--json"];
    let output = lab.ppsrig(&arguments, &file).output().expect("ppsrig starts");
    let said = text(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code != 2), "{said}");
    // It may be that a busy host makes edges late; that they all came over the exported port is what counts here.
    let kept = lab.place.bundle();
    let read = |name: &str| std::fs::read_to_string(kept.join(name)).expect("it was written");
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).expect("it is JSON");
    assert_eq!(summary["status"], "complete", "{said}");
    assert_eq!(summary["ledger"]["commanded"]["paired"], 4, "{}\n{said}", summary["ledger"]);
    let record = read("run.toml");
    assert!(
        record.contains("labgrid place a53-1, @labgrid/RawSerialPort at rfc2217://127.0.0.1:"),
        "{record}"
    );
    assert!(record.contains("link = \"@labgrid/RawSerialPort\""), "what was declared stays: {record}");
    // Nobody can set a raw server's line from here.
    assert!(said.contains("@labgrid/gps is tcp://127.0.0.1:") && said.contains("has 9600 baud"), "{said}");
    assert_eq!(lab.holder("a53-1"), None);
}

#[test]
fn a_killed_run_leaves_its_place_free_whatever_the_place_is_called() {
    let lab = Lab::new("a:\n  NetworkSerialPort: {host: 127.0.0.1, port: 9}\n", 1);
    let hostile = "-x; touch owned $(touch owned) `touch owned` \" --kick";
    lab.create(hostile, "a");
    let file = lab.bench("bench.toml", &never_ready("@labgrid/NetworkSerialPort"), hostile);
    let (mut run, _) = holding(lab.ppsrig(&["run"], &file));
    assert_eq!(lab.holder(hostile).as_deref(), Some("rig"));
    kill_process(pid(run.id()), Signal::KILL).expect("it is ours");
    let killed = Instant::now();
    run.wait().expect("it is ours");
    lab.wait_until("the place is free", || lab.holder(hostile).is_none());
    println!("free {:?} after the run was killed", killed.elapsed());
    assert!(!lab.place.path().join("owned").exists() && !Path::new("owned").exists());

    // With its guard killed as well nobody is left to release it: the next run does.
    let (mut run, _) = holding(lab.ppsrig(&["run"], &file));
    let guard = guard_of(run.id());
    kill_process(guard, Signal::KILL).expect("it is ours");
    kill_process(pid(run.id()), Signal::KILL).expect("it is ours");
    run.wait().expect("it is ours");
    assert_eq!(lab.holder(hostile).as_deref(), Some("rig"));
    let (run, _) = holding(lab.ppsrig(&["run"], &file));
    kill_process(pid(run.id()), Signal::TERM).expect("it is ours");
    assert_eq!(run.wait_with_output().expect("it ends").status.code(), Some(2));
    assert_eq!(lab.holder(hostile), None, "released before the run has ended");
}

/// The place's guard, a child of that process.
fn guard_of(parent: u32) -> Pid {
    let processes = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let mut ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_guard = |id: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
        read("cmdline").contains("\0place-guard\0") && read("status").contains(&format!("PPid:\t{parent}\n"))
    };
    pid(ids.find(is_guard).expect("it has one"))
}

/// A power switch that is told over HTTP, and what it was told.
fn relay() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let (sender, switched) = channel();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(connection.try_clone().expect("it is open"));
            let mut lines = Vec::new();
            while lines.last().is_none_or(|line: &String| !line.trim().is_empty()) {
                let mut line = String::new();
                if reader.read_line(&mut line).is_ok_and(|bytes| bytes == 0) {
                    return;
                }
                lines.push(line);
            }
            let mut state = [0];
            reader.read_exact(&mut state).expect("it is told a state");
            let _over = sender.send(format!("{} {}", lines[0].trim(), char::from(state[0])));
            let _gone =
                connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (port, switched)
}

#[test]
fn a_place_of_somebody_else_is_named_and_waited_for_and_the_callers_own_stays_acquired() {
    let (relay, switched) = relay();
    let resources = format!(
        "a:\n  NetworkSerialPort: {{host: 127.0.0.1, port: 9}}\n  NetworkService: {{address: h, username: u}}\n  \
         NetworkPowerPort: {{model: rest, host: 'http://127.0.0.1:{relay}/{{index}}', index: 3}}\n"
    );
    let lab = Lab::new(&resources, 3);
    lab.create("a53-10", "a");
    let file = lab.bench("bench.toml", &never_ready("@labgrid/NetworkSerialPort"), "a53-10");
    let run = |file: &Path| lab.ppsrig(&["run"], file).output().expect("ppsrig starts");

    lab.client("eve", &["--place=a53-10", "acquire"]);
    let said = refusal(&run(&file));
    assert!(said.contains("a53-10 is already acquired by lab7/eve"), "{said}");
    let mut waiting = lab.ppsrig(&["run", "--wait", "60"], &file).spawn().expect("ppsrig starts");
    let mut stderr = BufReader::new(waiting.stderr.take().expect("it is piped"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("it is text");
    assert!(said.contains("waiting") && said.contains("lab7/eve"), "{said}");
    lab.client("eve", &["--place=a53-10", "release"]);
    while !said.contains("bringing the bench up") {
        assert_ne!(stderr.read_line(&mut said).expect("it is text"), 0, "{said}");
    }
    kill_process(pid(waiting.id()), Signal::TERM).expect("it is ours");
    waiting.wait().expect("it is ours");
    assert_eq!(lab.holder("a53-10"), None);

    // As under `labgrid-client acquire`, or in a test that labgrid runs.
    lab.client("rig", &["--place=a53-10", "acquire"]);
    let (held, _) = holding(lab.ppsrig(&["run"], &file));
    let said = lab.client("rig", &["--place=a53-10", "power", "cycle", "--delay", "0.1"]);
    let told: Vec<_> = switched.try_iter().collect();
    assert_eq!(told, ["PUT /3 HTTP/1.1 0", "PUT /3 HTTP/1.1 1"], "{said}");
    kill_process(pid(held.id()), Signal::TERM).expect("it is ours");
    held.wait_with_output().expect("it ends");
    assert_eq!(lab.holder("a53-10").as_deref(), Some("rig"), "who acquired it releases it");
    lab.client("rig", &["--place=a53-10", "release"]);

    // Another board is never taken for a name that is only a part of its own.
    let said = refusal(&run(&lab.bench("part.toml", &never_ready("@labgrid/NetworkSerialPort"), "a53-1")));
    assert!(said.contains("labgrid takes `a53-1` for its place `a53-10`"), "{said}");
    let said = refusal(&run(&lab.bench("none.toml", &never_ready("@labgrid/console"), "a53-10")));
    for part in ["@labgrid/console", "NetworkService `NetworkService`", "rfc2217://127.0.0.1:9"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = refusal(&run(&lab.bench("nope.toml", &never_ready("@labgrid/console"), "nope")));
    assert!(said.contains("nope matches nothing"), "{said}");
    assert_eq!(lab.holder("a53-10"), None);
}
