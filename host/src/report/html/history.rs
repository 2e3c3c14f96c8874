//! The page of a history: what changed, and a plot of each series.

use maud::{Markup, html};

use super::{page, plot};
use crate::analysis::picture::nights::drawn;
use crate::history::series::Series;
use crate::report::history::{changes, title};

const GOOD: &str = "the points lie on a level line. A marked night is where the figure became another one; a missing point is \
    a night that measured nothing, or nothing to be trusted.";

/// The whole page.
#[must_use]
pub fn history(series: &[Series]) -> String {
    let body = html! {
        h2 { "What changed" }
        @for line in changes(series).lines() { p { (page::shown(line)) } }
        h2 { "Series" }
        @for one in series { (picture(one)) }
    };
    page::page("ppsrig history", body)
}

fn picture(one: &Series) -> Markup {
    let title = title(&one.key);
    let axis = super::axis(&one.key.metric, &one.key.unit);
    let values: Vec<Option<f64>> = one.points.iter().map(|point| point.value).collect();
    let changed = one.changes.iter().map(|found| found.change.night);
    match drawn(&axis, &one.key.image, &values, changed) {
        Some(picture) => plot::night::sessions(&title, &picture, GOOD),
        None => html! { p { (title) ": no night has a value." } },
    }
}
