//! A figure from night to night: a plot, and a line of a terminal.

use super::Axis;
use super::sessions::{Point, Series, Sessions};

/// Steps of a small plot.
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII_SPARKS: [char; 8] = ['_', '.', ',', '-', '=', '+', '*', '#'];
/// Most nights of a small plot: the last ones.
const COLUMNS: usize = 72;

/// Least and most.
#[must_use]
pub fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    Some((values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?))
}

/// With six digits, as short as it can be.
#[must_use]
pub fn rounded(value: f64) -> String {
    let digits = value.abs().max(1.0).log10().floor() as usize;
    let text = format!("{value:.*}", 5_usize.saturating_sub(digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A character a night, a space for one without a value.
#[must_use]
pub fn sparks(values: &[Option<f64>], ascii: bool) -> String {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let Some((least, most)) = bounds(&present) else { return String::new() };
    let steps = if ascii { ASCII_SPARKS } else { SPARKS };
    let step = |value: f64| match most - least {
        span if span > 0.0 => ((value - least) / span * 7.0).round() as usize,
        _ => 3,
    };
    let shown = &values[values.len().saturating_sub(COLUMNS)..];
    shown.iter().map(|value| value.map_or(' ', |value| steps[step(value).min(7)])).collect()
}

/// As a plot: a point a night, and the nights marked on which it changed. None without a value.
#[must_use]
pub fn drawn(
    title: &str,
    name: &str,
    values: &[Option<f64>],
    changed: impl IntoIterator<Item = usize>,
) -> Option<Sessions> {
    let place = |index: usize| index as f64 + 1.0;
    let present = values.iter().enumerate().filter_map(|(index, value)| Some((index, (*value)?)));
    let points: Vec<Point> =
        present.map(|(index, value)| Point { at: place(index), value, interval: None }).collect();
    let (least, most) = bounds(&points.iter().map(|point| point.value).collect::<Vec<_>>())?;
    let x =
        Axis { title: "nights, in order".to_owned(), from: 0.5, to: place(values.len()) - 0.5, log: false };
    let y = Axis { log: false, ..Axis::fitting(title, least, most) };
    let failed = changed.into_iter().map(place).collect();
    let series = vec![Series { name: name.to_owned(), points }];
    Some(Sessions { x, y, series, failed, marked: "a change begins" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_is_a_character() {
        let values = [Some(6.0), Some(6.0), None, Some(7.0)];
        assert_eq!(sparks(&values, false), "▁▁ █");
        assert_eq!(sparks(&values, true), "__ #");
        assert_eq!(sparks(&[Some(5.0); 3], true), "---");
        assert_eq!(sparks(&[None], true), "");
    }

    #[test]
    fn numbers_have_six_digits() {
        let texts = [6.0, 6.139_871, 83_830_660.4, 0.5, -1234.5678].map(rounded);
        assert_eq!(texts, ["6", "6.13987", "83830660", "0.5", "-1234.57"]);
    }
}
