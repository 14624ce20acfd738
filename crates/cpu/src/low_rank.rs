//! Sums of separable correlations.

use crate::filter::Filter;
use crate::tiles::{self, Band, Buffer};
use crate::{pages, parallel};
use apron_core::{Image, ImageMut, LowRank, Pixel, Result, Separable, Shape, Window, check_memory, check_pixels};

/// Applies a sum of separable correlations, in parallel: bit for bit what `apron_reference::low_rank` computes.
///
/// ```
/// use apron_core::{Border, Extent, Image, LowRank, PixelType, Taps};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 4])?;
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Constant(0.0), Extent::Same);
/// let one = Taps::new([1.0])?;
/// let terms = vec![(Taps::new([1.0, 0.0, 0.0])?, one.clone()), (Taps::new([0.0, 0.0, 10.0])?, one)];
/// let out = apron_cpu::low_rank(&image, &LowRank { shape, src, terms, border, extent })?;
/// assert_eq!(out.row(0), [20.0, 41.0, 2.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LowRank::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn low_rank<I: Pixel>(image: &Image<I>, problem: &LowRank) -> Result<Image<'static, f32>> {
    pages::filled(problem.window()?.out, |out| low_rank_into(image, problem, out))
}

/// As [`low_rank`], into an existing image.
///
/// # Errors
/// As [`low_rank`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn low_rank_into<I: Pixel>(image: &Image<I>, problem: &LowRank, out: ImageMut<'_, f32>) -> Result<()> {
    low_rank_windows(image, problem, problem.window()?, out)
}

/// As [`low_rank_into`], for these windows: band by band, so that the terms stay in cache.
pub(crate) fn low_rank_windows<I: Pixel>(
    image: &Image<I>,
    problem: &LowRank,
    window: Window,
    out: ImageMut<'_, f32>,
) -> Result<()> {
    check_pixels::<I, f32>("separable", image, problem.shape, (problem.src, f32::PIXEL))?;
    out.check(window.out)?;
    let terms: Vec<Separable> = problem.separables().collect();
    let (row, halo) = (window.out.row_samples(), terms[0].taps_y.len() as usize - 1);
    let height = tiles::band_height(&out, halo) as u64;
    check_memory::<f32>(parallel::threads() * height * row as u64, window.out)?;
    tiles::bands(out, halo, &|scratch: &mut Buffer<f32>, Band { rows, mut out }| {
        let window = window.of_rows(rows);
        for (n, term) in terms.iter().enumerate() {
            let filter = Filter::separable(image, term, window);
            let solved = if n == 0 {
                filter.run_into(false, out.view())
            } else {
                let Shape { width, height, channels } = window.out;
                let sums = scratch.take(window.out.samples() as usize);
                let solved = ImageMut::new(width, height, channels, sums).and_then(|out| filter.run_into(false, out));
                // As in the pointwise operation, whose offset of 0 turns a term's -0 into +0.
                let samples = out.rows_mut().zip(sums.chunks(row)).flat_map(|(out, term)| out.iter_mut().zip(term));
                samples.for_each(|(sum, &term)| *sum += term + 0.0);
                solved
            };
            solved.expect("rows of checked windows");
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, PixelType, Taps};

    #[test]
    fn terms_that_vanish_have_the_references_sign() {
        // Products below the least f32 are -0, and their sum in the pointwise operation is +0.
        let image = Image::new(1, 1, 1, vec![1e-30f32]).unwrap();
        let term = (Taps::new([-1.0]).unwrap(), Taps::new([1e-30]).unwrap());
        let (shape, src, border, extent) = (image.shape(), PixelType::F32, Border::Wrap, Extent::Same);
        for (count, bits) in [(1, (-0.0f32).to_bits()), (2, 0), (3, 0)] {
            let problem = LowRank { shape, src, terms: vec![term.clone(); count], border, extent };
            let expected = apron_reference::low_rank(&image, &problem).unwrap();
            assert_eq!((expected.row(0)[0].to_bits(), count), (bits, count));
            assert_eq!(low_rank(&image, &problem).unwrap().row(0)[0].to_bits(), bits, "{count} terms");
        }
    }
}
