//! Filters that are no single problem, strip by strip: filters of several parts, with borders that differ by axis or
//! channel, and with alpha that is kept. A strip is a region of an image of the rows that its windows see.

use super::{Pool, ReadRows, STRIPS_AT_A_TIME, WriteRows, first_row, pipeline, read_runs, unsupported};
use crate::options::Options;
use crate::target::Room;
use crate::{AnyImage, Border, Device, Error, Extent, FilterBuilder, Formula, PixelType, Region, Report, Result};
use apron_abi::BOX_CHUNK;
use apron_core::Shape;
use std::ops::Range;

const OPERATION: &str = "filter";

/// Returns the bytes of intermediate results per sample: two parts as f32; or two parts and the image as f64.
fn between((src, dst): (PixelType, PixelType)) -> u64 {
    if [src, dst].into_iter().all(|pixel| pixel.is_computed() && pixel != PixelType::F64) { 8 } else { 24 }
}

/// Rows of a result, and the rows of the image that their windows see.
#[derive(Debug, PartialEq)]
pub(super) struct Strip {
    pub(super) rows: Range<u32>,
    /// Rows that are read, one run after the other.
    pub(super) read: Vec<Range<u32>>,
    /// Rows that are read above the first of the result.
    pub(super) above: u32,
}

impl Strip {
    /// Returns the strip of these rows of an image of `height` rows, whose windows reach `reach` rows up and down.
    /// Where the image is repeated, they reach into its other end.
    pub(super) fn of(rows: Range<u32>, (height, reach): (u32, u32), wraps: bool) -> Strip {
        let (above, below) = (rows.start.min(reach), (height - rows.end).min(reach));
        let inside = rows.start - above..rows.end + below;
        if !wraps || reach >= height {
            // With a window higher than the image, the strip is the whole image, and the border is the image's own.
            let read = if wraps && reach >= height { 0..height } else { inside };
            return Strip { above: rows.start - read.start, rows, read: vec![read] };
        }
        let (over, under) = (reach - above, reach - below);
        let runs = [height - over..height, inside, 0..under];
        Strip { above: reach, rows, read: runs.into_iter().filter(|run| !run.is_empty()).collect() }
    }
}

/// Whether the result has the size of the image, which strips need.
pub(super) fn has_strips(options: &Options<'_>) -> bool {
    options.extent == Extent::Same && options.borders.x != Border::Crop && options.borders.y != Border::Crop
}

/// Runs a filter strip by strip.
pub(super) fn run(
    device: &Device,
    (formula, dst): (&Formula, PixelType),
    options: &Options<'_>,
    rows: &dyn ReadRows,
    out: &dyn WriteRows,
    memory: u64,
) -> Result<Report> {
    let (shape, pixel) = (rows.shape(), rows.pixel_type());
    if !has_strips(options) {
        return Err(unsupported(OPERATION, "this filter, whose result has another size than the image"));
    }
    // Sums of boxes are ordered by chunks of rows: strips, and the rows that they read, start at a chunk.
    let chunk = if options.stored || sums_boxes(formula) { BOX_CHUNK } else { 1 };
    let reach = (formula.window().1 - 1).next_multiple_of(chunk);
    let wraps = options.borders.y == Border::Wrap;
    let first = first_row(out, shape.height);
    let strips = strips((shape, first / chunk * chunk), (pixel, dst), (reach, chunk), wraps, memory)?;
    let solve = |strip: &Strip, image: &AnyImage<'_>, pool: &Pool| {
        let (y, height) = (strip.above as i32, strip.rows.end - strip.rows.start);
        let extent = Extent::Region(Region { x: 0, y, width: shape.width, height });
        let mut filter = FilterBuilder::new(device, image.into(), formula.clone()).out_type(dst);
        filter.options = Options { extent, ..*options };
        let mut result = pool.take(dst, Shape { height, ..shape })?;
        let solved = filter.solved(Some(&mut Room::Host(vec![result.view_mut()])))?;
        Ok((solved.made.report()?, strip.rows.start, result))
    };
    pipeline(&strips, |strip, pool| read_runs(rows, &strip.read, pool), solve, out)
}

/// Whether a formula has means or deviations of windows, or equal weights, which are summed like boxes.
fn sums_boxes(formula: &Formula) -> bool {
    let equal = |taps: &[f32]| taps.iter().all(|&tap| tap == taps[0]);
    match formula {
        Formula::Mean(..) | Formula::LocalStd(..) => true,
        Formula::Dense(mask) => equal(mask.taps()),
        Formula::Separable(x, y) => equal(x.taps()) && equal(y.taps()),
        Formula::Pointwise { x, y, .. } => sums_boxes(x) || y.as_ref().is_some_and(|y| sums_boxes(y)),
        Formula::Image => false,
    }
}

/// Returns the strips from a row on whose images together take at most `memory` bytes.
fn strips(
    (shape, first): (Shape, u32),
    (src, dst): (PixelType, PixelType),
    (reach, chunk): (u32, u32),
    wraps: bool,
    memory: u64,
) -> Result<Vec<Strip>> {
    let (samples, between) = (shape.row_samples() as u64, between((src, dst)));
    let (read, made) = (samples * src.size_bytes() as u64, samples * (dst.size_bytes() as u64 + between));
    let halo = (2 * u64::from(reach)).min(shape.height.into());
    let budget = memory / STRIPS_AT_A_TIME;
    let rows = budget.saturating_sub(halo * (read + samples * between)) / (read + made);
    let rows = rows.min(shape.height.next_multiple_of(chunk).into()) as u32 / chunk * chunk;
    if rows == 0 {
        let least = (halo * (read + samples * between) + u64::from(chunk) * (read + made)) * STRIPS_AT_A_TIME;
        let (value, limit) = (format!("{memory} bytes"), format!("{least} or more for one strip"));
        return Err(Error::parameter(OPERATION, "memory", value, limit));
    }
    let tops = (first..shape.height).step_by(rows as usize);
    let strip = |top: u32| Strip::of(top..top.saturating_add(rows).min(shape.height), (shape.height, reach), wraps);
    Ok(tops.map(strip).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_read_what_their_windows_see() {
        let of = |rows: Range<u32>, reach, wraps| {
            let Strip { read, above, .. } = Strip::of(rows, (10, reach), wraps);
            format!("{read:?} below {above}")
        };
        assert_eq!(of(0..3, 2, false), "[0..5] below 0");
        assert_eq!(of(4..6, 2, false), "[2..8] below 2");
        assert_eq!(of(8..10, 4, false), "[4..10] below 4");
        assert_eq!(of(0..3, 2, true), "[8..10, 0..5] below 2");
        assert_eq!(of(9..10, 3, true), "[6..10, 0..3] below 3");
        assert_eq!(of(4..6, 9, true), "[5..10, 0..10, 0..5] below 9");
        assert_eq!(of(4..6, 12, true), "[0..10] below 4");
    }
}
