//! summary.json of a night: all of it, for machines.

use serde::Serialize;

use crate::night::{Night, NightRecord};

#[derive(Serialize)]
struct Summary<'a> {
    night_version: u32,
    ppsrig_version: &'a str,
    ppsrig_commit: &'a str,
    plan_sha256: &'a str,
    #[serde(flatten)]
    night: &'a Night,
}

/// The whole object, indented, with a line end.
pub(crate) fn summary(record: &NightRecord, night: &Night) -> String {
    let summary = Summary {
        night_version: record.night_version,
        ppsrig_version: &record.ppsrig_version,
        ppsrig_commit: &record.ppsrig_commit,
        plan_sha256: &record.plan_sha256,
        night,
    };
    let mut text =
        serde_json::to_string_pretty(&summary).expect("names are strings and no number is out of range");
    text.push('\n');
    text
}
