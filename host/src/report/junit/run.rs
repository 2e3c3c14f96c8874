//! junit.xml of a run: a suite a measurement; in it whether the run could be done, then a case for each build or way of
//! capture, then one for each limit.

use super::{Case, Finding, Suite, report};
use crate::analysis::Analysis;
use crate::analysis::figure::Figure;
use crate::analysis::verdict::{Outcome, enough_paired};
use crate::names::Measurement;
use crate::plan::RunRecord;
use crate::report::csv_files::rate_hz;

/// Figures that are held against a limit by themselves; what else has a verdict is the measurement's.
const LIMITED: [&str; 5] =
    ["bias_bound", "ordering_violations", "counter_rate", "probe_transactions", "ledger_"];

/// The file.
#[must_use]
pub fn run(record: &RunRecord, analysis: &Analysis) -> String {
    let bench = record.provenance.bench_file.trim_end_matches(".toml");
    let suites =
        record.plan.measure.iter().map(|measurement| Of { record, analysis, measurement: *measurement });
    report(&format!("ppsrig {bench}"), Some(analysis.recorded), suites.map(|of| of.suite(bench)).collect())
}

/// One measurement of a run.
struct Of<'a> {
    record: &'a RunRecord,
    analysis: &'a Analysis,
    measurement: Measurement,
}

