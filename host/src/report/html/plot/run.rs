//! The plots of a run.

use maud::{Markup, html};
use plotters::prelude::*;

use super::super::colours::{BAD, BAD_BAND, Colour, GOOD, GOOD_BAND, INK, OPEN, OPEN_BAND, SERIES};
use super::{Canvas, DRAWN, Size, chart, figure, filled, legend, line, text_style};
use crate::analysis::class::{Class, Ledger};
use crate::analysis::picture::edges::{Part, parts};
use crate::analysis::picture::histogram::Histogram;
use crate::analysis::picture::spectrum::Spectrum;
use crate::analysis::picture::timeline::{Column, Temperature, Timeline, Trace};
use crate::analysis::picture::{Axis, Bar};
use crate::analysis::reference::ReferenceState;
use crate::analysis::row::Mode;
use crate::analysis::tie::Tie;

/// Of temperatures, by turns.
const WARMTH: [Colour; 3] = [OPEN, BAD, INK];

/// The same for a mode and tie wherever they are drawn.
pub(in super::super) const fn trace_colour(mode: Mode, tie: Tie) -> Colour {
    match (mode, tie) {
        (Mode::Irq, Tie::Echo) => SERIES[0],
        (Mode::Irq, _) => SERIES[1],
        (Mode::Poll, Tie::Echo) => SERIES[2],
        (Mode::Poll, _) => SERIES[3],
    }
}

/// The same for a build wherever it is drawn.
pub(in super::super) const fn series_colour(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}

/// Bars; `even` is the height that all would have if they were alike.
pub(in super::super) fn histogram(
    title: &str,
    histogram: &Histogram,
    even: Option<f64>,
    colour: Colour,
    good: &str,
) -> Markup {
    let says = format!("{title}: counts over {}", histogram.x.title);
    let draw = |area: &Canvas<'_>, size: Size| {
        let mut chart = chart(area, size, &histogram.x, &histogram.y);
        let bar = |bar: &Bar| {
            let ground = if histogram.y.log { histogram.y.from } else { 0.0 };
            filled((bar.from, ground), (bar.to, bar.count), colour)
        };
        chart.draw_series(histogram.bars.iter().map(bar)).expect(DRAWN);
        let level = |height: f64| line([(histogram.x.from, height), (histogram.x.to, height)], BAD);
        chart.draw_series(even.map(level)).expect(DRAWN);
    };
    let beside = match even {
        Some(_) => legend(&[(BAD, "the count that each would have if all were alike".to_owned())]),
        None => html! {},
    };
    figure(title, &says, (300, 260), &draw, beside, good)
}

const fn band_colour(state: ReferenceState) -> Colour {
    match state {
        ReferenceState::Locked => GOOD_BAND,
        ReferenceState::Settling | ReferenceState::Holdover => OPEN_BAND,
        ReferenceState::Unlocked => BAD_BAND,
    }
}

/// Latency over time, what the reference was worth behind it, temperature below.
pub(in super::super) fn timeline(timeline: &Timeline, good: &str) -> Markup {
    let title = "Latency over time";
    let warm = timeline.warmth.is_some();
    let says = format!("latency of {} edges over time, with the reference's state", timeline.edges);
    let draw = |area: &Canvas<'_>, size: Size| match &timeline.warmth {
        Some(warmth) => {
            let (above, below) = area.split_vertically(size.height * 2 / 3);
            latencies(&above, size, timeline);
            temperatures(&below, size, timeline, warmth);
        }
        None => latencies(area, size, timeline),
    };
    figure(title, &says, if warm { (520, 480) } else { (360, 320) }, &draw, timeline_legend(timeline), good)
}

fn timeline_legend(timeline: &Timeline) -> Markup {
    let traces = timeline.traces.iter().map(|trace| (trace_colour(trace.mode, trace.tie), trace_name(trace)));
    let mut entries: Vec<(Colour, String)> = traces.collect();
    for state in
        [ReferenceState::Locked, ReferenceState::Settling, ReferenceState::Holdover, ReferenceState::Unlocked]
    {
        if timeline.bands.iter().any(|band| band.state == state) {
            entries.push((band_colour(state), format!("reference {}", state.name())));
        }
    }
    entries.extend(timeline.temperatures.iter().enumerate().map(|(index, temperature)| {
        (WARMTH[index % WARMTH.len()], format!("temperature {}", temperature.name))
    }));
    legend(&entries)
}

fn trace_name(trace: &Trace) -> String {
    match trace.tie {
        Tie::None => format!("{}, no tie: against the session's first edge", trace.mode.name()),
        tie => format!("{}, tie {}", trace.mode.name(), tie.name()),
    }
}

fn latencies(area: &Canvas<'_>, size: Size, timeline: &Timeline) {
    let mut chart = chart(area, size, &timeline.x, &timeline.y);
    // A strip along the time axis for every state; what is not to be trusted reaches up to the top.
    let strip = timeline.y.at(0.06);
    let band = |band: &crate::analysis::picture::timeline::Band| {
        let top = if band.state == ReferenceState::Locked { strip } else { timeline.y.to };
        filled((band.from, timeline.y.from), (band.to, top), band_colour(band.state))
    };
    chart.draw_series(timeline.bands.iter().map(band)).expect(DRAWN);
    for trace in &timeline.traces {
        let colour = trace_colour(trace.mode, trace.tie);
        let (ranges, points) = split(trace);
        chart.draw_series(ranges.into_iter().map(|ends| line(ends, colour))).expect(DRAWN);
        let dot = |point| Circle::new(point, 2, colour.rgb().filled());
        chart.draw_series(points.into_iter().map(dot)).expect(DRAWN);
    }
}

