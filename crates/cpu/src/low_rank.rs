//! Sums of separable correlations.

use crate::{pages, parallel, separable_into};
use apron_core::{Image, ImageMut, LowRank, Pixel, Result};

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
pub fn low_rank_into<I: Pixel>(image: &Image<I>, problem: &LowRank, mut out: ImageMut<'_, f32>) -> Result<()> {
    let shape = problem.window()?.out;
    out.check(shape)?;
    let (row, stride) = (shape.row_samples(), out.row_stride());
    let mut term: Vec<f32> = Vec::new();
    for (n, next) in problem.separables().enumerate() {
        if n == 0 {
            separable_into(image, &next, out.view())?;
            continue;
        }
        if term.is_empty() {
            term = pages::zeros(shape)?;
        }
        separable_into(image, &next, ImageMut::new(shape.width, shape.height, shape.channels, &mut term)?)?;
        // As in the pointwise operation, whose offset of 0 turns a term's -0 into +0.
        let rows = (1usize << 16).div_ceil(row);
        parallel::chunks(out.spanned_mut(), stride * rows, &|band, out| {
            let terms = term[band * rows * row..].chunks(row);
            let samples = out.chunks_mut(stride).zip(terms).flat_map(|(out, term)| out.iter_mut().zip(term));
            samples.for_each(|(sum, &term)| *sum += term + 0.0);
        });
    }
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
