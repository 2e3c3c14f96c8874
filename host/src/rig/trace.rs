//! Taking a trace: the board is told by its mailbox to measure a path, and is stepped from the caller's counter read to
//! the read inside the snapshot function.
//!
//! In step with the image: each build's caller is a symbol `ppsrig_pair_BUILD`, in which the first read of the counter
//! is the caller's (target/firmware/src/arch/pair.rs).

use std::path::Path;

use ppsrig_wire::{ClockId, PathPlan, ToBoard};
use thiserror::Error;

use crate::bench_file::BenchFile;
use crate::events::RigEvent;
use crate::names::PathVariant;
use crate::rig::image::Image;
use crate::rig::measuring::{mailbox, path_variant, ratio};
use crate::rig::probe::{self, Executed, Load, ProbeError, Target, Task, is_counter_read};
use crate::rig::recorder::Log;
use crate::rig::symbols::Symbols;
use crate::rig::watch::Watch;

/// Pairs that the board is told to take: the first is enough, since all execute the same.
const ITERATIONS: u32 = 1000;
/// Instructions of a caller in which its counter read has to lie.
const CALLER: u64 = 256;

/// Why there is no trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// not in the image
    #[error(
        "{path}: no {symbol} in it that reads the counter; build the image from the same source as ppsrig, and do not \
         strip it"
    )]
    NoCaller {
        /// The file.
        path: String,
        /// The symbol.
        symbol: String,
    },
    /// the probe
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// What is traced, and through which probe.
#[derive(Clone, Copy, Debug)]
pub struct Traced<'a> {
    /// The board behind its probe.
    pub target: &'a Target,
    /// The image's file.
    pub path: &'a Path,
    /// The image.
    pub image: &'a Image,
    /// Its symbols.
    pub symbols: &'a Symbols,
    /// The bench.
    pub bench: &'a BenchFile,
}

/// Loads the board and steps it through each build: the instructions from the caller's read to the read inside, both
/// among them, in the order of `variants`, of which none is there twice.
///
/// # Errors
/// [`TraceError`]
pub fn trace(
    traced: &Traced<'_>,
    (variants, clock_id): (&[PathVariant], ClockId),
    log: &Log,
    watch: &Watch,
) -> Result<Vec<Vec<Executed>>, TraceError> {
    let from = variants.iter().map(|&variant| callers_read(traced, variant)).collect::<Result<_, _>>()?;
    let commands: Vec<_> = (1..)
        .zip(variants)
        .map(|(window, &variant)| command(traced.bench, window, (variant, clock_id)))
        .collect();
    let load = Load { image: traced.path.to_owned(), mailbox: mailbox(&commands) };
    let began = log.clock().now();
    let task = Task::Trace { target: traced.target.clone(), load, from };
    let result = probe::perform(&task, watch, &mut |step| log::debug!("{step:?}"));
    let operations = match &result {
        Ok(performed) => performed.report.operations,
        Err(error) => error.operations(),
    };
    log.did(&RigEvent::ProbeUsed { purpose: "trace".to_owned(), began, operations });
    Ok(result?.executed)
}

/// The address of the first instruction of the build's caller that reads the counter.
fn callers_read(traced: &Traced<'_>, variant: PathVariant) -> Result<u64, TraceError> {
    let symbol = format!("ppsrig_pair_{}", variant.name().replace('-', "_"));
    let reads = |&address: &u64| traced.image.word(address).is_some_and(is_counter_read);
    let found = traced
        .symbols
        .address_of(&symbol)
        .and_then(|start| (start..start + 4 * CALLER).step_by(4).find(reads));
    found.ok_or_else(|| TraceError::NoCaller { path: traced.path.display().to_string(), symbol })
}

fn command(bench: &BenchFile, window: u32, (variant, clock_id): (PathVariant, ClockId)) -> ToBoard {
    let (cycles, ticks) = ratio(bench.board.cpu_hz, bench.board.counter_hz);
    let plan = PathPlan {
        window,
        variant: path_variant(variant),
        clock_id,
        iterations: ITERATIONS,
        batches: 1,
        dither: false,
        seed: 1,
        dither_steps: cycles,
        ratio_cycles: cycles,
        ratio_ticks: ticks,
        added_delay: 0,
        raw_pairs: false,
    };
    ToBoard::StartPath(plan)
}
