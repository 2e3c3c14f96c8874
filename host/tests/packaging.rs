//! What a shell, man and dpkg get: completions, manual pages, and a Debian package that works where it is installed.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Place, refusal, text, virtual_bench};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the source tree is there")
}

fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> Output {
    let program = program.as_ref();
    let output = Command::new(program).args(arguments).output();
    output.unwrap_or_else(|error| panic!("{}: {error}; ./setup.sh installs it", program.to_string_lossy()))
}

fn well(output: Output) -> String {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    stdout
}

/// The subcommands that `--help` lists.
fn subcommands(place: &Place) -> Vec<String> {
    let help = well(place.ppsrig(["--help"]).output().expect("ppsrig starts"));
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn without_last(text: &str) -> &str {
    let mut letters = text.chars();
    letters.next_back();
    letters.as_str()
}

#[test]
fn every_subcommand_has_a_manual_page_that_is_rendered_without_a_warning() {
    let place = Place::new();
    let dir = place.path().join("man1");
    well(place.ppsrig(["man", dir.to_str().expect("it is ASCII")]).output().expect("ppsrig starts"));
    let names = subcommands(&place);
    assert!(names.len() >= 12, "{names:?}");
    for name in names.iter().map(|name| format!("ppsrig-{name}.1")).chain(["ppsrig.1".to_owned()]) {
        let page = dir.join(&name);
        let rendered = run("groff", &["-man", "-ww", "-Tutf8", page.to_str().expect("it is ASCII")]);
        assert_eq!(text(&rendered.stderr), "", "{name}");
        // Bold letters are struck twice: letter, backspace, letter.
        let rendered: String = well(rendered)
            .split_inclusive('\u{8}')
            .map(|part| part.strip_suffix('\u{8}').map_or(part, without_last))
            .collect();
        for heading in ["SYNOPSIS", "EXAMPLES", "SEE ALSO"] {
            assert!(rendered.contains(heading), "{heading} of {name}: {rendered}");
        }
    }
    assert_eq!(
        fs::read_dir(&dir).expect("it was made").count(),
        names.len() + 1,
        "hidden commands have none"
    );
}

#[test]
fn bash_completes_subcommands_options_and_files() {
    let place = Place::new();
    place.file("board.elf", "");
    let script =
        place.file("ppsrig.bash", well(place.ppsrig(["completions", "bash"]).output().expect("it starts")));
    let completed = |words: &str, word: &str| {
        let program = format!(
            "source {}; COMP_WORDS=({words} '{word}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _ppsrig ppsrig '{word}' \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let bash = Command::new("bash").args(["--norc", "-c", &program]).current_dir(place.path()).output();
        well(bash.expect("bash is there"))
    };
    assert_eq!(completed("ppsrig", "com"), "compare\ncompletions\n");
    assert_eq!(completed("ppsrig run", "--iter"), "--iterations\n");
    assert_eq!(completed("ppsrig run --image", "boa"), "board.elf\n");
    assert!(!completed("ppsrig", "").contains("probe-worker"), "hidden commands are not offered");
}

#[test]
fn an_executable_alone_says_where_to_get_a_bench_file() {
    let place = Place::new();
    let alone = place.path().join("ppsrig");
    // By another process: a program that this one wrote is busy while a test beside this one forks.
    well(run("cp", &[env!("CARGO_BIN_EXE_ppsrig"), alone.to_str().expect("it is ASCII")]));
    let output = Command::new(&alone)
        .arg("run")
        .current_dir(place.path())
        .env_remove("PPSRIG_BENCH")
        .output()
        .expect("it starts");
    let stderr = refusal(&output);
    for said in
        ["no BENCH given", "fixtures/benches", "/usr/share/ppsrig/benches", "ppsrig list", "just bench"]
    {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

/// The package made of the programs of this build.
fn package(out: &Path) -> PathBuf {
    let script = root().join("host/packaging/deb.sh");
    let built = Path::new(env!("CARGO_BIN_EXE_ppsrig")).ancestors().nth(2).expect("build/debug/ppsrig");
    let output = Command::new(script)
        .args([OsStr::new("--dev"), OsStr::new("--no-build"), OsStr::new("--out"), out.as_os_str()])
        .env("CARGO_TARGET_DIR", built)
        .output()
        .expect("bash is there");
    PathBuf::from(well(output).trim_end())
}

#[test]
fn the_debian_package_says_what_it_is_and_the_same_sources_give_the_same_bytes() {
    let place = Place::new();
    let file = package(&place.path().join("deb"));
    let path = file.to_str().expect("it is ASCII");
    let field = |name: &str| well(run("dpkg-deb", &["--field", path, name])).trim_end().to_owned();
    assert!(field("Depends").contains("libc6 (>= 2."), "{}", field("Depends"));
    let (version, released) = (field("Version"), env!("CARGO_PKG_VERSION"));
    // Between releases it is older than the release that it becomes.
    well(run("dpkg", &["--compare-versions", &version, "le", released]));
    let listed = well(run("dpkg-deb", &["--contents", path]));
    for line in listed.lines() {
        let owned = line.contains(" root/root ");
        assert!(owned && (line.starts_with("drwxr-xr-x") || line.starts_with("-rw")), "{line}");
        assert!(
            !line.starts_with("-rwx") || line.contains("/bin/ppsrig") || line.contains("/vbench"),
            "{line}"
        );
    }
    assert!(!listed.contains("./etc/"), "no file that dpkg would have to ask about: {listed}");
    let sums = well(run("dpkg-deb", &["--ctrl-tarfile", path]));
    assert!(sums.contains("usr/bin/ppsrig") && sums.contains("usr/share/doc/ppsrig/crates.txt"), "md5sums");
    let again = package(&place.path().join("again"));
    assert_eq!(again.file_name(), file.file_name());
    let bytes = |path: &Path| fs::read(path).expect("it was made");
    assert!(bytes(&again) == bytes(&file), "{}", again.display());
}

/// dpkg on the root and the database of this place: nothing of the machine is touched.
fn dpkg(place: &Place, arguments: &[&OsStr]) {
    let (target, database) = (place.path().join("root"), place.path().join("dpkg"));
    let output = Command::new("dpkg")
        .arg(format!("--instdir={}", target.display()))
        .arg(format!("--admindir={}", database.display()))
        .arg(format!("--log={}", database.join("log").display()))
        .args(["--force-not-root", "--force-depends", "--force-script-chrootless"])
        .args(arguments)
        .output()
        .expect("dpkg is there");
    well(output);
}

/// The package, installed by dpkg into a root of its own.
fn installed(place: &Place) -> PathBuf {
    let package = package(&place.path().join("deb"));
    let (target, database) = (place.path().join("root"), place.path().join("dpkg"));
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(database.join(folder)).expect("it fits");
    }
    fs::write(database.join("status"), "").expect("it fits");
    fs::create_dir_all(&target).expect("it fits");
    dpkg(place, &[OsStr::new("-i"), package.as_os_str()]);
    let state = format!("--admindir={}", database.display());
    assert!(well(run("dpkg-query", &[&state, "-W", "-f", "${db:Status-Status}", "ppsrig"])) == "installed");
    target
}

fn completions_of(target: &Path) -> String {
    fs::read_to_string(target.join("usr/share/bash-completion/completions/ppsrig")).expect("it is installed")
}

#[test]
fn the_debian_package_is_installed_and_measures_on_its_virtual_bench() {
    let _turn = virtual_bench();
    let place = Place::new();
    let target = installed(&place);
    let ppsrig = target.join("usr/bin/ppsrig");
    assert!(well(run(&ppsrig, &["--version"])).starts_with("ppsrig "));
    assert_eq!(well(run(&ppsrig, &["completions", "bash"])), completions_of(&target));
    for file in ["usr/share/man/man1/ppsrig-nightly.1.gz", "usr/share/doc/ppsrig/copyright"] {
        assert!(target.join(file).is_file(), "{file}");
    }
    for folder in ["benches", "plans"] {
        let files = fs::read_dir(target.join("usr/share/ppsrig").join(folder)).expect("it is there");
        let files = files.map(|file| file.expect("it is readable").path());
        for file in files.filter(|file| file.extension() == Some(OsStr::new("toml"))) {
            well(run(&ppsrig, &["validate", file.to_str().expect("it is ASCII")]));
        }
    }
    let mut measured =
        place.ppsrig(["run", "--measure", "path", "--clock", "exact", "--iterations", "100000"]);
    measured.args(["--variant", "inline-biased"]);
    let mut command = Command::new(&ppsrig);
    command.args(measured.get_args()).current_dir(place.path());
    for (name, value) in measured.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let stdout = well(command.output().expect("it starts"));
    assert!(stdout.contains("verdict") && stdout.contains("inline-biased"), "{stdout}");
    place.wait_until_nothing_runs();

    dpkg(&place, &[OsStr::new("--purge"), OsStr::new("ppsrig")]);
    assert_eq!(fs::read_dir(&target).expect("it is there").count(), 0, "a purge leaves nothing");
}

#[test]
fn a_purge_keeps_what_was_measured_and_only_then_says_so() {
    let place = Place::new();
    let folder = place.path().join("var/lib/ppsrig");
    let purge = || {
        let script = root().join("host/packaging/postrm");
        let purged = Command::new("sh").arg(script).arg("purge").env("DPKG_ROOT", place.path()).output();
        let purged = purged.expect("sh is there");
        assert!(purged.status.success(), "{}", text(&purged.stderr));
        text(&purged.stderr)
    };
    fs::create_dir_all(&folder).expect("it fits");
    assert_eq!((purge().as_str(), folder.exists()), ("", false));
    fs::create_dir_all(folder.join("results")).expect("it fits");
    assert_eq!((purge().as_str(), folder.exists()), ("", false));
    fs::create_dir_all(folder.join("results/night")).expect("it fits");
    assert!(purge().contains("is kept") && folder.join("results/night").exists());
}

/// What the service starts is an order that this ppsrig takes.
#[test]
fn the_nightly_service_asks_for_what_there_is() {
    let unit =
        fs::read_to_string(root().join("host/packaging/ppsrig-nightly@.service")).expect("it is there");
    let order =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/ppsrig ")).expect("it has one");
    let place = Place::new();
    let order = order.replace("/etc/ppsrig/plans/%i", "/nowhere/night");
    let said = refusal(&place.ppsrig(order.split(' ')).output().expect("ppsrig starts"));
    assert!(said.contains("/nowhere/night.toml") && !said.contains("Usage"), "{said}");
}

#[test]
fn systemd_takes_the_units() {
    let place = Place::new();
    let packaging = root().join("host/packaging");
    for unit in ["ppsrig-nightly@.service", "ppsrig-nightly@.timer"] {
        let unit_text = fs::read_to_string(packaging.join(unit)).expect("it is there");
        // What it starts is not installed here.
        place.file(unit, unit_text.replace("/usr/bin/ppsrig", "/bin/true"));
    }
    for unit in ["ppsrig-nightly@any.service", "ppsrig-nightly@any.timer"] {
        let verified = Command::new("systemd-analyze")
            .args(["verify", "--man=no", unit])
            .env("SYSTEMD_UNIT_PATH", format!("{}:", place.path().display()))
            .output()
            .expect("systemd-analyze is there");
        let said = text(&verified.stderr);
        assert!(verified.status.success() && !said.contains("ppsrig"), "{said}");
    }
}

/// What udev reads: `KEY=="value"`, `KEY{attribute}="value"`, with commas between.
#[test]
fn udev_rules_are_of_the_form_that_udev_reads() {
    const KEYS: [&str; 12] = [
        "ACTION",
        "SUBSYSTEM",
        "KERNEL",
        "DRIVER",
        "ENV",
        "ATTR",
        "ATTRS",
        "MODE",
        "GROUP",
        "TAG",
        "GOTO",
        "LABEL",
    ];
    let rules = fs::read_to_string(root().join("host/packaging/60-ppsrig.rules")).expect("it is there");
    let mut labels = Vec::new();
    let mut jumps = Vec::new();
    for line in rules.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        for part in line.split(", ") {
            let (key, rest) = part.split_once(['=', '!', '+']).unwrap_or_else(|| panic!("{line}"));
            let key = key.split_once('{').map_or(key, |(key, attribute)| {
                assert!(attribute.ends_with('}'), "{line}");
                key
            });
            assert!(KEYS.contains(&key), "{key} in {line}");
            let value = rest.trim_start_matches('=');
            let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let value = value.filter(|value| !value.is_empty() && !value.contains('"'));
            let value = value.unwrap_or_else(|| panic!("{part} in {line}"));
            match key {
                "LABEL" => labels.push(value),
                "GOTO" => jumps.push(value),
                _ => {}
            }
        }
    }
    assert!(jumps.iter().all(|jump| labels.contains(jump)), "{jumps:?} {labels:?}");
    for probe in ["0d28", "1366", "0483", "20b7", "2e8a", "CMSIS-DAP"] {
        assert!(rules.contains(probe), "{probe}");
    }
}
