//! Correlation by Fourier transforms of tiles.

use apron_core::{Complex, FFT_ROOTS, Fft, Image, Pixel, Result, check_pixels, fft_join, fft_product, fft_split};

/// Transforms tile by tile, in the order that [`fft_split`] documents.
///
/// ```
/// use apron_core::{Border, Extent, Fft, Image, PixelType};
///
/// let image = Image::new(3, 1, 1, vec![1.0f32, 2.0, 4.0])?;
/// let (shape, src, border, extent) = (image.shape(), PixelType::F32, Border::Replicate, Extent::Same);
/// let out = apron_reference::fft(&image, &Fft { shape, src, mask: "1 10 100".parse()?, border, extent })?;
/// for (sum, exact) in out.row(0).iter().zip([211.0, 421.0, 442.0]) {
///     assert!((sum - exact).abs() < 1e-3);
/// }
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Fft::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn fft<I: Pixel>(image: &Image<I>, problem: &Fft) -> Result<Image<'static, f32>> {
    check_pixels::<I, f32>("fft", image, problem.shape, (problem.src, f32::PIXEL))?;
    let (out, tiling, spectrum) = (problem.window()?.out, problem.tiling()?, problem.spectrum());
    let (mode, constant) = problem.border.mode_of(problem.src);
    let [columns, rows] = [tiling.sides[0] as usize / 2, tiling.sides[1] as usize];
    let sample = |x: i32, y: i32, channel| match (
        mode.map(x, problem.shape.width as i32),
        mode.map(y, problem.shape.height as i32),
    ) {
        (Some(x), Some(y)) => image.sample(x as u32, y as u32, channel).to_f32(),
        _ => constant as f32,
    };
    let mut sums = vec![0.0f32; out.samples() as usize];
    for (tile_y, tile_x, channel) in (0..tiling.tiles[1])
        .flat_map(|y| (0..tiling.tiles[0]).flat_map(move |x| (0..out.channels).map(move |channel| (y, x, channel))))
    {
        let at = [tile_x * tiling.outputs[0], tile_y * tiling.outputs[1]].map(|at| at as i32);
        let [left, top] = [tiling.first[0] + at[0], tiling.first[1] + at[1]];
        let mut tile: Vec<Complex<f32>> = (0..rows * columns)
            .map(|n| {
                let [x, y] = [left + (n % columns) as i32, top + (n / columns) as i32];
                [sample(x, y, channel), sample(x + columns as i32, y, channel)]
            })
            .collect();
        let column = |x: usize| (0..rows).map(move |y| y * columns + x).collect::<Vec<_>>();
        let row = |y: usize| (y * columns..(y + 1) * columns).collect::<Vec<_>>();
        (0..columns).for_each(|x| split(&mut tile, &column(x)));
        (0..rows).for_each(|y| split(&mut tile, &row(y)));
        tile.iter_mut().zip(&spectrum).for_each(|(number, &of)| *number = fft_product(f32::mul_add, *number, of));
        (0..rows).for_each(|y| join(&mut tile, &row(y)));
        (0..columns).for_each(|x| join(&mut tile, &column(x)));
        for (y, x) in (0..tiling.outputs[1]).flat_map(|y| (0..tiling.outputs[0]).map(move |x| (y, x))) {
            let [to_x, to_y] = [tiling.out_first[0] + at[0] + x as i32, tiling.out_first[1] + at[1] + y as i32];
            if (0..out.width as i32).contains(&to_x) && (0..out.height as i32).contains(&to_y) {
                let to = (to_y as usize * out.width as usize + to_x as usize) * out.channels as usize;
                sums[to + channel as usize] = tile[y as usize * columns + x as usize % columns][x as usize / columns];
            }
        }
    }
    Image::new(out.width, out.height, out.channels, sums)
}

/// Splits the polynomial whose numbers have these places.
fn split(tile: &mut [Complex<f32>], places: &[usize]) {
    let mut polynomials = 1;
    while polynomials < places.len() {
        for (n, places) in places.chunks(places.len() / polynomials).enumerate() {
            let (low, high) = places.split_at(places.len() / 2);
            for (&low, &high) in low.iter().zip(high) {
                [tile[low], tile[high]] = fft_split(f32::mul_add, [tile[low], tile[high]], FFT_ROOTS[polynomials + n]);
            }
        }
        polynomials *= 2;
    }
}

/// Goes back from [`split`].
fn join(tile: &mut [Complex<f32>], places: &[usize]) {
    let mut polynomials = places.len() / 2;
    while polynomials > 0 {
        for (n, places) in places.chunks(places.len() / polynomials).enumerate() {
            let (low, high) = places.split_at(places.len() / 2);
            for (&low, &high) in low.iter().zip(high) {
                [tile[low], tile[high]] = fft_join(f32::mul_add, [tile[low], tile[high]], FFT_ROOTS[polynomials + n]);
            }
        }
        polynomials /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, Mask, PixelType};

    /// One sample of 1 in the last pixel of a tile, and a mask of different taps: each output is a single tap.
    #[test]
    fn an_impulse_gives_the_mask_turned_round() {
        let (width, height) = (200u32, 150u32);
        let mut samples = vec![0.0f32; (width * height) as usize];
        let (x, y) = (123u32, 118u32);
        samples[(y * width + x) as usize] = 1.0;
        let image = Image::new(width, height, 1, samples).unwrap();
        let taps: Vec<f32> = (0..15).map(|n| n as f32 + 1.0).collect();
        let mask = Mask::new(5, 3, taps).and_then(|mask| mask.with_anchor(1, 2)).unwrap();
        let (shape, src, border, extent) = (image.shape(), PixelType::F32, Border::Constant(0.0), Extent::Same);
        let out = fft(&image, &Fft { shape, src, mask: mask.clone(), border, extent }).unwrap();
        for (to_y, to_x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            // Tap (i, j) sees pixel (to_x + i - 1, to_y + j - 2).
            let (i, j) = (x as i32 - to_x as i32 + 1, y as i32 - to_y as i32 + 2);
            let inside = (0..5).contains(&i) && (0..3).contains(&j);
            let expected = if inside { mask.taps()[(j * 5 + i) as usize] } else { 0.0 };
            let found = out.sample(to_x, to_y, 0);
            assert!((found - expected).abs() < 2e-5, "{to_x},{to_y}: {found}, not {expected}");
        }
    }
}