impl Of<'_> {
    fn suite(&self, bench: &str) -> Suite {
        let cases = [vec![self.whole()], self.measured(), self.limits()];
        Suite {
            name: format!("{bench}.{}", self.measurement),
            started_utc: self.record.provenance.started_utc.clone(),
            properties: self.properties(),
            cases: cases.into_iter().flatten().collect(),
        }
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let provenance = &self.record.provenance;
        vec![
            ("bench", provenance.bench_file.clone()),
            ("image", provenance.image.clone()),
            ("image_sha256", provenance.image_sha256.clone()),
            ("emulated", self.analysis.emulated.to_string()),
            ("seed", self.record.plan.seed.to_string()),
            ("ppsrig", format!("{} ({})", provenance.ppsrig_version, provenance.ppsrig_commit)),
        ]
    }

    /// Whether it could be done at all.
    fn whole(&self) -> Case {
        let verdict = &self.analysis.verdict;
        let finding = match verdict.outcome {
            Outcome::NotDone => {
                let text = [verdict.reasons.join("\n"), self.where_to_look()].join("\n");
                Finding::Error("not-done", first(&verdict.reasons), text)
            }
            _ => Finding::Passed(self.where_to_look()),
        };
        Case { seconds: Some(self.analysis.recorded), ..Case::new("recorded whole", finding) }
    }

    /// A case a build of the code, or a way of capture and tie.
    fn measured(&self) -> Vec<Case> {
        let mut names: Vec<String> = Vec::new();
        for figure in self.figures().filter(|figure| !is_limited(figure) && !name(figure).is_empty()) {
            if !names.contains(&name(figure)) {
                names.push(name(figure));
            }
        }
        let cases = names.into_iter().map(|build| {
            let figures: Vec<&Figure> =
                self.figures().filter(|figure| name(figure) == build && !is_limited(figure)).collect();
            Case::new(build.clone(), self.judged(&figures))
        });
        cases.collect()
    }

    fn judged(&self, figures: &[&Figure]) -> Finding {
        let told = figures.iter().filter(|figure| figure.value.is_some()).map(|figure| self.told(figure));
        let text = told.chain([self.where_to_look()]).collect::<Vec<_>>().join("\n");
        let verdict = &self.analysis.verdict;
        let invalid = figures.iter().any(|figure| figure.verdict == "invalid");
        match verdict.outcome {
            Outcome::NotDone => Finding::Skipped("not judged: the run could not be done".to_owned()),
            Outcome::Unjudged | Outcome::Invalid => Finding::Skipped(verdict.reasons.join("; ")),
            _ if invalid => Finding::Skipped(verdict.reasons.join("; ")),
            _ if figures.iter().all(|figure| figure.value.is_none()) => {
                Finding::Skipped("there is no figure of it".to_owned())
            }
            Outcome::Failed | Outcome::Passed => Finding::Passed(text),
        }
    }

    fn limits(&self) -> Vec<Case> {
        let limited = self.figures().filter(|figure| is_limited(figure) && !figure.verdict.is_empty());
        let measured = limited.filter(|figure| !figure.verdict.starts_with("declared"));
        let mut cases: Vec<Case> = measured.map(|figure| self.limit(figure)).collect();
        let edge = self.analysis.edge.as_ref().filter(|_| self.measurement == Measurement::Edge);
        cases.extend(edge.map(|edge| {
            let percent = self.record.bench.limits.paired_min_percent;
            let finding = match enough_paired(&edge.edges, percent) {
                true => Finding::Passed(self.where_to_look()),
                false => Finding::Skipped(self.reason_with("edges are paired")),
            };
            Case::new("limit paired-min-percent", finding)
        }));
        cases
    }

    fn limit(&self, figure: &Figure) -> Case {
        let parts = ["limit", figure.metric.as_str(), figure.variant];
        let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let text = [self.told(figure), self.where_to_look()].join("\n");
        let message = match figure.metric.strip_prefix("ledger_") {
            Some(class) => self.reason_with(&format!("edges {class}")),
            None => format!("{}: {}", self.told(figure), self.analysis.verdict.reasons.join("; ")),
        };
        let finding = match figure.verdict {
            "passed" => Finding::Passed(text),
            "exceeded" => Finding::Failed("limit", message, text),
            "refused" => Finding::Error("refused", message, text),
            _ => Finding::Skipped(message),
        };
        Case::new(name, finding)
    }

    /// The verdict's sentence that speaks of something; all of them where none does.
    fn reason_with(&self, about: &str) -> String {
        let reasons = &self.analysis.verdict.reasons;
        let found = reasons.iter().find(|reason| reason.contains(about));
        found.cloned().unwrap_or_else(|| reasons.join("; "))
    }

    /// A figure as a line: value, interval, uncertainty, and whose it is.
    fn told(&self, figure: &Figure) -> String {
        let value = figure.value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
        let interval = figure.interval.map(|(low, high)| format!(", 95 % {low} to {high}"));
        let uncertainty = figure.uncertainty.map(|u| format!(", U {u}"));
        let unit = if figure.unit == "1" { String::new() } else { format!(" {}", figure.unit) };
        let (metric, n) = (&figure.metric, figure.n);
        let emulated = if self.analysis.emulated { ", emulated" } else { "" };
        let (interval, uncertainty) = (interval.unwrap_or_default(), uncertainty.unwrap_or_default());
        format!("{metric}: {value}{unit}{interval}{uncertainty}, n {n}{emulated}")
    }

    fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.analysis.figures().filter(|figure| figure.measurement == self.measurement)
    }

    fn where_to_look(&self) -> String {
        let lines = match self.measurement {
            Measurement::Edge => format!(
                "edges.csv (every edge with its class and reason; {} edges a second)",
                rate_hz(self.record)
            ),
            Measurement::Path => "samples.csv and trace.txt".to_owned(),
            Measurement::Ctime => "summary.json".to_owned(),
        };
        format!(
            "where to look: {lines}, report.html and raw/ beside this file\nagain: ppsrig replay FOLDER-OF-THIS-FILE"
        )
    }
}

fn is_limited(figure: &Figure) -> bool {
    LIMITED.iter().any(|name| figure.metric.starts_with(name))
}

/// The build, or mode and tie, that a figure is of. Figures of the whole run have none.
fn name(figure: &Figure) -> String {
    let parts = match figure.measurement {
        Measurement::Edge if figure.tie.is_empty() => return String::new(),
        Measurement::Edge => [figure.mode, figure.tie],
        Measurement::Path | Measurement::Ctime => [figure.variant, ""],
    };
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

fn first(reasons: &[String]) -> String {
    reasons.first().cloned().unwrap_or_else(|| "it could not be done".to_owned())
}
