//! junit.xml: one case for each thing that was measured, and one for each limit and comparison that it was held against.
//!
//! A failure carries the figures and where to look; an error says what could not be done; what has no verdict is skipped,
//! with the reason. Figures never stand in a case's name, so that a case keeps its name from night to night. The schema
//! is the one that Jenkins checks with (`junit-10.xsd`), which GitLab and others read as well.

mod night;
mod run;

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

pub use self::night::night;
pub use self::run::run;
use crate::formats::foreign_text::{visible, visible_lines};
use crate::night::sums::total;

/// What a case comes to, with a text for people.
enum Finding {
    Passed(String),
    Failed(&'static str, String, String),
    Error(&'static str, String, String),
    Skipped(String),
}

/// One case.
struct Case {
    name: String,
    seconds: Option<Duration>,
    finding: Finding,
}

impl Case {
    /// One that took no time of its own.
    fn new(name: impl Into<String>, finding: Finding) -> Self {
        Self { name: name.into(), seconds: None, finding }
    }

    fn case(self, class: &str) -> TestCase {
        let mut status = match self.finding {
            Finding::Passed(_) => TestCaseStatus::success(),
            Finding::Failed(..) => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Finding::Error(..) => TestCaseStatus::non_success(NonSuccessKind::Error),
            Finding::Skipped(_) => TestCaseStatus::skipped(),
        };
        match &self.finding {
            Finding::Passed(_) => {}
            Finding::Failed(kind, message, text) | Finding::Error(kind, message, text) => {
                status.set_type(*kind).set_message(line(message)).set_description(lines(text));
            }
            Finding::Skipped(why) => {
                status.set_message(line(why));
            }
        }
        let mut case = TestCase::new(line(&self.name), status);
        case.set_classname(line(class)).set_time(self.seconds.unwrap_or_default());
        if let Finding::Passed(text) = &self.finding
            && !text.is_empty()
        {
            case.set_system_out(lines(text));
        }
        case
    }
}

/// A suite of cases.
struct Suite {
    /// Its name, and the first part of its cases' class names.
    name: String,
    started_utc: String,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

impl Suite {
    fn suite(self) -> TestSuite {
        let mut suite = TestSuite::new(line(&self.name));
        suite.extra.insert("timestamp".into(), line(self.started_utc.trim_end_matches('Z')));
        suite.set_time(total(self.cases.iter().filter_map(|case| case.seconds)));
        for (name, value) in &self.properties {
            suite.add_property((XmlString::new(name), line(value)));
        }
        suite.add_test_cases(self.cases.into_iter().map(|case| case.case(&self.name)));
        suite
    }
}

/// The whole file.
fn report(name: &str, took: Option<Duration>, suites: Vec<Suite>) -> String {
    let mut report = Report::new(line(name));
    report.add_test_suites(suites.into_iter().map(Suite::suite));
    report.time = took;
    let text = report.to_string().expect("memory takes everything, and its text is UTF-8");
    // No schema knows this count at the root. Quotes in names are escaped, so the first one is the attribute.
    text.replacen(&format!(" skipped=\"{}\"", report.skipped), "", 1)
}

/// Text of an attribute: a line end there would be read as a space.
fn line(text: &str) -> XmlString {
    XmlString::new(visible(text))
}

fn lines(text: &str) -> XmlString {
    XmlString::new(visible_lines(text))
}

/// A command for a shell, each part so that it stays one.
pub(in crate::report) fn command<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:".contains(letter);
    let quoted = |part: &str| match !part.is_empty() && part.chars().all(plain) {
        true => part.to_owned(),
        false => format!("'{}'", part.replace('\'', r"'\''")),
    };
    parts.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}
