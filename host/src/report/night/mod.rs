//! The files of a night: tables, verdicts for CI, metrics and its page, all of them from one [`Night`].

mod csv;
mod json;
#[cfg(test)]
pub(super) mod testing;
pub(super) mod words;

pub(crate) use self::json::summary as summary_json;
use super::{Output, html, junit, markdown, metrics};
use crate::night::{Night, NightRecord, outputs};

/// Every file that follows from a night; summary.json is the last one.
#[must_use]
pub fn files<'a>(record: &'a NightRecord, night: &'a Night) -> Vec<Output<'a>> {
    vec![
        Output::text(outputs::SUMMARY, || csv::summary(night)),
        Output::text(outputs::JUNIT, || junit::night(record, night)),
        Output::text(outputs::METRICS, || metrics::night(night)),
        Output::text(outputs::MARKDOWN, || markdown::night(record, night)),
        Output::text(outputs::HTML, || html::night(record, night)),
        Output::text(outputs::SUMMARY_JSON, || json::summary(record, night)),
    ]
}

#[cfg(test)]
mod tests;
