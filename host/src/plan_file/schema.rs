//! The keys of a plan but those of its measures, what each may hold, and what must fit together.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::Check;
use super::measure::{self, Read};
use crate::analysis::compare::ALPHA;
use crate::bench_file::Problem;
use crate::bench_file::section::{Found, Section, Source, flag, integer, number, text, texts};
use crate::night::NightPlan;
use crate::night::plan::{Health, Hook, Hooks, NamedImage, Require};

/// Up to a week.
const MINUTES: RangeInclusive<i64> = 1..=7 * 24 * 60;
const SECONDS: RangeInclusive<i64> = 1..=24 * 3600;
const MEBIBYTES: RangeInclusive<i64> = 0..=1 << 40;
const SEEDS: RangeInclusive<i64> = 0..=i64::MAX;
const ALPHAS: RangeInclusive<f64> = 1e-6..=0.2;
const LOADS: RangeInclusive<f64> = 0.01..=10_000.0;
/// A hook without a deadline of its own ends by then.
const HOOK_DEADLINE_S: u64 = 60;
/// The image of a plan that names none.
const IMAGE: &str = "image";
/// Names with a meaning of their own.
const TAKEN: [&str; 2] = [measure::BASELINE, "golden"];
/// Letters of a name: it stands in tables, in a folder's name and before a colon.
const LONGEST_NAME: usize = 60;

/// Where a plan lies, and what can be known from there.
pub(super) struct Place<'p> {
    pub(super) folder: &'p Path,
    /// Its file's name without the ending.
    pub(super) name: &'p str,
    pub(super) exists: &'p dyn Fn(&Path) -> bool,
    pub(super) check: &'p Check<'p>,
}

/// Reads a plan from its text.
pub(super) fn parse(plan: &str, place: &Place<'_>) -> Result<NightPlan, Vec<Problem>> {
    let (mut source, table) = Source::new(plan);
    let mut root = Section::root(&mut source, table);
    let named = root.optional("name", name);
    let bench = root.required("bench", "the bench file", |value| path(value, place));
    let seed = root.optional("seed", integer(SEEDS));
    let budget = root.optional("time-budget-min", integer::<u64>(MINUTES));
    let alpha = root.optional("alpha", number(ALPHAS));
    let images = root.table("images", |section| images(section, place));
    let require = root.table("require", require);
    let hooks = root.table("hooks", |section| hooks(section, place));
    let images = images.filter(|images| !images.is_empty()).unwrap_or_else(bench_image);
    let health = root.table("health", |section| {
        let image = section.optional("image", |value| path(value, place));
        let line = section.line();
        (image, measure::health(section, place).map(|measure| (line, measure)))
    });
    let is_empty = !root.has("measure");
    let measures = root.tables("measure", |section, line| {
        measure::measure(section, place, &images).map(|measure| (line, measure))
    });
    if is_empty {
        root.report(1, "no [[measure]]: the plan measures nothing");
    }
    names_differ(&mut root, &measures);
    root.report_unknown();
    let (golden, health) = health.unzip();
    let health = health.flatten();
    let checked = bench.as_ref().map(|bench| {
        let all = health.iter().chain(measures.iter().flatten());
        let all: Vec<_> = all.map(|(line, read)| (*line, &read.measure)).collect();
        (place.check)(&bench.value, &all)
    });
    let mut problems = source.into_problems();
    problems.extend(checked.into_iter().flatten());
    problems.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
    let whole = || {
        let golden: Option<Found<PathBuf>> = golden.flatten();
        Some(NightPlan {
            name: named.map_or_else(|| place.name.to_owned(), |name| name.value),
            bench: bench?.value,
            seed: seed.map(|seed| seed.value),
            time_budget_s: budget.map(|minutes| minutes.value * 60),
            alpha: alpha.map_or(ALPHA, |alpha| alpha.value),
            images,
            require: require.unwrap_or_default(),
            health: health
                .map(|(_, read)| Health { image: golden.map(|golden| golden.value), measure: read.measure }),
            hooks: hooks.unwrap_or_default(),
            measures: measures.into_iter().flatten().map(|(_, read)| read.measure).collect(),
        })
    };
    if problems.is_empty() { whole().ok_or(problems) } else { Err(problems) }
}

