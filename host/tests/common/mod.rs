//! Runs the ppsrig program as a user would, with nothing of this process's own settings.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a test waits for something that takes a moment; only ever reached by a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of a test's own: results, and everything that ppsrig and a virtual bench make.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty one, with a name short enough for sockets in it.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::Builder::new().prefix("pps").tempdir_in("/tmp").expect("a temporary folder"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("it fits");
        path
    }

    /// ppsrig with these arguments, all its own files in this place.
    pub(crate) fn ppsrig<A: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ppsrig"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PPSRIG_") {
                command.env_remove(name);
            }
        }
        let (out, runtime) = (self.path().join("results"), self.path().join("runtime"));
        command.env_remove("RUST_LOG").env("PPSRIG_OUT", out).env("XDG_RUNTIME_DIR", runtime);
        command.env("PPSRIG_STATE_DIR", self.path().join("state"));
        command.env("TMPDIR", self.path()).stdin(Stdio::null()).args(arguments);
        command
    }

    /// The only run bundle in this place.
    pub(crate) fn bundle(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.path().join("results")).expect("a run has made it");
        let bundles: Vec<_> = entries.map(|entry| entry.expect("it is readable").path()).collect();
        assert_eq!(bundles.len(), 1, "one run, one bundle: {bundles:?}");
        bundles.into_iter().next().expect("it was counted")
    }

    /// Command lines of the processes that still know this place, apart from the test's own. Zombies have none.
    pub(crate) fn processes(&self) -> Vec<String> {
        let needle = self.path().to_str().expect("it is ASCII");
        let entries = std::fs::read_dir("/proc").expect("Linux has it");
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|&id| id != std::process::id())
            .filter_map(|id| std::fs::read(format!("/proc/{id}/cmdline")).ok())
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
            .filter(|line| line.contains(needle))
            .collect()
    }

    /// Waits until nothing that was started here is left.
    pub(crate) fn wait_until_nothing_runs(&self) {
        let started = Instant::now();
        while !self.processes().is_empty() {
            assert!(started.elapsed() < PATIENCE, "left running: {:?}", self.processes());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Where the tests' inputs are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").canonicalize().expect("the source tree has it")
}

/// Holds the machine's one virtual bench: it keeps a core busy, so tests take turns, also those of other programs.
/// Fails unless the virtual bench and its image are built.
pub(crate) fn virtual_bench() -> File {
    let folder = Path::new(env!("CARGO_BIN_EXE_ppsrig")).parent().expect("it lies in a folder");
    assert!(
        folder.join("vbench").is_file(),
        "{}/vbench is missing: cargo build -p ppsrig-vbench",
        folder.display()
    );
    for image in [image(), image_with_one_more()] {
        assert!(image.is_file(), "{} is missing: target/firmware/build.sh", image.display());
    }
    let turn = File::create(folder.join("virtual-bench.lock")).expect("the build folder is writable");
    turn.lock().expect("the file system knows locks");
    turn
}

/// The firmware image of the virtual bench.
pub(crate) fn image() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/firmware/virt.elf")
}

/// The same image with one instruction more between the two counter reads of every build.
pub(crate) fn image_with_one_more() -> PathBuf {
    image().with_file_name("virt-one-more.elf")
}

/// The virtual bench's file with lines replaced, its paths made absolute.
pub(crate) fn bench_with(replacements: &[(&str, &str)]) -> String {
    let folder = fixtures().join("benches");
    let mut text = std::fs::read_to_string(folder.join("virtual.toml")).expect("it is there");
    for (from, to) in replacements {
        assert!(text.contains(from), "virtual.toml has no `{from}`");
        text = text.replace(from, to);
    }
    text.replace("\"../", &format!("\"{}/../", folder.display()))
}

/// The same bench as one that needs no bringing up: `@run` is a folder that is there.
pub(crate) fn bench_without_bring_up(run: &Path) -> String {
    let command = "command = [\"vbench\", \"--run-dir\", \"@run\", \"--echo\"]";
    let text = bench_with(&[("[bring-up]", "#"), (command, "#")]);
    text.replace("@run", run.to_str().expect("it is text"))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a refused command said, after checking that it was refused properly.
pub(crate) fn refusal(output: &Output) -> String {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "stdout: {}\nstderr: {stderr}", text(&output.stdout));
    assert!(stderr.lines().any(|line| line.starts_with("error: ")), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}
