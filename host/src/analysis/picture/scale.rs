//! Axes: from where to where, in which unit, and whether by decades.

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// How many picoseconds it has.
    ps: i64,
}

const UNITS: [Unit; 4] = [
    Unit { name: "ns", ps: 1_000 },
    Unit { name: "µs", ps: 1_000_000 },
    Unit { name: "ms", ps: 1_000_000_000 },
    Unit { name: "s", ps: 1_000_000_000_000 },
];

impl Unit {
    /// The one in which a size has digits before the point.
    #[must_use]
    pub fn of(ps: i128) -> Self {
        let fits = |unit: &&Self| ps.unsigned_abs() >= u128::from(unit.ps.unsigned_abs()) * 10;
        UNITS.iter().rev().find(fits).copied().unwrap_or(UNITS[0])
    }

    /// Picoseconds in it.
    #[must_use]
    pub fn of_ps(self, ps: i128) -> f64 {
        ps as f64 / self.ps as f64
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub title: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// By decades.
    pub log: bool,
}

/// Values that reach over more than so many times the smallest are shown by decades.
const WIDE: f64 = 50.0;

impl Axis {
    /// For values from one to another: by decades where all are positive and reach far, else with a little room.
    #[must_use]
    pub fn fitting(title: impl Into<String>, least: f64, most: f64) -> Self {
        if least > 0.0 && most > least * WIDE {
            return Self::decades(title, least, most);
        }
        let room = if most > least { (most - least) * 0.05 } else { most.abs().max(1.0) * 0.05 };
        Self { title: title.into(), from: least - room, to: most + room, log: false }
    }

    /// By decades, a whole half of one at least.
    #[must_use]
    pub fn decades(title: impl Into<String>, least: f64, most: f64) -> Self {
        let least = least.max(f64::MIN_POSITIVE);
        let most = most.max(least * 3.0);
        Self { title: title.into(), from: least / 1.15, to: most * 1.15, log: true }
    }

    /// Of counts, from below one, so that a single one is seen.
    #[must_use]
    pub fn counts(title: impl Into<String>, most: f64) -> Self {
        Self { title: title.into(), from: 0.5, to: most.max(5.0) * 1.6, log: true }
    }

    /// The edges of so many equal parts of it.
    #[must_use]
    pub fn parts(&self, parts: usize) -> Vec<f64> {
        (0..=parts).map(|index| self.at(index as f64 / parts as f64)).collect()
    }

    /// The value at a place: 0 is the axis's beginning, 1 its end.
    #[must_use]
    pub fn at(&self, place: f64) -> f64 {
        match self.log {
            true => self.from * (self.to / self.from).powf(place),
            false => self.from + (self.to - self.from) * place,
        }
    }

    /// Where a value lies; what lies outside is moved to the nearer end.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let place = match self.log {
            true => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// Round values for so many labels at most.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        let ticks = if self.log { self.decade_ticks(most) } else { Vec::new() };
        // Less than two powers of ten lie on it: then as on any other axis.
        if ticks.len() >= 2 { ticks } else { self.round_ticks(most) }
    }

    fn decade_ticks(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.from.log10().ceil() as i32, self.to.log10().floor() as i32);
        let step = usize::try_from(last - first + 1).unwrap_or(0).div_ceil(most).max(1);
        let decades: Vec<f64> = (first..=last).step_by(step).map(|power| 10f64.powi(power)).collect();
        if step > 1 || decades.len() * 3 > most {
            return decades;
        }
        let parts =
            (first - 1..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        parts.filter(|value| (self.from..=self.to).contains(value)).collect()
    }

    fn round_ticks(&self, most: usize) -> Vec<f64> {
        let raw = (self.to - self.from) / most as f64;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= raw);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).take(most * 2).map(|index| index as f64 * step).collect()
    }
}

/// Five significant digits.
#[must_use]
pub fn digits(value: f64) -> String {
    format!("{value:.4e}")
}

/// A label: short, and exact for what [`Axis::ticks`] gives.
#[must_use]
pub fn label(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_digits_before_the_point() {
        let of = |ps| Unit::of(ps).name;
        assert_eq!([of(0), of(9_999_999), of(10_000_000), of(-80_000_000_000)], ["ns", "ns", "µs", "ms"]);
        assert!((Unit::of(90_000_000).of_ps(90_500_000) - 90.5).abs() < 1e-9);
    }

    #[test]
    fn what_reaches_far_is_shown_by_decades_and_nothing_is_cut_off() {
        let far = Axis::fitting("x", 2.0, 900.0);
        assert!(far.log && far.from < 2.0 && far.to > 900.0);
        let near = Axis::fitting("x", -5.0, 900.0);
        assert!(!near.log && near.from < -5.0 && near.to > 900.0);
        let one = Axis::fitting("x", 7.0, 7.0);
        assert!(one.from < 7.0 && one.to > 7.0);
        assert_eq!(far.ticks(8).iter().map(|value| label(*value)).collect::<Vec<_>>(), ["10", "100", "1000"]);
        assert_eq!(
            near.ticks(5).iter().map(|value| label(*value)).collect::<Vec<_>>(),
            ["0", "200", "400", "600", "800"]
        );
        assert!((far.at(far.place(50.0)) - 50.0).abs() < 1e-9);
        assert_eq!([label(0.001), label(1e-6), label(2e7), label(-0.5)], ["0.001", "1e-6", "2e7", "-0.5"]);
        let parts = far.parts(4);
        assert!((parts[0] - far.from).abs() < 1e-9 && (parts[4] - far.to).abs() < 1e-6);
    }
}