fn bench_image() -> Vec<NamedImage> {
    vec![NamedImage { name: IMAGE.to_owned(), file: None }]
}

fn names_differ(root: &mut Section<'_, '_>, measures: &[Option<(usize, Read)>]) {
    let read: Vec<_> = measures.iter().flatten().collect();
    for (index, (line, one)) in read.iter().enumerate() {
        let name = &one.measure.name;
        if read[..index].iter().any(|(_, before)| before.measure.name == *name) {
            root.report(
                *line,
                &format!("a second [[measure]] is called `{name}`; give each a name of its own"),
            );
        }
    }
}

fn images(section: &mut Section<'_, '_>, place: &Place<'_>) -> Vec<NamedImage> {
    let mut images = Vec::new();
    for (key, value, line) in section.entries() {
        if let Err(why) = named(&key).and_then(|()| match TAKEN.contains(&key.as_str()) {
            true => Err(format!("`{key}` means something else in a plan")),
            false => Ok(()),
        }) {
            section.report(line, &format!("`{key}`: {why}"));
            continue;
        }
        match path(&value, place) {
            Ok(file) => images.push(NamedImage { name: key, file: Some(file) }),
            Err(why) => section.report(line, &format!("`{key}`: {why}")),
        }
    }
    images
}

fn require(section: &mut Section<'_, '_>) -> Require {
    Require {
        free_disk_mib: section.optional("free-disk-mib", integer(MEBIBYTES)).map(|found| found.value),
        load_below: section.optional("load-below", number(LOADS)).map(|found| found.value),
        clock_synchronised: section.optional("clock-synchronised", flag).is_some_and(|found| found.value),
    }
}

fn hooks(section: &mut Section<'_, '_>, place: &Place<'_>) -> Hooks {
    Hooks {
        before: section.table("before", |section| hook(section, place)).flatten(),
        power_cycle: section.table("power-cycle", |section| hook(section, place)).flatten(),
        after: section.table("after", |section| hook(section, place)).flatten(),
    }
}

fn hook(section: &mut Section<'_, '_>, place: &Place<'_>) -> Option<Hook> {
    let command = section.required("command", "a program and its arguments", |value| {
        let mut words = texts(value)?;
        let program = words.first_mut().filter(|program| !program.is_empty());
        let program = program.ok_or("must begin with a program")?;
        // A name alone is looked for on PATH.
        if program.contains('/') {
            *program = place.folder.join(&*program).to_string_lossy().into_owned();
        }
        Ok(words)
    });
    let deadline = section.optional("deadline-s", integer(SECONDS));
    let deadline_s = deadline.map_or(HOOK_DEADLINE_S, |found| found.value);
    Some(Hook { command: command?.value, deadline_s })
}

/// A path, by the plan's folder where it is relative.
pub(super) fn path(value: &DeValue<'_>, place: &Place<'_>) -> Result<PathBuf, String> {
    let text = text(value)?;
    if text.is_empty() {
        return Err("is empty; give a path".to_owned());
    }
    Ok(tidy(&place.folder.join(text)))
}

/// A path that must be there.
pub(super) fn existing(value: &DeValue<'_>, place: &Place<'_>) -> Result<PathBuf, String> {
    let path = path(value, place)?;
    if (place.exists)(&path) { Ok(path) } else { Err(format!("{} does not exist", path.display())) }
}

/// The same path without `.`, and without `..` where what it leads back from is no link.
fn tidy(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.components().collect())
}

/// A name.
pub(super) fn name(value: &DeValue<'_>) -> Result<String, String> {
    let name = text(value)?;
    named(&name).map(|()| name)
}

fn named(name: &str) -> Result<(), String> {
    let fits = |letter: char| !letter.is_control() && !"/:".contains(letter);
    match name {
        "" => Err("a name is empty".to_owned()),
        name if name.chars().count() > LONGEST_NAME => {
            Err(format!("a name has at most {LONGEST_NAME} letters"))
        }
        name if !name.chars().all(fits) => {
            Err("a name has no `/`, no `:` and no control letter in it".to_owned())
        }
        _ => Ok(()),
    }
}
