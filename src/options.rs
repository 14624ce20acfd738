//! Options of filters.

use crate::choice::Choice;
use crate::{Borders, Cast, Extent, Method};

/// Options of a filter, independent of what it computes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options<'a> {
    pub(crate) borders: Borders,
    pub(crate) extent: Extent,
    pub(crate) clamp: bool,
    pub(crate) keep_alpha: bool,
    /// How sums become integers.
    pub(crate) cast: Cast,
    /// Whether the sums between the passes of separable filters are stored in the output's type.
    pub(crate) stored: bool,
    /// Column and row of the tap over the output pixel; `None` for the formula's own anchor.
    pub(crate) anchor: Option<(u32, u32)>,
    pub(crate) method: Option<Method>,
    pub(crate) tolerance: Option<f64>,
    /// Choice of the kernels for masks and windows; pointwise operations have one variant.
    pub(crate) choice: Choice<'a>,
}

impl Options<'_> {
    /// Returns the requested method and tolerance.
    pub(crate) fn asked(&self) -> (Option<Method>, Option<f64>) {
        (self.method, self.tolerance)
    }
}
