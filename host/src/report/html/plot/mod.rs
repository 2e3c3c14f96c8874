//! Plots as SVG by plotters, inline in a page. What they show is computed in `analysis::picture`; here it is drawn.
//!
//! Each is drawn twice, for a wide page and for a narrow one, so that its text can be read on a phone; the style sheet
//! shows one of them.

pub(super) mod night;
pub(super) mod run;

use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::colours::{Colour, INK, MESH};
use super::page::shown;
use crate::analysis::picture::Axis;
use crate::analysis::picture::scale::label;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Shown, Shown>>;

/// How large a plot is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    width: u32,
    height: u32,
    /// Of text.
    font: u32,
    class: &'static str,
}

impl Size {
    const fn wide(height: u32) -> Self {
        Self { width: 1000, height, font: 17, class: "wide" }
    }

    const fn narrow(height: u32) -> Self {
        Self { width: 360, height, font: 17, class: "narrow" }
    }
}

/// Memory takes every drawing, and no plot is too small for its margins.
const DRAWN: &str = "an SVG is drawn into memory";

/// A figure: its title, the plot in both sizes, and how a good one looks. `says` tells what is seen to who cannot see it.
fn figure(
    title: &str,
    says: &str,
    heights: (u32, u32),
    draw: &dyn Fn(&Canvas<'_>, Size),
    beside: Markup,
    good: &str,
) -> Markup {
    html! {
        figure {
            figcaption { (shown(title)) }
            div class="plot" { @for size in [Size::wide(heights.0), Size::narrow(heights.1)] { (svg(says, size, draw)) } }
            (beside)
            @if !good.is_empty() { p class="good-one" { "A good one: " (shown(good)) } }
        }
    }
}

fn svg(says: &str, size: Size, draw: &dyn Fn(&Canvas<'_>, Size)) -> Markup {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (size.width, size.height)).into_drawing_area();
        draw(&area, size);
        area.present().expect(DRAWN);
    }
    // plotters' own element around it has a fixed size and no name.
    let inside = text.split_once('>').map_or("", |(_, rest)| rest).trim_end();
    let inside = inside.strip_suffix("</svg>").unwrap_or(inside);
    let view = format!("0 0 {} {}", size.width, size.height);
    html! { svg class=(size.class) viewBox=(view) role="img" aria-label=(shown(says)) { (PreEscaped(inside)) } }
}

/// A key to colours: what stands for what.
fn legend(entries: &[(Colour, String)]) -> Markup {
    html! {
        ul class="legend" { @for (colour, name) in entries { li {
            svg viewBox="0 0 11 8" aria-hidden="true" { rect width="11" height="8" fill=(colour.hex()) {} }
            (shown(name))
        } } }
    }
}

/// An axis as plotters wants it.
#[derive(Clone)]
struct Shown(Axis);

impl Ranged for Shown {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let pixels = f64::from(limit.1 - limit.0);
        limit.0 + (pixels * self.0.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.0.ticks(hint.max_num_points())
    }

    fn range(&self) -> Range<f64> {
        self.0.from..self.0.to
    }
}

impl ValueFormatter<f64> for Shown {
    fn format_ext(&self, value: &f64) -> String {
        label(*value)
    }
}

fn text_style(size: Size, colour: Colour) -> TextStyle<'static> {
    ("sans-serif", size.font).into_font().color(&colour.rgb())
}

/// Axes and mesh.
fn chart<'a, 'b>(area: &'a Canvas<'b>, size: Size, x: &Axis, y: &Axis) -> Chart<'a, 'b> {
    let labels = if size.class == "wide" { (10, 6) } else { (4, 5) };
    let mut builder = ChartBuilder::on(area);
    builder.margin(6).margin_right(size.font).margin_top(size.font);
    builder.x_label_area_size(if x.title.is_empty() { size.font * 2 } else { size.font * 3 });
    builder.y_label_area_size(size.font * 4);
    let mut chart = builder.build_cartesian_2d(Shown(x.clone()), Shown(y.clone())).expect(DRAWN);
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(labels.0).y_labels(labels.1).max_light_lines(0);
    mesh.bold_line_style(MESH.rgb()).light_line_style(TRANSPARENT).axis_style(INK.rgb());
    mesh.label_style(text_style(size, INK)).axis_desc_style(text_style(size, INK));
    mesh.x_desc(x.title.clone()).y_desc(y.title.clone()).draw().expect(DRAWN);
    chart
}

/// A filled rectangle.
fn filled(from: (f64, f64), to: (f64, f64), colour: Colour) -> Rectangle<(f64, f64)> {
    Rectangle::new([from, to], colour.rgb().filled())
}

/// A line.
fn line(points: impl IntoIterator<Item = (f64, f64)>, colour: Colour) -> PathElement<(f64, f64)> {
    PathElement::new(points.into_iter().collect::<Vec<_>>(), colour.rgb().stroke_width(2))
}
