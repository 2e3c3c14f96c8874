//! What each session of a night gave, in the order in which they were measured.

use super::Axis;
use crate::analysis::fixed::Fixed;

/// One session's figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its place in the order, from 1.
    pub at: f64,
    /// The value.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// The sessions of one image's build.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Image and build.
    pub name: String,
    /// In order.
    pub points: Vec<Point>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sessions {
    /// The order.
    pub x: Axis,
    /// The figure.
    pub y: Axis,
    /// By image and build.
    pub series: Vec<Series>,
    /// Places that are marked.
    pub failed: Vec<f64>,
    /// What of.
    pub marked: &'static str,
}

/// One session of one series: its place from 1, whose it is, value and interval.
pub type Given = (usize, String, Fixed, Option<(Fixed, Fixed)>);

/// Of what was given; `steps` places in all, of which some failed. None without a value.
#[must_use]
pub fn sessions(title: &str, given: &[Given], steps: usize, failed: &[usize]) -> Option<Sessions> {
    let mut series: Vec<Series> = Vec::new();
    for (at, name, value, interval) in given {
        let interval = interval.map(|(low, high)| (low.to_f64(), high.to_f64()));
        let point = Point { at: *at as f64, value: value.to_f64(), interval };
        match series.iter_mut().find(|one| one.name == *name) {
            Some(one) => one.points.push(point),
            None => series.push(Series { name: name.clone(), points: vec![point] }),
        }
    }
    let points = || series.iter().flat_map(|one| &one.points);
    let ends = |point: &Point| point.interval.unwrap_or((point.value, point.value));
    let least = points().map(|point| point.value.min(ends(point).0)).reduce(f64::min)?;
    let most = points().map(|point| point.value.max(ends(point).1)).reduce(f64::max)?;
    let x = Axis {
        title: "steps of the night, in order".to_owned(),
        from: 0.5,
        to: steps as f64 + 0.5,
        log: false,
    };
    let failed = failed.iter().map(|at| *at as f64).collect();
    let y = Axis { log: false, ..Axis::fitting(title, least, most) };
    Some(Sessions { x, y, series, failed, marked: "a step that could not be done" })
}