type Point = (f64, f64);

/// Columns that hold several edges are lines, others are points.
fn split(trace: &Trace) -> (Vec<[Point; 2]>, Vec<Point>) {
    let (ranges, points): (Vec<&Column>, Vec<&Column>) =
        trace.columns.iter().partition(|column| column.least < column.most);
    let ranges = ranges.iter().map(|column| [(column.at, column.least), (column.at, column.most)]).collect();
    (ranges, points.iter().map(|column| (column.at, column.most)).collect())
}

fn temperatures(area: &Canvas<'_>, size: Size, timeline: &Timeline, warmth: &Axis) {
    let mut chart = chart(area, size, &timeline.x, warmth);
    for (index, Temperature { points, .. }) in timeline.temperatures.iter().enumerate() {
        let colour = WARMTH[index % WARMTH.len()];
        chart.draw_series([line(points.clone(), colour)]).expect(DRAWN);
        let dots = points.iter().map(|point| Circle::new(*point, 2, colour.rgb().filled()));
        chart.draw_series(dots).expect(DRAWN);
    }
}

/// TDEV and MTIE.
pub(in super::super) fn spectrum(spectrum: &Spectrum, good: &str) -> Markup {
    let says = "TDEV and MTIE over averaging time, both by decades";
    let draw = |area: &Canvas<'_>, size: Size| {
        let mut chart = chart(area, size, &spectrum.x, &spectrum.y);
        for (index, curve) in spectrum.curves.iter().enumerate() {
            let colour = SERIES[index % SERIES.len()];
            let intervals = curve.points.iter().filter_map(|(tau, _, interval)| Some((*tau, (*interval)?)));
            let bar = |(tau, (low, high))| line([(tau, low), (tau, high)], colour);
            chart.draw_series(intervals.map(bar)).expect(DRAWN);
            chart
                .draw_series([line(curve.points.iter().map(|(tau, value, _)| (*tau, *value)), colour)])
                .expect(DRAWN);
            let dot = |(tau, value, _): &(f64, f64, _)| Circle::new((*tau, *value), 3, colour.rgb().filled());
            chart.draw_series(curve.points.iter().map(dot)).expect(DRAWN);
        }
    };
    let entries: Vec<_> = spectrum
        .curves
        .iter()
        .enumerate()
        .map(|(index, curve)| (SERIES[index % SERIES.len()], curve.deviation.name().to_uppercase()))
        .collect();
    figure("TDEV and MTIE of the captured edges", says, (320, 300), &draw, legend(&entries), good)
}

const fn class_colour(class: Class) -> Colour {
    match class {
        Class::Paired => GOOD,
        Class::Missed | Class::Lost | Class::Spurious => BAD,
        Class::Duplicate | Class::Torn | Class::Dropped => SERIES[1],
        Class::Ambiguous | Class::Unlocked | Class::Settling | Class::Holdover | Class::Disturbed => OPEN,
    }
}

/// Both sides of a ledger.
pub(in super::super) fn ledger(ledger: &Ledger, good: &str) -> Markup {
    let says = format!(
        "{} commanded and {} captured edges, both as bars of their classes; the table below has the numbers",
        ledger.commanded_count, ledger.captured_count
    );
    let sides = parts(ledger);
    let draw = |area: &Canvas<'_>, size: Size| {
        for (row, (name, side)) in ["commanded", "captured"].into_iter().zip(&sides).enumerate() {
            bars(area, size, row, name, side);
        }
    };
    let kinds = [
        (Class::Paired, "paired"),
        (Class::Missed, "missed, lost, spurious: each has a limit"),
        (Class::Duplicate, "duplicate, torn, dropped"),
        (Class::Ambiguous, "excluded: ambiguous, unlocked, settling, holdover, disturbed"),
    ];
    let entries = kinds.map(|(class, name)| (class_colour(class), name.to_owned()));
    figure("What became of every edge", &says, (150, 150), &draw, legend(&entries), good)
}

fn bars(area: &Canvas<'_>, size: Size, row: usize, name: &str, side: &[Part]) {
    let (left, height) = (size.font as i32, (size.height / 2) as i32);
    let top = row as i32 * height + size.font as i32 + 8;
    let length = f64::from(size.width as i32 - 2 * left);
    area.draw(&Text::new(name.to_owned(), (left, top - size.font as i32 - 2), text_style(size, INK)))
        .expect(DRAWN);
    for part in side {
        let place = |share: f64| left + (length * share).round() as i32;
        let (from, to) = (place(part.from), place(part.to));
        // A gap between classes, so that they are told apart without colour.
        let ends = [(from, top), ((to - 2).max(from + 1), row as i32 * height + height - 6)];
        area.draw(&Rectangle::new(ends, class_colour(part.class).rgb().filled())).expect(DRAWN);
    }
}
