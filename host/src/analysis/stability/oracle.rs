//! The deviations straight from their definitions in SP1065, term by term and window by window: slow, short, and with
//! nothing in common with what it is compared to. Of integers it is exact up to the mean of the squares.

use std::ops::{Add, Sub};

use super::{Deviation, Estimate};

/// A number that an oracle computes with.
pub(super) trait Number:
    Copy + PartialOrd + Default + Add<Output = Self> + Sub<Output = Self>
{
    /// As f64.
    fn number(self) -> f64;
}

impl Number for i128 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

/// A phase series of some unit, with points missing.
pub(super) struct Oracle<'a, T> {
    pub(super) points: &'a [Option<T>],
    pub(super) unit_s: f64,
    pub(super) tau0_s: f64,
}

impl<T: Number> Oracle<'_, T> {
    /// One deviation at one averaging time.
    pub(super) fn estimate(&self, deviation: Deviation, m: usize) -> Option<Estimate> {
        let tau = m as f64 * self.tau0_s;
        let starts = self.points.len();
        let all = || (0..starts).collect::<Vec<_>>();
        let apart = || (0..starts).step_by(m).collect::<Vec<_>>();
        match deviation {
            Deviation::Adev => {
                mean(&self.terms(apart(), |i| self.second(i, m)), 2.0 * tau * tau, self.unit_s)
            }
            Deviation::Oadev => mean(&self.terms(all(), |i| self.second(i, m)), 2.0 * tau * tau, self.unit_s),
            Deviation::Hdev => mean(&self.terms(apart(), |i| self.third(i, m)), 6.0 * tau * tau, self.unit_s),
            Deviation::Ohdev => mean(&self.terms(all(), |i| self.third(i, m)), 6.0 * tau * tau, self.unit_s),
            Deviation::Tierms => mean(&self.terms(all(), |i| self.first(i, m)), 1.0, self.unit_s),
            Deviation::Mdev => {
                let divisor = 2.0 * tau * tau * m as f64 * m as f64;
                mean(&self.terms(all(), |i| self.modified(i, m)), divisor, self.unit_s)
            }
            Deviation::Tdev => self
                .estimate(Deviation::Mdev, m)
                .map(|Estimate { n, value }| Estimate { n, value: (tau * tau / 3.0).sqrt() * value }),
            Deviation::Mtie => self.mtie(m),
            _ => panic!("{deviation} has an oracle of its own"),
        }
    }

    fn terms(&self, starts: Vec<usize>, term: impl Fn(usize) -> Option<T>) -> Vec<f64> {
        starts.into_iter().filter_map(term).map(Number::number).collect()
    }

    fn at(&self, index: usize) -> Option<T> {
        self.points.get(index).copied().flatten()
    }

    fn first(&self, i: usize, m: usize) -> Option<T> {
        Some(self.at(i + m)? - self.at(i)?)
    }

    fn second(&self, i: usize, m: usize) -> Option<T> {
        Some(self.first(i + m, m)? - self.first(i, m)?)
    }

    fn third(&self, i: usize, m: usize) -> Option<T> {
        Some(self.second(i + m, m)? - self.second(i, m)?)
    }

    fn modified(&self, i: usize, m: usize) -> Option<T> {
        (i..i + m).try_fold(T::default(), |sum, j| Some(sum + self.second(j, m)?))
    }

    fn mtie(&self, m: usize) -> Option<Estimate> {
        let mut ranges = Vec::new();
        for i in 0..self.points.len().saturating_sub(m) {
            let window: Option<Vec<T>> = self.points[i..=i + m].iter().copied().collect();
            if let Some(window) = window {
                let high =
                    window.iter().fold(window[0], |high, point| if *point > high { *point } else { high });
                let low = window.iter().fold(window[0], |low, point| if *point < low { *point } else { low });
                ranges.push((high - low).number() * self.unit_s);
            }
        }
        let widest = ranges.iter().copied().reduce(f64::max)?;
        Some(Estimate { n: ranges.len() as u64, value: widest })
    }
}

/// The root of the mean of the squares, divided.
fn mean(terms: &[f64], divisor: f64, unit_s: f64) -> Option<Estimate> {
    let squares: f64 = terms.iter().map(|term| term * term).sum();
    let value = (squares / terms.len() as f64 / divisor).sqrt() * unit_s;
    (!terms.is_empty()).then_some(Estimate { n: terms.len() as u64, value })
}
