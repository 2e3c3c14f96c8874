//! A plan with the bench that it is for: read, and every measure asked of the same functions that `ppsrig run` asks.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::bench_file::Problem;
use crate::command::bench::{self, Bench};
use crate::command::run;
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
