//! The plots of a night.

use maud::Markup;
use plotters::prelude::*;

use super::super::colours::{BAD, GOOD_BAND, INK, SERIES};
use super::{Canvas, DRAWN, Size, chart, figure, legend, line, svg};
use crate::analysis::picture::margin::AgainstMargin;
use crate::analysis::picture::sessions::Sessions;

/// An interval over the stretch that the margin allows, small enough for a cell of a table.
pub(in super::super) fn against_margin(picture: &AgainstMargin, says: &str) -> Markup {
    let size = Size { width: 220, height: 30, font: 12, class: "cell" };
    let draw = |area: &Canvas<'_>, size: Size| {
        let right = f64::from(size.width - 1);
        let place = |value: f64| (picture.x.place(value) * right).round() as i32;
        let rectangle = |from: f64, to: f64, (top, bottom)| {
            Rectangle::new([(place(from), top), (place(to), bottom)], GOOD_BAND.rgb().filled())
        };
        area.draw(&rectangle(picture.within.0, picture.within.1, (0, 29))).expect(DRAWN);
        let stroke = |ends: Vec<(i32, i32)>, colour: super::Colour, width| {
            PathElement::new(ends, colour.rgb().stroke_width(width))
        };
        let none = place(picture.none);
        area.draw(&stroke(vec![(none, 0), (none, 29)], INK, 1)).expect(DRAWN);
        let (low, high) = (place(picture.interval.0), place(picture.interval.1));
        for ends in [vec![(low, 15), (high, 15)], vec![(low, 8), (low, 22)], vec![(high, 8), (high, 22)]] {
            area.draw(&stroke(ends, SERIES[0], 3)).expect(DRAWN);
        }
    };
    svg(says, size, &draw)
}

/// What each session gave, in the order in which they were measured.
pub(in super::super) fn sessions(title: &str, sessions: &Sessions, good: &str) -> Markup {
    let says = format!("{title}: a point for each session, in order");
    let draw = |area: &Canvas<'_>, size: Size| {
        let mut chart = chart(area, size, &sessions.x, &sessions.y);
        for (index, series) in sessions.series.iter().enumerate() {
            let colour = SERIES[index % SERIES.len()];
            let bars = series.points.iter().filter_map(|point| Some((point.at, point.interval?)));
            chart
                .draw_series(bars.map(|(at, (low, high))| line([(at, low), (at, high)], colour)))
                .expect(DRAWN);
            chart
                .draw_series([line(series.points.iter().map(|point| (point.at, point.value)), colour)])
                .expect(DRAWN);
            let dot = |at: f64, value: f64| Circle::new((at, value), 4, colour.rgb().filled());
            chart.draw_series(series.points.iter().map(|point| dot(point.at, point.value))).expect(DRAWN);
        }
        let failed =
            sessions.failed.iter().map(|at| line([(*at, sessions.y.from), (*at, sessions.y.to)], BAD));
        chart.draw_series(failed).expect(DRAWN);
    };
    let mut entries: Vec<_> = sessions
        .series
        .iter()
        .enumerate()
        .map(|(index, series)| (SERIES[index % SERIES.len()], series.name.clone()))
        .collect();
    if !sessions.failed.is_empty() {
        entries.push((BAD, sessions.marked.to_owned()));
    }
    figure(title, &says, (280, 260), &draw, legend(&entries), good)
}
