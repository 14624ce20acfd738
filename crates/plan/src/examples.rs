//! Problems at the limits of variants, which the entries of the variants list, and the suite solves. What makes them is
//! never inlined: there are eighty, and nobody waits for them.

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

/// Unwraps what an entry states.
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

/// A dense mask of halves.
#[inline(never)]
pub(crate) fn correlate(channels: u32, pixel: PixelType, mask: (u32, u32)) -> Correlate {
    dense(channels, pixel, mask, 0.5)
}

/// A dense mask of equal taps.
#[inline(never)]
pub(crate) fn dense(channels: u32, pixel: PixelType, (width, height): (u32, u32), tap: f32) -> Correlate {
    let mask = valid(Mask::new(width, height, vec![tap; (width * height) as usize]));
    let (shape, border, extent) = (shape(20, channels), Border::Replicate, Extent::Same);
    Correlate { shape, src: pixel, dst: pixel, mask, border, clamp: false, extent }
}

/// As many taps along both axes, each a half.
#[inline(never)]
pub(crate) fn separable((src, dst): (PixelType, PixelType), shape: Shape, taps: usize) -> Separable {
    let (taps_x, taps_y) = (equal_taps(taps, 0.5), equal_taps(taps, 0.5));
    Separable { shape, src, dst, taps_x, taps_y, border: Border::Replicate, extent: Extent::Same }
}

/// Means of bytes as taps along both axes.
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

/// A filter of a volume of five planes.
#[inline(never)]
fn of_volume(pixel: PixelType, weights: VolumeWeights) -> VolumeFilter {
    let (borders, extent, cast) = (Border::Wrap.into(), VolumeExtent::Same, Cast::default());
    VolumeFilter { shape: shape(20, 1), depth: 5, src: pixel, dst: pixel, weights, divisor: 1.0, cast, borders, extent }
}

/// As many taps along the three axes of a volume.
#[inline(never)]
pub(crate) fn volume(pixel: PixelType, taps: usize) -> VolumeFilter {
    of_volume(pixel, VolumeWeights::Separable([(); 3].map(|()| equal_taps(taps, 0.5))))
}

/// A mask of three dimensions.
#[inline(never)]
pub(crate) fn cube(pixel: PixelType, [x, y, z]: [u32; 3]) -> VolumeFilter {
    of_volume(pixel, VolumeWeights::Dense(valid(VolumeMask::new(x, y, z, vec![0.5; (x * y * z) as usize]))))
}

/// The magnitude of two parts, the second with this many taps.
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

/// Edges at whole numbers.
#[inline(never)]
pub(crate) fn whole_edges(bins: u32) -> Edges {
    valid(Edges::new((0..=bins).map(f64::from).collect()))
}
