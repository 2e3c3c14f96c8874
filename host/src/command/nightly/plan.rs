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
    let what = format!("[[measure]] `{}`, as `ppsrig run` has it: {error:#}", measure.name);
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
