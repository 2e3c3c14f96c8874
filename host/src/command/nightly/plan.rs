//! A plan with the bench that it is for: read, and every measure asked of the same functions that `ppsrig run` asks.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::evidence::{self, Baselines};
use super::runner::GOLDEN;
use crate::bench_file::Problem;
use crate::command::bench::{self, Bench};
use crate::command::run;
use crate::names::Clock;
use crate::night::NightPlan;
use crate::night::plan::Measure;
use crate::plan::Plan;
use crate::plan_file;

/// Reads a plan and its bench file.
///
/// # Errors
/// Every problem of both at once.
pub(in crate::command) fn read(file: &Path) -> anyhow::Result<(NightPlan, Bench)> {
    let bench = RefCell::new(None);
    let check = |path: &Path, measures: &[(usize, &Measure)]| match read_bench(path) {
        Ok(read) => {
            let problems = measures.iter().filter_map(|(line, measure)| problem(*line, measure, &read));
            let problems = problems.collect();
            *bench.borrow_mut() = Some(read);
            problems
        }
        Err(error) => vec![Problem { line: None, what: format!("its bench file: {error:#}") }],
    };
    let plan = plan_file::read(file, &check)?;
    // A plan without problems has a bench that was read.
    let bench = match bench.into_inner() {
        Some(bench) => bench,
        None => read_bench(&plan.bench)?,
    };
    Ok((plan, bench))
}

/// What becomes of an image that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Missing {
    /// It may yet be built.
    Allowed,
    /// The night begins now.
    Refused,
}

/// Reads what a plan names, so that a night is not begun that could not be done: its images, and its baselines.
///
/// # Errors
/// The first that is not what it has to be.
pub(in crate::command) fn readable(
    plan: &NightPlan,
    bench: &Bench,
    missing: Missing,
) -> anyhow::Result<Baselines> {
    let exact = plan.measures.iter().any(|measure| measure.clock == Clock::Exact);
    let images = plan.images.iter().map(|one| (one.name.as_str(), one.file.as_deref(), exact));
    let golden = plan
        .health
        .iter()
        .map(|health| (GOLDEN, health.image.as_deref(), health.measure.clock == Clock::Exact));
    for (name, file, exact) in images.chain(golden) {
        let path = file.unwrap_or(&bench.declared.board.image);
        if !path.starts_with("@run") && !path.exists() {
            ensure!(
                missing == Missing::Allowed,
                "image {name} of the plan: {} does not exist; build it, or name another in the plan",
                path.display()
            );
            continue;
        }
        bench.check_image(file, exact).with_context(|| format!("image {name} of the plan"))?;
    }
    evidence::original_baselines(plan)
}

fn read_bench(path: &Path) -> anyhow::Result<Bench> {
    bench::Args { bench: Some(PathBuf::from(path)), scenario: None, counter_hz: None }.read()
}

fn problem(line: usize, measure: &Measure, bench: &Bench) -> Option<Problem> {
    let error = of_run(measure, 1, bench).err()?;
    let what = format!("`{}`, as `ppsrig run` has it: {error:#}", measure.name);
    Some(Problem { line: Some(line), what })
}

/// The plan of one run of a measure, with the bench as that run has it.
///
/// # Errors
/// What the bench cannot do.
pub(super) fn of_run(measure: &Measure, seed: u64, bench: &Bench) -> anyhow::Result<(Plan, Bench)> {
    let bench = bench.with(measure.counter_hz, measure.scenario.as_deref())?;
    let plan = run::of_measure(measure, seed, &bench.declared)?;
    Ok((plan, bench))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::nightly::told;
    use crate::night::expected::{Taken, expected};

    fn shipped(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/plans").join(name)
    }

    #[test]
    fn shipped_plans_are_valid_and_told_in_words() {
        let mut found = 0;
        for file in std::fs::read_dir(shipped("")).expect("the source tree has it") {
            let path = file.expect("it is readable").path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                let (plan, _bench) = read(&path).unwrap_or_else(|error| panic!("{error:#}"));
                let text = told::description(&plan, &expected(&plan, &Taken::new()));
                assert!(text.contains("  expected     ") && text.contains("  health       "), "{text}");
                found += 1;
            }
        }
        assert_eq!(found, 2);
    }

    #[test]
    fn an_image_that_is_none_and_a_baseline_without_bundles_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("kept")).expect("it fits");
        let bench = shipped("../benches/scpi-ublox.toml");
        let plan = |images: &str, measure: &str| {
            let text = format!(
                "bench = \"{}\"\n[images]\n{images}\n[[measure]]\nmeasurement = \"path\"\n{measure}\n",
                bench.display()
            );
            std::fs::write(path("plan.toml"), text).expect("it fits");
            let (plan, bench) = read(&path("plan.toml")).unwrap_or_else(|error| panic!("{error:#}"));
            move |missing| readable(&plan, &bench, missing).map(drop).map_err(|error| format!("{error:#}"))
        };
        let gone = plan("fast = \"gone.elf\"", "");
        assert_eq!(gone(Missing::Allowed), Ok(()));
        let told = gone(Missing::Refused).expect_err("the image is not there");
        assert!(told.starts_with("image fast of the plan: ") && told.contains("gone.elf does not exist"));
        assert!(!told.contains("--image"), "{told}");
        std::fs::write(path("text.elf"), "no image").expect("it fits");
        let told = plan("fast = \"text.elf\"", "")(Missing::Allowed).expect_err("it is text");
        assert!(told.starts_with("image fast of the plan: ") && told.contains("not a 64-bit ELF"), "{told}");
        let told = plan("fast = \"gone.elf\"", "baseline = \"kept\"")(Missing::Allowed);
        assert!(told.expect_err("nothing is in it").contains("kept: no run bundle in it"));
    }

    #[test]
    fn what_the_bench_cannot_do_is_refused_with_the_line_of_its_measure() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bench = shipped("../benches/scpi-ublox.toml");
        let measures = "[[measure]]\nmeasurement = \"path\"\nclock = \"exact\"\n\
                        [[measure]]\nmeasurement = \"edge\"\nrate = 1000\nwidth-ms = 5\n";
        let file = folder.path().join("plan.toml");
        std::fs::write(&file, format!("bench = \"{}\"\n{measures}", bench.display())).expect("it fits");
        let error = read(&file).expect_err("the bench is hardware").to_string();
        let lines: Vec<_> = error.lines().collect();
        assert!(lines[0].contains("plan.toml:2: `path`, as `ppsrig run` has it: --clock exact"), "{error}");
        assert!(lines[1].contains("plan.toml:5: `edge`, as `ppsrig run` has it: --rate 1000"), "{error}");
        std::fs::write(&file, format!("bench = \"gone.toml\"\n{measures}")).expect("it fits");
        let error = read(&file).expect_err("there is no bench").to_string();
        assert!(error.contains("gone.toml does not exist"), "{error}");
    }
}
