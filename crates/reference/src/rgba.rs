//! P9: 3x3 masks over RGBA pixels of 8 bits per channel.

use crate::Fma;
use apron_core::{Border, Correlate, Error, Extent, FromSum, Image, Mask, PixelType, Result};

/// Applies a 3x3 correlation to an RGBA image of 8 bits per channel, the serial program P9: each pixel is read as a
/// whole, its four channels are weighted and summed side by side, and written back as 8 bits.
///
/// The article omits pixels without nine neighbours, which is border crop; its GPU programs P10 to P12 use border
/// replicate. Weights that do not sum to 1 are divided by their sum first, with [`Mask::normalized`].
///
/// ```
/// use apron_core::{Border, Image, Mask};
///
/// // Nine pixels whose red goes from 1 to 9, the other channels all one value.
/// let pixels: Vec<u8> = (1..=9).flat_map(|red| [red, 100, 0, 255]).collect();
/// let image = Image::new(3, 3, 4, pixels)?;
/// let mean = Mask::new(3, 3, [1.0; 9])?.normalized()?;
/// let out = apron_reference::rgba3x3(&image, &mean, Border::Crop)?;
/// assert_eq!(out.packed().as_ref(), [5, 100, 0, 255]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for an image that has not 4 channels, [`Error::Parameter`] for a mask of another size, and
/// [`Error::NoWindow`] if border crop leaves no output.
pub fn rgba3x3(image: &Image<u8>, mask: &Mask, border: Border) -> Result<Image<'static, u8>> {
    if image.channels() != 4 {
        let (value, limit) = (image.channels().to_string(), "4".into());
        return Err(Error::Shape { what: "channels", value, limit });
    }
    if (mask.width(), mask.height()) != (3, 3) {
        let value = format!("{}x{} taps", mask.width(), mask.height());
        return Err(Error::parameter("rgba3x3", "mask", value, "3x3 taps"));
    }
    let (shape, src, dst, mask, extent) = (image.shape(), PixelType::U8, PixelType::U8, mask.clone(), Extent::Same);
    let problem = Correlate { shape, src, dst, mask, border, clamp: false, extent };
    let window = problem.window()?;
    let (mode, constant) = border.mode();
    let pixel = |x: i32, y: i32| -> [f64; 4] {
        match (mode.map(x, image.width() as i32), mode.map(y, image.height() as i32)) {
            (Some(x), Some(y)) => [0, 1, 2, 3].map(|channel| image.sample(x as u32, y as u32, channel) as f64),
            _ => [constant as f64; 4],
        }
    };
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as i32 {
        for x in 0..window.out.width as i32 {
            let mut sums = [0.0f64; 4];
            for (index, &tap) in problem.mask.taps().iter().enumerate() {
                let (i, j) = (index as i32 % 3, index as i32 / 3);
                let neighbour = pixel(x + window.origin_x + i, y + window.origin_y + j);
                for (sum, sample) in sums.iter_mut().zip(neighbour) {
                    *sum = (tap as f64).fma(sample, *sum);
                }
            }
            out.extend(sums.map(u8::from_sum));
        }
    }
    Image::new(window.out.width, window.out.height, 4, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_as_dense_correlation() {
        let pixels: Vec<u8> = (0..7 * 5 * 4).map(|i| (i * i % 251) as u8).collect();
        let image = Image::new(7, 5, 4, pixels).unwrap();
        let mask: Mask = "1 -2 0.25; 3 0.5 -1; 0.125 2 1".parse().unwrap();
        for border in Border::ALL {
            let (shape, src, dst, mask) = (image.shape(), PixelType::U8, PixelType::U8, mask.clone());
            let extent = Extent::Same;
            let problem = Correlate { shape, src, dst, mask: mask.clone(), border, clamp: false, extent };
            let dense = crate::correlate::<u8, u8>(&image, &problem).unwrap();
            assert_eq!(rgba3x3(&image, &mask, border).unwrap(), dense, "{border}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        let grey = Image::new(3, 3, 1, vec![0u8; 9]).unwrap();
        let rgba = Image::new(2, 2, 4, vec![0u8; 16]).unwrap();
        let mask = Mask::new(3, 3, [1.0; 9]).unwrap();
        assert!(matches!(rgba3x3(&grey, &mask, Border::Replicate), Err(Error::Shape { .. })));
        assert!(matches!(rgba3x3(&rgba, &mask, Border::Crop), Err(Error::NoWindow { .. })));
        let wide = Mask::new(5, 3, [1.0; 15]).unwrap();
        assert!(matches!(rgba3x3(&rgba, &wide, Border::Replicate), Err(Error::Parameter { .. })));
    }
}
