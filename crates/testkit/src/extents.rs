//! Filters that compute other pixels than the image's own.

use crate::case::{Case, Data};
use apron::{Border, Extent, PixelType, Region, Shape};
use apron_core::FilterProblem;
use rand::RngExt;
use rand::rngs::StdRng;
use std::fmt;

impl Case {
    /// Sets the extent of a filter; other problems stay unchanged.
    pub fn over(mut self, extent: Extent) -> Case {
        match self.filter_mut() {
            Some(FilterProblem::Correlate(problem)) => problem.extent = extent,
            Some(FilterProblem::Separable(problem)) => problem.extent = extent,
            Some(FilterProblem::Fft(problem)) => problem.extent = extent,
            Some(FilterProblem::LowRank(problem)) => problem.extent = extent,
            Some(FilterProblem::Box(problem)) => problem.extent = extent,
            Some(FilterProblem::LocalStd(problem)) => problem.extent = extent,
            Some(FilterProblem::Scaled(problem)) => problem.extent = extent,
            Some(FilterProblem::Paired(problem)) => problem.extent = extent,
            Some(FilterProblem::Pointwise(_) | FilterProblem::Pad(_) | FilterProblem::Volume(_)) | None => {}
        }
        self
    }
}

/// Returns the full extent, or a region inside the image, across its edges or outside.
pub(crate) fn random_extent(rng: &mut StdRng, (width, height, _): (u32, u32, u32)) -> Extent {
    if rng.random() {
        return Extent::Full;
    }
    let mut axis = |side: u32| (rng.random_range(-20..side as i32 + 20), rng.random_range(1..=side + 9));
    let ((x, width), (y, height)) = (axis(width), axis(height));
    Extent::Region(Region { x, y, width, height })
}

/// Adds all filters over regions inside the image, at odd offsets, across each edge and outside, and over the full
/// extent.
pub(crate) fn extents(cases: &mut Vec<Case>, mut next: impl FnMut() -> u64) {
    const U8: PixelType = PixelType::U8;
    const F32: PixelType = PixelType::F32;
    let region = |x, y, width, height| Extent::Region(Region { x, y, width, height });
    let all = [
        Extent::Full,
        region(1, 0, 47, 20),
        region(16, 3, 32, 16),
        region(-5, -7, 70, 40),
        region(63, 18, 33, 9),
        region(-40, 2, 16, 3),
        region(2, 100, 61, 1),
    ];
    let types = [(U8, 1), (U8, 4), (F32, 1), (F32, 3), (U8, 3)];
    for (n, extent) in all.into_iter().enumerate() {
        for (m, border) in crate::suite::borders().into_iter().filter(|border| *border != Border::Crop).enumerate() {
            let (pixel, channels) = types[(n + m) % types.len()];
            // Constant borders of u8 box filters have to be u8 values.
            let border = if let Border::Constant(_) = border { Border::Constant(3.0) } else { border };
            let (size, types) = ((64, 24, channels), (pixel, pixel));
            let mut add = |case: Case| cases.push(case.over(extent));
            add(Case::correlate(next(), size, types, (3, 3), border, Data::Uniform));
            add(Case::correlate(next(), size, types, (6, 2), border, Data::Uniform));
            add(Case::separable(next(), size, types, (5, 5), border, Data::Uniform));
            add(Case::separable(next(), size, types, (9, 4), border, Data::Uniform));
            add(Case::box_filter(next(), size, types, (5, 19), border, Data::Uniform));
            add(Case::local_std(next(), size, types, (4, 3), border, Data::Uniform));
        }
    }
}

/// The description of an extent and a shape in reports.
pub(crate) struct Over(pub(crate) Extent, pub(crate) Shape);

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Extent::Same => self.1.fmt(f),
            Extent::Full => write!(f, "{} full", self.1),
            Extent::Region(Region { x, y, width, height }) => write!(f, "{} region {x},{y},{width}x{height}", self.1),
        }
    }
}
