//! What is asked of the board itself: the plan of `path` and of `ctime`.

use anyhow::{Context, bail, ensure};

use super::plan::Asked;
use crate::bench_file::BenchFile;
use crate::names::{CtimeVariant, Measurement, PathVariant};
use crate::plan::{CtimeMeasurement, PathMeasurement, cycle_ps, ladder_delays, whole_tick_steps};

/// Fewer pairs cannot resolve tenths of a nanosecond at a tick of 80 ns.
const LEAST_ITERATIONS: u32 = 100_000;
const LADDER_ITERATIONS: u32 = 100_000;
/// Equal parts of a session, for the interval of its mean.
const BATCHES: u16 = 32;
/// Most steps of a dither: a chain of so many adds.
const MOST_STEPS: u32 = 4096;

pub(super) fn path(asked: &Asked<'_>, bench: &BenchFile) -> anyhow::Result<PathMeasurement> {
    let (board, cpu, counter) = (asked.board, bench.board.cpu_hz, bench.board.counter_hz);
    ensure!(
        board.iterations >= LEAST_ITERATIONS,
        "--iterations {}: too few for a mean below a tick; give at least {LEAST_ITERATIONS}",
        board.iterations
    );
    ensure!(
        counter.0 <= cpu.0,
        "counter-hz {counter} is above cpu-hz {cpu}: a counter faster than the core; correct them, or --counter-hz"
    );
    let steps = whole_tick_steps(cpu, counter);
    let dither_steps = u32::try_from(steps).ok().filter(|&steps| steps <= MOST_STEPS).with_context(|| {
        format!(
            "cpu-hz {cpu} and counter-hz {counter}: they are in step only every {steps} CPU cycles, and a dither over so \
             many is not possible (at most {MOST_STEPS}); are both exact?"
        )
    })?;
    Ok(PathMeasurement {
        variants: variants(&board.variant, asked, PathVariant::ALL)?,
        iterations: board.iterations,
        batches: BATCHES,
        // As many, since its error goes into every figure.
        overhead_iterations: board.iterations,
        dither: board.dither,
        dither_steps,
        max_bias_ps: board.max_bias.map_or_else(|| cycle_ps(cpu), |bias| bias.0),
        // Where a tick is a cycle there is nothing that a ladder could show.
        ladder_delays: if counter == cpu { Vec::new() } else { ladder_delays(cpu, counter) },
        ladder_iterations: LADDER_ITERATIONS,
        raw_pairs: board.raw_pairs,
    })
}

pub(super) fn ctime(asked: &Asked<'_>) -> anyhow::Result<CtimeMeasurement> {
    Ok(CtimeMeasurement {
        variants: variants(&asked.board.variant, asked, CtimeVariant::ALL)?,
        cores: asked.board.cores,
        operations: asked.board.operations,
    })
}

/// The variants that were named, or all of them. Where path and ctime are measured, each takes its own.
fn variants<V>(named: &[String], asked: &Asked<'_>, all: &[V]) -> anyhow::Result<Vec<V>>
where
    V: Copy + PartialEq + std::str::FromStr<Err = String>,
{
    let known = |name: &str| {
        let path = asked.measure.contains(&Measurement::Path) && name.parse::<PathVariant>().is_ok();
        path || asked.measure.contains(&Measurement::Ctime) && name.parse::<CtimeVariant>().is_ok()
    };
    let mut chosen = Vec::new();
    for name in named {
        match name.parse() {
            Ok(variant) if chosen.contains(&variant) => bail!("--variant: {name} is there twice"),
            Ok(variant) => chosen.push(variant),
            Err(_) if known(name) => {}
            Err(known) => bail!("--variant {name}: {known}"),
        }
    }
    Ok(if chosen.is_empty() { all.to_vec() } else { chosen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::run::BoardArgs;
    use crate::command::run::plan::plan;
    use crate::command::run::plan::tests::{asked, bench, board_args};
    use crate::plan::Plan;

    fn path_planned(change: impl FnOnce(&mut BoardArgs)) -> anyhow::Result<Plan> {
        let mut board = board_args();
        change(&mut board);
        let measure = [Measurement::Path];
        plan(&Asked { measure: &measure, ..asked(&board) }, &bench())
    }

    #[test]
    fn too_few_pairs_are_refused() {
        assert!(path_planned(|board| board.iterations = 99_999).is_err());
    }

    #[test]
    fn a_path_alone_has_no_edges_and_all_variants_unless_told() {
        let plan = path_planned(|_| {}).expect("the bench can do it");
        assert_eq!((plan.edges, plan.preamble_edges), (0, 0));
        let path = plan.path.expect("it is measured");
        assert_eq!(path.variants, PathVariant::ALL);
        assert_eq!(path.max_bias_ps, 667, "one cycle of 1.5 GHz");
        let plan = path_planned(|board| board.variant = vec!["inline".into()]).expect("there is one");
        assert_eq!(plan.path.expect("it is measured").variants, [PathVariant::Inline]);
    }

    #[test]
    fn a_variant_of_another_measurement_is_refused_and_names_those_that_there_are() {
        let named = |name: &str| path_planned(|board| board.variant = vec![name.to_owned()]);
        let error = named("coarse").expect_err("that is one of ctime").to_string();
        assert!(error.contains("--variant coarse") && error.contains("inline-biased"), "{error}");
        let twice = path_planned(|board| board.variant = vec!["inline".into(), "inline".into()]);
        assert!(twice.is_err());
    }
}
