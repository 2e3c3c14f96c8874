//! Systematic uncertainty: its components by name, and their sum.
//!
//! A bound holds always and adds up; an expanded uncertainty (k = 2) combines with others as the root of the sum of
//! squares. The total is the sum of the bounds plus the root; it is never divided by the square root of n.

use serde::Serialize;

use super::fixed::Fixed;

/// Whether a component is a hard limit or an expanded uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Never exceeded.
    Bound,
    /// Expanded, k = 2.
    Expanded,
}

impl Kind {
    /// As the report prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bound => "bound",
            Self::Expanded => "k=2",
        }
    }
}

/// One component of an uncertainty, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// What it comes from.
    pub name: &'static str,
    /// How large it is, in picoseconds.
    pub ps: f64,
    /// Bound or expanded.
    pub kind: Kind,
}

impl Component {
    /// A bound.
    #[must_use]
    pub const fn bound(name: &'static str, ps: f64) -> Self {
        Self { name, ps, kind: Kind::Bound }
    }

    /// An expanded uncertainty.
    #[must_use]
    pub const fn expanded(name: &'static str, ps: f64) -> Self {
        Self { name, ps, kind: Kind::Expanded }
    }

    /// How large it is, in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self) -> Option<Fixed> {
        Fixed::rounded_nanoseconds(self.ps)
    }
}

/// The sum over all components, in picoseconds.
#[must_use]
pub fn total(components: &[Component]) -> f64 {
    let of = |kind: Kind| components.iter().filter(move |part| part.kind == kind).map(|part| part.ps.abs());
    of(Kind::Bound).sum::<f64>() + of(Kind::Expanded).map(|ps| ps * ps).sum::<f64>().sqrt()
}

/// The mean of each component over many edges, by name, in the order of first appearance.
#[must_use]
pub fn mean_components<'a>(edges: impl Iterator<Item = &'a [Component]>) -> Vec<Component> {
    let mut sums: Vec<Component> = Vec::new();
    let mut count = 0u64;
    for components in edges {
        count += 1;
        for part in components {
            match sums.iter_mut().find(|sum| sum.name == part.name && sum.kind == part.kind) {
                Some(sum) => sum.ps += part.ps.abs(),
                None => sums.push(Component { ps: part.ps.abs(), ..*part }),
            }
        }
    }
    for sum in &mut sums {
        sum.ps /= count as f64;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_add_and_expanded_ones_combine_as_squares() {
        let parts = [
            Component::bound("a", 10.0),
            Component::bound("b", 5.0),
            Component::expanded("c", 3.0),
            Component::expanded("d", 4.0),
        ];
        assert!((total(&parts) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn the_mean_is_taken_by_name() {
        let one = [Component::bound("a", 10.0)];
        let two = [Component::bound("a", 20.0), Component::expanded("b", 4.0)];
        let mean = mean_components([one.as_slice(), two.as_slice()].into_iter());
        assert_eq!(mean, [Component::bound("a", 15.0), Component::expanded("b", 2.0)]);
    }
}
