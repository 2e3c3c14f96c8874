//! What plots show, computed: bins, columns of pixels, axes. A report only draws it.
//!
//! Coordinates are f64: they are for eyes, and every figure that is read stands in a table beside the plot.

pub mod edges;
pub mod histogram;
pub mod margin;
pub mod nights;
pub mod scale;
pub mod sessions;
pub mod spectrum;
pub mod timeline;
pub mod worst;

pub use self::scale::{Axis, Unit};

/// A stretch of one axis with a value on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Its height.
    pub count: f64,
}
