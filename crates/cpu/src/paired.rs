//! Pointwise operations on filters of an image.

use crate::boxes::box_windows;
use crate::filter::Filter;
use crate::local_std::local_std_windows;
use crate::low_rank::low_rank_windows;
use crate::tiles::{self, Band, Buffer};
use crate::{pages, parallel, pointwise_into};
use apron_core::{AnyImage, FilterProblem, Image, ImageMut, Paired, Pixel, Result, Shape, check_memory, check_pixels};
use std::ops::Range;

/// Computes the parts, then the pointwise operation, in parallel: bit for bit what `apron_reference::paired` computes.
/// Bands of rows run through all of it, so that the parts stay in cache.
///
/// ```
/// use apron_core::{Border, Extent, Image, Paired, Part, PixelType, PointOp, Taps};
///
/// // The image and twice what a mean along the row takes from it.
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 9])?;
/// let mean = Part::Separable(Taps::new([0.25, 0.5, 0.25])?, Taps::new([1.0])?);
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Replicate, Extent::Same);
/// let op = PointOp::weighted(3.0, -2.0, 0.0);
/// let sharp = Paired { shape, src, dst: PixelType::I16, op, x: Part::Image, y: Some(mean), border, extent };
/// // Means of 1.25, 3.5 and 7.25; halves are rounded to the even neighbour.
/// let out: Image<i16> = apron_cpu::paired(&image, &sharp)?;
/// assert_eq!(out.row(0), [0, -1, 12]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Paired::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn paired<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Paired) -> Result<Image<'static, O>> {
    pages::filled(problem.window()?.out, |out| paired_into(image, problem, out))
}

/// As [`paired`], into an existing image.
///
/// # Errors
/// As [`paired`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn paired_into<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Paired, out: ImageMut<'_, O>) -> Result<()> {
    let window = problem.window()?;
    check_pixels::<I, O>("paired", image, problem.shape, (problem.src, problem.dst))?;
    out.check(window.out)?;
    let halo = FilterProblem::size(&problem.clone().into()).1 as usize - 1;
    let samples = tiles::band_height(&out, halo) as u64 * window.out.row_samples() as u64;
    check_memory::<f32>(2 * parallel::threads() * samples, window.out)?;
    tiles::bands(out, halo, &|scratch, Band { rows, out }| {
        paired_rows(image, problem, rows, scratch, out).expect("rows of checked windows");
    });
    Ok(())
}

/// Computes some rows of the output, part by part.
fn paired_rows<I: Pixel, O: Pixel>(
    image: &Image<I>,
    problem: &Paired,
    rows: Range<u32>,
    scratch: &mut [Buffer<f32>; 2],
    out: ImageMut<'_, O>,
) -> Result<()> {
    let Shape { width, height, channels } = out.shape();
    let operand = |part, sums| match problem.filter(part) {
        None => Ok(I::into_any(image.region(0, rows.start, width, height)?)),
        Some(filter) => {
            let sums = Buffer::take(sums, out.shape().samples() as usize);
            filtered(image, &filter, rows.clone(), ImageMut::new(width, height, channels, sums)?)?;
            Ok(AnyImage::F32(Image::new(width, height, channels, &*sums)?))
        }
    };
    let [first, second] = scratch;
    let x = operand(&problem.x, first)?;
    let y = problem.y.as_ref().map(|part| operand(part, second)).transpose()?;
    pointwise_into(&x, y.as_ref(), &problem.pointwise(out.shape()), out)
}

/// Computes some rows of a part.
fn filtered<I: Pixel>(
    image: &Image<I>,
    filter: &FilterProblem,
    rows: Range<u32>,
    out: ImageMut<'_, f32>,
) -> Result<()> {
    let window = filter.window()?.of_rows(rows.clone());
    match filter {
        FilterProblem::Correlate(p) => Filter::dense(image, p, window).run_into(p.clamp, out),
        FilterProblem::Separable(p) => Filter::separable(image, p, window).run_into(false, out),
        FilterProblem::LowRank(p) => low_rank_windows(image, p, window, out),
        FilterProblem::Box(p) => box_windows(image, p, window, out),
        FilterProblem::LocalStd(p) => local_std_windows(image, p, window, out),
        FilterProblem::Paired(p) => paired_rows(image, p, rows, &mut Default::default(), out),
        FilterProblem::Scaled(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Pad(_)
        | FilterProblem::Fft(_)
        | FilterProblem::Volume(_) => Err(Paired::no_part(filter)),
    }
}
