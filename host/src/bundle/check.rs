//! Checks that a run record can be that of a run: a value that no run has would give figures without meaning.

use crate::names::Measurement;
use crate::plan::{MOST_EDGES, Plan, RunRecord};

/// A rate of one millihertz has this period.
const MILLIHERTZ_PERIOD_NS: u64 = 1_000_000_000_000;

/// The first contradiction in a run record, as a sentence that names the key.
pub(super) fn contradiction(record: &RunRecord) -> Option<String> {
    let plan = &record.plan;
    let of_every_run = [
        ("plan.sessions", u64::from(plan.sessions)),
        ("bench.board.counter-hz", record.bench.board.counter_hz.0),
        ("bench.board.cpu-hz", record.bench.board.cpu_hz.0),
    ];
    let of_edges = [
        ("plan.edges", u64::from(plan.edges)),
        ("plan.preamble-edges", u64::from(plan.preamble_edges)),
        ("plan.rate-millihertz", plan.rate_millihertz),
        ("plan.period-ns", plan.period_ns),
        ("plan.width-ns", plan.width_ns),
    ];
    let edges = plan.measure.contains(&Measurement::Edge);
    let positive = of_every_run.into_iter().chain(of_edges.into_iter().filter(|_| edges));
    let zero = positive.into_iter().find(|(_, value)| *value == 0);
    let zero = zero.map(|(key, _)| format!("{key} is 0; no run has that"));
    zero.or_else(|| if edges { disagreement(plan) } else { None })
}

fn disagreement(plan: &Plan) -> Option<String> {
    let edges = u64::from(plan.edges) * u64::from(plan.sessions);
    if edges > u64::from(MOST_EDGES) {
        return Some(format!(
            "plan.edges = {} in each of plan.sessions = {} makes {edges} edges, a run has {MOST_EDGES} at most",
            plan.edges, plan.sessions
        ));
    }
    let period_ns = (MILLIHERTZ_PERIOD_NS + plan.rate_millihertz / 2) / plan.rate_millihertz;
    if plan.period_ns != period_ns {
        return Some(format!(
            "plan.period-ns = {} disagrees with plan.rate-millihertz = {}, whose period is {period_ns} ns",
            plan.period_ns, plan.rate_millihertz
        ));
    }
    (plan.width_ns >= plan.period_ns).then(|| {
        format!("plan.width-ns = {} is no shorter than plan.period-ns = {}", plan.width_ns, plan.period_ns)
    })
}
