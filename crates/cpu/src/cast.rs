//! Conversion of the types that filters are not computed in.

use crate::parallel;
use apron_core::{AnyImage, Cast, ImageMut, Pixel, Result, Sample, each_type};
use std::ops::Range;

/// Samples converted at a time, which fit the first-level cache.
const PIECE: usize = 2048;

/// Converts an image, in parallel: to numbers that are not above `below`, if there is one, and from these by `cast`.
pub(crate) fn cast_into<O: Pixel>(
    x: &AnyImage<'_>,
    below: Option<f64>,
    cast: Cast,
    mut out: ImageMut<'_, O>,
) -> Result<()> {
    let (row, stride) = (x.shape().row_samples(), out.row_stride());
    // Narrow images have many rows: each task takes several.
    let rows = (1usize << 16).div_ceil(row);
    parallel::chunks(out.spanned_mut(), stride * rows, &|band, out| {
        let mut numbers = Vec::with_capacity(PIECE);
        for (out, at) in out.chunks_mut(stride).zip((band * rows) as u32..) {
            for (out, start) in out[..row].chunks_mut(PIECE).zip((0..).step_by(PIECE)) {
                // Converted via f64, so that n types need 2 n loops.
                read(x, at, start..start + out.len(), below, &mut numbers);
                out.iter_mut().zip(&numbers).for_each(|(out, &number)| *out = O::cast(number, cast));
            }
        }
    });
    Ok(())
}

/// Reads a part of a row as numbers, not above `below` if there is one.
fn read(x: &AnyImage<'_>, y: u32, part: Range<usize>, below: Option<f64>, numbers: &mut Vec<f64>) {
    numbers.clear();
    each_type!(x, image => {
        let samples = image.row(y)[part].iter();
        match below {
            None => numbers.extend(samples.map(|sample| sample.to_f64())),
            Some(last) => numbers.extend(samples.map(|sample| sample.to_f64_below(last))),
        }
    });
}
