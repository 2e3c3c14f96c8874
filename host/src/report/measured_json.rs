//! What summary.json says about `path` and `ctime` beyond their figures: sessions, ladders, what U is made of, and the
//! published figures beside.

use serde::Serialize;

use super::json::{ComponentJson, components};
use super::published::{NO_SPREAD, ctime_operations, path_tenths_ns};
use crate::analysis::ctime::CtimeAnalysis;
use crate::analysis::fixed::Fixed;
use crate::analysis::path::PathAnalysis;
use crate::analysis::path::ladder::{Ladder, Line};
use crate::analysis::path::session::PathSession;
use crate::names::{self, CtimeVariant, PathVariant};

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
    published_operations: u32,
    published_ratio: Option<Fixed>,
    published_spread: &'static str,
}

/// The variants of `path`.
pub(super) fn path_json(analysis: &PathAnalysis) -> Vec<PathJson<'_>> {
    let of_indirect = f64::from(path_tenths_ns(PathVariant::Indirect));
    let of_variant = analysis.variants.iter().map(|variant| {
        let published = Some(path_tenths_ns(variant.variant))
            .filter(|_| variant.clock_id == ppsrig_wire::ClockId::Realtime);
        PathJson {
            variant: variant.variant,
            clock_id: names::of_clock(variant.clock_id),
            interval_between_sessions: variant.mean.is_some_and(|mean| mean.between_sessions),
            components: components(&variant.components),
            ratio_to_indirect: three(analysis.ratio_to_indirect(variant)),
            published_ns: published.map(|tenths| Fixed { scaled: tenths.into(), places: 1 }),
            published_ratio: three(published.map(|tenths| f64::from(tenths) / of_indirect)),
            published_spread: NO_SPREAD,
            sessions: variant.sessions.iter().map(session).collect(),
        }
    });
    of_variant.collect()
}

fn session(session: &PathSession) -> PathSessionJson<'_> {
    PathSessionJson {
        session: session.number,
        mean_ns: nanoseconds(session.mean.value),
        read_overhead_ns: nanoseconds(session.overhead.value),
        doubts: &session.doubts,
        ladder: session.ladder.as_ref().map(ladder),
    }
}

fn ladder(ladder: &Ladder) -> LadderJson {
    let of_line = |of: fn(&Line) -> f64| ladder.line.and_then(|line| Fixed::rounded(of(&line), 6));
    let rungs = ladder.rungs.iter().map(|rung| RungJson {
        cycles: rung.cycles,
        known_ns: nanoseconds(rung.known),
        measured_ns: nanoseconds(rung.measured),
        bias_bound_ns: nanoseconds(rung.bias),
    });
    LadderJson {
        pairs: ladder.pairs,
        slope: of_line(|line| line.slope),
        slope_half_95: of_line(|line| line.slope_half),
        p_value: of_line(|line| line.p_value),
        rungs: rungs.collect(),
    }
}

/// The variants of `ctime`.
pub(super) fn ctime_json(analysis: &CtimeAnalysis) -> Vec<CtimeJson<'_>> {
    let of_coarse = f64::from(ctime_operations(CtimeVariant::Coarse));
    let of_variant = analysis.variants.iter().map(|variant| CtimeJson {
        variant: variant.variant.name(),
        cores: variant.cores,
        sessions: variant.sessions,
        fine_stamps: variant.fine_stamps,
        ratio_to_coarse: three(analysis.ratio_to_coarse(variant, |one| one.rate)),
        instructions_ratio_to_coarse: three(analysis.ratio_to_coarse(variant, |one| one.instructions)),
        published_operations: ctime_operations(variant.variant),
        published_ratio: three(Some(f64::from(ctime_operations(variant.variant)) / of_coarse)),
        published_spread: NO_SPREAD,
    });
    of_variant.collect()
}

fn three(ratio: Option<f64>) -> Option<Fixed> {
    Fixed::rounded(ratio?, 3)
}

/// Picoseconds as nanoseconds with three places.
fn nanoseconds(ps: f64) -> Option<Fixed> {
    Fixed::rounded(ps, 0).map(|ps| Fixed::nanoseconds(ps.scaled))
}
