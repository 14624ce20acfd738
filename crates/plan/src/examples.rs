//! Problems at the limits of variants. The variants' entries list them, and the suite solves them. The constructors are
//! never inlined: there are eighty calls, and their speed does not matter.

use apron_core::PixelType::{self, F32, U8};
use apron_core::{
    Bins, Border, BoxFilter, Cast, Correlate, EdgeHistogram, Edges, Extent, Mask, Paired, Part, PointOp, Problem,
    Result, Scale, Separable, Shape, Taps, VolumeExtent, VolumeFilter, VolumeMask, VolumeWeights,
};

/// A problem that a variant takes, and one just beyond its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The variant takes it.
    pub within: Problem,
    /// The variant refuses it as unsupported.
    pub beyond: Problem,
}

/// Makes an example of two problems.
pub(crate) fn limit(within: impl Into<Problem>, beyond: impl Into<Problem>) -> Example {
    of_problems(within.into(), beyond.into())
}

#[inline(never)]
fn of_problems(within: Problem, beyond: Problem) -> Example {
    Example { within, beyond }
}

/// Unwraps a result that is valid by construction.
pub(crate) fn valid<T>(stated: Result<T>) -> T {
    stated.expect("examples are valid problems")
}

/// A shape of 10 rows.
pub(crate) fn shape(width: u32, channels: u32) -> Shape {
    valid(Shape::new(width, 10, channels))
}

fn equal_taps(count: usize, tap: f32) -> Taps {
    valid(Taps::new(vec![tap; count]))
}

/// Correlation with a dense mask whose taps are all 0.5.
#[inline(never)]
pub(crate) fn correlate(channels: u32, pixel: PixelType, mask: (u32, u32)) -> Correlate {
    dense(channels, pixel, mask, 0.5)
}

/// Correlation with a dense mask of equal taps.
#[inline(never)]
pub(crate) fn dense(channels: u32, pixel: PixelType, (width, height): (u32, u32), tap: f32) -> Correlate {
    let mask = valid(Mask::new(width, height, vec![tap; (width * height) as usize]));
    let (shape, border, extent) = (shape(20, channels), Border::Replicate, Extent::Same);
    Correlate { shape, src: pixel, dst: pixel, mask, border, clamp: false, extent }
}

/// A separable filter with `taps` taps of 0.5 along each axis.
#[inline(never)]
pub(crate) fn separable((src, dst): (PixelType, PixelType), shape: Shape, taps: usize) -> Separable {
    let (taps_x, taps_y) = (equal_taps(taps, 0.5), equal_taps(taps, 0.5));
    Separable { shape, src, dst, taps_x, taps_y, border: Border::Replicate, extent: Extent::Same }
}

/// Means of bytes, as a separable filter with equal taps.
#[inline(never)]
pub(crate) fn blur(channels: u32, [x, y]: [usize; 2]) -> Separable {
    let [taps_x, taps_y] = [x, y].map(|count| equal_taps(count, 1.0 / count as f32));
    Separable { taps_x, taps_y, ..separable((U8, U8), shape(20, channels), 1) }
}

/// A mean over a window.
#[inline(never)]
pub(crate) fn mean(shape: Shape, pixel: PixelType, [width, height]: [u32; 2]) -> BoxFilter {
    let (anchor, border, scale, extent) = ((0, 0), Border::Replicate, Scale::Mean, Extent::Same);
    BoxFilter { shape, src: pixel, dst: pixel, width, height, anchor, border, scale, extent }
}

/// A filter of a volume of five planes, with borders that wrap.
#[inline(never)]
fn of_volume(pixel: PixelType, weights: VolumeWeights) -> VolumeFilter {
    let (borders, extent, cast, stored) = (Border::Wrap.into(), VolumeExtent::Same, Cast::default(), false);
    let (shape, depth, divisor) = (shape(20, 1), 5, 1.0);
    VolumeFilter { shape, depth, src: pixel, dst: pixel, weights, divisor, cast, stored, borders, extent }
}

/// Taps along the three axes of a volume, whose sums are stored between them.
#[inline(never)]
pub(crate) fn stored(pixel: PixelType, channels: u32, taps: [usize; 3]) -> VolumeFilter {
    let weights = VolumeWeights::Separable(taps.map(|count| equal_taps(count, 0.5)));
    VolumeFilter { shape: shape(20, channels), stored: true, ..of_volume(pixel, weights) }
}

/// A separable filter of a volume with `taps` taps of 0.5 along each of the three axes.
#[inline(never)]
pub(crate) fn volume(pixel: PixelType, taps: usize) -> VolumeFilter {
    of_volume(pixel, VolumeWeights::Separable([(); 3].map(|()| equal_taps(taps, 0.5))))
}

/// A filter of a volume with a dense mask of taps of 0.5.
#[inline(never)]
pub(crate) fn cube(pixel: PixelType, [x, y, z]: [u32; 3]) -> VolumeFilter {
    of_volume(pixel, VolumeWeights::Dense(valid(VolumeMask::new(x, y, z, vec![0.5; (x * y * z) as usize]))))
}

/// The magnitude of two separable parts: the first has 3 taps along rows, the second `taps`.
#[inline(never)]
pub(crate) fn magnitude(channels: u32, taps: usize) -> Paired {
    let part = |count| Part::Separable(equal_taps(count, 0.5), equal_taps(1, 1.0));
    let (x, y, op) = (part(3), Some(part(taps)), PointOp::Magnitude);
    Paired { shape: shape(16, channels), src: U8, dst: U8, op, x, y, border: Border::Wrap, extent: Extent::Same }
}

/// A histogram of equal bins.
#[inline(never)]
pub(crate) fn bins(channels: u32, count: usize, range: (f64, f64)) -> EdgeHistogram {
    let bins = Bins { count, range: Some(range) };
    EdgeHistogram { shape: shape(20, channels), src: F32, bins, extremes: None, per_channel: true }
}

/// Edges at the whole numbers from 0 to `bins`.
#[inline(never)]
pub(crate) fn whole_edges(bins: u32) -> Edges {
    valid(Edges::new((0..=bins).map(f64::from).collect()))
}
