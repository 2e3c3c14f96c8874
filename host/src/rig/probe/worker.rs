//! The child process of a probe session: reads one request from stdin, performs it with probe-rs, answers on stdout.

use std::io::{BufRead, Read, Write};
use std::process::ExitCode;

use probe_rs::config::Registry;
use probe_rs::probe::DebugProbeSelector;
use probe_rs::probe::list::{Accessibility, Lister};
use probe_rs::{Permissions, Session};

use super::load::{self, Loader};
use super::{ListedProbe, Load, Progress, Reply, Report, Request, Stage, Target, Task};
use crate::bench_file::Chip;
use crate::rig::image::Image;

/// Runs the child. Its exit code is of no interest: the last line says everything.
#[must_use]
pub fn run() -> ExitCode {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).is_err() || line.is_empty() {
        return ExitCode::from(2);
    }
    end_with_our_parent();
    let reply = match serde_json::from_str::<Request>(&line) {
        Ok(request) if request.version == env!("CARGO_PKG_VERSION") => perform(&request.task),
        Ok(request) => Reply::Failed {
            reason: format!(
                "ppsrig was replaced while it ran (version {} asks version {}); start it again",
                request.version,
                env!("CARGO_PKG_VERSION")
            ),
            operations: 0,
        },
        Err(error) => Reply::Failed { reason: format!("not a probe request: {error}"), operations: 0 },
    };
    say(&reply);
    ExitCode::SUCCESS
}

/// Watches stdin from a thread of its own, so that this process also ends when probe-rs hangs.
fn end_with_our_parent() {
    std::thread::spawn(|| {
        let mut byte = [0];
        while matches!(std::io::stdin().lock().read(&mut byte), Ok(1..)) {}
        std::process::exit(3);
    });
}

fn say(reply: &Reply) {
    let json = serde_json::to_string(reply).expect("a reply has string keys only");
    let mut stdout = std::io::stdout().lock();
    if writeln!(stdout, "{json}").and_then(|()| stdout.flush()).is_err() {
        std::process::exit(3);
    }
}

fn progress(stage: Stage, done: u64, total: u64) {
    say(&Reply::Progress(Progress { stage, done, total }));
}

fn perform(task: &Task) -> Reply {
    let mut operations = 0;
    let result = match task {
        Task::List => {
            say(&Reply::Probes(list()));
            Ok(Report::default())
        }
        Task::Attach(target) => check(target, &mut operations),
        Task::Load { target, load } => load_image(target, load, &[], &mut operations),
        Task::Trace { target, load, from } => load_image(target, load, from, &mut operations),
    };
    match result {
        Ok(report) => Reply::Done(report),
        Err(reason) => Reply::Failed { reason, operations },
    }
}

fn list() -> Vec<ListedProbe> {
    let listed = Lister::new().list_all_with_access();
    listed
        .into_iter()
        .map(|item| ListedProbe {
            name: item.info.identifier.clone(),
            accessible: item.accessibility == Accessibility::Accessible,
            selector: DebugProbeSelector::from(item.info).to_string(),
        })
        .collect()
}

fn check(target: &Target, operations: &mut u64) -> Result<Report, String> {
    let started = std::time::Instant::now();
    let mut session = attach(target, operations)?;
    *operations += 2;
    let mut core = session.core(0).map_err(|error| no_core(target, &error))?;
    core.status().map_err(|error| no_core(target, &error))?;
    Ok(Report { attach_ns: load::nanos(started), operations: *operations, ..Report::default() })
}

/// Loads and lets the core run; steps it from each of these addresses on.
fn load_image(
    target: &Target,
    load: &Load,
    step_from: &[u64],
    operations: &mut u64,
) -> Result<Report, String> {
    let path = &load.image;
    let mut image = Image::read(path).map_err(|error| error.to_string())?;
    if !load.mailbox.is_empty() {
        image.fill_mailbox(path, &load.mailbox).map_err(|error| error.to_string())?;
    }
    let started = std::time::Instant::now();
    let mut session = attach(target, operations)?;
    load::check_ram(session.target(), &image, path)?;
    *operations += 1;
    drop(session.core(0).map_err(|error| no_core(target, &error))?);
    let loader = Loader { session: &mut session, operations, progress: &mut progress, by_words: false };
    let (mut report, mut loaded) = loader.load(&image, started)?;
    for &from in step_from {
        say(&Reply::Executed(loaded.trace(from)?));
    }
    loaded.start()?;
    report.operations = *loaded.operations;
    Ok(report)
}

fn attach(target: &Target, operations: &mut u64) -> Result<Session, String> {
    progress(Stage::Attach, 0, 0);
    let (registry, name) = registry_for(&target.chip)?;
    let selector: DebugProbeSelector =
        target.selector.parse().map_err(|error| format!("probe selector `{}`: {error}", target.selector))?;
    *operations += 1;
    let probe = Lister::new().open(selector.clone()).map_err(|error| {
        format!(
            "cannot open probe {selector}: {}; `ppsrig list` shows the probes of this machine",
            load::chain(&error)
        )
    })?;
    *operations += 1;
    probe
        .attach_with_registry(name.as_str(), Permissions::default(), &registry)
        .map_err(|error| no_core(target, &error))
}

fn no_core(target: &Target, error: &probe_rs::Error) -> String {
    format!(
        "probe {} is there, but no {} answers behind it: {}; is the board powered, is the debug cable plugged in, \
         does `chip` name this board?",
        target.selector,
        target.chip.rsplit(['/', ':']).next().unwrap_or_default(),
        load::chain(error)
    )
}

/// The registry that knows the chip, and the chip's name in it.
fn registry_for(chip: &str) -> Result<(Registry, String), String> {
    let (file, name) = match Chip::parse(chip)? {
        Chip::Description { file, name } => (file, name),
        Chip::Registry(name) => {
            let registry = Registry::from_builtin_families();
            return match registry.get_target_by_name(&name) {
                Ok(_) => Ok((registry, name)),
                Err(error) => Err(format!("chip `{name}`: {error}{}", near(&registry.search_chips(&name)))),
            };
        }
    };
    let yaml = std::fs::read_to_string(&file)
        .map_err(|error| format!("{}: cannot read the chip description: {error}", file.display()))?;
    let mut registry = Registry::new();
    registry
        .add_target_family_from_yaml(&yaml)
        .map_err(|error| format!("{}: not a chip description: {}", file.display(), load::chain(&error)))?;
    if registry.get_target_by_name(&name).is_err() {
        let known: Vec<_> = registry
            .families()
            .iter()
            .flat_map(|family| family.variants.iter().map(|v| v.name.clone()))
            .collect();
        return Err(format!("{}: no chip `{name}` in it; it describes {}", file.display(), known.join(", ")));
    }
    Ok((registry, name))
}

fn near(found: &[String]) -> String {
    if found.is_empty() {
        return "; give a chip of probe-rs's registry, or FILE:NAME with a chip description of your own"
            .to_owned();
    }
    format!("; near it: {}", found.iter().take(5).cloned().collect::<Vec<_>>().join(", "))
}
