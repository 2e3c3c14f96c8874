//! The report of a bundle without run.toml: nothing can be computed without plan and bench, so it says what rig.log shows.

use std::path::Path;

use ppsrig_wire::{Capabilities, FromBoard};
use serde_json::{Value, json};

use super::terminal::pairs;
use crate::analysis::verdict::Outcome;
use crate::events::{BoardEvent, Recording, RigEvent};

/// The report: text, or with `json` an object with the keys of summary.json, null where not known.
#[must_use]
pub fn without_record(dir: &Path, recording: &Recording, json: bool) -> String {
    let reason = reason(recording);
    if json {
        return format!("{:#}\n", object(recording, &reason));
    }
    let outcome = Outcome::NotDone;
    let mut rows = vec![("verdict", format!("{outcome} (exit {}): partial: {reason}", outcome.exit()))];
    rows.push((
        "raw/ holds",
        format!(
            "{} events of the rig, {} of the board, {} of the reference, {} of the interval counter",
            recording.rig.len(),
            recording.board.len(),
            recording.reference.len(),
            recording.interval.len()
        ),
    ));
    rows.extend(recording.incomplete.iter().map(|what| ("incomplete", what.clone())));
    format!("{}\nbundle: {}\n", pairs(&rows), dir.display())
}

/// Why there is no run.toml, which is written before the first session, by what the rig did.
fn reason(recording: &Recording) -> String {
    let stopped = recording.rig.iter().find_map(|event| match &event.event {
        RigEvent::Stopped { reason } => Some(reason.as_str()),
        _ => None,
    });
    let began = recording.rig.iter().any(|event| !matches!(event.event, RigEvent::Stopped { .. }));
    let windows =
        recording.rig.iter().filter(|event| matches!(event.event, RigEvent::WindowOpened { .. })).count();
    let finished = recording.rig.iter().any(|event| event.event == RigEvent::Finished);
    let end = match (finished, stopped) {
        (true, _) => "finished".to_owned(),
        (false, Some(reason)) => format!("was stopped: {reason}"),
        (false, None) => "did not get to its end".to_owned(),
    };
    match (began, stopped) {
        (true, _) => format!(
            "run.toml is missing, although rig.log shows a run that opened {windows} capture windows and {end}; \
             put run.toml back, nothing can be computed without it"
        ),
        (false, Some(reason)) => {
            format!("the run was stopped before it wrote run.toml, that is before the first edge: {reason}")
        }
        (false, None) => {
            "there is no run.toml, and rig.log shows nothing: the run ended before the first edge, or both \
             are missing"
                .to_owned()
        }
    }
}

fn object(recording: &Recording, reason: &str) -> Value {
    let outcome = Outcome::NotDone;
    let mut reasons = vec![format!("the recording is partial: {reason}")];
    reasons.extend(recording.incomplete.iter().cloned());
    let emulated = recording.board.iter().rev().find_map(|event| match &event.event {
        BoardEvent::Frame { message: FromBoard::Identity(identity), .. } => {
            Some(identity.capabilities.has(Capabilities::EMULATED))
        }
        _ => None,
    });
    json!({
        "bundle_version": null,
        "status": "partial",
        "partial_because": reason,
        "outcome": outcome,
        "exit": outcome.exit(),
        "reasons": reasons,
        "emulated": emulated,
        "measurement": "edge",
        "mode": null,
        "clock_id": null,
        "rate_hz": null,
        "provenance": null,
        "second_rule": null,
        "bring_up": null,
        "probe_transactions": null,
        "counter_rate": null,
        "counter_faults": null,
        "counter_steps": null,
        "ledger": null,
        "preamble_ledger": null,
        "latency": null,
        "without_echo": null,
        "figures": null,
    })
}
