//! Tables that every measurement has: figures with their intervals, and what an uncertainty is made of.

use maud::Markup;

use crate::analysis::figure::Figure;
use crate::analysis::fixed::Fixed;
use crate::analysis::uncertainty::{Component, Kind};
use crate::report::html::page::{Cell, table};

/// Value, interval, U and n of each figure that has a value.
pub(super) fn figures<'a>(label: &str, figures: impl Iterator<Item = (String, &'a Figure)>) -> Markup {
    let row = |(name, figure): (String, &Figure)| {
        vec![
            Cell::text(name),
            Cell::text(&figure.metric),
            Cell::number(figure.value),
            Cell::number(figure.interval.map(|(low, _)| low)),
            Cell::number(figure.interval.map(|(_, high)| high)),
            Cell::number(figure.uncertainty),
            Cell::text(&figure.unit),
            Cell::number(Some(figure.n)),
            Cell::text(figure.verdict),
        ]
    };
    let rows = figures.filter(|(_, figure)| figure.value.is_some()).map(row).collect();
    let header = ["of", "figure", ">value", ">95 % from", ">to", ">U", "unit", ">n", "verdict"];
    table(label, &header, rows)
}

/// What a systematic uncertainty is made of.
pub(super) fn budget(
    label: &str,
    components: &[Component],
    unit: &str,
    value: fn(&Component) -> Option<Fixed>,
) -> Markup {
    let kind = |kind: Kind| match kind {
        Kind::Bound => "bound: never exceeded, adds up",
        Kind::Expanded => "expanded (k = 2): 95 %, adds as the root of the sum of squares",
    };
    let row = |part: &Component| {
        vec![Cell::text(part.name), Cell::number(value(part)), Cell::wide(kind(part.kind))]
    };
    table(label, &["component", &format!(">{unit}"), "kind"], components.iter().map(row).collect())
}
