//! Where everything came from, and under which conditions.

use maud::{Markup, html};

use crate::analysis::Analysis;
use crate::plan::RunRecord;
use crate::report::html::page::facts;

/// Versions, hashes, seeds, conditions, the bench.
pub(super) fn sections(record: &RunRecord, analysis: &Analysis) -> Markup {
    html! {
        h2 { "Provenance" }
        (facts(&origin(record, analysis)))
        h2 { "Conditions" }
        (facts(&conditions(record, analysis)))
    }
}

fn origin(record: &RunRecord, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let from = &record.provenance;
    let board = analysis.identity.as_ref().map_or_else(String::new, |identity| {
        format!("{}, firmware {}, EL{}", identity.board, identity.git_hash, identity.exception_level)
    });
    vec![
        ("ppsrig", format!("{} ({})", from.ppsrig_version, from.ppsrig_commit)),
        ("recorded from", from.started_utc.clone()),
        ("bench file", from.bench_file.clone()),
        ("image", from.image.clone()),
        ("image sha256", from.image_sha256.clone()),
        ("board", board),
        ("run seed", record.plan.seed.to_string()),
        (
            "made from",
            "run.toml and raw/ of this folder; `ppsrig replay` makes the same page again".to_owned(),
        ),
    ]
}

fn conditions(record: &RunRecord, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let bench = &record.bench;
    let probe = analysis.probe_operations();
    let mut rows = vec![
        ("clocks", format!("counter {} declared, core {}", bench.board.counter_hz, bench.board.cpu_hz)),
        ("time passed", record.plan.clock.to_string()),
        ("probe", format!("{probe} transactions while the board measured")),
        ("bring-up", record.conditions.bring_up.clone()),
        ("generator", format!("{}: {}", bench.generator.driver.name(), record.conditions.generator)),
        ("reference", format!("driver {}", reference_name(record))),
    ];
    rows.extend(
        bench.interval_counter.iter().map(|counter| ("interval counter", counter.driver.name().to_owned())),
    );
    if let Some(edge) = &analysis.edge {
        let gap = edge.longest_gap_ms(bench.board.counter_hz);
        let gap = gap.map_or_else(|| "an unknown time".to_owned(), |gap| format!("{gap} ms"));
        rows.push((
            "core",
            format!("{} heartbeats; its idle loop stood still for {gap} at most", edge.heartbeats()),
        ));
    }
    rows
}

/// As the bench file has it.
fn reference_name(record: &RunRecord) -> String {
    let value = serde_json::to_value(record.bench.reference.driver).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
