//! Dense 2-D correlation.

use crate::rows::{Extend, Seen, Store};
use crate::weigh::{LANES, Rows, Weights};
use crate::{Fma, pages, simd, tiles};
use apron_core::{Accumulator, Border, Image, Mask, Pixel, Result, Window};

/// Rows of sums between the inner loops and the output: few enough for the first-level cache.
pub(crate) const GROUP: usize = 8;

/// Dense 2-D correlation, in parallel: bit for bit what `apron_reference::correlate` computes.
///
/// Output sample (x, y, c) is the sum over the mask of `tap(i, j) * image(x - anchor_x + i, y - anchor_y + j, c)`,
/// the image extended by `border`. The output has the image's shape, but with border crop only
/// full windows have an output: it is `mask - 1` pixels smaller in each axis. `clamp` limits each
/// sum to 0 to 1.
///
/// ```
/// use apron_core::{Border, Image};
///
/// let image = Image::new(3, 1, 1, vec![1.0f32, 2.0, 4.0])?;
/// let mask = "1 10 100".parse()?;
/// let out: Image<f32> = apron_cpu::correlate(&image, &mask, Border::Replicate, false)?;
/// assert_eq!(out.row(0), [1.0 + 10.0 + 200.0, 1.0 + 20.0 + 400.0, 2.0 + 40.0 + 400.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoWindow`](apron_core::Error::NoWindow) where border crop leaves nothing.
pub fn correlate<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    mask: &Mask,
    border: Border,
    clamp: bool,
) -> Result<Image<'static, O>> {
    let window = Window::dense(image.shape(), mask, border)?;
    let mut out = pages::zeros(window.out.samples() as usize);
    correlate_into(image, mask, border, clamp, &mut out)?;
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// [`correlate`] into memory that is there already: packed rows of the output's shape.
///
/// # Errors
/// As [`correlate`], and [`Error::Shape`](apron_core::Error::Shape) where `out` has another length.
pub fn correlate_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    mask: &Mask,
    border: Border,
    clamp: bool,
    out: &mut [O],
) -> Result<()> {
    let window = Window::dense(image.shape(), mask, border)?;
    tiles::check_length(out, window.out)?;
    let (mode, constant) = border.mode();
    let constant = O::Sum::of(constant);
    let channels = window.out.channels as usize;
    let taps: Vec<O::Sum> = mask.taps().iter().map(|&tap| O::Sum::of(tap)).collect();
    let weights = Weights { taps: &taps, width: mask.width() as usize, step: channels };
    let (halo, halo_rows) = (weights.halo(), weights.height() - 1);

    tiles::for_each(out, window.out, (halo, halo_rows), |mut tile| {
        let samples = tile.rows[0].len();
        let length = samples.next_multiple_of(LANES);
        let stride = length + halo;
        let first = tile.y as i32 + window.origin_y;
        let seen = Seen::new(first, tile.rows.len() + halo_rows, mode, image.height() as i32);

        let mut data = vec![O::Sum::ZERO; seen.sources.len() * stride];
        for (source, row) in seen.sources.iter().zip(data.chunks_exact_mut(stride)) {
            let row = &mut row[..samples + halo];
            let origin = tile.x as i32 + window.origin_x;
            simd::run(Extend { row: source.map(|y| image.row(y)), channels, origin, mode, constant, out: row });
        }
        let mut sums = vec![O::Sum::ZERO; GROUP * length];
        for (group, out) in tile.rows.chunks_mut(GROUP).enumerate() {
            let rows = Rows { data: &data, stride, slots: &seen.slots[group * GROUP..][..out.len() + halo_rows] };
            O::Sum::weigh(rows, weights, &mut sums[..out.len() * length]);
            for (out, sums) in out.iter_mut().zip(sums.chunks_exact(length)) {
                simd::run(Store { sums, clamp, out });
            }
        }
    });
    Ok(())
}
