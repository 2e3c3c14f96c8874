//! What a check found, one line an instrument, with the evidence.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

/// How an instrument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// There and well.
    Good,
    /// There, but not well.
    Unwell,
    /// It cannot be used.
    Unusable,
    /// Not looked at, because something before it failed.
    NotChecked,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    instrument: &'static str,
    state: State,
    evidence: String,
}

/// All lines.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    pub(super) fn good(&mut self, instrument: &'static str, evidence: impl Into<String>) {
        self.add(instrument, State::Good, evidence);
    }

    pub(super) fn unwell(&mut self, instrument: &'static str, evidence: impl Into<String>) {
        self.add(instrument, State::Unwell, evidence);
    }

    pub(super) fn unusable(&mut self, instrument: &'static str, evidence: impl Into<String>) {
        self.add(instrument, State::Unusable, evidence);
    }

    pub(super) fn not_checked(&mut self, instrument: &'static str, why: impl Into<String>) {
        self.add(instrument, State::NotChecked, why);
    }

    fn add(&mut self, instrument: &'static str, state: State, evidence: impl Into<String>) {
        self.findings.push(Finding { instrument, state, evidence: evidence.into() });
    }

    /// 0 all is well, 1 something is not, 2 something cannot be used.
    pub(super) fn exit_code(&self) -> u8 {
        let any = |state| self.findings.iter().any(|finding| finding.state == state);
        match (any(State::Unusable) || any(State::NotChecked), any(State::Unwell)) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "findings": self.findings, "exit_code": self.exit_code() })
    }

    pub(super) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        for finding in &self.findings {
            let state = match finding.state {
                State::Good => "good",
                State::Unwell => "NOT WELL",
                State::Unusable => "UNUSABLE",
                State::NotChecked => "not checked",
            };
            table.add_row([finding.instrument, state, &finding.evidence]);
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned());
        lines.map(|line| line + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides() {
        let mut findings = Findings::default();
        findings.good("probe", "attached");
        assert_eq!(findings.exit_code(), 0);
        findings.unwell("reference", "not locked");
        assert_eq!(findings.exit_code(), 1);
        findings.not_checked("link", "no probe");
        assert_eq!(findings.exit_code(), 2);
    }

    #[test]
    fn the_table_fits_a_mail() {
        let mut findings = Findings::default();
        findings.unusable("generator", "word ".repeat(60));
        assert!(findings.table().lines().all(|line| line.chars().count() <= 80), "{}", findings.table());
    }
}
