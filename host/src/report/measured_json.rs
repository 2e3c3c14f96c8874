//! What summary.json says about `path` and `ctime` beyond their figures: sessions, ladders, what U is made of, and the
//! published figures beside.

use serde::Serialize;

use super::json::{ComponentJson, components};
use crate::analysis::ctime::CtimeAnalysis;
use crate::analysis::fixed::Fixed;
use crate::analysis::path::PathAnalysis;
use crate::analysis::path::ladder::Ladder;
use crate::analysis::path::session::PathSession;
use crate::analysis::published::{CTIME_SOURCE, NO_SPREAD, PATH_SOURCE, beside_ctime, beside_path};
use crate::names::{self, PathVariant};

/// One variant of `path`.
#[derive(Serialize)]
pub(super) struct PathJson<'a> {
    variant: PathVariant,
    clock_id: &'static str,
    interval_between_sessions: bool,
    components: Vec<ComponentJson>,
    ratio_to_indirect: Option<Fixed>,
    published_ns: Option<Fixed>,
    published_ratio: Option<Fixed>,
    published_spread: &'static str,
    published_source: &'static str,
    sessions: Vec<PathSessionJson<'a>>,
}

#[derive(Serialize)]
struct PathSessionJson<'a> {
    session: u32,
    mean_ns: Option<Fixed>,
    read_overhead_ns: Option<Fixed>,
    doubts: &'a [String],
    ladder: Option<LadderJson>,
}

#[derive(Serialize)]
struct LadderJson {
    pairs: u64,
    slope: Option<Fixed>,
    slope_half_95: Option<Fixed>,
    p_value: Option<Fixed>,
    rungs: Vec<RungJson>,
}

#[derive(Serialize)]
struct RungJson {
    cycles: u32,
    known_ns: Option<Fixed>,
    measured_ns: Option<Fixed>,
    bias_bound_ns: Option<Fixed>,
}

/// One variant of `ctime`.
#[derive(Serialize)]
pub(super) struct CtimeJson<'a> {
    variant: &'a str,
    cores: u8,
    sessions: u64,
    fine_stamps: u64,
    ratio_to_coarse: Option<Fixed>,
    instructions_ratio_to_coarse: Option<Fixed>,
    published_operations: Option<Fixed>,
    published_ratio: Option<Fixed>,
    published_spread: &'static str,
    published_source: &'static str,
}

/// The variants of `path`.
pub(super) fn path_json(analysis: &PathAnalysis) -> Vec<PathJson<'_>> {
    let of_variant = analysis.variants.iter().map(|variant| {
        let beside = beside_path(analysis, variant);
        PathJson {
            variant: variant.variant,
            clock_id: names::of_clock(variant.clock_id),
            interval_between_sessions: variant.mean.is_some_and(|mean| mean.between_sessions),
            components: components(&variant.components),
            ratio_to_indirect: beside.ratio,
            published_ns: beside.published,
            published_ratio: beside.published_ratio,
            published_spread: NO_SPREAD,
            published_source: PATH_SOURCE,
            sessions: variant.sessions.iter().map(session).collect(),
        }
    });
    of_variant.collect()
}

fn session(session: &PathSession) -> PathSessionJson<'_> {
    PathSessionJson {
        session: session.number,
        mean_ns: Fixed::rounded_nanoseconds(session.mean.value),
        read_overhead_ns: Fixed::rounded_nanoseconds(session.overhead.value),
        doubts: &session.doubts,
        ladder: session.ladder.as_ref().map(ladder),
    }
}

fn ladder(ladder: &Ladder) -> LadderJson {
    let line = ladder.line;
    let rungs = ladder.rungs.iter().map(|rung| RungJson {
        cycles: rung.cycles,
        known_ns: Fixed::rounded_nanoseconds(rung.known),
        measured_ns: Fixed::rounded_nanoseconds(rung.measured),
        bias_bound_ns: Fixed::rounded_nanoseconds(rung.bias),
    });
    LadderJson {
        pairs: ladder.pairs,
        slope: line.and_then(|line| Fixed::rounded(line.slope, 6)),
        slope_half_95: line.and_then(|line| Fixed::rounded(line.slope_half, 6)),
        p_value: line.and_then(|line| Fixed::rounded(line.p_value, 6)),
        rungs: rungs.collect(),
    }
}

/// The variants of `ctime`.
pub(super) fn ctime_json(analysis: &CtimeAnalysis) -> Vec<CtimeJson<'_>> {
    let of_variant = analysis.variants.iter().map(|variant| {
        let beside = beside_ctime(analysis, variant);
        CtimeJson {
            variant: variant.variant.name(),
            cores: variant.cores,
            sessions: variant.sessions,
            fine_stamps: variant.fine_stamps,
            ratio_to_coarse: beside.ratio,
            instructions_ratio_to_coarse: beside.instructions_ratio,
            published_operations: beside.published,
            published_ratio: beside.published_ratio,
            published_spread: NO_SPREAD,
            published_source: CTIME_SOURCE,
        }
    });
    of_variant.collect()
}
