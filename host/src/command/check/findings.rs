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
    /// This bench has nothing to verify it with. Says nothing against it.
    NotVerifiable,
    /// There, but not well.
    Unwell,
    /// It cannot be used.
    Unusable,
    /// Not looked at, because something before it failed.
    NotChecked,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Confidence {
    /// The evidence could not look otherwise.
    Certain,
    /// The evidence speaks for it, and does not exclude all else.
    Likely,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    finding: &'static str,
    state: State,
    /// None where nothing was found out.
    confidence: Option<Confidence>,
    evidence: String,
    /// The figures in the evidence, for machines.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    figures: Figures,
}

/// Figures by name, the unit being part of the name.
pub(super) type Figures = serde_json::Map<String, serde_json::Value>;

/// All lines.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    pub(super) fn good(&mut self, finding: &'static str, evidence: impl Into<String>) {
        self.judged(finding, (State::Good, Confidence::Certain), evidence, Figures::new());
    }

    pub(super) fn unwell(&mut self, finding: &'static str, evidence: impl Into<String>) {
        self.judged(finding, (State::Unwell, Confidence::Certain), evidence, Figures::new());
    }

    pub(super) fn unusable(&mut self, finding: &'static str, evidence: impl Into<String>) {
        self.judged(finding, (State::Unusable, Confidence::Certain), evidence, Figures::new());
    }

    pub(super) fn not_checked(&mut self, finding: &'static str, why: impl Into<String>) {
        self.without(finding, State::NotChecked, why);
    }

    pub(super) fn not_verifiable(&mut self, finding: &'static str, why: impl Into<String>) {
        self.without(finding, State::NotVerifiable, why);
    }

    fn without(&mut self, finding: &'static str, state: State, why: impl Into<String>) {
        let (evidence, figures) = (why.into(), Figures::new());
        self.findings.push(Finding { finding, state, confidence: None, evidence, figures });
    }

    pub(super) fn judged(
        &mut self,
        finding: &'static str,
        (state, confidence): (State, Confidence),
        evidence: impl Into<String>,
        figures: Figures,
    ) {
        let (confidence, evidence) = (Some(confidence), evidence.into());
        self.findings.push(Finding { finding, state, confidence, evidence, figures });
    }

    /// Whether something cannot be used so far.
    pub(super) fn any_unusable(&self) -> bool {
        self.findings.iter().any(|finding| finding.state >= State::Unusable)
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
            let likely = finding.confidence == Some(Confidence::Likely);
            let state = match finding.state {
                State::Good if likely => "good, likely",
                State::Unwell if likely => "NOT WELL, likely",
                State::Good => "good",
                State::NotVerifiable => "not verifiable",
                State::Unwell => "NOT WELL",
                State::Unusable => "UNUSABLE",
                State::NotChecked => "not checked",
            };
            table.add_row([finding.finding, state, &finding.evidence]);
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
        findings.not_verifiable("cables", "nothing to measure them with");
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
