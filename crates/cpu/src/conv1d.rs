//! Separable correlation.

use crate::conv2d::GROUP;
use crate::rows::{Extend, Seen, Store};
use crate::weigh::{LANES, Rows, Weights};
use crate::{Fma, pages, simd, tiles};
use apron_core::{Accumulator, Border, Image, Pixel, Result, Taps, Window};

/// Separable correlation, in parallel: bit for bit what `apron_reference::separable` computes.
///
/// Along the rows with `taps_x`, then along the columns with `taps_y`; between the passes the sums
/// are kept as they are (f32 for f32 output, f64 for integers). Where the border is constant, the
/// image is meant to be extended before the first pass. The output has the image's shape, but with
/// border crop it is `taps - 1` pixels smaller in each axis.
///
/// ```
/// use apron_core::{Border, Image, Taps};
///
/// let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4])?;
/// let sum = Taps::new([1.0, 1.0])?.with_anchor(0)?;
/// let out: Image<u8> = apron_cpu::separable(&image, &sum, &sum, Border::Constant(0.0))?;
/// assert_eq!(out.packed().as_ref(), [10, 6, 7, 4]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoWindow`](apron_core::Error::NoWindow) where border crop leaves nothing.
pub fn separable<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    taps_x: &Taps,
    taps_y: &Taps,
    border: Border,
) -> Result<Image<'static, O>> {
    let window = Window::separable(image.shape(), taps_x, taps_y, border)?;
    let mut out = pages::zeros(window.out.samples() as usize);
    separable_into(image, taps_x, taps_y, border, &mut out)?;
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// [`separable`] into memory that is there already: packed rows of the output's shape.
///
/// # Errors
/// As [`separable`], and [`Error::Shape`](apron_core::Error::Shape) where `out` has another length.
pub fn separable_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    taps_x: &Taps,
    taps_y: &Taps,
    border: Border,
    out: &mut [O],
) -> Result<()> {
    let window = Window::separable(image.shape(), taps_x, taps_y, border)?;
    tiles::check_length(out, window.out)?;
    let (mode, constant) = border.mode();
    let constant = O::Sum::of(constant);
    let channels = window.out.channels as usize;
    let along = |taps: &Taps| -> Vec<O::Sum> { taps.taps().iter().map(|&tap| O::Sum::of(tap)).collect() };
    let (along_x, along_y) = (along(taps_x), along(taps_y));
    let weights_x = Weights { taps: &along_x, width: along_x.len(), step: channels };
    let weights_y = Weights { taps: &along_y, width: 1, step: channels };
    let (halo, halo_rows) = (weights_x.halo(), weights_y.height() - 1);

    tiles::for_each(out, window.out, (halo, halo_rows), |mut tile| {
        let samples = tile.rows[0].len();
        let length = samples.next_multiple_of(LANES);
        let stride = length + halo;
        let first = tile.y as i32 + window.origin_y;
        let seen = Seen::new(first, tile.rows.len() + halo_rows, mode, image.height() as i32);

        // The first pass, a group of rows at a time. A row outside is weighed as the others are:
        // all constant, it gives what the first pass makes of the constant.
        let mut group = vec![O::Sum::ZERO; GROUP * stride];
        let mut row_sums = vec![O::Sum::ZERO; seen.sources.len() * length];
        for (sources, row_sums) in seen.sources.chunks(GROUP).zip(row_sums.chunks_mut(GROUP * length)) {
            for (source, row) in sources.iter().zip(group.chunks_exact_mut(stride)) {
                let row = &mut row[..samples + halo];
                let origin = tile.x as i32 + window.origin_x;
                simd::run(Extend { row: source.map(|y| image.row(y)), channels, origin, mode, constant, out: row });
            }
            let slots: [usize; GROUP] = std::array::from_fn(|row| row);
            let rows = Rows { data: &group, stride, slots: &slots[..sources.len()] };
            O::Sum::weigh(rows, weights_x, row_sums);
        }

        let mut sums = vec![O::Sum::ZERO; GROUP * length];
        for (group, out) in tile.rows.chunks_mut(GROUP).enumerate() {
            let slots = &seen.slots[group * GROUP..][..out.len() + halo_rows];
            let rows = Rows { data: &row_sums, stride: length, slots };
            O::Sum::weigh(rows, weights_y, &mut sums[..out.len() * length]);
            for (out, sums) in out.iter_mut().zip(sums.chunks_exact(length)) {
                simd::run(Store { sums, clamp: false, out });
            }
        }
    });
    Ok(())
}
