//! Checks that a run record can be that of a run: a value that no run has would give figures without meaning.

use crate::plan::{MOST_EDGES, Plan, RunRecord};

/// A rate of one millihertz has this period.
const MILLIHERTZ_PERIOD_NS: u64 = 1_000_000_000_000;

/// The first contradiction in a run record, as a sentence that names the key.
pub(super) fn contradiction(record: &RunRecord) -> Option<String> {
    let plan = &record.plan;
    let positive = [
        ("plan.edges", u64::from(plan.edges)),
        ("plan.sessions", u64::from(plan.sessions)),
        ("plan.preamble-edges", u64::from(plan.preamble_edges)),
        ("plan.rate-millihertz", plan.rate_millihertz),
        ("plan.period-ns", plan.period_ns),
        ("plan.width-ns", plan.width_ns),
        ("bench.board.counter-hz", record.bench.board.counter_hz.0),
    ];
    let zero = positive.into_iter().find(|(_, value)| *value == 0);
    zero.map(|(key, _)| format!("{key} is 0; no run has that")).or_else(|| disagreement(plan))
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
